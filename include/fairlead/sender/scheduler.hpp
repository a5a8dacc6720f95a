// Executors as schedulers: schedule() is a sender that completes on the executor.
#pragma once

#include <fairlead/exec/executor.hpp>
#include <fairlead/sender/protocol.hpp>
#include <fairlead/sender/started_record.hpp>

#include <bit>
#include <coroutine>
#include <type_traits>
#include <utility>

namespace fairlead {
namespace execution {

/// Asks the attributes of a sender for the scheduler on which it ends in this way.
template <class Tag> struct get_completion_scheduler_t {
    template <class Env>
        requires impl::sender::answers<Env, get_completion_scheduler_t>
    auto operator()(Env const& e) const noexcept {
        return e.query(*this);
    }
};
/// The query for that scheduler.
template <class Tag> inline constexpr get_completion_scheduler_t<Tag> get_completion_scheduler{};

} // namespace execution

namespace impl::sender {

/// The executor of a scheduler, which may be one itself.
template <class Scheduler> auto const& executor_in(Scheduler const& s) noexcept {
    if constexpr (requires { s.executor(); })
        return s.executor();
    else
        return s;
}

/// Whether what is scheduled for a receiver with this environment ends with set_stopped(), too. A task of another
/// library wants a scheduler that always brings it back: it asks with a token that is never stopped.
template <class Env>
concept can_stop = !unstoppable_token<execution::stop_token_of_t<std::remove_cvref_t<Env>>>;

/// Hands `o` to the executor. One that throws has destroyed the op, which is told so.
template <class Executor> void schedule_op(Executor const& e, op& o) noexcept {
    try {
        exec::execute_op(e, o);
    } catch (...) { // The op has been abandoned.
    }
}

/// The op, and the executor until the start. One that is a pointer lies in the op, which makes the state as small as
/// the task_scheduler of stdexec wants it.
template <class Executor> class scheduled_base : protected op {
protected:
    explicit scheduled_base(Executor const& e) : executor_(e) { cancel = nullptr; }
    ~scheduled_base() = default;

    /// Once.
    Executor take_executor() noexcept { return std::move(executor_); }

private:
    [[no_unique_address]] Executor executor_;
};
template <class Executor>
    requires(std::is_trivially_copyable_v<Executor> && sizeof(Executor) == sizeof(void*))
class scheduled_base<Executor> : protected op {
protected:
    explicit scheduled_base(Executor const& e) noexcept { cancel = std::bit_cast<void*>(e); }
    ~scheduled_base() = default;

