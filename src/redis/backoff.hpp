// Pauses between attempts to connect.
#pragma once

#include <fairlead/base/durations.hpp>

#include <algorithm>
#include <cstdint>

namespace fairlead::redis::impl {

/// Twice as long after each attempt. At random a part is left out, lest all clients of a server come back at once.
class backoff {
public:
    unsigned attempts() const noexcept { return attempts_; }
    void begin_attempt() noexcept { ++attempts_; }
    void succeeded() noexcept { attempts_ = 0; }

    /// `seed` is looked at the first time.
    std::chrono::milliseconds next_pause(std::chrono::milliseconds at_least, std::chrono::milliseconds at_most,
                                         std::int64_t seed) noexcept {
        auto const least = std::max(at_least, std::chrono::milliseconds(1)).count();
        auto const most = std::clamp(at_most.count(), least, year_ms);
        auto const doublings = std::min(attempts_ > 0 ? attempts_ - 1 : 0U, 40U);
        auto const full = least > most >> doublings ? most : least << doublings;
        if (chance_ == 0)
            chance_ = static_cast<std::uint64_t>(seed) | 1;
        chance_ = chance_ * 6364136223846793005U + 1442695040888963407U;
        auto const left_out = static_cast<std::int64_t>((chance_ >> 33) % static_cast<std::uint64_t>(full / 2 + 1));
        return std::chrono::milliseconds(full - left_out);
    }

private:
    static constexpr std::chrono::milliseconds::rep year_ms = 365LL * 24 * 3600 * 1000;

    unsigned attempts_ = 0; // since the last one that succeeded
    std::uint64_t chance_ = 0;
};

} // namespace fairlead::redis::impl
