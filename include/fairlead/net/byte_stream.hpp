// A stream of bytes behind one type, whatever it is made of: a socket, TLS, a type of the program's.
//
// Rules, as of a driver. At most one read and one write are under way, or one handshake or shutdown. An op that was
// submitted completes exactly once, through the queue of engine(), or is abandoned with it.
#pragma once

#include <fairlead/io/io_loop_for.hpp>
#include <fairlead/net/byte_op.hpp>
#include <fairlead/net/socket.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace fairlead::impl::net {

/// The request of a stream_op.
enum class stream_verb : std::uint8_t {
    read,
    write,
    handshake,     ///< of streams that have one
    shutdown,      ///< both ends have said that no more comes
    shutdown_send, ///< this end has
};

/// Its name, for the message of an error.
constexpr char const* name_of(stream_verb v) noexcept {
    using enum stream_verb;
    return v == read        ? "read"
           : v == write     ? "write"
           : v == handshake ? "handshake"
           : v == shutdown  ? "shutdown"
                            : "shutdown_send";
}

class byte_stream;

/// A pending operation of a byte_stream. Its kind tells reads and writes of some bytes from those of all.
struct stream_op : byte_op {
    byte_stream* of;
    char const* layer; ///< " of TLS": of which stream this is, also when that has gone
    stream_verb verb;
    bool is_client; ///< a handshake
    bool is_sent;   ///< of TLS: the engine has taken it
    bool is_socket; ///< the driver has it
    bool holds;     ///< it keeps `of`, which somebody may ask to end it

    stream_op() noexcept {}
    using byte_op::begin;
    inline void begin(byte_stream& s, stream_verb v, io::kind k, void* d, std::size_t n) noexcept;
};

class byte_stream {
public:
    byte_stream(byte_stream const&) = delete;
    byte_stream& operator=(byte_stream const&) = delete;

    io_loop& engine() const noexcept { return *engine_; }
    io::impl::io_loop_ref const& engine_ref() const noexcept { return engine_; }
    /// Null, or the driver has the ops, and none of the functions below is called.
    socket_core* socket() const noexcept { return socket_; }
    /// May an attempt to read be worth it? Else each read takes its way through the queue.
    bool tries() const noexcept { return tries_; }

    /// Reads only, by the owner of the engine. True: done, the result is in the op.
    virtual bool try_now(stream_op& o) noexcept = 0;
    /// True: done. Of writes whose maker goes on with what an attempt has left.
    virtual bool try_write(stream_op&) noexcept { return false; }
    virtual void submit(stream_op& o) noexcept = 0;
    /// Lets an op that was submitted end early, if it is still pending. It completes all the same. Any thread.
    virtual void cancel(stream_op& o) noexcept = 0;
    /// Performs it in the calling thread.
    virtual void perform(stream_op& o) noexcept = 0;
    /// The object behind it has been moved.
    virtual void is_at(void* to) noexcept = 0;
    /// The object behind it goes: nothing is started there any more.
    virtual void forget() noexcept {}
    /// " of TLS", for the message of an error. It outlives the stream.
    char const* layer() const noexcept { return layer_; }

    void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
    void release() noexcept {
        if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1)
            delete this;
    }

protected:
    byte_stream(io::impl::io_loop_ref engine, bool tries, socket_core* s = nullptr, char const* layer = "") noexcept
        : engine_(std::move(engine)),
          socket_(s),
          layer_(layer),
          tries_(tries) {}
    virtual ~byte_stream() = default;
    void set_socket(socket_core* s) noexcept { socket_ = s; }

private:
    io::impl::io_loop_ref engine_;
    socket_core* socket_;
    char const* layer_;
    std::atomic<unsigned> references_{1};
    bool tries_;
};

/// Streams that are byte_streams themselves, as those of TLS.
template <class Stream>
concept has_bytes = requires(Stream& s) {
    { s.bytes() } -> std::same_as<byte_stream&>;
};

inline void stream_op::begin(byte_stream& s, stream_verb v, io::kind k, void* d, std::size_t n) noexcept {
    byte_op::begin(k, d, n);
    of = &s;
    layer = s.layer();
    verb = v;
    is_client = is_sent = holds = false;
    is_socket = s.socket();
    if (is_socket)
        handle = s.socket()->handle;
}

} // namespace fairlead::impl::net
