// The subscriptions of a client: what a reader gets, what it loses, and what others notice of it. In many worlds.
#include <gtest/gtest.h>

#include <sim/redis_client_scene.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::test {
namespace {

std::string message_on(std::string_view channel, std::string_view payload) {
    return ">3\r\n" + bulk("message") + bulk(channel) + bulk(payload);
}
std::string messages(std::string_view channel, int first, int count) {
    std::string all;
    for (int i = first; i != first + count; ++i)
        all += message_on(channel, std::to_string(i));
    return all;
}
std::string confirmed(std::string_view kind, std::string_view name) {
    return ">3\r\n" + bulk(kind) + bulk(name) + ":1\r\n";
}
/// Reads one command, and confirms it as the subscription that it is; `behind` goes out in the same write.
awaitable<void> confirm_next(hand& h, std::string behind = {}) {
    auto reading = h.next();
    auto const words = co_await std::move(reading);
    std::string kind = words.at(0);
    std::ranges::transform(kind, kind.begin(), [](char c) { return static_cast<char>(c | 0x20); });
    auto confirming = h.send(confirmed(kind, words.at(1)) + behind);
    co_await std::move(confirming);
}
awaitable<void> keep(awaitable<redis::subscription> subscribing, std::vector<redis::subscription>& kept) {
    auto sub = co_await std::move(subscribing);
    kept.push_back(std::move(sub));
}
/// How subscribing ends, if not with a subscription.
awaitable<void> note_end(awaitable<redis::subscription> subscribing, std::optional<error_code>& end) {
    try {
        auto const sub = co_await std::move(subscribing);
        end.emplace();
    } catch (system_error const& e) {
        end = e.code();
    }
}
/// Expects the messages `first` to `first + count - 1` on a subscription, none of them lost.
awaitable<void> take_all(redis::subscription& sub, int first, int count) {
    for (int i = first; i != first + count; ++i) {
        auto next = sub.next();
        auto const m = co_await std::move(next);
        if (!m)
            throw std::runtime_error("the subscription has ended");
        EXPECT_EQ(m->lost(), 0U);
        if (m->payload() != std::to_string(i))
            throw std::runtime_error("message " + std::string(m->payload()) + " in place of " + std::to_string(i));
    }
}

} // namespace

TEST(RedisSubscription, AReaderThatWaitsLosesNothingOfOneRead) {
    play_and_use(
        [&](hand& h, int) -> awaitable<void> {
            auto greeting = h.greet();
            co_await std::move(greeting);
            auto confirming = confirm_next(h);
            co_await std::move(confirming);
            auto resting = h.rest(10ms); // The reader waits by then.
            co_await std::move(resting);
            auto sending = h.send(messages("news", 0, 500));
            co_await std::move(sending);
            std::vector<std::string> heard;
            auto answering = answer_all(h, heard);
            co_await std::move(answering);
        },
        [&](client_scene& s) -> awaitable<void> {
            s.start();
            auto subscribing = s.client.subscribe("news");
            auto sub = co_await std::move(subscribing);
            auto taking = take_all(sub, 0, 500);
            co_await std::move(taking);
            EXPECT_EQ(s.client.traffic().pushes_dropped, 0U);
        },
        {.config = {.address = "10.0.0.1"}, .options = {.subscription_buffer = 4}});
}

