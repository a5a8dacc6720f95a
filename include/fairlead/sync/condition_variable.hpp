// A condition variable: waits for a notification, without the mutex that guards the condition.
//
// A wait stands in the list of the condition variable, then in that of the mutex. Both are of one context and have one
// lock, so that nothing can come between the two steps.
#pragma once

#include <fairlead/sync/mutex.hpp>

#include <limits>
#include <string>
#include <tuple>

namespace fairlead {

template <class Executor = any_io_executor> class basic_condition_variable;
/// The one with the default executor.
using condition_variable = basic_condition_variable<>;

namespace impl::sync {

struct notified_op : owning_op {
    mutex_guard* guard; ///< owns nothing while it waits; null: the caller has none
    notified_op() noexcept {}
};

class FAIRLEAD_EXPORT condition_core final : public waited_object {
public:
    template <class Executor> explicit condition_core(Executor const& e) : waited_object(e) {}
    FAIRLEAD_EXPORT ~condition_core();

    FAIRLEAD_EXPORT void notify(std::size_t most) noexcept;
    FAIRLEAD_EXPORT std::size_t cancel() noexcept;
    FAIRLEAD_EXPORT void wait(notified_op& o) noexcept;

    /// Ends the wait for a notification, if it has not ended.
    FAIRLEAD_EXPORT static void cancel_one(notified_op& o) noexcept;
    FAIRLEAD_EXPORT static void is_taken(notified_op& o) noexcept;

private:
    static void lock_again(notified_op& o, int error, op_queue& ready) noexcept;
    std::size_t end_waits(std::size_t most, int error) noexcept;
    void let_go(op_queue&) noexcept override {}
};

/// As wait_canceller. From the notification on a wait cannot be asked: it ends with the mutex.
struct notified_canceller {
    static constexpr auto accepts = wait_canceller::accepts;
    void request(op& o) const noexcept { end(static_cast<notified_op&>(o)); }
    void end(notified_op& o) const noexcept { condition_core::cancel_one(o); }
};
inline notified_canceller cancellation_of(notified_op&, loop&) noexcept { return {}; }

struct wait_for_condition : operation::primitive<wait_for_condition> {
    using signature = void(error_code);
    using record = notified_op;
    static constexpr bool drops = true;

    condition_core* of;
    mutex_core* locked;
    mutex_guard* guard;

    wait_for_condition(condition_core& c, mutex_core& m, mutex_guard* g) noexcept : of(&c), locked(&m), guard(g) {
        FAIRLEAD_ASSERT(&c.domain() == &m.domain()); // One context, whose waits have one lock.
    }
    loop* home() const noexcept { return &of->engine(); }
    void prepare(notified_op& o) const noexcept {
        o.cancel = nullptr;
        o.domain = &of->domain();
        o.list = nullptr;
        o.of = locked;
        o.error = 0;
        o.has.store(owning_op::share::none, std::memory_order_relaxed);
        o.is_to_own = false;
        o.guard = guard;
    }
    void submit(notified_op& o) const noexcept { of->wait(o); }
    static void drop(notified_op& o) noexcept { owned_object::is_given_up(o); }
    static std::tuple<error_code> take(notified_op& o) noexcept {
        condition_core::is_taken(o);
        return {operation::to_error_code(o.result.error)};
    }
    static std::string describe() { return "wait for a condition"; }
};

} // namespace impl::sync

/// Lets coroutines and handlers wait until another one has changed what a mutex guards. They wait in turn, and no
/// notification is lost that comes after the mutex was released. A wait ends only by a notification or a request. The
/// condition may have changed once more when the mutex is had again:
/// `while (!is_ready) co_await changed.async_wait(guard);`
/// Threads: any. Destroyed, or cancelled: waits complete with operation_aborted, with the mutex.
template <class Executor> class basic_condition_variable {
public:
    using executor_type = Executor;
    template <class E> struct rebind_executor {
        using other = basic_condition_variable<E>;
    };

    explicit basic_condition_variable(Executor const& e) : executor_(e), core_(e) {}
    template <execution_context_type Context> explicit basic_condition_variable(Context& c)
        : basic_condition_variable(Executor(c.get_executor())) {}
    basic_condition_variable(basic_condition_variable const&) = delete;
    basic_condition_variable& operator=(basic_condition_variable const&) = delete;

    executor_type get_executor() const noexcept { return executor_; }
    /// The first that waits goes on when it has the mutex. The caller need not have it.
    void notify_one() noexcept { core_.notify(1); }
    /// As notify_one(), for all that wait.
    void notify_all() noexcept { core_.notify(std::numeric_limits<std::size_t>::max()); }
    /// Waits complete with operation_aborted when they have the mutex; returns how many.
    std::size_t cancel() noexcept { return core_.cancel(); }

    /// Releases the mutex of `guard`, waits for a notification, and locks the mutex again, in its turn. `guard` owns it
    /// when this completes, and nothing until then. A wait that is given up with its context leaves the mutex alone.
    /// Completes  (error_code ec)
    /// Errors     error::operation_aborted  cancelled before a notification came; guard owns the mutex as ever
    ///            error::operation_aborted  the mutex was destroyed; guard owns nothing
    /// Cancel     terminal, partial, total, until it is notified
    /// Immediate  never
    /// Lifetime   *this outlives the call, guard the completion; the mutex, of the same context, the notification
    /// Threads    any
    /// Allocates  nothing awaited
    template <class Token = default_completion_token_t<Executor>>
    decltype(auto) async_wait(mutex_guard& guard, Token&& token = {}) noexcept(
        impl::operation::nothrow_token<std::decay_t<Token>, impl::sync::wait_for_condition>) {
        FAIRLEAD_ASSERT(guard.owns_lock());
        return start(*impl::sync::guard_access::mutex_of(guard), &guard, std::forward<Token>(token));
    }
    /// As async_wait(guard), for a mutex that the caller has locked, and has to unlock afterwards.
    template <class E, class Token = default_completion_token_t<Executor>>
    decltype(auto) async_wait(basic_mutex<E>& m, Token&& token = {}) noexcept(
        impl::operation::nothrow_token<std::decay_t<Token>, impl::sync::wait_for_condition>) {
        return start(impl::sync::guard_access::core_of(m), nullptr, std::forward<Token>(token));
    }

    /// For initiate_on().
    bool runs_handlers() const noexcept { return core_.runs_handlers(); }

private:
    template <class Token> decltype(auto)
    start(impl::sync::mutex_core& m, mutex_guard* guard,
          Token&& token) noexcept(impl::operation::nothrow_token<std::decay_t<Token>, impl::sync::wait_for_condition>) {
        return impl::operation::initiate_on<void(error_code)>(*this, std::forward<Token>(token),
                                                              impl::sync::wait_for_condition(core_, m, guard));
    }
    Executor executor_;
    impl::sync::condition_core core_;
};

} // namespace fairlead
