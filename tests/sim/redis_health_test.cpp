// When does a connection take its server for dead, and what does it do to find out? In worlds without delays of their
// own, so that times can be told.
#include <gtest/gtest.h>

#include <sim/redis_scene.hpp>

#include <deque>
#include <functional>

namespace fairlead::test {
namespace {

constexpr auto slack = 50ms; // for messages under way and turns

/// The bytes that were sent to a server played by hand.
struct server_past {
    int pings = 0;
    int misplaced = 0; // PINGs where the next command was the caller's
    std::chrono::nanoseconds last_ping_at{};
    bool in_transaction = false;
    bool is_reserved = false;
};

std::string answer_to(command_words const& words, server_past& past) {
    auto const& name = words[0];
    if (name == "PING") {
        ++past.pings;
        past.misplaced += past.in_transaction || past.is_reserved;
    }
    past.is_reserved = name == "ASKING" || (name == "CLIENT" && words.at(1) == "CACHING");
    if (name == "MULTI") {
        past.in_transaction = true;
        return "+OK\r\n";
    }
    if (name == "EXEC" || name == "DISCARD") {
        past.in_transaction = false;
        return name == "EXEC" ? "*1\r\n:1\r\n" : "+OK\r\n";
    }
    if (past.in_transaction)
        return "+QUEUED\r\n";
    if (name == "SUBSCRIBE")
        return ">3\r\n+subscribe\r\n" + bulk(words.at(1)) + ":1\r\n";
    return name == "PING" ? "+PONG\r\n" : "+OK\r\n";
}

/// Does what it is asked for.
awaitable<void> serve_well(hand& h, server_past& past) {
    past = {};
    auto greeting = h.greet();
    co_await std::move(greeting);
    for (;;) {
        auto reading = h.next();
        auto const words = co_await std::move(reading);
        auto answering = h.send(answer_to(words, past));
        co_await std::move(answering);
    }
}

/// Greets, and reads without a word from then on.
awaitable<void> fall_silent(hand& h, sim::world*& world, server_past& past) {
    past = {};
    auto greeting = h.greet();
    co_await std::move(greeting);
    for (;;) {
        auto reading = h.next();
        auto const words = co_await std::move(reading);
        past.pings += words[0] == "PING";
        past.last_ping_at = world->elapsed();
    }
}

struct options {
    sim::link_options link{};
    std::function<void(sim::world&, sim::host& redis, sim::host& app)> prepare{};
};

/// In each world: a server that is played, and a client; messages take as long as the link says.
void play_steadily(script const& server, std::function<awaitable<void>(scene&)> const& app, options const& o = {}) {
    sim::for_each_seed(worlds(), [&](sim::world& w) {
        for (auto const r : {sim::rule::spike, sim::rule::starve, sim::rule::loss})
            w.set(r, 0);
        auto& redis = w.add_server("redis", [&server](sim::host& h) { return play(h.context(), server); });
        auto& near = w.add_host("app", [&](sim::host& h) { return run_scene(w, h.context(), app); });
        w.set_link(redis, near, o.link);
        if (o.prepare)
            o.prepare(w, redis, near);
        finish(w, 1000s);
        redis.kill(); // It refers to what the body owns.
    });
}

redis::request request_of(std::initializer_list<std::initializer_list<char const*>> commands) {
    redis::request req;
    for (auto const& each : commands) {
        std::vector<std::string> const arguments(each.begin() + 1, each.end());
        req.push_range(*each.begin(), arguments);
    }
    return req;
}

awaitable<void> connect(scene& s, std::chrono::milliseconds interval, bool dedicated = true) {
    s.config.dedicated = dedicated;
    s.config.health_check_interval = interval;
    s.start();
    auto until_ready = s.until([&s] { return s.connection.is_ready(); });
    co_await std::move(until_ready);
}

/// The time at which it ended is noted by itself.
awaitable<void> see_it_end(scene& s) {
    for (int i = 0; !s.ended; ++i) {
        if (i == 5'000)
            throw std::runtime_error("the connection never ends");
        auto resting = s.rest(100ms);
        co_await std::move(resting);
    }
}

// ---- PING and what the caller does

TEST(RedisHealth, X1_NoPingComesWhereTheNextCommandIsTheCallers) {
    struct row {
        redis::request begins, goes_on, ends;
    };
    std::vector<row> const rows{
        {request_of({{"MULTI"}}), request_of({{"INCR", "n"}}), request_of({{"EXEC"}})},
        {request_of({{"WATCH", "k"}, {"MULTI"}, {"INCR", "n"}}), request_of({{"GET", "n"}}), request_of({{"DISCARD"}})},
        {request_of({{"MULTI"}, {"EXEC"}, {"MULTI"}}), request_of({{"GET", "n"}}),
         request_of({{"GET", "n"}, {"EXEC"}})},
        {request_of({{"ASKING"}}), request_of({{"ASKING"}}), request_of({{"GET", "k"}})},
        {request_of({{"CLIENT", "CACHING", "YES"}}), request_of({{"CLIENT", "CACHING", "NO"}}),
         request_of({{"GET", "k"}})}};
    server_past past;
    for (auto const& r : rows)
        play_steadily([&past](hand& h, int) { return serve_well(h, past); },
                      [&](scene& s) -> awaitable<void> {
                          auto connecting = connect(s, 200ms);
                          co_await std::move(connecting);
                          for (auto const* const each : {&r.begins, &r.goes_on}) {
                              auto asking = s.ask(*each, redis::ignore);
                              EXPECT_FALSE(co_await std::move(asking));
                              auto thinking = s.rest(3s);
                              co_await std::move(thinking);
                              EXPECT_FALSE(s.ended) << "a caller that thinks is no silent server";
                          }
                          EXPECT_EQ(past.pings, 0);
                          auto asking = s.ask(r.ends, redis::ignore);
                          EXPECT_FALSE(co_await std::move(asking));
                          auto resting = s.rest(3s);
                          co_await std::move(resting);
                          EXPECT_GE(past.pings, 10) << "the check goes on";
                          EXPECT_EQ(past.misplaced, 0);
                          EXPECT_FALSE(s.ended);
                      });
}

TEST(RedisHealth, X1_WatchedKeysAndSubscriptionsAreCheckedMeanwhile) {
    std::vector<redis::request> const states{request_of({{"WATCH", "k"}}), request_of({{"SUBSCRIBE", "news"}}),
                                             request_of({{"MULTI"}, {"INCR", "n"}, {"EXEC"}}),
                                             request_of({{"ASKING"}, {"GET", "k"}})};
    server_past past;
    for (auto const& each : states)
        play_steadily([&past](hand& h, int) { return serve_well(h, past); },
                      [&](scene& s) -> awaitable<void> {
                          auto connecting = connect(s, 200ms);
                          co_await std::move(connecting);
                          auto asking = s.ask(each, redis::ignore);
                          EXPECT_FALSE(co_await std::move(asking));
                          auto resting = s.rest(3s);
                          co_await std::move(resting);
                          EXPECT_GE(past.pings, 10);
                          EXPECT_FALSE(s.ended);
                      });
}

TEST(RedisHealth, X1_TransactionThatWasGivenUpBeforeItWasSentReservesNothing) {
    server_past past;
    play_steadily([&past](hand& h, int) { return serve_well(h, past); },
                  [&past](scene& s) -> awaitable<void> {
                      s.config.dedicated = true;
                      asked<> given_up(s);
                      given_up.request = request_of({{"MULTI"}});
                      given_up.start(); // waits for a connection
                      s.connection.cancel(given_up.request);
                      auto connecting = connect(s, 200ms);
                      co_await std::move(connecting);
                      auto resting = s.rest(3s);
                      co_await std::move(resting);
                      EXPECT_GE(past.pings, 10);
                  });
}

// ---- commands that wait

TEST(RedisHealth, X2_WaitingForABlockingCommandIsNoSilence) {
    std::vector<redis::request> const commands{
        request_of({{"BLPOP", "q", "0"}}),
        request_of({{"brpop", "q", "30"}}),
        request_of({{"BLMOVE", "a", "b", "LEFT", "RIGHT", "0"}}),
        request_of({{"BRPOPLPUSH", "a", "b", "25.5"}}),
        request_of({{"BLMPOP", "30", "1", "q", "LEFT"}}),
        request_of({{"BZMPOP", "0", "1", "z", "MIN"}}),
        request_of({{"BZPOPMIN", "z", "30"}}),
        request_of({{"BZPOPMAX", "z", "0"}}),
        request_of({{"XREAD", "BLOCK", "0", "STREAMS", "s", "$"}}),
        request_of({{"XREADGROUP", "GROUP", "g", "c", "BLOCK", "30000", "STREAMS", "s", ">"}}),
        request_of({{"WAIT", "1", "0"}}),
        request_of({{"WAITAOF", "1", "0", "30000"}}),
        request_of({{"BLPOP", "q", "10"}, {"BLPOP", "q", "10"}, {"GET", "k"}}),
    };
    for (auto const& each : commands)
        play_steadily(
            [&each](hand& h, int) -> awaitable<void> {
                auto greeting = h.greet();
                co_await std::move(greeting);
                auto reading = h.skip(each.commands());
                co_await std::move(reading);
                auto waiting = h.rest(20s);
                co_await std::move(waiting);
                std::string replies;
                for (std::size_t i = 0; i != each.commands(); ++i)
                    replies += ":1\r\n";
                auto answering = h.send(replies);
                co_await std::move(answering);
                auto staying = h.skip(1);
                co_await std::move(staying);
            },
            [&each](scene& s) -> awaitable<void> {
                auto connecting = connect(s, 500ms);
                co_await std::move(connecting);
                auto asking = s.ask(each, redis::ignore);
                auto const ec = co_await std::move(asking);
                EXPECT_FALSE(ec) << each.payload() << ec.message();
                EXPECT_FALSE(s.ended);
            });
}

TEST(RedisHealth, X2_HungServerIsNoticedWhenTheTimeOfABlockingCommandIsOver) {
    server_past past;
    sim::world* world = nullptr;
    for (bool const is_given_up : {false, true})
        play_steadily([&](hand& h, int) { return fall_silent(h, world, past); },
                      [&](scene& s) -> awaitable<void> {
                          world = &s.world;
                          auto connecting = connect(s, 1s);
                          co_await std::move(connecting);
                          asked<> pop(s);
                          pop.request = request_of({{"BLPOP", "q", "10"}});
                          auto const began = s.world.elapsed();
                          pop.start();
                          if (is_given_up) {
                              auto resting = s.rest(1s);
                              co_await std::move(resting);
                              EXPECT_EQ(s.connection.cancel(pop.request), 1U);
                          }
                          auto until_end = see_it_end(s);
                          co_await std::move(until_end);
                          EXPECT_EQ(s.end, R::server_silent) << s.end.message();
                          EXPECT_EQ(pop.end, R::maybe_executed);
                          EXPECT_GE(s.ended_at - began, 12s - slack);
                          EXPECT_LE(s.ended_at - began, 12s + slack);
                      });
}

TEST(RedisHealth, X2_ServerThatWasAskedToPauseIsGivenThatTime) {
    play_steadily(
        [](hand& h, int) -> awaitable<void> {
            auto greeting = h.greet();
            co_await std::move(greeting);
            auto reading = h.skip(1);
            co_await std::move(reading);
            auto answering = h.send("+OK\r\n");
            co_await std::move(answering);
            auto pausing = h.rest(10s);
            co_await std::move(pausing);
            auto more = h.skip(1);
            co_await std::move(more);
            auto again = h.send("+OK\r\n");
            co_await std::move(again);
            auto hanging = h.rest(100s);
            co_await std::move(hanging);
        },
        [](scene& s) -> awaitable<void> {
            auto connecting = connect(s, 1s, false);
            co_await std::move(connecting);
            auto const pause = request_of({{"CLIENT", "PAUSE", "10000", "ALL"}});
            auto asking = s.ask(pause, redis::ignore);
            EXPECT_FALSE(co_await std::move(asking));
            auto const get = request_of({{"GET", "k"}});
            auto waiting = s.ask(get, redis::ignore);
            auto const ec = co_await std::move(waiting);
            EXPECT_FALSE(ec) << ec.message();
            auto const paused_until = s.world.elapsed();
            auto until_end = see_it_end(s);
            co_await std::move(until_end);
            EXPECT_EQ(s.end, R::server_silent);
            EXPECT_LE(s.ended_at - paused_until, 2s + slack) << "after the pause it is checked as before";
        });
}

TEST(RedisHealth, X2_LostHostIsNoticedWhileNothingCanBeAsked) {
    // TCP asks, in whole seconds: after one of silence, then four times.
    std::vector<redis::request> const states{request_of({{"BLPOP", "q", "0"}}), request_of({{"MULTI"}})};
    for (auto const& each : states)
        play_steadily(
            [](hand& h, int) -> awaitable<void> {
                auto greeting = h.greet();
                co_await std::move(greeting);
                auto reading = h.next();
                auto const words = co_await std::move(reading);
                if (words[0] == "MULTI") {
                    auto answering = h.send("+OK\r\n");
                    co_await std::move(answering);
                }
                auto staying = h.skip(1);
                co_await std::move(staying);
            },
            [&each](scene& s) -> awaitable<void> {
                auto connecting = connect(s, 1s);
                co_await std::move(connecting);
                s.connection.async_exec(each, redis::ignore, detached);
                auto resting = s.rest(20s - s.world.elapsed() - 1ms);
                co_await std::move(resting);
                EXPECT_FALSE(s.ended);
                auto until_end = see_it_end(s);
                co_await std::move(until_end);
                EXPECT_EQ(s.end, error::timed_out) << s.end.message();
                EXPECT_LE(s.ended_at, 26s + slack);
            },
            {.prepare = [](sim::world& w, sim::host& redis, sim::host& app) {
                w.at(20s, [&w, &redis, &app] { w.partition(redis, app); });
            }});
}

TEST(RedisHealth, X2_BlockingCommandThatNeverArrivesIsNoExcuse) {
    server_past past;
    play_steadily([&past](hand& h, int) { return serve_well(h, past); },
                  [](scene& s) -> awaitable<void> {
                      auto connecting = connect(s, 1s);
                      co_await std::move(connecting);
                      auto resting = s.rest(5s - s.world.elapsed() + 1ms);
                      co_await std::move(resting);
                      auto const pop = request_of({{"BLPOP", "q", "0"}});
                      auto asking = s.ask(pop, redis::ignore);
                      EXPECT_EQ(co_await std::move(asking), R::maybe_executed);
                      auto until_end = see_it_end(s);
                      co_await std::move(until_end);
                      EXPECT_EQ(s.end, R::server_silent) << s.end.message();
                      EXPECT_LE(s.ended_at, 5s + 2s + slack);
                  },
                  {.prepare = [](sim::world& w, sim::host& redis, sim::host& app) {
                      w.at(5s, [&w, &redis, &app] { w.partition(redis, app); });
                  }});
}

TEST(RedisHealth, X2_TimeOfABlockingCommandBeginsWhenTheServerHasIt) {
    // Longer under way than an interval, shorter than two: the check asks before the server has the command.
    play_steadily(
        [](hand& h, int) -> awaitable<void> {
            auto greeting = h.greet();
            co_await std::move(greeting);
            for (;;) {
                auto reading = h.next();
                auto const words = co_await std::move(reading);
                if (words[0] == "BLPOP")
                    break;
                auto answering = h.send("+OK\r\n");
                co_await std::move(answering);
            }
            auto waiting = h.rest(20s);
            co_await std::move(waiting);
            auto answering = h.send("_\r\n");
            co_await std::move(answering);
            auto hanging = h.rest(100s);
            co_await std::move(hanging);
        },
        [](scene& s) -> awaitable<void> {
            auto connecting = connect(s, 1s);
            co_await std::move(connecting);
            auto const get = request_of({{"GET", "k"}});
            auto first = s.rest(5s - s.world.elapsed() - 100ms);
            co_await std::move(first);
            auto getting = s.ask(get, redis::ignore); // The next check comes an interval later.
            EXPECT_FALSE(co_await std::move(getting));
            auto resting = s.rest(5s - s.world.elapsed() + 1ms);
            co_await std::move(resting);
            auto const pop = request_of({{"BLPOP", "q", "20"}});
            auto asking = s.ask(pop, redis::ignore);
            auto const ec = co_await std::move(asking);
            EXPECT_FALSE(ec) << ec.message();
            EXPECT_FALSE(s.ended);
            auto const answered_at = s.world.elapsed();
            EXPECT_GE(answered_at, 26s) << "the network must have held it up for this test";
            auto hanging = s.ask(get, redis::ignore);
            EXPECT_EQ(co_await std::move(hanging), R::maybe_executed);
            EXPECT_LE(s.ended_at - answered_at, 2s + slack) << "afterwards it is checked as before";
        },
        {.prepare = [](sim::world& w, sim::host& redis, sim::host& app) {
            w.at(5s, [&w, &redis, &app] { w.partition(redis, app); });
            w.at(6200ms, [&w] { w.heal(); });
        }});
}

// ---- bytes that move

TEST(RedisHealth, X11UploadInProgressIsASignOfLife) {
    std::string const large(1'000'000, 'x'); // ten seconds
    play_steadily(
        [](hand& h, int) -> awaitable<void> {
            auto greeting = h.greet();
            co_await std::move(greeting);
            auto reading = h.skip(1);
            co_await std::move(reading);
            auto answering = h.send("+OK\r\n");
            co_await std::move(answering);
            for (;;) {
                auto more = h.skip(1);
                co_await std::move(more);
                auto again = h.send("+PONG\r\n");
                co_await std::move(again);
            }
        },
        [&large](scene& s) -> awaitable<void> {
            auto connecting = connect(s, 500ms, false);
            co_await std::move(connecting);
            redis::request req;
            req.push("SET", "k", large);
            auto asking = s.ask(req, redis::ignore);
            auto const ec = co_await std::move(asking);
            EXPECT_FALSE(ec) << ec.message();
            EXPECT_GE(s.world.elapsed(), 9s) << "the link must be slow for this test";
        },
        {.link = {.bytes_per_second = 100'000}});
}

TEST(RedisHealth, X11ServerThatStopsInTheMiddleOfAnUploadIsNoticed) {
    std::string const large(1'000'000, 'x');
    play_steadily(
        [](hand& h, int) -> awaitable<void> {
            auto greeting = h.greet();
            co_await std::move(greeting);
            auto hanging = h.rest(100s);
            co_await std::move(hanging);
        },
        [&large](scene& s) -> awaitable<void> {
            auto connecting = connect(s, 500ms, false);
            co_await std::move(connecting);
            auto const began = s.world.elapsed();
            redis::request req;
            req.push("SET", "k", large);
            auto asking = s.ask(req, redis::ignore);
            EXPECT_EQ(co_await std::move(asking), R::maybe_executed);
            auto until_end = see_it_end(s);
            co_await std::move(until_end);
            EXPECT_EQ(s.end, R::server_silent);
            EXPECT_LE(s.ended_at - began, 3s + slack) << "its system takes some of it first";
        },
        {.link = {.bytes_per_second = 100'000}});
}

TEST(RedisHealth, X11HungServerIsNoticedAlthoughItsSystemTakesWhatIsSent) {
    play_steadily(
        [](hand& h, int) -> awaitable<void> {
            auto greeting = h.greet();
            co_await std::move(greeting);
            auto hanging = h.rest(100s);
            co_await std::move(hanging);
        },
        [](scene& s) -> awaitable<void> {
            auto connecting = connect(s, 500ms, false);
            co_await std::move(connecting);
            auto const began = s.world.elapsed();
            std::deque<asked<>> all;
            while (!s.ended && all.size() != 1'000) {
                auto& each = all.emplace_back(s);
                each.request.push("INCR", "n");
                each.start();
                auto resting = s.rest(5ms);
                co_await std::move(resting);
            }
            EXPECT_EQ(s.end, R::server_silent) << s.end.message();
            EXPECT_LE(s.ended_at - began, 1s + 125ms + slack);
        });
}

// ---- times

TEST(RedisHealth, X18SilenceIsAskedAfterOneIntervalAndEndsTheConnectionAfterTwo) {
    server_past past;
    sim::world* world = nullptr;
    play_steadily([&](hand& h, int) { return fall_silent(h, world, past); },
                  [&](scene& s) -> awaitable<void> {
                      world = &s.world;
                      auto connecting = connect(s, redis::config().health_check_interval, false);
                      co_await std::move(connecting);
                      auto const ready_at = s.world.elapsed();
                      auto until_end = see_it_end(s);
                      co_await std::move(until_end);
                      EXPECT_EQ(s.end, R::server_silent);
                      EXPECT_EQ(past.pings, 1);
                      EXPECT_GE(past.last_ping_at - ready_at, 15s - slack);
                      EXPECT_LE(past.last_ping_at - ready_at, 15s + slack);
                      EXPECT_GE(s.ended_at - ready_at, 30s - slack);
                      EXPECT_LE(s.ended_at - ready_at, 30s + slack);
                  });
}

TEST(RedisHealth, X18TheLastByteCountsWheneverItComes) {
    for (auto const after : {1s, 7s, 14s, 16s, 29s}) {
        play_steadily(
            [&](hand& h, int) -> awaitable<void> {
                auto greeting = h.greet();
                co_await std::move(greeting);
                auto resting = h.rest(after);
                co_await std::move(resting);
                auto sending = h.send(std::string(news));
                co_await std::move(sending);
                auto hanging = h.rest(200s);
                co_await std::move(hanging);
            },
            [&](scene& s) -> awaitable<void> {
                auto connecting = connect(s, 15s, false);
                co_await std::move(connecting);
                auto const ready_at = s.world.elapsed();
                auto until_end = see_it_end(s);
                co_await std::move(until_end);
                EXPECT_EQ(s.end, R::server_silent);
                EXPECT_GE(s.ended_at - ready_at, after + 30s - slack);
                EXPECT_LE(s.ended_at - ready_at, after + 30s + slack);
            });
    }
}

TEST(RedisHealth, Z9_LimitOfConnectingIsNotTakenForThatOfTheGreeting) {
    // Both are due at one instant: connecting, which takes a millisecond, and its time-out.
    std::uint64_t in_time = 0, late = 0;
    play_steadily(
        [](hand& h, int) -> awaitable<void> {
            auto pausing = h.rest(1s);
            co_await std::move(pausing);
            auto greeting = h.greet();
            co_await std::move(greeting);
            auto staying = h.skip(1);
            co_await std::move(staying);
        },
        [&](scene& s) -> awaitable<void> {
            s.config.connect_timeout = 1ms;
            s.config.hello_timeout = 10s;
            s.start();
            auto until_known = s.until([&s] { return s.ended || s.connection.is_ready(); });
            co_await std::move(until_known);
            if (s.ended) {
                EXPECT_EQ(s.end, R::connect_timed_out) << s.end.message();
            }
            ++(s.ended ? late : in_time);
        },
        {.link = {.latency = 500us - 1ns, .jitter = 0ns}});
    if (in_time + late < 20) // one seed, or other processes counted
        return;
    EXPECT_GT(in_time, 0U);
    EXPECT_GT(late, 0U);
}

// ---- what is left

TEST(RedisHealth, PingThatWasNotSentIsNotKeptForTheNextSession) {
    // The end of the connection comes at the instant of the tick: the PING is queued, and there is nobody to send it
    // to.
    play_steadily(
        [](hand& h, int) -> awaitable<void> {
            auto greeting = h.greet();
            co_await std::move(greeting);
            auto resting = h.rest(500ms);
            co_await std::move(resting);
        },
        [](scene& s) -> awaitable<void> {
            s.config.keep_unsent = true;
            auto connecting = connect(s, 500ms, false);
            co_await std::move(connecting);
            auto ending = see_it_end(s);
            co_await std::move(ending);
            EXPECT_EQ(s.end, error::eof) << s.end.message();
            EXPECT_EQ(s.connection.pending(), 0U);
        },
        {.link = {.latency = 500us - 1ns, .jitter = 0ns}});
}

TEST(RedisHealth, Z7_RequestThatIsGivenUpWithoutASessionLeavesNoWork) {
    sim::for_each_seed(worlds(), [](sim::world& w) {
        auto& app = w.add_host("app");
        redis::connection connection(app.context());
        redis::request req;
        req.push("INCR", "n");
        error_code end;
        connection.async_exec(req, redis::ignore, [&end](error_code ec, std::size_t) { end = ec; });
        w.run_for(1s);
        EXPECT_FALSE(end);
        EXPECT_EQ(connection.cancel(req), 1U);
        w.run(); // Throws if there is work that nothing will complete.
        EXPECT_EQ(end, error::operation_aborted);
    });
}

} // namespace
} // namespace fairlead::test
