// cancel_after, cancel_at: a time limit for one operation, whatever it is.
//
// The limit is a token around a token. It waits on the loop's clock beside the operation, and asks it to end when the
// time has come. A primitive is asked in place (limited_primitive.hpp), any other operation through a cancellation
// slot. The operation then completes with operation_aborted as a rule, and with its result if it was faster.
#pragma once

#include <fairlead/net/limited_primitive.hpp>
#include <fairlead/net/waitable_timer.hpp>
#include <fairlead/operation/asked_operation.hpp>
#include <fairlead/operation/initiation_around.hpp>
#include <fairlead/operation/kept_values.hpp>
#include <fairlead/token/cancellation.hpp>
#include <fairlead/token/deferred.hpp>

#include <atomic>
#include <exception>
#include <fairlead/base/durations.hpp>
#include <string>
#include <system_error>
#include <tuple>

namespace fairlead {
namespace impl::net {

/// When the limit is, counted from the start of the operation or on a clock.
template <class Duration> struct limit_after {
    Duration duration;
    std::int64_t deadline_ns(io_loop& c) const noexcept { return io::impl::deadline_ns(c, duration); }
    template <class Timer> void set(Timer& t) const {
        t.expires_after(base::saturated<typename Timer::duration>(duration));
    }
};

template <class Clock, class Duration> struct limit_at {
    std::chrono::time_point<Clock, Duration> time;
    std::int64_t deadline_ns(io_loop& c) const noexcept(io::impl::is_time_of_the_loop<Clock>()) {
        return io::impl::deadline_ns(c, time);
    }
    template <class Timer> void set(Timer& t) const {
        using duration = typename Timer::duration;
        t.expires_at(std::chrono::time_point<Clock, duration>(base::saturated<duration>(time.time_since_epoch())));
    }
};
template <class Clock, class Duration> limit_at(std::chrono::time_point<Clock, Duration>) -> limit_at<Clock, Duration>;

struct no_timer {};

/// Of the token alone, so that the compiler says it once however many kinds of initiation meet the token.
template <class Token, bool OperationHearsRequests> void expect_limit_is_heard() {
    static_assert(OperationHearsRequests, "this operation cannot be ended early, so that it takes no time limit; use a "
                                          "timer and the cancel() of its object, where it has one");
}

/// The parts of a limit. Timer: the caller's, or no_timer.
template <class When, class Timer> struct time_limit {
    When when;
    cancellation_type type;
    Timer* timer;
};

/// The timer of a limit: one of its own on the loop of the operation, or the caller's.
template <class Timer> class limit_timer {
public:
    template <class When> limit_timer(io::impl::io_loop_ref const&, time_limit<When, Timer> const& l)
        : timer_(*l.timer) {
        l.when.set(timer_);
    }
    timer_core& core() noexcept { return timer_.core(); }

private:
    Timer& timer_;
};
template <> class limit_timer<no_timer> {
public:
    template <class When> limit_timer(io::impl::io_loop_ref const& c, time_limit<When, no_timer> const& l) : core_(c) {
        core_.deadline_ns(l.when.deadline_ns(*c));
    }
    timer_core& core() noexcept { return core_; }

private:
    timer_core core_;
};

/// An operation with its limit: the pending wait, the final handler, and what the operation completed with if it has to
/// wait for the wait. One block of the handler's allocator, which goes when nobody needs it any more.
template <class Handler, class Kept, class Timer> class limited_operation : public io::timer_op,
                                                                            public operation::asked_operation<Handler> {
public:
    using values_type = typename Kept::type;
    using operation::asked_operation<Handler>::handler_;

    template <class H, class Limit> limited_operation(H&& h, io::impl::io_loop_ref const& c, Limit const& limit)
        : operation::asked_operation<Handler>(std::forward<H>(h)),
          timer_(c, limit),
          engine_(&timer_.core().engine()),
          type_(limit.type),
          work_(handler_, engine_) {
        run = &limited_operation::run_it;
        cancel = reinterpret_cast<void*>(operation::next_ticket());
    }
    void arm() noexcept { timer_.core().arm(*this); }
    /// For a block whose wait has not been armed.
    void discard() noexcept { end(); }

    /// The initiating function of the operation has returned. Another thread may have found that the time was over
    /// before there was anybody in the slot.
    void operation_begun() {
        if (expired_.load(std::memory_order_relaxed))
            this->ask(type_);
        if (has_ended(start_bit))
            end_inside_start();
    }
    /// The initiating function has thrown, and dropped its handler.
    void operation_not_begun() noexcept {
        if (has_ended(start_bit))
            end();
    }
    /// The operation has completed.
    void operation_done(values_type&& v) {
        bool const alone = wait_is_over();
        if (alone && (ended_.load(std::memory_order_acquire) & start_bit))
            return end_with(std::move(v));
        results_.emplace(std::move(v));
        if (has_ended(alone ? operation_bit | wait_bit : operation_bit))
            end_elsewhere();
    }
    /// The operation was abandoned: there is nobody to be called.
    void operation_dropped() noexcept {
        if (has_ended(wait_is_over() ? operation_bit | wait_bit : operation_bit))
            end();
    }

private:
    static constexpr int operation_canceled = static_cast<int>(std::errc::operation_canceled);
    // The uses of the block that have not ended.
    static constexpr unsigned operation_bit = 1;
    static constexpr unsigned wait_bit = 2;
    static constexpr unsigned start_bit = 4;
    static constexpr unsigned all_bits = operation_bit | wait_bit | start_bit;
    /// Notes that something has ended. True: all has, and the caller ends the block.
    bool has_ended(unsigned bits) noexcept {
        return (ended_.fetch_or(bits, std::memory_order_acq_rel) | bits) == all_bits;
    }

    static void run_it(op* base, op_mode mode) {
        auto* const self = static_cast<limited_operation*>(static_cast<io::timer_op*>(base));
        std::exception_ptr thrown;
        try {
            // A wait that there was no memory for ends at once, rather than never.
            if (mode == op_mode::complete && self->result.error != operation_canceled) {
                self->expired_.store(true, std::memory_order_relaxed); // seen by who comes to the signal after us
                self->ask(self->type_);
            }
        } catch (...) {
            thrown = std::current_exception();
        }
        if (self->has_ended(wait_bit)) {
            if (mode == op_mode::complete)
                self->end_elsewhere();
            else
                self->end();
        }
        if (thrown)
            std::rethrow_exception(thrown);
    }
    /// Takes the wait back if it is pending. False: it will still be run, soon.
    bool wait_is_over() noexcept {
        if (ended_.load(std::memory_order_acquire) & wait_bit)
            return true;
        if (engine_->disarm(*this))
            return true;
        engine_->ask(*this);
        return false;
    }
    /// Gives the block back; what it held for the caller is left.
    struct rest {
        Handler handler;
        [[no_unique_address]] operation::handler_work<Handler> work;
    };
    rest take_rest() noexcept {
        this->unchain();
        rest r{std::move(handler_), std::move(work_)};
        operation::deallocate_with(r.handler, this);
        return r;
    }
    void end() noexcept { static_cast<void>(take_rest()); }
    /// Called where the operation calls its handler.
    void end_with(values_type&& v) {
        values_type values(std::move(v));
        auto r = take_rest();
        Kept::visit(std::move(values),
                    [&r](auto&& each) { operation::call_with_values(std::move(r.handler), std::move(each)); });
    }
    /// Called where the last of all has ended.
    void end_elsewhere() {
        if (!results_)
            return end();
        values_type values(std::move(*results_));
        auto r = take_rest();
        Kept::visit(std::move(values), [&r](auto&& each) { operation::dispatch_values(r.handler, std::move(each)); });
    }
    /// Called inside the initiating function.
    void end_inside_start() {
        if (!results_)
            return end();
        loop_executor const ex(engine_);
        values_type values(std::move(*results_));
        auto r = take_rest();
        Kept::visit(std::move(values),
                    [&](auto&& each) { operation::complete_immediately(ex, std::move(r.handler), std::move(each)); });
    }

    limit_timer<Timer> timer_;
    io_loop* engine_;
    cancellation_type type_;
    std::atomic<unsigned> ended_{0};
    std::atomic<bool> expired_{false};
    [[no_unique_address]] operation::handler_work<Handler> work_;
    base::maybe<values_type> results_;
};

template <class Kept, class Initiation, class When, class Timer> struct limited_initiation
    : operation::initiation_around<Initiation> {
    using operation::initiation_around<Initiation>::initiation;
    static constexpr std::size_t async_op_storage = operation::extended_storage;
    time_limit<When, Timer> limit;

    template <class Handler> void operator()(Handler&& handler) {
        using handler_type = std::decay_t<Handler>;
        using limited = limited_operation<handler_type, Kept, Timer>;
        io::impl::io_loop_ref engine;
        if constexpr (std::is_same_v<Timer, no_timer>)
            engine = loop_for(handler);
        auto* const l = operation::allocate_with<limited>(handler, std::forward<Handler>(handler), engine, limit);
        try {
            l->chain();
        } catch (...) {
            l->discard();
            throw;
        }
        l->arm(); // before the operation, which may take long to start
        try {
            std::move(initiation)(operation::asked_handler<limited, Kept>(l));
        } catch (...) {
            l->operation_not_begun();
            throw;
        }
        l->operation_begun();
    }
    /// A result that is there needs no limit. The caller's own timer is set in any case, by the call above.
    template <class Values> FAIRLEAD_ALWAYS_INLINE base::maybe<Values> try_step_as()
        requires(std::is_same_v<Timer, no_timer> && operation::can_try<Initiation, Values>)
    {
        return operation::tried<Values>(initiation);
    }

private:
    /// Chooses the clock: that of the operation, of the handler, or of the caller.
    template <class Handler> io::impl::io_loop_ref loop_for(Handler const& h) const {
        if constexpr (operation::names_executor<Initiation>) {
            auto const ex = operation::executor_of(initiation);
            bool named = true;
            if constexpr (std::derived_from<decltype(operation::executor_of(initiation)), any_io_executor>)
                named = static_cast<bool>(ex); // of a deferred operation that runs anywhere: empty
            if (named)
                return io::impl::io_loop_for(ex);
        }
        if (loop* const l = exec::loop_of(get_associated_executor(h)))
            return io::impl::io_loop_ref(io_loop::of(*l));
        if (loop* const l = exec::this_thread.current)
            return io::impl::io_loop_ref(io_loop::of(*l));
        base::throw_error_now(error::make_error_code(error::operation_not_supported),
                              "cancel_after: neither the operation nor the handler names an executor; give it a timer");
    }
};

} // namespace impl::net

/// The token that cancel_after and cancel_at make of another one.
template <class Token, class When, class Timer = impl::net::no_timer> struct time_limit_t {
    Token token;
    impl::net::time_limit<When, Timer> limit;
};
/// A limit without a token: stands for the default token, or limits the one it is called with.
template <class When, class Timer = impl::net::no_timer> struct partial_time_limit {
    impl::net::time_limit<When, Timer> limit;
    template <class Token> auto operator()(Token&& token) const {
        return time_limit_t<std::decay_t<Token>, When, Timer>{std::forward<Token>(token), limit};
    }
};

template <class Token, class When, class Timer, class Signature>
class async_result<time_limit_t<Token, When, Timer>, Signature> {
public:
    template <class Initiation>
    static decltype(auto) initiate(Initiation&& initiation, time_limit_t<Token, When, Timer> t) {
        using init = std::decay_t<Initiation>;
        impl::net::expect_limit_is_heard<Token, impl::operation::takes_requests<init>()>();
        impl::operation::expect_cancellable(initiation);
        if constexpr (std::is_same_v<Timer, impl::net::no_timer> && impl::operation::only_queues<init>)
            return completion_token_transform<Signature>(std::move(t.token), std::forward<Initiation>(initiation));
        else if constexpr (std::is_same_v<Timer, impl::net::no_timer> && impl::net::limits_itself<init, When>) {
            static_assert(!std::is_lvalue_reference_v<Initiation>, "it is made for one call");
            initiation.limit_to(t.limit.when.duration, t.limit.type);
            return completion_token_transform<Signature>(std::move(t.token), std::forward<Initiation>(initiation));
        } else if constexpr (std::is_same_v<Timer, impl::net::no_timer> && impl::net::limitable<init, When>)
            return completion_token_transform<Signature>(
                std::move(t.token), impl::net::limited_primitive<init, When>(init(std::forward<Initiation>(initiation)),
                                                                             t.limit.when, t.limit.type));
        else
            return completion_token_transform<Signature>(
                std::move(t.token),
                impl::net::limited_initiation<impl::operation::kept_values<Signature>, init, When, Timer>{
                    {std::forward<Initiation>(initiation)}, t.limit});
    }
};
template <class Token, class When, class Timer, class First, class Second, class... More>
class async_result<time_limit_t<Token, When, Timer>, First, Second, More...> {
public:
    template <class Initiation>
    static decltype(auto) initiate(Initiation&& initiation, time_limit_t<Token, When, Timer> t) {
        using kept = impl::operation::kept_values<First, Second, More...>;
        impl::net::expect_limit_is_heard<Token, impl::operation::takes_requests<std::decay_t<Initiation>>()>();
        impl::operation::expect_cancellable(initiation);
        return impl::operation::initiate_several<First, Second, More...>(
            std::move(t.token), impl::net::limited_initiation<kept, std::decay_t<Initiation>, When, Timer>{
                                    {std::forward<Initiation>(initiation)}, t.limit});
    }
};
template <class When, class Timer, class Signature> class async_result<partial_time_limit<When, Timer>, Signature> {
public:
    template <class Initiation>
    static decltype(auto) initiate(Initiation&& initiation, partial_time_limit<When, Timer> t) {
        return completion_token_transform<Signature>(t(use_await), std::forward<Initiation>(initiation));
    }
};
template <class When, class Timer, class First, class Second, class... More>
class async_result<partial_time_limit<When, Timer>, First, Second, More...> {
public:
    template <class Initiation>
    static decltype(auto) initiate(Initiation&& initiation, partial_time_limit<When, Timer> t) {
        return impl::operation::initiate_several<First, Second, More...>(t(deferred),
                                                                         std::forward<Initiation>(initiation));
    }
};

namespace impl::net {

/// A coroutine or a group, which scope/cancel_after.hpp limits: no token.
template <class T>
concept awaited_object =
    requires { typename std::decay_t<T>::promise_type; } || requires(std::decay_t<T>& t) { t.await_ready(); };
template <class T>
concept token_of_limit =
    !std::same_as<std::decay_t<T>, cancellation_type> && !awaited_object<T> && !operation::is_async_op<std::decay_t<T>>;

template <class When, class Timer> auto make_limit(When w, cancellation_type type, Timer* t) {
    return partial_time_limit<When, Timer>{{w, type, t}};
}
inline constexpr no_timer* own_timer = nullptr;

} // namespace impl::net

/// Token: asks the operation to end when it has taken longer than `d`; a time beyond the clock's ends is its end.
/// Without a token: limits the default token.
/// An operation that cannot be ended early takes no limit: receives of a redis::connection. One that only queues, as
/// post does, completes in its turn whatever the limit.
/// Completes  as the operation does; error::operation_aborted when the limit was first
/// Errors     error::operation_not_supported, thrown, where the operation is deferred and takes no limit
/// Cancel     what the handler's slot is asked for, too
/// Immediate  awaited, as the operation is without a limit. With the caller's timer a composed operation is not
/// Lifetime   a timer of the caller outlives the completion, or is moved; waits on it end when the operation starts,
///            and cancelling it lifts the limit
/// Threads    as the operation
/// Allocates  nothing more around an operation of a socket, an acceptor, a descriptor, a resolver, a timer, a signal
///            set. Nor around a call of a redis::connection or client, which counts in milliseconds. One block from
///            the handler's allocator for a composed operation. One, too, for a limit by the caller's timer or a
///            foreign clock, and for a limit around a limit
template <class Rep, class Period>
auto cancel_after(std::chrono::duration<Rep, Period> const& d, cancellation_type type = cancellation_type::terminal) {
    return impl::net::make_limit(impl::net::limit_after{d}, type, impl::net::own_timer);
}
template <class Rep, class Period, impl::net::token_of_limit Token>
auto cancel_after(std::chrono::duration<Rep, Period> const& d, Token&& token) {
    return cancel_after(d)(std::forward<Token>(token));
}
template <class Rep, class Period, impl::net::token_of_limit Token>
auto cancel_after(std::chrono::duration<Rep, Period> const& d, cancellation_type type, Token&& token) {
    return cancel_after(d, type)(std::forward<Token>(token));
}
/// With the caller's timer.
template <class Clock, class Traits, class Executor, class Rep, class Period>
auto cancel_after(basic_waitable_timer<Clock, Traits, Executor>& timer, std::chrono::duration<Rep, Period> const& d,
                  cancellation_type type = cancellation_type::terminal) {
    return impl::net::make_limit(impl::net::limit_after{d}, type, &timer);
}
template <class Clock, class Traits, class Executor, class Rep, class Period, impl::net::token_of_limit Token>
auto cancel_after(basic_waitable_timer<Clock, Traits, Executor>& timer, std::chrono::duration<Rep, Period> const& d,
                  Token&& token) {
    return cancel_after(timer, d)(std::forward<Token>(token));
}
template <class Clock, class Traits, class Executor, class Rep, class Period, class Token>
auto cancel_after(basic_waitable_timer<Clock, Traits, Executor>& timer, std::chrono::duration<Rep, Period> const& d,
                  cancellation_type type, Token&& token) {
    return cancel_after(timer, d, type)(std::forward<Token>(token));
}

/// An operation that has no token yet: gives it one.
template <class Rep, class Period, class Signature, std::size_t Storage>
auto cancel_after(std::chrono::duration<Rep, Period> const& d, async_op<Signature, Storage>&& op) {
    return std::move(op)(cancel_after(d));
}
template <class Rep, class Period, class Signature, std::size_t Storage> auto
cancel_after(std::chrono::duration<Rep, Period> const& d, cancellation_type type, async_op<Signature, Storage>&& op) {
    return std::move(op)(cancel_after(d, type));
}
template <class Rep, class Period, impl::operation::brings_awaiter Op>
auto cancel_after(std::chrono::duration<Rep, Period> const& d, Op&& op) {
    return std::move(op)(cancel_after(d));
}
template <class Rep, class Period, impl::operation::brings_awaiter Op>
auto cancel_after(std::chrono::duration<Rep, Period> const& d, cancellation_type type, Op&& op) {
    return std::move(op)(cancel_after(d, type));
}

/// As cancel_after, until a point in time.
template <class Clock, class Duration> auto cancel_at(std::chrono::time_point<Clock, Duration> const& t,
                                                      cancellation_type type = cancellation_type::terminal) {
    return impl::net::make_limit(impl::net::limit_at{t}, type, impl::net::own_timer);
}
template <class Clock, class Duration, impl::net::token_of_limit Token>
auto cancel_at(std::chrono::time_point<Clock, Duration> const& t, Token&& token) {
    return cancel_at(t)(std::forward<Token>(token));
}
template <class Clock, class Duration, impl::net::token_of_limit Token>
auto cancel_at(std::chrono::time_point<Clock, Duration> const& t, cancellation_type type, Token&& token) {
    return cancel_at(t, type)(std::forward<Token>(token));
}
template <class Clock, class Traits, class Executor, class C, class Duration>
auto cancel_at(basic_waitable_timer<Clock, Traits, Executor>& timer, std::chrono::time_point<C, Duration> const& t,
               cancellation_type type = cancellation_type::terminal) {
    return impl::net::make_limit(impl::net::limit_at{t}, type, &timer);
}
template <class Clock, class Traits, class Executor, class C, class Duration, impl::net::token_of_limit Token>
auto cancel_at(basic_waitable_timer<Clock, Traits, Executor>& timer, std::chrono::time_point<C, Duration> const& t,
               Token&& token) {
    return cancel_at(timer, t)(std::forward<Token>(token));
}
template <class Clock, class Traits, class Executor, class C, class Duration, class Token>
auto cancel_at(basic_waitable_timer<Clock, Traits, Executor>& timer, std::chrono::time_point<C, Duration> const& t,
               cancellation_type type, Token&& token) {
    return cancel_at(timer, t, type)(std::forward<Token>(token));
}

template <class Clock, class Duration, class Signature, std::size_t Storage>
auto cancel_at(std::chrono::time_point<Clock, Duration> const& t, async_op<Signature, Storage>&& op) {
    return std::move(op)(cancel_at(t));
}
template <class Clock, class Duration, class Signature, std::size_t Storage>
auto cancel_at(std::chrono::time_point<Clock, Duration> const& t, cancellation_type type,
               async_op<Signature, Storage>&& op) {
    return std::move(op)(cancel_at(t, type));
}
template <class Clock, class Duration, impl::operation::brings_awaiter Op>
auto cancel_at(std::chrono::time_point<Clock, Duration> const& t, Op&& op) {
    return std::move(op)(cancel_at(t));
}
template <class Clock, class Duration, impl::operation::brings_awaiter Op>
auto cancel_at(std::chrono::time_point<Clock, Duration> const& t, cancellation_type type, Op&& op) {
    return std::move(op)(cancel_at(t, type));
}

} // namespace fairlead
