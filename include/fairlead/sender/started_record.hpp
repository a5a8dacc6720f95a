// Where the operation of a sender completes: at the home that a coroutine would have. It completes inside start() if
// that is allowed there, otherwise through the home's queue.
#pragma once

#include <fairlead/exec/executor.hpp>

namespace fairlead::impl::sender {

/// Starts an operation that may complete inside its start, and has no queue of a loop to go to. `start` is called here,
/// or by the outermost such call of the thread when that has unwound the stack.
FAIRLEAD_EXPORT void start_outside(op& o, void (*start)(op*, op_mode)) noexcept;

/// The await record in an operation state. No coroutine awaits it.
class started_record : public await_record {
public:
    started_record(started_record const&) = delete;
    started_record& operator=(started_record const&) = delete;

protected:
    explicit started_record(exec::record_hooks const& h) noexcept : await_record(h), elsewhere_(executor_) {
        home = nullptr;
        executor = &executor_;
    }
    ~started_record() = default;

    /// Of an operation whose executor runs no loop.
    void be_at_home_with(any_io_executor const& e) noexcept {
        executor_ = e;
        if (executor_)
            home = &elsewhere_;
    }
    /// The calling thread runs something of the home.
    bool is_at_home() const noexcept {
        auto const* const f = exec::this_thread.frames;
        return (f && f->runs == home) || !home || home->runs_here();
    }
    /// May the operation complete inside its start()? An algorithm that repeats it starts the next one in there. So the
    /// stack has a bound, and beyond it the queue is the way.
    bool may_complete_inside() const noexcept {
        return !home || (exec::this_thread.immediate_depth < fairness::inline_depth_most && is_at_home());
    }

private:
    any_io_executor executor_;
    exec::executor_resumer elsewhere_;
};

} // namespace fairlead::impl::sender
