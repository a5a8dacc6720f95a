// Arithmetic of times that ends at the ends: a time that is too far away is the farthest, never one on the other side.
//
// Everything that takes a time converts and adds by these. In std::chrono such a conversion of hours::max() is
// undefined; in practice it turned "never" into "at once". Nothing in here needs <chrono>, which costs a tenth of a
// second: whoever has a duration has included it.
#pragma once

#include <fairlead/base/saturated_sum.hpp>

namespace fairlead::detail {

template <class, class> inline constexpr bool are_one_unit = false;
template <class T> inline constexpr bool are_one_unit<T, T> = true;

template <class Int> constexpr Int common_divisor(Int a, Int b) noexcept {
    return b == 0 ? a : common_divisor(b, a % b);
}

/// `d` in another unit. NaN counts as the farthest.
template <class To, class From> constexpr To saturated(From const& d) noexcept {
    if constexpr (are_one_unit<To, From>) {
        return d;
    } else {
        using source = typename From::period;
        using target = typename To::period;
        constexpr auto of_num = common_divisor(source::num, target::num);
        constexpr auto of_den = common_divisor(source::den, target::den);
        constexpr auto num = (source::num / of_num) * (target::den / of_den);
        constexpr auto den = (source::den / of_den) * (target::num / of_num);
        double const wanted = static_cast<double>(d.count()) * static_cast<double>(num) / static_cast<double>(den);
        if (!(wanted < static_cast<double>(To::max().count())))
            return To::max();
        if (!(wanted > static_cast<double>(To::min().count())))
            return To::min();
        // Where the units do not divide, the product comes before the quotient, and may overflow.
        if constexpr (num != 1 && den != 1) {
            constexpr double exact = 1LL << 52;
            if (wanted > exact || wanted < -exact)
                return To(static_cast<typename To::rep>(wanted));
        }
        using wide = decltype(To::max().count() + d.count() + num);
        return To(static_cast<typename To::rep>(static_cast<wide>(d.count()) * static_cast<wide>(num) /
                                                static_cast<wide>(den)));
    }
}

/// A duration that is not To, but would become one without a cast.
template <class Duration, class To>
concept other_duration = !are_one_unit<Duration, To> && requires(void (*take)(To), Duration const& d) { take(d); };

} // namespace fairlead::detail
