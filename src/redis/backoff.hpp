// Pauses between attempts to connect.
#pragma once

#include <fairlead/base/durations.hpp>

#include <algorithm>
#include <cstdint>

namespace fairlead::redis::impl {

/// Pauses that may be twice as long after each attempt.
class backoff {
public:
    unsigned attempts() const noexcept { return attempts_; }
    void begin_attempt() noexcept { ++attempts_; }
    void succeeded() noexcept { attempts_ = 0; }

    /// Any part of the time, lest all clients of a server come back at once: "full jitter". `chance` is a random
    /// number.
    std::chrono::milliseconds next_pause(std::chrono::milliseconds at_least, std::chrono::milliseconds at_most,
                                         std::uint64_t chance) const noexcept {
        return std::chrono::milliseconds(1 + part_of(longest(at_least, at_most), chance));
    }
    /// Half of the time at the least, for what passes by waiting: "equal jitter".
    std::chrono::milliseconds next_pause_of_half(std::chrono::milliseconds at_least, std::chrono::milliseconds at_most,
                                                 std::uint64_t chance) const noexcept {
        auto const all = longest(at_least, at_most);
        return std::chrono::milliseconds(all - part_of(all / 2 + 1, chance));
    }

private:
    static std::int64_t part_of(std::int64_t ms, std::uint64_t chance) noexcept {
        return static_cast<std::int64_t>(chance % static_cast<std::uint64_t>(ms));
    }
    std::int64_t longest(std::chrono::milliseconds at_least, std::chrono::milliseconds at_most) const noexcept {
        auto const least = std::max(at_least, std::chrono::milliseconds(1)).count();
        auto const most = std::clamp(at_most.count(), least, year_ms);
        auto const doublings = std::min(attempts_ > 0 ? attempts_ - 1 : 0U, 40U);
        return least > most >> doublings ? most : least << doublings;
    }

    static constexpr std::chrono::milliseconds::rep year_ms = 365LL * 24 * 3600 * 1000;

    unsigned attempts_ = 0; // since the last one that succeeded
};

} // namespace fairlead::redis::impl
