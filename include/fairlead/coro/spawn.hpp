// co_spawn: start a coroutine on an executor.
#pragma once

#include <fairlead/coro/awaitable.hpp>

namespace fairlead {
namespace detail {

/// The root of an await chain. Its frame holds the executor, the function object and the handler; nobody owns it but
/// the operation that it waits for.
class spawn_root {
public:
    struct promise_type : promise_base {
        any_io_executor own_executor;
        bool counted = false;

        promise_type() noexcept { record.handle = std::coroutine_handle<promise_type>::from_promise(*this); }
        promise_type(promise_type const&) = delete;
        promise_type& operator=(promise_type const&) = delete;
        ~promise_type() {
            if (counted)
                record.home->work_finished();
        }
        spawn_root get_return_object() noexcept {
            return spawn_root(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); } // The body catches everything.

        using promise_base::await_transform;
        template <class U> child_awaiter<U> await_transform(awaitable<U>&& child) noexcept {
            return child_awaiter<U>(child, *this);
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
        loop* const home = promise.record.home;
        bool const inside_co_spawn = this_thread.starting == &promise.record;
        Handler h(std::move(*handler));
        Values v(std::move(*values));
        home->work_started(); // The frame gives its count back now; the handler is still to come.
        root.destroy();
        struct finished {
            loop* l;
            ~finished() { l->work_finished(); }
        } const at_end{home};
        try {
            if (inside_co_spawn) {
                this_thread.starting = nullptr;
                post_values(loop_executor(home), std::move(h), std::move(v));
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

/// An awaitable as a function that gives it away.
template <class T> struct give_awaitable {
    awaitable<T> a;
    awaitable<T> operator()() { return std::move(a); }
};

template <class T, class Function> struct spawn_initiation {
    any_io_executor executor;
    Function function;

    any_io_executor get_executor() const noexcept { return executor; }

    template <class Handler> void operator()(Handler&& handler) && {
        loop* const home = executor.native_loop();
        if (!home)
            throw_error_now(error::make_error_code(error::operation_not_supported),
                            "co_spawn: this executor runs no loop of the library");
        auto root = run_root<T, Function, std::decay_t<Handler>>(std::move(function), std::forward<Handler>(handler));
        auto& promise = root.handle.promise();
        promise.own_executor = executor;
        promise.executor = &promise.own_executor;
        promise.record.home = home;
        promise.counted = true;
        home->work_started();
        auto& thread = this_thread;
        // Inside the context the body starts at once, as dispatch would; but not ever deeper on one stack.
        if (home->mine() && thread.current && thread.depth < 16) {
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

template <class F>
concept awaitable_function = requires(F& f) { typename awaitable_result<decltype(f())>::type; };

} // namespace detail

/// Starts `a` as a coroutine of its own on `ex`.
/// Completes  (exception_ptr e, T value); T must be default-constructible, value counts when e is null
/// Cancel     none yet
/// Immediate  inside the executor the body starts in this call; the handler still never runs in it
/// Threads    any; elsewhere than in the executor the start goes through its queue
/// Allocates  one frame from the recycler
template <executor Executor, class T, class Token = use_await_t>
decltype(auto) co_spawn(Executor const& ex, awaitable<T> a, Token&& token = {}) {
    return completion_token_transform<typename detail::spawn_values<T>::signature>(
        std::forward<Token>(token),
        detail::spawn_initiation<T, detail::give_awaitable<T>>{any_io_executor(ex), {std::move(a)}});
}
template <execution_context_type Context, class T, class Token = use_await_t>
decltype(auto) co_spawn(Context& c, awaitable<T> a, Token&& token = {}) {
    return co_spawn(c.get_executor(), std::move(a), std::forward<Token>(token));
}

/// The same with a function that returns the awaitable. The function is kept until the coroutine has ended, so a lambda
/// with captures may be a coroutine itself.
template <executor Executor, class F, class Token = use_await_t>
    requires detail::awaitable_function<std::decay_t<F>>
decltype(auto) co_spawn(Executor const& ex, F&& f, Token&& token = {}) {
    using function = std::decay_t<F>;
    using T = typename detail::awaitable_result<decltype(std::declval<function&>()())>::type;
    return completion_token_transform<typename detail::spawn_values<T>::signature>(
        std::forward<Token>(token), detail::spawn_initiation<T, function>{any_io_executor(ex), std::forward<F>(f)});
}
template <execution_context_type Context, class F, class Token = use_await_t>
    requires detail::awaitable_function<std::decay_t<F>>
decltype(auto) co_spawn(Context& c, F&& f, Token&& token = {}) {
    return co_spawn(c.get_executor(), std::forward<F>(f), std::forward<Token>(token));
}

} // namespace fairlead
