// The hooks of a client, which are called before and after each of its calls.
#pragma once

#include <fairlead/base/durations.hpp>
#include <fairlead/base/error.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

namespace fairlead::redis {

/// A call that begins. Its texts are of the hook's call only.
struct call_begin {
    std::string_view command; ///< The first command of its request, as the table of commands or the program spells it.
    std::size_t commands = 0; ///< In its request: more than one is a pipeline.
    bool is_same = true;      ///< All of them have that name.
    std::size_t bytes_sent = 0; ///< That the request takes on the wire.
};

/// A call that has ended.
struct call_end : call_begin {
    error_code ec{};                ///< As its caller gets it.
    std::string_view refusal{};     ///< Of the first reply that was an error: its first word, "WRONGTYPE". Else empty.
    std::size_t bytes_received = 0; ///< Of text in its replies.
    std::chrono::nanoseconds duration{0}; ///< From its start until its end, waiting for a connection included.
};

/// Called in the thread that makes the call, before anything else is done with it. Returns a number of the program's,
/// such as that of a span, which the hook behind the call is given: 0 when this one throws.
using before_call_hook = std::function<std::uintptr_t(call_begin const&)>;
/// Called on the client's loop, before the caller hears of the end. Called once for each call that was begun.
using after_call_hook = std::function<void(call_end const&, std::uintptr_t)>;

} // namespace fairlead::redis
