// The usual transport: a TCP or UNIX socket, on the driver of the connection's loop.
#pragma once

#include <redis/transport.hpp>

#include <fairlead/net/resolver.hpp>
#include <fairlead/net/stream_socket.hpp>

namespace fairlead::redis::impl {

class socket_transport final : public transport {
public:
    explicit socket_transport(io_loop& l);

    awaitable<error_code> connect(address_parts to, std::chrono::milliseconds probe_after) override;
    bool ready(io::kind k, std::size_t size) noexcept override;
    bool try_now(transport_op& o) noexcept override;
    void submit(transport_op& o) noexcept override;
    void close() noexcept override;
    std::int64_t untaken_bytes() noexcept override;
    std::int64_t unread_bytes() noexcept override;

private:
    void probe(std::chrono::milliseconds after) noexcept;

    ip::tcp::socket tcp_;
    local::stream_protocol::socket unix_;
    ip::tcp::resolver resolver_;
    fairlead::impl::net::socket_core* socket_ = nullptr; // of the one that was connected last
    bool is_open_ = false;                               // or to be opened
};

} // namespace fairlead::redis::impl
