// When may an operation that is ready complete at once, without going through the loop?
//
// A coroutine that reads from a socket which always has data would never give way. Every await is ready, so it never
// suspends, and timers and other sockets starve. Searching a buffer that always matches is such a case, too. Hence an
// item that the loop dequeues (a handler, a resumed coroutine) has a budget. Each immediate completion takes one unit.
// An item gets 128 units or about 200 microseconds, whichever ends first, but never fewer than 16 units while items are
// short, and never none. Out of budget, the next operation does not try. The coroutine is suspended *before* the side
// effect and put at the end of the run queue.
//
// The hot test is one decrement and one branch. The clock is looked at after 16, 32 and 64 units only, and once a
// batch. After long items it is looked at from the first unit on, and after each item (pace.hpp). The budget is filled
// only when the loop dequeues an item. Coroutines that the item resumes inherit the rest.
//
// Such a look takes as long as ten messages through a channel. Once units have turned out to be quick, the next seven
// items of the batch get their 128 units without a look. So the unforeseen stays what it is. After short units
// 1,024 long ones may come in a row: 16 in each of 64 items, or 128 in each of eight.
#pragma once

#include <fairlead/base/config.hpp>

#include <cstdint>

namespace fairlead {

/// The published figures of the fairness rule.
struct fairness {
    static constexpr int units_least = 16; ///< an item's units that no deadline cuts while items are short
    static constexpr int units_most = 128; ///< an item's units at the most
    static constexpr std::int64_t slice_ns = 200'000;
    static constexpr unsigned quick_items = 7; ///< get them all without a look, after an item whose units were quick
    static constexpr std::int64_t quick_unit_ns = slice_ns / 16 / units_most; ///< 97, the longest that is quick
    static constexpr unsigned inline_depth_most = 16; ///< of handlers with an immediate executor, one inside the other
    static constexpr unsigned batch_items = 64;       ///< items between two looks at the inbox and the clock, at most
    static constexpr unsigned items_of_share = 16;    ///< items that one of several threads takes of a loop at a time
    static constexpr unsigned batches_per_poll = 61;  ///< batches between two polls of the driver, if time does not
};

/// How often an item gave way although its next operation might have been ready, by cause.
struct yield_counters {
    std::uint64_t budget;   ///< 128 units were used
    std::uint64_t deadline; ///< the slice was over
    std::uint64_t remote;   ///< another thread had posted
};

namespace impl::exec {

/// The budget of the thread until it looks at the clock, or gives way.
struct budget {
    int units = fairness::units_least;
    int granted = fairness::units_least; ///< to the item so far, with those in `units`
    int first = fairness::units_least;   ///< what each item of the batch is granted without a look at the clock
    int last = 0;                        ///< units that were granted at the last look
    unsigned items = 1;                  ///< of the batch; the functions of a strand count, too
    unsigned functions = 0;              ///< of strands, beyond the first of each turn, that have taken their items;
                                         ///< items that are no handlers count, too
    unsigned quick = 0;                  ///< items of the batch that get all their units without a look
    unsigned given_up = 0;               ///< items that were left when one ran to the end of the slice
    std::int64_t slice_end_ns = 0;       ///< 0: nobody has looked at the clock yet
    std::int64_t looked_ns = 0;          ///< when the item last did

    void fill(int n) noexcept {
        units = n;
        granted = n == 0 ? 1 : n; // what is granted next is as much again
    }
    bool take() noexcept {
        // Unsigned: else clang compares the old number, which it then keeps beside the new one.
        units = static_cast<int>(static_cast<unsigned>(units) - 1);
        return units >= 0;
    }
    /// A unit that was taken and not used.
    void give_back() noexcept { ++units; }
    /// Until the next item is dequeued.
    void exhaust() noexcept {
        units = 0;
        granted = fairness::units_most;
    }
    /// Grants all units at the first look of a quick item, and takes one of them. False: the clock decides.
    bool grant_all_if_quick() noexcept {
        if (quick == 0 || granted > first)
            return false;
        --quick;
        units = fairness::units_most - granted - 1;
        granted = fairness::units_most;
        return true;
    }
    /// Grants one unit, and takes it. False: the item has had some.
    bool grant_first() noexcept;
    /// Grants twice as many units as the last time, or at first as many as the item had. It grants fewer if these would
    /// not fit into the slice at the pace of the last ones. Takes one of them.
    void grant_more(std::int64_t now) noexcept;
    /// After the current item the clock is looked at.
    void end_slice() noexcept {
        given_up += items;
        items = 0;
    }
    /// May the item go on as another one would, as a strand does with its next function?
    bool take_item() noexcept {
        if (items == 0)
            return false;
        --items;
        ++functions;
        return true;
    }
};

} // namespace impl::exec
} // namespace fairlead
