// A disposition of a user's own, as a program would make one.
#pragma once

#include <fairlead/base/disposition_traits.hpp>

#include <exception>
#include <stdexcept>

namespace shop {

/// How a purchase ended.
enum class outcome { good, sold_out };

} // namespace shop

template <> struct fairlead::disposition_traits<shop::outcome> {
    static bool not_an_error(shop::outcome const& o) noexcept { return o == shop::outcome::good; }
    static void throw_exception(shop::outcome) { throw std::runtime_error("sold out"); }
    static std::exception_ptr to_exception_ptr(shop::outcome o) noexcept {
        return not_an_error(o) ? nullptr : std::make_exception_ptr(std::runtime_error("sold out"));
    }
};
