// null_buffers: in the place of buffers, for operations that wait until bytes can be moved and move none.
#pragma once

#include <fairlead/base/buffer.hpp>

namespace fairlead {

/// Makes an operation of a socket, a pipe or a descriptor wait until it could go on, and leave it at that: it completes
/// with 0 bytes, and what has arrived is still there. A receive with message_out_of_band waits for out-of-band data;
/// one that tells who sent what, or with which flags, tells nothing. For whatever else takes buffers it is a sequence
/// of none. async_wait() and wait() say the same in plainer words; this is for programs from before there were any.
class null_buffers {
public:
    using value_type = mutable_buffer;
    using const_iterator = mutable_buffer const*;

    constexpr const_iterator begin() const noexcept { return nullptr; }
    constexpr const_iterator end() const noexcept { return nullptr; }
};

namespace detail {

template <class Buffers> inline constexpr bool is_null_buffers = std::same_as<Buffers, null_buffers>;

} // namespace detail
} // namespace fairlead
