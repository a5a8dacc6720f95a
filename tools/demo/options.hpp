// The command line of the demonstration.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace demo {

enum class command : unsigned char { set, get, incr, mget, hgetall };
inline constexpr std::size_t command_count = 5;
inline constexpr std::array<char const*, command_count> command_names{"set", "get", "incr", "mget", "hgetall"};

struct options {
    std::string server; ///< empty: start a redis-server
    std::uint64_t callers = 1000;
    std::uint64_t commands = 1'000'000;
    std::array<unsigned, command_count> mix{3, 4, 1, 1, 1};
    std::string json;
    std::string plot;
    bool papers = true;
    std::uint64_t echo_messages = 2000;
};

/// False: print `message` and end with `status`.
bool parse(int argc, char** argv, options& o, std::string& message, int& status);

} // namespace demo
