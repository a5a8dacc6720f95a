// Several things at once. A request goes to a second server, too, when the first one is slow. Many such requests run
// together, with a time limit for all of them. The two servers are in the same program.
//
//   example_hedged_request [requests]        20 by default
//
// Run as a test: 20
#include <fairlead/coro/when_any.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/scope/task_scope.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

using fairlead::awaitable, fairlead::ip::tcp;
using namespace std::chrono_literals;

/// A server that answers each line after some time.
awaitable<void> answer(tcp::socket peer, std::string name, std::chrono::milliseconds after) {
    std::string line;
    co_await fairlead::async_read_until(peer, fairlead::dynamic_buffer(line), '\n');
    fairlead::steady_timer work(peer.get_executor(), after);
    co_await work.async_wait();
    std::string const reply = name + ": " + line;
    co_await fairlead::async_write(peer, fairlead::buffer(reply));
}
awaitable<void> serve(tcp::acceptor acceptor, std::string name, std::chrono::milliseconds after) {
    fairlead::scope_options const options{.failures = fairlead::on_failure::is_dropped};
    co_await with_scope(options, [&](fairlead::task_scope<>& answers) -> awaitable<void> {
        while (acceptor.is_open()) {
            auto [ec, peer] = co_await acceptor.async_accept(fairlead::as_tuple);
            if (!ec)
                co_await answers.spawn(answer, std::move(peer), name, after);
        }
    });
}

awaitable<std::string> ask(tcp::endpoint server, std::string question) {
    tcp::socket socket(co_await fairlead::this_coro::executor);
    co_await socket.async_connect(server);
    co_await fairlead::async_write(socket, fairlead::buffer(question));
    std::string reply;
    auto const n = co_await fairlead::async_read_until(socket, fairlead::dynamic_buffer(reply), '\n');
    co_return reply.substr(0, n);
}
awaitable<std::string> ask_later(tcp::endpoint server, std::string question) {
    fairlead::steady_timer patience(co_await fairlead::this_coro::executor, 20ms);
    co_await patience.async_wait();
    co_return co_await ask(server, std::move(question));
}
/// The answer of whichever server is first. The other request is ended; its socket is closed when this goes on.
awaitable<std::string> ask_either(tcp::endpoint first, tcp::endpoint second, std::string question) {
    auto won = co_await fairlead::when_any_success(ask(first, question), ask_later(second, question));
    co_return won.index() == 0 ? won.get<0>().value() : won.get<1>().value();
}
awaitable<int> ask_all(tcp::endpoint first, tcp::endpoint second, int requests) {
    std::vector<awaitable<std::string>> all;
    for (int i = 0; i != requests; ++i)
        all.push_back(ask_either(first, second, "question " + std::to_string(i) + "\n"));
    int hedged = 0;
    for (auto const& reply : co_await fairlead::when_all(std::move(all)))
        hedged += reply.starts_with("second: ");
    co_return hedged;
}

int main(int argc, char** argv) {
    int const requests = argc > 1 ? std::atoi(argv[1]) : 20;
    fairlead::io_context ctx(1);
    auto const anywhere = tcp::endpoint(fairlead::ip::address_v4::loopback(), 0);
    tcp::acceptor slow(ctx, anywhere), fast(ctx, anywhere);
    auto const first = slow.local_endpoint(), second = fast.local_endpoint();
    co_spawn(ctx, serve(std::move(slow), "first", 10s), fairlead::rethrow);
    co_spawn(ctx, serve(std::move(fast), "second", 1ms), fairlead::rethrow);
    int answered = -1;
    co_spawn(ctx, ask_all(first, second, requests), fairlead::cancel_after(5s, [&](std::exception_ptr e, int hedged) {
                 ctx.stop();
                 if (e)
                     std::rethrow_exception(e);
                 answered = hedged;
             }));
    ctx.run();
    std::printf("%d of %d questions were answered by the second server\n", answered, requests);
    return answered == requests ? 0 : 1;
}
