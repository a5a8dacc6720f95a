// A real redis-server (or valkey-server) on a free port of loopback, for the life of one object.
#pragma once

#include <fairlead/io/io_context.hpp>
#include <fairlead/net/acceptor.hpp>

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
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

class redis_server_process {
public:
    redis_server_process() : program_(find_program({"redis-server", "valkey-server"})) {
        if (program_.empty())
            return;
        io_context ctx;
        ip::tcp::acceptor probe(ctx, ip::tcp::endpoint(ip::make_address("127.0.0.1"), 0));
        port_ = std::to_string(probe.local_endpoint().port());
        probe.close();
        start();
    }
    redis_server_process(redis_server_process const&) = delete;
    redis_server_process& operator=(redis_server_process const&) = delete;
    ~redis_server_process() { kill(); }

    bool is_installed() const noexcept { return !program_.empty(); }
    std::string address() const { return "127.0.0.1:" + port_; }

    /// With the same port and no data. It takes a moment until it listens.
    void start() {
        std::vector<char const*> const arguments{
            program_.c_str(), "--port", port_.c_str(),  "--bind", "127.0.0.1",
            "--save",         "",       "--appendonly", "no",     "--enable-debug-command",
            "local",          nullptr};
        auto const parent = ::getpid();
        pid_ = ::fork();
        if (pid_ != 0)
            return;
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != parent)
            ::_exit(1);
        int const null = ::open("/dev/null", O_RDWR);
        ::dup2(null, 0);
        ::dup2(null, 1);
        ::dup2(null, 2);
        ::execv(program_.c_str(), const_cast<char* const*>(arguments.data()));
        ::_exit(127);
    }
    void kill() {
        if (pid_ <= 0)
            return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
        pid_ = -1;
    }
    void freeze() { ::kill(pid_, SIGSTOP); }
    void thaw() { ::kill(pid_, SIGCONT); }

private:
    std::string program_;
    std::string port_;
    pid_t pid_ = -1;
};

} // namespace fairlead::test
