// thread_pool and system_executor: threads that run functions, and steal them from one another.
#pragma once

#include <fairlead/exec/executor.hpp>

#include <cstddef>

namespace fairlead {

namespace execution {
struct occupancy_t; // legacy/occupancy_property.hpp
}

namespace impl::exec {

class pool;

/// One pointer; whoever makes a pool also ends it.
struct FAIRLEAD_EXPORT pool_access {
    static void post(pool& p, op& o) noexcept;
    static void work(pool& p, int change) noexcept;
    static bool is_running_here(pool const& p) noexcept;
    static std::size_t threads(pool const& p) noexcept;
};

} // namespace impl::exec

/// A fixed number of threads. Functions that a function posts run in its own thread first, unless another thread is
/// idle and takes them.
/// I/O objects made with its executor work: one more thread, started with the first of them, waits for the system.
class FAIRLEAD_EXPORT thread_pool : public execution_context {
public:
    class executor_type : public impl::exec::ts_members<executor_type> {
    public:
        using takes_properties = void;
        static constexpr bool can_be_waited_for = true;
        thread_pool& context() const noexcept { return *pool_; }
        bool running_in_this_thread() const noexcept { return impl::exec::pool_access::is_running_here(*pool_->pool_); }
        /// Runs f() in a thread of the pool, never inside this call.
        template <class F> void execute(F&& f) const {
            if constexpr (std::same_as<std::decay_t<F>, impl::exec::op_function>)
                impl::exec::pool_access::post(*pool_->pool_, f.release());
            else
                impl::exec::pool_access::post(*pool_->pool_,
                                              *impl::exec::function_op<std::decay_t<F>>::make(std::forward<F>(f)));
        }
        /// How many threads the pool has of itself.
        std::size_t query(execution::occupancy_t const&) const noexcept {
            return impl::exec::pool_access::threads(*pool_->pool_);
        }
        void on_work_started() const noexcept { impl::exec::pool_access::work(*pool_->pool_, +1); }
        void on_work_finished() const noexcept { impl::exec::pool_access::work(*pool_->pool_, -1); }
        friend bool operator==(executor_type a, executor_type b) noexcept { return a.pool_ == b.pool_; }

    private:
        friend class thread_pool;
        explicit executor_type(thread_pool& p) noexcept : pool_(&p) {}
        thread_pool* pool_;
    };

    /// Twice as many threads as the computer has processors, at least two.
    thread_pool();
    /// Zero: only those that attach().
    explicit thread_pool(std::size_t threads);
    /// With the services that `initial` makes.
    thread_pool(std::size_t threads, service_maker const& initial);
    /// With its services, its queues and what I/O objects keep there in memory from `a` (execution_context); what the
    /// system keeps of its threads is elsewhere.
    template <class Allocator> thread_pool(std::allocator_arg_t, Allocator const& a)
        : thread_pool(impl::exec::memory_from(a)) {}
    template <class Allocator> thread_pool(std::allocator_arg_t, Allocator const& a, std::size_t threads)
        : thread_pool(impl::exec::memory_from(a), threads) {}
    template <class Allocator>
    thread_pool(std::allocator_arg_t, Allocator const& a, std::size_t threads, service_maker const& initial)
        : thread_pool(impl::exec::memory_from(a), threads) {
        initial.make(*this);
    }
    /// Stops, joins, and gives up what is queued.
    ~thread_pool() override;

    executor_type get_executor() noexcept { return executor_type(*this); }
    executor_type executor() noexcept { return get_executor(); }

    /// Its threads end after what they are running; what is queued is not run any more.
    void stop() noexcept;
    /// Waits until there is no work left, also none that is submitted meanwhile, and its threads have ended.
    void join();
    void wait() { join(); }
    /// Lends the calling thread until there is no work left, or stop().
    void attach();

private:
    explicit thread_pool(impl::exec::context_memory_ref memory);
    thread_pool(impl::exec::context_memory_ref memory, std::size_t threads);
    impl::exec::pool* pool_;
};

/// Where functions run that belong to no context of the program: a pool for the whole process, which ends with it.
class FAIRLEAD_EXPORT system_context : public execution_context {
public:
    class executor_type;
    /// Queued functions are not run any more.
    void stop() noexcept;
    bool stopped() const noexcept;
    void join();
    executor_type get_executor() noexcept;

private:
    friend class system_executor;
    system_context();
    ~system_context() override;
    static system_context& the();
    impl::exec::pool* pool_;
};

/// Runs functions anywhere: dispatch() calls them at once, post() leaves them to a pool of the process.
class FAIRLEAD_EXPORT system_executor : public impl::exec::ts_members<system_executor> {
public:
    using takes_properties = void;
    static constexpr bool can_be_waited_for = true;
    system_context& context() const noexcept { return system_context::the(); }
    bool running_in_this_thread() const noexcept { return true; }
    template <class F> void execute(F&& f) const {
        if constexpr (std::same_as<std::decay_t<F>, impl::exec::op_function>)
            hand_over(f.release());
        else
            hand_over(*impl::exec::function_op<std::decay_t<F>>::make(std::forward<F>(f)));
    }
    /// How many threads the pool of the process has.
    std::size_t query(execution::occupancy_t const&) const noexcept {
        return impl::exec::pool_access::threads(*system_context::the().pool_);
    }
    void on_work_started() const noexcept {}
    void on_work_finished() const noexcept {}
    friend bool operator==(system_executor, system_executor) noexcept { return true; }

private:
    static void hand_over(op& o) noexcept { impl::exec::pool_access::post(*system_context::the().pool_, o); }
};

class system_context::executor_type : public system_executor {};
inline system_context::executor_type system_context::get_executor() noexcept { return {}; }

} // namespace fairlead
