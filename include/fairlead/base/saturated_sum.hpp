// Sums and differences of times that end at the ends of their type, for headers that need nothing of <chrono>.
#pragma once

namespace fairlead::impl::base {

/// `t` and `d` later. T: a duration or a time point.
template <class T, class Duration> constexpr T sum(T const& t, Duration const& d) noexcept {
    if (d > Duration::zero() && t > T::max() - d)
        return T::max();
    if (d < Duration::zero() && t < T::min() - d)
        return T::min();
    return t + d;
}
/// How long it is from `b` to `a`.
template <class Duration> constexpr Duration difference(Duration const& a, Duration const& b) noexcept {
    if (b < Duration::zero() && a > Duration::max() + b)
        return Duration::max();
    if (b > Duration::zero() && a < Duration::min() + b)
        return Duration::min();
    return a - b;
}

} // namespace fairlead::impl::base
