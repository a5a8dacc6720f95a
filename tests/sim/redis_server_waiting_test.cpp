// Commands that wait, and keys that expire, on the clock of a simulated world.

#include <fairlead/coro/spawn.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/redis/connection.hpp>
#include <fairlead/redis_server/server.hpp>
#include <fairlead/sim/seeds.hpp>
#include <fairlead/sim/world.hpp>
#include <fairlead/token/adapters.hpp>

#include "support/scale.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <exception>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace fairlead::test {
namespace {

using namespace std::chrono_literals;

/// A server, and connections to it that may wait.
struct waiting_world {
    explicit waiting_world(sim::world& w) : world(w), context(w.context()), server(context) {}

    redis::connection& connect() {
        redis::config cfg;
        cfg.address = server.address();
        cfg.dedicated = true;
        auto& made = *connections.emplace_back(std::make_unique<redis::connection>(context));
        made.async_run(cfg, detached);
        return made;
    }
    void end() {
        for (auto& connection : connections)
            connection->cancel();
        server.stop();
    }

    sim::world& world;
    io_context& context;
    redis::server server;
    std::vector<std::unique_ptr<redis::connection>> connections;
};

/// The reply's scalars, with blanks between them.
awaitable<std::string> waiting_ask(redis::connection& conn, redis::request const& req) {
    redis::generic_response reply;
    auto asking = conn.async_exec(req, reply);
    co_await std::move(asking);
    std::string text;
    for (auto const n : reply) {
        if (resp3::is_aggregate(n.kind))
            continue;
        text += (text.empty() ? "" : " ") + (n.kind == resp3::type::null ? "null" : std::string(n.value));
    }
    co_return text;
}

awaitable<void> waiting_pause(waiting_world& w, std::chrono::milliseconds time) {
    steady_timer pause(w.context, time);
    auto waiting = pause.async_wait();
    co_await std::move(waiting);
}

awaitable<void> waiting_time_limits(waiting_world& w) {
    auto& conn = w.connect();
    redis::request ping, waits;
    ping.push("PING");
    auto first = waiting_ask(conn, ping);
    co_await std::move(first);
    for (auto const& [seconds, limit] : {std::pair("0.25", 250ms), {"3600", 3'600'000ms}, {"0.001", 1ms}}) {
        waits.clear();
        waits.push("BLPOP", "nothing", seconds);
        auto const began = w.world.now();
        auto asking = waiting_ask(conn, waits);
        auto const reply = co_await std::move(asking);
        EXPECT_EQ(reply, "null");
        auto const took = w.world.now() - began;
        EXPECT_GE(took, limit) << seconds;
        EXPECT_LT(took, limit + 50ms) << seconds;
    }
    w.end();
}

} // namespace

TEST(RedisServerWaiting, TimeLimitsAreOnTheSimulatedClock) {
    sim::for_each_seed(scaled(50, 5), [](sim::world& world) {
        waiting_world w(world);
        co_spawn(w.context, waiting_time_limits(w), detached);
        world.run();
    });
}

namespace {

awaitable<void> waiting_for_the_earlier_limit(waiting_world& w) {
    redis::request late, early;
    late.push("BLPOP", "nothing", 100);
    early.push("XREAD", "BLOCK", 1000, "STREAMS", "nothing", "$");
    steady_clock::time_point late_end;
    auto const began = w.world.now();
    co_spawn(w.context, waiting_ask(w.connect(), late),
             [&](std::exception_ptr, std::string const&) { late_end = w.world.now(); });
    auto first = waiting_pause(w, 500ms);
    co_await std::move(first);
    auto asking = waiting_ask(w.connect(), early);
    EXPECT_EQ(co_await std::move(asking), "null");
    EXPECT_LT(w.world.now() - began, 2s);
    auto rest = waiting_pause(w, 110s);
    co_await std::move(rest);
    EXPECT_GE(late_end - began, 100s);
    EXPECT_LT(late_end - began, 101s);
    w.end();
}

} // namespace

TEST(RedisServerWaiting, TheEarlierOfTwoTimeLimitsComesFirst) {
    sim::for_each_seed(scaled(50, 5), [](sim::world& world) {
        waiting_world w(world);
        co_spawn(w.context, waiting_for_the_earlier_limit(w), detached);
        world.run();
    });
}

