// The options and the steps that SCAN and its kin for collections have in common.
#pragma once

#include <redis_server/call.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::redis::server_impl {

struct scan_options {
    std::uint64_t cursor = 0;
    std::optional<std::size_t> count;
    std::string_view pattern = "*";
    std::string type; // lower case; of SCAN alone
};

/// Reads the cursor at args[i] and the options behind it.
bool read_scan_options(call& c, std::size_t i, bool has_type, scan_options& options);

/// One step through elements of these names.
struct scan_step {
    std::vector<std::size_t> chosen; // indices of the names
    std::uint64_t next = 0;          // the cursor of the next step
};

/// Without COUNT everything at once. With it, about so many in the order of a hash, of which the cursor is one. So a
/// name that stays comes once, whatever is added or removed between the steps.
scan_step choose_step(std::vector<std::string_view> const& names, scan_options const& options);

/// The reply's cursor, and the header of its elements.
inline void begin_scan_reply(call& c, scan_step const& step, std::size_t elements) {
    c.array(2);
    c.bulk(std::to_string(step.next));
    c.array(elements);
}

} // namespace fairlead::redis::server_impl
