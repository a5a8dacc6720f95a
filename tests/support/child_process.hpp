// A program of the system as a child, for the life of one object. It dies with this process, too.
#pragma once

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <initializer_list>
#include <string>
#include <string_view>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace fairlead::test {

/// The path of the first of `names` that is installed, or nothing.
inline std::string find_program(std::initializer_list<char const*> names) {
    char const* const path = std::getenv("PATH");
    for (std::string rest = path ? path : "/usr/bin"; !rest.empty();) {
        auto const colon = rest.find(':');
        for (auto const* name : names) {
            auto const file = rest.substr(0, colon) + "/" + name;
            if (::access(file.c_str(), X_OK) == 0)
                return file;
        }
        rest.erase(0, colon == rest.npos ? colon : colon + 1);
    }
    return {};
}

class child_process {
public:
    child_process() noexcept = default;
    child_process(child_process const&) = delete;
    child_process& operator=(child_process const&) = delete;
    ~child_process() { kill(); }

    /// The first argument is the path of the program. Its input stays empty and does not end. Its output goes nowhere,
    /// unless it is to be heard.
    void start(std::vector<std::string> const& arguments, bool is_heard = false) {
        std::vector<char*> pointers;
        for (auto const& a : arguments)
            pointers.push_back(const_cast<char*>(a.c_str()));
        pointers.push_back(nullptr);
        int ends[2] = {-1, -1}, input[2] = {-1, -1};
        if (::pipe2(input, O_CLOEXEC) == 0)
            input_ = input[1];
        if (is_heard && ::pipe2(ends, O_CLOEXEC) == 0)
            output_ = ends[0];
        auto const parent = ::getpid();
        pid_ = ::fork();
        if (pid_ != 0) {
            for (int const fd : {ends[1], input[0]})
                if (fd != -1)
                    ::close(fd);
            return;
        }
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != parent)
            ::_exit(1);
        int const null = ::open("/dev/null", O_RDWR);
        ::dup2(input[0] != -1 ? input[0] : null, 0);
        ::dup2(ends[1] != -1 ? ends[1] : null, 1);
        ::dup2(null, 2);
        ::execv(pointers[0], pointers.data());
        ::_exit(127);
    }
    /// Waits until its output contains `text`; false when it ended first.
    bool says(std::string_view text) {
        char some[256];
        while (heard_.find(text) == heard_.npos) {
            auto const n = ::read(output_, some, sizeof some);
            if (n <= 0)
                return false;
            heard_.append(some, static_cast<std::size_t>(n));
        }
        return true;
    }
    void kill() noexcept {
        for (int* const fd : {&output_, &input_})
            if (*fd != -1)
                ::close(std::exchange(*fd, -1));
        heard_.clear();
        if (pid_ <= 0)
            return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
        pid_ = -1;
    }
    /// Nothing where there is no child: the number -1 would mean every process of the machine.
    void signal(int number) const noexcept {
        if (pid_ > 0)
            ::kill(pid_, number);
    }

private:
    pid_t pid_ = -1;
    int output_ = -1, input_ = -1;
    std::string heard_;
};

} // namespace fairlead::test
