// The client and the library's own server in a simulated world. Callers come, give up and repeat. The server drops its
// clients, and every read and write is cut anywhere. The same seed is the same run.

#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/strand.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/redis/connection.hpp>
#include <fairlead/redis_server/server.hpp>
#include <fairlead/sim/seeds.hpp>
#include <fairlead/sim/world.hpp>
#include <fairlead/token/adapters.hpp>

#include "sim/redis_world.hpp"
#include "support/scale.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace fairlead::test {

namespace {

/// The common state of all coroutines of one run.
struct history {
    history(sim::world& w, std::uint64_t seed) : context(w.context()), random(seed), server(context), conn(context) {}

    unsigned draw(unsigned below) { return static_cast<unsigned>(random() % below); }

    io_context& context;
    std::mt19937_64 random;
    redis::server server;
    redis::connection conn;
    long live = 0;
    long replies = 0;
    long increments = 0; // known to be done
    long unknown = 0;    // increments of which nobody knows
    long given_up = 0;
    long generations = 0;
    long messages = 0;
    long last_message = -1;
    std::string failure;
};

void expect(history& h, bool good, std::string what) {
    if (!good && h.failure.empty())
        h.failure = std::move(what);
}

/// Gives a request up after a while, unless it is done by then.
awaitable<void> give_up_later(history& h, redis::request const& req, std::shared_ptr<bool> done) {
    steady_timer patience(h.context, std::chrono::microseconds(h.draw(3000)));
    co_await patience.async_wait();
    if (!*done && h.conn.cancel(req) != 0)
        ++h.given_up;
}

awaitable<void> call(history& h, int id, int rounds) {
    redis::request req;
    steady_timer pause(h.context);
    for (int i = 0; i != rounds; ++i) {
        req.clear();
        auto const token =
            std::to_string(id) + ":" + std::to_string(i) + std::string(h.draw(20) == 0 ? h.draw(50'000) : 0, '.');
        bool const counts = h.draw(2) == 0;
        req.push("ECHO", token);
        if (counts)
            req.push("INCR", "n");
        redis::response<std::string> one;
        redis::response<std::string, long> two;
        auto const done = std::make_shared<bool>(false);
        if (h.draw(4) == 0)
            co_spawn(h.context, give_up_later(h, req, done), detached);
        error_code ec;
        if (counts) {
            auto executing = h.conn.async_exec(req, two, redirect_error(ec));
            co_await std::move(executing);
        } else {
            auto executing = h.conn.async_exec(req, one, redirect_error(ec));
            co_await std::move(executing);
        }
        *done = true;
        if (!ec) {
            ++h.replies;
            h.increments += counts;
            auto const& echo = counts ? std::get<0>(two) : std::get<0>(one);
            expect(h, echo.value() == token, "somebody else's reply: " + echo.value() + " for " + token);
        } else if (ec == R::maybe_executed) {
            h.unknown += counts;
        } else {
            expect(h, ec == redis::condition::not_executed, "an unexpected end: " + ec.message());
        }
        pause.expires_after(std::chrono::microseconds(h.draw(500)));
        co_await pause.async_wait();
    }
    --h.live;
}

awaitable<void> keep_connected(history& h) {
    redis::config cfg;
    cfg.address = h.server.address();
    cfg.keep_unsent = h.draw(2) == 0;
    while (h.live != 0) {
        error_code ec;
        auto running = h.conn.async_run(cfg, redirect_error(ec));
        co_await std::move(running);
        expect(h, static_cast<bool>(ec), "async_run ended without a reason");
        expect(h,
               ec == error::eof || ec == error::connection_reset || ec == error::broken_pipe ||
                   ec == error::operation_aborted,
               "async_run ended with " + ec.message());
        ++h.generations;
    }
}

awaitable<void> disturb_clients(history& h) {
    steady_timer pause(h.context);
    while (h.live != 0) {
        pause.expires_after(std::chrono::microseconds(500 + h.draw(20'000)));
        co_await pause.async_wait();
        h.server.disconnect_clients();
    }
    h.conn.cancel();
    // One quiet connection at the end asks what really happened.
    redis::connection conn(h.context);
    redis::config cfg;
    cfg.address = h.server.address();
    conn.async_run(cfg, detached);
    redis::request req;
    req.push("GET", "n");
    redis::response<std::optional<long>> n;
    co_await conn.async_exec(req, n);
    long const value = std::get<0>(n).value().value_or(0);
    expect(h, value >= h.increments, "an increment that was confirmed is missing");
    expect(h, value <= h.increments + h.unknown, "an increment was executed that was reported as not executed");
    conn.cancel();
    h.server.stop();
}

/// How often each ending occurred, over all seeds of a test.
struct server_totals {
    long replies = 0;
    long unknown = 0;
    long given_up = 0;
    long generations = 0;
};

std::uint64_t live_through_servers_world(std::uint64_t seed, server_totals& all) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    sim::world world(seed);
    history h(world, seed);
    h.live = 30;
    for (int id = 0; id != 30; ++id)
        co_spawn(h.context, call(h, id, 20), detached);
    co_spawn(h.context, keep_connected(h), detached);
    co_spawn(h.context, disturb_clients(h), detached);
    world.run();
    EXPECT_EQ(h.failure, "");
    EXPECT_EQ(h.live, 0);
    EXPECT_EQ(h.conn.pending(), 0U);
    all.replies += h.replies;
    all.unknown += h.unknown;
    all.given_up += h.given_up;
    all.generations += h.generations;
    return world.digest();
}

} // namespace

class RedisInASimulatedWorld : public testing::TestWithParam<std::uint64_t> {};

TEST_P(RedisInASimulatedWorld, NobodyGetsAnothersReplyAndNothingIsExecutedInSecret) {
    // Each parameter stands for a range of seeds, so that the scale can grow it.
    auto const count = scaled(20, 5);
    server_totals all;
    for (std::uint64_t i = 0; i != count && !HasFailure(); ++i)
        live_through_servers_world(GetParam() * 1'000'000 + i, all);
    EXPECT_GT(all.replies, 100);
    EXPECT_GT(all.unknown, 0);
    EXPECT_GT(all.given_up, 0);
    EXPECT_GT(all.generations, 5);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RedisInASimulatedWorld, testing::Range<std::uint64_t>(1, 6));

TEST(RedisInASimulatedWorld, TheSameSeedIsTheSameRun) {
    server_totals all;
    auto const seven = live_through_servers_world(7, all);
    auto const eight = live_through_servers_world(8, all);
    EXPECT_EQ(live_through_servers_world(7, all), seven);
    EXPECT_EQ(live_through_servers_world(8, all), eight);
    EXPECT_NE(seven, eight);
}

namespace {

awaitable<void> publish_many(history& h, int count) {
    redis::connection publisher(h.context);
    redis::config cfg;
    cfg.address = h.server.address();
    publisher.async_run(cfg, detached);
    redis::request req;
    steady_timer pause(h.context);
    for (int i = 0; i != count; ++i) {
        req.clear();
        req.push("PUBLISH", "news", i);
        co_await publisher.async_exec(req, redis::ignore);
        pause.expires_after(std::chrono::microseconds(h.draw(200)));
        co_await pause.async_wait();
    }
    publisher.cancel();
}

awaitable<void> listen_and_ask(history& h, int count) {
    redis::config cfg;
    cfg.address = h.server.address();
    h.conn.async_run(cfg, detached);
    redis::request subscribe, ask;
    subscribe.push("SUBSCRIBE", "news");
    co_await h.conn.async_exec(subscribe, redis::ignore);
    co_spawn(h.context, publish_many(h, count), detached);
    redis::generic_response pushes;
    std::string reply;
    while (h.last_message + 1 != count) {
        co_await h.conn.async_receive(pushes);
        for (std::size_t i = 0; i != pushes.size(); ++i) {
            auto const n = pushes[i];
            if (!n.last || pushes[i - 2].value != "message")
                continue;
            expect(h, n.value == std::to_string(h.last_message + 1), "message out of order: " + std::string(n.value));
            ++h.last_message;
        }
        auto const token = std::to_string(h.draw(1000));
        ask.clear();
        ask.push("ECHO", token);
        co_await h.conn.async_exec(ask, reply);
        expect(h, reply == token, "somebody else's reply");
    }
    h.conn.cancel();
    h.server.stop();
}

} // namespace

TEST_P(RedisInASimulatedWorld, EveryMessageComesOnceAndInOrderWhileRepliesFlow) {
    auto const count = scaled(10, 2);
    for (std::uint64_t i = 0; i != count && !HasFailure(); ++i) {
        auto const seed = GetParam() * 2'000'000 + i;
        SCOPED_TRACE("seed " + std::to_string(seed));
        sim::world world(seed);
        history h(world, seed);
        co_spawn(h.context, listen_and_ask(h, 200), detached);
        world.run();
        EXPECT_EQ(h.failure, "");
        EXPECT_EQ(h.last_message, 199);
    }
}

// ---- the shadow against the embedded server, on real sockets

namespace {

awaitable<void> ask_all(io_context& context, std::string address, std::vector<std::string>& answers) {
    redis::connection connection(context);
    redis::config config;
    config.address = address;
    connection.async_run(config, detached);
    redis::request req;
    req.push("SET", "k", "v");
    req.push("GET", "k");
    req.push("GET", "nothing");
    req.push("INCR", "n");
    req.push("INCR", "n");
    req.push("INCR", "k");
    req.push("APPEND", "k", "w");
    req.push("ECHO", "hello");
    req.push("PING");
    req.push("PING", "again");
    req.push("PUBLISH", "nobody", "listens");
    req.push("MULTI");
    req.push("INCR", "n");
    req.push("GET", "k");
    req.push("INCR", "k");
    req.push("EXEC");
    req.push("UNSUBSCRIBE");
    req.push("SUBSCRIBE", "a", "b");
    req.push("PUBLISH", "a", "to myself");
    req.push("UNSUBSCRIBE", "a");
    req.push("ECHO", "over");
    redis::generic_response replies, pushes;
    auto executing = connection.async_exec(req, replies);
    co_await std::move(executing);
    answers = reply_lines(replies);
    for (std::size_t n = 0; n != 5;) {
        auto receiving = connection.async_receive(pushes);
        n += co_await std::move(receiving);
        for (auto& line : reply_lines(pushes))
            answers.push_back(std::move(line));
    }
    connection.cancel();
}

} // namespace

TEST(RedisTimeOuts, FarAwayTheyAreNone) {
    sim::world w(1);
    redis::server server(w.context());
    redis::connection conn(w.context());
    redis::config far;
    far.address = server.address();
    far.connect_timeout = far.hello_timeout = far.health_check_interval = std::chrono::milliseconds::max();
    error_code ended;
    conn.async_run(far, [&](error_code ec) { ended = ec; });
    redis::request req;
    req.push("PING");
    redis::response<std::string> resp;
    conn.async_exec(req, resp, [&](error_code ec, std::size_t) {
        EXPECT_FALSE(ec) << ec.message();
        conn.cancel();
        server.stop();
    });
    w.run();
    EXPECT_EQ(ended, error::operation_aborted);
    ASSERT_TRUE(std::get<0>(resp).has_value());
    EXPECT_EQ(std::get<0>(resp).value(), "PONG");
}

TEST(RedisInASimulatedWorld, X4_HandlersOfAConnectionOnAStrandRunInIt) {
    std::uint64_t good = 0, given_up = 0;
    sim::for_each_seed(scaled(300, 30), [&](sim::world& w) {
        redis::server server(w.context());
        auto const strand = make_strand(w.context());
        auto conn = std::make_unique<redis::connection>(strand);
        std::mt19937_64 random(w.seed());
        std::vector<redis::request> requests(8);
        std::vector<int> values(requests.size());
        std::size_t pending = requests.size() + 2;
        auto const ended = [&] {
            EXPECT_TRUE(strand.running_in_this_thread());
            if (--pending == 0)
                server.stop();
        };
        redis::generic_response pushes;
        conn->async_run({.address = server.address()}, [&](error_code ec) {
            EXPECT_EQ(ec, error::operation_aborted);
            ended();
        });
        conn->async_receive(pushes, [&](error_code ec, std::size_t) {
            EXPECT_EQ(ec, error::operation_aborted);
            ended();
        });
        for (std::size_t i = 0; i != requests.size(); ++i) {
            requests[i].push("ECHO", i);
            conn->async_exec(requests[i], values[i], [&, i](error_code ec, std::size_t) {
                if (!ec)
                    EXPECT_EQ(values[i], static_cast<int>(i));
                else
                    EXPECT_TRUE(ec == error::operation_aborted || ec == redis::error::maybe_executed) << ec.message();
                ++(ec ? given_up : good);
                ended();
            });
        }
        w.at(std::chrono::microseconds(random() % 2000), [&] {
            if (conn)
                conn->cancel(requests[3]);
        });
        w.at(std::chrono::microseconds(random() % 4000), [&] { conn.reset(); });
        w.run();
        EXPECT_EQ(pending, 0U);
    });
    EXPECT_GT(good, 0U);
    EXPECT_GT(given_up, 0U);
}

TEST(ShadowRedis, AnswersAsTheEmbeddedServerDoesOnRealSockets) {
    std::vector<std::string> of_shadow, of_server;
    {
        shadow_redis shadow(1);
        io_context context;
        spawn(context, shadow.serve(context, {ip::address_v4::loopback(), 0}));
        context.poll(); // Now it has a port.
        co_spawn(context, ask_all(context, "127.0.0.1:" + std::to_string(shadow.port()), of_shadow),
                 [&](std::exception_ptr e) {
                     EXPECT_FALSE(e);
                     context.stop();
                 });
        context.run();
    }
    {
        io_context context;
        redis::server server(context);
        co_spawn(context, ask_all(context, server.address(), of_server), [&](std::exception_ptr e) {
            EXPECT_FALSE(e);
            server.stop();
        });
        context.run();
    }
    EXPECT_EQ(of_shadow, of_server);
    EXPECT_EQ(of_shadow.size(), 18U + 5U);
}

} // namespace fairlead::test
