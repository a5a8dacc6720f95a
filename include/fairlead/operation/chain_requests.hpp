// How a chain of coroutines is asked to end early. The op of a primitive that it awaits is asked in its record, by the
// verb of its table. Any other operation is started with a handler that has a slot. No await begins once the chain has
// been asked.
//
// A chain that nobody can ask pays nothing for it. In one that can be asked, an operation that is ready completes at
// once as ever. Its item has no budget left when there is a request, so that the next await comes here.
#pragma once

#include <fairlead/base/at_scope_end.hpp>
#include <fairlead/base/taken_from.hpp>
#include <fairlead/operation/await_handler.hpp>
#include <fairlead/operation/cancellation_state.hpp>
#include <fairlead/operation/erased_handler.hpp>

#include <utility>

namespace fairlead::impl::operation {

/// The requests to the coroutines of a chain; in its root.
struct FAIRLEAD_EXPORT chain_requests {
    cancellation_slot parent;           ///< of the handler that was given to co_spawn, or of a member's own signal
    fairlead::cancellation_state state; ///< whose slot the awaited operation is given
    fairlead::cancellation_state first; ///< that of a member, which lies with it, when another one has replaced it

    /// False: nobody can ask. Until the next reset() terminal requests are let through.
    bool listen(cancellation_slot slot);
    template <class In, class Out> void reset(In in, Out out);
    /// The state for those who may keep it longer than the chain.
    fairlead::cancellation_state const& shared();
    void stop_listening() noexcept { state.unchain(parent); }

private:
    void keep_first() noexcept;
};

/// Only for records that `can_be_asked`.
inline chain_requests& requests_of(await_record& r) noexcept { return r.hooks->requests(r); }

/// A filter that also ends the rest of the thread's item: the coroutine that runs in it may be the one that is asked.
template <class Filter> struct prompt_filter {
    [[no_unique_address]] Filter filter;
    cancellation_type operator()(cancellation_type type) const {
        auto const passed = filter(type);
        if (!!passed)
            exec::this_thread.item.exhaust();
        return passed;
    }
};

template <class In, class Out> void chain_requests::reset(In in, Out out) {
    keep_first();
    state = fairlead::cancellation_state(parent, prompt_filter<In>{std::move(in)}, std::move(out));
}

/// Whether it tells the end of something that was asked to end.
FAIRLEAD_EXPORT bool is_cancellation(std::exception_ptr const& e) noexcept;

/// Whether an await begins.
enum class refusal : unsigned char {
    none,
    throws,   ///< it does not: what it throws is its result, and the item ends
    suspends, ///< it does not, nor is the chain resumed now: it is destroyed, or told when it has its turn again
};
/// Only for records that `can_be_asked`.
FAIRLEAD_EXPORT refusal refusal_of(await_record& r);
/// Whether the chain is to be destroyed when what it awaits has ended: its group said so.
inline bool is_to_be_destroyed(await_record const& r) noexcept {
    return r.notes & await_record::is_member && r.hooks->is_to_be_destroyed(r);
}

/// As await_handler, with the slot of the chain for operations that hear requests; the result is stored whatever the
/// operation is. A pointer, so that it fits into the lendable bytes behind the op of a read.
template <bool Hears, class... Args> class heard_handler {
public:
    using allocator_type = record_allocator<void>;
    using executor_type = await_executor;
    using cancellation_slot_type = cancellation_slot;

    explicit heard_handler(await_record* r) noexcept : record_(r) {}
    heard_handler(heard_handler&& other) noexcept : record_(base::taken_from(other.record_)) {}
    heard_handler& operator=(heard_handler&&) = delete;
    ~heard_handler() {
        if (record_)
            drop_await(*record_);
    }

    allocator_type get_allocator() const noexcept { return allocator_type(record_); }
    executor_type get_executor() const noexcept { return executor_type(record_->home); }
    cancellation_slot_type get_cancellation_slot() const noexcept {
        return Hears ? requests_of(*record_).state.slot() : cancellation_slot();
    }

    void operator()(Args... args) {
        if (is_to_be_destroyed(*record_)) [[unlikely]]
            return; // The result goes with its arguments.
        auto& r = *base::taken_from(record_);
        store_result(r, std::tuple<Args...>(std::move(args)...));
        r.state = exec::await_state::stored;
        exec::heed_requests(r); // It may be resumed in here.
        finish_await(r);
    }

private:
    await_record* record_;
};

/// Starts an awaited operation with a handler: `start()` moves that in. False: it has completed meanwhile.
template <class Start> bool start_with_handler(await_record& r, Start start) {
    auto& thread = exec::this_thread;
    base::at_scope_end const restore([&thread, starting = thread.starting, dropped = thread.dropped] {
        thread.starting = starting;
        thread.dropped = dropped;
    });
    thread.starting = &r;
    thread.dropped = false;
    start();
    // From here on the frame may be gone, unless the thread's own state says that it is still ours.
    if (thread.starting == &r)
        return true;
    if (thread.dropped) {
        thread.starting = nullptr;
        drop_await(r);
        return true;
    }
    if (spend_for(r))
        return false; // Completed before it returned: an immediate completion like any other.
    loop::resume_later(r);
    return true;
}

/// Hands the op of a primitive to its driver, by `submit(a.storage, *a.record)`. From then on it can be asked, until
/// asked_await_has_ended().
FAIRLEAD_EXPORT void submit_asked(askable_await const& a, loop& of_op, void (*submit)(void*, await_record&) noexcept);
/// How its op is to be run: a chain that is to be destroyed abandons it.
FAIRLEAD_EXPORT op_mode asked_await_has_ended(await_record& r, op_mode mode) noexcept;

/// Starts any other operation of a chain that can be asked to end. False: do not suspend.
template <bool Hears, class... Args>
bool start_heard(void (*start)(void*, handler_ref<Args...>), void* storage, await_record& r) {
    using handler = heard_handler<Hears, Args...>;
    auto const& requests = requests_of(r);
    auto const state = requests.state; // The chain may be gone when the operation has been started.
    bool const goes_on = r.notes & await_record::goes_on;
    handler h(&r);
    r.state = exec::await_state::idle;
    bool const suspends = start_with_handler(
        r, [&] { start(storage, {std::addressof(h), &erased_handler_table<handler, Args...>::functions}); });
    if (!goes_on) // Another thread may have asked before there was anybody in the slot.
        state.repeat();
    return suspends;
}

} // namespace fairlead::impl::operation
