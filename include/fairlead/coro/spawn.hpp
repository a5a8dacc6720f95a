// co_spawn: start a coroutine on an executor.
#pragma once

#include <fairlead/coro/spawn_root.hpp>
#include <fairlead/token/detached.hpp>

namespace fairlead {
namespace impl::coro {

/// An awaitable as a function that gives it away.
template <class T> struct give_awaitable {
    awaitable<T> a;
    awaitable<T> operator()() { return std::move(a); }
};

template <class T, class Function> struct spawn_initiation {
    any_io_executor executor;
    Function function;

    any_io_executor get_executor() const noexcept { return executor; }

    template <class Handler> void operator()(Handler&& handler) { start(std::forward<Handler>(handler)); }
    template <class Handler> void start(Handler&& handler) {
        if (!executor)
            throw bad_executor();
        using root = spawned<T, Function, std::decay_t<Handler>>;
        operation::allocate_with<root>(handler, executor, std::move(function), std::forward<Handler>(handler))->start();
    }
};

// Coroutines without a result whose end nobody hears of: compiled once, in the library.
using spawn_awaitable = spawn_initiation<void, give_awaitable<void>>;
template <> template <> FAIRLEAD_EXPORT void spawn_awaitable::operator()(token::detached_handler&&);

template <class T> struct awaitable_result;
template <class T> struct awaitable_result<awaitable<T>> {
    using type = T;
};
template <class Signature, std::size_t Storage> struct awaitable_result<async_op<Signature, Storage>> {
    using type = operation::awaited_t<Signature>;
};
template <operation::brings_awaiter Op> struct awaitable_result<Op> : awaitable_result<typename Op::async_op_type> {};

template <class F>
concept awaitable_function = requires(F& f) { typename awaitable_result<decltype(f())>::type; };
template <class A>
concept awaitable_or_awaitable_function = awaitable_function<A> || requires { typename awaitable_result<A>::type; };

/// Other executors may need memory to become an any_io_executor.
template <class Token, class Executor, class T, class Function> inline constexpr bool nothrow_spawn =
    (exec::always_loop<Executor> || std::derived_from<Executor, any_io_executor>) &&
    operation::nothrow_token<std::decay_t<Token>, spawn_initiation<T, Function>>;
template <class Token, class Executor, class F> inline constexpr bool nothrow_spawn_of =
    std::is_nothrow_constructible_v<std::decay_t<F>, F> &&
    nothrow_spawn<Token, Executor, typename awaitable_result<decltype(std::declval<std::decay_t<F>&>()())>::type,
                  std::decay_t<F>>;

struct refused_spawn : operation::refused_token<void(std::exception_ptr)> {};

} // namespace impl::coro

/// Starts `a` as a coroutine of its own on `ex`.
/// Completes  (exception_ptr e, T value); value counts when e is null. It is a std::optional<T> of a T without default
///            constructor, and a T* of an awaitable<T&>
/// Errors     what the coroutine throws, as e; an empty executor makes the call itself throw bad_executor
/// Cancel     terminal, until this_coro::reset_cancellation_state() says otherwise. The awaited operation is asked,
///            too. From then on each co_await of an operation throws operation_aborted, unless
///            this_coro::throw_if_cancelled() says otherwise
/// Immediate  inside the executor the body starts in this call; the handler still never runs in it
/// Lifetime   `a` is moved, and gone when the handler runs; what its arguments refer to outlives the coroutine
/// Threads    any; elsewhere than in the executor the start goes through its queue
/// Allocates  one block from the handler's allocator, by default the recycler
/// Source     Asio, co_spawn
template <io_executor Executor, class T, class Token = default_completion_token_t<Executor>> decltype(auto)
co_spawn(Executor const& ex, awaitable<T> a,
         Token&& token = {}) noexcept(impl::coro::nothrow_spawn<Token, Executor, T, impl::coro::give_awaitable<T>>) {
    return completion_token_transform<typename impl::coro::spawn_values<T>::signature>(
        std::forward<Token>(token),
        impl::coro::spawn_initiation<T, impl::coro::give_awaitable<T>>{any_io_executor(ex), {std::move(a)}});
}
template <execution_context_type Context, class T,
          class Token = default_completion_token_t<typename Context::executor_type>>
decltype(auto) co_spawn(Context& c, awaitable<T> a, Token&& token = {}) noexcept(
    impl::coro::nothrow_spawn<Token, typename Context::executor_type, T, impl::coro::give_awaitable<T>>) {
    return co_spawn(c.get_executor(), std::move(a), std::forward<Token>(token));
}

/// The same function, with an operation that has not started.
template <io_executor Executor, class Signature, std::size_t Storage,
          class Token = default_completion_token_t<Executor>>
decltype(auto) co_spawn(Executor const& ex, async_op<Signature, Storage> op, Token&& token = {}) {
    return co_spawn(ex, awaitable<impl::operation::awaited_t<Signature>>(std::move(op)), std::forward<Token>(token));
}
template <execution_context_type Context, class Signature, std::size_t Storage,
          class Token = default_completion_token_t<typename Context::executor_type>>
decltype(auto) co_spawn(Context& c, async_op<Signature, Storage> op, Token&& token = {}) {
    return co_spawn(c.get_executor(), std::move(op), std::forward<Token>(token));
}
template <io_executor Executor, impl::operation::brings_awaiter Op, class Token = default_completion_token_t<Executor>>
decltype(auto) co_spawn(Executor const& ex, Op op, Token&& token = {}) {
    return co_spawn(ex, impl::operation::as_async_op(std::move(op)), std::forward<Token>(token));
}
template <execution_context_type Context, impl::operation::brings_awaiter Op,
          class Token = default_completion_token_t<typename Context::executor_type>>
decltype(auto) co_spawn(Context& c, Op op, Token&& token = {}) {
    return co_spawn(c.get_executor(), std::move(op), std::forward<Token>(token));
}

/// The same function, with a callable object that returns the awaitable, or an operation. The object is kept until the
/// coroutine has ended, so a lambda with captures may be a coroutine itself.
template <io_executor Executor, class F, class Token = default_completion_token_t<Executor>>
    requires impl::coro::awaitable_function<std::decay_t<F>>
decltype(auto) co_spawn(Executor const& ex, F&& f,
                        Token&& token = {}) noexcept(impl::coro::nothrow_spawn_of<Token, Executor, F>) {
    using function = std::decay_t<F>;
    using T = typename impl::coro::awaitable_result<decltype(std::declval<function&>()())>::type;
    return completion_token_transform<typename impl::coro::spawn_values<T>::signature>(
        std::forward<Token>(token), impl::coro::spawn_initiation<T, function>{any_io_executor(ex), std::forward<F>(f)});
}
template <execution_context_type Context, class F,
          class Token = default_completion_token_t<typename Context::executor_type>>
    requires impl::coro::awaitable_function<std::decay_t<F>>
decltype(auto)
co_spawn(Context& c, F&& f,
         Token&& token = {}) noexcept(impl::coro::nothrow_spawn_of<Token, typename Context::executor_type, F>) {
    return co_spawn(c.get_executor(), std::forward<F>(f), std::forward<Token>(token));
}

/// Handler: what the coroutine throws leaves run(), as what a callback throws does; its result is dropped. With
/// detached both are dropped: for coroutines whose failure concerns nobody else, as that of one connection of a server.
struct rethrow_t {
    template <class... Value> void operator()(std::exception_ptr e, Value&&...) const {
        if (e)
            std::rethrow_exception(std::move(e));
    }
};
/// `co_spawn(ctx, f(), rethrow)`
inline constexpr rethrow_t rethrow{};

template <> template <> FAIRLEAD_EXPORT void impl::coro::spawn_awaitable::operator()(rethrow_t const&);

/// Nothing else is spawned.
template <class Where, class What, class... Token>
    requires(!impl::coro::awaitable_or_awaitable_function<std::decay_t<What>>)
FAIRLEAD_REFUSED("co_spawn takes an awaitable, an operation, or a function that returns one: for a coroutine with "
                 "arguments write co_spawn(ex, f(arguments...), token)")
impl::coro::refused_spawn co_spawn(Where&&, What&&, Token&&...) {
    return {};
}

} // namespace fairlead
