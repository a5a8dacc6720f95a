// The stream below a TLS stream: it carries encrypted bytes both ways.
//
// Rules, as of a driver. At most one read and one write are under way. An op that was submitted completes exactly once,
// by its function run, or is abandoned. The functions are called under the lock of the TLS stream.
#pragma once

#include <fairlead/io/io_loop_for.hpp>
#include <fairlead/net/byte_op.hpp>
#include <fairlead/net/socket.hpp>
#include <fairlead/operation/associated.hpp>
#include <fairlead/operation/cancellation_signal.hpp>
#include <fairlead/stream/concepts.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace fairlead::ssl::impl {

/// A read, kind::receive, or a write, kind::send_all, which may end early.
using below_op = fairlead::impl::net::byte_op;

class below {
public:
    below(below const&) = delete;
    below& operator=(below const&) = delete;
    virtual ~below() = default;

    io_loop& engine() const noexcept { return *engine_; }

    /// Is try_now() of use? Else each read takes its way through the loop.
    virtual bool tries() const noexcept = 0;
    /// True: done, the result is in the op. A thread that may not try is refused.
    virtual bool try_now(below_op& o) noexcept = 0;
    virtual void submit(below_op& o) noexcept = 0;
    /// Lets the op that was submitted last in this direction end early. It still completes.
    virtual void cancel(below_op& o) noexcept = 0;
    /// Performs it in the calling thread.
    virtual void perform(below_op& o) noexcept = 0;
    /// The stream has been moved to `to`.
    virtual void is_at(void* to) noexcept = 0;

protected:
    explicit below(io::impl::io_loop_ref l) noexcept : engine_(std::move(l)) {}

private:
    io::impl::io_loop_ref engine_;
};

/// A socket of ours: its ops go to the driver.
template <class Socket>
concept driven = requires(Socket& s) {
    { s.core() } -> std::same_as<fairlead::impl::net::socket_core&>;
    s.shutdown(socket_base::shutdown_both);
};

class FAIRLEAD_EXPORT below_socket final : public below {
public:
    explicit below_socket(fairlead::impl::net::socket_core& s) noexcept : below(s.engine), socket_(&s) {}

    bool tries() const noexcept override { return true; }
    bool try_now(below_op& o) noexcept override;
    void submit(below_op& o) noexcept override;
    void cancel(below_op& o) noexcept override;
    void perform(below_op& o) noexcept override;
    void is_at(void* to) noexcept override { socket_ = static_cast<fairlead::impl::net::socket_core*>(to); }

private:
    fairlead::impl::net::socket_core* socket_;
};

/// Any other stream. Its operations get a handler that completes the op.
template <class Stream> class below_stream final : public below {
public:
    explicit below_stream(Stream& s) : below(io::impl::find_io_loop(s.get_executor())), stream_(&s) {}

    bool tries() const noexcept override { return false; }
    bool try_now(below_op&) noexcept override { return false; }
    void submit(below_op& o) noexcept override {
        try {
            if (io::is_write(o.kind))
                stream_->async_write_some(const_buffer(o.data, o.size), handler(*this, o));
            else
                stream_->async_read_some(mutable_buffer(o.data, o.size), handler(*this, o));
        } catch (...) { // The handler has gone, and with it the op is queued: nobody runs it before this returns.
            o.fail(fairlead::error::no_memory);
        }
    }
    void cancel(below_op& o) noexcept override { signal_of(o).emit(cancellation_type::terminal); }
    void perform(below_op& o) noexcept override {
        if constexpr (sync_read_stream<Stream> && sync_write_stream<Stream>) {
            try {
                error_code ec;
                o.result.n = io::is_write(o.kind) ? stream_->write_some(const_buffer(o.data, o.size), ec)
                                                  : stream_->read_some(mutable_buffer(o.data, o.size), ec);
                if (ec)
                    o.fail(ec);
            } catch (system_error const& e) {
                o.fail(e.code());
            } catch (...) {
                o.fail(fairlead::error::no_memory);
            }
        } else {
            o.fail(fairlead::error::operation_not_supported);
        }
    }
    void is_at(void* to) noexcept override { stream_ = static_cast<Stream*>(to); }

private:
    /// One for each direction. If it goes without having been called, the op ends all the same. It does so in the
    /// queue: the stream may drop a handler while it starts another operation, under the lock.
    class handler {
    public:
        using cancellation_slot_type = cancellation_slot;
        handler(below_stream& b, below_op& o) noexcept : below_(&b), op_(&o) {}
        handler(handler&& other) noexcept : below_(other.below_), op_(std::exchange(other.op_, nullptr)) {}
        handler& operator=(handler&&) = delete;
        ~handler() {
            if (!op_)
                return;
            op_->fail(fairlead::error::operation_aborted);
            below_->engine().post(*op_);
        }
        cancellation_slot get_cancellation_slot() const noexcept { return below_->signal_of(*op_).slot(); }
        void operator()(error_code ec, std::size_t n) {
            auto& o = *std::exchange(op_, nullptr);
            o.result.n = n;
            if (ec)
                o.fail(ec);
            else if (n == 0) // It would be asked again, for ever.
                o.fail(fairlead::error::broken_pipe);
            o.run(&o, op_mode::complete);
        }

    private:
        below_stream* below_;
        below_op* op_;
    };

    cancellation_signal& signal_of(below_op& o) noexcept { return io::is_write(o.kind) ? writing_ : reading_; }
    Stream* stream_;
    cancellation_signal reading_, writing_;
};

} // namespace fairlead::ssl::impl
