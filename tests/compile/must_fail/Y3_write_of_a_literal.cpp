// Fails: these are no buffers: write fairlead::buffer\(x\) of a string
#include <fairlead/coro/spawn.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/stream/write.hpp>

fairlead::awaitable<void> greet(fairlead::ip::tcp::socket& socket) {
#ifdef GOOD
    co_await fairlead::async_write(socket, fairlead::buffer(std::string_view("abc")));
#else
    co_await fairlead::async_write(socket, "abc");
#endif
}
