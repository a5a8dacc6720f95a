// The bytes that an op moves, whichever form its buffers have. For drivers.
#pragma once

#include <fairlead/io/io_op.hpp>

#include <cstddef>

namespace fairlead::io {

/// The bytes that an op still has to move. Of slices only the first `slices_max` count.
inline std::size_t total_of(io_op const& o, std::size_t slices_max = ~std::size_t{0}) noexcept {
    if (!o.slices)
        return o.size;
    std::size_t total = 0;
    auto const* s = static_cast<slice const*>(o.data);
    for (std::size_t i = 0; i != o.size && i != slices_max; ++i)
        total += s[i].size;
    return total;
}

/// Drops the first n bytes of those that an …_all op still has to move.
inline void advance(io_op& o, std::size_t n) noexcept {
    if (!o.slices) {
        o.data = static_cast<std::byte*>(o.data) + n;
        o.size -= n;
        return;
    }
    auto* s = static_cast<slice*>(o.data);
    while (o.size && n >= s->size) {
        n -= s->size;
        ++s;
        --o.size;
    }
    if (n) {
        s->base = static_cast<std::byte*>(s->base) + n;
        s->size -= n;
    }
    o.data = s;
}

/// Whether it is a transfer with buffers that are empty. On a stream that is done at once. On a datagram socket it
/// moves an empty datagram, or the sender's address alone, and waits as any other.
inline bool moves_nothing(io_op const& o) noexcept {
    if (o.kind != kind::receive && o.kind != kind::receive_all && o.kind != kind::send && o.kind != kind::send_all)
        return false;
    if (!o.slices)
        return o.size == 0;
    auto const* s = static_cast<slice const*>(o.data);
    for (std::size_t i = 0; i != o.size; ++i)
        if (s[i].size != 0)
            return false;
    return true;
}

} // namespace fairlead::io
