// Which refusals a client takes for an answer, and which for "not now".
#pragma once

#include <fairlead/base/durations.hpp>

#include <cstdint>

namespace fairlead::redis {

/// Repeats a request that the server has refused for a reason that passes. It was not executed, so that a repetition
/// executes nothing twice. Only requests of one command are repeated: of several, others may have been executed. They
/// go behind those that have come meanwhile. The limit of the call goes on.
struct retry_policy {
    std::uint8_t attempts_max = 5;           ///< Beside the first. The last refusal is the result. 0: each refusal is.
    std::chrono::milliseconds pause_min{50}; ///< Before the first one; it doubles while refusals go on,
    std::chrono::milliseconds pause_max{1000}; ///< up to that. A random part of up to a half is left out.

    bool loading = true;      ///< LOADING: the server reads its data.
    bool busy = true;         ///< BUSY: a script runs.
    bool master_down = true;  ///< MASTERDOWN: a replica waits for its master.
    bool cluster_down = true; ///< CLUSTERDOWN: slots have no master for now.
    bool try_again = true;    ///< TRYAGAIN: keys are on their way to another node.
    bool read_only = false;   ///< READONLY: a replica, which may be promoted soon.
};

} // namespace fairlead::redis
