// The address of a server as settings write it: "host", "host:port", "[::1]:port", "unix:path".
#pragma once

#include <fairlead/base/error.hpp>
#include <fairlead/redis/connector.hpp>

#include <string_view>

namespace fairlead::redis::impl {

/// It views `text`.
/// Errors  error::invalid_address
error_code parse_address(std::string_view text, address_parts& address) noexcept;

} // namespace fairlead::redis::impl
