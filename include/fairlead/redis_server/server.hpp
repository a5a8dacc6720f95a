// The embedded server on sockets: a Redis in this process, for tests and for computers that have none.
#pragma once

#include <fairlead/exec/executor.hpp>
#include <fairlead/redis_server/engine.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace fairlead::redis {

namespace detail {
struct server_core;
}

/// No aggregate, so that one may be made inside a co_await expression: g++ 12 destroys aggregates there twice.
struct server_options {
    server_options() = default;
    /// `{"0.0.0.0", 6379}`
    server_options(std::string host_to_listen_on, std::uint16_t at_port = 0)
        : host(std::move(host_to_listen_on)),
          port(at_port) {}

    std::string host = "127.0.0.1"; ///< A numeric address to listen on; empty: no TCP.
    std::uint16_t port = 0;         ///< 0: a free one; see server::port().
    std::string unix_path{};        ///< Also listens on this UNIX socket; empty: none. A stale file there is an error.
    std::size_t output_bytes_max = 64 * 1024 * 1024; ///< A client that leaves more unread is not read from meanwhile.
    server_engine_options engine{}; ///< Without a clock it gets the loop's, set to the time of day once.
};

/// Listens as soon as it is made, and serves clients whenever its context runs.
///
/// Threads    that of its context
/// Lifetime   outlived by its context
/// Throws     system_error from the constructor, when it cannot listen
class FAIRLEAD_EXPORT server {
public:
    explicit server(any_io_executor const& ex, server_options options = {});
    template <execution_context_type Context> explicit server(Context& c, server_options options = {})
        : server(any_io_executor(c.get_executor()), std::move(options)) {}
    server(server const&) = delete;
    server& operator=(server const&) = delete;
    ~server();

    std::uint16_t port() const noexcept;
    /// For config::address: "127.0.0.1:port", or "unix:path" when it has no TCP.
    std::string address() const;

    /// Closes the listening sockets and all clients. Their requests are lost, as with a server that is killed.
    void stop() noexcept;
    /// Closes all clients; goes on listening.
    void disconnect_clients() noexcept;

    /// As server_engine::add_script().
    std::string add_script(std::string_view body, server_script run);
    /// As server_engine::add_script_of_sha1().
    void add_script_of_sha1(std::string_view sha1, server_script run);
    /// As server_engine::add_function().
    void add_function(std::string_view name, server_script run);

    std::size_t client_count() const noexcept;
    std::uint64_t commands_run() const noexcept;

private:
    detail::server_core* core_;
};

} // namespace fairlead::redis
