// A redis-server of our own: started on a free port of 127.0.0.1, without persistence, ended with the demonstration.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>

namespace demo {

class redis_process {
public:
    /// Starts one; empty when there is no redis-server, or when it does not come up within some seconds. `why` says so.
    static std::optional<redis_process> start(std::string& why);
    redis_process(redis_process&& other) noexcept;
    redis_process& operator=(redis_process&&) = delete;
    ~redis_process();

    std::uint16_t port() const noexcept { return port_; }
    std::string const& version() const noexcept { return version_; }

private:
    redis_process(pid_t pid, std::uint16_t port, std::string version) noexcept
        : pid_(pid),
          port_(port),
          version_(std::move(version)) {}
    pid_t pid_;
    std::uint16_t port_;
    std::string version_;
};

} // namespace demo
