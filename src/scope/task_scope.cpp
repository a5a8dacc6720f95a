#include <fairlead/scope/task_scope.hpp>

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace fairlead::impl::scope {
scope_core::scope_core(any_io_executor const& e, scope_options const& o)
    : executor_(e),
      idle_(e),
      changed_(e),
      on_failure_(o.failures) {
    if (o.at_most != std::numeric_limits<std::size_t>::max())
        room_.emplace(e, o.at_most);
}

bool scope_core::enter(coro::member_chain& task) noexcept {
    group_.settle(task, executor_);
    auto& lock = group_.lock();
    lock.lock();
    bool const enters = !is_closed_ && group_.enter(task, task);
    running_ += enters;
    lock.unlock();
    if (!enters)
        give_room();
    return enters;
}

bool scope_core::has_ended(std::exception_ptr const* e) noexcept {
    if (e && failures_++ == 0)
        first_failure_ = *e;
    bool const all = --running_ == 0;
    return room_ || changed_is_awaited_ || (all && idle_is_awaited_);
}

void scope_core::member_has_left() noexcept {
    group_.lock().lock();
    bool const idle = running_ == 0 && std::exchange(idle_is_awaited_, false);
    bool const changed = std::exchange(changed_is_awaited_, false);
    group_.lock().unlock();
    if (idle)
        idle_.set();
    if (changed)
        changed_.set();
    give_room();
}

void scope_core::give_room() noexcept {
    if (room_)
        room_->release();
}

std::size_t scope_core::running() noexcept {
    group_.lock().lock();
    auto const n = running_;
    group_.lock().unlock();
    return n;
}

void scope_core::close() noexcept {
    group_.lock().lock();
    is_closed_ = true;
    group_.lock().unlock();
    if (room_)
        room_->cancel();
}

void scope_core::cancel(coro::group_member const& body) noexcept {
    close();
    cuts_.store(true, std::memory_order_relaxed);
    group_.ask_all_but(body, cancellation_type::all);
}

bool scope_core::is_cut(std::exception_ptr const& e) noexcept {
    return cuts_.load(std::memory_order_relaxed) && operation::is_cancellation(e);
}

void scope_core::throw_failures() {
    if (failures_ > 1 && on_failure_ == on_failure::is_kept)
        throw multiple_exceptions(first_failure_);
    if (failures_ != 0)
        std::rethrow_exception(first_failure_);
}

/// False: no task runs.
bool scope_core::will_wait_for_all() noexcept {
    group_.lock().lock();
    bool const waits = running_ != 0;
    if (waits) {
        idle_.reset();
        idle_is_awaited_ = true;
    }
    group_.lock().unlock();
    return waits;
}

awaitable<void> scope_core::until_idle() {
    while (will_wait_for_all()) // A task may have been spawned before the event was set.
        co_await idle_.async_wait();
}

awaitable<std::size_t> scope_core::drain(coro::group_member const& body, std::chrono::nanoseconds limit) {
    close();
    while (will_wait_for_all())
        if (auto const [ec] = co_await idle_.async_wait(cancel_after(limit, as_tuple)); ec)
            break;
    std::size_t const late = running();
    if (late != 0) {
        cancel(body);
        co_await until_idle();
    }
    co_return late;
}

void throw_closed() {
    base::throw_error_now(error::make_error_code(error::operation_aborted),
                          "spawn in a task_scope that takes no more tasks");
}

void waits_for_itself() noexcept {
    std::fputs("fairlead: a task waits for the end of all tasks of its scope, hence for itself: join() and drain() are "
               "for the body of the scope\n",
               stderr);
    std::abort();
}

} // namespace fairlead::impl::scope
