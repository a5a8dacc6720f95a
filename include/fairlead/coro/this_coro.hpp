// Questions and requests of a coroutine to itself.
#pragma once

namespace fairlead::this_coro {

/// The type of this_coro::executor.
struct executor_t {};
/// `co_await this_coro::executor`: the executor that the coroutine runs on, as a reference to what outlives it. Never
/// suspends.
inline constexpr executor_t executor{};

/// The result of this_coro::yield().
struct yield_t {};
/// `co_await this_coro::yield()`: gives way to everything that is queued. It does not end early: a coroutine that only
/// computes asks this_coro::cancellation_state.
inline yield_t yield() noexcept { return {}; }

/// The result of this_coro::yield_if_due().
struct yield_if_due_t {};
/// `co_await this_coro::yield_if_due()`: for loops that compute without awaiting. Takes a unit of the budget; gives way
/// when it is used up.
inline yield_if_due_t yield_if_due() noexcept { return {}; }

/// The type of this_coro::cancellation_state.
struct cancellation_state_t {};
/// `co_await this_coro::cancellation_state`: what the coroutine has been asked for, through the slot of co_spawn's
/// handler, as a fairlead::cancellation_state. Never suspends. In a part of a group the first one takes two
/// blocks of the recycler, and may throw bad_alloc.
inline constexpr cancellation_state_t cancellation_state{};

/// The result of reset_cancellation_state().
template <class InFilter, class OutFilter> struct reset_cancellation_state_t {
    InFilter in;
    OutFilter out;
};
/// The result of reset_cancellation_state() without filters.
struct reset_to_terminal_t {};
/// `co_await this_coro::reset_cancellation_state()`: forgets what has been asked for, and lets terminal requests
/// through. Never suspends.
inline reset_to_terminal_t reset_cancellation_state() noexcept { return {}; }
/// As reset_cancellation_state() without filters, but `filter` says which types are let through.
template <class Filter> reset_cancellation_state_t<Filter, Filter> reset_cancellation_state(Filter filter) {
    return {filter, filter};
}
/// As above, but `in` says what counts as a request, `out` which part of it the awaited operation is asked for.
template <class InFilter, class OutFilter>
reset_cancellation_state_t<InFilter, OutFilter> reset_cancellation_state(InFilter in, OutFilter out) {
    return {in, out};
}

/// The result of throw_if_cancelled().
struct throws_if_cancelled_t {};
/// The result of throw_if_cancelled(bool).
struct throw_if_cancelled_t {
    bool value;
};
/// `co_await this_coro::throw_if_cancelled()`: whether a co_await of an operation throws operation_aborted once there
/// is a request. It does from the start. Never suspends.
inline throws_if_cancelled_t throw_if_cancelled() noexcept { return {}; }
/// `co_await this_coro::throw_if_cancelled(false)`: from here on operations begin all the same. Never suspends.
inline throw_if_cancelled_t throw_if_cancelled(bool value) noexcept { return {value}; }

} // namespace fairlead::this_coro
