// The bytes that an async_op has for the initiation in it. A larger one lies in a block.
#pragma once

namespace fairlead::impl::operation {

using byte_count = decltype(sizeof(int)); // without <cstddef>, which adapters of tokens do not include

inline constexpr byte_count initiation_storage = 40;
/// As much where a token has more to keep: a time limit, a slot, a stop token, or two of these. The token alone says
/// so, whatever the operation is. So the type of the async_op says nothing of the operation either (P0162R0 §5.4).
inline constexpr byte_count extended_storage = 64;

template <class Init> consteval byte_count storage_for() {
    if constexpr (requires { Init::async_op_storage; })
        return Init::async_op_storage;
    else
        return initiation_storage;
}

} // namespace fairlead::impl::operation
