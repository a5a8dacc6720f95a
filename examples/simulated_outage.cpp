// An outage that takes no time: a client of Redis on one simulated host, the server on another. At 2 s the network
// between them breaks, at 5 s it is whole again. At 8 s the server loses power, at 10 s it is back, without its data.
// The client would run on real computers unchanged. SIM_SEED=n shows another course of events.
//
// Run as a test:

#include <fairlead/coro/spawn.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/redis/connection.hpp>
#include <fairlead/redis_server/server.hpp>
#include <fairlead/sim/seeds.hpp>
#include <fairlead/token/adapters.hpp>

#include <chrono>
#include <cstdio>
#include <optional>
#include <string>

using namespace fairlead;
using namespace std::chrono_literals;

/// Stands for redis-server.
awaitable<void> serve(io_context& ctx) {
    redis::server server(ctx, {"0.0.0.0", 6379});
    steady_timer for_ever(ctx, steady_clock::time_point::max());
    co_await for_ever.async_wait();
}

/// Keeps a connection to the server, whatever happens.
awaitable<void> stay_connected(redis::connection& conn, bool& stop, auto say) {
    redis::config cfg;
    cfg.address = "redis:6379";
    cfg.connect_timeout = 500ms;
    cfg.health_check_interval = 250ms;
    cfg.keep_unsent = true;
    steady_timer pause(conn.get_executor());
    while (!stop) {
        auto const [ec] = co_await conn.async_run(cfg, as_tuple);
        if (!stop)
            say("connection ended: " + ec.message());
        pause.expires_after(200ms);
        co_await pause.async_wait();
    }
}

awaitable<void> application(io_context& ctx, sim::world const& world) {
    auto const say = [&](std::string const& text) {
        std::printf("%6.3f s  %s\n", std::chrono::duration<double>(world.elapsed()).count(), text.c_str());
    };
    redis::connection conn(ctx);
    bool stop = false;
    steady_timer connection_ended(ctx, steady_clock::time_point::max());
    co_spawn(ctx, stay_connected(conn, stop, say), [&](std::exception_ptr) { connection_ended.cancel(); });

    redis::request count;
    count.push("INCR", "visits");
    steady_timer pause(ctx);
    std::string before;
    for (auto const end = steady_clock::now() + 12s; steady_clock::now() < end;) {
        redis::response<long> visits;
        auto const [ec, bytes] = co_await conn.async_exec(count, visits, as_tuple);
        // "Maybe executed" is the truth about a request whose answer was lost. It is for us to decide what then.
        auto const now = ec ? ec.message() : std::string("counting");
        if (now != before)
            say(ec ? "INCR: " + now : "counting again at " + std::to_string(std::get<0>(visits).value()));
        before = now;
        pause.expires_after(100ms);
        co_await pause.async_wait();
    }
    say("done");
    stop = true;
    conn.cancel();
    co_await connection_ended.async_wait(as_tuple); // It uses what lives in this frame.
}

void outage(sim::world& world) {
    auto& redis = world.add_server("redis", [](io_context& ctx) { return serve(ctx); });
    auto& app = world.add_host("app", [&](io_context& ctx) { return application(ctx, world); });
    world.at(2s, [&] { world.partition(app, redis); });
    world.at(5s, [&] { world.heal(); });
    world.at(8s, [&] { redis.crash(); });
    world.at(10s, [&] { redis.restart(); });
    world.run(); // or throws, with the seed and the last events
    std::printf("seed %llu: %.1f s went by\n", static_cast<unsigned long long>(world.seed()),
                std::chrono::duration<double>(world.elapsed()).count());
}

int main() {
    try {
        sim::for_each_seed(1, outage);
    } catch (std::exception const& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
