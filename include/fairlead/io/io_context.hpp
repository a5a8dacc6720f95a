// The loop: a run queue, timers and a driver, taking turns.
#pragma once

#include <fairlead/exec/executor.hpp>
#include <fairlead/io/clock.hpp>
#include <fairlead/io/driver.hpp>
#include <fairlead/io/timer_op.hpp>

#include <chrono>
#include <memory>

namespace fairlead {

/// What the loop has done so far; for tests, benchmarks and curious users.
struct loop_counters {
    std::uint64_t turns;
    std::uint64_t polls;         ///< looks at the driver
    std::uint64_t sleeps;        ///< polls that were allowed to wait
    std::uint64_t items;         ///< handlers run and coroutines resumed
    std::uint64_t system_calls;  ///< for transfers, readiness and waiting
    std::uint64_t verifications; ///< late checks of descriptors whose last read filled its buffer (kernel drivers)
};

/// Runs handlers and coroutines, and performs I/O for the objects made with it.
///
/// Threads: any thread may post, and use I/O objects of its own; one thread at a time may be inside run(). Executor
/// copies may be used for as long as the context lives.
class FAIRLEAD_EXPORT io_context : public execution_context, private loop {
public:
    class executor_type : public loop_executor {
    public:
        explicit executor_type(loop_executor const& e) noexcept : loop_executor(e) {}
        io_context& context() const noexcept;

    private:
        friend class io_context;
        explicit executor_type(io_context& c) noexcept;
    };
    using count_type = std::size_t;

    io_context();
    /// `concurrency_hint` never makes anything undefined; 1 says that one thread runs the context.
    explicit io_context(int concurrency_hint);
    /// With a driver of one's own, e.g. a simulated one.
    explicit io_context(std::unique_ptr<io::driver> driver);
    /// Abandons what is pending: handlers are destroyed, not called; suspended coroutines are destroyed.
    ~io_context() override;

    executor_type get_executor() noexcept { return executor_type(*this); }

    /// Runs until there is no work left, or stop(). Returns how many handlers ran. An exception of a handler leaves it;
    /// the context can be run again. Throws operation_not_permitted while another thread is inside.
    std::size_t run();
    std::size_t run_one();
    /// Runs what is ready, without waiting.
    std::size_t poll();
    std::size_t poll_one();
    template <class Rep, class Period> std::size_t run_for(std::chrono::duration<Rep, Period> const& d) {
        return run_until(deadline_after(saturated(d)));
    }
    template <class Rep, class Period> std::size_t run_one_for(std::chrono::duration<Rep, Period> const& d) {
        return run_one_until(deadline_after(saturated(d)));
    }
    std::size_t run_until(steady_clock::time_point t);
    std::size_t run_one_until(steady_clock::time_point t);

    /// Makes run() return as soon as the current handler has returned. Any thread.
    void stop();
    bool stopped() const noexcept { return stopped_.load(std::memory_order_acquire); }
    /// Makes run() possible again after it ran out of work or was stopped.
    void restart();

    loop_counters counters() const noexcept;
    yield_counters const& yields() const noexcept { return loop::yields(); }

    // ---- for I/O objects
    loop& as_loop() noexcept { return *this; }
    static io_context& of(loop& l) noexcept { return static_cast<io_context&>(l); }
    io::driver& driver() noexcept { return *driver_; }
    steady_clock::time_point now() noexcept;

    /// Hands an op to the driver, from whatever thread.
    void submit(io::io_op& o) noexcept {
        if (mine()) [[likely]]
            driver_->submit(o);
        else
            submit_from_outside(o);
    }
    /// Completes all pending ops of a descriptor with operation_aborted. Returns how many; 1 when it had to be passed
    /// on.
    std::size_t cancel(io::handle h) noexcept;
    io::outcome close(io::handle h) noexcept;
    io::outcome release(io::handle h) noexcept;

    void arm(io::timer_op& o) noexcept;
    /// An op that stands in its timer's list completes with operation_aborted. Owner only.
    void cancel(io::timer_op& o) noexcept;
    /// Calls f(true) at once if the caller owns the loop or nobody does; otherwise the owner calls f(false) soon.
    template <class F> void on_owner(F f) {
        if (mine()) {
            f(true);
        } else if (take_while_idle()) {
            f(true);
            disown();
        } else {
            auto later = [f = std::move(f), this]() mutable {
                ++uncounted_;
                f(false);
            };
            post(*detail::function_op<decltype(later)>::make(std::move(later)));
        }
    }

private:
    friend class io::driver;
    class ownership;
    struct timers;

    std::int64_t clock_ns() noexcept override;
    void wake() noexcept override;
    void submit_from_outside(io::io_op& o) noexcept;
    void submit_here(io::io_op& o) noexcept;
    void arm_here(io::timer_op& o) noexcept;
    template <class Op, void (io_context::*Start)(Op&) noexcept> void hand_in(Op& o) noexcept;
    template <class Door> io::outcome through(Door door) noexcept;
    steady_clock::time_point deadline_after(std::chrono::nanoseconds d);
    template <class Rep, class Period>
    static std::chrono::nanoseconds saturated(std::chrono::duration<Rep, Period> const& d) noexcept {
        using std::chrono::nanoseconds;
        // Compared as seconds in floating point: the conversion itself is what could overflow.
        std::chrono::duration<double> const seconds(d);
        if (seconds >= std::chrono::duration<double>(nanoseconds::max()))
            return nanoseconds::max();
        if (seconds <= std::chrono::duration<double>(nanoseconds::min()))
            return nanoseconds::min();
        return std::chrono::duration_cast<nanoseconds>(d);
    }
    std::size_t run_until_ns(std::size_t most, std::int64_t until_ns);
    bool has_work() noexcept;
    void expire_timers(std::int64_t now) noexcept;
    void shut_down() noexcept;

    std::unique_ptr<io::driver> driver_;
    std::unique_ptr<timers> timers_;
    loop_counters counters_{};
    std::int64_t next_poll_ns_ = 0;
    unsigned batches_since_poll_ = 0;
    std::size_t uncounted_ = 0;
    std::atomic<std::size_t> handed_in_{0}; ///< ops of other threads on their way to the driver or the timers
};

inline io_context::executor_type::executor_type(io_context& c) noexcept : loop_executor(&c.as_loop()) {}
inline io_context& io_context::executor_type::context() const noexcept { return io_context::of(*native_loop()); }

} // namespace fairlead