TEST(RedisSubscription, ASubscribeThroughACallIsRefusedWithTheFunctionToUse) {
    std::vector<std::string> heard;
    play_and_use(
        [&](hand& h, int) -> awaitable<void> {
            heard.clear();
            auto greeting = h.greet();
            co_await std::move(greeting);
            auto answering = answer_all(h, heard);
            co_await std::move(answering);
        },
        [&](client_scene& s) -> awaitable<void> {
            s.start();
            redis::request early;
            early.push("PSUBSCRIBE", "n*");
            error_code early_end;
            s.client.async_exec(early, redis::ignore, [&](error_code ec, std::size_t) { early_end = ec; });
            auto pinging = s.client.ping();
            co_await std::move(pinging);
            redis::request req;
            req.push("GET", "a");
            req.push("SUBSCRIBE", "news");
            redis::generic_response reply;
            std::string what;
            try {
                auto calling = s.client.async_exec(req, reply);
                co_await std::move(calling);
            } catch (system_error const& e) {
                EXPECT_EQ(e.code(), redis::error::refused_command);
                what = e.what();
            }
            EXPECT_TRUE(what.starts_with("redis SUBSCRIBE (instead: use redis::client::subscribe()): ")) << what;
            EXPECT_EQ(req.instead(), "use redis::client::subscribe()");
            auto leaving = s.client.async_exec(redis::cmd::unsubscribe("news"), as_tuple);
            auto const left = co_await std::move(leaving);
            EXPECT_EQ(std::get<0>(left), redis::error::refused_command);
            EXPECT_EQ(early_end, redis::error::refused_command) << "before there was a connection";
            EXPECT_EQ(heard, (std::vector<std::string>{"PING"})) << "nothing of it is sent";
        });
}

TEST(RedisSubscription, NorOfTheReadThatBringsItsConfirmation) {
    play_and_use(
        [&](hand& h, int) -> awaitable<void> {
            auto greeting = h.greet();
            co_await std::move(greeting);
            auto confirming = confirm_next(h, messages("news", 0, 100));
            co_await std::move(confirming);
            std::vector<std::string> heard;
            auto answering = answer_all(h, heard);
            co_await std::move(answering);
        },
        [&](client_scene& s) -> awaitable<void> {
            s.start();
            auto subscribing = s.client.subscribe("news");
            auto sub = co_await std::move(subscribing);
            auto taking = take_all(sub, 0, 100);
            co_await std::move(taking);
        },
        {.config = {.address = "10.0.0.1"}, .options = {.subscription_buffer = 4}});
}

/// A reader that does something else with each message is slow, from the moment at which it could have come back.
TEST(RedisSubscription, AReaderThatIsBusyHoldsUpNoReplyAndIsToldWhatItLost) {
    constexpr int sent = 3000;
    play_and_use(
        [&](hand& h, int) -> awaitable<void> {
            auto greeting = h.greet();
            co_await std::move(greeting);
            auto confirming = confirm_next(h);
            co_await std::move(confirming);
            auto reading = h.skip(1);
            co_await std::move(reading);
            auto sending = h.send(messages("news", 0, sent) + bulk("behind the messages"));
            co_await std::move(sending);
            std::vector<std::string> heard;
            auto answering = answer_all(h, heard);
            co_await std::move(answering);
        },
        [&](client_scene& s) -> awaitable<void> {
            s.start();
            auto subscribing = s.client.subscribe("news");
            auto sub = co_await std::move(subscribing);
            client_call echo("ECHO", "behind the messages");
            echo.start(s.client);
            std::uint64_t got = 0, lost = 0;
            auto next = sub.next();
            auto const first = co_await std::move(next);
            EXPECT_EQ(first->payload(), "0");
            auto resting = s.rest(20s);
            co_await std::move(resting);
            EXPECT_TRUE(echo.is_done()) << "no reply waits for a reader";
            EXPECT_EQ(s.client.traffic().pushes, 1U + sent);
            for (got = 1; got + lost != sent; ++got) {
                auto more = sub.next();
                auto const m = co_await std::move(more);
                lost += m->lost();
                EXPECT_EQ(m->payload(), std::to_string(got + lost)) << "the oldest ones are lost";
            }
            EXPECT_LT(got, 1000U);
            EXPECT_EQ(s.client.traffic().pushes_dropped, lost);
        },
        {.config = {.address = "10.0.0.1"}, .options = {.subscription_buffer = 4}});
}

