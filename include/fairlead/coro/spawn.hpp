// co_spawn: start a coroutine on an executor.
#pragma once

#include <fairlead/coro/awaitable.hpp>
#include <fairlead/coro/handler_frame.hpp>

namespace fairlead {
namespace detail {

/// The root of an await chain. Its frame holds the executor, the function object and the handler; nobody owns it but
/// the operation that it waits for.
class spawn_root {
public:
    struct promise_type : promise_base, handler_frame_memory {
        any_io_executor own_executor;
        executor_resumer elsewhere{own_executor}; ///< the home, unless the executor runs a loop of ours
        bool counted = false;

        promise_type() noexcept { record.handle = std::coroutine_handle<promise_type>::from_promise(*this); }
        promise_type(promise_type const&) = delete;
        promise_type& operator=(promise_type const&) = delete;
        ~promise_type() {
            if (counted)
                record.home->count_work(-1);
        }
        spawn_root get_return_object() noexcept {
            return spawn_root(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); } // The body catches everything.

        using promise_base::await_transform;
        template <class U> child_awaiter<U> await_transform(awaitable<U>&& child) noexcept {
            return child_awaiter<U>(std::move(child), *this);
        }
        /// For the root's own last step.
        template <class A>
            requires requires { typename A::root_step; }
        A await_transform(A a) noexcept {
            return a;
        }
    };

