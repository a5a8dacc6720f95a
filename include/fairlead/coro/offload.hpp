// offload: a function that computes or blocks runs elsewhere, while the coroutine's loop goes on.
#pragma once

#include <fairlead/coro/spawn.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace fairlead {
namespace impl::coro {

template <class F> awaitable<std::invoke_result_t<F>> call_as_coroutine(F f) { co_return std::move(f)(); }

template <class F>
concept plain_function = std::invocable<std::decay_t<F>> && !awaitable_function<std::decay_t<F>>;

} // namespace impl::coro

/// `int n = co_await offload(pool, [&] { return count(text); });` runs the function on `ex`, and comes back with its
/// result.
/// Completes  (exception_ptr e, R value), as co_spawn
/// Errors     what the function throws
/// Cancel     a function that has begun is waited for
/// Immediate  never, unless the caller runs on `ex`
/// Lifetime   the function is moved, and gone when the handler runs; it may refer to variables of the coroutine
/// Threads    any
/// Allocates  a frame and what co_spawn takes
template <io_executor Executor, impl::coro::plain_function F, class Token = default_completion_token_t<Executor>>
decltype(auto) offload(Executor const& ex, F&& f, Token&& token = {}) {
    return co_spawn(ex, impl::coro::call_as_coroutine<std::decay_t<F>>(std::forward<F>(f)), std::forward<Token>(token));
}
template <execution_context_type Context, impl::coro::plain_function F,
          class Token = default_completion_token_t<typename Context::executor_type>>
decltype(auto) offload(Context& c, F&& f, Token&& token = {}) {
    return offload(c.get_executor(), std::forward<F>(f), std::forward<Token>(token));
}

} // namespace fairlead
