// The buffers of an operation, whichever of its forms they have.
#pragma once

#include <fairlead/base/error.hpp>
#include <fairlead/io/driver.hpp>

#include <algorithm>
#include <cstddef>

namespace fairlead::sim {

inline constexpr int eof_value = -static_cast<int>(error::eof);

inline std::size_t total_of(io::io_op const& o) noexcept {
    if (!o.slices)
        return o.size;
    std::size_t total = 0;
    auto const* s = static_cast<io::slice const*>(o.data);
    for (std::size_t i = 0; i != o.size; ++i)
        total += s[i].size;
    return total;
}

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

/// Drops the first n bytes of what an …_all op still has to move.
inline void advance(io::io_op& o, std::size_t n) noexcept {
    if (!o.slices) {
        o.data = static_cast<std::byte*>(o.data) + n;
        o.size -= n;
        return;
    }
    auto* s = static_cast<io::slice*>(o.data);
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

inline bool moves_all(io::kind k) noexcept { return k == io::kind::receive_all || k == io::kind::send_all; }

inline bool done(io::io_op& o, int error) noexcept {
    o.result.error = error;
    if (!moves_all(o.kind))
        o.result.n = 0;
    return true;
}

} // namespace fairlead::sim
