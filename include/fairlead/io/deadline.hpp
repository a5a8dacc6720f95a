// From a time that a program gives to one on the clock of a loop, wherever a time is given.
#pragma once

#include <fairlead/base/saturated.hpp>
#include <fairlead/io/clock.hpp>
#include <fairlead/io/io_loop.hpp>

#include <cstdint>
#include <fairlead/base/durations.hpp>
#include <type_traits>

namespace fairlead::detail {

/// When `d` from now has passed. Far times saturate.
template <class Rep, class Period>
std::int64_t deadline_ns(io_loop& l, std::chrono::duration<Rep, Period> const& d) noexcept {
    using std::chrono::nanoseconds;
    return sum(saturated<nanoseconds>(l.now().time_since_epoch()), saturated<nanoseconds>(d)).count();
}
/// Whether `Clock` is the one that loops count on: then a time is a deadline as it stands, and nothing can fail.
template <class Clock> inline constexpr bool is_time_of_the_loop =
    std::is_same_v<Clock, steady_clock> || std::is_same_v<Clock, steady_clock::time_point::clock>;

/// When it is `t`. A clock that is not the loop's is looked at once, now.
template <class Clock, class Duration> std::int64_t
deadline_ns(io_loop& l, std::chrono::time_point<Clock, Duration> const& t) noexcept(is_time_of_the_loop<Clock>) {
    using std::chrono::nanoseconds;
    auto const wanted = saturated<nanoseconds>(t.time_since_epoch());
    if constexpr (is_time_of_the_loop<Clock>)
        return wanted.count();
    else
        return deadline_ns(l, difference(wanted, saturated<nanoseconds>(Clock::now().time_since_epoch())));
}

} // namespace fairlead::detail
