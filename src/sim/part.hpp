// The state that the parts of the simulated network share, and the words in which each of them speaks of it.
#pragma once

#include "endpoints.hpp"
#include "faults.hpp"
#include "links.hpp"
#include "timeline.hpp"
#include "trace.hpp"

#include <fairlead/sim/world.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fairlead::sim {

/// A segment that got lost is sent again after this time: RFC 6298 says a second, Linux 200 ms.
inline constexpr std::int64_t retransmission_ns = 200'000'000;

struct shared_state {
    shared_state(std::uint64_t seed, std::string_view settings)
        : trace(seed),
          faults(seed, settings, counts),
          time(seed),
          links(seed, faults, time, trace),
          endpoints(time, trace) {}

    sim::trace trace;
    sim::counters counts{};
    sim::faults faults;
    timeline time;
    sim::links links;
    sim::endpoints endpoints;
};

/// One concern of the network, with state of its own or none.
class part {
protected:
    explicit part(shared_state& s) noexcept
        : faults_(s.faults),
          counts_(s.counts),
          time_(s.time),
          links_(s.links),
          endpoints_(s.endpoints),
          trace_(s.trace) {}
    part(part const&) = delete;
    part& operator=(part const&) = delete;
    ~part() = default;

    std::int64_t now() const noexcept { return time_.now_ns(); }
    void note(host_state const* m, what w, std::uint64_t a, std::uint64_t b = 0) noexcept {
        trace_.note(now(), m ? m->id : 0, w, a, b);
    }
    void note(endpoint const& e, what w, std::uint64_t b = 0) noexcept { note(e.owner, w, e.index, b); }

    endpoint* find(io::handle h) noexcept { return endpoints_.find(h); }
    void schedule(endpoint& e, event_kind k, std::int64_t at) noexcept {
        auto const bit = static_cast<std::uint16_t>(1U << static_cast<unsigned>(k));
        if (e.scheduled & bit)
            return;
        e.scheduled |= bit;
        time_.push(at, k, e.handle());
    }
    void serve_soon(endpoint& e, bool write) noexcept {
        schedule(e, write ? event_kind::serve_write : event_kind::serve_read, now() + links_.local_delay());
    }

    bool passes(host_state const& from, host_state const& to) noexcept { return links_.passes(from, to); }
    bool passes_both_ways(endpoint const& e) noexcept { return passes(*e.owner, *e.far) && passes(*e.far, *e.owner); }
    std::int64_t to_peer(endpoint& e, std::size_t bytes = 0) noexcept { return links_.travel(*e.owner, *e.far, bytes); }
    std::int64_t from_peer(endpoint& e) noexcept { return links_.travel(*e.far, *e.owner, 0); }

    sim::faults& faults_;
    sim::counters& counts_;
    timeline& time_;
    sim::links& links_;
    sim::endpoints& endpoints_;

private:
    sim::trace& trace_;
};

} // namespace fairlead::sim
