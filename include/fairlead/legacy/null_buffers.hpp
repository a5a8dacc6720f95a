// null_buffers: in the place of buffers, for operations that wait until bytes can be moved and move none.
#pragma once

#include <fairlead/base/buffer.hpp>

namespace fairlead {

/// Makes an operation of a socket, a pipe or a descriptor only wait until it could go on. The operation completes with
/// 0 bytes, and data that has arrived is still there. A receive with message_out_of_band waits for out-of-band data. A
/// receive that reports a sender or flags reports nothing. For all other operations it is a sequence of no buffers. New
/// programs use async_wait() and wait(); this is for programs from before there were any.
class null_buffers {
public:
    using value_type = mutable_buffer;
    using const_iterator = mutable_buffer const*;
    using waits_only = void; ///< impl::base::waits_only asks for it

    constexpr const_iterator begin() const noexcept { return nullptr; }
    constexpr const_iterator end() const noexcept { return nullptr; }
};

} // namespace fairlead
