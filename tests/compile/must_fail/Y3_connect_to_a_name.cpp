// Fails: no range of endpoints: write async_connect\(s, co_await resolver.async_resolve\(host, service\)\)
#include <fairlead/coro/spawn.hpp>
#include <fairlead/net/connect.hpp>
#include <fairlead/net/resolver.hpp>

fairlead::awaitable<void> connect(fairlead::ip::tcp::socket& socket, fairlead::ip::tcp::resolver& resolver) {
#ifdef GOOD
    auto const found = co_await resolver.async_resolve("localhost", "80");
    co_await async_connect(socket, found);
#else
    co_await resolver.async_resolve("localhost", "80");
    co_await async_connect(socket, "localhost");
#endif
}
