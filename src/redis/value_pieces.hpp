// Requests for values that pass in pieces: how they begin, and how their pieces are asked for.
#pragma once

#include <fairlead/redis/request.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fairlead::redis::impl {

/// At most so much of a value is copied for one write.
inline constexpr std::size_t piece_bytes_max = std::size_t{64} * 1024;

/// Of an exec_op that asks for memory to be filled, or for bytes to be sent. Its `object` is the memory. Its `count` is
/// the size of that, then the bytes of the piece.
request const& request_for_piece(piecewise kind);

} // namespace fairlead::redis::impl
