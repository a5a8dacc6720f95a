// A limit for each typed call: it covers all that a call may wait for, and disturbs no other.
#include <gtest/gtest.h>

#include <sim/redis_typed_scene.hpp>

#include <fairlead/net/cancel_after.hpp>
#include <fairlead/redis/lease.hpp>
#include <fairlead/redis/script.hpp>

#include <chrono>
#include <optional>
#include <string>

namespace fairlead::test {
namespace {

/// A typed call in the background.
struct typed_end {
    std::optional<error_code> ec;
    std::optional<std::string> value;
    std::chrono::nanoseconds at{};

    auto handler(sim::world& w) {
        return [this, &w](error_code e, std::optional<std::string> v) {
            ec = e;
            value = std::move(v);
            at = w.elapsed();
        };
    }
};

/// It echoes the last word, the one "late" after five seconds.
awaitable<void> echo_some_late(hand& h, int) {
    auto greeting = h.greet();
    co_await std::move(greeting);
    for (;;) {
        auto reading = h.next();
        auto const words = co_await std::move(reading);
        if (words.back() == "late") {
            auto resting = h.rest(5s);
            co_await std::move(resting);
        }
        auto answering = h.send(bulk(words.back()));
        co_await std::move(answering);
    }
}

awaitable<void> serve_nobody(hand&, int) { co_return; }

TEST(RedisTypedLimits, TheReplyIsCoveredAndNobodyElseIsDisturbed) {
    play_typed(&echo_some_late, [](typed_scene& s) -> awaitable<void> {
        auto first = s.db.get("first");
        co_await std::move(first);
        typed_end before, late, behind;
        auto const begun = s.world.elapsed();
        s.db.async_exec(redis::cmd::get("before"), before.handler(s.world));
        s.db.within(200ms).async_exec(redis::cmd::get("late"), late.handler(s.world));
        s.db.async_exec(redis::cmd::get("behind"), behind.handler(s.world));
        auto ending = s.until([&] { return late.ec.has_value(); });
        co_await std::move(ending);
        EXPECT_EQ(late.ec, redis::error::no_answer_in_time);
        EXPECT_EQ(late.ec, redis::condition::timed_out);
        EXPECT_GE(late.at - begun, 200ms);
        EXPECT_LT(late.at - begun, 400ms);
        auto answered = s.until([&] { return behind.ec.has_value(); });
        co_await std::move(answered);
        EXPECT_EQ(before.value, "before");
        EXPECT_EQ(behind.value, "behind");
        EXPECT_EQ(s.db.counters().lost, 0U) << "the connection goes on";
    });
}

TEST(RedisTypedLimits, AnAwaitedMemberThrowsWithItsLimit) {
    play_typed(&echo_some_late, [](typed_scene& s) -> awaitable<void> {
        auto first = s.db.get("first");
        co_await std::move(first);
        error_code ec;
        try {
            auto limited = s.db.within(100ms).get("late");
            co_await std::move(limited);
        } catch (system_error const& e) {
            ec = e.code();
        }
        EXPECT_EQ(ec, redis::error::no_answer_in_time);
        auto in_time = s.db.within(20s).get("prompt");
        auto const value = co_await std::move(in_time);
        EXPECT_EQ(value, "prompt");
    });
}

TEST(RedisTypedLimits, TheWaitForAConnectionIsCovered) {
    play_typed(&serve_nobody, [](typed_scene& s) -> awaitable<void> {
        typed_end one;
        auto const begun = s.world.elapsed();
        s.db.within(300ms).async_exec(redis::cmd::get("key"), one.handler(s.world));
        auto ending = s.until([&] { return one.ec.has_value(); });
        co_await std::move(ending);
        EXPECT_EQ(one.ec, redis::error::not_sent_in_time);
        EXPECT_EQ(one.ec, redis::condition::not_executed);
        EXPECT_GE(one.at - begun, 300ms);
        EXPECT_LT(one.at - begun, 500ms);
    });
}

TEST(RedisTypedLimits, TheWaitForRoomAndForALeaseAreCovered) {
    play_typed(&echo_some_late,
               [](typed_scene& s) -> awaitable<void> {
                   typed_end late, queued, blocked;
                   auto first = s.db.get("first");
                   co_await std::move(first);
                   s.db.async_exec(redis::cmd::get("late"), late.handler(s.world));
                   auto resting = s.rest(50ms);
                   co_await std::move(resting);
                   auto const begun = s.world.elapsed();
                   s.db.within(100ms).async_exec(redis::cmd::get("queued"), queued.handler(s.world));
                   std::optional<error_code> pop_end;
                   s.db.within(100ms).async_exec(redis::cmd::blpop("jobs", 500ms),
                                                 [&](error_code ec, auto&&) { pop_end = ec; });
                   auto ending = s.until([&] { return queued.ec.has_value() && pop_end.has_value(); });
                   co_await std::move(ending);
                   EXPECT_EQ(queued.ec, redis::error::not_sent_in_time);
                   EXPECT_LT(queued.at - begun, 300ms);
                   EXPECT_EQ(pop_end, redis::error::not_sent_in_time) << "nobody serves a second connection";
                   EXPECT_LT(s.world.elapsed() - begun, 300ms) << "its time in the server is not added";
                   auto answered = s.until([&] { return late.ec.has_value(); });
                   co_await std::move(answered);
                   EXPECT_EQ(late.value, "late");
               },
               {.address = "10.0.0.1", .wait_when_full = true, .requests_max = 1});
}

TEST(RedisTypedLimits, TheDefaultOfTheClientHoldsWhereACallHasNone) {
    play_typed(&echo_some_late,
               [](typed_scene& s) -> awaitable<void> {
                   typed_end by_default, own;
                   auto const begun = s.world.elapsed();
                   s.db.async_exec(redis::cmd::get("late"), by_default.handler(s.world));
                   s.db.within(20s).async_exec(redis::cmd::get("own"), own.handler(s.world));
                   auto ending = s.until([&] { return by_default.ec.has_value(); });
                   co_await std::move(ending);
                   EXPECT_EQ(by_default.ec, redis::condition::timed_out);
                   EXPECT_GE(by_default.at - begun, 400ms);
                   EXPECT_LT(by_default.at - begun, 600ms);
                   auto answered = s.until([&] { return own.ec.has_value(); });
                   co_await std::move(answered);
                   EXPECT_EQ(own.value, "own");
               },
               {.address = "10.0.0.1", .request_timeout = 400ms});
}

TEST(RedisTypedLimits, TheTokenCancelAfterEndsATypedCall) {
    play_typed(&echo_some_late, [](typed_scene& s) -> awaitable<void> {
        auto first = s.db.get("first");
        co_await std::move(first);
        auto limited = s.db.async_exec(redis::cmd::get("late"), cancel_after(100ms, as_tuple));
        auto const [ec, value] = co_await std::move(limited);
        EXPECT_EQ(ec, redis::error::maybe_executed);
        auto call = s.db.get("again"); // As any operation: it takes a token afterwards.
        auto in_time = std::move(call)(cancel_after(20s));
        auto const again = co_await std::move(in_time);
        EXPECT_EQ(again, "again");
    });
}

/// The shorter one of two limits says how the call ends.
TEST(RedisTypedLimits, TheTokenCancelAfterStandsBesideTheLimitOfTheClient) {
    play_typed(&echo_some_late,
               [](typed_scene& s) -> awaitable<void> {
                   auto first = s.db.within(30s).get("first");
                   co_await std::move(first);
                   auto const begun = s.world.elapsed();
                   auto const ends_at = [&](typed_end const& e, std::chrono::milliseconds d) {
                       return e.at - begun >= d && e.at - begun < d + 100ms;
                   };
                   typed_end typed, by_client, unheard, queued, untyped;
                   redis::request req;
                   req.push("GET", "behind");
                   redis::generic_response reply;
                   s.db.async_exec(redis::cmd::get("late"), cancel_after(100ms, typed.handler(s.world)));
                   s.db.async_exec(redis::cmd::get("late"), cancel_after(20s, by_client.handler(s.world)));
                   s.db.async_exec(redis::cmd::get("late"),
                                   cancel_after(100ms, cancellation_type::total, unheard.handler(s.world)));
                   s.db.async_exec(req, reply, cancel_after(200ms, [&](error_code ec, std::size_t) {
                                       untyped.ec = ec;
                                       untyped.at = s.world.elapsed();
                                   }));
                   s.db.async_exec(redis::cmd::get("queued"), cancel_after(50ms, queued.handler(s.world)));
                   auto ending = s.until([&] { return by_client.ec.has_value() && unheard.ec.has_value(); });
                   co_await std::move(ending);
                   EXPECT_EQ(typed.ec, redis::error::maybe_executed);
                   EXPECT_TRUE(ends_at(typed, 100ms));
                   EXPECT_EQ(untyped.ec, redis::error::maybe_executed);
                   EXPECT_TRUE(ends_at(untyped, 200ms));
                   EXPECT_EQ(queued.ec, fairlead::error::operation_aborted) << "it waited for room";
                   EXPECT_TRUE(ends_at(queued, 50ms));
                   EXPECT_EQ(by_client.ec, redis::error::no_answer_in_time);
                   EXPECT_TRUE(ends_at(by_client, 1500ms));
                   EXPECT_EQ(unheard.ec, redis::error::no_answer_in_time) << "a call does not hear of total";
                   auto last = s.db.async_exec(redis::cmd::get("last"), cancel_after(20s, as_tuple));
                   auto const [ec, value] = co_await std::move(last);
                   EXPECT_EQ(ec, redis::condition::timed_out) << "the server is still busy";
               },
               {.address = "10.0.0.1", .request_timeout = 1500ms, .wait_when_full = true, .requests_max = 4});
}

TEST(RedisTypedLimits, TheTokenCancelAfterCoversTheWaitForAConnection) {
    play_typed(&serve_nobody, [](typed_scene& s) -> awaitable<void> {
        auto const begun = s.world.elapsed();
        auto limited = s.db.async_exec(redis::cmd::get("x"), cancel_after(100ms, as_tuple));
        auto const [ec, value] = co_await std::move(limited);
        EXPECT_EQ(ec, fairlead::error::operation_aborted);
        EXPECT_LT(s.world.elapsed() - begun, 200ms);
    });
}

TEST(RedisTypedLimits, APipelineATransactionAndACallOfALeaseHaveThem) {
    play_typed(
        &echo_some_late,
        [](typed_scene& s) -> awaitable<void> {
            auto first = s.db.get("first");
            co_await std::move(first);
            error_code of_pipeline, of_lease;
            auto getting = redis::pipeline(redis::cmd::get("a"), redis::cmd::get("late"));
            try {
                auto limited = s.db.within(100ms).call(getting);
                co_await std::move(limited);
            } catch (system_error const& e) {
                of_pipeline = e.code();
            }
            EXPECT_EQ(of_pipeline, redis::error::no_answer_in_time);
            auto taking = s.db.acquire();
            auto own = co_await std::move(taking);
            try {
                auto limited = own.within(100ms).get("late");
                co_await std::move(limited);
            } catch (system_error const& e) {
                of_lease = e.code();
            }
            EXPECT_EQ(of_lease, redis::error::no_answer_in_time);
        },
        {.address = "10.0.0.1"}, true);
}

/// The server has lost the script, and is slow: the two attempts together have one limit.
TEST(RedisTypedLimits, TheAttemptsOfAScriptHaveOneLimit) {
    script const server = [](hand& h, int) -> awaitable<void> {
        auto greeting = h.greet();
        co_await std::move(greeting);
        for (;;) {
            auto reading = h.next();
            auto const words = co_await std::move(reading);
            auto resting = h.rest(200ms);
            co_await std::move(resting);
            auto answering = h.send(words[0] == "EVALSHA" ? "-NOSCRIPT no such script\r\n" : ":1\r\n");
            co_await std::move(answering);
        }
    };
    play_typed(server, [](typed_scene& s) -> awaitable<void> {
        redis::script const one("return 1");
        auto const call_of = [&] { return redis::cmd::eval<long>(one, "key"); };
        auto const begun = s.world.elapsed();
        error_code ec;
        try {
            auto limited = s.db.within(300ms).call(call_of());
            co_await std::move(limited);
        } catch (system_error const& e) {
            ec = e.code();
        }
        EXPECT_EQ(ec, redis::condition::timed_out);
        EXPECT_LT(s.world.elapsed() - begun, 400ms);
        auto longer = s.db.within(5s).call(call_of());
        auto const result = co_await std::move(longer);
        EXPECT_EQ(result, 1);
    });
}

} // namespace
} // namespace fairlead::test
