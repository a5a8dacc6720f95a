// The echo server of Asio's examples, with coroutines: compiled, never run. One source for Fairlead and for Asio.
#ifdef WHOLE
#include <asio.hpp>
#elif defined OWN_HEADERS
#include <fairlead/base/buffer.hpp>
#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>
#else
#include <asio/awaitable.hpp>
#include <asio/buffer.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#endif

#include <cstdlib>
#include <exception>
#include <utility>

using asio::ip::tcp;

asio::awaitable<void> echo(tcp::socket socket) {
    try {
        char data[1024];
        for (;;) {
            std::size_t const n = co_await socket.async_read_some(asio::buffer(data), asio::use_awaitable);
            co_await asio::async_write(socket, asio::buffer(data, n), asio::use_awaitable);
        }
    } catch (std::exception const&) { // The peer has finished.
    }
}

asio::awaitable<void> listen(unsigned short port) {
    auto executor = co_await asio::this_coro::executor;
    tcp::acceptor acceptor(executor, tcp::endpoint(tcp::v4(), port));
    for (;;) {
        tcp::socket socket = co_await acceptor.async_accept(asio::use_awaitable);
        asio::co_spawn(executor, echo(std::move(socket)), asio::detached);
    }
}

int main(int argc, char** argv) {
    asio::io_context context;
    asio::co_spawn(context, listen(static_cast<unsigned short>(argc > 1 ? std::atoi(argv[1]) : 0)), asio::detached);
    context.run();
}
