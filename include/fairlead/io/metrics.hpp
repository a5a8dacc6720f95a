// The counts of a context, by cause.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fairlead {

/// The work of a context so far, and what is pending in it now. The loop keeps these numbers in any case.
struct io_metrics {
    std::uint64_t turns;  ///< of the loop: a batch of items, then a look at other threads, timers and the driver
    std::uint64_t items;  ///< handlers run and coroutines resumed, by calls of run() and the like that have ended
    std::uint64_t polls;  ///< looks at the driver
    std::uint64_t sleeps; ///< polls that were allowed to wait; the other ones came beside ready items
    std::uint64_t spins;  ///< looks, before a sleep, for a post that may come within microseconds
    std::uint64_t spins_in_vain;  ///< of them, those after which it slept all the same
    std::uint64_t system_calls;   ///< for transfers, readiness and waiting
    std::uint64_t posts_remote;   ///< functions, resumptions and requests that came from other threads
    std::uint64_t timers_expired; ///< waits of timers and time limits that were due
    std::uint64_t verifications;  ///< late checks of descriptors whose last read filled its buffer

    // How often an item gave way although its next operation might have been ready.
    std::uint64_t yields_budget;   ///< it had completed as many operations as an item may
    std::uint64_t yields_deadline; ///< it had run for a slice of time
    std::uint64_t yields_remote;   ///< another thread had posted

    std::size_t operations_pending; ///< at the driver, now
    std::size_t timers_pending;     ///< waits of timers and time limits, now
};

} // namespace fairlead
