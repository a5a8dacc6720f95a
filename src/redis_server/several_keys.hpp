// The arguments that LMPOP, ZMPOP and their blocking forms have in common: numkeys, the keys, and COUNT.
#pragma once

#include <redis_server/call.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace fairlead::redis::server_impl {

struct several_keys {
    std::vector<std::string_view> keys;
    std::size_t behind = 0; // the argument after the keys
    std::size_t count = 1;
};

/// Reads the number at args[at] and so many keys, behind which at least one argument follows.
bool read_several_keys(call& c, std::size_t at, several_keys& several);
/// Reads COUNT and its number at args[at], if there are any.
bool read_several_count(call& c, std::size_t at, several_keys& several);

/// The command waits for one of the keys. Where nothing may wait, its answer is a null array.
void may_wait_or_null(call& c, std::vector<std::string_view> const& keys, std::optional<std::int64_t> until);

} // namespace fairlead::redis::server_impl
