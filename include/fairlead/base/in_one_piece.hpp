// A std::optional of a small value that is written in one piece.
//
// g++ copies a small object through a vector register. Value and flag of an optional are written apart. Such a copy
// waits until both have left the store buffer, some 15 cycles. After an optional was written as a vector it does not.
#pragma once

#include <fairlead/base/config.hpp>

#include <bit>
#include <optional>
#include <type_traits>
#include <utility>

namespace fairlead::impl::base {

/// In libstdc++ the flag lies behind the value; what follows it has no meaning.
template <class T> inline constexpr bool optional_is_a_vector =
#if !FAIRLEAD_COMPILER_CLANG && defined(__GLIBCXX__)
    std::endian::native == std::endian::little && sizeof(T) == sizeof(long long) &&
    sizeof(std::optional<T>) == 2 * sizeof(long long) && std::is_trivially_copyable_v<std::optional<T>>;
#else
    false;
#endif

template <class T> FAIRLEAD_ALWAYS_INLINE std::optional<T> optional_in_one_piece(T&& value) {
    if constexpr (optional_is_a_vector<T>) {
        using words [[gnu::vector_size(2 * sizeof(long long))]] = long long;
        return std::bit_cast<std::optional<T>>(words{std::bit_cast<long long>(value), 1});
    } else {
        return std::optional<T>(std::move(value));
    }
}

} // namespace fairlead::impl::base
