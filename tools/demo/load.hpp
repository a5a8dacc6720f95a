// The first part: many callers, one connection.
#pragma once

#include "histogram.hpp"
#include "options.hpp"

#include <cstdint>
#include <string>

namespace demo {

struct figures {
    std::string server;
    std::uint64_t callers = 0;
    std::uint64_t commands = 0;
    double seconds = 0;
    histogram latency; ///< from issuing a command to having its checked reply
    std::uint64_t requests_written = 0;
    std::uint64_t writes = 0;
    // From the end of the warm-up (the first tenth) on:
    std::uint64_t measured_commands = 0;
    std::uint64_t system_calls = 0;
    std::uint64_t allocations = 0;
    std::uint64_t yields_budget = 0;
    std::uint64_t yields_deadline = 0;
    std::uint64_t yields_remote = 0;
    std::uint64_t pushes_sent = 0;
    std::uint64_t pushes_received = 0;
    std::uint64_t pushes_out_of_order = 0;
    std::uint64_t wrong_replies = 0;
    std::string failure; ///< what ended the run early; empty when nothing did

    bool good() const noexcept {
        return failure.empty() && wrong_replies == 0 && pushes_out_of_order == 0 && pushes_sent == pushes_received;
    }
};

/// Runs the load against the server at `address` ("host:port" or "unix:/path").
void run_load(options const& o, std::string const& address, figures& f);

} // namespace demo
