// cancel_after, cancel_at: a time limit for a coroutine, a group or a scope. For one operation it is a token
// (net/cancel_after.hpp).
//
// The limit is a group of two: the part, and a wait on the loop's clock. The first that ends makes the other end. So a
// limit inside never outlives one outside, which asks all that is below it.
#pragma once

#include <fairlead/coro/group_operation.hpp>
#include <fairlead/net/cancel_after.hpp>

#include <optional>
#include <type_traits>
#include <utility>

namespace fairlead {
namespace impl::scope {

template <class When> struct timer_for {
    using type = steady_timer;
};
template <class Clock, class Duration> struct timer_for<net::limit_at<Clock, Duration>> {
    using type = basic_waitable_timer<Clock>;
};

/// The wait, as a member of the group.
template <class When> class limit_member {
public:
    limit_member(When w, cancellation_type type) noexcept : when_(w), type_(type) {}
    /// Before the start.
    limit_member(limit_member&& other) noexcept : limit_member(other.when_, other.type_) {}

    void join(coro::chain_group& g, await_record const& awaiting) {
        g.asks_for(type_);
        when_.set(timer_.emplace(*awaiting.executor));
        wait_.emplace(timer_->async_wait(use_await)).join(g, awaiting);
    }

private:
    When when_;
    cancellation_type type_;
    std::optional<typename timer_for<When>::type> timer_;
    std::optional<coro::member_for<async_op<void(error_code)>>::type> wait_;
};

/// A part with its limit.
template <class Part, class When> class limited_parts {
public:
    using value_type = typename coro::member_for<Part>::type::value_type;

    limited_parts(Part&& part, When w, cancellation_type type)
        : part_(coro::as_part(std::move(part))),
          limit_(w, type) {}
    template <class F> void for_each(F f) {
        f(part_);
        f(limit_);
    }
    value_type take() { return part_.take().value(); }

private:
    typename coro::member_for<Part>::type part_;
    limit_member<When> limit_;
};

/// The result of the part, also when the limit was first.
struct limited_result {
    static constexpr coro::group_end asks_at = coro::group_end::first;
    template <class Parts> static typename Parts::value_type of(Parts& parts, coro::group_member const*) {
        return parts.take();
    }
};

template <class Part, class When> auto limit_part(Part&& part, When w, cancellation_type type) {
    return coro::group_operation<limited_parts<Part, When>, limited_result>(std::in_place, std::move(part), w, type);
}

template <class Part>
concept limited_part = net::awaited_object<Part> && coro::group_part<Part> && !std::is_lvalue_reference_v<Part>;

template <class Part>
concept kept_part = net::awaited_object<Part> && (!coro::group_part<Part> || std::is_lvalue_reference_v<Part>);
/// The sentence for everything else.
#define FAIRLEAD_LIMITED_PART "cancel_after() and cancel_at() take a coroutine or a group that is moved"

} // namespace impl::scope

/// `co_await cancel_after(5s, answer(socket))`: asks a coroutine, a group or a scope to end when it has taken longer
/// than `d`. A time beyond the clock's ends is its end. Limits nest: the nearest counts.
/// Completes  with what the part completes with, also when that comes after the limit
/// Errors     as the part's: system_error with operation_aborted as a rule, when the limit was first
/// Cancel     the part is asked
/// Immediate  does not suspend if the part completes at once
/// Lifetime   the part is moved; it runs with the awaiting coroutine's executor
/// Threads    as the awaiting coroutine
/// Allocates  nothing; for a part that is a group a frame
template <class Rep, class Period, impl::scope::limited_part Part>
auto cancel_after(std::chrono::duration<Rep, Period> const& d, cancellation_type type, Part&& part) {
    return impl::scope::limit_part<Part>(std::move(part), impl::net::limit_after{d}, type);
}
template <class Rep, class Period, impl::scope::limited_part Part>
auto cancel_after(std::chrono::duration<Rep, Period> const& d, Part&& part) {
    return cancel_after(d, cancellation_type::terminal, std::move(part));
}

/// As cancel_after, until a point in time.
template <class Clock, class Duration, impl::scope::limited_part Part>
auto cancel_at(std::chrono::time_point<Clock, Duration> const& t, cancellation_type type, Part&& part) {
    return impl::scope::limit_part<Part>(std::move(part), impl::net::limit_at{t}, type);
}
template <class Clock, class Duration, impl::scope::limited_part Part>
auto cancel_at(std::chrono::time_point<Clock, Duration> const& t, Part&& part) {
    return cancel_at(t, cancellation_type::terminal, std::move(part));
}

/// One that has a name is moved.
template <class When, class Part>
    requires impl::scope::kept_part<Part>
FAIRLEAD_REFUSED(FAIRLEAD_LIMITED_PART)
impl::coro::refused_group cancel_after(When const&, Part&&) {
    return {};
}
template <class When, class Part>
    requires impl::scope::kept_part<Part>
FAIRLEAD_REFUSED(FAIRLEAD_LIMITED_PART)
impl::coro::refused_group cancel_at(When const&, Part&&) {
    return {};
}

} // namespace fairlead
