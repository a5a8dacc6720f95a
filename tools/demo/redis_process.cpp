#include "redis_process.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace demo {
namespace {

/// The first line that a command prints; empty when it cannot be run.
std::string first_line(char const* command) {
    std::string line;
    if (FILE* f = popen(command, "r")) { // NOLINT: a fixed command
        std::array<char, 256> buffer{};
        if (std::fgets(buffer.data(), buffer.size(), f))
            line = buffer.data();
        pclose(f);
    }
    return line;
}

sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_port = htons(port);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return a;
}

std::uint16_t free_port() {
    int const fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in a = loopback(0);
    socklen_t size = sizeof a;
    std::uint16_t port = 0;
    if (bind(fd, reinterpret_cast<sockaddr*>(&a), size) == 0 &&
        getsockname(fd, reinterpret_cast<sockaddr*>(&a), &size) == 0)
        port = ntohs(a.sin_port);
    close(fd);
    return port;
}

bool answers(std::uint16_t port) {
    int const fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in const a = loopback(port);
    char reply[8]{};
    bool const ok = connect(fd, reinterpret_cast<sockaddr const*>(&a), sizeof a) == 0 &&
                    write(fd, "PING\r\n", 6) == 6 && read(fd, reply, 5) == 5 && std::memcmp(reply, "+PONG", 5) == 0;
    close(fd);
    return ok;
}

} // namespace

std::optional<redis_process> redis_process::start(std::string& why) {
    std::string version = first_line("redis-server --version 2>/dev/null");
    if (version.empty()) {
        why = "redis-server is not installed";
        return std::nullopt;
    }
    if (auto const at = version.find("v="); at != std::string::npos)
        version = version.substr(at + 2, version.find(' ', at) - at - 2);
    for (int attempt = 0; attempt != 3; ++attempt) {
        auto const port = free_port();
        auto const port_text = std::to_string(port);
        pid_t const parent = getpid();
        pid_t const pid = fork();
        if (pid < 0) {
            why = std::string("fork: ") + std::strerror(errno);
            return std::nullopt;
        }
        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL); // It must not outlive us, however we end.
            if (getppid() != parent)
                _exit(127);
            int const null = open("/dev/null", O_RDWR);
            dup2(null, 0);
            dup2(null, 1);
            dup2(null, 2);
            execlp("redis-server", "redis-server", "--port", port_text.c_str(), "--bind", "127.0.0.1", "--save", "",
                   "--appendonly", "no", "--daemonize", "no", "--dir", "/tmp", "--dbfilename", "nothing.rdb", nullptr);
            _exit(127);
        }
        redis_process process(pid, port, version);
        for (int i = 0; i != 500; ++i) {
            if (answers(port))
                return process;
            int status = 0;
            if (waitpid(pid, &status, WNOHANG) == pid) {
                process.pid_ = -1;
                break; // Perhaps somebody else took the port meanwhile.
            }
            poll(nullptr, 0, 10);
        }
    }
    why = "redis-server did not start";
    return std::nullopt;
}

redis_process::redis_process(redis_process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      port_(other.port_),
      version_(std::move(other.version_)) {}

redis_process::~redis_process() {
    if (pid_ <= 0)
        return;
    kill(pid_, SIGTERM);
    for (int i = 0; i != 100; ++i) {
        if (waitpid(pid_, nullptr, WNOHANG) == pid_)
            return;
        poll(nullptr, 0, 10);
    }
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
}

} // namespace demo
