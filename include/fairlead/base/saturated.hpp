// Arithmetic of times that ends at the ends: a time that is too far away is the farthest, never one on the other side.
//
// Everything that takes a time converts and adds by these. In std::chrono such a conversion of hours::max() is
// undefined; in practice it turned "never" into "at once".
#pragma once

#include <fairlead/base/saturated_sum.hpp>

#include <fairlead/base/durations.hpp>
#include <ratio>
#include <type_traits>

namespace fairlead::detail {

/// `d` in another unit. NaN counts as the farthest.
template <class To, class Rep, class Period>
constexpr To saturated(std::chrono::duration<Rep, Period> const& d) noexcept {
    using namespace std::chrono;
    if constexpr (std::is_same_v<To, duration<Rep, Period>>) {
        return d;
    } else {
        using real = duration<double, typename To::period>;
        real const wanted(d);
        if (!(wanted < real(To::max())))
            return To::max();
        if (!(wanted > real(To::min())))
            return To::min();
        // Where the units do not divide, the cast multiplies before it divides, and that may overflow halfway.
        if constexpr (std::ratio_divide<Period, typename To::period>::den != 1 &&
                      std::ratio_divide<Period, typename To::period>::num != 1) {
            constexpr double exact = 1LL << 52;
            if (wanted.count() > exact || wanted.count() < -exact)
                return To(static_cast<typename To::rep>(wanted.count()));
        }
        return duration_cast<To>(d);
    }
}

/// A duration that is not To, but would become one without a cast.
template <class Duration, class To>
concept other_duration = !std::is_same_v<Duration, To> && std::is_convertible_v<Duration, To>;

} // namespace fairlead::detail
