// The amount of work of a test. FAIRLEAD_TEST_SCALE in the environment is 1 by default. It shrinks the counts of long
// tests (continuous integration under a sanitizer: 0.05) and enlarges them for a soak.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace fairlead::test {

/// The factor that the environment asks for; 1 when it asks for nothing that is a positive number.
inline double scale() {
    char const* text = std::getenv("FAIRLEAD_TEST_SCALE");
    double const wanted = text ? std::strtod(text, nullptr) : 0.0;
    return wanted > 0.0 ? wanted : 1.0;
}

/// `full` times the scale, but never below `least`: the count under which the test would prove nothing.
inline std::uint64_t scaled(std::uint64_t full, std::uint64_t least) {
    return std::max(static_cast<std::uint64_t>(static_cast<double>(full) * scale()), least);
}

} // namespace fairlead::test
