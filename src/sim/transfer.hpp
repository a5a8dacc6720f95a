// The buffers of an operation, whichever of its forms they have.
#pragma once

#include <fairlead/base/error.hpp>
#include <fairlead/io/transfer.hpp>

#include <algorithm>
#include <cstddef>

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

inline bool moves_all(io::kind k) noexcept { return k == io::kind::receive_all || k == io::kind::send_all; }

inline bool done(io::io_op& o, int error) noexcept {
    o.result.error = error;
    if (!moves_all(o.kind))
        o.result.n = 0;
    return true;
}

} // namespace fairlead::sim
