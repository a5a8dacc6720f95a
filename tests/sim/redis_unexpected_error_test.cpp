// The exception of a call whose connection ended says what came before.
#include <gtest/gtest.h>

#include <sim/redis_typed_scene.hpp>

#include <fairlead/redis/unexpected_error.hpp>
#include <fairlead/redis/value_stream.hpp>
#include <fairlead/token/use_future.hpp>

#include <future>
#include <string>
#include <string_view>

namespace fairlead::test {
namespace {

script breaks_with(std::string last_words) {
    return [last_words](hand& h, int generation) -> awaitable<void> {
        auto greeting = h.greet();
        co_await std::move(greeting);
        auto reading = h.skip(1);
        co_await std::move(reading);
        if (generation == 0) {
            auto breaking = h.send(last_words);
            co_await std::move(breaking);
            co_return;
        }
        auto answering = h.send(":1\r\n");
        co_await std::move(answering);
        auto draining = h.skip(1);
        co_await std::move(draining);
    };
}

struct caught_error {
    error_code ec;
    std::string what, events;
    bool is_unexpected = false;
};

/// Named, for it is awaited in a catch block of nobody.
template <class Start> awaitable<caught_error> catch_from(Start start) {
    caught_error c;
    try {
        auto calling = start();
        co_await std::move(calling);
    } catch (redis::unexpected_error const& e) {
        c = {e.code(), e.what(), std::string(e.recent_events()), true};
    } catch (system_error const& e) {
        c = {e.code(), e.what(), {}, false};
    }
    co_return c;
}
awaitable<caught_error> catch_of(redis::client& db) {
    return catch_from([&db] { return db.incr("n"); });
}

TEST(RedisUnexpectedError, ACallThatEndsWithItsConnectionHasTheEvents) {
    for (std::string const& last_words : {std::string("?no RESP\r\n"), std::string()})
        play_typed(breaks_with(last_words), [&](typed_scene& s) -> awaitable<void> {
            auto calling = catch_of(s.db);
            auto const caught = co_await std::move(calling);
            EXPECT_TRUE(caught.is_unexpected) << caught.what;
            EXPECT_EQ(caught.ec, redis::error::maybe_executed);
            EXPECT_TRUE(caught.what.starts_with("redis INCR: ")) << caught.what;
            EXPECT_EQ(caught.what.find('\n'), std::string::npos) << "it is short";
            EXPECT_NE(caught.events.find("ready, RESP3"), std::string::npos) << caught.events;
            EXPECT_NE(caught.events.find("ended: "), std::string::npos) << caught.events;
        });
}

script refuses_with(std::string words) {
    return [words](hand& h, int) -> awaitable<void> {
        auto greeting = h.greet();
        co_await std::move(greeting);
        auto reading = h.skip(1);
        co_await std::move(reading);
        auto refusing = h.send(words);
        co_await std::move(refusing);
        auto draining = h.skip(10);
        co_await std::move(draining);
    };
}

TEST(RedisUnexpectedError, RefusalsAndCancellationsArePlain) {
    play_typed(refuses_with("-WRONGTYPE no\r\n"), [](typed_scene& s) -> awaitable<void> {
        auto calling = catch_of(s.db);
        auto const refused = co_await std::move(calling);
        EXPECT_FALSE(refused.is_unexpected);
        EXPECT_EQ(refused.ec, redis::error::wrong_type);
        steady_timer soon(s.context, 50ms);
        soon.async_wait([&s](error_code) { s.db.cancel(); });
        auto waiting = catch_of(s.db);
        auto const cancelled = co_await std::move(waiting);
        EXPECT_FALSE(cancelled.is_unexpected) << cancelled.what;
        auto ending = s.rest(10ms);
        co_await std::move(ending);
        auto coming_late = catch_of(s.db);
        auto const late = co_await std::move(coming_late);
        EXPECT_EQ(late.ec, redis::error::not_connected);
        EXPECT_FALSE(late.is_unexpected) << late.what;
    });
}

TEST(RedisUnexpectedError, ARefusalThroughAFutureHasTheWordsOfTheServer) {
    play_typed(refuses_with("-WRONGTYPE it is a list\r\n"), [](typed_scene& s) -> awaitable<void> {
        auto result = s.db.incr("n")(use_future);
        auto waiting = s.until([&] { return result.wait_for(0s) == std::future_status::ready; });
        co_await std::move(waiting);
        try {
            result.get();
            ADD_FAILURE() << "it was not refused";
        } catch (system_error const& e) {
            EXPECT_EQ(e.code(), redis::error::wrong_type);
            EXPECT_TRUE(std::string_view(e.what()).starts_with("redis INCR: WRONGTYPE it is a list: ")) << e.what();
        }
    });
}

TEST(RedisUnexpectedError, ARunThatEndsHasTheEvents) {
    play_and_ask(breaks_with("?no RESP\r\n"), [](scene& s) -> awaitable<void> {
        redis::request req;
        req.push("PING");
        s.connection.async_exec(req, redis::ignore, [](error_code, std::size_t) {});
        auto running = catch_from([&s] { return s.connection.async_run(s.config); });
        auto const caught = co_await std::move(running);
        EXPECT_TRUE(caught.is_unexpected) << caught.what;
        EXPECT_TRUE(caught.what.starts_with("redis connection to 10.0.0.1: ")) << caught.what;
        EXPECT_NE(caught.events.find("ready, RESP3"), std::string::npos) << caught.events;
        EXPECT_NE(caught.events.find("ended: "), std::string::npos) << caught.events;
    });
}

TEST(RedisUnexpectedError, ARunWithoutCallsHasTheEventsUnlessItWasCancelled) {
    play_and_ask(
        [](hand& h, int) -> awaitable<void> {
            auto greeting = h.greet();
            co_await std::move(greeting);
            auto draining = h.skip(1);
            co_await std::move(draining);
        },
        [](scene& s) -> awaitable<void> {
            auto const port = s.config.address;
            s.config.address = "10.0.0.1:1"; // where nobody listens
            auto failing = catch_from([&s] { return s.connection.async_run(s.config); });
            auto const failed = co_await std::move(failing);
            EXPECT_TRUE(failed.is_unexpected) << failed.what;
            EXPECT_NE(failed.events.find("connecting"), std::string::npos) << failed.events;
            s.config.address = port;
            steady_timer soon(s.context, 50ms);
            soon.async_wait([&s](error_code) { s.connection.cancel(); });
            auto running = catch_from([&s] { return s.connection.async_run(s.config); });
            auto const cancelled = co_await std::move(running);
            EXPECT_EQ(cancelled.ec, fairlead::error::operation_aborted);
            EXPECT_FALSE(cancelled.is_unexpected) << cancelled.what;
        });
}

TEST(RedisUnexpectedError, AClientThatGivesUpHasTheEvents) {
    play_typed([](hand& h, int) { return h.skip(1); }, // It closes in the middle of the greeting.
               [](typed_scene& s) -> awaitable<void> {
                   redis::client other(s.context, {.address = "10.0.0.1:1"},
                                       {.pause_min = 1ms, .pause_max = 2ms, .attempts_max = 2});
                   auto running = catch_from([&other] { return other.async_run(); });
                   auto const caught = co_await std::move(running);
                   EXPECT_TRUE(caught.is_unexpected) << caught.what;
                   EXPECT_TRUE(caught.what.starts_with("redis client: ")) << caught.what;
                   EXPECT_NE(caught.events.find("connecting"), std::string::npos) << caught.events;
                   EXPECT_NE(caught.events.find("ended: "), std::string::npos) << caught.events;
                   auto calling_late = catch_of(other);
                   auto const late = co_await std::move(calling_late);
                   EXPECT_EQ(late.ec, redis::error::not_connected);
                   EXPECT_NE(late.events.find("ended: "), std::string::npos) << late.what;
                   steady_timer soon(s.context, 5ms);
                   redis::client third(s.context, {.address = "10.0.0.1:1"});
                   soon.async_wait([&third](error_code) { third.cancel(); });
                   auto cancelling = catch_from([&third] { return third.async_run(); });
                   auto const cancelled = co_await std::move(cancelling);
                   EXPECT_EQ(cancelled.ec, fairlead::error::operation_aborted);
                   EXPECT_FALSE(cancelled.is_unexpected) << cancelled.what;
               });
}

/// It takes in a value, and says nothing more.
script takes_and_breaks(std::size_t commands) {
    return [commands](hand& h, int) -> awaitable<void> {
        auto greeting = h.greet();
        co_await std::move(greeting);
        auto reading = h.skip(commands);
        co_await std::move(reading);
    };
}

TEST(RedisUnexpectedError, AValueInPiecesThatEndsWithItsConnectionHasTheEvents) {
    constexpr std::size_t value_bytes = 100'000;
    std::string const value(value_bytes, 'v');
    for (bool const is_whole : {true, false})
        play_typed(takes_and_breaks(is_whole ? 1 : 0), [&](typed_scene& s) -> awaitable<void> {
            auto const set = redis::cmd::set("film", redis::in_pieces);
            auto next = [&, left = std::string_view(value)]() mutable -> awaitable<std::string_view> {
                auto const piece = left.substr(0, 10'000);
                left.remove_prefix(piece.size());
                auto resting = s.rest(is_whole ? 0ms : 5ms);
                co_await std::move(resting);
                co_return piece;
            };
            auto writing = catch_from([&] { return redis::write_in_pieces(s.db, set, value_bytes, next); });
            auto const caught = co_await std::move(writing);
            EXPECT_TRUE(caught.is_unexpected) << caught.what;
            EXPECT_EQ(caught.ec, is_whole ? redis::error::maybe_executed : redis::error::value_incomplete);
            EXPECT_TRUE(caught.what.starts_with("redis SET: ")) << caught.what;
            EXPECT_NE(caught.events.find("ready, RESP3"), std::string::npos) << caught.events;
        });
}

TEST(RedisUnexpectedError, AScriptThatEndsWithItsConnectionHasTheEvents) {
    redis::script const take("return redis.call('DECR', KEYS[1])");
    play_typed(breaks_with("?no RESP\r\n"), [&](typed_scene& s) -> awaitable<void> {
        auto calling = catch_from([&] { return s.db.eval<long>(take, "k"); });
        auto const caught = co_await std::move(calling);
        EXPECT_TRUE(caught.is_unexpected) << caught.what;
        EXPECT_EQ(caught.ec, redis::error::maybe_executed);
        EXPECT_TRUE(caught.what.starts_with("redis EVALSHA: ")) << caught.what;
        EXPECT_NE(caught.events.find("ready, RESP3"), std::string::npos) << caught.events;
    });
}

} // namespace
} // namespace fairlead::test
