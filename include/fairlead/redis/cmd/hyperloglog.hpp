// Commands that count different elements, about.
#pragma once

#include <fairlead/redis/options.hpp>

#include <cstdint>

namespace fairlead::redis::cmd {

/// PFADD: whether the count may have changed.
inline command<bool> pfadd(key_view key, values_view elements = {}) {
    return impl::make<bool>("PFADD", {key, elements});
}
/// PFCOUNT: about how many different elements were added to the keys together.
inline command<std::int64_t> pfcount(keys_view keys) { return impl::make<std::int64_t>("PFCOUNT", {keys}); }
/// PFMERGE: `target` counts what was added to it and to the others.
inline command<ignore_t> pfmerge(key_view target, keys_view sources = {}) {
    return impl::make<ignore_t>("PFMERGE", {target, sources});
}

} // namespace fairlead::redis::cmd
