// The program of docs/guide/first-server.md: a server that greets, and a client that checks the greetings.
//
// Run as a test:
#include <fairlead/coro/spawn.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/scope/task_scope.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>

#include <cstdio>
#include <string>

using fairlead::awaitable, fairlead::as_tuple, fairlead::ip::tcp;

awaitable<void> session(tcp::socket peer) {
    std::string in;
    for (;;) {
        auto [ec, n] = co_await async_read_until(peer, fairlead::dynamic_buffer(in, 1000), '\n', as_tuple);
        if (ec)
            co_return; // The peer has finished, or its line is longer than 1000 bytes.
        std::string const greeting = "hello " + in.substr(0, n);
        in.erase(0, n); // Bytes behind the line stay for the next turn.
        co_await async_write(peer, fairlead::buffer(greeting));
    }
}

awaitable<void> serve(tcp::acceptor& acceptor) {
    fairlead::scope_options const options{.failures = fairlead::on_failure::is_dropped};
    co_await with_scope(options, [&](fairlead::task_scope<>& sessions) -> awaitable<void> {
        while (acceptor.is_open()) {
            auto [ec, peer] = co_await acceptor.async_accept(as_tuple);
            if (!ec)
                co_await sessions.spawn(session, std::move(peer));
        }
    });
}

awaitable<void> visit(tcp::acceptor& acceptor, int& greeted) {
    tcp::socket server(acceptor.get_executor());
    co_await server.async_connect(acceptor.local_endpoint());
    for (std::string const name : {"Ada\n", "Grace\n"}) {
        co_await async_write(server, fairlead::buffer(name));
        std::string in;
        co_await async_read_until(server, fairlead::dynamic_buffer(in), '\n');
        std::printf("%s", in.c_str());
        greeted += in == "hello " + name;
    }
    acceptor.close(); // The accept that waits ends, and with the last session serve().
}

int main() {
    fairlead::io_context ctx(1);
    tcp::acceptor acceptor(ctx, tcp::endpoint(fairlead::ip::address_v4::loopback(), 0));
    int greeted = 0;
    co_spawn(ctx, serve(acceptor), fairlead::rethrow);
    co_spawn(ctx, visit(acceptor, greeted), fairlead::rethrow);
    ctx.run();
    return greeted == 2 ? 0 : 1;
}
