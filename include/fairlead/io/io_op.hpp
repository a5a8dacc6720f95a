// The operations of descriptors, as a backend gets them.
#pragma once

#include <fairlead/base/buffer.hpp>
#include <fairlead/base/error.hpp>
#include <fairlead/exec/op.hpp>

#include <cstdint>

namespace fairlead::io {

/// A descriptor of a driver: a place in its table, and which of the place's tenants is meant.
struct handle {
    static constexpr std::uint32_t none = 0xffffffffU;
    std::uint32_t index = none;
    std::uint32_t generation = 0;

    bool is_open() const noexcept { return index != none; }
    friend bool operator==(handle, handle) noexcept = default;
    /// As one number: the result of an accept, the mark of an event.
    constexpr std::size_t packed() const noexcept { return std::size_t{generation} << 32 | index; }
    static constexpr handle unpacked(std::size_t n) noexcept {
        return {static_cast<std::uint32_t>(n), static_cast<std::uint32_t>(n >> 32)};
    }
};

/// The request of an io_op to a descriptor.
enum class kind : std::uint8_t {
    // Read side of a descriptor.
    receive,     ///< at least one byte
    receive_all, ///< until the buffer is full
    accept,      ///< result.n is the new handle, packed
    wait_read,
    wait_error,
    receive_from, ///< a datagram_op
    receive_lent, ///< as receive, on a stream; `data` is a lender of the memory
    // Write side.
    send,     ///< at least one byte
    send_all, ///< until the buffer is empty
    connect,
    wait_write,
    send_to, ///< a datagram_op
};
/// Whether an op waits at the write side of its descriptor.
constexpr bool is_write(kind k) noexcept { return k >= kind::send; }
/// Whether it waits for readiness, and moves no bytes.
constexpr bool is_wait(kind k) noexcept {
    return k == kind::wait_read || k == kind::wait_write || k == kind::wait_error;
}

/// One piece of memory, laid out as the kernel's iovec.
using slice = fairlead::impl::base::io_slice; // laid out as the kernel's iovec

/// The kind of thing behind a descriptor, as far as drivers treat it differently.
enum class medium : std::uint8_t {
    socket,
    unix_stream, ///< a short read may have ended at a descriptor that the peer passed
    pipe,        ///< read and written without the calls of sockets
    file,        ///< anything else: so, too, and a read may end early: at a line of a terminal, for instance
};

/// A pending operation on a descriptor. Its maker names descriptor, kind, bytes and run. A new op has no bytes and no
/// flags, and nobody can ask it to end.
struct io_op : op {
    io::handle handle;
    void* data; ///< bytes; array of `slice` when `slices` is set; address for connect; address to fill, or null, for
                ///< accept; a lender for receive_lent
    std::size_t size;  ///< bytes, or number of slices, or length of the address (accept: its capacity)
    int message_flags; ///< MSG_… of recv and send; accept: not 0 reports connections that are gone again
    io::kind kind;
    bool slices;
    bool stream;       ///< 0 bytes mean end of stream; the driver's
    io::medium medium; ///< the driver's

    io_op() noexcept : data(nullptr), size(0), message_flags(0), slices(false), medium(io::medium::socket) {
        result = {0, 0, 0}; // n counts from here on, over all attempts
        cancel = nullptr;
    }
};
static_assert(sizeof(io_op) == 80);

/// Memory for a read that waits, only while it is needed: a connection that is idle has none.
class lender {
public:
    /// There may be bytes now. Memory of the size that the op has; null: there is none. Under the descriptor's lock, in
    /// the thread that makes the attempt.
    virtual void* lend() noexcept = 0;
    /// There was nothing after all.
    virtual void take_back() noexcept = 0;

protected:
    ~lender() = default;
};

/// A pending receive_from or send_to: with the address of the other side. A datagram is moved whole. One that does not
/// fit ends a receive with EMSGSIZE, its sender and the bytes that did fit. That holds for the receive of a connected
/// socket, too.
struct datagram_op : io_op {
    void* address;
    std::uint32_t address_size; ///< receive_from: the capacity; when it is done, the size of the sender's address. That
                                ///< is 0 when the sender has no name or there is no datagram

    datagram_op() noexcept {}
};

/// Result of a synchronous door: a value, or an errno in `error`.
struct outcome {
    int error;
    std::int64_t value;
};
/// Of a door that a backend does not have.
inline constexpr outcome not_supported{static_cast<int>(error::operation_not_supported), 0};

} // namespace fairlead::io
