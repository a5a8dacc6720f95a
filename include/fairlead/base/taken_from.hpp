// How a variable gives its value away.
#pragma once

namespace fairlead::impl::base {

/// As std::exchange(), for numbers and pointers. That one asks a dozen traits about each type, in every program that
/// includes the place.
template <class T> constexpr T taken_from(T& v, T rest = T()) noexcept {
    T const taken = v;
    v = rest;
    return taken;
}

} // namespace fairlead::impl::base
