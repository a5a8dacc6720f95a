// Dispositions, and what to do with one. The functions have common names: this header is not included by others without
// need.
#pragma once

#include <fairlead/base/disposition_traits.hpp>

#include <exception>
#include <type_traits>
#include <utility>

namespace fairlead {

/// Throws what an unsuccessful disposition stands for.
template <class D>
    requires disposition<std::decay_t<D>>
void throw_exception(D&& d) {
    disposition_traits<std::decay_t<D>>::throw_exception(std::forward<D>(d));
}
/// A disposition as an exception_ptr: null for success.
template <class D>
    requires disposition<std::decay_t<D>>
std::exception_ptr to_exception_ptr(D&& d) noexcept {
    return disposition_traits<std::decay_t<D>>::to_exception_ptr(std::forward<D>(d));
}

} // namespace fairlead
