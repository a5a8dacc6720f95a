// How a request reaches the step that a composed operation is in: filters, and a slot for the steps that remembers.
//
// A request may come while no step is under way. Then it is remembered in the state, and the operation has to look
// there before it goes on.
#pragma once

#include <fairlead/exec/shared_block.hpp>
#include <fairlead/exec/short_lock.hpp>
#include <fairlead/operation/associated.hpp>

namespace fairlead {

/// Lets the types of the mask through.
template <cancellation_type Mask> struct cancellation_filter {
    constexpr cancellation_type operator()(cancellation_type type) const noexcept { return type & Mask; }
};
/// Lets nothing through.
using disable_cancellation = cancellation_filter<cancellation_type::none>;
/// Lets terminal requests through: what a composed operation begins with.
using enable_terminal_cancellation = cancellation_filter<cancellation_type::terminal>;
/// Lets terminal and partial requests through.
using enable_partial_cancellation = cancellation_filter<cancellation_type::terminal | cancellation_type::partial>;
/// Lets all three through.
using enable_total_cancellation =
    cancellation_filter<cancellation_type::terminal | cancellation_type::partial | cancellation_type::total>;

namespace impl::operation {

/// An awaited primitive, asked by the verb of its table. It needs no handler in a slot.
struct askable_await {
    void (*cancel)(void* storage, await_record& record, cancellation_type type) noexcept; ///< null: there is none
    void* storage;
    await_record* record;
    cancellation_type asked = cancellation_type::none; ///< since it began
};

/// The common part of a state and the handler in its parent's slot, in a block of the recycler. That of a member of a
/// group lies with the member.
class FAIRLEAD_EXPORT chained_signal {
public:
    chained_signal() noexcept = default;
    explicit chained_signal(void (*has_gone)(chained_signal&) noexcept) noexcept : has_gone_(has_gone) {}

    cancellation_signal signal;
    std::atomic<cancellation_type> cancelled{cancellation_type::none};
    std::atomic<unsigned> references{1};
    std::atomic<bool> chained{false}; ///< the parent's slot holds the handler that leads here

    bool lies_elsewhere() const noexcept { return has_gone_; }
    void last_owner_has_gone() noexcept { has_gone_(*this); }

    void remember(cancellation_type type) noexcept;
    /// Passes a request on: to the primitive that is awaited, else to whoever listens to the slot.
    void ask(cancellation_type type);
    /// Asks the primitive that is awaited. False: there is none.
    bool ask_awaited(cancellation_type type) noexcept;
    /// From here on the op in the record can be asked. It stays until await_has_ended() has returned.
    void await_begins(askable_await const& a) noexcept {
        lock_.lock();
        awaited_ = a;
        lock_.unlock();
    }
    /// When the op is with its driver: what came earlier has found nothing to end.
    void await_has_begun(cancellation_type before) noexcept {
        lock_.lock();
        auto const asked = awaited_.asked | before;
        if (awaited_.cancel && !!asked)
            awaited_.cancel(awaited_.storage, *awaited_.record, asked);
        lock_.unlock();
    }
    void await_has_ended() noexcept {
        lock_.lock();
        awaited_.cancel = nullptr;
        lock_.unlock();
    }
    /// For reports.
    askable_await awaited() noexcept;

private:
    void (*has_gone_)(chained_signal&) noexcept = nullptr; ///< null: it lies in a block
    askable_await awaited_{};
    exec::short_lock lock_; ///< nobody calls a handler under it
};

/// The handler that a state installs in its parent's slot.
template <class InFilter, class OutFilter> class chained_handler {
public:
    chained_handler(exec::shared_block<chained_signal> const& to, InFilter in, OutFilter out)
        : to_(to),
          in_(std::move(in)),
          out_(std::move(out)) {
        to_->chained.store(true, std::memory_order_relaxed);
    }
    chained_handler(chained_handler const&) = delete;
    chained_handler& operator=(chained_handler const&) = delete;
    ~chained_handler() { to_->chained.store(false, std::memory_order_relaxed); }

    void operator()(cancellation_type type) {
        auto const in = in_(type);
        auto const out = out_(in);
        auto to = to_; // The handler of the request may clear the slot that holds this.
        to->remember(in);
        if (!!out)
            to->ask(out);
    }

private:
    exec::shared_block<chained_signal> to_;
    [[no_unique_address]] InFilter in_;
    [[no_unique_address]] OutFilter out_;
};

} // namespace impl::operation

/// A slot for the steps of an operation, chained to the operation's own slot. Copies share one state.
/// Threads    any thread may emit; otherwise as the operation
/// Allocates  one block of the recycler, if the parent belongs to a signal; and what the slot takes
class FAIRLEAD_EXPORT cancellation_state {
public:
    constexpr cancellation_state() noexcept = default;
    /// Lets terminal requests through only.
    template <class Slot>
        requires requires(Slot s) { s.is_connected(); }
    explicit cancellation_state(Slot parent) : cancellation_state(parent, enable_terminal_cancellation()) {}
    template <class Slot, class Filter> cancellation_state(Slot parent, Filter filter)
        : cancellation_state(parent, filter, filter) {}
    /// `in` decides what counts as a request, `out` what of that the current step is asked for.
    template <class Slot, class InFilter, class OutFilter> cancellation_state(Slot parent, InFilter in, OutFilter out) {
        if (!parent.is_connected())
            return;
        shared_ = impl::exec::shared_block<impl::operation::chained_signal>::make();
        parent.template emplace<impl::operation::chained_handler<InFilter, OutFilter>>(shared_, std::move(in),
                                                                                       std::move(out));
    }

