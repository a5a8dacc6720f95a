// Fails: this operation cannot be ended early, so that it takes no
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/redis/connection.hpp>

void call(fairlead::redis::connection& connection, fairlead::redis::request const& request) {
    auto const handler = [](fairlead::error_code, std::size_t) {};
#ifdef GOOD
    connection.async_exec(request, fairlead::redis::ignore, handler);
#else
    connection.async_exec(request, fairlead::redis::ignore, fairlead::cancel_after(std::chrono::seconds(1), handler));
#endif
}
