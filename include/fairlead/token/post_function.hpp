// post, defer and dispatch of a function whose result goes elsewhere: work for a pool, say, for a coroutine on a loop.
#pragma once

#include <fairlead/token/post.hpp>

#include <concepts>
#include <type_traits>

namespace fairlead {
namespace detail {

template <class F> using function_result = std::invoke_result_t<std::decay_t<F>>;

/// void(), or void(R) with what the function returns.
template <class R> struct function_signature {
    using type = void(std::decay_t<R>);
};
template <class R>
    requires std::is_void_v<R>
struct function_signature<R> {
    using type = void();
};

/// `Way` is how the executor is given what to run.
template <class Executor, class Function, class Way> struct function_elsewhere {
    Executor executor;
    Function function;

    template <class Handler> void operator()(Handler&& handler) {
        using handler_type = std::decay_t<Handler>;
        impl::operation::handler_work<handler_type> work(
            handler, impl::exec::loop_of(executor)); // before the handler is moved from
        auto perform = [f = std::move(function), h = handler_type(std::forward<Handler>(handler)),
                        work = std::move(work)]() mutable {
            static_cast<void>(work); // Kept until the handler has run.
            if constexpr (std::is_void_v<function_result<Function>>) {
                std::move(f)();
                impl::operation::dispatch_values(h, std::tuple<>());
            } else {
                impl::operation::dispatch_values(h,
                                                 std::tuple<std::decay_t<function_result<Function>>>(std::move(f)()));
            }
        };
        Way::take_function(executor, std::move(perform));
    }
    Executor get_executor() const noexcept { return executor; }
};

template <class Way, class F, class E, class Token> decltype(auto) submit_function(F&& f, E const& ex, Token&& token) {
    return completion_token_transform<typename function_signature<function_result<F>>::type>(
        std::forward<Token>(token), function_elsewhere<E, std::decay_t<F>, Way>{ex, std::forward<F>(f)});
}

template <class F>
concept work_function = impl::token::not_a_place<F> && std::invocable<std::decay_t<F>>;

} // namespace detail

/// Runs `function` on `ex`, never before post returns, and completes with its result on the handler's executor. While a
/// pool computes, the loop of a coroutine goes on.
/// Completes  () when `function` returns nothing, otherwise (R result)
/// Errors     none; what `function` throws leaves the run() of `ex`, and the operation is abandoned
/// Cancel     none
/// Immediate  never
/// Lifetime   `function` is moved or copied, and destroyed after the handler was called
/// Threads    any
/// Allocates  a block for function and handler
/// Source     Asio, post with a function
template <detail::work_function Function, execution::executor Executor,
          impl::token::not_a_place Token = default_completion_token_t<Executor>>
decltype(auto) post(Function&& function, Executor const& ex, Token&& token = {}) {
    return detail::submit_function<impl::token::queued>(std::forward<Function>(function), ex,
                                                        std::forward<Token>(token));
}
template <detail::work_function Function, execution_context_type Context,
          impl::token::not_a_place Token = default_completion_token_t<typename Context::executor_type>>
decltype(auto) post(Function&& function, Context& c, Token&& token = {}) {
    return post(std::forward<Function>(function), c.get_executor(), std::forward<Token>(token));
}

/// As post; says that the function continues what the caller does. A hint only.
/// Source     Asio, defer with a function
template <detail::work_function Function, execution::executor Executor,
          impl::token::not_a_place Token = default_completion_token_t<Executor>>
decltype(auto) defer(Function&& function, Executor const& ex, Token&& token = {}) {
    return post(std::forward<Function>(function), ex, std::forward<Token>(token));
}
template <detail::work_function Function, execution_context_type Context,
          impl::token::not_a_place Token = default_completion_token_t<typename Context::executor_type>>
decltype(auto) defer(Function&& function, Context& c, Token&& token = {}) {
    return post(std::forward<Function>(function), c, std::forward<Token>(token));
}

/// As post, but the function runs inside this call when the caller already runs on `ex`.
/// Immediate  when the caller runs on `ex`
/// Source     Asio, dispatch with a function
template <detail::work_function Function, execution::executor Executor,
          impl::token::not_a_place Token = default_completion_token_t<Executor>>
decltype(auto) dispatch(Function&& function, Executor const& ex, Token&& token = {}) {
    return detail::submit_function<impl::token::dispatched>(std::forward<Function>(function), ex,
                                                            std::forward<Token>(token));
}
template <detail::work_function Function, execution_context_type Context,
          impl::token::not_a_place Token = default_completion_token_t<typename Context::executor_type>>
decltype(auto) dispatch(Function&& function, Context& c, Token&& token = {}) {
    return dispatch(std::forward<Function>(function), c.get_executor(), std::forward<Token>(token));
}

} // namespace fairlead