    /// For the steps. Belongs to no signal when the parent does not.
    cancellation_slot slot() const noexcept { return shared_ ? shared_->signal.slot() : cancellation_slot(); }
    /// The types of the requests so far.
    cancellation_type cancelled() const noexcept {
        return shared_ ? shared_->cancelled.load(std::memory_order_relaxed) : cancellation_type::none;
    }
    /// Forgets it.
    void clear(cancellation_type mask = cancellation_type::all) noexcept;

    /// For the layers of the library: a state that nobody's slot leads to; whoever has the signal asks.
    explicit cancellation_state(impl::operation::chained_signal& of_the_asker) noexcept
        : shared_(impl::exec::shared_block<impl::operation::chained_signal>::first_of(of_the_asker)) {}
    /// Whether it is such a state.
    bool lies_with_the_asker() const noexcept;
    /// Counts requests that have come before the state was in anybody's slot.
    void remember(cancellation_type before) const noexcept { shared_->remember(before); }
    /// Takes the handler out of the parent's slot again, unless it has been replaced.
    template <class Slot> void unchain(Slot parent) noexcept {
        auto const ours = [this] { return shared_->chained.load(std::memory_order_relaxed); };
        if (!shared_ || !ours())
            return;
        if constexpr (std::is_same_v<Slot, cancellation_slot>)
            impl::operation::slot_access::clear_if(parent, ours);
        else
            parent.clear();
    }
    /// Asks the current step again for what has been asked for: another thread may have asked between two steps.
    void repeat() const;
    void await_begins(impl::operation::askable_await const& a) const noexcept { shared_->await_begins(a); }
    void await_has_begun(bool with_all_before) const noexcept {
        shared_->await_has_begun(with_all_before ? cancelled() : cancellation_type::none);
    }
    void await_has_ended() const noexcept { shared_->await_has_ended(); }
    impl::operation::askable_await awaited() const noexcept { return shared_->awaited(); }

private:
    impl::exec::shared_block<impl::operation::chained_signal> shared_;
};

namespace impl::operation {

/// Base of the library's composed operations, to hear requests in every step and between them. Costs
/// nothing when the handler has no slot.
template <class Handler, bool = has_cancellation_slot<Handler>> class composed_cancellation {
public:
    template <class Filter> composed_cancellation(Handler const&, Filter) noexcept {}
    static constexpr bool is_cancelled() noexcept { return false; }
    template <class Start> void begin_step(Start start) { start(); }
    void end_cancellation(Handler const&) noexcept {}
};
template <class Handler> class composed_cancellation<Handler, true> {
public:
    using cancellation_slot_type = cancellation_slot;

    template <class Filter> composed_cancellation(Handler const& h, Filter filter)
        : state_(get_associated_cancellation_slot(h), filter) {}
    cancellation_slot_type get_cancellation_slot() const noexcept { return state_.slot(); }
    bool is_cancelled() const noexcept { return !!state_.cancelled(); }
    /// `start` moves the operation away, into the handler of the step.
    template <class Start> void begin_step(Start start) {
        auto const state = state_;
        start();
        state.repeat();
    }
    /// Before the handler is called.
    void end_cancellation(Handler const& h) noexcept { state_.unchain(get_associated_cancellation_slot(h)); }

private:
    cancellation_state state_;
};

} // namespace impl::operation
} // namespace fairlead
