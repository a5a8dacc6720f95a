// A reply of the server as a tree, and its text.
#pragma once

#include <fairlead/resp3/node.hpp>

#include <array>
#include <string>
#include <vector>

namespace cli {

using kind = fairlead::resp3::type;

struct reply {
    kind what = kind::null;
    std::string text{};              // of a scalar
    std::vector<reply> children{};   // of a map: keys and values in turn
    std::vector<reply> attributes{}; // names and values in turn
};

/// A node with a text of its own.
struct owned_node {
    kind what;
    std::string text;
    std::uint64_t size;
};
/// Of one message, whose nodes are complete.
reply tree_of(std::vector<owned_node>& nodes);

/// How replies are written.
enum class form : unsigned char {
    standard, ///< for people: numbered elements, quoted texts
    raw,      ///< the texts alone, a line for each element
    json,
};

/// With the end of its line.
std::string shown(reply const& r, form how);

bool is_error(reply const& r) noexcept;

} // namespace cli
