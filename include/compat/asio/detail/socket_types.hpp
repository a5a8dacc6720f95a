#pragma once

#include <asio/fairlead.hpp>

#include <climits>

namespace fairlead::detail {

using socket_type = int;
inline constexpr socket_type invalid_socket = -1;
inline constexpr int max_iov_len = IOV_MAX; // by which programs size the lists of buffers that they gather

} // namespace fairlead::detail
