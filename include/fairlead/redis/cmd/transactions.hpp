// Keys on which a transaction depends.
#pragma once

#include <fairlead/redis/options.hpp>

namespace fairlead::redis::cmd {

/// WATCH: the next EXEC of this connection executes nothing if one of the keys has changed by then.
inline command<ignore_t> watch(keys_view keys) { return impl::make<ignore_t>("WATCH", {keys}); }
/// WATCH of two keys and more.
template <class... More> command<ignore_t> watch(key_view first, key_view second, More const&... more) {
    return watch({first, second, key_view(more)...});
}
/// UNWATCH: forgets all watched keys.
inline command<ignore_t> unwatch() { return impl::make<ignore_t>("UNWATCH", {}); }

} // namespace fairlead::redis::cmd
