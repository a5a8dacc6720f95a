// The time of a simulated world, and the queue of the events that are to happen in it.
#pragma once

#include <fairlead/base/saturated.hpp>
#include <fairlead/io/driver.hpp>
#include <fairlead/sim/random.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fairlead::sim {

/// The events of an endpoint, each scheduled at most once at a time; and other events.
enum class event_kind : std::uint8_t {
    arrive,      ///< the next segment, or the end of the stream
    serve_read,  ///< the queue of readers is looked at
    serve_write, ///< … of writers
    connect,     ///< an attempt reaches the other side
    reset,       ///< the peer's reset arrives
    unanswered,  ///< what was sent to nobody is answered, or not
    acknowledge, ///< an acknowledgement got lost, it is asked for again
    abort,       ///< a late cancellation takes effect
    probe,       ///< SO_KEEPALIVE: is the other side still there?
    look_up,
    datagram,
    action,
};
inline constexpr std::size_t event_kinds_of_endpoint = 9;

struct event {
    std::int64_t at;
    std::uint64_t order; ///< random, then the number of the event: ties are decided by the seed
    std::uint32_t index;
    std::uint32_t generation;
    event_kind kind;
    bool later_than(event const& o) const noexcept { return at != o.at ? at > o.at : order > o.order; }
};

class timeline {
public:
    static constexpr std::int64_t beginning_ns = 1'000'000'000;
    static constexpr std::int64_t never_ns =
        4'000'000'000'000'000'000; ///< deadlines beyond it, in 126 years, do not come

    explicit timeline(std::uint64_t seed) noexcept : scheduling_(seed, 1) {}

    /// A time that is never, or later, is never.
    static std::int64_t later(std::int64_t at_ns, std::chrono::nanoseconds by) noexcept {
        return std::min(fairlead::impl::base::sum(std::chrono::nanoseconds(at_ns), by).count(), never_ns);
    }

    std::int64_t now_ns() const noexcept { return now_; }
    void pass(std::int64_t ns) noexcept { now_ += ns; }
    void jump(std::int64_t to_ns) noexcept { now_ = std::max(now_, to_ns); }

    // ---- chance, as far as it is about the order of things
    std::uint32_t below(std::uint32_t n) noexcept { return scheduling_.below(n); }
    std::uint32_t pick(std::uint32_t n) noexcept { return n < 2 ? 0 : below(n); }
    /// Costs of a turn.
    std::int64_t turn_time() noexcept { return 500 + below(2'000); }

    // ---- events

    /// So many events more, or fewer, may be pushed than before at any time.
    void promise(std::size_t n) noexcept { promised_ += n; }
    void take_back(std::size_t n) noexcept { promised_ -= n; }
    /// For those, for the next endpoint and for what one call may push besides. False: no memory.
    bool make_space() noexcept;
    /// There is space: it was promised and made.
    void push(std::int64_t at, event_kind k, io::handle h) noexcept;

    bool has_events() const noexcept { return !events_.empty(); }
    /// When the next event is due; never_ns: none.
    std::int64_t next_event_ns() const noexcept { return events_.empty() ? never_ns : events_.front().at; }
    bool is_due() const noexcept { return !events_.empty() && events_.front().at <= now_; }
    event take() noexcept;

    // ---- a bound, so that a world that gets nowhere ends

    /// False: the limit is exceeded.
    bool step() noexcept { return ++steps <= steps_most; }
    std::uint64_t steps = 0;
    std::uint64_t steps_most = 20'000'000;

private:
    static bool is_later(event const& a, event const& b) noexcept { return a.later_than(b); }

    std::int64_t now_ = beginning_ns;
    random_stream scheduling_;
    std::vector<event> events_; // a heap
    std::size_t promised_ = 0;
    std::uint32_t event_count_ = 0;
};

} // namespace fairlead::sim
