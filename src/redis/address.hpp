// The address of a server as settings write it: "host", "host:port", "[::1]:port", "unix:path".
#pragma once

#include <fairlead/base/error.hpp>

#include <string_view>

namespace fairlead::redis::impl {

/// config::address, taken apart. Views the text it was made from.
struct server_address {
    std::string_view host; ///< or the path of a UNIX socket
    std::string_view port;
    bool is_unix = false;
};
/// Errors  error::invalid_address
error_code parse_address(std::string_view text, server_address& address) noexcept;

} // namespace fairlead::redis::impl
