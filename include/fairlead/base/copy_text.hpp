// Copies of texts that are short nearly always: names, numbers, keys.
#pragma once

#include <fairlead/base/copy_bytes.hpp>

#include <cstddef>

namespace fairlead::impl::base {

/// n is at least Word. The last word may overlap the one before it.
template <std::size_t Word>
FAIRLEAD_ALWAYS_INLINE void copy_by_words(char* to, char const* from, std::size_t n) noexcept {
    for (std::size_t i = 0; i + Word < n; i += Word)
        copy_bytes(to + i, from + i, Word);
    copy_bytes(to + n - Word, from + n - Word, Word);
}

/// As std::memcpy(), without a call up to 64 bytes. The two must not overlap; `from` may be null when n is zero.
FAIRLEAD_ALWAYS_INLINE void copy_text(char* to, char const* from, std::size_t n) noexcept {
    if (n > 64) [[unlikely]]
        copy_bytes(to, from, n);
    else if (n >= 16)
        copy_by_words<16>(to, from, n);
    else if (n >= 8)
        copy_by_words<8>(to, from, n);
    else if (n >= 4)
        copy_by_words<4>(to, from, n);
    else if (n >= 2)
        copy_by_words<2>(to, from, n);
    else if (n == 1)
        *to = *from;
}

} // namespace fairlead::impl::base
