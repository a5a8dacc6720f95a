// An echo server: one coroutine accepts, one for each connection echoes. All of them belong to a scope. With a number
// of messages it is its own client: sends so many, checks what comes back, and ends.
//
//   example_echo_server [port [messages]]        port 0, the default, takes a free one
//
// Run as a test: 0 1000
#include <fairlead/coro/spawn.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/scope/task_scope.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

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
    fairlead::scope_options const options{.failures =
                                              fairlead::on_failure::is_dropped}; // An error ends its session alone.
    co_await with_scope(options, [&](fairlead::task_scope<>& sessions) -> awaitable<void> {
        while (acceptor.is_open()) {
            auto [ec, peer] = co_await acceptor.async_accept(fairlead::as_tuple);
            if (!ec) // else there is no descriptor left: the connection waits, and the next accept comes after a pause
                co_await sessions.spawn(echo, std::move(peer));
        }
    });
}

awaitable<void> ask(tcp::endpoint server, int messages, int& answers) {
    tcp::socket socket(co_await fairlead::this_coro::executor);
    co_await socket.async_connect(server);
    for (int i = 0; i != messages; ++i) {
        std::string const question = "message " + std::to_string(i);
        co_await fairlead::async_write(socket, fairlead::buffer(question));
        std::string answer(question.size(), '?');
        co_await fairlead::async_read(socket, fairlead::buffer(answer)); // as many bytes as there is space for
        answers += answer == question;
    }
}

int main(int argc, char** argv) {
    auto const port = static_cast<std::uint16_t>(argc > 1 ? std::atoi(argv[1]) : 0);
    int const messages = argc > 2 ? std::atoi(argv[2]) : 0;
    fairlead::io_context ctx(1);
    tcp::acceptor acceptor(ctx, messages != 0 ? tcp::endpoint(fairlead::ip::address_v4::loopback(), port)
                                              : tcp::endpoint(tcp::v4(), port));
    auto const where = acceptor.local_endpoint();
    std::printf("listening on %s\n", where.to_string().c_str());
    co_spawn(ctx, serve(std::move(acceptor)), fairlead::rethrow); // errors leave run(), and end the program
    int answers = 0;
    if (messages != 0)
        co_spawn(ctx, ask(where, messages, answers), [&](std::exception_ptr) { ctx.stop(); });
    ctx.run(); // Coroutines that still wait then are destroyed with the context.
    std::printf("%d of %d answers\n", answers, messages);
    return answers == messages ? 0 : 1;
}
