// The inside of a host: its context, its name, and whether it runs.
#pragma once

#include "clock.hpp"
#include "signals.hpp"

#include <fairlead/net/address.hpp>
#include <fairlead/sim/host.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace fairlead::sim {

class network;

/// A host's memory of a look-up.
struct remembered_name {
    std::string name;
    std::int64_t until_ns;
    std::vector<ip::address> addresses;
};

/// The functions of a host.
enum class deed : std::uint8_t { kill, crash, restart, pause, resume };

struct host_state {
    host_state(network& n, std::uint32_t number, std::string_view called, impl::starter program, bool serves_others);
    ~host_state();

    bool may_run(std::int64_t now_ns) const noexcept { return is_up && !is_paused && starved_until_ns <= now_ns; }

    network& net;
    sim::host face;
    std::uint32_t id;
    std::string name;
    ip::address_v4 v4;
    ip::address_v6 v6;
    impl::starter start;
    std::function<void(deed)> act; ///< the world's
    bool serves;                   ///< the world does not wait for it
    bool is_up = true;
    bool is_paused = false;
    bool is_done = true;
    std::uint64_t boot = 0; ///< what an earlier process says is not listened to
    std::int64_t starved_until_ns = 0;
    host_clock clock;
    std::size_t descriptors = 0;
    std::size_t descriptors_most = static_cast<std::size_t>(-1);
    std::size_t pending = 0; ///< ops
    std::vector<remembered_name> names;
    sim::disk disk;
    host_signals signals;
    io_context context; // The last: it goes first.
};

} // namespace fairlead::sim
