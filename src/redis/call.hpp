// For coroutines of the library: one execution, and its error as a value.
#pragma once

#include <fairlead/coro/awaitable.hpp>
#include <fairlead/redis/connection.hpp>

namespace fairlead::redis::impl {

/// `r` and the object of `to` outlive it.
awaitable<error_code> executed(connection_core& c, request const& r, response_ref to);

} // namespace fairlead::redis::impl
