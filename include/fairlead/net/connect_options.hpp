// How async_connect tries several endpoints.
#pragma once

#include <fairlead/base/durations.hpp>

#include <algorithm>
#include <cstdint>

namespace fairlead {

/// How async_connect tries the endpoints of a range.
struct connect_options {
    /// An attempt that has taken so long goes on beside the next one; 10 ms to 2 s. RFC 8305 §5 recommends 250 ms.
    std::chrono::nanoseconds attempt_delay = std::chrono::milliseconds(250);
    /// An attempt that has taken so long fails with error::timed_out; 0: as long as the system allows.
    std::chrono::nanoseconds attempt_limit{0};
    /// The endpoints are tried in the order of the range, and each only when the one before it has failed.
    bool sequential = false;
};

namespace impl::net {

/// The same options on the clock of loops.
struct attempt_terms {
    static constexpr std::int64_t never = INT64_MAX;

    std::int64_t delay_ns = never; ///< never: no attempt overlaps with another one
    std::int64_t limit_ns = never;

    attempt_terms() noexcept = default;
    explicit attempt_terms(connect_options const& o) noexcept {
        using namespace std::chrono_literals;
        std::chrono::nanoseconds const shortest = 10ms, longest = 2s;
        if (!o.sequential)
            delay_ns = std::clamp(o.attempt_delay, shortest, longest).count();
        if (o.attempt_limit > 0ns)
            limit_ns = o.attempt_limit.count();
    }
    /// Then the families take turns, too.
    bool may_overlap() const noexcept { return delay_ns != never; }
    bool has_limit() const noexcept { return limit_ns != never; }
};

} // namespace impl::net
} // namespace fairlead
