// The hosts of a simulated network, and the ways between them: how long bytes take, and whether they pass at all.
#pragma once

#include "endpoint.hpp"
#include "faults.hpp"
#include "host_state.hpp"
#include "timeline.hpp"
#include "trace.hpp"

#include <fairlead/sim/link.hpp>
#include <fairlead/sim/random.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fairlead::sim {

class links {
public:
    /// These outlive it.
    links(std::uint64_t seed, sim::faults& f, timeline const& time, sim::trace& t);

    void join(host_state& m);
    /// Where a name leads from a host, or null. "any" becomes loopback, as the kernel has it.
    host_state* route(host_state& from, name& n, int& error) noexcept;

    void set(host_state& from, host_state& to, link_options const& o) noexcept;
    void cut(host_state& from, host_state& to, bool is_cut) noexcept;
    void heal() noexcept;
    std::string describe() const;

    bool is_cut(host_state const& from, host_state const& to) noexcept { return way(from, to).is_cut; }
    bool passes(host_state const& from, host_state const& to) noexcept {
        return from.is_up && to.is_up && !is_cut(from, to);
    }
    /// How long so many bytes take.
    std::int64_t travel(host_state const& from, host_state const& to, std::size_t bytes) noexcept;
    std::int64_t local_delay() noexcept;

private:
    struct link {
        link_options options;
        bool is_cut = false;
        std::int64_t free_ns = 0; ///< when what is being sent has left
    };
    link& way(host_state const& from, host_state const& to) noexcept { return links_[from.id * hosts_.size() + to.id]; }

    sim::faults& faults_;
    timeline const& time_;
    sim::trace& trace_;
    random_stream delays_;
    std::uint32_t local_delay_ns_ = 0;
    link_options usual_link_;
    std::vector<host_state*> hosts_; // by id
    std::vector<link> links_;        // from x to
};

} // namespace fairlead::sim
