// post, dispatch, defer: run a function, or resume the caller, on an executor.
#pragma once

#include <fairlead/operation/async_result.hpp> // First: its refusals are then shown with few lines about headers.

#include <fairlead/operation/async_op.hpp>
#include <fairlead/operation/initiate.hpp>

namespace fairlead {
namespace impl::token {

/// post and defer on a loop: nothing but an op in the run queue.
struct loop_post : operation::primitive<loop_post> {
    using signature = void();
    using record = op;
    static constexpr bool only_queues = true;

    loop* target;

    explicit loop_post(loop* l) noexcept : target(l) {}
    loop* home() const noexcept { return target; }
    void prepare(record& o) const noexcept { o.cancel = nullptr; }
    void submit(record& o) const noexcept { target->post(o); }
    void submit_last(record& o) const noexcept { target->post_last(o); }
    static std::tuple<> take(record&) noexcept { return {}; }
    void block(std::tuple<>&) const noexcept {} // The caller is already running: there is nothing to wait for.
};

/// post on any executor: through it first, then to the handler's own executor if it has another one. `Way` is how the
/// executor is given what to run.
template <class Way, class Executor, class Handler>
FAIRLEAD_ALWAYS_INLINE void run_on(Executor const& executor, Handler&& handler) {
    using handler_type = std::decay_t<Handler>;
    using op_type = operation::completion_op<handler_type, std::tuple<>>;
    if constexpr (operation::has_own_executor<handler_type>) {
        operation::handler_work<handler_type> work(handler,
                                                   exec::loop_of(executor)); // before the handler is moved from
        Way::take_function(executor,
                           [h = handler_type(std::forward<Handler>(handler)), work = std::move(work)]() mutable {
                               operation::dispatch_values(h, std::tuple<>());
                           });
    } else {
        Way::take_op(executor,
                     *operation::allocate_with<op_type>(handler, std::forward<Handler>(handler), std::tuple<>()));
    }
}

/// Never inside the call.
struct queued {
    template <class E, class F> static void take_function(E const& e, F&& f) {
        exec::queue_function(e, std::forward<F>(f));
    }
    template <class E> static void take_op(E const& e, op& o) { exec::execute_op(e, o); }
};
/// Inside the call when the caller runs on the executor, otherwise as the executor likes.
struct dispatched {
    template <class E, class F> static void take_function(E const& e, F&& f) {
        if (exec::runs_here(e))
            std::forward<F>(f)();
        else
            exec::dispatch_function(e, std::forward<F>(f));
    }
    template <class E> static void take_op(E const& e, op& o) { exec::dispatch_op(e, o); }
};

template <class Executor> struct executor_post {
    static constexpr bool is_cancellable = false;
    static constexpr bool only_queues = true;

    Executor executor;

    template <class Handler> void operator()(Handler&& handler) const {
        run_on<queued>(executor, std::forward<Handler>(handler));
    }
    Executor get_executor() const noexcept { return executor; }
};

/// As post, but inline when the caller already runs on the executor.
template <class Executor> struct executor_dispatch {
    static constexpr bool is_cancellable = false;
    static constexpr bool only_queues = true;

    Executor executor;

    template <class Handler> void operator()(Handler&& handler) const {
        std::decay_t<Handler> h(std::forward<Handler>(handler));
        if (exec::runs_here(executor))
            operation::dispatch_values(h, std::tuple<>());
        else
            run_on<dispatched>(executor, std::move(h));
    }
    Executor get_executor() const noexcept { return executor; }
};

/// Handlers, which are started inside the initiating function: nothing that it was called with need be kept for them.
template <class Token, class Signature>
concept started_at_once =
    completion_handler_for<Token, Signature> && !operation::own_overload::present<Token, Signature> &&
    requires { typename async_result<std::decay_t<Token>, Signature>::takes_the_token_as_handler; };

template <class Token, class Executor> decltype(auto) post_on(Executor const& ex, Token&& token) {
    if (loop* l = exec::loop_of(ex)) {
        if constexpr (std::is_void_v<decltype(completion_token_transform<void()>(std::forward<Token>(token),
                                                                                 loop_post(l)))> ||
                      std::is_same_v<decltype(completion_token_transform<void()>(std::forward<Token>(token),
                                                                                 loop_post(l))),
                                     decltype(completion_token_transform<void()>(std::forward<Token>(token),
                                                                                 executor_post<Executor>{ex}))>)
            return completion_token_transform<void()>(std::forward<Token>(token), loop_post(l));
    }
    if constexpr (started_at_once<Token, void()>) // Some executors count their copies.
        return executor_post<Executor const&>{ex}(std::forward<Token>(token));
    else
        return completion_token_transform<void()>(std::forward<Token>(token), executor_post<Executor>{ex});
}

/// post and dispatch on whatever executor the handler has; one that has none is called at once.
struct associated_post {
    using gives_way = void;
    static constexpr bool is_cancellable = false;
    static constexpr bool only_queues = true;

