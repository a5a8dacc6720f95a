// How the client reads: an operation whose error is a value, for its end is part of every session.
#pragma once

#include <fairlead/base/buffer.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/token/adapters.hpp>

#include <cstddef>

namespace fairlead::redis::detail {

inline auto read_into(fairlead::detail::socket_core const& s, mutable_buffer b) {
    return completion_token_transform<void(error_code, std::size_t)>(
        as_tuple, fairlead::detail::transfer(s, io::kind::receive, b.data(), b.size()));
}

} // namespace fairlead::redis::detail
