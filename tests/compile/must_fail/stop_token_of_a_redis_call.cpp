// Fails: this operation cannot be ended early, so that it takes no stop token
#include <fairlead/net/bind_stop_token.hpp>
#include <fairlead/redis/connection.hpp>

void call(fairlead::redis::connection& connection, fairlead::redis::request const& request,
          std::stop_token const& stop) {
    auto const handler = [](fairlead::error_code, std::size_t) {};
#ifdef GOOD
    static_cast<void>(stop);
    connection.async_exec(request, fairlead::redis::ignore, handler);
#else
    connection.async_exec(request, fairlead::redis::ignore, fairlead::bind_stop_token(stop, handler));
#endif
}
