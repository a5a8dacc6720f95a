// The loop: a run queue, timers and a driver, taking turns.
#pragma once

#include <fairlead/base/owned.hpp>
#include <fairlead/exec/cancellation_type.hpp>
#include <fairlead/exec/executor.hpp>
#include <fairlead/io/deadline.hpp>
#include <fairlead/io/io_loop.hpp>

namespace fairlead {

struct io_metrics;

namespace impl::legacy {
template <class Executor, class Handler> class wrapped_handler; // legacy/wrapped_handler.hpp
}

/// Runs handlers and coroutines, and performs I/O for the objects made with it.
///
/// Threads: any thread may post, use I/O objects of its own, and be inside run(). A thread that is alone in there runs
/// its handlers in order and takes no lock. With more threads, handlers run at the same time. With a driver that is
/// bound to its thread, a second one waits until the first has left. Executor copies may be used for as long as the
/// context lives; I/O objects may outlive it, and then are closed and inert.
class FAIRLEAD_EXPORT io_context : public execution_context {
public:
    class executor_type : public loop_executor {
    public:
        explicit executor_type(loop_executor const& e) noexcept : loop_executor(e) {}
        io_context& context() const noexcept;

    private:
        friend class io_context;
        explicit executor_type(io_context& c) noexcept;
    };
    class service;
    class strand; ///< in legacy/io_context_strand.hpp
    using count_type = std::size_t;

    io_context();
    /// A loop finds out by itself how many threads run it. With a hint of 1 it prepares nothing for a second one, whose
    /// first run() may then take some milliseconds to begin.
    explicit io_context(int concurrency_hint);
    /// With a driver of one's own, e.g. a simulated one.
    explicit io_context(impl::base::owned<io::driver> driver);
    /// With the services that `initial` makes.
    explicit io_context(service_maker const& initial, int concurrency_hint = -1);
    /// With its services, its loop and what I/O objects keep there in memory from `a` (execution_context).
    template <class Allocator> io_context(std::allocator_arg_t, Allocator const& a, int /*concurrency_hint*/ = -1)
        : io_context(impl::exec::memory_from(a)) {}
    template <class Allocator> io_context(std::allocator_arg_t, Allocator const& a, service_maker const& initial)
        : io_context(impl::exec::memory_from(a)) {
        initial.make(*this);
    }
    /// Shuts down the services, then abandons what is pending: handlers are destroyed, not called; suspended coroutines
    /// are destroyed. The services are destroyed last.
    ~io_context() override;

    executor_type get_executor() noexcept { return executor_type(*this); }
    /// A handler that runs `h` in this context, whoever calls it. Programs include
    /// <fairlead/legacy/wrapped_handler.hpp>; new ones have bind_executor().
    template <class Handler> auto wrap(Handler h) {
        return impl::legacy::wrapped_handler<executor_type, Handler>(get_executor(), std::move(h));
    }

    /// Runs until there is no work left, or stop(). Returns how many handlers ran. An exception of a handler leaves it;
    /// the context can be run again.
    std::size_t run();
    std::size_t run_one();
    /// Runs what is ready, without waiting.
    std::size_t poll();
    std::size_t poll_one();
    /// As run() and run_one(), but at most for so long: they return within one handler of the time, busy or not. Far
    /// times saturate.
    template <io::impl::duration_type Duration> std::size_t run_for(Duration const& d) {
        return run_until_ns(io::impl::deadline_ns(*loop_, d));
    }
    template <io::impl::duration_type Duration> std::size_t run_one_for(Duration const& d) {
        return run_one_until_ns(io::impl::deadline_ns(*loop_, d));
    }
    /// As run() and run_one(), until it is `t`. A clock that is not the loop's is looked at once. Programs include
    /// <fairlead/io/clock.hpp>, or a header of timers.
    template <io::impl::time_point_type TimePoint> std::size_t run_until(TimePoint const& t) {
        return run_until_ns(io::impl::deadline_ns(*loop_, t));
    }
    template <io::impl::time_point_type TimePoint> std::size_t run_one_until(TimePoint const& t) {
        return run_one_until_ns(io::impl::deadline_ns(*loop_, t));
    }

    /// Makes run() return as soon as the current handler has returned. Any thread.
    void stop() { loop_->stop(); }
    bool stopped() const noexcept { return loop_->stopped(); }
    /// Makes run() possible again after it ran out of work or was stopped.
    void restart() { loop_->restart(); }

    loop_counters counters() const noexcept { return loop_->counters(); }
    yield_counters yields() const noexcept { return loop_->yields(); }
    /// All of that by cause, and what is pending. Programs include <fairlead/io/metrics.hpp>.
    /// Threads: inside a handler while no other thread is inside run(), or outside while none is
    io_metrics metrics() const noexcept;

    // ---- for I/O objects and schedulers
    io_loop& as_loop() noexcept { return *loop_; }
    io::driver& driver() noexcept { return loop_->driver(); }
    /// The time that timers follow. Programs include <fairlead/io/clock.hpp>, or a header of timers.
    template <std::same_as<io::steady_clock> Clock = io::steady_clock> typename Clock::time_point now() noexcept {
        return loop_->now<Clock>();
    }
    io_loop::outlook look() noexcept { return loop_->look(); }
    /// Gives up everything that is queued, pending or armed, as the destructor does; the context can be used again.
    void abandon_all() noexcept { loop_->abandon_all(); }

private:
    explicit io_context(impl::exec::context_memory_ref memory);
    void on_fork(fork_event event) override;
    std::size_t run_until_ns(std::int64_t deadline_ns);
    std::size_t run_one_until_ns(std::int64_t deadline_ns);

    io_loop* loop_;
};

template <> struct fairlead::impl::exec::executor_table_of<io_context::executor_type> {
    FAIRLEAD_EXPORT static impl::exec::executor_functions const compiled; ///< in the library
    static constexpr impl::exec::executor_functions const* functions = &compiled;
};

inline io_context::executor_type::executor_type(io_context& c) noexcept : loop_executor(&c.as_loop()) {}
/// The base of services that only an io_context can have: their constructor may take io_context&.
class FAIRLEAD_EXPORT io_context::service : public execution_context::service {
public:
    io_context& get_io_context() noexcept { return static_cast<io_context&>(context()); }

protected:
    explicit service(io_context& owner) noexcept : execution_context::service(owner) {}
    ~service() override;

private:
    void shutdown() override;
};

/// As use_service(execution_context&); the service's constructor may take io_context&.
template <class Service> Service& use_service(io_context& c) {
    return static_cast<Service&>(impl::exec::service_access::use(
        c, impl::exec::kind_of_service<Service>(), [](execution_context& owner) -> execution_context::service* {
            return impl::exec::service_access::make<Service>(static_cast<io_context&>(owner));
        }));
}

inline io_context& io_context::executor_type::context() const noexcept {
    return static_cast<io_context&>(native_loop()->context());
}

} // namespace fairlead
