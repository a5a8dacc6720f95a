// async_once: something that is done once, by the first coroutine that needs it. The others wait until it is done.
#pragma once

#include <fairlead/coro/awaitable.hpp>
#include <fairlead/sync/mutex.hpp>

#include <atomic>
#include <new>
#include <utility>

namespace fairlead {

template <class Executor = any_io_executor> class basic_async_once;
/// The one with the default executor.
using async_once = basic_async_once<>;

namespace impl::coro { // group_operation.hpp, which those include who make groups
template <class Part> struct member_for;
template <class T> class coroutine_member;
} // namespace impl::coro

namespace impl::scope {

/// The result of async_once::call(). The await itself sees whether it is done, which takes no frame.
template <class Once, class F> class [[nodiscard("nothing is called before this is awaited")]] once_call {
public:
    once_call(Once& o, F&& f) : once_(&o), f_(std::move(f)) {}
    /// Before it is awaited.
    once_call(once_call&& other) : once_(other.once_), f_(std::move(other.f_)) {}
    once_call& operator=(once_call&&) = delete;
    ~once_call() {
        if (!once_)
            later_.~child_awaiter();
    }

    /// For whom an awaitable is wanted, or a function that returns one.
    operator awaitable<void>() && { return (*this)(); }
    awaitable<void> operator()() { return once_->call_in_turn(std::move(f_)); }

    bool await_ready() const noexcept { return once_->is_done(); }
    template <class Promise> void await_suspend(std::coroutine_handle<Promise> h) {
        static_assert(
            requires { h.promise().link.record; },
            "this is awaited by a coroutine of this library: an awaitable, or what co_spawn starts");
        ::new (static_cast<void*>(&later_)) coro::child_awaiter<void>((*this)(), h.promise());
        once_ = nullptr;
        later_.await_suspend(h);
    }
    void await_resume() {
        if (!once_)
            later_.await_resume();
    }

private:
    Once* once_; ///< null: there is a coroutine that calls. A flag beside it would be one store more
    F f_;
    union {
        coro::child_awaiter<void> later_;
    };
};
/// As a part of a group.
template <class Once, class F> awaitable<void> as_part(once_call<Once, F>&& c) { return std::move(c); }

} // namespace impl::scope

template <class Once, class F> struct impl::coro::member_for<impl::scope::once_call<Once, F>> {
    using type = coroutine_member<void>;
};

/// Runs a function until it has succeeded once, and never in two coroutines at a time.
/// Threads: any.
template <class Executor> class basic_async_once {
public:
    using executor_type = Executor;
    template <class E> struct rebind_executor {
        using other = basic_async_once<E>;
    };

    explicit basic_async_once(Executor const& e) : turn_(e) {}
    template <execution_context_type Context> explicit basic_async_once(Context& c)
        : basic_async_once(Executor(c.get_executor())) {}

    executor_type get_executor() const noexcept { return turn_.get_executor(); }
    /// Whether a call has succeeded.
    bool is_done() const noexcept { return is_done_.load(std::memory_order_acquire); }
    /// Calls that wait for their turn throw operation_aborted; returns how many. The one that runs goes on.
    std::size_t cancel() noexcept { return turn_.cancel(); }

    /// Returns when it is done. The first that comes awaits `f()`, an awaitable or an operation; its result is dropped.
    /// If that throws, is cancelled or is destroyed, the next that waits calls its own function.
    /// Errors     operation_aborted  cancelled while it waits for another one
    ///            whatever f throws
    /// Cancel     terminal, partial, total, while it waits for another one
    /// Immediate  when it is done
    /// Lifetime   *this outlives the call; f is kept; f must not call this
    /// Threads    any
    /// Allocates  nothing when it is done; else a frame, from the recycler
    template <class F> impl::scope::once_call<basic_async_once, F> call(F f) {
        return impl::scope::once_call<basic_async_once, F>(*this, std::move(f));
    }

private:
    template <class Once, class F> friend class impl::scope::once_call;
    template <class F> awaitable<void> call_in_turn(F f) {
        if (is_done())
            co_return;
        mutex_guard const mine = co_await turn_.async_guard();
        if (is_done())
            co_return;
        co_await f();
        is_done_.store(true, std::memory_order_release);
    }

    basic_mutex<Executor> turn_;
    std::atomic<bool> is_done_{false};
};

} // namespace fairlead
