// Any stream as a transport: a coroutine of the program's connects it.
#pragma once

#include <redis/transport.hpp>

#include <fairlead/net/any_stream.hpp>
#include <fairlead/operation/cancellation_signal.hpp>
#include <fairlead/redis/connector.hpp>

namespace fairlead::redis::impl {

class stream_transport final : public transport {
public:
    stream_transport(io_loop& l, connector c);

    awaitable<error_code> connect(address_parts to, std::chrono::milliseconds probe_after) override;
    bool ready(io::kind k, std::size_t size) noexcept override;
    bool try_now(transport_op& o) noexcept override;
    void submit(transport_op& o) noexcept override;
    void close() noexcept override;
    /// Nobody can say: between the bytes and their system there may be anything.
    std::int64_t untaken_bytes() noexcept override { return 0; }
    std::int64_t unread_bytes() noexcept override { return 0; }

private:
    bool fails(transport_op& o) const noexcept;
    void give(transport_op& o) const noexcept;

    connector connector_;
    any_stream stream_;
    cancellation_signal connecting_;
    bool is_open_ = false; // or to be opened
};

} // namespace fairlead::redis::impl
