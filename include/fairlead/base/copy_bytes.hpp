// std::memcpy for headers that nearly every program includes: <cstring> would bring 10 KiB more.
#pragma once

#include <fairlead/base/config.hpp>

#include <cstddef>

namespace fairlead::impl::base {

/// The two must not overlap.
FAIRLEAD_ALWAYS_INLINE void copy_bytes(void* to, void const* from, std::size_t n) noexcept {
    __builtin_memcpy(to, from, n);
}

} // namespace fairlead::impl::base
