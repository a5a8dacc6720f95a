// Fails: for an error_code write redirect_error\(ec\), or await with as_tuple
#include <fairlead/coro/spawn.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/token/adapters.hpp>

fairlead::awaitable<std::size_t> read(fairlead::ip::tcp::socket& s, char (&data)[10], fairlead::error_code& ec) {
#ifdef GOOD
    auto n = co_await s.async_read_some(fairlead::buffer(data), fairlead::redirect_error(ec));
#else
    auto n = co_await s.async_read_some(fairlead::buffer(data), ec);
#endif
    co_return n;
}