namespace {

awaitable<void> waiting_expiry(waiting_world& w) {
    auto& conn = w.connect();
    redis::request sets, gets, counts;
    sets.push("SET", "k", "v", "PX", 60'000);
    gets.push("GET", "k");
    counts.push("DBSIZE");
    auto setting = waiting_ask(conn, sets);
    co_await std::move(setting);
    auto almost = waiting_pause(w, 59s);
    co_await std::move(almost);
    auto getting = waiting_ask(conn, gets);
    EXPECT_EQ(co_await std::move(getting), "v");
    auto rest = waiting_pause(w, 1s);
    co_await std::move(rest);
    auto counting = waiting_ask(conn, counts);
    EXPECT_EQ(co_await std::move(counting), "0");
    auto again = waiting_ask(conn, gets);
    EXPECT_EQ(co_await std::move(again), "null");
    w.end();
}

} // namespace

TEST(RedisServerWaiting, KeysExpireOnTheSimulatedClock) {
    sim::for_each_seed(scaled(50, 5), [](sim::world& world) {
        waiting_world w(world);
        co_spawn(w.context, waiting_expiry(w), detached);
        world.run();
    });
}

namespace {

struct waiting_work {
    int left = 0;
    std::vector<int> taken;
};

awaitable<void> waiting_worker(waiting_world& w, redis::connection& conn, waiting_work& work) {
    redis::request takes;
    takes.push("BLPOP", "jobs", 0);
    std::string job;
    while (job != "jobs end") {
        auto asking = waiting_ask(conn, takes);
        job = co_await std::move(asking);
        if (job != "jobs end")
            ++work.taken[std::stoul(job.substr(5))];
    }
    if (--work.left == 0)
        w.end();
}

awaitable<void> waiting_producer(waiting_world& w, redis::connection& conn, int jobs, int workers) {
    std::mt19937_64 random(w.world.seed());
    redis::request pushes;
    for (int i = 0; i != jobs + workers; ++i) {
        pushes.clear();
        if (i < jobs)
            pushes.push("RPUSH", "jobs", i);
        else
            pushes.push("RPUSH", "jobs", "end");
        // The last worker may have ended the world before the reply comes.
        auto pushing = conn.async_exec(pushes, redis::ignore, as_tuple);
        co_await std::move(pushing);
        auto pausing = waiting_pause(w, std::chrono::milliseconds(random() % 3));
        co_await std::move(pausing);
    }
}

} // namespace

TEST(RedisServerWaiting, EachElementIsTakenOnceWhoeverWaits) {
    sim::for_each_seed(scaled(50, 5), [](sim::world& world) {
        constexpr int jobs = 60, workers = 4;
        waiting_world w(world);
        waiting_work work{workers, std::vector<int>(jobs)};
        for (int i = 0; i != workers; ++i)
            co_spawn(w.context, waiting_worker(w, w.connect(), work), detached);
        co_spawn(w.context, waiting_producer(w, w.connect(), jobs, workers), detached);
        world.run();
        EXPECT_EQ(work.left, 0);
        EXPECT_EQ(work.taken, std::vector<int>(jobs, 1));
    });
}

namespace {

awaitable<void> waiting_closed_connection(waiting_world& w) {
    auto& leaves = w.connect();
    auto& stays = w.connect();
    auto& pushes = w.connect();
    redis::request takes, adds;
    takes.push("BLPOP", "l", 100);
    adds.push("RPUSH", "l", "x");
    leaves.async_exec(takes, redis::ignore, [](error_code ec, std::size_t) { EXPECT_TRUE(ec); });
    auto first = waiting_pause(w, 1s);
    co_await std::move(first);
    leaves.cancel();
    auto second = waiting_pause(w, 1s);
    co_await std::move(second);
    std::string got;
    co_spawn(w.context, waiting_ask(stays, takes), [&](std::exception_ptr, std::string reply) { got = reply; });
    auto third = waiting_pause(w, 1s);
    co_await std::move(third);
    auto pushing = waiting_ask(pushes, adds);
    EXPECT_EQ(co_await std::move(pushing), "1");
    auto last = waiting_pause(w, 1s);
    co_await std::move(last);
    EXPECT_EQ(got, "l x");
    w.end();
}

} // namespace

TEST(RedisServerWaiting, AClosedConnectionLeavesTheQueue) {
    sim::for_each_seed(scaled(50, 5), [](sim::world& world) {
        waiting_world w(world);
        co_spawn(w.context, waiting_closed_connection(w), detached);
        world.run();
    });
}

} // namespace fairlead::test
