// An echo server: one coroutine accepts, one for each connection echoes.
//
//   example_echo_server [port]        0, the default, takes a free port
#include <fairlead/coro/spawn.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>

#include <cstdio>
#include <cstdlib>

using fairlead::awaitable, fairlead::ip::tcp;

awaitable<void> echo(tcp::socket peer) {
    char data[4096];
    for (;;) {
        auto [ec, n] = co_await peer.async_read_some(fairlead::buffer(data), fairlead::as_tuple);
        if (ec)
            co_return; // fairlead::error::eof, when the peer has finished
        co_await fairlead::async_write(peer, fairlead::buffer(data, n));
    }
}

awaitable<void> serve(tcp::acceptor acceptor) {
    for (;;)
        co_spawn(co_await fairlead::this_coro::executor, echo(co_await acceptor.async_accept()), fairlead::detached);
}

int main(int argc, char** argv) {
    auto const port = static_cast<std::uint16_t>(argc > 1 ? std::atoi(argv[1]) : 0);
    fairlead::io_context ctx(1);
    tcp::acceptor acceptor(ctx, {tcp::v4(), port});
    std::printf("listening on %s\n", acceptor.local_endpoint().to_string().c_str());
    co_spawn(ctx, serve(std::move(acceptor)), fairlead::detached);
    ctx.run();
}
