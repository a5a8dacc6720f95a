// async_immediate: the operation that has nothing to do. Composed operations delegate to it when their result is there
// already.
#pragma once

#include <fairlead/operation/async_op.hpp>

#include <optional>

namespace fairlead {
namespace detail {

template <class Executor> struct immediate_initiation {
    static constexpr bool is_cancellable = false;
    static constexpr bool only_queues = true;

    Executor executor;

    Executor get_executor() const noexcept { return executor; }
    /// Awaited it does not even suspend, within the budget.
    std::optional<std::tuple<>> try_step() const noexcept { return std::tuple<>(); }
    template <class Handler> void operator()(Handler&& handler) const {
        impl::operation::complete_immediately(executor, std::forward<Handler>(handler), std::tuple<>());
    }
    void block(std::tuple<>&) const noexcept {}
};

} // namespace detail

/// Completes at once, with nothing.
/// Completes  ()
/// Errors     none
/// Cancel     none
/// Immediate  always: the handler runs on its associated immediate executor, if it has one; otherwise it is queued, on
///            its own executor or else on `ex`
/// Lifetime   `ex` is copied; its context outlives the completion, or it never comes
/// Threads    any
/// Allocates  awaited nothing; otherwise the handler's block
template <io_executor Executor, class Token = default_completion_token_t<Executor>>
decltype(auto) async_immediate(Executor const& ex, Token&& token = {}) noexcept(
    impl::operation::nothrow_token<std::decay_t<Token>, detail::immediate_initiation<Executor>>) {
    return completion_token_transform<void()>(std::forward<Token>(token), detail::immediate_initiation<Executor>{ex});
}
template <execution_context_type Context, class Token = default_completion_token_t<typename Context::executor_type>>
decltype(auto) async_immediate(Context& c, Token&& token = {}) noexcept(
    impl::operation::nothrow_token<std::decay_t<Token>,
                                   detail::immediate_initiation<typename Context::executor_type>>) {
    return async_immediate(c.get_executor(), std::forward<Token>(token));
}

} // namespace fairlead
