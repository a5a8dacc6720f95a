// The test of docs/testing-with-sim.md: does everybody get the answer to his own line? Without a test framework here;
// with one, for_each_seed stands in a test case. `testing_with_sim bug` begins where the tutorial does, with the bug.
//
// Run as a test:
// Run as a test: finds-the-bug

#include "line_client.hpp"

#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/connect.hpp>
#include <fairlead/net/resolver.hpp>
#include <fairlead/scope/task_scope.hpp>
#include <fairlead/sim/seeds.hpp>

#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

using namespace fairlead;
using namespace std::chrono_literals;
using ip::tcp;

awaitable<void> answer(tcp::socket s, sim::random_stream& random) {
    std::string in;
    steady_timer thinking(s.get_executor());
    for (;;) {
        auto const [ec, n] = co_await async_read_until(s, dynamic_buffer(in), '\n', as_tuple);
        if (ec)
            co_return;
        thinking.expires_after(std::chrono::milliseconds(random.below(30)));
        co_await thinking.async_wait();
        std::string const line = "re: " + in.substr(0, n);
        in.erase(0, n);
        auto const [failed, sent] = co_await async_write(s, buffer(line), as_tuple);
        if (failed)
            co_return;
    }
}

awaitable<void> serve(io_context& ctx, sim::world& world) {
    tcp::acceptor acceptor(ctx, tcp::endpoint(tcp::v4(), 7));
    scope_options const options{.failures = on_failure::is_dropped};
    co_await with_scope(options, [&](task_scope<>& sessions) -> awaitable<void> {
        for (;;) {
            auto [ec, peer] = co_await acceptor.async_accept(as_tuple);
            if (!ec)
                co_await sessions.spawn(answer, std::move(peer), std::ref(world.random()));
        }
    });
}

awaitable<void> call(line_client& client, std::uint64_t number, int& live) {
    for (int i = 0; i != 3; ++i) {
        std::string const line = "caller " + std::to_string(number) + ", line " + std::to_string(i);
        auto const got = co_await client.ask(line, 50ms);
        if (got && *got != "re: " + line)
            throw std::runtime_error("asked \"" + line + "\", got \"" + *got + '"');
    }
    if (--live == 0)
        client.close();
}

/// The server may not be there yet.
awaitable<tcp::socket> connect(io_context& ctx) {
    tcp::resolver resolver(ctx);
    auto const addresses = co_await resolver.async_resolve("server", "7");
    steady_timer pause(ctx);
    for (;;) {
        tcp::socket s(ctx);
        auto const [ec, to] = co_await async_connect(s, addresses, as_tuple);
        if (!ec)
            co_return s;
        pause.expires_after(100ms);
        co_await pause.async_wait();
    }
}

awaitable<void> application(io_context& ctx, sim::world& world, bool bug) {
    line_client client(co_await connect(ctx), bug);
    auto const callers = world.choose("callers", 1, 20);
    int live = static_cast<int>(callers);
    for (std::uint64_t i = 1; i <= callers; ++i)
        co_spawn(ctx, call(client, i, live), [](std::exception_ptr e) {
            if (e)
                std::rethrow_exception(e);
        });
    co_await client.run();
}

void everybody_gets_his_own_answer(sim::world& world, bool bug) {
    world.add_server("server", [&](io_context& ctx) { return serve(ctx, world); });
    world.add_host("app", [&, bug](io_context& ctx) { return application(ctx, world, bug); });
    world.run();
}

int main(int argc, char** argv) {
    std::string_view const argument = argc > 1 ? argv[1] : "";
    bool const bug = !argument.empty();
    try {
        sim::for_each_seed(1000, [bug](sim::world& w) { everybody_gets_his_own_answer(w, bug); });
        return argument == "finds-the-bug";
    } catch (std::exception const& e) {
        std::printf("%s", e.what());
        return argument != "finds-the-bug";
    }
}
