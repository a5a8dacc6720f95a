// A client and its server over many connections: what is repeated, what waits, what ends how. In many worlds.
#include <gtest/gtest.h>

#include <fairlead/net/cancel_after.hpp>
#include <fairlead/redis/cmd.hpp>
#include <fairlead/redis/script.hpp>
#include <sim/redis_client_scene.hpp>

#include <deque>
#include <map>
#include <optional>

namespace fairlead::test {
namespace {

TEST(RedisClient, ConnectsAgainAndSaysSo) {
    std::vector<std::string> heard;
    play_and_use(
        [&](hand& h, int generation) -> awaitable<void> {
            auto greeting = h.greet();
            co_await std::move(greeting);
            if (generation < 2)
                co_return; // It closes at once.
            auto answering = answer_all(h, heard);
            co_await std::move(answering);
        },
        [](client_scene& s) -> awaitable<void> {
            s.start();
            auto waiting = s.until([&s] { return s.count(event_kind::ready) == 3; });
            co_await std::move(waiting);
            client_call echo("ECHO", "it is back");
            echo.start(s.client);
            auto answered = s.until([&] { return echo.is_done(); });
            co_await std::move(answered);
            EXPECT_FALSE(echo.end) << echo.end.message();
            EXPECT_EQ(echo.response.value(), "it is back");
            EXPECT_EQ(s.count(event_kind::lost), 2U);
            EXPECT_GE(s.count(event_kind::restored), 1U);
            auto const counters = s.client.counters();
            EXPECT_EQ(counters.ready, 3U);
            EXPECT_EQ(counters.lost, 2U);
            EXPECT_EQ(counters.attempts, counters.ready + counters.failed);
            EXPECT_EQ(s.count(event_kind::failed), counters.failed);
        });
}

TEST(RedisClient, CallsWaitForAServerThatComesLate) {
    std::vector<std::string> heard;
    play_and_use(
        [&](hand& h, int generation) -> awaitable<void> {
            if (generation < 3)
                co_return; // before its greeting
            auto greeting = h.greet();
            co_await std::move(greeting);
            auto answering = answer_all(h, heard);
            co_await std::move(answering);
        },
        [](client_scene& s) -> awaitable<void> {
            std::deque<client_call> calls;
            for (int i = 0; i != 10; ++i)
                calls.emplace_back("SET", std::to_string(i)).start(s.client);
            s.start();
            auto waiting = s.until([&] { return std::ranges::all_of(calls, &client_call::is_done); });
            co_await std::move(waiting);
            for (std::size_t i = 0; i != calls.size(); ++i) {
                EXPECT_FALSE(calls[i].end) << calls[i].end.message();
                EXPECT_EQ(calls[i].response.value(), std::to_string(i));
                EXPECT_EQ(calls[i].completions, 1);
            }
            EXPECT_EQ(s.count(event_kind::failed), 3U);
            EXPECT_EQ(s.count(event_kind::lost), 0U);
        });
}

/// The server takes commands and goes without a word.
TEST(RedisClient, OnlyRequestsThatReadAreSentAnew) {
    std::vector<std::string> heard;
    play_and_use(
        [&](hand& h, int generation) -> awaitable<void> {
            auto greeting = h.greet();
            co_await std::move(greeting);
            if (generation == 0) {
                heard.clear();
                auto reading = h.skip(4);
                co_await std::move(reading);
                co_return;
            }
            auto answering = answer_all(h, heard);
            co_await std::move(answering);
        },
        [&](client_scene& s) -> awaitable<void> {
            s.start();
            auto waiting = s.until([&s] { return s.client.is_ready(); });
            co_await std::move(waiting);
            client_call reads("GET", "a"), writes("INCR", "b"), reads_too("GET", "c");
            client_call reads_what_is_new("XREAD", "STREAMS", "s", "$");
            for (auto* const c : {&reads, &writes, &reads_too, &reads_what_is_new})
                c->start(s.client);
            auto ending = s.until([&] {
                return reads.is_done() && writes.is_done() && reads_too.is_done() && reads_what_is_new.is_done();
            });
            co_await std::move(ending);
            EXPECT_EQ(reads_what_is_new.end, redis::error::maybe_executed) << "what came meanwhile would be left out";
            EXPECT_FALSE(reads.end) << reads.end.message();
            EXPECT_FALSE(reads_too.end) << reads_too.end.message();
            EXPECT_EQ(reads.response.value(), "a");
            EXPECT_EQ(reads_too.response.value(), "c");
            EXPECT_EQ(writes.end, redis::error::maybe_executed);
            EXPECT_EQ(heard, (std::vector<std::string>{"GET a", "GET c"})) << "in their order, and nothing else";
            EXPECT_EQ(s.client.counters().repeated, 2U);
        });
}

/// They write, and the program says that a second time does no harm.
TEST(RedisClient, WhatMayBeRepeatedIsSentAnew) {
    std::vector<std::string> heard;
    play_and_use(
        [&](hand& h, int generation) -> awaitable<void> {
            auto greeting = h.greet();
            co_await std::move(greeting);
            if (generation == 0) {
                heard.clear();
                auto reading = h.skip(6);
                co_await std::move(reading);
                co_return;
            }
            for (;;) {
                auto reading = h.next();
                auto const words = co_await std::move(reading);
                heard.push_back(words[0] + ' ' + words[1]);
                auto answering = h.send(bulk(words.back()));
                co_await std::move(answering);
            }
        },
        [&](client_scene& s) -> awaitable<void> {
            s.start();
            auto waiting = s.until([&s] { return s.client.is_ready(); });
            co_await std::move(waiting);
            client_call marked("SET", "a", "1"), cleared("SET", "b", "2");
            marked.request.set_repeatable();
            cleared.request.set_repeatable();
            cleared.request.clear();
            cleared.request.push("SET", "b", "2");
            redis::script const script("return ARGV[1]");
            int done = 0;
            auto const is_answered = [&done](error_code ec, auto const&...) {
                EXPECT_FALSE(ec) << ec.message();
                ++done;
            };
            marked.start(s.client);
            cleared.start(s.client);
            s.client.repeatable().within(30s).async_exec(redis::cmd::hset("h", "f", "3"), is_answered);
            auto both = redis::pipeline(redis::cmd::hset("h", "f", "4"), redis::cmd::hset("h", "f", "5"));
            s.client.within(30s).repeatable().async_exec(std::move(both), is_answered);
            s.client.repeatable().async_exec(redis::cmd::eval<std::string>(script, {}, {"6"}), is_answered);
            auto ending = s.until([&] { return marked.is_done() && cleared.is_done() && done == 3; });
            co_await std::move(ending);
            EXPECT_EQ(cleared.end, redis::error::maybe_executed) << "clear() takes it back";
            EXPECT_FALSE(marked.end) << marked.end.message();
            auto const evaluated = "EVALSHA " + std::string(script.sha1());
            EXPECT_EQ(heard, (std::vector<std::string>{"SET a", "HSET h", "HSET h", "HSET h", evaluated}));
            EXPECT_EQ(s.client.counters().repeated, 4U);
        });
}

TEST(RedisClient, NothingIsRepeatedForEver) {
    int connections = 0;
    play_and_use(
        [&](hand& h, int generation) -> awaitable<void> {
            connections = generation + 1;
            auto greeting = h.greet();
            co_await std::move(greeting);
            auto reading = h.skip(1); // This command kills it, each time.
            co_await std::move(reading);
        },
        [&](client_scene& s) -> awaitable<void> {
            s.start();
            client_call deadly("GET", "a");
            deadly.start(s.client);
            auto ending = s.until([&] { return deadly.is_done(); });
            co_await std::move(ending);
            EXPECT_EQ(deadly.end, redis::error::maybe_executed);
            EXPECT_EQ(s.client.counters().repeated, 2U);
            EXPECT_GE(connections, 3);
        });
}

/// It connects no more then, and waits for nothing.
TEST(RedisClient, TheProgramMayEndItWhateverItIsToldOf) {
    for (auto const kind : {event_kind::connecting, event_kind::ready, event_kind::lost, event_kind::failed})
        for (std::size_t const nth : {1U, 2U}) {
            play_and_use(
                [](hand& h, int generation) -> awaitable<void> {
                    if (generation % 2 != 0)
                        co_return; // before its greeting
                    auto greeting = h.greet();
                    co_await std::move(greeting);
                },
                [&](client_scene& s) -> awaitable<void> {
                    std::size_t told_later = 0;
                    std::chrono::nanoseconds asked_at{};
                    s.heard = [&](redis::client_event const& e) {
                        if (asked_at != asked_at.zero() && e.kind != event_kind::restored)
                            ++told_later;
                        if (s.count(kind) != nth || asked_at != asked_at.zero())
                            return;
                        asked_at = s.world.elapsed();
                        s.client.cancel();
                    };
                    s.start();
                    while (!s.ended) {
                        auto resting = s.rest(100ms);
                        co_await std::move(resting);
                    }
                    EXPECT_EQ(*s.ended, fairlead::error::operation_aborted);
                    EXPECT_LE(s.world.elapsed() - asked_at, 5s);
                    EXPECT_EQ(told_later, 0U);
                    s.heard = {};
                },
                {.options = {.pause_min = 20s, .pause_max = 20s}});
        }
}

TEST(RedisClient, ALimitCoversTheWaitForAConnection) {
    play_and_use([](hand&, int) -> awaitable<void> { co_return; },
                 [](client_scene& s) -> awaitable<void> {
                     s.start();
                     client_call limited("GET", "a"), own("GET", "b");
                     own.request.set_timeout(1s);
                     auto const begun = s.world.elapsed();
                     limited.start(s.client);
                     own.start(s.client);
                     auto first = s.until([&] { return own.is_done(); });
                     co_await std::move(first);
                     EXPECT_GE(s.world.elapsed() - begun, 1s);
                     EXPECT_FALSE(limited.is_done());
                     auto second = s.until([&] { return limited.is_done(); });
                     co_await std::move(second);
                     EXPECT_GE(s.world.elapsed() - begun, 3s);
                     EXPECT_LT(s.world.elapsed() - begun, 4s);
                     EXPECT_EQ(own.end, redis::error::not_sent_in_time);
                     EXPECT_EQ(limited.end, redis::error::not_sent_in_time);
                     EXPECT_EQ(limited.end, redis::condition::timed_out);
                     EXPECT_EQ(limited.end, redis::condition::not_executed);
                 },
                 {.config = {.address = "10.0.0.1", .request_timeout = 3s}, .options = {}});
}

/// One reply is late: its request ends in time, its reply is dropped, and all others get their own.
TEST(RedisClient, ALimitHurtsNobodyElse) {
    play_and_use(
        [](hand& h, int) -> awaitable<void> {
            auto greeting = h.greet();
            co_await std::move(greeting);
            for (;;) {
                auto reading = h.next();
                auto const words = co_await std::move(reading);
                if (words[1] == "late") {
                    auto resting = h.rest(5s);
                    co_await std::move(resting);
                }
                auto answering = h.send(bulk(words[1]));
                co_await std::move(answering);
            }
        },
        [](client_scene& s) -> awaitable<void> {
            s.start();
            auto waiting = s.until([&s] { return s.client.is_ready(); });
            co_await std::move(waiting);
            client_call before("GET", "before"), late("INCR", "late"), behind("GET", "behind"),
                cancelled("GET", "cancelled");
            late.request.set_timeout(2s);
            for (auto* const c : {&before, &late, &behind})
                c->start(s.client);
            cancelled.start(s.client);
            auto ending = s.until([&] { return late.is_done(); });
            co_await std::move(ending);
            EXPECT_EQ(late.end, redis::error::no_answer_in_time);
            EXPECT_NE(late.end, redis::condition::not_executed);
            EXPECT_EQ(s.client.cancel(cancelled.request), 1U);
            EXPECT_FALSE(behind.is_done());
            auto answered = s.until([&] { return behind.is_done() && before.is_done(); });
            co_await std::move(answered);
            EXPECT_EQ(before.response.value(), "before");
            EXPECT_EQ(behind.response.value(), "behind");
            EXPECT_EQ(cancelled.end, redis::error::maybe_executed);
            EXPECT_EQ(s.count(event_kind::lost), 0U) << "the connection goes on";
        });
}

namespace {

awaitable<void> serve_nobody() { co_return; }

/// Runs a client that is cancelled when it tells of `when`.
awaitable<void> cancel_at(io_context& context, event_kind when) {
    std::optional<redis::client> db;
    redis::client_options options{.pause_min = 5ms, .pause_max = 20ms};
    options.on_event = [&db, when](redis::client_event const& e) {
        if (e.kind == when)
            db->cancel();
    };
    db.emplace(context, redis::config_view{.address = "10.0.0.1"}, options);
    std::optional<error_code> end;
    db->async_run([&end](error_code ec) { end = ec; });
    steady_timer pause(context, 5s);
    auto resting = pause.async_wait();
    co_await std::move(resting);
    EXPECT_EQ(end, error_code(error::operation_aborted));
    EXPECT_FALSE(db->is_ready());
}

} // namespace

TEST(RedisClient, ACancelAtAnyOfItsEventsEndsTheRun) {
    for (auto const when : {event_kind::connecting, event_kind::failed, event_kind::ready})
        sim::for_each_seed(worlds(), [when](sim::world& w) {
            auto const server = std::make_shared<shadow_redis>(w.seed());
            bool const serves = when != event_kind::failed;
            auto& redis = w.add_server(
                "redis", [=](sim::host& h) { return serves ? server->serve(h.context()) : serve_nobody(); });
            w.add_host("app", [=](sim::host& h) { return cancel_at(h.context(), when); });
            finish(w);
            redis.kill();
        });
}

TEST(RedisClient, GivesUpAfterSoManyAttempts) {
    play_and_use([](hand&, int) -> awaitable<void> { co_return; },
                 [](client_scene& s) -> awaitable<void> {
                     client_call waits("SET", "a");
                     waits.start(s.client);
                     s.start();
                     auto ending = s.until([&s] { return s.ended.has_value(); });
                     co_await std::move(ending);
                     EXPECT_TRUE(*s.ended);
                     EXPECT_NE(*s.ended, fairlead::error::operation_aborted);
                     EXPECT_EQ(s.client.counters().attempts, 4U);
                     EXPECT_EQ(s.events.back(), event_kind::gave_up);
                     auto answered = s.until([&] { return waits.is_done(); });
                     co_await std::move(answered);
                     EXPECT_EQ(waits.end, redis::error::not_sent);
                     client_call late("SET", "b");
                     late.start(s.client);
                     auto refused = s.until([&] { return late.is_done(); });
                     co_await std::move(refused);
                     EXPECT_EQ(late.end, redis::error::not_connected) << "nobody would ever connect for it";
                 },
                 {.config = {.address = "10.0.0.1"}, .options = {.attempts_max = 4}});
}

TEST(RedisClient, PausesGrowAndAreNotAllTheSame) {
    play_and_use([](hand&, int) -> awaitable<void> { co_return; },
                 [](client_scene& s) -> awaitable<void> {
                     std::vector<std::chrono::milliseconds> longest;
                     s.heard = [&](redis::client_event const& e) {
                         if (e.kind != event_kind::failed)
                             return;
                         auto const most = std::min(50ms * (1 << std::min(e.attempt - 1, 20U)), 400ms);
                         EXPECT_LE(e.pause, most);
                         EXPECT_GT(e.pause, 0ms);
                         if (most == 400ms)
                             longest.push_back(e.pause);
                     };
                     s.start();
                     auto ending = s.until([&s] { return s.ended.has_value(); });
                     co_await std::move(ending);
                     s.heard = {};
                     EXPECT_GE(longest.size(), 4U);
                     EXPECT_LT(std::ranges::min(longest), 200ms) << "of 37";
                     EXPECT_GT(std::ranges::max(longest), 200ms);
                 },
                 {.config = {.address = "10.0.0.1"}, .options = {.pause_max = 400ms, .attempts_max = 40}});
}

/// The server accepts, and says nothing.
TEST(RedisClient, GivesUpInTimeDuringAnAttempt) {
    play_and_use(
        [](hand& h, int) -> awaitable<void> {
            auto resting = h.rest(60s);
            co_await std::move(resting);
        },
        [](client_scene& s) -> awaitable<void> {
            auto const begun = s.world.elapsed();
            s.start();
            auto ending = s.until([&s] { return s.ended.has_value(); });
            co_await std::move(ending);
            EXPECT_GE(s.world.elapsed() - begun, 300ms);
            EXPECT_LT(s.world.elapsed() - begun, 320ms);
            EXPECT_TRUE(*s.ended == redis::error::hello_timed_out || *s.ended == redis::error::connect_timed_out)
                << s.ended->message();
            EXPECT_EQ(s.events.back(), event_kind::gave_up);
        },
        {.config = {.address = "10.0.0.1"}, .options = {.give_up_after = 300ms}});
}

TEST(RedisClient, GivesUpInTimeDuringAPause) {
    play_and_use(
        [](hand&, int) -> awaitable<void> { co_return; },
        [](client_scene& s) -> awaitable<void> {
            auto const begun = s.world.elapsed();
            s.start();
            auto ending = s.until([&s] { return s.ended.has_value(); });
            co_await std::move(ending);
            EXPECT_GE(s.world.elapsed() - begun, 2s);
            EXPECT_LT(s.world.elapsed() - begun, 2020ms);
            EXPECT_LE(s.last_pause, 2s);
            EXPECT_EQ(s.client.counters().attempts, 1U) << "no attempt without time";
            EXPECT_EQ(s.client.counters().gave_up, 1U);
        },
        {.config = {.address = "10.0.0.1"}, .options = {.pause_min = 30h, .pause_max = 30h, .give_up_after = 2s}});
}

/// One attempt at a time each, and not all of them at one time.
TEST(RedisClient, X03_ManyClientsComeBackSpreadOut) {
    constexpr std::size_t clients = 300;
    sim::for_each_seed(scaled(10, 3), [](sim::world& w) {
        std::vector<std::chrono::nanoseconds> attempts;
        std::vector<bool> is_trying(clients);
        w.add_host("app", [&](sim::host& h) -> awaitable<void> {
            return [](sim::world& world, io_context& context, std::vector<std::chrono::nanoseconds>& at,
                      std::vector<bool>& trying) -> awaitable<void> {
                std::deque<redis::client> all;
                std::size_t ended = 0;
                for (std::size_t i = 0; i != clients; ++i) {
                    redis::client_options o;
                    o.pause_max = 1s;
                    o.on_event = [&, i](redis::client_event const& e) {
                        EXPECT_NE(trying[i], e.kind == event_kind::connecting);
                        trying[i] = e.kind == event_kind::connecting;
                        if (trying[i])
                            at.push_back(world.elapsed());
                    };
                    // Nobody listens there.
                    all.emplace_back(context, redis::config_view{.address = "127.0.0.1:1"}, o)
                        .async_run([&ended](error_code) { ++ended; });
                }
                steady_timer t(context, 6s);
                auto waiting = t.async_wait();
                co_await std::move(waiting);
                for (auto& each : all)
                    each.cancel();
                while (ended != clients) {
                    t.expires_after(1ms);
                    auto ending = t.async_wait();
                    co_await std::move(ending);
                }
            }(w, h.context(), attempts, is_trying);
        });
        finish(w);
        // From the third second on, pauses are of up to a second.
        std::map<long, std::size_t> in_tenths;
        for (auto const at : attempts)
            if (at >= 4s)
                ++in_tenths[at / 100ms];
        auto const most = *std::ranges::max_element(in_tenths, {}, [](auto const& each) { return each.second; });
        EXPECT_LT(most.second, clients / 3) << "in the tenth of a second number " << most.first;
        EXPECT_GE(attempts.size(), clients * 6);
    });
}

TEST(RedisClient, CredentialsAreAskedForBeforeEachConnection) {
    int asked = 0;
    std::vector<std::string> passwords;
    play_and_use(
        [&](hand& h, int generation) -> awaitable<void> {
            if (generation == 0)
                passwords.clear();
            auto reading = h.next();
            auto const hello = co_await std::move(reading);
            passwords.push_back(hello.at(4));
            auto answering = h.send(generation < 2 ? "-WRONGPASS no\r\n" : "%1\r\n+proto\r\n:3\r\n");
            co_await std::move(answering);
            auto draining = h.skip(1);
            co_await std::move(draining);
        },
        [&](client_scene& s) -> awaitable<void> {
            s.start();
            auto waiting = s.until([&s] { return s.client.is_ready(); });
            co_await std::move(waiting);
            EXPECT_EQ(passwords.size(), 3U);
            EXPECT_NE(passwords.front(), passwords.back());
        },
        {.config = {.address = "10.0.0.1"}, .options = {.ask_credentials = [&asked]() -> redis::credentials {
                                                return {"me", "secret" + std::to_string(++asked)};
                                            }}});
}

TEST(RedisClient, AWrongPasswordEndsItAtOnce) {
    play_and_use(
        [](hand& h, int) -> awaitable<void> {
            auto reading = h.skip(1);
            co_await std::move(reading);
            auto answering = h.send("-WRONGPASS invalid username-password pair or user is disabled.\r\n");
            co_await std::move(answering);
            auto draining = h.skip(1);
            co_await std::move(draining);
        },
        [](client_scene& s) -> awaitable<void> {
            s.start();
            auto ending = s.until([&s] { return s.ended.has_value(); });
            co_await std::move(ending);
            EXPECT_EQ(*s.ended, redis::error::auth_refused);
            EXPECT_EQ(s.client.counters().attempts, 1U);
            EXPECT_TRUE(s.client.server_text().starts_with("WRONGPASS")) << s.client.server_text();
        },
        {.config = {.address = "10.0.0.1", .password = "wrong"}, .options = {}});
}

TEST(RedisClient, CancelEndsItInAPauseToo) {
    play_and_use([](hand&, int) -> awaitable<void> { co_return; },
                 [](client_scene& s) -> awaitable<void> {
                     s.start();
                     auto waiting = s.until([&s] { return s.count(event_kind::failed) == 1; });
                     co_await std::move(waiting);
                     client_call waits("SET", "a");
                     waits.start(s.client);
                     auto const at = s.world.elapsed();
                     s.client.cancel();
                     auto ending = s.until([&] { return s.ended.has_value() && waits.is_done(); });
                     co_await std::move(ending);
                     EXPECT_EQ(*s.ended, fairlead::error::operation_aborted);
                     EXPECT_EQ(waits.end, fairlead::error::operation_aborted);
                     EXPECT_LT(s.world.elapsed() - at, 1s) << "the pause is not waited for";
                 },
                 {.config = {.address = "10.0.0.1"}, .options = {.pause_min = 1h, .pause_max = 1h}}, {});
}

/// A coroutine that is asked to end, and a limit: they end one call or the client.
TEST(RedisClient, CallsAndTheClientEndAsCoroutinesDo) {
    play_and_use(
        [](hand& h, int) -> awaitable<void> {
            auto greeting = h.greet();
            co_await std::move(greeting);
            auto draining = h.skip(1'000); // It answers nothing.
            co_await std::move(draining);
        },
        [](client_scene& s) -> awaitable<void> {
            error_code ran;
            auto running = s.client.async_run(cancel_after(3s, redirect_error(ran)));
            bool is_over = false;
            co_spawn(s.context, std::move(running), [&](std::exception_ptr e) {
                is_over = true;
                if (e)
                    std::rethrow_exception(e);
            });
            auto waiting = s.until([&s] { return s.client.is_ready(); });
            co_await std::move(waiting);
            client_call one("INCR", "a");
            error_code ec;
            auto limited = s.client.async_exec(one.request, one.response, cancel_after(1s, redirect_error(ec)));
            co_await std::move(limited);
            EXPECT_EQ(ec, redis::error::maybe_executed);
            EXPECT_TRUE(s.client.is_ready()) << "the connection goes on";
            auto ending = s.until([&] { return is_over; });
            co_await std::move(ending);
            EXPECT_EQ(ran, fairlead::error::operation_aborted);
            s.ended = ran;
        });
}

/// A server that reads its data first, and says so.
TEST(RedisClient, P16_WhatIsRefusedForNowIsRepeated) {
    std::vector<std::string> heard;
    bool is_loading = true;
    play_and_use(
        [&](hand& h, int) -> awaitable<void> {
            auto greeting = h.greet();
            co_await std::move(greeting);
            for (;;) {
                auto reading = h.next();
                auto const words = co_await std::move(reading);
                heard.push_back(words[0] + ' ' + words.back());
                bool const refuses = is_loading || words.back() == "always";
                auto answering = h.send(refuses             ? "-LOADING Redis is loading the dataset in memory\r\n"
                                        : words[0] == "GET" ? "-WRONGTYPE no\r\n"
                                                            : ":1\r\n");
                co_await std::move(answering);
            }
        },
        [&](client_scene& s) -> awaitable<void> {
            heard.clear();
            is_loading = true;
            s.start();
            client_call one("INCR", "a"), wrong("GET", "list"), never("INCR", "always"), limited("INCR", "b"),
                given_up("INCR", "c");
            client_call both("INCR", "d");
            both.request.push("INCR", "e");
            redis::response<redis::result<long>, redis::result<long>> of_both;
            bool is_both = false;
            limited.request.set_timeout(200ms); // Less than the pauses before its attempts, at the shortest.
            one.start(s.client);
            wrong.start(s.client);
            limited.start(s.client);
            given_up.start(s.client);
            s.client.async_exec(both.request, of_both, [&](error_code, std::size_t) { is_both = true; });
            auto waiting = s.until([&] { return limited.is_done() && is_both; });
            co_await std::move(waiting);
            EXPECT_EQ(limited.end, redis::condition::timed_out);
            EXPECT_FALSE(one.is_done());
            EXPECT_TRUE(std::get<0>(of_both).error_text().starts_with("LOADING")) << "of several nothing is repeated";
            EXPECT_GE(s.client.pending(), 3U);
            EXPECT_EQ(s.client.cancel(given_up.request), 1U);
            is_loading = false;
            never.start(s.client);
            auto ending = s.until([&] { return one.is_done() && wrong.is_done() && never.is_done(); });
            co_await std::move(ending);
            EXPECT_FALSE(one.end);
            EXPECT_EQ(wrong.response.error_text(), "WRONGTYPE no");
            EXPECT_GE(std::ranges::count(heard, "GET list"), 2);
            EXPECT_EQ(std::ranges::count(heard, "INCR always"), 4);
            EXPECT_TRUE(never.response.error_text().starts_with("LOADING"));
            EXPECT_GE(given_up.completions, 1);
            EXPECT_GE(s.client.counters().repeated, 5U);
        },
        {.options = {.retry = {.attempts_max = 3, .pause_min = 200ms, .pause_max = 300ms}}});
}

/// Of each connection it answers the first requests only.
TEST(RedisClient, RequestsWaitForRoomInTheirOrder) {
    std::vector<std::string> heard;
    play_and_use(
        [&heard](hand& h, int) -> awaitable<void> {
            auto greeting = h.greet();
            co_await std::move(greeting);
            auto resting = h.rest(100ms);
            co_await std::move(resting);
            auto answering = answer_all(h, heard);
            co_await std::move(answering);
        },
        [&heard](client_scene& s) -> awaitable<void> {
            heard.clear();
            std::deque<client_call> calls;
            std::vector<int> order;
            for (int i = 0; i != 8; ++i) {
                auto& c = calls.emplace_back("INCR", std::to_string(i));
                if (i == 5)
                    c.request.set_timeout(20ms);
                s.client.async_exec(c.request, c.response, [&c, &order, i](error_code ec, std::size_t) {
                    c.end = ec;
                    ++c.completions;
                    order.push_back(i);
                });
            }
            EXPECT_EQ(s.client.pending(), 8U);
            EXPECT_EQ(s.client.cancel(calls[4].request), 1U);
            s.start();
            auto waiting = s.until([&] { return order.size() == 8; });
            co_await std::move(waiting);
            EXPECT_EQ(order, (std::vector{4, 5, 0, 1, 2, 3, 6, 7}));
            EXPECT_EQ(calls[4].end, fairlead::error::operation_aborted);
            EXPECT_EQ(calls[5].end, redis::error::not_sent_in_time);
            for (int i : {0, 1, 2, 3, 6, 7})
                EXPECT_FALSE(calls[static_cast<std::size_t>(i)].end);
            EXPECT_EQ(heard, (std::vector<std::string>{"INCR 0", "INCR 1", "INCR 2", "INCR 3", "INCR 6", "INCR 7"}));
            for (int i = 0; i != 2; ++i) // Room is there again for those who ask first.
                calls[static_cast<std::size_t>(i)].start(s.client);
            auto again = s.until([&] { return calls[0].completions == 2 && calls[1].completions == 2; });
            co_await std::move(again);
        },
        {.config = {.address = "10.0.0.1", .wait_when_full = true, .requests_max = 2}});
}

/// Limits of both are over at one time, and the first one's answer is still due.
TEST(RedisClient, TheOnlyOneThatWaitsForRoomEndsInTimeToo) {
    play_and_use(
        [](hand& h, int) -> awaitable<void> {
            auto greeting = h.greet();
            co_await std::move(greeting);
            auto draining = h.skip(1'000); // It answers nothing.
            co_await std::move(draining);
        },
        [](client_scene& s) -> awaitable<void> {
            s.start();
            auto connecting = s.until([&] { return s.client.is_ready(); });
            co_await std::move(connecting);
            client_call one("INCR", "1"), two("INCR", "2");
            auto const begin = s.world.elapsed();
            one.start(s.client);
            two.start(s.client);
            auto ending = s.until([&] { return one.is_done() && two.is_done(); });
            co_await std::move(ending);
            EXPECT_EQ(one.end, redis::error::no_answer_in_time);
            EXPECT_EQ(two.end, redis::error::not_sent_in_time);
            EXPECT_LE(s.world.elapsed() - begin, 1s);
        },
        {.config = {.address = "10.0.0.1", .request_timeout = 50ms, .wait_when_full = true, .requests_max = 1}});
}

TEST(RedisClient, ASmallRequestDoesNotOvertakeALargeOne) {
    std::vector<std::string> heard;
    play_and_use(
        [&heard](hand& h, int) -> awaitable<void> {
            auto greeting = h.greet();
            co_await std::move(greeting);
            auto answering = answer_all(h, heard);
            co_await std::move(answering);
        },
        [&heard](client_scene& s) -> awaitable<void> {
            heard.clear();
            client_call first("SET", "first", std::string(50, 'x')), large("SET", "large", std::string(80, 'x')),
                small("GET", "small");
            first.start(s.client);
            large.start(s.client);
            small.start(s.client);
            s.start();
            auto waiting = s.until([&] { return first.is_done() && large.is_done() && small.is_done(); });
            co_await std::move(waiting);
            EXPECT_EQ(heard, (std::vector<std::string>{"SET first", "SET large", "GET small"}));
        },
        {.config = {.address = "10.0.0.1", .wait_when_full = true, .queued_bytes_max = 140}});
}

TEST(RedisClient, ItsSettingsHoldBeforeItsFirstConnection) {
    play_and_use([](hand& h, int) { return h.greet(); },
                 [](client_scene& s) -> awaitable<void> {
                     client_call one("INCR", "1"), two("INCR", "2");
                     auto const begin = s.world.elapsed();
                     one.start(s.client);
                     two.start(s.client);
                     auto waiting = s.until([&] { return one.is_done() && two.is_done(); });
                     co_await std::move(waiting);
                     EXPECT_EQ(two.end, redis::error::too_many_requests);
                     EXPECT_EQ(one.end, redis::error::not_sent_in_time);
                     EXPECT_LT(s.world.elapsed() - begin, 200ms);
                     s.start();
                 },
                 {.config = {.address = "10.0.0.1", .request_timeout = 50ms, .requests_max = 1}});
}

TEST(RedisClient, WhoWaitsForRoomEndsAsTheOthersDo) {
    play_and_use(
        [](hand& h, int) -> awaitable<void> {
            auto greeting = h.greet();
            co_await std::move(greeting);
            auto draining = h.skip(1); // and it leaves
            co_await std::move(draining);
        },
        [](client_scene& s) -> awaitable<void> {
            client_call one("INCR", "1"), two("INCR", "2"), three("INCR", "3"), refused("INCR", "4");
            s.start();
            one.start(s.client);
            two.start(s.client);
            three.start(s.client);
            auto waiting = s.until([&] { return one.is_done(); });
            co_await std::move(waiting);
            EXPECT_EQ(one.end, redis::error::maybe_executed);
            EXPECT_FALSE(three.is_done()) << "nothing of it was sent: it waits for the next connection";
            s.client.cancel();
            auto ending = s.until([&] { return two.is_done() && three.is_done(); });
            co_await std::move(ending);
            EXPECT_TRUE(three.end);
        },
        {.config = {.address = "10.0.0.1", .wait_when_full = true, .requests_max = 1}});
}

/// The server of the test answers one request twice.
TEST(RedisClient, P20_ServersThatLoseTheOrderAreLeft) {
    std::vector<std::string> heard;
    play_and_use(
        [&heard](hand& h, int generation) -> awaitable<void> {
            auto greeting = h.greet();
            co_await std::move(greeting);
            if (generation == 0) {
                auto reading = h.next();
                co_await std::move(reading);
                auto answering = h.send(bulk("of an earlier one") + bulk("mine"));
                co_await std::move(answering);
            }
            auto answering = answer_all(h, heard);
            co_await std::move(answering);
        },
        [](client_scene& s) -> awaitable<void> {
            s.start();
            client_call one("INCR", "a"), two("INCR", "b");
            one.start(s.client);
            auto waiting = s.until([&] { return one.is_done(); });
            co_await std::move(waiting);
            EXPECT_EQ(one.end, redis::error::answers_out_of_order);
            two.start(s.client);
            auto going_on = s.until([&] { return two.is_done(); });
            co_await std::move(going_on);
            EXPECT_FALSE(two.end);
            EXPECT_EQ(two.response.value(), "b");
            EXPECT_EQ(s.count(event_kind::lost), 1U);
        },
        {.config = {.address = "10.0.0.1", .check_order = true}});
}

/// Messages of the test's server: each connection confirms what it is asked for, and publishes on "news".
awaitable<void> publish(hand& h, std::vector<std::string>& subscribed, int connection, int messages) {
    subscribed.clear();
    for (int expected = 3; expected != 0; --expected) {
        auto reading = h.next();
        auto const words = co_await std::move(reading);
        if (words[0] == "ECHO") {
            auto answering = h.send(bulk(words[1]));
            co_await std::move(answering);
            ++expected;
            continue;
        }
        subscribed.push_back(words[0] + ' ' + words[1]);
        std::string kind = words[0];
        std::ranges::transform(kind, kind.begin(), [](char c) { return static_cast<char>(c | 0x20); });
        auto confirming = h.send(">3\r\n" + bulk(kind) + bulk(words[1]) + ":1\r\n");
        co_await std::move(confirming);
    }
    for (int i = 0; i != messages; ++i) {
        auto const text = std::to_string(connection) + '.' + std::to_string(i);
        auto sending = h.send(">3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n" + bulk(text) +
                              ">4\r\n$8\r\npmessage\r\n$5\r\nlog.*\r\n$5\r\nlog.a\r\n" + bulk(text));
        co_await std::move(sending);
    }
}

TEST(RedisClient, X13_SubscriptionsComeBackBeforeAnythingElse) {
    std::vector<std::string> subscribed;
    play_and_use(
        [&](hand& h, int generation) -> awaitable<void> {
            auto greeting = h.greet();
            co_await std::move(greeting);
            auto publishing = publish(h, subscribed, generation, 3);
            co_await std::move(publishing);
            if (generation == 0)
                co_return;
            std::vector<std::string> heard;
            auto answering = answer_all(h, heard);
            co_await std::move(answering);
        },
        [&](client_scene& s) -> awaitable<void> {
            s.start();
            auto waiting = s.until([&s] { return s.client.is_ready(); });
            co_await std::move(waiting);
            auto subscribing = s.client.subscribe("news", redis::pattern("log.*"), redis::shard("s"));
            auto sub = co_await std::move(subscribing);
            std::vector<std::string> news, logs;
            std::vector<std::uint64_t> connections;
            while (news.size() != 6 || logs.size() != 6) {
                auto next = sub.next();
                auto const m = co_await std::move(next);
                if (!m)
                    throw std::runtime_error("the subscription has ended");
                EXPECT_EQ(m->lost(), 0U);
                (m->pattern().empty() ? news : logs).emplace_back(m->payload());
                connections.push_back(m->connection());
            }
            EXPECT_EQ(news, (std::vector<std::string>{"0.0", "0.1", "0.2", "1.0", "1.1", "1.2"}));
            EXPECT_EQ(logs, news);
            EXPECT_TRUE(std::ranges::is_sorted(connections));
            EXPECT_NE(connections.front(), connections.back()) << "messages between the two may be missed";
            std::ranges::sort(subscribed);
            EXPECT_EQ(subscribed, (std::vector<std::string>{"PSUBSCRIBE log.*", "SSUBSCRIBE s", "SUBSCRIBE news"}));
            auto restoring = s.until([&s] { return s.count(event_kind::restored) != 0; });
            co_await std::move(restoring);
        });
}

TEST(RedisClient, ASlowReaderLosesTheOldestAndIsTold) {
    std::vector<std::string> subscribed;
    play_and_use(
        [&](hand& h, int generation) -> awaitable<void> {
            auto greeting = h.greet();
            co_await std::move(greeting);
            auto publishing = publish(h, subscribed, generation, 500);
            co_await std::move(publishing);
            std::vector<std::string> heard;
            auto answering = answer_all(h, heard);
            co_await std::move(answering);
        },
        [&](client_scene& s) -> awaitable<void> {
            s.start();
            auto waiting = s.until([&s] { return s.client.is_ready(); });
            co_await std::move(waiting);
            auto slowly = s.client.subscribe("news");
            auto slow = co_await std::move(slowly);
            auto subscribing = s.client.subscribe("other", redis::shard("s"));
            auto other = co_await std::move(subscribing);
            client_call echo("ECHO", "behind the messages");
            echo.start(s.client);
            auto answered = s.until([&] { return echo.is_done(); });
            co_await std::move(answered);
            EXPECT_EQ(echo.response.value(), "behind the messages") << "replies pass the messages that wait";
            auto arrived = s.until([&] { return s.client.traffic().pushes == 1003; });
            co_await std::move(arrived);
            std::size_t got = 0, lost = 0;
            while (got + lost != 500) {
                auto next = slow.next();
                auto const m = co_await std::move(next);
                lost += m->lost();
                EXPECT_EQ(m->payload(), "0." + std::to_string(got + lost));
                ++got;
            }
            EXPECT_GE(got, 4U);
            EXPECT_LE(got, 100U) << "what came before it could have run";
            EXPECT_EQ(s.client.traffic().pushes_dropped, lost);
        },
        {.config = {.address = "10.0.0.1"}, .options = {.subscription_buffer = 4}});
}

TEST(RedisClient, ARefusedSubscriptionThrowsAndLeavesNothing) {
    play_and_use(
        [&](hand& h, int) -> awaitable<void> {
            auto greeting = h.greet();
            co_await std::move(greeting);
            for (;;) {
                auto reading = h.next();
                auto const words = co_await std::move(reading);
                auto answering = h.send(words[1] == "secret" ? "-NOPERM no permissions to access it\r\n"
                                                             : ">3\r\n$9\r\nsubscribe\r\n" + bulk(words[1]) + ":1\r\n");
                co_await std::move(answering);
                if (words[1] == "last")
                    co_return;
            }
        },
        [&](client_scene& s) -> awaitable<void> {
            s.start();
            auto waiting = s.until([&s] { return s.client.is_ready(); });
            co_await std::move(waiting);
            std::string said;
            try {
                auto subscribing = s.client.subscribe("secret");
                auto sub = co_await std::move(subscribing);
            } catch (system_error const& e) {
                said = e.what();
                EXPECT_EQ(e.code(), redis::error::no_permission);
            }
            EXPECT_NE(said.find("NOPERM"), std::string::npos) << said;
            auto subscribing = s.client.subscribe("last");
            auto sub = co_await std::move(subscribing);
            auto restoring = s.until([&s] { return s.count(event_kind::restored) != 0; });
            co_await std::move(restoring);
            EXPECT_EQ(s.count(event_kind::refused), 0U) << "it is not asked for again";
        });
}

TEST(RedisClient, ASubscriptionMayOutliveItsClient) {
    play_and_use(
        [&](hand& h, int) -> awaitable<void> {
            auto greeting = h.greet();
            co_await std::move(greeting);
            auto reading = h.skip(1);
            co_await std::move(reading);
            auto confirming = h.send(">3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n");
            co_await std::move(confirming);
            auto draining = h.skip(1);
            co_await std::move(draining);
        },
        [&](client_scene& s) -> awaitable<void> {
            std::optional<redis::client> other(std::in_place, s.context, redis::config_view{.address = "10.0.0.1"});
            bool is_over = false;
            other->async_run([&](error_code) { is_over = true; });
            auto subscribing = other->subscribe("news");
            auto sub = co_await std::move(subscribing);
            bool has_ended = false;
            sub.async_next([&](error_code ec, auto const& m) {
                EXPECT_FALSE(ec);
                EXPECT_FALSE(m);
                has_ended = true;
            });
            other.reset();
            auto ending = s.until([&] { return has_ended && is_over; });
            co_await std::move(ending);
            auto next = sub.next();
            auto const m = co_await std::move(next);
            EXPECT_FALSE(m);
            s.ended.emplace(); // This scene's own client has never run.
        });
}

} // namespace
} // namespace fairlead::test
