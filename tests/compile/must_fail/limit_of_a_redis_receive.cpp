// Fails: this operation cannot be ended early, so that it takes no
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/redis/connection.hpp>

void call(fairlead::redis::connection& connection, fairlead::redis::generic_response& pushes) {
    auto const handler = [](fairlead::error_code, std::size_t) {};
#ifdef GOOD
    connection.async_receive(pushes, handler);
#else
    connection.async_receive(pushes, fairlead::cancel_after(std::chrono::seconds(1), handler));
#endif
}