TEST(RedisSubscription, ASlowReaderTakesNothingFromTheOthers) {
    play_and_use(
        [&](hand& h, int) -> awaitable<void> {
            auto greeting = h.greet();
            co_await std::move(greeting);
            for (int i = 0; i != 4; ++i) {
                auto confirming = confirm_next(h);
                co_await std::move(confirming);
            }
            auto resting = h.rest(10ms);
            co_await std::move(resting);
            std::string all;
            for (int i = 0; i != 300; ++i)
                all += messages("slow", i, 1) + messages("quick", i, 1);
            auto sending = h.send(all);
            co_await std::move(sending);
            std::vector<std::string> heard;
            auto answering = answer_all(h, heard);
            co_await std::move(answering);
        },
        [&](client_scene& s) -> awaitable<void> {
            s.start();
            auto first = s.client.subscribe("slow");
            auto slow = co_await std::move(first);
            auto second = s.client.subscribe("quick");
            auto quick = co_await std::move(second);
            auto third = s.client.subscribe("slow", "quick");
            auto both = co_await std::move(third);
            auto taking = take_all(quick, 0, 300);
            co_await std::move(taking);
            std::uint64_t total = 0;
            for (auto* const each : {&slow, &both})
                for (std::uint64_t n = 0, all = each == &slow ? 300 : 600; n != all; ++total) {
                    auto next = each->next();
                    auto const m = co_await std::move(next);
                    n += 1 + m->lost();
                    EXPECT_EQ(m->payload(), std::to_string((n - 1) / (each == &slow ? 1 : 2)));
                }
            EXPECT_LT(total, 600U);
        },
        {.config = {.address = "10.0.0.1"}, .options = {.subscription_buffer = 4}});
}