    template <class Handler> void operator()(Handler&& handler) const {
        auto const ex = get_associated_executor(handler);
        operation::post_values(ex, std::forward<Handler>(handler), std::tuple<>());
    }
};
struct associated_dispatch {
    static constexpr bool is_cancellable = false;
    static constexpr bool only_queues = true;

    template <class Handler> void operator()(Handler&& handler) const {
        std::decay_t<Handler> h(std::forward<Handler>(handler));
        operation::dispatch_values(h, std::tuple<>());
    }
};

template <class Token>
concept not_a_place = !execution::executor<std::decay_t<Token>> && !execution_context_type<std::decay_t<Token>>;
/// A handler says itself where it runs, other tokens when they become one.
template <class Token>
concept names_place = not_a_place<Token> && (operation::has_own_executor<std::decay_t<Token>> ||
                                             !completion_handler_for<std::decay_t<Token>, void()>);

template <class Executor, class Token> inline constexpr bool nothrow_post =
    exec::always_loop<Executor> && operation::nothrow_token<std::decay_t<Token>, loop_post>;

} // namespace impl::token

/// Runs the handler on `ex`, never before post returns. A coroutine that awaits it goes on at home, not on `ex`. To
/// run something there, post a function (token/post_function.hpp), or co_spawn a coroutine.
/// Completes  ()
/// Errors     none
/// Cancel     none
/// Immediate  never: it always goes through the queue; awaited it is a fair point to give way
/// Lifetime   the handler is kept until it runs; when the context goes before that, it is destroyed and never called
/// Threads    any
/// Allocates  awaited nothing; otherwise the handler's block
/// Source     Networking TS [async.post]
template <execution::executor Executor, impl::token::not_a_place Token = default_completion_token_t<Executor>>
decltype(auto) post(Executor const& ex, Token&& token = {}) noexcept(impl::token::nothrow_post<Executor, Token>) {
    if constexpr (impl::exec::always_loop<Executor>)
        return completion_token_transform<void()>(std::forward<Token>(token), impl::token::loop_post(ex.native_loop()));
    else
        return impl::token::post_on(ex, std::forward<Token>(token));
}
template <execution_context_type Context,
          impl::token::not_a_place Token = default_completion_token_t<typename Context::executor_type>>
decltype(auto) post(Context& c,
                    Token&& token = {}) noexcept(impl::token::nothrow_post<decltype(c.get_executor()), Token>) {
    return post(c.get_executor(), std::forward<Token>(token));
}
/// The same function, for the associated executor of the handler; awaited, for that of the coroutine. A handler that
/// gets here without one, by way of a token, is called before post returns.
template <impl::token::names_place Token = use_await_t> decltype(auto) post(Token&& token = {}) {
    return completion_token_transform<void()>(std::forward<Token>(token), impl::token::associated_post());
}

/// As post; says that the handler continues what the caller does. A hint only.
/// Source     Networking TS [async.defer]
template <execution::executor Executor, impl::token::not_a_place Token = default_completion_token_t<Executor>>
decltype(auto) defer(Executor const& ex, Token&& token = {}) noexcept(impl::token::nothrow_post<Executor, Token>) {
    return post(ex, std::forward<Token>(token));
}
template <execution_context_type Context,
          impl::token::not_a_place Token = default_completion_token_t<typename Context::executor_type>>
decltype(auto) defer(Context& c,
                     Token&& token = {}) noexcept(impl::token::nothrow_post<decltype(c.get_executor()), Token>) {
    return post(c, std::forward<Token>(token));
}
template <impl::token::names_place Token = use_await_t> decltype(auto) defer(Token&& token = {}) {
    return post(std::forward<Token>(token));
}

/// As post, but the handler runs inside this call when the caller already runs on `ex`. So it does when `ex` is a
/// user's executor whose execute() runs functions inside the call.
/// Immediate  when the caller runs on `ex`, or `ex` runs functions inside the call
/// Allocates  nothing when the caller runs on `ex`; otherwise the handler's block
/// Source     Networking TS [async.dispatch]
template <execution::executor Executor, impl::token::not_a_place Token = default_completion_token_t<Executor>>
decltype(auto) dispatch(Executor const& ex, Token&& token = {}) noexcept(
    impl::operation::nothrow_token<std::decay_t<Token>, impl::token::executor_dispatch<Executor>>) {
    return completion_token_transform<void()>(std::forward<Token>(token), impl::token::executor_dispatch<Executor>{ex});
}
template <execution_context_type Context,
          impl::token::not_a_place Token = default_completion_token_t<typename Context::executor_type>>
decltype(auto) dispatch(Context& c, Token&& token = {}) noexcept(
    impl::operation::nothrow_token<std::decay_t<Token>,
                                   impl::token::executor_dispatch<typename Context::executor_type>>) {
    return dispatch(c.get_executor(), std::forward<Token>(token));
}
template <impl::token::names_place Token = use_await_t> decltype(auto) dispatch(Token&& token = {}) {
    return completion_token_transform<void()>(std::forward<Token>(token), impl::token::associated_dispatch());
}

} // namespace fairlead
