// Timers: waiting for a point in time, without a system call for each.
#pragma once

#include <fairlead/base/saturated.hpp>
#include <fairlead/io/deadline.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/io/io_loop_for.hpp>
#include <fairlead/io/loop_clock.hpp>
#include <fairlead/net/fwd.hpp>
#include <fairlead/net/wait_traits.hpp>
#include <fairlead/operation/async_op.hpp>
#include <fairlead/operation/initiate_on.hpp>
#include <fairlead/token/block.hpp>

#include <fairlead/base/durations.hpp>

namespace fairlead {

/// A timer of the loop's clock: real, or virtual inside a simulated world.
using steady_timer = basic_waitable_timer<io::steady_clock>;
/// Timers of other clocks. The deadline is put onto the loop's clock when a wait starts: a jump of the clock during a
/// wait does not move it.
using system_timer = basic_waitable_timer<std::chrono::system_clock>;
/// A timer of the clock high_resolution_clock.
using high_resolution_timer = basic_waitable_timer<std::chrono::high_resolution_clock>;

namespace impl::net {

/// The half of a timer that no template parameter changes.
class timer_core {
public:
    explicit timer_core(io::impl::io_loop_ref l) noexcept : engine_(std::move(l)) {}
    FAIRLEAD_EXPORT timer_core(timer_core&& other) noexcept;
    FAIRLEAD_EXPORT timer_core& operator=(timer_core&& other) noexcept;
    ~timer_core() { cancel(); }

    io_loop& engine() const noexcept { return *engine_; }
    bool runs_handlers() const noexcept { return engine_.runs_handlers(); }
    template <class Executor> void note_executor(Executor const& e) noexcept { engine_.note_executor(e); }
    std::int64_t deadline_ns() const noexcept { return deadline_ns_; }
    void deadline_ns(std::int64_t t) noexcept { deadline_ns_ = t; }
    std::size_t cancel(std::size_t most = static_cast<std::size_t>(-1)) noexcept {
        return was_armed_ ? cancel_armed(most) : 0;
    }
    void arm(io::timer_op& o) noexcept {
        o.deadline_ns = deadline_ns_;
        o.waits = &waits_;
        was_armed_ = true;
        engine_->arm(o);
    }

private:
    FAIRLEAD_EXPORT std::size_t cancel_armed(std::size_t most) noexcept;
    void take_over(timer_core& other) noexcept;
    [[no_unique_address]] io::impl::io_loop_ref engine_; ///< its last bytes have space for the flag
    bool was_armed_ =
        false; ///< since the last cancel(): only then can there be waits, and whoever owns the loop has them
    std::int64_t deadline_ns_ = 0;
    op_queue waits_;
};
static_assert(sizeof(timer_core) == 40);

/// A clock whose times mean nothing to a timer of `Clock`.
template <class Other, class Clock>
concept another_clock = !std::same_as<Other, typename Clock::time_point::clock>;
#define FAIRLEAD_ANOTHER_CLOCK                                                                                         \
    "this is the time of another clock: write expires_after(duration), or use the timer of that clock, "               \
    "system_timer or basic_waitable_timer<Clock>"

/// The memory of a timer of another clock than the loop's.
template <class TimePoint> struct foreign_expiry {
    TimePoint at{};
};
struct no_expiry {};

struct timer_wait : operation::primitive<timer_wait> {
    using signature = void(error_code);
    using plain_result = void;
    using record = io::timer_op;

    timer_core* timer;

