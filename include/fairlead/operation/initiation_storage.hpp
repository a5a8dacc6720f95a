// The bytes that an async_op has for the initiation in it. A larger one lies in a block.
#pragma once

#include <cstddef>

namespace fairlead::impl::operation {

inline constexpr std::size_t initiation_storage = 40;
/// As much where a token has more to keep: a time limit, a slot, a stop token, or two of these. The token alone says
/// so, whatever the operation is. So the type of the async_op says nothing of the operation either (P0162R0 §5.4).
inline constexpr std::size_t extended_storage = 64;

template <class Init> consteval std::size_t storage_for() {
    if constexpr (requires { Init::storage; })
        return Init::storage;
    else
        return initiation_storage;
}

} // namespace fairlead::impl::operation
