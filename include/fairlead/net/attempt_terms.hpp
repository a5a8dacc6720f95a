// How the attempts of async_connect to several endpoints follow one another, on the clock of loops. connect_options,
// which programs write, is <chrono>.
#pragma once

#include <cstdint>

namespace fairlead {

struct connect_options; // net/connect_options.hpp

namespace impl::net {

struct attempt_terms {
    static constexpr std::int64_t never = INT64_MAX;

    std::int64_t delay_ns = never; ///< never: no attempt overlaps with another one
    std::int64_t limit_ns = never;

    /// Those of a program that has said nothing: RFC 8305 §5 recommends 250 ms.
    static constexpr attempt_terms usual() noexcept { return {.delay_ns = 250'000'000}; }
    /// Then the families take turns, too.
    bool may_overlap() const noexcept { return delay_ns != never; }
    bool has_limit() const noexcept { return limit_ns != never; }
};

} // namespace impl::net
} // namespace fairlead