    explicit timer_wait(timer_core& t) noexcept : timer(&t) {}
    loop* home() const noexcept { return &timer->engine(); }
    static std::string describe() { return "wait"; }
    void prepare(record& o) const noexcept { o.cancel = nullptr; }
    void submit(record& o) const noexcept { timer->arm(o); }
    static std::tuple<error_code> take(record& o) noexcept {
        return {o.result.error == 0 ? error_code() : error_code(o.result.error, error::get_system_category())};
    }
    void block(std::tuple<error_code>& v) const noexcept {
        bool const slept = timer->engine().host().sleep_until(timer->deadline_ns());
        v = {slept ? error_code() : error::make_error_code(error::operation_not_supported)};
    }
};
static_assert(sizeof(timer_wait) == 8);

} // namespace impl::net

namespace impl {
FAIRLEAD_COMPILED_PRIMITIVE(net::timer_wait, error_code);
} // namespace impl

/// Threads: one object by one thread at a time. Timers never fire early.
template <class Clock, class WaitTraits, class Executor> class basic_waitable_timer {
public:
    using clock_type = Clock;
    using traits_type = WaitTraits;
    using duration = typename Clock::duration;
    using time_point = typename Clock::time_point;
    using executor_type = Executor;
    template <class E> struct rebind_executor {
        using other = basic_waitable_timer<Clock, WaitTraits, E>;
    };

    explicit basic_waitable_timer(Executor const& e) : executor_(e), core_(io::impl::io_loop_for(e)) {}
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
    template <class Rep, class Period>
        requires impl::base::other_duration<std::chrono::duration<Rep, Period>, duration>
    basic_waitable_timer(Executor const& e, std::chrono::duration<Rep, Period> const& d)
        : basic_waitable_timer(e, impl::base::saturated<duration>(d)) {}
    template <execution_context_type Context, class Rep, class Period>
        requires impl::base::other_duration<std::chrono::duration<Rep, Period>, duration>
    basic_waitable_timer(Context& c, std::chrono::duration<Rep, Period> const& d)
        : basic_waitable_timer(c, impl::base::saturated<duration>(d)) {}
    template <class Where, impl::net::another_clock<Clock> Other, class D> FAIRLEAD_REFUSED(FAIRLEAD_ANOTHER_CLOCK)
    basic_waitable_timer(Where&&, std::chrono::time_point<Other, D>);
    basic_waitable_timer(basic_waitable_timer&&) noexcept = default;
    basic_waitable_timer& operator=(basic_waitable_timer&&) noexcept = default;
    /// Takes over a timer whose executor has another type.
    template <class E>
        requires(!std::same_as<E, Executor> && std::convertible_to<E, Executor>)
    basic_waitable_timer(basic_waitable_timer<Clock, WaitTraits, E>&& other) noexcept
        : executor_(other.executor_),
          core_(std::move(other.core_)),
          expiry_(other.expiry_) {
        core_.note_executor(executor_);
    }

    executor_type get_executor() const noexcept { return executor_; }

    time_point expiry() const noexcept {
        if constexpr (is_foreign)
            return expiry_.at;
        else
            return io::steady_clock::at_ns(core_.deadline_ns());
    }
    /// Sets the deadline. Pending waits complete with operation_aborted; returns how many.
    std::size_t expires_at(time_point t) {
        auto const n = core_.cancel();
        if constexpr (is_foreign)
            expiry_.at = t;
        else
            core_.deadline_ns(io::impl::in_nanoseconds(t.time_since_epoch()));
        return n;
    }
    template <impl::net::another_clock<Clock> Other, class D> FAIRLEAD_REFUSED(FAIRLEAD_ANOTHER_CLOCK)
    std::size_t expires_at(std::chrono::time_point<Other, D>);
    std::size_t expires_after(duration d) { return expires_at(impl::base::sum(this_clock(), d)); }
    /// Both from other units. Far futures and pasts saturate, here and above.
    template <impl::base::other_duration<duration> D>
    std::size_t expires_at(std::chrono::time_point<typename time_point::clock, D> const& t) {
        return expires_at(time_point(impl::base::saturated<duration>(t.time_since_epoch())));
    }
    template <class Rep, class Period>
        requires impl::base::other_duration<std::chrono::duration<Rep, Period>, duration>
    std::size_t expires_after(std::chrono::duration<Rep, Period> const& d) {
        return expires_after(impl::base::saturated<duration>(d));
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
    /// Threads    one object by one thread at a time
    /// Allocates  nothing awaited
    /// Source     Networking TS [timer.waitable.ops]
    template <class Token = default_completion_token_t<Executor>> decltype(auto) async_wait(
        Token&& token = {}) noexcept(impl::operation::nothrow_token<std::decay_t<Token>, impl::net::timer_wait>) {
        translate();
        return impl::operation::initiate_on<void(error_code)>(*this, std::forward<Token>(token),
                                                              impl::net::timer_wait(core_));
    }
    void wait() {
        error_code ec;
        wait(ec);
        impl::base::throw_error(ec, "wait");
    }
    void wait(error_code& ec) {
        translate();
        std::tuple<error_code> v;
        impl::net::timer_wait(core_).block(v);
        ec = std::get<0>(v);
    }

    /// For initiate_on().
    bool runs_handlers() const noexcept { return core_.runs_handlers(); }
    /// For the library's own algorithms, which start a wait with it: its deadline is on the loop's clock.
    impl::net::timer_core& core() noexcept {
        translate();
        return core_;
    }

private:
    template <class C, class W, class E> friend class basic_waitable_timer;
    static constexpr bool is_foreign = !std::is_same_v<time_point, io::steady_clock::time_point>;
    time_point this_clock() {
        if constexpr (is_foreign)
            return Clock::now();
        else
            return core_.engine().now();
    }
    /// From a foreign clock to the loop's.
    void translate() noexcept {
        if constexpr (is_foreign)
            core_.deadline_ns(io::impl::deadline_ns(core_.engine(), expiry_.at));
    }
    Executor executor_;
    impl::net::timer_core core_;
    [[no_unique_address]] std::conditional_t<is_foreign, impl::net::foreign_expiry<time_point>, impl::net::no_expiry>
        expiry_;
};

} // namespace fairlead
