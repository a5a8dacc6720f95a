// All that a client counts, and its text for Prometheus.
#pragma once

#include <fairlead/redis/call_statistics.hpp>
#include <fairlead/redis/client_options.hpp>
#include <fairlead/redis/connection.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::redis {

/// The numbers of a client at one time: client::statistics().
struct client_statistics {
    client_counters events{};
    connection_counters traffic{};
    std::size_t pending = 0;
    bool is_ready = false;
    std::vector<command_statistics> commands{}; ///< Empty without client_options::statistics.
};

/// The numbers of one of several clients, and its name in their text.
struct named_statistics {
    std::string_view client; ///< The value of the label "client"; any text.
    client_statistics const* numbers;
};

/// In the text format of Prometheus, version 0.0.4, with names that begin with fairlead_redis_. A histogram has
/// the buckets up to the first that has all of its calls, and +Inf.
FAIRLEAD_EXPORT std::string to_prometheus(client_statistics const& numbers);
/// Of several clients, which the label "client" tells apart.
FAIRLEAD_EXPORT std::string to_prometheus(std::span<named_statistics const> clients);

} // namespace fairlead::redis
