// For coroutines of the library: one execution, and its error as a value.
#pragma once

#include <fairlead/base/error.hpp>
#include <fairlead/coro/awaitable.hpp>
#include <fairlead/redis/connection.hpp>

#include <cstdint>
#include <string_view>

namespace fairlead::redis::impl {

/// An error, and the number of the text of its connection's events (redis/endings.hpp).
struct call_error : error_code {
    std::uint64_t ending = 0;
};

/// `r` and the object of `to` outlive it.
awaitable<call_error> executed(connection_core& c, request const& r, response_ref to);

/// Throws system_error, which names the command and has the words of the server, or an unexpected_error.
[[noreturn]] void throw_failed_call(call_error const& ec, request const& r, std::string_view refusal);

} // namespace fairlead::redis::impl
