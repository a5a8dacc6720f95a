// Fails: this operation cannot be ended early, so that it takes no stop token
#include <fairlead/net/bind_stop_token.hpp>
#include <fairlead/redis/connection.hpp>

void call(fairlead::redis::connection& connection, fairlead::redis::generic_response& pushes,
          std::stop_token const& stop) {
    auto const handler = [](fairlead::error_code, std::size_t) {};
#ifdef GOOD
    static_cast<void>(stop);
    connection.async_receive(pushes, handler);
#else
    connection.async_receive(pushes, fairlead::bind_stop_token(stop, handler));
#endif
}