/// The client's limits, those of one subscription, and of each kind the smaller one counts.
TEST(RedisSubscription, HoldsSoManyMessagesAndBytes) {
    constexpr int sent = 1000;
    play_and_use(
        [&](hand& h, int) -> awaitable<void> {
            auto greeting = h.greet();
            co_await std::move(greeting);
            for (int i = 0; i != 3; ++i) {
                auto confirming = confirm_next(h);
                co_await std::move(confirming);
            }
            auto resting = h.rest(10ms);
            co_await std::move(resting);
            std::string all;
            for (int i = 0; i != sent; ++i)
                all += message_on("news", std::to_string(i) + std::string(1000, 'x'));
            auto sending = h.send(all);
            co_await std::move(sending);
            std::vector<std::string> heard;
            auto answering = answer_all(h, heard);
            co_await std::move(answering);
        },
        [&](client_scene& s) -> awaitable<void> {
            s.start();
            std::vector<redis::subscription> kept;
            std::vector<redis::subscription_options> const limits{
                {}, {.messages_max = 10}, {.messages_max = sent, .bytes_max = 800'000}};
            for (auto const& each : limits) {
                auto subscribing = s.client.subscribe(each, "news");
                auto sub = co_await std::move(subscribing);
                kept.push_back(std::move(sub));
            }
            auto arrived = s.until([&] { return s.client.traffic().pushes == 3 + sent; });
            co_await std::move(arrived);
            std::uint64_t all_lost = 0;
            std::vector<std::uint64_t> got;
            for (auto& each : kept) {
                std::uint64_t n = 0, lost = 0;
                for (; n + lost != sent; ++n) {
                    auto next = each.next();
                    auto const m = co_await std::move(next);
                    lost += m->lost();
                    EXPECT_EQ(m->payload().substr(0, m->payload().find('x')), std::to_string(n + lost));
                }
                all_lost += lost;
                got.push_back(n);
            }
            // Each of them may hold a few portions more, which came before it could have run.
            constexpr std::uint64_t portions = 5 * 32;
            EXPECT_GE(got[0], 90U);
            EXPECT_LE(got[0], 100U + portions) << "100 kB, the client's limit";
            EXPECT_GE(got[1], 10U);
            EXPECT_LE(got[1], 10U + portions);
            EXPECT_GE(got[2], 700U);
            EXPECT_LE(got[2], 800U + portions);
            EXPECT_EQ(s.client.traffic().pushes_dropped, all_lost);
        },
        {.config = {.address = "10.0.0.1"}, .options = {.subscription_bytes = 100'000}});
}

TEST(RedisSubscription, IsRefusedByAClientThatGivesUp) {
    play_and_use([](hand&, int) -> awaitable<void> { co_return; },
                 [](client_scene& s) -> awaitable<void> {
                     std::optional<error_code> meanwhile, late;
                     spawn(s.context, note_end(s.client.subscribe("news"), meanwhile));
                     s.start();
                     auto ending = s.until([&] { return s.ended && meanwhile; });
                     co_await std::move(ending);
                     EXPECT_EQ(*meanwhile, redis::error::not_sent);
                     auto subscribing = note_end(s.client.subscribe("news"), late);
                     co_await std::move(subscribing);
                     EXPECT_EQ(*late, redis::error::not_connected);
                     EXPECT_EQ(s.client.counters().gave_up, 1U);
                 },
                 {.config = {.address = "10.0.0.1"}, .options = {.attempts_max = 3}});
}

TEST(RedisSubscription, EndsWhenTheClientGivesUp) {
    play_and_use(
        [](hand& h, int generation) -> awaitable<void> {
            if (generation != 0)
                co_return;
            auto greeting = h.greet();
            co_await std::move(greeting);
            auto confirming = confirm_next(h, messages("news", 0, 1));
            co_await std::move(confirming);
        },
        [](client_scene& s) -> awaitable<void> {
            s.start();
            auto subscribing = s.client.subscribe("news");
            auto sub = co_await std::move(subscribing);
            auto ending = s.until([&s] { return s.ended.has_value(); });
            co_await std::move(ending);
            std::size_t got = 0;
            for (bool is_over = false; !is_over; got += !is_over) {
                auto next = sub.next();
                auto const m = co_await std::move(next);
                is_over = !m;
            }
            EXPECT_LE(got, 1U) << "a message that has come is not lost";
        },
        {.config = {.address = "10.0.0.1"}, .options = {.attempts_max = 2}});
}

/// A client that is run again begins without it.
TEST(RedisSubscription, EndsWithTheRunOfItsClient) {
    std::vector<std::string> heard;
    play_and_use(
        [&](hand& h, int generation) -> awaitable<void> {
            auto greeting = h.greet();
            co_await std::move(greeting);
            auto confirming = confirm_next(h);
            co_await std::move(confirming);
            if (generation != 0) {
                auto sending = h.send(messages("other", 0, 1));
                co_await std::move(sending);
            }
            auto answering = answer_all(h, heard);
            co_await std::move(answering);
        },
        [&](client_scene& s) -> awaitable<void> {
            heard.clear();
            s.start();
            auto subscribing = s.client.subscribe("news");
            auto sub = co_await std::move(subscribing);
            bool has_ended = false;
            sub.async_next([&](error_code ec, auto const& m) {
                EXPECT_FALSE(ec);
                EXPECT_FALSE(m);
                has_ended = true;
            });
            s.client.cancel();
            auto ending = s.until([&] { return s.ended && has_ended; });
            co_await std::move(ending);
            s.start();
            auto once_more = s.client.subscribe("other");
            auto other = co_await std::move(once_more);
            auto taking = take_all(other, 0, 1);
            co_await std::move(taking);
            auto next = sub.next();
            auto const m = co_await std::move(next);
            EXPECT_FALSE(m);
            client_call last("ECHO", "last");
            last.start(s.client);
            auto answered = s.until([&] { return last.is_done(); });
            co_await std::move(answered);
            EXPECT_EQ(heard, (std::vector<std::string>{"ECHO last"})) << "nobody subscribes to news";
        });
}

/// Whether it is asked for before, during or behind the greeting, and whatever else waits for the connection.
TEST(RedisSubscription, IsSentOnceWhetherThereIsAConnectionOrNot) {
    std::vector<std::string> heard;
    play_and_use(
        [&](hand& h, int) -> awaitable<void> {
            auto reading = h.skip(1);
            co_await std::move(reading);
            auto resting = h.rest(50ms);
            co_await std::move(resting);
            auto greeting = h.send("%1\r\n+proto\r\n:3\r\n");
            co_await std::move(greeting);
            for (;;) {
                auto next = h.next();
                auto const words = co_await std::move(next);
                heard.push_back(words[0] + ' ' + words.at(1));
                bool const is_echo = words[0] == "ECHO";
                auto answering = h.send(is_echo ? bulk(words[1]) : confirmed("subscribe", words[1]));
                co_await std::move(answering);
            }
        },
        [&](client_scene& s) -> awaitable<void> {
            heard.clear();
            client_call before("ECHO", "before"), behind("ECHO", "behind");
            before.start(s.client);
            std::vector<redis::subscription> kept;
            auto const subscribe = [&](char const* name) { spawn(s.context, keep(s.client.subscribe(name), kept)); };
            subscribe("early");
            auto resting = s.rest(5ms);
            co_await std::move(resting);
            s.start();
            behind.start(s.client);
            auto greeted_late = s.rest(20ms);
            co_await std::move(greeted_late);
            subscribe("meanwhile");
            auto done = s.until([&] { return kept.size() == 2 && behind.is_done(); });
            co_await std::move(done);
            subscribe("later");
            auto all_done = s.until([&] { return kept.size() == 3; });
            co_await std::move(all_done);
            EXPECT_EQ(heard, (std::vector<std::string>{"ECHO before", "SUBSCRIBE early", "ECHO behind",
                                                       "SUBSCRIBE meanwhile", "SUBSCRIBE later"}));
        });
}

/// The connection goes before or behind the confirmation; another subscription has the same channel, or not.
TEST(RedisSubscription, ComesBackAlsoWhenItsFirstRequestIsLost) {
    for (bool const is_shared : {false, true})
        for (int const lost_behind : {0, 1}) {
            std::vector<std::string> heard;
            play_and_use(
                [&](hand& h, int generation) -> awaitable<void> {
                    auto greeting = h.greet();
                    co_await std::move(greeting);
                    for (int n = 0;; ++n) {
                        auto next = h.next();
                        auto const words = co_await std::move(next);
                        if (generation == 0 && n == lost_behind)
                            co_return;
                        if (generation == 1)
                            heard.push_back(words.at(1));
                        auto answering = h.send(confirmed("subscribe", words.at(1)) +
                                                (generation == 0 ? "" : messages(words[1], 0, 3)));
                        co_await std::move(answering);
                    }
                },
                [&](client_scene& s) -> awaitable<void> {
                    heard.clear();
                    s.start();
                    std::vector<redis::subscription> kept;
                    for (char const* const name : {"a", is_shared ? "a" : "b"})
                        spawn(s.context, keep(s.client.subscribe(name), kept));
                    auto done = s.until([&] { return kept.size() == 2; });
                    co_await std::move(done);
                    for (auto& each : kept) {
                        auto taking = take_all(each, 0, 3);
                        co_await std::move(taking);
                    }
                    EXPECT_TRUE(std::ranges::count(heard, "a") == 1 || is_shared);
                });
        }
}

// ---- servers without RESP3

namespace {

using shadow_body = std::function<awaitable<void>(client_scene&, shadow_redis&)>;

/// A server that knows no HELLO, and a client.
void use_with_resp2(shadow_body const& body, client_settings const& settings = {}) {
    sim::for_each_seed(worlds(), [&](sim::world& w) {
        auto const server = std::make_shared<shadow_redis>(w.seed());
        server->resp2_only(true);
        auto& redis = w.add_server("redis", [server](sim::host& h) { return server->serve(h.context()); });
        client_body const playing = [&](client_scene& scene) { return body(scene, *server); };
        w.add_host("app", [&](sim::host& h) { return run_client_scene(w, h.context(), playing, settings); });
        finish(w);
        redis.kill();
    });
}

/// Publishes `count` messages with their numbers, on a connection of calls.
awaitable<void> publish_all(client_scene& s, std::string channel, int first, int count, long expected_receivers = 1) {
    for (int i = first; i != first + count; ++i) {
        redis::request req;
        req.push("PUBLISH", channel, i);
        long receivers = 0;
        auto publishing = s.client.async_exec(req, receivers);
        co_await std::move(publishing);
        EXPECT_EQ(receivers, expected_receivers);
    }
}

} // namespace

TEST(RedisSubscription, WithResp2HasAConnectionBesideThatOfTheCalls) {
    use_with_resp2(
        [](client_scene& s, shadow_redis& server) -> awaitable<void> {
            client_call echo("ECHO", "a");
            std::vector<redis::subscription> kept;
            spawn(s.context, keep(s.client.subscribe("early"), kept));
            echo.start(s.client);
            s.start();
            auto subscribed = s.until([&] { return kept.size() == 1 && echo.is_done(); });
            co_await std::move(subscribed);
            EXPECT_EQ(echo.response.value(), "a");
            spawn(s.context, keep(s.client.subscribe("late", "early"), kept));
            auto subscribed_too = s.until([&] { return kept.size() == 2; });
            co_await std::move(subscribed_too);
            EXPECT_EQ(server.live_sessions(), 2U);
            auto publishing = publish_all(s, "early", 0, 20);
            co_await std::move(publishing);
            for (auto& each : kept) {
                auto taking = take_all(each, 0, 20);
                co_await std::move(taking);
            }
            auto publishing_late = publish_all(s, "late", 20, 5);
            co_await std::move(publishing_late);
            auto taking_late = take_all(kept[1], 20, 5);
            co_await std::move(taking_late);
            auto resting = s.rest(15s); // Several questions are asked meanwhile, on both connections.
            co_await std::move(resting);
            kept.pop_back();
            auto leaving = s.rest(1s);
            co_await std::move(leaving);
            auto publishing_for_nobody = publish_all(s, "late", 0, 1, 0);
            co_await std::move(publishing_for_nobody);
            auto publishing_for_one = publish_all(s, "early", 0, 1);
            co_await std::move(publishing_for_one);
            auto taking = take_all(kept[0], 0, 1);
            co_await std::move(taking);
            EXPECT_EQ(server.live_sessions(), 2U);
            kept.clear();
            auto closing = s.until([&] { return server.live_sessions() == 1; });
            co_await std::move(closing);
            EXPECT_EQ(s.events, (std::vector<event_kind>{event_kind::connecting, event_kind::ready}))
                << "nothing has been lost";
            auto subscribing = s.client.subscribe("again");
            auto again = co_await std::move(subscribing);
            auto publishing_again = publish_all(s, "again", 0, 1);
            co_await std::move(publishing_again);
            auto taking_again = take_all(again, 0, 1);
            co_await std::move(taking_again);
        },
        {.config = {.address = "10.0.0.1", .health_check_interval = 4s, .check_order = true},
         .options = {.lease_idle = 2s}});
}

TEST(RedisSubscription, WithResp2ComesBackByItselfAndDisturbsNoCall) {
    use_with_resp2([](client_scene& s, shadow_redis& server) -> awaitable<void> {
        s.start();
        auto subscribing = s.client.subscribe("news");
        auto sub = co_await std::move(subscribing);
        std::uint64_t connection = 0;
        for (std::size_t round = 1; round != 4; ++round) {
            auto publishing = publish_all(s, "news", 0, 1);
            co_await std::move(publishing);
            auto next = sub.next();
            auto const m = co_await std::move(next);
            EXPECT_GT(m->connection(), connection);
            connection = m->connection();
            bool const is_all = round == 3;
            is_all ? server.drop_clients() : server.drop_subscribers();
            auto lost = s.until([&] {
                return s.count(event_kind::subscriptions_lost) == round && s.count(event_kind::lost) == is_all;
            });
            co_await std::move(lost);
            client_call echo("ECHO", "meanwhile");
            echo.start(s.client);
            auto restored = s.until([&] { return s.is_restored() && echo.is_done(); });
            co_await std::move(restored);
            EXPECT_FALSE(echo.end);
            // Where the ends of two connections are heard of one after the other, each is a loss of its own.
            auto const times = s.count(event_kind::restored);
            EXPECT_TRUE(times == round || (is_all && times == round + 1)) << times;
            EXPECT_EQ(s.client.counters().subscriptions_lost, round);
            EXPECT_EQ(s.count(event_kind::lost), is_all ? 1U : 0U) << "the calls kept their connection";
        }
        auto publishing = publish_all(s, "news", 7, 1);
        co_await std::move(publishing);
        auto taking = take_all(sub, 7, 1);
        co_await std::move(taking);
    });
}

TEST(RedisSubscription, WithResp2HasALimitWhereItCannotConnect) {
    use_with_resp2(
        [](client_scene& s, shadow_redis& server) -> awaitable<void> {
            server.connections_max(1);
            s.start();
            auto const begin = s.world.elapsed();
            error_code ec;
            try {
                auto subscribing = s.client.subscribe("news");
                auto sub = co_await std::move(subscribing);
            } catch (system_error const& e) {
                ec = e.code();
            }
            EXPECT_EQ(ec, redis::error::not_sent_in_time);
            EXPECT_LT(s.world.elapsed() - begin, 2100ms);
            client_call echo("ECHO", "a");
            echo.start(s.client);
            auto answered = s.until([&] { return echo.is_done(); });
            co_await std::move(answered);
            EXPECT_FALSE(echo.end);
            EXPECT_GE(s.count(event_kind::subscriptions_lost), 1U) << "an attempt that failed is told";
            EXPECT_EQ(s.count(event_kind::lost), 0U);
            server.connections_max(2);
            auto subscribing = s.client.subscribe("news");
            auto sub = co_await std::move(subscribing);
            auto publishing = publish_all(s, "news", 0, 1);
            co_await std::move(publishing);
            auto taking = take_all(sub, 0, 1);
            co_await std::move(taking);
        },
        {.config = {.address = "10.0.0.1", .request_timeout = 2s}, .options = {.pause_max = 200ms}});
}

TEST(RedisSubscription, MovesToTheSharedConnectionWhenTheServerLearnsResp3) {
    use_with_resp2([](client_scene& s, shadow_redis& server) -> awaitable<void> {
        s.start();
        auto subscribing = s.client.subscribe("news");
        auto sub = co_await std::move(subscribing);
        EXPECT_EQ(server.live_sessions(), 2U);
        server.resp2_only(false);
        server.drop_clients();
        auto moved = s.until([&] {
            return s.count(event_kind::ready) == 2 && s.count(event_kind::restored) != 0 && server.live_sessions() == 1;
        });
        co_await std::move(moved);
        auto publishing = publish_all(s, "news", 0, 5);
        co_await std::move(publishing);
        auto taking = take_all(sub, 0, 5);
        co_await std::move(taking);
    });
}

/// Its request waits on the connection of the subscriptions, or on its way there.
TEST(RedisSubscription, WithResp2EndsWithItsClient) {
    for (bool const can_connect : {false, true})
        use_with_resp2([can_connect](client_scene& s, shadow_redis& server) -> awaitable<void> {
            server.connections_max(can_connect ? 2 : 1);
            s.start();
            error_code ec;
            bool has_ended = false;
            auto const subscribe = [](client_scene& scene, error_code& end, bool& is_over) -> awaitable<void> {
                try {
                    auto subscribing = scene.client.subscribe("news");
                    auto sub = co_await std::move(subscribing);
                    auto next = sub.next();
                    auto const m = co_await std::move(next);
                    EXPECT_FALSE(m);
                } catch (system_error const& e) {
                    end = e.code();
                }
                is_over = true;
            };
            co_spawn(s.context, subscribe(s, ec, has_ended), detached);
            auto resting = s.rest(5s);
            co_await std::move(resting);
            EXPECT_FALSE(has_ended);
            s.client.cancel();
            auto ending = s.until([&] { return s.ended && has_ended; });
            co_await std::move(ending);
            if (!can_connect) {
                EXPECT_EQ(ec, error::operation_aborted);
            } else {
                auto closed = s.until([&] { return server.live_sessions() == 0; });
                co_await std::move(closed);
            }
            s.start(); // It serves once more.
            server.connections_max(2);
            if (can_connect) {
                auto subscribing = s.client.subscribe("news");
                auto sub = co_await std::move(subscribing);
                EXPECT_EQ(server.live_sessions(), 2U);
                auto publishing = publish_all(s, "news", 0, 1);
                co_await std::move(publishing);
                auto taking = take_all(sub, 0, 1);
                co_await std::move(taking);
            }
        });
}

} // namespace fairlead::test
