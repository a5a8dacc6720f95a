// When a descriptor is checked although no event says anything about it. No I/O; decision 020 has the reasons.
//
// A parked read of a descriptor in doubt stands in a list, until an event takes it off. In strong doubt it gets its
// check after three turns, or when the loop is about to sleep. Among many sockets in turn, three turns pass before the
// next event. There a turn checks a few, and more of them only as long as that is worth it. In slight doubt it gets its
// check after a moment of sleep without any event, or after many turns without one from it.
//
// A reactor is given as a port, which has
//   int look(std::int64_t until_ns)          waits for events, and performs what they are about; returns how many came
//   auto lists()                             guards the lists against other threads while it lives
//   auto hold(readiness&)                    guards one descriptor
//   bool is_read_waited_for(readiness&)      does an op wait at its read side?
//   bool run_reads(readiness&)               tries these; returns whether one has completed
//   std::int64_t now_ns()
//   static constexpr bool has_helpers        other threads are at work, too
#pragma once

#include <io/readiness.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace fairlead::io {

class late_checks {
public:
    static constexpr unsigned strong_after_turns = 3;
    static constexpr unsigned slight_after_turns = 1000;
    static constexpr std::size_t least_in_turn = 4; // while others have news: a system call in vain for each
    static constexpr std::size_t most_in_turn = 256;
    static constexpr std::int64_t for_a_moment = std::numeric_limits<std::int64_t>::min(); // to look(): moment_ns
    static constexpr std::int64_t moment_ns = 1'000'000;                                   // asleep, before it doubts
    static constexpr std::int64_t moment_with_helpers_ns = 50'000;

    late_checks() noexcept {
        strong_.next = strong_.prev = &strong_;
        slight_.next = slight_.prev = &slight_;
    }
    late_checks(late_checks const&) = delete;
    late_checks& operator=(late_checks const&) = delete;

    std::uint64_t count() const noexcept { return count_; }
    void count_turn() noexcept { ++turn_; }

    /// A read has been parked. True: nothing else stands in its list. The lists are guarded by the caller, here and in
    /// remove().
    bool add(readiness& r) noexcept {
        remove(r); // to the back: its turns count from now
        r.parked_turn_ = turn_;
        auto& list = r.doubts() == doubt::slight ? slight_ : strong_;
        append(list, r);
        return list.next == &r;
    }
    static void remove(readiness& r) noexcept {
        if (!r.is_listed())
            return;
        r.prev->next = r.next;
        r.next->prev = r.prev;
        r.next = r.prev = nullptr;
    }

    /// One look at the world, in which descriptors in doubt get their checks. `until_ns` is that of reactor::poll().
    template <class Port> void poll(Port& port, std::int64_t until_ns) noexcept {
        bool const may_sleep = until_ns != 0;
        if (is_any_in(port, strong_)) {
            // Of whichever: others must not keep these waiting. Where other threads are at work, their peers' answers
            // are on the way.
            bool const is_quiet = port.look(Port::has_helpers && may_sleep ? in_a_moment(port, until_ns) : 0) <= 0;
            bool const about_to_sleep = is_quiet && may_sleep;
            bool any = about_to_sleep ? check_all(port, strong_) : check_overdue(port);
            if (is_any_in(port, slight_)) [[unlikely]]
                any = check_long_doubted(port) || any;
            if (any || !about_to_sleep)
                return;
        }
        if (is_any_in(port, slight_)) {
            if (check_long_doubted(port)) {
                port.look(0);
                return;
            }
            if (may_sleep) {
                bool const for_long = until_ns < 0 || until_ns - port.now_ns() > moment_ns;
                if (port.look(for_long ? for_a_moment : until_ns) == 0)
                    check_all(port, slight_);
                return;
            }
        }
        port.look(until_ns);
    }

private:
    static constexpr std::size_t all = std::numeric_limits<std::size_t>::max();

    template <class Port> static std::int64_t in_a_moment(Port& port, std::int64_t until_ns) noexcept {
        auto const moment = port.now_ns() + moment_with_helpers_ns;
        return until_ns < 0 ? moment : std::min(until_ns, moment);
    }
    template <class Port>
    FAIRLEAD_ALWAYS_INLINE static bool is_any_in(Port& port, readiness_link const& list) noexcept {
        auto const only = port.lists();
        return list.next != &list;
    }
    /// The list is in the order of parking.
    bool is_due(readiness_link const& list, unsigned turns) const noexcept {
        return list.next != &list && turn_ - static_cast<readiness const&>(*list.next).parked_turn_ >= turns;
    }
    template <class Port> bool is_any_due(Port& port, readiness_link const& list, unsigned turns) noexcept {
        auto const only = port.lists();
        return is_due(list, turns);
    }
    /// Takes it off its list, too.
    template <class Port> readiness* first_due(Port& port, readiness_link& list, unsigned turns) noexcept {
        auto const only = port.lists();
        if (!is_due(list, turns))
            return nullptr;
        auto& r = static_cast<readiness&>(*list.next);
        remove(r);
        return &r;
    }

    template <class Port> bool check_all(Port& port, readiness_link& list) noexcept {
        return check(port, list, 0, all) != 0;
    }
    template <class Port> bool check_long_doubted(Port& port) noexcept {
        return is_any_due(port, slight_, slight_after_turns) && check_those_long_doubted(port);
    }
    template <class Port> FAIRLEAD_COLD bool check_those_long_doubted(Port& port) noexcept {
        return check(port, slight_, slight_after_turns, all) != 0;
    }
    /// Twice as many in the next turn when half of them had something, half as many when fewer had.
    template <class Port> bool check_overdue(Port& port) noexcept {
        if (!is_any_due(port, strong_, strong_after_turns)) [[likely]]
            return false;
        auto const before = count_;
        auto const found = check(port, strong_, strong_after_turns, in_turn_);
        auto const tried = count_ - before;
        if (2 * found < tried)
            in_turn_ = std::max(in_turn_ / 2, least_in_turn);
        else if (tried == in_turn_)
            in_turn_ = std::min(2 * in_turn_, most_in_turn);
        return found != 0;
    }
    /// Tries those of `list` that have stood there for so many turns. Returns for how many something completed.
    template <class Port>
    std::size_t check(Port& port, readiness_link& list, unsigned turns, std::size_t most) noexcept {
        std::size_t found = 0;
        readiness_link kept;
        kept.next = kept.prev = &kept;
        for (std::size_t tried = 0; tried != most; ++tried) {
            readiness* const first = first_due(port, list, turns);
            if (!first)
                break;
            auto const only = port.hold(*first);
            if (!port.is_read_waited_for(*first)) // Another thread has been here.
                continue;
            ++count_;
            first->begin_check();
            found += port.run_reads(*first);
            if (first->doubts() != doubt::none &&
                port.is_read_waited_for(*first)) { // One was served, more are waiting.
                auto const lists = port.lists();
                remove(*first);
                append(kept, *first);
            }
        }
        auto const lists = port.lists();
        while (kept.next != &kept)
            add(static_cast<readiness&>(*kept.next));
        return found;
    }
    static void append(readiness_link& to, readiness& r) noexcept {
        auto* const last = to.prev;
        r.next = &to;
        last->next = &r;
        r.prev = last;
        to.prev = &r;
    }

    unsigned turn_ = 0;
    std::uint64_t count_ = 0;
    std::size_t in_turn_ = least_in_turn;
    readiness_link strong_;
    readiness_link slight_;
};

} // namespace fairlead::io
