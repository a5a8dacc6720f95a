// Conclusions of the essay on costs for a client of Redis: rows D9 to D12. The server is our own, on the
// same context; the client counts its reads and writes itself.
#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/redis/connection.hpp>
#include <fairlead/redis/response.hpp>
#include <fairlead/redis_server/server.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/post.hpp>

#include <catalogue/bent_driver.hpp>
#include <gtest/gtest.h>

#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

namespace {

using namespace fairlead;

struct PapersRedis : testing::Test {
    PapersRedis() {
        clock.stands = true;
        config.address = server.address();
    }

    /// Runs `body` with a connection that is ready, and ends connection and server behind it.
    template <class Body> void with_connection(Body body) {
        conn.async_run(config, [](error_code) {});
        bool ended = false;
        co_spawn(
            context,
            [](PapersRedis& t, Body b) -> awaitable<void> {
                redis::request hello;
                hello.push("PING");
                co_await t.conn.async_exec(hello, redis::ignore);
                co_await b(t);
            }(*this, body),
            [&](std::exception_ptr e) {
                EXPECT_FALSE(e);
                ended = true;
                conn.cancel();
                server.stop();
            });
        context.run();
        EXPECT_TRUE(ended);
    }

    // The world is looked at by time: what goes out together does not depend on how fast this computer is.
    test::bend clock;
    io_context context{std::make_unique<test::bent_driver>(clock)};
    redis::server server{context};
    redis::connection conn{context};
    redis::config config;
};

TEST_F(PapersRedis, D09_RequestsOfIndependentCallersGoOutInOneWrite) {
    constexpr int callers = 100;
    int right = 0;
    with_connection([&right](PapersRedis& t) -> awaitable<void> {
        auto const before = t.conn.counters();
        int left = callers;
        for (int i = 0; i != callers; ++i) {
            auto const one = [](PapersRedis& in, int id, int& good, int& others) -> awaitable<void> {
                redis::request req;
                req.push("ECHO", id);
                int reply = -1;
                co_await in.conn.async_exec(req, reply);
                good += reply == id;
                --others;
            };
            co_spawn(t.context, one(t, i, right, left), detached);
        }
        while (left != 0)
            co_await post(t.context, use_await);
        auto const after = t.conn.counters();
        EXPECT_EQ(after.writes - before.writes, 1U);
        EXPECT_EQ(after.replies - before.replies, std::uint64_t{callers});
    });
    EXPECT_EQ(right, callers);
}

TEST_F(PapersRedis, D10_ReadsAskForAtLeastFourKiBAndForMoreWhereMoreComes) {
    EXPECT_GE(config.read_bytes_min, 4096U);
    EXPECT_GT(config.read_bytes_max, config.read_bytes_min);
    auto const reads_of = [](PapersRedis& t, std::uint64_t& reads) -> awaitable<void> {
        std::string const value(1'000'000, 'v');
        std::string got;
        redis::request set, get;
        set.push("SET", "key", value);
        get.push("GET", "key");
        co_await t.conn.async_exec(set, redis::ignore);
        auto const before = t.conn.counters().reads;
        co_await t.conn.async_exec(get, got);
        reads = t.conn.counters().reads - before;
        EXPECT_EQ(got, value);
    };
    // A read never brings more than was asked for: with at most 4 KiB for each, a million bytes take 245 of them.
    config.read_bytes_min = config.read_bytes_max = 4096;
    std::uint64_t reads = 0;
    with_connection([&](PapersRedis& t) -> awaitable<void> { co_await reads_of(t, reads); });
    EXPECT_GE(reads, 245U);
    EXPECT_LE(reads, 400U) << "and with 4 KiB asked for each time, few come short";
}

TEST_F(PapersRedis, D11_RepliesThatCameTogetherTakeNoReadEach) {
    with_connection([](PapersRedis& t) -> awaitable<void> {
        redis::request many;
        for (int i = 0; i != 1000; ++i)
            many.push("PING");
        auto const before = t.conn.counters();
        co_await t.conn.async_exec(many, redis::ignore);
        auto const after = t.conn.counters();
        EXPECT_EQ(after.replies - before.replies, 1000U);
        EXPECT_LE(after.reads - before.reads, 10U);
    });
}

TEST_F(PapersRedis, D12_CommandsOfTwoSourcesAndPushesShareOneConnection) {
    redis::connection publisher(context);
    publisher.async_run(config, [](error_code) {});
    with_connection([&publisher](PapersRedis& t) -> awaitable<void> {
        redis::request subscribe;
        subscribe.push("SUBSCRIBE", "news");
        co_await t.conn.async_exec(subscribe, redis::ignore);
        redis::generic_response confirmed;
        co_await t.conn.async_receive(confirmed);

        // One source sends the essay's pipeline, the other one hashes; a third connection publishes meanwhile.
        redis::request pipeline, hash, publish;
        pipeline.push("PING");
        pipeline.push("INCR", "counter");
        pipeline.push("GET", "missing");
        hash.push("HSET", "map", "key1", "value1", "key2", "value2");
        hash.push("HGETALL", "map");
        publish.push("PUBLISH", "news", "here");
        redis::response<std::string, int, std::optional<std::string>> simple;
        redis::response<redis::ignore_t, std::map<std::string, std::string>> aggregates;
        auto const before = t.conn.counters();
        int left = 3;
        auto const count = [&left](error_code ec, std::size_t) {
            EXPECT_FALSE(ec) << ec.message();
            --left;
        };
        publisher.async_exec(publish, redis::ignore, count);
        t.conn.async_exec(pipeline, simple, count);
        t.conn.async_exec(hash, aggregates, count);
        redis::generic_response pushes;
        co_await t.conn.async_receive(pushes);
        while (left != 0)
            co_await post(t.context, use_await);
        EXPECT_EQ(t.conn.counters().writes - before.writes, 1U) << "five commands of two sources";
        EXPECT_EQ(std::get<0>(simple).value(), "PONG");
        EXPECT_EQ(std::get<1>(simple).value(), 1);
        EXPECT_EQ(std::get<2>(simple).value(), std::nullopt);
        EXPECT_EQ(std::get<1>(aggregates).value(),
                  (std::map<std::string, std::string>{{"key1", "value1"}, {"key2", "value2"}}));
        EXPECT_EQ(pushes.messages(), 1U);
        publisher.cancel();
    });
}

} // namespace
