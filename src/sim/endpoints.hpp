// The table of all sockets of a simulated network, and the names to which they are bound.
#pragma once

#include "endpoint.hpp"
#include "host_state.hpp"
#include "timeline.hpp"
#include "trace.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace fairlead::sim {

class endpoints {
public:
    /// These outlive it.
    endpoints(timeline& time, sim::trace& t) noexcept : time_(time), trace_(t) {}

    std::vector<std::unique_ptr<endpoint>> const& all() const noexcept { return endpoints_; }
    endpoint* find(io::handle h) noexcept;
    /// Null: no memory.
    endpoint* make(host_state& m, int family, int type) noexcept;
    /// The place becomes free; whoever was concerned has been told.
    void release(endpoint& e) noexcept;

    // ---- names; what returns an int returns 0 or an errno value
    int bind(endpoint& e, void const* address, std::size_t size) noexcept;
    int listen(endpoint& e, int backlog) noexcept;
    int assign_port(endpoint& e) noexcept;
    /// The socket of `m` that is reached under this name: the one bound to exactly it, or one bound to any address.
    endpoint* bound_at(host_state const& m, name const& n, int type, bool listening) noexcept;
    /// The socket of `m` that hears a UDP datagram to `n`.
    endpoint* receiver_at(host_state const& m, name const& n, name const& from) noexcept;

private:
    bool is_taken(endpoint const& e, name const& n) const noexcept;
    void note(endpoint const& e, what w, std::uint64_t b = 0) noexcept {
        trace_.note(time_.now_ns(), e.owner->id, w, e.index, b);
    }

    timeline& time_;
    sim::trace& trace_;
    std::vector<std::unique_ptr<endpoint>> endpoints_;
    std::vector<std::uint32_t> free_;
    std::uint16_t next_port_ = 32768;
};

} // namespace fairlead::sim
