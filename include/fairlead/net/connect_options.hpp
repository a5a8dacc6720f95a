// How async_connect tries several endpoints.
#pragma once

#include <fairlead/base/durations.hpp>
#include <fairlead/net/attempt_terms.hpp>

namespace fairlead {

/// How async_connect tries the endpoints of a range.
struct connect_options {
    /// An attempt that has taken so long goes on beside the next one; 10 ms to 2 s. RFC 8305 §5 recommends 250 ms.
    std::chrono::nanoseconds attempt_delay = std::chrono::milliseconds(250);
    /// An attempt that has taken so long fails with error::timed_out; 0: as long as the system allows.
    std::chrono::nanoseconds attempt_limit{0};
    /// The endpoints are tried in the order of the range, and each only when the one before it has failed.
    bool sequential = false;

    /// These options on the clock of loops, for connect.hpp, which does not need this header.
    friend impl::net::attempt_terms terms_of(connect_options const& o) noexcept {
        using namespace std::chrono_literals;
        constexpr std::chrono::nanoseconds shortest = 10ms, longest = 2s;
        auto const delay = o.attempt_delay < shortest  ? shortest
                           : longest < o.attempt_delay ? longest
                                                       : o.attempt_delay;
        impl::net::attempt_terms t;
        if (!o.sequential)
            t.delay_ns = delay.count();
        if (o.attempt_limit > 0ns)
            t.limit_ns = o.attempt_limit.count();
        return t;
    }
};

} // namespace fairlead
