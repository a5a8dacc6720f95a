// A primitive that a stop token can end. The stop callback lies in the op's own record, so that an await takes no
// block.
//
// A stop may be requested at any time and by any thread, also between the callback's construction and the op's arrival
// at its driver. The record notes both. The second of the two ends the op: the callback by the op's ticket, the start
// in place. A stop that was requested before the start ends the op without a system call.
#pragma once

#include <fairlead/io/io_loop.hpp>
#include <fairlead/net/stoppable_operation.hpp>
#include <fairlead/operation/initiate.hpp>

#include <atomic>
#include <new>
#include <stop_token>
#include <type_traits>
#include <utility>

namespace fairlead::impl::net {

/// The record with a stop callback. The callback finds the op by where it lies.
template <class Record> class stoppable_record : public Record {
public:
    stoppable_record() noexcept {} // As op.
    void prepare_to_stop(std::stop_token const& t, loop& home) noexcept {
        token_ = &t;
        home_ = &home;
        seen_.store(0, std::memory_order_relaxed);
    }
    bool can_be_stopped() const noexcept { return token_->stop_possible(); }
    void listen() { ::new (static_cast<void*>(callback_)) callback(*token_, asks{this}); }
    /// Waits for a callback that another thread is in.
    void stop_listening() noexcept {
        std::launder(reinterpret_cast<callback*>(callback_))->~callback();
        exec::ticket_of(*this).store(nullptr, std::memory_order_relaxed);
    }
    bool was_stopped() const noexcept { return seen_.load(std::memory_order_acquire) & stopped; }
    /// From here on the callback asks by itself. True: it came before.
    bool is_with_driver() noexcept { return seen_.fetch_or(submitted, std::memory_order_acq_rel) & stopped; }

private:
    static constexpr unsigned char stopped = 1;
    static constexpr unsigned char submitted = 2;
    struct asks {
        stoppable_record* o;
        void operator()() noexcept {
            if (o->seen_.fetch_or(stopped, std::memory_order_acq_rel) & submitted)
                cancellation_of(*o, *o->home_).request(*o);
        }
    };
    using callback = std::stop_callback<asks>;

    std::stop_token const* token_; ///< of the initiation, which is there when the op begins to listen
    loop* home_;
    alignas(void*) std::byte callback_[56];
    std::atomic<unsigned char> seen_;
    static_assert(sizeof(std::stop_callback<void (*)()>) <= sizeof callback_);
};

/// The record as the slot that its op listens to.
template <class Record> class stop_slot {
public:
    explicit stop_slot(stoppable_record<Record>& o) noexcept : o_(o) {}
    bool is_connected() const noexcept { return o_.can_be_stopped(); }
    template <class Canceller, class Target, class O> void emplace(Target const&, O const&) { o_.listen(); }
    void clear() noexcept { o_.stop_listening(); }

private:
    stoppable_record<Record>& o_;
};

/// Primitives that a stop token can be put around in this way. Other operations are given a handler with a slot.
template <class Init>
concept stoppable = operation::primitive_initiation<Init> && operation::cancellable_record<typename Init::record> &&
                    !operation::takes_here<Init> && !operation::has_own_slot<Init> &&
                    await_record::fits<stoppable_record<typename Init::record>>;

template <class Init> struct stoppable_primitive
    : operation::extended_primitive<stoppable_primitive<Init>, Init, stoppable_record<typename Init::record>> {
    using base =
        operation::extended_primitive<stoppable_primitive<Init>, Init, stoppable_record<typename Init::record>>;
    using base::inner;
    using typename base::record;

    using hears_both = void;

    std::stop_token token;

    stoppable_primitive(Init&& i, std::stop_token&& t) : base(std::move(i)), token(std::move(t)) {}

    void prepare(record& o) const noexcept {
        base::prepare(o);
        o.prepare_to_stop(token, *inner.home());
    }
    void prepare(record& o, void* extra) const noexcept
        requires operation::needs_extra_bytes<Init>
    {
        base::prepare(o, extra);
        o.prepare_to_stop(token, *inner.home());
    }
    /// With a handler that has a slot it is a generic operation, which hears both. The op has space for one slot. It
    /// gives away what it has: that of several datagram buffers cannot be copied.
    template <class Handler> void operator()(Handler&& handler) {
        if constexpr (operation::has_cancellation_slot<std::decay_t<Handler>>)
            stoppable_initiation<operation::kept_values<typename Init::signature>, Init>{
                {std::move(inner)}, std::move(token)}(std::forward<Handler>(handler));
        else
            base::operator()(std::forward<Handler>(handler));
    }
    static auto slot_of(record& o) noexcept { return stop_slot<typename Init::record>(o); }

    bool ready() const noexcept
        requires requires(Init const& i) { i.ready(); }
    {
        return !token.stop_requested() && inner.ready();
    }
    void submit(record& o) const noexcept {
        auto& home = io_loop::of(*inner.home());
        home.as_owner([&]() noexcept {
            if (ends_unsubmitted && o.was_stopped()) {
                o.result = {static_cast<int>(std::errc::operation_canceled), 0, 0};
                home.post(o);
                return;
            }
            inner.submit(o);
            if (o.is_with_driver()) // The op is still there: the owner is here.
                cancellation_of(o, home).end(o);
        });
    }

private:
    /// One that has begun to wait knows more than its result.
    static constexpr bool ends_unsubmitted =
        std::is_base_of_v<io::io_op, record> && !std::is_base_of_v<io::op_limit, record>;
};

} // namespace fairlead::impl::net
