// Connecting to a server in a way of the program's own: with TLS, through a proxy, over a stream of its own.
#pragma once

#include <fairlead/coro/awaitable.hpp>
#include <fairlead/net/any_stream.hpp>

#include <concepts>
#include <functional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace fairlead::redis {

/// config::address, taken apart. It views the configuration of the connection, which outlives the call.
struct address_parts {
    std::string_view host; ///< or the path of a UNIX socket
    std::string_view port;
    bool is_unix = false;
};

/// A coroutine function that returns a stream which is ready for RESP. It is called for each session, on the loop of
/// the connection, where the stream has to run, too. Its exceptions end the session: a system_error with its code.
/// config::connect_timeout, and the end of the connection, ask it to end (this_coro::cancellation_state).
class connector {
public:
    template <class F>
        requires(!std::same_as<std::remove_cvref_t<F>, connector> &&
                 std::is_invocable_r_v<awaitable<any_stream>, F&, address_parts>)
    connector(F&& f) : function_(std::forward<F>(f)) {}
    awaitable<any_stream> operator()(address_parts to) const { return function_(to); }

private:
    std::function<awaitable<any_stream>(address_parts to)> function_;
};

} // namespace fairlead::redis
