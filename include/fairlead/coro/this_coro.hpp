// What a coroutine may ask of itself.
#pragma once

namespace fairlead::this_coro {

/// The type of this_coro::executor.
struct executor_t {};
/// `co_await this_coro::executor`: the executor that the coroutine runs on. Never suspends.
inline constexpr executor_t executor{};

/// What this_coro::yield() returns.
struct yield_t {};
/// `co_await this_coro::yield()`: gives way to everything that is queued.
inline yield_t yield() noexcept { return {}; }

/// What this_coro::yield_if_due() returns.
struct yield_if_due_t {};
/// `co_await this_coro::yield_if_due()`: for loops that compute without awaiting. Takes a unit of the budget; gives way
/// when it is used up.
inline yield_if_due_t yield_if_due() noexcept { return {}; }

} // namespace fairlead::this_coro
