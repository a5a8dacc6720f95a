// The way from one simulated host to another.
#pragma once

#include <cstdint>
#include <fairlead/base/durations.hpp>

namespace fairlead::sim {

/// The effects of a link on everything that takes it. Losses, copies and spikes are rules, see rule.hpp.
struct link_options {
    std::chrono::nanoseconds latency = std::chrono::microseconds(100); ///< the least
    std::chrono::nanoseconds jitter = std::chrono::microseconds(50);   ///< up to so much more, all values alike
    std::uint64_t bytes_per_second = 0;                                ///< 0: no limit
};

} // namespace fairlead::sim
