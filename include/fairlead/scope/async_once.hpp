// async_once: something that is done once, by the first coroutine that needs it. The others wait until it is done.
#pragma once

#include <fairlead/coro/awaitable.hpp>
#include <fairlead/sync/mutex.hpp>

#include <atomic>

namespace fairlead {

template <class Executor = any_io_executor> class basic_async_once;
/// The one with the default executor.
using async_once = basic_async_once<>;

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
    /// Allocates  its frame, from the recycler
    template <class F> [[nodiscard("nothing is called before this is awaited")]] awaitable<void> call(F f) {
        if (is_done())
            co_return;
        mutex_guard const mine = co_await turn_.async_guard();
        if (is_done())
            co_return;
        co_await f();
        is_done_.store(true, std::memory_order_release);
    }

private:
    basic_mutex<Executor> turn_;
    std::atomic<bool> is_done_{false};
};

} // namespace fairlead
