// The clock that timers follow: the current loop's, real or virtual. io/clock.hpp gives it its name for programs.
#pragma once

#include <fairlead/base/config.hpp>

#include <fairlead/base/durations.hpp>

#include <cstdint>

namespace fairlead::io {

/// As std::chrono::steady_clock, whose time points it uses; inside a simulated world now() is the world's time.
struct steady_clock {
    using duration = std::chrono::steady_clock::duration;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::steady_clock::time_point;
    static constexpr bool is_steady = true;

    FAIRLEAD_EXPORT static time_point now() noexcept;
    /// The point in time that is `ns` on the clock of a loop.
    static constexpr time_point at_ns(std::int64_t ns) noexcept {
        return time_point(std::chrono::duration_cast<duration>(std::chrono::nanoseconds(ns)));
    }
};

} // namespace fairlead::io
