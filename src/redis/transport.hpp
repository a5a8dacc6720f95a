// The way to a server, as the client sees it: it connects, carries bytes both ways, and closes. A stream of sockets is
// one (socket_transport.hpp), any other stream is one (stream_transport.hpp).
//
// Rules, as of a driver. Only the owner of the connection's loop calls it. At most one read and one write are under
// way. An op that was submitted completes exactly once, through the run queue of that loop, or is abandoned with it.
#pragma once

#include <redis/address.hpp>

#include <fairlead/coro/awaitable.hpp>
#include <fairlead/io/io_loop.hpp>
#include <fairlead/net/byte_stream.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace fairlead::redis::impl {

/// A read, kind::receive, brings at least one byte; a write, kind::send_all, takes all. result.n counts over all
/// attempts.
struct transport_op : fairlead::impl::net::stream_op {};
/// No descriptor need be behind it; close() ends it.
void cancellation_of(transport_op&, loop&) = delete;

class transport {
public:
    explicit transport(io_loop& l) noexcept : engine_(l) {}
    transport(transport const&) = delete;
    transport& operator=(transport const&) = delete;
    virtual ~transport() = default;

    /// Where ops complete.
    io_loop& engine() const noexcept { return engine_; }
    /// Connects anew. `to` views what outlives the completion. A peer that says nothing for `probe_after`, unless that
    /// is zero, is asked below the bytes whether it is still there.
    virtual awaitable<error_code> connect(address_parts to, std::chrono::milliseconds probe_after) = 0;

    /// May an attempt be worth it, from what is known without asking the system?
    virtual bool ready(io::kind k, std::size_t size) noexcept = 0;
    /// True: done, the result is in the op, which stays the caller's.
    virtual bool try_now(transport_op& o) noexcept = 0;
    virtual void submit(transport_op& o) noexcept = 0;
    /// All that is under way completes with an error, connecting included. It can be connected again.
    virtual void close() noexcept = 0;

    // For the health check, as far as it is known.

    /// Bytes that were written, and that the peer's system has not taken yet; 0 where nobody can say.
    virtual std::int64_t untaken_bytes() noexcept = 0;
    /// Bytes that have come and wait to be read.
    virtual std::int64_t unread_bytes() noexcept = 0;

private:
    io_loop& engine_;
};

} // namespace fairlead::redis::impl
