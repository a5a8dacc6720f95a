// The program of docs/guide/testing.md: a client that tries again, in two hundred simulated networks. With an argument
// its limit is an hour, and the test has to find that.
//
// Run as a test:
// Run as a test: with-a-bug
#include <fairlead/coro/spawn.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/net/connect.hpp>
#include <fairlead/net/resolver.hpp>
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

std::chrono::seconds patience = 1s;

awaitable<std::string> ask_once(std::string question) {
    auto const& executor = co_await this_coro::executor;
    tcp::resolver resolver(executor);
    tcp::socket socket(executor);
    auto const addresses = co_await resolver.async_resolve("server", "7");
    co_await async_connect(socket, addresses);
    co_await async_write(socket, buffer(question));
    std::string in;
    auto const n = co_await async_read_until(socket, dynamic_buffer(in), '\n');
    co_return in.substr(0, n);
}

awaitable<std::string> ask_until_answered(std::string question) {
    auto const executor = co_await this_coro::executor;
    for (;;) {
        auto [failure, answer] = co_await co_spawn(executor, ask_once(question), cancel_after(patience, as_tuple));
        if (!failure)
            co_return answer;
        steady_timer pause(executor, 200ms);
        co_await pause.async_wait();
    }
}

// ---- its test

awaitable<void> echo(tcp::socket peer) {
    char data[100];
    for (;;) {
        auto [ec, n] = co_await peer.async_read_some(buffer(data), as_tuple);
        if (ec)
            co_return;
        co_await async_write(peer, buffer(data, n));
    }
}
awaitable<void> serve(io_context& ctx) {
    tcp::acceptor acceptor(ctx, tcp::endpoint(tcp::v4(), 7));
    scope_options const options{.failures = on_failure::is_dropped};
    co_await with_scope(options, [&](task_scope<>& sessions) -> awaitable<void> {
        for (;;) {
            auto [ec, peer] = co_await acceptor.async_accept(as_tuple);
            if (!ec)
                co_await sessions.spawn(echo, std::move(peer));
        }
    });
}

awaitable<void> application(sim::world& world) {
    for (int i = 0; i != 3; ++i) {
        auto const question = "question " + std::to_string(i) + "\n";
        if (co_await ask_until_answered(question) != question)
            throw std::runtime_error("the answer to something else");
    }
    if (world.elapsed() > 10s)
        throw std::runtime_error("three answers took longer than ten seconds");
}

void an_outage_is_survived(sim::world& world) {
    auto& server = world.add_server("server", [](io_context& ctx) { return serve(ctx); });
    world.add_host("app", [&] { return application(world); });
    auto const begin = std::chrono::milliseconds(world.choose("begin", 0, 1000));
    world.at(begin, [&] { server.crash(); });
    world.at(begin + 2s, [&] { server.restart(); });
    world.run();
}

int main(int argc, char**) {
    bool const has_bug = argc > 1;
    if (has_bug)
        patience = 1h;
    try {
        auto const all = sim::for_each_seed(200, an_outage_is_survived);
        std::printf("%.0f simulated seconds in %.2f s\n", all.simulated_seconds, all.seconds);
        return has_bug;
    } catch (std::exception const& e) {
        std::printf("%s\n", e.what());
        return !has_bug;
    }
}
