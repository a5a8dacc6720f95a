// Rows P, F and X of the failure catalogue that need a server which does the worst at the worst moment. It is a
// simulated one, mostly played by hand. Every row runs in many worlds, which cut reads and writes anywhere and run
// things in any order.
#include <gtest/gtest.h>

#include <sim/redis_scene.hpp>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>

namespace fairlead::test {
namespace {

// ---- P: requests and replies

TEST(Catalogue, P01_ReplyOfARequestThatWasGivenUpIsDropped) {
    bool seen = false;
    play_and_ask(
        [&](hand& h, int) -> awaitable<void> {
            auto greeting = h.greet();
            co_await std::move(greeting);
            auto reading = h.skip(1);
            co_await std::move(reading);
            seen = true;
            auto more = h.skip(1); // The other request comes when this one has been given up.
            co_await std::move(more);
            auto answering = h.send(bulk("not yours") + bulk("yours"));
            co_await std::move(answering);
            auto waiting = h.skip(1);
            co_await std::move(waiting);
        },
        [&](scene& s) -> awaitable<void> {
            seen = false;
            s.start();
            asked<std::string> one(s);
            one.request.push("GET", "one");
            one.start();
            auto until_seen = s.until([&] { return seen; });
            co_await std::move(until_seen);
            EXPECT_EQ(s.connection.cancel(one.request), 1U);
            auto asking = s.echo("yours");
            EXPECT_EQ(co_await std::move(asking), "yours");
            EXPECT_EQ(one.end, R::maybe_executed);
            EXPECT_EQ(one.completions, 1);
            EXPECT_EQ(one.response, "");
            EXPECT_EQ(s.connection.counters().replies_dropped, 1U);
        });
}

TEST(Catalogue, P02_RequestThatWasGivenUpBeforeItWasWrittenIsNeverSent) {
    play_and_ask(
        [](hand& h, int) -> awaitable<void> {
            auto greeting = h.greet();
            co_await std::move(greeting);
            for (;;) {
                auto reading = h.next();
                auto const c = co_await std::move(reading);
                if (c[0] != "ECHO")
                    throw std::runtime_error("sent: " + c[0]);
                auto answering = h.send(bulk(c[1]));
                co_await std::move(answering);
            }
        },
        [](scene& s) -> awaitable<void> {
            // Before there is a connection, and in one turn with others.
            for (int round = 0; round != 2; ++round) {
                asked<> given_up(s);
                asked<std::string> before(s), after(s);
                before.request.push("ECHO", "before");
                given_up.request.push("INCR", "n");
                given_up.request.push("INCR", "n");
                after.request.push("ECHO", "after");
                before.start();
                given_up.start();
                after.start();
                EXPECT_EQ(s.connection.cancel(given_up.request), 1U);
                if (round == 0)
                    s.start();
                auto until_done = s.until([&] { return before.done() && after.done() && given_up.done(); });
                co_await std::move(until_done);
                EXPECT_EQ(given_up.end, error::operation_aborted);
                EXPECT_EQ(before.response, "before");
                EXPECT_EQ(after.response, "after");
            }
        });
}

TEST(Catalogue, P03_RequestThatWasGivenUpHalfWrittenIsWrittenToItsEnd) {
    std::string const large(300'000, 'x'); // more than lies between the two
    bool reads = false;
    play_and_ask(
        [&](hand& h, int) -> awaitable<void> {
            reads = false;
            auto greeting = h.greet();
            co_await std::move(greeting);
            while (!reads) {
                auto resting = h.rest(10ms);
                co_await std::move(resting);
            }
            auto reading = h.next();
            auto const c = co_await std::move(reading);
            if (c != command_words{"SET", "k", large})
                throw std::runtime_error("the command was cut");
            auto more = h.skip(1);
            co_await std::move(more);
            auto answering = h.send("+OK\r\n" + bulk("mine"));
            co_await std::move(answering);
            auto waiting = h.skip(1);
            co_await std::move(waiting);
        },
        [&](scene& s) -> awaitable<void> {
            s.start();
            asked<> given_up(s);
            given_up.request.push("SET", "k", large);
            given_up.start();
            auto resting = s.rest(3s);
            co_await std::move(resting);
            EXPECT_EQ(s.connection.cancel(given_up.request), 1U);
            reads = true;
            auto asking = s.echo("mine");
            EXPECT_EQ(co_await std::move(asking), "mine");
            EXPECT_EQ(given_up.end, R::maybe_executed);
        });
}

struct unreadable {};
error_code from_reply(redis::reply_reader&, unreadable&) { throw std::runtime_error("the program's own trouble"); }

struct unwritable {
    operator std::string_view() const { throw std::runtime_error("the program's own trouble"); }
};

void misbehave_in_harmless_ways(sim::world& w, shadow_redis& server, sim::host&) {
    for (auto const one : {wrong::late, wrong::cut, wrong::attribute, wrong::push, wrong::early_push})
        server.set(one, static_cast<std::uint32_t>(w.choose(wrong_names[static_cast<std::size_t>(one)], 0, 4)) * 100);
}

TEST(Catalogue, P04_CodecOfTheProgramThatThrowsFailsItsOwnRequestOnly) {
    serve_and_ask(nullptr, misbehave_in_harmless_ways, [](scene& s, shadow_redis&) -> awaitable<void> {
        s.start();
        asked<redis::response<std::string, unreadable, std::string>> bad(s);
        asked<std::string> good(s);
        for (auto const* const text : {"a", "b", "c"})
            bad.request.push("ECHO", text);
        good.request.push("ECHO", "d");
        auto const bytes = good.request.payload().size();
        EXPECT_THROW(good.request.push("SET", "k", unwritable()), std::runtime_error);
        EXPECT_EQ(good.request.payload().size(), bytes);
        EXPECT_EQ(good.request.commands(), 1U);
        bad.start();
        good.start();
        auto until_done = s.until([&] { return bad.done() && good.done(); });
        co_await std::move(until_done);
        EXPECT_EQ(bad.end, R::conversion_failed);
        EXPECT_EQ(std::get<0>(bad.response).value(), "a");
        EXPECT_EQ(std::get<2>(bad.response).value(), "c") << "the other replies are delivered";
        EXPECT_FALSE(good.end);
        EXPECT_EQ(good.response, "d");
    });
}

TEST(Catalogue, P05_PushesBeforeHelloBetweenRepliesAndAroundExecAreNoReplies) {
    play_and_ask(
        [](hand& h, int) -> awaitable<void> {
            auto reading_hello = h.skip(1);
            co_await std::move(reading_hello);
            std::string text(news);
            text += "%1\r\n+proto\r\n:3\r\n";
            text += news;
            auto answering = h.send(text);
            co_await std::move(answering);
            auto reading = h.skip(4);
            co_await std::move(reading);
            std::string all;
            for (auto const* const reply : {"+OK\r\n", "+QUEUED\r\n", "+QUEUED\r\n", "*2\r\n:1\r\n$1\r\nv\r\n"})
                all.append(news).append(reply);
            all += news;
            auto executing = h.send(all);
            co_await std::move(executing);
            auto waiting = h.skip(1);
            co_await std::move(waiting);
        },
        [](scene& s) -> awaitable<void> {
            s.start();
            asked<> transaction(s);
            transaction.request.push("MULTI");
            transaction.request.push("INCR", "n");
            transaction.request.push("GET", "k");
            transaction.request.push("EXEC");
            transaction.start();
            redis::generic_response pushes;
            for (std::size_t n = 0; n != 7;) {
                auto receiving = s.connection.async_receive(pushes);
                n += co_await std::move(receiving);
                for (auto const& line : reply_lines(pushes))
                    EXPECT_EQ(line, "[3 message news hello");
            }
            auto until_done = s.until([&] { return transaction.done(); });
            co_await std::move(until_done);
            EXPECT_FALSE(transaction.end) << transaction.end.message();
            EXPECT_EQ(reply_lines(transaction.response),
                      (std::vector<std::string>{"OK", "QUEUED", "QUEUED", "[2 1 v"}));
            EXPECT_EQ(s.connection.counters().pushes, 7U);
        });
}

TEST(Catalogue, P05_PushInTheMiddleOfExecCannotShiftReplies) {
    // redis-server 7.0 does this when a transaction publishes to a channel of its own connection.
    play_and_ask(
        [](hand& h, int generation) -> awaitable<void> {
            auto greeting = h.greet();
            co_await std::move(greeting);
            if (generation == 0) {
                auto reading = h.skip(6);
                co_await std::move(reading);
                auto answering = h.send("+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n*3\r\n:1\r\n" + std::string(news) +
                                        ":1\r\n:2\r\n" + bulk("mine"));
                co_await std::move(answering);
                auto waiting = h.skip(1);
                co_await std::move(waiting);
            } else {
                auto reading = h.skip(1);
                co_await std::move(reading);
                auto answering = h.send(bulk("again"));
                co_await std::move(answering);
                auto waiting = h.skip(1);
                co_await std::move(waiting);
            }
        },
        [](scene& s) -> awaitable<void> {
            s.start();
            asked<> transaction(s);
            transaction.request.push("MULTI");
            transaction.request.push("INCR", "n");
            transaction.request.push("PUBLISH", "news", "hello");
            transaction.request.push("INCR", "n");
            transaction.request.push("EXEC");
            asked<std::string> next(s);
            next.request.push("ECHO", "mine");
            transaction.start();
            next.start();
            auto until_done = s.until([&] { return transaction.done() && next.done(); });
            co_await std::move(until_done);
            // Either the push is understood, or the connection ends; nobody gets what is not his.
            if (next.end) {
                EXPECT_EQ(next.end, R::maybe_executed);
                auto until_end = s.until([&] { return s.ended; });
                co_await std::move(until_end);
                EXPECT_EQ(s.end, redis::condition::protocol_error);
                s.start();
                auto asking = s.echo("again");
                EXPECT_EQ(co_await std::move(asking), "again");
            } else {
                EXPECT_EQ(next.response, "mine");
                EXPECT_EQ(reply_lines(transaction.response),
                          (std::vector<std::string>{"OK", "QUEUED", "QUEUED", "QUEUED", "[3 1 1 2"}));
            }
        });
}

TEST(Catalogue, P06_AttributesBeforeAndInsideRepliesAreNotCounted) {
    serve_and_ask(
        nullptr,
        [](sim::world&, shadow_redis& server, sim::host&) {
            server.set(wrong::attribute, sim::always);
            server.set(wrong::cut, 300);
        },
        [](scene& s, shadow_redis& server) -> awaitable<void> {
            s.start();
            asked<> transaction(s);
            transaction.request.push("MULTI");
            transaction.request.push("INCR", "n");
            transaction.request.push("ECHO", "a");
            transaction.request.push("EXEC");
            transaction.request.push("GET", "n");
            transaction.start();
            auto asking = s.echo("mine");
            EXPECT_EQ(co_await std::move(asking), "mine");
            EXPECT_EQ(reply_lines(transaction.response),
                      (std::vector<std::string>{"OK", "QUEUED", "QUEUED", "[2 1 a", "1"}));
            EXPECT_GE(server.times(wrong::attribute), 8U);
        });
}

TEST(Catalogue, P07_ConfirmationsOfSubscriptionsAreCountedAsPushes) {
    for (std::size_t const channels : {1U, 2U, 7U}) {
        serve_and_ask(nullptr, misbehave_in_harmless_ways, [channels](scene& s, shadow_redis&) -> awaitable<void> {
            s.start();
            std::vector<std::string> names;
            for (std::size_t i = 0; i != channels; ++i)
                names.push_back("channel" + std::to_string(i));
            asked<redis::response<std::string, std::string, std::string, std::string>> all(s);
            all.request.push("ECHO", "a");
            all.request.push("UNSUBSCRIBE"); // from none: confirmed once, by null
            all.request.push("ECHO", "b");
            all.request.push_range("SUBSCRIBE", names);
            all.request.push("ECHO", "c");
            all.request.push("UNSUBSCRIBE"); // from all: confirmed for each
            all.request.push("ECHO", "d");
            EXPECT_EQ(all.request.expected_replies(), 4U);
            all.start();
            redis::generic_response pushes;
            std::vector<std::string> lines;
            while (lines.size() != 1 + 2 * channels) {
                auto receiving = s.connection.async_receive(pushes);
                co_await std::move(receiving);
                for (auto& line : reply_lines(pushes))
                    if (!line.starts_with("[3 noise"))
                        lines.push_back(std::move(line));
            }
            auto until_done = s.until([&] { return all.done(); });
            co_await std::move(until_done);
            EXPECT_FALSE(all.end);
            EXPECT_EQ(std::get<0>(all.response).value() + std::get<1>(all.response).value() +
                          std::get<2>(all.response).value() + std::get<3>(all.response).value(),
                      "abcd");
            EXPECT_EQ(lines.front(), "[3 unsubscribe _ 0");
            EXPECT_EQ(lines[1], "[3 subscribe channel0 1");
            EXPECT_EQ(lines.back().substr(0, 15), "[3 unsubscribe ");
            auto asking = s.echo("still in step");
            EXPECT_EQ(co_await std::move(asking), "still in step");
        });
    }
}

TEST(Catalogue, P08_OutcomesOfATransactionAreTyped) {
    using values = std::tuple<redis::result<long>, redis::result<std::string>>;
    using transaction = redis::response<std::string, std::string, std::string, std::optional<values>>;
    play_and_ask(
        [](hand& h, int) -> awaitable<void> {
            auto greeting = h.greet();
            co_await std::move(greeting);
            auto reading = h.skip(16);
            co_await std::move(reading);
            std::string const queued = "+OK\r\n+QUEUED\r\n+QUEUED\r\n";
            auto answering = h.send(queued + "*2\r\n:7\r\n$1\r\nv\r\n" + queued + "_\r\n" + queued +
                                    "*2\r\n-WRONGTYPE of its own\r\n$1\r\nv\r\n" +
                                    "+OK\r\n-ERR unknown command\r\n+QUEUED\r\n-EXECABORT discarded\r\n");
            co_await std::move(answering);
            auto waiting = h.skip(1);
            co_await std::move(waiting);
        },
        [](scene& s) -> awaitable<void> {
            s.start();
            std::deque<asked<transaction>> all;
            for (int i = 0; i != 4; ++i) {
                auto& each = all.emplace_back(s);
                each.request.push("MULTI");
                each.request.push("INCR", "n");
                each.request.push("GET", "k");
                each.request.push("EXEC");
                each.start();
            }
            auto until_done = s.until([&] { return all.back().done(); });
            co_await std::move(until_done);
            for (auto const& each : all)
                EXPECT_FALSE(each.end) << each.end.message();
            auto const exec = [&](std::size_t i) -> auto const& { return std::get<3>(all[i].response); };
            EXPECT_EQ(std::get<1>(all[0].response).value(), "QUEUED");
            EXPECT_EQ(std::get<0>(*exec(0).value()).value(), 7);
            EXPECT_EQ(std::get<1>(*exec(0).value()).value(), "v");
            EXPECT_FALSE(exec(1).value().has_value()) << "WATCH had seen a change";
            EXPECT_EQ(std::get<0>(*exec(2).value()).error_text(), "WRONGTYPE of its own");
            EXPECT_EQ(std::get<1>(*exec(2).value()).value(), "v");
            EXPECT_EQ(std::get<1>(all[3].response).error_text(), "ERR unknown command");
            EXPECT_EQ(exec(3).error_text(), "EXECABORT discarded");
        });
}

TEST(Catalogue, P14_BytesThatAreNoRespCloseTheConnectionAndAreQuotedShort) {
    for (std::string const& garbage :
         {std::string("HTTP/1.1 400 Bad Request\r\n\r\n"), std::string("\x15\x03\x03\0\x02\x02\x50", 7),
          std::string("\x01") + std::string(5'000, 'z'), std::string("$-2\r\n"),
          std::string("$9223372036854775808\r\n")})
        for (bool const instead_of_hello : {false, true})
            play_and_ask(
                [&](hand& h, int) -> awaitable<void> {
                    if (!instead_of_hello) {
                        auto greeting = h.greet();
                        co_await std::move(greeting);
                    }
                    auto reading = h.skip(1);
                    co_await std::move(reading);
                    auto answering = h.send(garbage);
                    co_await std::move(answering);
                    auto waiting = h.skip(1);
                    co_await std::move(waiting);
                },
                [&](scene& s) -> awaitable<void> {
                    s.start();
                    auto asking = s.echo("lost");
                    EXPECT_NE(co_await std::move(asking), "lost");
                    auto until_end = s.until([&] { return s.ended; });
                    co_await std::move(until_end);
                    EXPECT_EQ(s.end, redis::condition::protocol_error) << s.end.message();
                    auto const& text = s.connection.server_text();
                    EXPECT_FALSE(text.empty());
                    EXPECT_LE(text.size(), 300U);
                    for (char const c : text)
                        EXPECT_TRUE(c >= ' ' && c <= '~') << "unfit for a log: " << static_cast<int>(c);
                });
}

TEST(Catalogue, P17_ReplyOfAnotherTypeFailsItsOwnRequestOnly) {
    serve_and_ask(nullptr, misbehave_in_harmless_ways, [](scene& s, shadow_redis&) -> awaitable<void> {
        s.start();
        asked<redis::response<long, std::string>> bad(s);
        asked<redis::response<std::vector<long>>> worse(s);
        asked<std::string> good(s);
        bad.request.push("ECHO", "no number");
        bad.request.push("ECHO", "b");
        worse.request.push("ECHO", "no sequence");
        good.request.push("ECHO", "d");
        bad.start();
        worse.start();
        good.start();
        auto until_done = s.until([&] { return bad.done() && worse.done() && good.done(); });
        co_await std::move(until_done);
        EXPECT_TRUE(bad.end);
        EXPECT_EQ(std::get<1>(bad.response).value(), "b");
        EXPECT_EQ(worse.end, R::incompatible_type);
        EXPECT_EQ(good.response, "d");
        EXPECT_FALSE(s.ended);
    });
}

TEST(Catalogue, P18_RefusedCredentialsSendNoCommandAndAreNotTriedAgain) {
    for (bool const is_old : {false, true}) {
        counting_listener log; // fails when a command comes before the greeting
        serve_and_ask(
            &log,
            [is_old](sim::world&, shadow_redis& server, sim::host&) {
                server.password("secret");
                server.resp2_only(is_old);
            },
            [&log](scene& s, shadow_redis& server) -> awaitable<void> {
                log.executions.clear();
                s.config.keep_unsent = true;
                asked<redis::response<long>> waits(s);
                waits.request.push("INCR", "n", tag_text(1, 0));
                waits.start();
                for (auto const* const password : {"guess", ""}) {
                    s.config.password = password;
                    auto const before = server.connections();
                    s.start();
                    auto until_end = s.until([&] { return s.ended; });
                    co_await std::move(until_end);
                    auto resting = s.rest(30s);
                    co_await std::move(resting);
                    if (server.connections() != before + 1)
                        throw std::runtime_error("it tried again by itself");
                    if (*password == '\0') // An old server lets it in, and refuses the command.
                        break;
                    EXPECT_EQ(s.end, R::auth_refused) << s.end.message();
                    EXPECT_EQ(s.connection.server_text().substr(0, 9), "WRONGPASS");
                    EXPECT_FALSE(waits.done());
                    EXPECT_TRUE(log.executions.empty());
                    s.config.password = "secret";
                    s.start();
                    auto until_done = s.until([&] { return waits.done(); });
                    co_await std::move(until_done);
                    EXPECT_EQ(std::get<0>(waits.response).value(), 1);
                    co_return;
                }
            });
    }
}

TEST(Catalogue, P18_RefusedGreetingSendsNoCommand) {
    counting_listener log;
    serve_and_ask(
        &log, [](sim::world&, shadow_redis& server, sim::host&) { server.set(wrong::refuse_hello, sim::always); },
        [&log](scene& s, shadow_redis& server) -> awaitable<void> {
            log.executions.clear();
            s.config.keep_unsent = true;
            s.config.database = 3; // goes out with HELLO
            asked<redis::response<long>> waits(s);
            waits.request.push("INCR", "n", tag_text(1, 0));
            waits.start();
            s.start();
            auto until_end = s.until([&] { return s.ended; });
            co_await std::move(until_end);
            EXPECT_TRUE(s.end == R::auth_refused || s.end == R::hello_refused) << s.end.message();
            EXPECT_TRUE(log.executions.empty());
            server.behave();
            s.start();
            auto until_done = s.until([&] { return waits.done(); });
            co_await std::move(until_done);
            EXPECT_EQ(log.executions[1], 1);
        });
}

TEST(Catalogue, P19_ServerThatDropsUsLeavesWhatWasWrittenUnknownAndTheRestToThePolicy) {
    std::string const large(300'000, 'x');
    for (bool const keeps : {false, true}) {
        bool drops = false;
        play_and_ask(
            [&](hand& h, int generation) -> awaitable<void> {
                auto greeting = h.greet();
                co_await std::move(greeting);
                if (generation == 0) {
                    drops = false;
                    auto const& told = drops; // clang looks for who changes it, and only here.
                    while (!told) {
                        auto resting = h.rest(10ms);
                        co_await std::move(resting);
                    }
                    co_return;
                }
                for (;;) {
                    auto reading = h.next();
                    auto const c = co_await std::move(reading);
                    if (c[0] != "ECHO")
                        throw std::runtime_error("sent again: " + c[0]);
                    auto answering = h.send(bulk(c[1]));
                    co_await std::move(answering);
                }
            },
            [&](scene& s) -> awaitable<void> {
                s.config.keep_unsent = keeps;
                s.start();
                asked<> in_flight(s);
                asked<std::string> unsent(s);
                in_flight.request.push("APPEND", "k", large); // blocks the connection
                unsent.request.push("ECHO", "later");
                in_flight.start();
                auto resting = s.rest(3s);
                co_await std::move(resting);
                unsent.start();
                auto again = s.rest(1s);
                co_await std::move(again);
                drops = true;
                auto until_end = s.until([&] { return s.ended && in_flight.done(); });
                co_await std::move(until_end);
                EXPECT_EQ(in_flight.end, R::maybe_executed);
                EXPECT_EQ(unsent.done(), !keeps);
                if (!keeps) {
                    EXPECT_EQ(unsent.end, R::not_sent);
                    co_return;
                }
                s.start();
                auto until_done = s.until([&] { return unsent.done(); });
                co_await std::move(until_done);
                EXPECT_FALSE(unsent.end);
                EXPECT_EQ(unsent.response, "later");
            });
    }
}

TEST(Catalogue, P22_LargeRepliesComeInPiecesAndStopAtTheirLimits) {
    constexpr std::size_t bytes_max = 1 << 20, elements_max = 10'000;
    enum class size { at_limit, one_more };
    for (auto const how : {size::at_limit, size::one_more})
        for (bool const is_array : {false, true})
            play_and_ask(
                [&](hand& h, int) -> awaitable<void> {
                    auto greeting = h.greet();
                    co_await std::move(greeting);
                    auto reading = h.skip(1);
                    co_await std::move(reading);
                    std::size_t const extra = how == size::one_more ? 1 : 0;
                    std::string text;
                    if (is_array) {
                        text = '*' + std::to_string(elements_max + extra) + "\r\n";
                        for (std::size_t i = 0; i != elements_max + extra; ++i)
                            text += ":1\r\n";
                    } else {
                        text = bulk(std::string(bytes_max + extra, 'v'));
                    }
                    auto answering = h.send(std::move(text));
                    co_await std::move(answering);
                    auto waiting = h.skip(1);
                    co_await std::move(waiting);
                },
                [&](scene& s) -> awaitable<void> {
                    s.config.limits.bulk_bytes_max = bytes_max;
                    s.config.limits.elements_max = elements_max;
                    s.start();
                    asked<> large(s);
                    large.request.push("GET", "large");
                    large.start();
                    auto until_done = s.until([&] { return large.done(); });
                    co_await std::move(until_done);
                    if (how == size::at_limit) {
                        EXPECT_FALSE(large.end) << large.end.message();
                        EXPECT_EQ(large.response.size(), is_array ? elements_max + 1 : 1);
                        EXPECT_EQ(large.response[is_array ? 1 : 0].value.size(), is_array ? 1 : bytes_max);
                    } else {
                        auto until_end = s.until([&] { return s.ended; });
                        co_await std::move(until_end);
                        EXPECT_EQ(large.end, R::maybe_executed);
                        EXPECT_EQ(s.end, redis::condition::protocol_error) << s.end.message();
                        EXPECT_LT(s.connection.counters().bytes_read, 100'000U) << "the header alone is enough";
                    }
                });
}

TEST(Catalogue, P23_PushesThatNobodyReceivesAreBounded) {
    for (bool const closes : {false, true})
        serve_and_ask(
            nullptr, [](sim::world&, shadow_redis& server, sim::host&) { server.set(wrong::flood, sim::always); },
            [closes](scene& s, shadow_redis& server) -> awaitable<void> {
                s.config.pushes_max = 100;
                s.config.pushes = closes ? redis::push_policy::close : redis::push_policy::drop_oldest;
                s.start();
                auto asking = s.echo("first");
                auto const answer = co_await std::move(asking);
                if (closes) {
                    EXPECT_NE(answer, "first");
                    auto until_end = s.until([&] { return s.ended; });
                    co_await std::move(until_end);
                    EXPECT_EQ(s.end, R::pushes_overflow);
                    co_return;
                }
                EXPECT_EQ(answer, "first");
                for (int i = 0; i != 5; ++i) {
                    auto more = s.echo(std::to_string(i));
                    EXPECT_EQ(co_await std::move(more), std::to_string(i)) << "replies flow";
                }
                redis::generic_response held;
                auto receiving = s.connection.async_receive(held);
                auto const n = co_await std::move(receiving);
                EXPECT_LE(n, 100U);
                auto const c = s.connection.counters();
                EXPECT_EQ(c.pushes, 6'000U);
                EXPECT_EQ(c.pushes_dropped + n, 6'000U);
                EXPECT_EQ(server.pushes(), 6'000U);
                EXPECT_EQ(reply_lines(held).back(), "[3 noise 1 5999") << "the latest are kept";
            });
}

TEST(Catalogue, P25_NothingOfAnOldConnectionIsLeftInTheNext) {
    for (auto const* const torso :
         {"", "$5\r\nhe", "*3\r\n$1\r\na\r\n", "$40000\r\nbegun", "|1\r\n+k\r\n", ">2\r\n+x\r\n"})
        play_and_ask(
            [&](hand& h, int generation) -> awaitable<void> {
                auto greeting = h.greet();
                co_await std::move(greeting);
                if (generation == 0) {
                    auto reading = h.skip(3);
                    co_await std::move(reading);
                    auto answering = h.send(torso);
                    co_await std::move(answering);
                    co_return;
                }
                for (;;) {
                    auto reading = h.next();
                    auto const c = co_await std::move(reading);
                    auto answering = h.send(bulk(c.at(1)));
                    co_await std::move(answering);
                }
            },
            [](scene& s) -> awaitable<void> {
                s.config.keep_unsent = true;
                s.start();
                std::deque<asked<std::string>> old;
                for (auto const* const text : {"a", "b", "c"}) {
                    auto& each = old.emplace_back(s);
                    each.request.push("ECHO", text);
                    each.start();
                }
                auto until_end = s.until([&] { return s.ended; });
                co_await std::move(until_end);
                for (auto const& each : old)
                    EXPECT_EQ(each.end, R::maybe_executed);
                s.start_again();
                for (auto const* const text : {"d", "e", "f", "g"}) {
                    auto asking = s.echo(text);
                    EXPECT_EQ(co_await std::move(asking), text);
                }
            });
}

// ---- F: nobody starves

TEST(Catalogue, F10_GiantReplyDelaysItsOwnConnectionOnly) {
    // Replies come in order, so whoever shares the connection waits; timers and other connections do not.
    std::string const giant(4'000'000, 'g');
    sim::for_each_seed(worlds() / 5 + 1, [&](sim::world& w) {
        w.set(sim::rule::starve, 0); // A host without a turn is late whatever others do.
        auto const server = std::make_shared<shadow_redis>(w.seed());
        auto& redis = w.add_server("redis", [server](sim::host& h) { return server->serve(h.context()); });
        auto& app = w.add_host("app", [&w, &giant](sim::host& h) {
            return run_scene(w, h.context(), [&giant](scene& s) -> awaitable<void> {
                s.start();
                scene other(s.world, s.context);
                other.start();
                asked<> set(s);
                set.request.push("SET", "k", giant);
                set.start();
                auto until_set = s.until([&] { return set.done(); });
                co_await std::move(until_set);
                asked<std::string> large(s);
                large.request.push("GET", "k");
                asked<std::string> behind(s);
                behind.request.push("ECHO", "behind");
                large.start();
                behind.start();
                int others = 0, ticks = 0;
                std::chrono::nanoseconds latest{};
                while (!large.done()) {
                    EXPECT_FALSE(behind.done()) << "replies come in order";
                    auto const before = s.world.elapsed();
                    auto resting = s.rest(1ms);
                    co_await std::move(resting);
                    latest = std::max(latest, s.world.elapsed() - before - 1ms);
                    ++ticks;
                    if (ticks % 50 == 1) {
                        auto asking = other.echo("quick");
                        EXPECT_EQ(co_await std::move(asking), "quick");
                        ++others;
                    }
                }
                EXPECT_EQ(large.response, giant);
                EXPECT_GT(others, 2);
                EXPECT_LT(latest, 2ms);
                auto until_done = s.until([&] { return behind.done(); });
                co_await std::move(until_done);
                EXPECT_EQ(behind.response, "behind");
                other.connection.cancel();
                auto ending = s.until([&] { return other.ended; });
                co_await std::move(ending);
            });
        });
        w.set_link(redis, app, {.latency = 100us, .jitter = 50us, .bytes_per_second = 10'000'000});
        finish(w);
        redis.kill();
    });
}

TEST(Catalogue, F11_FloodOfPushesAndStreamOfRepliesDoNotStarveEachOther) {
    serve_and_ask(
        nullptr, [](sim::world&, shadow_redis& server, sim::host&) { server.set(wrong::flood, 100); },
        [](scene& s, shadow_redis& server) -> awaitable<void> {
            s.config.pushes_max = 1'000'000;
            s.start();
            std::uint64_t received = 0, replies = 0, latest = 0, at_receipt = 0;
            bool over = false;
            auto const receive = [](scene& of, std::uint64_t& total, std::uint64_t& latest_wait, std::uint64_t& seen,
                                    std::uint64_t const& done, bool& ended) -> awaitable<void> {
                redis::generic_response pushes;
                error_code ec;
                while (!ec) {
                    auto const had = of.connection.counters().pushes;
                    auto const before = done;
                    auto receiving = of.connection.async_receive(pushes, redirect_error(ec));
                    total += co_await std::move(receiving);
                    if (had > total) // They were there already.
                        latest_wait = std::max(latest_wait, done - before);
                    seen = done;
                }
                ended = true;
            };
            spawn(s.context, receive(s, received, latest, at_receipt, replies, over));
            auto const ask_many = [](scene& of, int who, std::uint64_t& done) -> awaitable<void> {
                for (int i = 0; i != 20; ++i) {
                    auto const text = std::to_string(who) + ':' + std::to_string(i);
                    auto asking = of.echo(text);
                    EXPECT_EQ(co_await std::move(asking), text);
                    ++done;
                }
            };
            int const callers = static_cast<int>(test::scaled(20, 5));
            for (int who = 0; who != callers; ++who)
                spawn(s.context, ask_many(s, who, replies));
            auto until_done = s.until([&] { return replies == static_cast<std::uint64_t>(callers) * 20; });
            co_await std::move(until_done);
            auto until_received = s.until([&] { return received == server.pushes(); });
            co_await std::move(until_received);
            EXPECT_GT(received, 1'000U);
            EXPECT_LE(latest, 64U) << "replies overtook pushes that were there";
            s.connection.cancel();
            auto until_over = s.until([&] { return over; });
            co_await std::move(until_over);
        });
}

// ---- X: servers that hang and fail

TEST(Catalogue, X02_HungServerIsNoticedByTheHealthCheck) {
    enum class way { paused, crashed, cut_off };
    for (auto const how : {way::paused, way::crashed, way::cut_off}) {
        sim::host* redis = nullptr;
        sim::host* app = nullptr;
        sim::for_each_seed(worlds(), [&](sim::world& w) {
            w.set(sim::rule::spike, 0); // Far away is not hung.
            w.set(sim::rule::loss, 0);
            auto const server = std::make_shared<shadow_redis>(w.seed());
            redis = &w.add_server("redis", [server](sim::host& h) { return server->serve(h.context()); });
            app = &w.add_host("app", [&w](sim::host& h) {
                return run_scene(w, h.context(), [](scene& s) -> awaitable<void> {
                    s.config.health_check_interval = 1s;
                    s.start();
                    auto asking = s.echo("well");
                    EXPECT_EQ(co_await std::move(asking), "well");
                    auto resting = s.rest(5s - s.world.elapsed());
                    co_await std::move(resting);
                    EXPECT_FALSE(s.ended) << "an idle connection stays";
                    asked<> lost(s);
                    lost.request.push("INCR", "n");
                    lost.start();
                    auto until_end = s.until([&] { return s.ended; });
                    co_await std::move(until_end);
                    EXPECT_EQ(s.end, R::server_silent) << s.end.message();
                    EXPECT_LE(s.ended_at, 5s + 2 * 1s + 100ms); // what was under way may still have come
                    EXPECT_EQ(lost.end, R::maybe_executed);
                    auto recovering = s.rest(10s);
                    co_await std::move(recovering);
                    s.start();
                    auto again = s.echo("well again");
                    EXPECT_EQ(co_await std::move(again), "well again");
                });
            });
            w.at(4900ms, [&, how] {
                if (how == way::paused)
                    redis->pause();
                else if (how == way::crashed)
                    redis->crash();
                else
                    w.partition_one_way(*redis, *app);
            });
            w.at(10s, [&] { w.calm(); });
            finish(w);
            redis->kill();
        });
    }
}

TEST(Catalogue, X04_WhatIsNotIdempotentIsNeverSentTwiceBehindTheCallersBack) {
    counting_listener log;
    for (bool const keeps : {false, true})
        sim::for_each_seed(worlds(), [&](sim::world& w) {
            log.executions.clear();
            auto const server = std::make_shared<shadow_redis>(w.seed(), &log);
            server->set(wrong::close, 30);
            w.allow(sim::rule::reset);
            auto& redis = w.add_server("redis", [server](sim::host& h) { return server->serve(h.context()); });
            std::vector<error_code> ends(200, make_error_code(error::in_progress));
            w.add_host("app", [&w, &ends, keeps](sim::host& h) {
                return run_scene(w, h.context(), [&ends, keeps](scene& s) -> awaitable<void> {
                    s.config.keep_unsent = keeps;
                    std::deque<asked<long>> all;
                    for (std::size_t i = 0; i != ends.size(); ++i) {
                        auto& each = all.emplace_back(s);
                        each.request.push("INCR", "n", tag_text(i + 1, 0));
                        each.start();
                        if (s.ended)
                            s.start();
                        if (i % 4 == 0) {
                            auto resting = s.rest(1ms);
                            co_await std::move(resting);
                        }
                    }
                    auto serving = s.until([&] {
                        if (s.ended && s.connection.pending() != 0)
                            s.start();
                        return std::all_of(all.begin(), all.end(), [](auto const& each) { return each.done(); });
                    });
                    co_await std::move(serving);
                    for (std::size_t i = 0; i != ends.size(); ++i) {
                        EXPECT_EQ(all[i].completions, 1);
                        ends[i] = all[i].end;
                    }
                });
            });
            finish(w);
            std::int64_t executed = 0, confirmed = 0;
            for (std::size_t i = 0; i != ends.size(); ++i) {
                auto const times = log.executions.contains(i + 1) ? log.executions[i + 1] : 0;
                EXPECT_LE(times, 1) << "request " << i + 1;
                if (!ends[i])
                    EXPECT_EQ(times, 1) << "confirmed, but not executed";
                else if (ends[i] == redis::condition::not_executed)
                    EXPECT_EQ(times, 0) << "executed, but reported as " << ends[i].message();
                else
                    EXPECT_EQ(ends[i], R::maybe_executed);
                executed += times;
                confirmed += !ends[i];
            }
            EXPECT_EQ(server->value_of("n"), executed == 0 ? "" : std::to_string(executed));
            EXPECT_LE(confirmed, executed);
            redis.kill();
        });
}

} // namespace
} // namespace fairlead::test