    explicit spawn_root(std::coroutine_handle<promise_type> h) noexcept : handle(h) {}
    std::coroutine_handle<promise_type> handle;
};

/// Which root is being started inside co_spawn right now: its handler must not run in there.
template <class Handler, class Values> struct finish_root {
    using root_step = void;
    Handler* handler;
    Values* values;

    finish_root(Handler* h, Values* v) noexcept : handler(h), values(v) {}
    bool await_ready() const noexcept { return false; }
    /// Moves everything out, destroys the frame, and only then calls: the handler finds the memory free.
    void await_suspend(std::coroutine_handle<spawn_root::promise_type> root) {
        auto& promise = root.promise();
        any_io_executor const executor = promise.own_executor;
        bool const inside_co_spawn = this_thread.starting == &promise.record;
        Handler h(std::move(*handler));
        Values v(std::move(*values));
        executor.on_work_started(); // The frame gives its count back now; the handler is still to come.
        root.destroy();
        struct finished {
            any_io_executor const& e;
            ~finished() { e.on_work_finished(); }
        } const at_end{executor};
        try {
            if (inside_co_spawn) {
                this_thread.starting = nullptr;
                post_values(executor, std::move(h), std::move(v));
            } else {
                dispatch_values(h, std::move(v));
            }
        } catch (...) {
            loop::throw_after_resume(std::current_exception());
        }
    }
    void await_resume() const noexcept {}
};

template <class T> struct spawn_values {
    using type = std::tuple<std::exception_ptr, T>;
    using signature = void(std::exception_ptr, T);
};
template <> struct spawn_values<void> {
    using type = std::tuple<std::exception_ptr>;
    using signature = void(std::exception_ptr);
};

// Where nothing is optimised, g++ takes an operator new that is a template for the partner of another operator delete.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
template <class T, class Function, class Handler> spawn_root run_root(Function function, Handler handler) {
    using values_type = typename spawn_values<T>::type;
    values_type values{};
    try {
        if constexpr (std::is_void_v<T>)
            co_await function();
        else
            std::get<1>(values) = co_await function();
    } catch (...) {
        std::get<0>(values) = std::current_exception();
    }
    finish_root<Handler, values_type> finish(&handler, &values);
    co_await finish;
}
#pragma GCC diagnostic pop

/// An awaitable as a function that gives it away.
template <class T> struct give_awaitable {
    awaitable<T> a;
    awaitable<T> operator()() { return std::move(a); }
};

template <class T, class Function> struct spawn_initiation {
    any_io_executor executor;
    Function function;

    any_io_executor get_executor() const noexcept { return executor; }

    template <class Handler> void operator()(Handler&& handler) {
        if (!executor)
            throw bad_executor();
        auto root = run_root<T, Function, std::decay_t<Handler>>(std::move(function), std::forward<Handler>(handler));
        auto& promise = root.handle.promise();
        promise.own_executor = executor;
        promise.executor = &promise.own_executor;
        loop* const own = executor.native_loop();
        resumer* const home = own ? static_cast<resumer*>(own) : &promise.elsewhere;
        promise.record.home = home;
        promise.counted = true;
        home->count_work(+1);
        auto& thread = this_thread;
        // Inside the context the body starts at once, as dispatch would; but not ever deeper on one stack.
        if (thread.depth < 16 && home->runs_here()) {
            auto const* outer = thread.starting;
            bool const dropped = thread.dropped;
            thread.starting = &promise.record;
            loop::resume_chain(promise.record);
            thread.starting = outer;
            thread.dropped = dropped;
        } else {
            loop::resume_later(promise.record);
        }
    }
};

template <class T> struct awaitable_result;
template <class T> struct awaitable_result<awaitable<T>> {
    using type = T;
};
template <class Signature> struct awaitable_result<async_op<Signature>> {
    using type = awaited_t<Signature>;
};

template <class F>
concept awaitable_function = requires(F& f) { typename awaitable_result<decltype(f())>::type; };

} // namespace detail

/// Starts `a` as a coroutine of its own on `ex`.
/// Completes  (exception_ptr e, T value); T must be default-constructible, value counts when e is null
/// Errors     what the coroutine throws, as e; an empty executor makes the call itself throw bad_executor
/// Cancel     none yet
/// Immediate  inside the executor the body starts in this call; the handler still never runs in it
/// Lifetime   `a` is moved, and gone when the handler runs; what its arguments refer to outlives the coroutine
/// Threads    any; elsewhere than in the executor the start goes through its queue
/// Allocates  one frame from the handler's allocator, by default the recycler
/// Source     Asio, co_spawn
template <executor Executor, class T, class Token = default_completion_token_t<Executor>>
decltype(auto) co_spawn(Executor const& ex, awaitable<T> a, Token&& token = {}) {
    return completion_token_transform<typename detail::spawn_values<T>::signature>(
        std::forward<Token>(token),
        detail::spawn_initiation<T, detail::give_awaitable<T>>{any_io_executor(ex), {std::move(a)}});
}
template <execution_context_type Context, class T,
          class Token = default_completion_token_t<typename Context::executor_type>>
decltype(auto) co_spawn(Context& c, awaitable<T> a, Token&& token = {}) {
    return co_spawn(c.get_executor(), std::move(a), std::forward<Token>(token));
}

/// The same with an operation that has not started.
template <executor Executor, class Signature, class Token = default_completion_token_t<Executor>>
decltype(auto) co_spawn(Executor const& ex, async_op<Signature> op, Token&& token = {}) {
    return co_spawn(ex, awaitable<detail::awaited_t<Signature>>(std::move(op)), std::forward<Token>(token));
}
template <execution_context_type Context, class Signature,
          class Token = default_completion_token_t<typename Context::executor_type>>
decltype(auto) co_spawn(Context& c, async_op<Signature> op, Token&& token = {}) {
    return co_spawn(c.get_executor(), std::move(op), std::forward<Token>(token));
}

/// The same with a function that returns the awaitable, or an operation. The function is kept until the coroutine has
/// ended, so a lambda with captures may be a coroutine itself.
template <executor Executor, class F, class Token = default_completion_token_t<Executor>>
    requires detail::awaitable_function<std::decay_t<F>>
decltype(auto) co_spawn(Executor const& ex, F&& f, Token&& token = {}) {
    using function = std::decay_t<F>;
    using T = typename detail::awaitable_result<decltype(std::declval<function&>()())>::type;
    return completion_token_transform<typename detail::spawn_values<T>::signature>(
        std::forward<Token>(token), detail::spawn_initiation<T, function>{any_io_executor(ex), std::forward<F>(f)});
}
template <execution_context_type Context, class F,
          class Token = default_completion_token_t<typename Context::executor_type>>
    requires detail::awaitable_function<std::decay_t<F>>
decltype(auto) co_spawn(Context& c, F&& f, Token&& token = {}) {
    return co_spawn(c.get_executor(), std::forward<F>(f), std::forward<Token>(token));
}

} // namespace fairlead
