// Timers: waiting for a point in time, without a system call for each.
#pragma once

#include <fairlead/io/io_context.hpp>
#include <fairlead/token/async_op.hpp>
#include <fairlead/token/block.hpp>

#include <chrono>

namespace fairlead {

template <class Clock, class Executor = any_io_executor> class basic_waitable_timer;
/// A timer of the loop's clock: real, or virtual inside a simulated world.
using steady_timer = basic_waitable_timer<steady_clock>;

namespace detail {

FAIRLEAD_EXPORT io_context& context_for_io(loop* l);

/// The half of a timer that no template parameter changes.
class timer_core {
public:
    explicit timer_core(io_context& c) noexcept : context_(&c) {}
    FAIRLEAD_EXPORT timer_core(timer_core&& other) noexcept;
    FAIRLEAD_EXPORT timer_core& operator=(timer_core&& other) noexcept;
    ~timer_core() {
        if (!waits_.empty())
            cancel();
    }

    io_context& context() const noexcept { return *context_; }
    std::int64_t deadline_ns() const noexcept { return deadline_ns_; }
    void deadline_ns(std::int64_t t) noexcept { deadline_ns_ = t; }
    FAIRLEAD_EXPORT std::size_t cancel(std::size_t most = static_cast<std::size_t>(-1)) noexcept;
    void arm(io::timer_op& o) noexcept {
        o.deadline_ns = deadline_ns_;
        o.waits = &waits_;
        context_->arm(o);
    }

private:
    std::size_t cancel_here(std::size_t most) noexcept;
    void take_over(timer_core& other) noexcept;
    io_context* context_;
    std::int64_t deadline_ns_ = 0;
    op_queue waits_;
};

struct timer_wait : primitive<timer_wait> {
    using signature = void(error_code);
    using plain_result = void;
    using record = io::timer_op;

    timer_core* timer;

    explicit timer_wait(timer_core& t) noexcept : timer(&t) {}
    loop* home() const noexcept { return &timer->context().as_loop(); }
    void prepare(record& o) const noexcept { o.cancel = nullptr; }
    void submit(record& o) const noexcept { timer->arm(o); }
    static std::tuple<error_code> take(record& o) noexcept {
        return {o.result.error == 0 ? error_code() : error_code(o.result.error, std::system_category())};
    }
    void block(std::tuple<error_code>& v) const noexcept {
        bool const slept = timer->context().driver().sleep_until(timer->deadline_ns());
        v = {slept ? error_code() : std::make_error_code(std::errc::operation_not_supported)};
    }
};
static_assert(sizeof(timer_wait) == 8);

} // namespace detail

/// Threads: one object by one thread at a time. Timers never fire early.
template <class Clock, class Executor> class basic_waitable_timer {
public:
    using clock_type = Clock;
    using duration = typename Clock::duration;
    using time_point = typename Clock::time_point;
    using executor_type = Executor;
    template <class E> struct rebind_executor {
        using other = basic_waitable_timer<Clock, E>;
    };

    explicit basic_waitable_timer(Executor const& e)
        : executor_(e),
          core_(detail::context_for_io(detail::loop_of(e))) {}
    template <execution_context_type Context> explicit basic_waitable_timer(Context& c)
        : basic_waitable_timer(Executor(c.get_executor())) {}
    basic_waitable_timer(Executor const& e, time_point t) : basic_waitable_timer(e) { expires_at(t); }
    basic_waitable_timer(Executor const& e, duration d) : basic_waitable_timer(e) { expires_after(d); }
    template <execution_context_type Context> basic_waitable_timer(Context& c, time_point t) : basic_waitable_timer(c) {
        expires_at(t);
    }
    template <execution_context_type Context> basic_waitable_timer(Context& c, duration d) : basic_waitable_timer(c) {
        expires_after(d);
    }
    basic_waitable_timer(basic_waitable_timer&&) noexcept = default;
    basic_waitable_timer& operator=(basic_waitable_timer&&) noexcept = default;

    executor_type get_executor() noexcept { return executor_; }

    time_point expiry() const noexcept {
        return time_point(std::chrono::duration_cast<duration>(std::chrono::nanoseconds(core_.deadline_ns())));
    }
    /// Sets the deadline. Pending waits complete with operation_aborted; returns how many.
    std::size_t expires_at(time_point t) {
        auto const n = core_.cancel();
        core_.deadline_ns(std::chrono::duration_cast<std::chrono::nanoseconds>(t.time_since_epoch()).count());
        return n;
    }
    /// Far futures and pasts saturate.
    std::size_t expires_after(duration d) {
        auto const now = core_.context().now();
        if (d > duration::zero() && now > time_point::max() - d)
            return expires_at(time_point::max());
        if (d < duration::zero() && now < time_point::min() - d)
            return expires_at(time_point::min());
        return expires_at(now + d);
    }
    /// Pending waits complete with operation_aborted, except those that have already expired; returns how many.
    std::size_t cancel() { return core_.cancel(); }
    std::size_t cancel_one() { return core_.cancel(1); }

    /// Waits until the deadline has come.
    /// Completes  (error_code ec)
    /// Errors     error::operation_aborted  cancelled, or the deadline was changed
    /// Cancel     terminal, partial, total
    /// Immediate  never
    /// Lifetime   *this outlives the completion, or is moved
    /// Allocates  nothing awaited
    template <class Token = use_await_t> decltype(auto)
    async_wait(Token&& token = {}) noexcept(detail::nothrow_token<std::decay_t<Token>, detail::timer_wait>) {
        return completion_token_transform<void(error_code)>(std::forward<Token>(token), detail::timer_wait(core_));
    }
    void wait() {
        error_code ec;
        wait(ec);
        detail::throw_error(ec, "wait");
    }
    void wait(error_code& ec) {
        std::tuple<error_code> v;
        detail::timer_wait(core_).block(v);
        ec = std::get<0>(v);
    }

private:
    Executor executor_;
    detail::timer_core core_;
};

} // namespace fairlead
