// When may an operation that is ready complete at once, without going through the loop?
//
// A coroutine that reads from a socket which always has data, or searches a buffer that always matches, would never
// give way: every await is ready, so it never suspends, and timers and other sockets starve. Hence an item that the
// loop dequeues (a handler, a resumed coroutine) has a budget. Each immediate completion takes one unit. An item gets
// 128 units or about 200 microseconds, whichever ends first, but never fewer than 16 units. Out of budget, the next
// operation does not try: the coroutine is suspended *before* the side effect and put at the end of the run queue.
//
// The hot test is one decrement and one branch. The clock is looked at after 16, 32 and 64 units only, and once a
// batch. The budget is filled when the loop dequeues an item and at no other time; whoever is resumed by that item
// inherits what is left.
#pragma once

#include <fairlead/base/config.hpp>

#include <cstdint>

namespace fairlead {

/// The published figures of the fairness rule.
struct fairness {
    static constexpr int units_least = 16; ///< an item's units that no deadline cuts
    static constexpr int units_most = 128; ///< an item's units at the most
    static constexpr std::int64_t slice_ns = 200'000;
    static constexpr unsigned inline_depth_most = 16; ///< of handlers with an immediate executor, one inside the other
    static constexpr unsigned batch_items = 64;       ///< items between two looks at the inbox and the clock
    static constexpr unsigned batches_per_poll = 61;  ///< batches between two polls of the driver, if time does not
};

/// How often an item gave way although its next operation might have been ready, by cause.
struct yield_counters {
    std::uint64_t budget;   ///< 128 units were used
    std::uint64_t deadline; ///< the slice was over
    std::uint64_t remote;   ///< another thread had posted
};

namespace detail {

struct budget {
    int units = fairness::units_least;
    int used = 0; ///< units granted before those in `units`

    void fill() noexcept {
        units = fairness::units_least;
        used = 0;
    }
    bool take() noexcept { return --units >= 0; }
};

} // namespace detail
} // namespace fairlead
