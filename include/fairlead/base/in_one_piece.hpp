// A std::optional of a small value that is written in one piece.
//
// g++ copies a small object through a vector register. Value and flag of an optional are written apart. Such a copy
// waits until both have left the store buffer, some 15 cycles. After an optional was written as a vector it does not.
#pragma once

#include <fairlead/base/config.hpp>

#include <bit>
#include <optional>
#include <type_traits>

namespace fairlead::impl::base {

/// In libstdc++ the flag lies behind the value; what follows it has no meaning.
template <class T> inline constexpr bool optional_is_a_vector =
#if !FAIRLEAD_COMPILER_CLANG && defined(__GLIBCXX__)
    std::endian::native == std::endian::little && sizeof(T) == sizeof(long long) &&
    sizeof(std::optional<T>) == 2 * sizeof(long long) && std::is_trivially_copyable_v<std::optional<T>>;
#else
    false;
#endif

/// A place for such an optional that has a value.
template <class T>
    requires optional_is_a_vector<T>
class optional_in_one_piece {
public:
    optional_in_one_piece() noexcept {} // nothing is written before there is a value
    void put(T const& value) noexcept {
        words const w{std::bit_cast<long long>(value), 1};
        __builtin_memcpy(static_cast<void*>(&optional_), &w, sizeof(w));
    }
    std::optional<T> const& get() const noexcept { return optional_; }

private:
    using words [[gnu::vector_size(2 * sizeof(long long))]] = long long;
    union {
        std::optional<T> optional_;
    };
};

} // namespace fairlead::impl::base
