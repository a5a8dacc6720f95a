// The options that SCAN and its kin for collections have in common.
#pragma once

#include <redis_server/call.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace fairlead::redis::server_impl {

struct scan_options {
    std::string_view pattern = "*";
    std::string type; // lower case; of SCAN alone
};

/// Reads the cursor at args[i] and the options behind it.
bool read_scan_options(call& c, std::size_t i, bool has_type, scan_options& options);

/// The reply of one step: everything at once, so the cursor is 0. Nothing can be missed or come twice.
inline void begin_scan_reply(call& c, std::size_t elements) {
    c.array(2);
    c.bulk("0");
    c.array(elements);
}

} // namespace fairlead::redis::server_impl
