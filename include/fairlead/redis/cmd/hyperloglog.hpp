// Commands that count different elements, about.
#pragma once

#include <fairlead/redis/options.hpp>

#include <cstdint>

namespace fairlead::redis::cmd {

/// PFADD: whether the count may have changed.
inline command<bool> pfadd(key_view key, values_view elements = {}) {
    return impl::make<bool>("PFADD", {key, elements});
}
/// PFADD of two elements and more.
template <class... More> command<bool> pfadd(key_view key, value_view first, value_view second, More const&... more) {
    return pfadd(key, {first, second, value_view(more)...});
}
/// PFCOUNT: about how many different elements were added to the keys together.
inline command<std::int64_t> pfcount(keys_view keys) { return impl::make<std::int64_t>("PFCOUNT", {keys}); }
/// PFCOUNT of two keys and more.
template <class... More> command<std::int64_t> pfcount(key_view first, key_view second, More const&... more) {
    return pfcount({first, second, key_view(more)...});
}
/// PFMERGE: `target` counts what was added to it and to the others.
inline command<ignore_t> pfmerge(key_view target, keys_view sources = {}) {
    return impl::make<ignore_t>("PFMERGE", {target, sources});
}
/// PFMERGE of two keys and more.
template <class... More>
command<ignore_t> pfmerge(key_view target, key_view first, key_view second, More const&... more) {
    return pfmerge(target, {first, second, key_view(more)...});
}

} // namespace fairlead::redis::cmd
