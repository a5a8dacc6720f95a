// A barrier: a number of participants wait for one another, again and again.
#pragma once

#include <fairlead/sync/waited_object.hpp>

#include <string>

namespace fairlead {

template <class Executor = any_io_executor> class basic_barrier;
/// The one with the default executor.
using barrier = basic_barrier<>;

namespace impl::sync {

/// Those that have arrived are those that wait: one that is cancelled takes its arrival back.
class FAIRLEAD_EXPORT barrier_core final : public waited_object {
public:
    template <class Executor> barrier_core(Executor const& e, std::size_t n) : waited_object(e), expected_(n) {
        FAIRLEAD_ASSERT(n != 0);
    }
    FAIRLEAD_EXPORT ~barrier_core();

    FAIRLEAD_EXPORT std::size_t expected() const noexcept;
    FAIRLEAD_EXPORT std::size_t arrived() const noexcept;
    FAIRLEAD_EXPORT void drop_one() noexcept;
    FAIRLEAD_EXPORT bool try_wait() noexcept;
    FAIRLEAD_EXPORT void wait(wait_op& o) noexcept;

private:
    void let_all_go(op_queue& ready) noexcept;
    void let_go(op_queue& ready) noexcept override;

    std::size_t expected_;
};

struct arrive_and_wait : wait_primitive<arrive_and_wait, barrier_core> {
    using wait_primitive::wait_primitive;
    static std::string describe() { return "arrive and wait at a barrier"; }
};

} // namespace impl::sync

/// When as many have arrived as are expected, all of them go on, and the next phase begins. One that is cancelled while
/// it waits takes its arrival back, and may arrive again.
/// Threads: any. Destroyed, or cancelled: waits complete with operation_aborted.
template <class Executor> class basic_barrier {
public:
    using executor_type = Executor;
    template <class E> struct rebind_executor {
        using other = basic_barrier<E>;
    };

    /// Of `n` participants; not 0.
    basic_barrier(Executor const& e, std::size_t n) : executor_(e), core_(e, n) {}
    template <execution_context_type Context> basic_barrier(Context& c, std::size_t n)
        : basic_barrier(Executor(c.get_executor()), n) {}
    basic_barrier(basic_barrier const&) = delete;
    basic_barrier& operator=(basic_barrier const&) = delete;

    executor_type get_executor() const noexcept { return executor_; }
    /// How many make a phase.
    std::size_t expected() const noexcept { return core_.expected(); }
    /// How many have arrived in this phase.
    std::size_t arrived() const noexcept { return core_.arrived(); }
    /// One participant comes no more, neither in this phase nor later. If the others have arrived, they go on. Aborts
    /// the program if no participant is left.
    void arrive_and_drop() noexcept { core_.drop_one(); }
    /// Waits complete with operation_aborted; returns how many. Their arrivals are taken back.
    std::size_t cancel() noexcept { return core_.cancel(); }

    /// Arrives, and waits for the others. The last one that arrives does not wait.
    /// Completes  (error_code ec)
    /// Errors     error::operation_aborted  cancelled; it has not arrived
    /// Cancel     terminal, partial, total
    /// Immediate  for the last one of a phase
    /// Lifetime   *this outlives the call
    /// Threads    any
    /// Allocates  nothing awaited
    template <class Token = default_completion_token_t<Executor>> decltype(auto) async_arrive_and_wait(
        Token&& token = {}) noexcept(impl::operation::nothrow_token<std::decay_t<Token>, impl::sync::arrive_and_wait>) {
        return impl::operation::initiate_on<void(error_code)>(*this, std::forward<Token>(token),
                                                              impl::sync::arrive_and_wait(core_));
    }

    /// For initiate_on().
    bool runs_handlers() const noexcept { return core_.runs_handlers(); }

private:
    Executor executor_;
    impl::sync::barrier_core core_;
};

} // namespace fairlead
