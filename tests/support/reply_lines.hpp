// Replies as lines of text, which a test compares.
#pragma once

#include <fairlead/redis/response.hpp>

#include <string>
#include <utility>
#include <vector>

namespace fairlead::test {

/// A line for each reply: "OK", "-ERR ...", "_" for null, "[2 a b" for an array.
inline std::vector<std::string> reply_lines(redis::generic_response const& replies) {
    std::vector<std::string> lines;
    bool begins = true;
    for (auto const& n : replies) {
        if (std::exchange(begins, n.last))
            lines.emplace_back();
        else
            lines.back() += ' ';
        auto& line = lines.back();
        if (resp3::is_aggregate(n.kind))
            line += '[' + std::to_string(n.size);
        else if (resp3::is_error(n.kind))
            line += '-';
        else if (n.kind == resp3::type::null)
            line += '_';
        line += n.value;
    }
    return lines;
}

} // namespace fairlead::test
