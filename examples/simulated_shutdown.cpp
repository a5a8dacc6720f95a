// A server that SIGTERM ends, in two hundred simulated networks: clients that it has accepted get their answers.
//
// Run as a test:
#include <fairlead/coro/when_any.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/connect.hpp>
#include <fairlead/net/resolver.hpp>
#include <fairlead/net/signal_set.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/scope/task_scope.hpp>
#include <fairlead/sim/seeds.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>

#include <chrono>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

using namespace fairlead;
using namespace std::chrono_literals;
using ip::tcp;

// ---- the program under test: nothing in it knows of the simulation

awaitable<void> answer(tcp::socket peer) {
    co_await async_write(peer, buffer("hello\n", 6));
    std::string line;
    co_await async_read_until(peer, dynamic_buffer(line, 100), '\n');
    steady_timer work(peer.get_executor(), 300ms);
    co_await work.async_wait();
    co_await async_write(peer, buffer(line));
}

awaitable<void> serve(io_context& ctx) {
    tcp::acceptor acceptor(ctx, tcp::endpoint(tcp::v4(), 7));
    signal_set asked_to_end(ctx, SIGTERM);
    scope_options const options{.failures = on_failure::is_dropped};
    auto body = [&](task_scope<>& sessions) -> awaitable<void> {
        for (;;) {
            auto next = co_await when_any(acceptor.async_accept(), asked_to_end.async_wait());
            if (auto& peer = next.get<0>(); peer.has_value())
                co_await sessions.spawn(answer, std::move(peer).value());
            if (next.get<1>().has_value())
                break;
        }
        acceptor.close();
        co_await sessions.drain(60s);
    };
    co_await with_scope(options, body);
}

// ---- its test

awaitable<void> ask(io_context& ctx, std::chrono::milliseconds after) {
    steady_timer begin(ctx, after);
    co_await begin.async_wait();
    tcp::resolver resolver(ctx);
    tcp::socket server(ctx);
    auto const [failure, where] =
        co_await async_connect(server, co_await resolver.async_resolve("server", "7"), as_tuple);
    std::string in;
    auto const [ec, n] = co_await async_read_until(server, dynamic_buffer(in), '\n', as_tuple);
    if (failure || ec)
        co_return; // The server had been asked to end before.
    co_await async_write(server, buffer("question\n", 9));
    in.erase(0, n);
    co_await async_read_until(server, dynamic_buffer(in), '\n');
    if (in != "question\n")
        throw std::runtime_error("a client that was accepted got \"" + in + '"');
}

void accepted_clients_get_their_answers(sim::world& world) {
    auto& server = world.add_host("server", [](io_context& ctx) { return serve(ctx); });
    for (int i = 0; i != 5; ++i) {
        auto const after = std::chrono::milliseconds(world.random().below(1000));
        world.add_host("client " + std::to_string(i), [=](io_context& ctx) { return ask(ctx, after); });
    }
    auto const end = std::chrono::milliseconds(world.choose("end", 100, 1000));
    world.at(end, [&] { server.raise(SIGTERM); });
    world.run();
    if (!server.is_done())
        throw std::runtime_error("the server goes on");
}

int main() {
    try {
        auto const all = sim::for_each_seed(200, accepted_clients_get_their_answers);
        std::printf("%.0f simulated seconds in %.2f s\n", all.simulated_seconds, all.seconds);
        return 0;
    } catch (std::exception const& e) {
        std::printf("%s\n", e.what());
        return 1;
    }
}
