// The buffers of an operation, whichever of its forms they have.
#pragma once

#include "name.hpp"

#include <fairlead/base/error.hpp>
#include <fairlead/io/transfer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

namespace fairlead::sim {

inline constexpr int eof_value = -static_cast<int>(error::eof);

/// Calls f(data, size) for the pieces of the op's first n bytes.
template <class F> void for_each_piece(io::io_op const& o, std::size_t n, F f) noexcept {
    if (!o.slices)
        return f(o.data, n);
    for (auto const* s = static_cast<io::slice const*>(o.data); n != 0; ++s) {
        auto const here = std::min(n, s->size);
        f(s->base, here);
        n -= here;
    }
}

/// The op's first `size` bytes in one piece. False: no memory.
inline bool gather(io::io_op const& o, std::size_t size, std::vector<std::byte>& into) noexcept {
    try {
        into.resize(size);
    } catch (...) {
        return false;
    }
    std::byte* to = into.data();
    for_each_piece(o, size, [&](void const* from, std::size_t n) {
        if (n != 0)
            std::memcpy(to, from, n);
        to += n;
    });
    return true;
}
/// Puts as many of the bytes into the op's buffers as these hold; returns their number.
inline std::size_t scatter(std::vector<std::byte> const& bytes, io::io_op const& o) noexcept {
    auto const n = std::min(io::total_of(o), bytes.size());
    std::byte const* from = bytes.data();
    for_each_piece(o, n, [&](void* to, std::size_t size) {
        if (size != 0)
            std::memcpy(to, from, size);
        from += size;
    });
    return n;
}

/// Tells the op where its datagram came from, if it asks.
inline void tell_sender(name const& from, io::io_op& o) noexcept {
    if (o.kind != io::kind::receive_from)
        return;
    auto& with_address = static_cast<io::datagram_op&>(o);
    if (with_address.address)
        std::memcpy(with_address.address, from.bytes, std::min(with_address.address_size, from.size));
    with_address.address_size = from.size;
}

inline bool moves_all(io::kind k) noexcept { return k == io::kind::receive_all || k == io::kind::send_all; }

/// Also forgets that the op was to be aborted.
inline bool done(io::io_op& o, int error) noexcept {
    o.result.error = error;
    o.result.flags = 0;
    if (!moves_all(o.kind))
        o.result.n = 0;
    return true;
}

} // namespace fairlead::sim
