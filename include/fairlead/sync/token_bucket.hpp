// The content of a bucket that gets tokens at a steady rate, in whole numbers: nothing is rounded, so nothing drifts.
#pragma once

#include <fairlead/base/assert.hpp>

#include <cstddef>
#include <cstdint>

namespace fairlead::impl::sync {

/// Holds the product of two numbers of 64 bits.
__extension__ typedef unsigned __int128 bucket_units;

struct bucket_shape {
    std::size_t tokens; ///< that come in a period
    std::int64_t period_ns;
    std::size_t burst; ///< that it holds
};

/// A token is as many units as a period has nanoseconds. A nanosecond brings as many units as a period brings tokens.
class token_bucket {
public:
    /// Full.
    FAIRLEAD_EXPORT token_bucket(bucket_shape const& s, std::int64_t now_ns) noexcept;

    std::size_t burst() const noexcept { return burst_; }
    /// Adds the tokens since the last call. A clock that stands still or goes back brings none.
    FAIRLEAD_EXPORT void fill(std::int64_t now_ns) noexcept;
    std::size_t tokens() const noexcept { return static_cast<std::size_t>(content_ / period_ns_); }
    FAIRLEAD_EXPORT bool take(std::size_t n) noexcept;
    /// The first nanosecond at which `n` tokens are there, if nobody takes any; INT64_MAX when that is too far away.
    FAIRLEAD_EXPORT std::int64_t filled_at_ns(std::size_t n) const noexcept;

private:
    bucket_units units(std::size_t n) const noexcept { return bucket_units(n) * period_ns_; }

    std::size_t tokens_;
    std::uint64_t period_ns_;
    std::size_t burst_;
    std::int64_t filled_ns_; ///< the time of the last fill()
    bucket_units content_;
};

} // namespace fairlead::impl::sync
