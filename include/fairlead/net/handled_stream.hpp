// A stream of the program's as a byte_stream: its operations get a handler that completes the op.
#pragma once

#include <fairlead/exec/recycler.hpp>
#include <fairlead/io/transfer.hpp>
#include <fairlead/net/byte_stream.hpp>
#include <fairlead/operation/associated.hpp>
#include <fairlead/operation/cancellation_signal.hpp>
#include <fairlead/stream/concepts.hpp>
#include <fairlead/token/post.hpp>

#include <atomic>
#include <cstddef>
#include <exception>
#include <utility>

namespace fairlead::impl::net {

/// Lies in a block of its own, which each pending operation keeps.
template <class Stream> class handled_stream final : public byte_stream {
public:
    explicit handled_stream(Stream& s) : byte_stream(io::impl::find_io_loop(s.get_executor()), false), stream_(&s) {
        for (auto& d : directions_) {
            d.of = this;
            d.run = &direction::ask;
        }
    }

    bool try_now(stream_op&) noexcept override { return false; }
    void submit(stream_op& o) noexcept override {
        retain();                // The op may be done, and gone, before this returns.
        engine().work_started(); // The stream may have nothing under way that its context knows of.
        direction_of(o).pending.store(&o, std::memory_order_relaxed);
        start(o);
        release();
    }
    /// The request goes to where the handlers of the stream run.
    void cancel(stream_op& o) noexcept override {
        auto& d = direction_of(o);
        d.ticket.store(exec::ticket_of(o).load(std::memory_order_relaxed), std::memory_order_relaxed);
        if (d.is_asking.exchange(true, std::memory_order_acq_rel))
            return;
        retain();
        engine().drop_in(d);
    }
    void perform(stream_op& o) noexcept override {
        try {
            perform_or_throw(o);
        } catch (system_error const& e) {
            o.fail(e.code());
        } catch (...) {
            o.fail(error::no_memory);
        }
    }
    void is_at(void* to) noexcept override { stream_ = static_cast<Stream*>(to); }
    /// The rest of a whole transfer is not started. Another stream may lie where this one did.
    void forget() noexcept override { stream_ = nullptr; }

private:
    /// Reading, or all else. An op itself: the message that asks the pending operation to end.
    struct direction : op {
        handled_stream* of;
        cancellation_signal signal;
        std::atomic<stream_op*> pending{nullptr};
        std::atomic<void*> ticket{nullptr}; ///< of the operation that is asked
        std::atomic<bool> is_asking{false};

        direction() noexcept {
            result = {0, 0, 0};
            op::cancel = loop::not_a_handler();
        }
        static void ask(op* base, op_mode mode) {
            auto& d = static_cast<direction&>(*base);
            d.is_asking.store(false, std::memory_order_release);
            auto* const of = d.of;
            if (mode == op_mode::abandon)
                return of->release();
            if (of->engine_ref().runs_handlers()) {
                d.emit();
                return of->release();
            }
            if (!of->stream_)
                return of->release();
            try {
                post(of->stream_->get_executor(), [kept = keeper(*of), &d] { d.emit(); });
            } catch (...) { // No memory: the operation goes on.
            }
            of->release();
        }
        void emit() noexcept {
            auto* const o = pending.load(std::memory_order_relaxed);
            if (o && exec::has_ticket(*o, ticket.load(std::memory_order_relaxed)))
                signal.emit(cancellation_type::terminal);
        }
    };
    class keeper {
    public:
        explicit keeper(handled_stream& s) noexcept : of_(&s) { s.retain(); }
        keeper(keeper&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
        keeper& operator=(keeper&&) = delete;
        ~keeper() {
            if (of_)
                of_->release();
        }

    private:
        handled_stream* of_;
    };
    /// If it goes without having been called, the op ends all the same.
    class handler {
    public:
        using cancellation_slot_type = cancellation_slot;
        using allocator_type = recycling_allocator<void>;
        handler(handled_stream& s, stream_op& o) noexcept : of_(&s), op_(&o), thrown_(std::uncaught_exceptions()) {
            s.retain();
        }
        handler(handler&& other) noexcept
            : of_(other.of_),
              op_(std::exchange(other.op_, nullptr)),
              thrown_(other.thrown_) {}
        handler& operator=(handler&&) = delete;
        ~handler() {
            if (!op_)
                return;
            op_->fail(std::uncaught_exceptions() > thrown_ ? error_code(error::no_memory)
                                                           : error_code(error::operation_aborted));
            of_->end(*op_);
            of_->release();
        }
        cancellation_slot get_cancellation_slot() const noexcept { return of_->direction_of(*op_).signal.slot(); }
        allocator_type get_allocator() const noexcept { return {}; }
        void operator()(error_code ec, std::size_t n = 0) {
            of_->go_on(*std::exchange(op_, nullptr), ec, n);
            of_->release();
        }

    private:
        handled_stream* of_;
        stream_op* op_;
        int thrown_;
    };

    direction& direction_of(stream_op const& o) noexcept { return directions_[o.verb == stream_verb::read ? 0 : 1]; }
    /// The first bytes that are to be moved.
    template <class Buffer> static Buffer next_of(stream_op& o) noexcept {
        io::advance(o, 0); // over buffers that are empty
        if (!o.slices)
            return Buffer(o.data, o.size);
        auto const* const s = static_cast<io::slice const*>(o.data);
        return o.size ? Buffer(s->base, s->size) : Buffer();
    }
    static bool is_whole(stream_op const& o) noexcept {
        return o.kind == io::kind::receive_all || o.kind == io::kind::send_all;
    }

    void start(stream_op& o) noexcept {
        if (!stream_) {
            o.fail(error::operation_aborted);
            return end(o);
        }
        try {
            if (o.verb == stream_verb::read)
                stream_->async_read_some(next_of<mutable_buffer>(o), handler(*this, o));
            else if (o.verb == stream_verb::write)
                stream_->async_write_some(next_of<const_buffer>(o), handler(*this, o));
            else
                start_shutdown(o);
        } catch (...) { // The handler has gone, and has ended the op.
        }
    }
    void start_shutdown(stream_op& o) {
        if (o.verb == stream_verb::shutdown) {
            if constexpr (requires { stream_->async_shutdown(handler(*this, o)); })
                return static_cast<void>(stream_->async_shutdown(handler(*this, o)));
        } else if constexpr (requires { stream_->async_shutdown_send(handler(*this, o)); }) {
            return static_cast<void>(stream_->async_shutdown_send(handler(*this, o)));
        }
        refuse(o);
    }
    void refuse(stream_op& o) noexcept {
        o.fail(error::operation_not_supported);
        end(o);
    }
    void go_on(stream_op& o, error_code ec, std::size_t n) noexcept {
        if (took(o, ec, n) && is_whole(o) && !io::moves_nothing(o))
            start(o);
        else
            end(o);
    }
    /// False: no more comes.
    static bool took(stream_op& o, error_code ec, std::size_t n) noexcept {
        bool const is_stuck = n == 0 && !io::moves_nothing(o);
        o.result.n += n;
        io::advance(o, n);
        if (!ec && is_stuck) // It would be asked again, for ever.
            ec = error::broken_pipe;
        if (ec)
            o.fail(ec);
        return !ec;
    }
    void end(stream_op& o) noexcept {
        direction_of(o).pending.store(nullptr, std::memory_order_relaxed);
        auto& l = engine();
        l.post(o);
        l.work_finished();
    }
    void perform_or_throw(stream_op& o) {
        if constexpr (sync_read_stream<Stream> && sync_write_stream<Stream>) {
            bool goes_on = o.verb == stream_verb::read || o.verb == stream_verb::write;
            if (!goes_on)
                return shut_down(o);
            while (goes_on) {
                error_code ec;
                auto const n = o.verb == stream_verb::read ? stream_->read_some(next_of<mutable_buffer>(o), ec)
                                                           : stream_->write_some(next_of<const_buffer>(o), ec);
                goes_on = took(o, ec, n) && is_whole(o) && !io::moves_nothing(o);
            }
        } else {
            o.fail(error::operation_not_supported);
        }
    }
    void shut_down(stream_op& o) {
        error_code ec = error::operation_not_supported;
        if (o.verb == stream_verb::shutdown) {
            if constexpr (requires { stream_->shutdown(ec); })
                stream_->shutdown(ec = {});
        } else if constexpr (requires { stream_->shutdown_send(ec); }) {
            stream_->shutdown_send(ec = {});
        }
        if (ec)
            o.fail(ec);
    }

    Stream* stream_;
    direction directions_[2];
};

} // namespace fairlead::impl::net
