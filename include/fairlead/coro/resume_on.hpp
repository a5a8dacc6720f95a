// resume_on: a coroutine goes on on another executor.
#pragma once

#include <fairlead/coro/spawn_root.hpp>

#include <utility>

namespace fairlead {
namespace impl::coro {

/// Moves the chain of the awaiting coroutine.
class resume_on_awaiter {
public:
    explicit resume_on_awaiter(any_io_executor e) noexcept : executor_(std::move(e)) {}
    /// Before it is awaited.
    resume_on_awaiter(resume_on_awaiter&& other) noexcept : executor_(std::move(other.executor_)) {}
    resume_on_awaiter& operator=(resume_on_awaiter&&) = delete;

    bool await_ready() const noexcept { return false; }
    template <class Promise> bool await_suspend(std::coroutine_handle<Promise> h) {
        static_assert(
            requires { h.promise().link.record; },
            "resume_on is for coroutines of this library: an awaitable, or what co_spawn starts");
        record_ = h.promise().link.record;
        return move(*record_);
    }
    void await_resume() {
        if (record_->state == exec::await_state::failed)
            operation::throw_failed(*record_);
    }

private:
    /// False: it does not suspend.
    FAIRLEAD_EXPORT bool move(await_record& r);

    any_io_executor executor_;
    await_record* record_ = nullptr;
};

} // namespace impl::coro

/// `co_await resume_on(pool)` makes `ex` the executor of the coroutine: it goes on there, and stays there. So do the
/// coroutines that await it, for they are one chain. References that this_coro::executor gave then refer to `ex`.
/// (`co_await post(pool)` does not move a coroutine: that comes back.)
/// Errors     operation_aborted  the coroutine has been asked to end; it stays where it is
///            bad_executor       `ex` is empty
/// Immediate  does not suspend if `ex` is its executor already
/// Threads    the caller's executor; an I/O object stays with the executor that it was made with
/// Allocates  nothing
template <io_executor Executor>
[[nodiscard("the coroutine moves when this is awaited")]] impl::coro::resume_on_awaiter resume_on(Executor const& ex) {
    return impl::coro::resume_on_awaiter(any_io_executor(ex));
}
template <execution_context_type Context>
[[nodiscard("the coroutine moves when this is awaited")]] impl::coro::resume_on_awaiter resume_on(Context& c) {
    return impl::coro::resume_on_awaiter(any_io_executor(c.get_executor()));
}

} // namespace fairlead
