// Arithmetic of times that ends at the ends: a time that is too far away is the farthest, never one on the other side.
//
// Everything that takes a time converts and adds by these. In std::chrono such a conversion of hours::max() is
// undefined; in practice it turned "never" into "at once". Nothing in here needs <chrono>, which costs a tenth of a
// second: whoever has a duration has included it.
#pragma once

#include <fairlead/base/saturated_sum.hpp>

namespace fairlead::impl::base {

template <class, class> inline constexpr bool are_one_unit = false;
template <class T> inline constexpr bool are_one_unit<T, T> = true;

template <class Int> constexpr Int common_divisor(Int a, Int b) noexcept {
    return b == 0 ? a : common_divisor(b, a % b);
}

/// `d` in another unit. NaN counts as the farthest.
template <class To, template <class, class> class Duration, class Rep, class Period>
constexpr To saturated(Duration<Rep, Period> const& d) noexcept {
    if constexpr (are_one_unit<To, Duration<Rep, Period>>) {
        return d;
    } else {
        using period = typename To::period;
        using real = Duration<double, period>;
        real const wanted(d);
        if (!(wanted < real(To::max())))
            return To::max();
        if (!(wanted > real(To::min())))
            return To::min();
        // Where the units do not divide, the cast multiplies before it divides, and that may overflow halfway.
        constexpr auto of_num = common_divisor(Period::num, period::num);
        constexpr auto of_den = common_divisor(Period::den, period::den);
        constexpr bool multiplies = Period::num != of_num || period::den != of_den;
        constexpr bool divides = Period::den != of_den || period::num != of_num;
        if constexpr (multiplies && divides) {
            constexpr double exact = 1LL << 52;
            if (wanted.count() > exact || wanted.count() < -exact)
                return To(static_cast<typename To::rep>(wanted.count()));
        }
        return duration_cast<To>(d);
    }
}

/// A duration that is not To, but would become one without a cast.
template <class Duration, class To>
concept other_duration = !are_one_unit<Duration, To> && requires(void (*take)(To), Duration const& d) { take(d); };

} // namespace fairlead::impl::base