    Executor take_executor() noexcept { return std::bit_cast<Executor>(std::exchange(cancel, nullptr)); }
};

/// The operation state: the op that goes through the executor.
template <class Executor, class Receiver> class scheduled_op final : scheduled_base<Executor> {
    using base = scheduled_base<Executor>;
    using base::run;

public:
    using operation_state_concept = execution::operation_state_tag;

    scheduled_op(Executor const& e, Receiver&& r) : base(e), receiver_(std::move(r)) { run = &scheduled_op::run_it; }
    scheduled_op(scheduled_op const&) = delete;
    scheduled_op& operator=(scheduled_op const&) = delete;
    ~scheduled_op() = default;

    void start() noexcept {
        if constexpr (exec::always_loop<Executor>)
            base::take_executor().native_loop()->post(*this);
        else // It may run the op inside the call.
            start_outside(*this, &give_to_executor);
    }

private:
    static void give_to_executor(op* o, op_mode) {
        auto& self = static_cast<scheduled_op&>(*o);
        self.run = &scheduled_op::run_it;
        auto const e = self.take_executor(); // The state may be gone when this is still in use.
        ++exec::this_thread.immediate_depth;
        schedule_op(e, self);
        --exec::this_thread.immediate_depth;
    }
    static void run_it(op* o, [[maybe_unused]] op_mode mode) {
        auto& self = static_cast<scheduled_op&>(*o);
        if constexpr (can_stop<execution::env_of_t<Receiver>>)
            if (mode == op_mode::abandon ||
                execution::get_stop_token(execution::get_env(self.receiver_)).stop_requested())
                return std::move(self.receiver_).set_stopped();
        std::move(self.receiver_).set_value(); // Nobody else would end it, and nothing runs in a context that goes.
    }

    [[no_unique_address]] Receiver receiver_;
};

/// For coroutines of other libraries.
template <class Executor> class schedule_awaiter : op {
public:
    explicit schedule_awaiter(Executor const& e) noexcept : executor_(e) {}
    schedule_awaiter(schedule_awaiter const&) = delete;
    schedule_awaiter& operator=(schedule_awaiter const&) = delete;

    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) {
        handle_ = h;
        run = [](op* o, op_mode mode) {
            auto const handle = static_cast<schedule_awaiter*>(o)->handle_;
            if (mode == op_mode::complete)
                handle.resume();
            else
                handle.destroy();
        };
        cancel = nullptr;
        auto const e = executor_; // The coroutine may run again before this returns.
        exec::execute_op(e, *this);
    }
    void await_resume() const noexcept {}

private:
    Executor executor_;
    std::coroutine_handle<> handle_;
};

/// Completes on the executor of the scheduler, in its turn.
template <class Scheduler> class schedule_sender {
    using executor_type = std::decay_t<decltype(executor_in(std::declval<Scheduler const&>()))>;

public:
    using sender_concept = execution::sender_tag;

    explicit schedule_sender(Scheduler const& s) noexcept : scheduler_(s) {}

    template <class Receiver> scheduled_op<executor_type, Receiver> connect(Receiver r) const {
        return scheduled_op<executor_type, Receiver>(executor_in(scheduler_), std::move(r));
    }
    template <class, class Env> static consteval auto get_completion_signatures() {
        return typename foreign_signatures<schedule_sender>::template in<Env>();
    }
    auto get_env() const noexcept { return attributes{scheduler_}; }
    schedule_awaiter<executor_type> operator co_await() const noexcept {
        return schedule_awaiter<executor_type>(executor_in(scheduler_));
    }

private:
    struct attributes {
        Scheduler scheduler;
        Scheduler query(execution::get_completion_scheduler_t<execution::set_value_t>) const noexcept {
            return scheduler;
        }
    };
    Scheduler scheduler_;
};
template <class Scheduler> struct own_signatures<schedule_sender<Scheduler>> {
    using type = execution::completion_signatures<execution::set_value_t(), execution::set_stopped_t()>;
};
template <class Scheduler, class Env>
    requires(!can_stop<Env>)
struct own_signatures_in<schedule_sender<Scheduler>, Env> {
    using type = execution::completion_signatures<execution::set_value_t()>;
};

template <class Scheduler> struct foreign_signatures<schedule_sender<Scheduler>> {
    template <class Env> using in =
        std::conditional_t<can_stop<Env>,
                           stdexec::completion_signatures<stdexec::set_value_t(), stdexec::set_stopped_t()>,
                           stdexec::completion_signatures<stdexec::set_value_t()>>;
};

} // namespace impl::sender

template <class Derived>
impl::sender::schedule_sender<Derived> impl::exec::ts_members<Derived>::schedule() const noexcept {
    return sender::schedule_sender<Derived>(derived());
}
template <class Executor> impl::sender::schedule_sender<Executor> any_io_executor::schedule() const noexcept {
    return impl::sender::schedule_sender<Executor>(*this);
}

namespace execution {

/// An executor of a user's as a scheduler.
template <class Executor> class executor_scheduler {
public:
    using scheduler_concept = stdexec::scheduler_tag;
    explicit executor_scheduler(Executor const& e) noexcept : executor_(e) {}
    impl::sender::schedule_sender<executor_scheduler> schedule() const noexcept {
        return impl::sender::schedule_sender<executor_scheduler>(*this);
    }
    Executor const& executor() const noexcept { return executor_; }
    friend bool operator==(executor_scheduler const&, executor_scheduler const&) noexcept = default;

private:
    Executor executor_;
};

/// The scheduler of an executor, with a context or without one, or of a context. The executors of the library are
/// schedulers by themselves.
template <executor Executor> auto scheduler_of(Executor const& e) noexcept {
    if constexpr (requires {
                      { e.schedule() } -> std::same_as<impl::sender::schedule_sender<Executor>>;
                  })
        return e;
    else
        return executor_scheduler<Executor>(e);
}
template <execution_context_type Context> auto scheduler_of(Context& c) noexcept {
    return scheduler_of(c.get_executor());
}

} // namespace execution
} // namespace fairlead
