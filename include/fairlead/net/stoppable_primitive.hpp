// A primitive that a stop token can end. The stop callback lies in the op's own record, so that an await takes no
// block.
//
// A stop may be requested at any time and by any thread, also between the callback's construction and the op's arrival
// at its driver. The record notes both. Whoever comes second ends the op: the callback by the op's ticket, the start in
// place. A stop that was requested before the start ends the op without a system call.
#pragma once

#include <fairlead/io/io_loop.hpp>
#include <fairlead/token/initiate.hpp>

#include <atomic>
#include <new>
#include <stop_token>
#include <type_traits>
#include <utility>

namespace fairlead::detail {

/// The callback of an op, and what it asks.
template <class Target> class stop_place {
public:
    stop_place() noexcept {} // As op.
    void prepare(std::stop_token const& t) noexcept {
        token_ = &t;
        seen_.store(0, std::memory_order_relaxed);
    }
    bool can_be_asked() const noexcept { return token_->stop_possible(); }
    template <class Canceller, class O> void listen(Target const& t, O& o) {
        static_assert(sizeof(Canceller) <= sizeof canceller_);
        ::new (static_cast<void*>(canceller_)) Canceller(t, o);
        ask_ = [](void* c) { (*std::launder(static_cast<Canceller*>(c)))(cancellation_type::terminal); };
        forget_ = [](void* c) noexcept { std::launder(static_cast<Canceller*>(c))->~Canceller(); };
        ::new (static_cast<void*>(callback_)) callback(*token_, asks{this});
    }
    /// Waits for a callback that another thread is in.
    void stop_listening() noexcept {
        std::launder(reinterpret_cast<callback*>(callback_))->~callback();
        forget_(canceller_);
    }
    bool was_asked() const noexcept { return seen_.load(std::memory_order_acquire) & asked; }
    /// From here on the callback asks by itself. True: it came before.
    bool is_with_driver() noexcept { return seen_.fetch_or(submitted, std::memory_order_acq_rel) & asked; }

private:
    static constexpr unsigned char asked = 1;
    static constexpr unsigned char submitted = 2;
    struct asks {
        stop_place* place;
        void operator()() noexcept {
            if (place->seen_.fetch_or(asked, std::memory_order_acq_rel) & submitted)
                place->ask_(place->canceller_);
        }
    };
    using callback = std::stop_callback<asks>;

    std::stop_token const* token_; ///< of the initiation, which is there when the op begins to listen
    void (*ask_)(void*);
    void (*forget_)(void*) noexcept;
    alignas(8) std::byte canceller_[sizeof(Target) + sizeof(void*)];
    alignas(callback) std::byte callback_[sizeof(callback)];
    std::atomic<unsigned char> seen_;
};

/// The place as a slot.
template <class Target> class stop_slot {
public:
    explicit stop_slot(stop_place<Target>& p) noexcept : place_(&p) {}
    bool is_connected() const noexcept { return place_->can_be_asked(); }
    template <class Canceller, class O> void emplace(Target const& t, O& o) {
        place_->template listen<Canceller>(t, o);
    }
    void clear() noexcept { place_->stop_listening(); }

private:
    stop_place<Target>* place_;
};

template <class Record> using target_of = decltype(cancellation_of(std::declval<Record&>(), std::declval<loop&>()));

template <class Record> struct stoppable_record : Record {
    stop_place<target_of<Record>> stop;
};

/// Primitives that a stop token can be put around in this way. Other operations are given a handler with a slot.
template <class Init>
concept stoppable = primitive_initiation<Init> && cancellable_record<typename Init::record> && !takes_here<Init> &&
                    !has_own_slot<Init> && await_record::fits<stoppable_record<typename Init::record>>;

template <class Init> struct stoppable_primitive
    : extended_primitive<stoppable_primitive<Init>, Init, stoppable_record<typename Init::record>> {
    using base = extended_primitive<stoppable_primitive<Init>, Init, stoppable_record<typename Init::record>>;
    using base::inner;
    using typename base::record;

    std::stop_token token;

    stoppable_primitive(Init&& i, std::stop_token&& t) : base(std::move(i)), token(std::move(t)) {}

    void prepare(record& o) const noexcept {
        base::prepare(o);
        o.stop.prepare(token);
    }
    void prepare(record& o, void* extra) const noexcept
        requires needs_extra_bytes<Init>
    {
        base::prepare(o, extra);
        o.stop.prepare(token);
    }
    static auto slot_of(record& o) noexcept { return stop_slot<target_of<typename Init::record>>(o.stop); }

    bool ready() const noexcept
        requires requires(Init const& i) { i.ready(); }
    {
        return !token.stop_requested() && inner.ready();
    }
    void submit(record& o) const noexcept {
        auto& home = io_loop::of(*inner.home());
        home.as_owner([&]() noexcept {
            if (ends_unsubmitted && o.stop.was_asked()) {
                o.result = {static_cast<int>(std::errc::operation_canceled), 0, 0};
                home.post(o);
                return;
            }
            inner.submit(o);
            if (o.stop.is_with_driver()) // The op is still there: the owner is here.
                cancellation_of(o, home).end(o);
        });
    }

private:
    /// One that has begun to wait knows more than its result.
    static constexpr bool ends_unsubmitted =
        std::is_base_of_v<io::io_op, record> && !std::is_base_of_v<io::op_limit, record>;
};

} // namespace fairlead::detail
