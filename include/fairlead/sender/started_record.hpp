// Where the operation of a sender completes: at the home that a coroutine would have. It completes inside start() if
// that is allowed there, otherwise through the home's queue.
#pragma once

#include <fairlead/exec/executor.hpp>

#include <new>

namespace fairlead::impl::sender {

/// The outermost operation of the thread that completes inside its start. It also starts those that would be nested too
/// deep, when its receiver has returned.
class starts_taker {
public:
    FAIRLEAD_EXPORT starts_taker() noexcept;
    starts_taker(starts_taker const&) = delete;
    starts_taker& operator=(starts_taker const&) = delete;
    FAIRLEAD_EXPORT ~starts_taker();

private:
    struct waiting_starts {
        op* first = nullptr;
        op* last = nullptr;
        exec::run_frame const* taken_in = nullptr; ///< by a taker in this run()
        bool are_taken = false;
        bool are_taken_here() const noexcept { return are_taken && taken_in == exec::this_thread.frames; }
    };
    friend bool start_later(op& o, void (*start)(op*, op_mode)) noexcept;
    friend void start_outside(op& o, void (*start)(op*, op_mode)) noexcept;
    static constinit thread_local FAIRLEAD_HOT_TLS waiting_starts waiting_;

    waiting_starts const outer_;
};

/// Leaves an operation to the taker. False: there is none.
FAIRLEAD_EXPORT bool start_later(op& o, void (*start)(op*, op_mode)) noexcept;
/// Starts an operation that may complete inside its start, and has no queue of a loop to go to: here, or later.
FAIRLEAD_EXPORT void start_outside(op& o, void (*start)(op*, op_mode)) noexcept;

/// The await record in an operation state. No coroutine awaits it.
class started_record : public await_record {
public:
    started_record(started_record const&) = delete;
    started_record& operator=(started_record const&) = delete;

protected:
    FAIRLEAD_ALWAYS_INLINE explicit started_record(exec::record_hooks const& h) noexcept : await_record(h) {
        executor = nullptr;
    }
    ~started_record() {
        if (executor) [[unlikely]]
            elsewhere().~home_elsewhere();
    }

    /// Of an operation whose executor runs no loop.
    FAIRLEAD_COLD void be_at_home_with(any_io_executor const& e) noexcept {
        auto& there = *::new (static_cast<void*>(elsewhere_)) home_elsewhere(e);
        executor = &there.executor;
        home = &there.resumes;
    }
    /// The calling thread runs something of the home.
    FAIRLEAD_ALWAYS_INLINE bool is_at_home() const noexcept {
        auto const* const f = exec::this_thread.frames;
        return (f && f->runs == home) || !home || home->runs_here();
    }
    /// May the operation complete inside its start()? An algorithm that repeats it starts the next one in there. So the
    /// stack has a bound.
    FAIRLEAD_ALWAYS_INLINE bool may_complete_inside() const noexcept {
        return exec::this_thread.immediate_depth < fairness::inline_depth_most && is_at_home();
    }

private:
    struct home_elsewhere {
        any_io_executor executor;
        exec::executor_resumer resumes;
        explicit home_elsewhere(any_io_executor const& e) noexcept : executor(e), resumes(executor) {}
    };
    home_elsewhere& elsewhere() noexcept { return *std::launder(reinterpret_cast<home_elsewhere*>(elsewhere_)); }

    alignas(any_io_executor) std::byte elsewhere_[sizeof(any_io_executor) + sizeof(exec::executor_resumer)];
};

} // namespace fairlead::impl::sender
