// A duration that a program gives, in nanoseconds: what contexts and loops count in.
#pragma once

#include <fairlead/base/saturated.hpp>

#include <cstdint>

namespace fairlead::io::impl {

template <class D>
concept duration_type = requires(D const& d) {
    typename D::period;
    d.count();
};
/// `d` in nanoseconds, far times saturated. Everything of <chrono> is found through its type.
template <template <class, class> class Duration, class Rep, template <std::intmax_t, std::intmax_t> class Ratio,
          std::intmax_t Num, std::intmax_t Den>
constexpr std::int64_t in_nanoseconds(Duration<Rep, Ratio<Num, Den>> const& d) noexcept {
    return fairlead::impl::base::saturated<Duration<std::int64_t, Ratio<1, 1'000'000'000>>>(d).count();
}

} // namespace fairlead::io::impl
