// Scripts and functions that the server does not have, and connections that are lost meanwhile. In many worlds.
#include <gtest/gtest.h>

#include <fairlead/net/cancel_after.hpp>
#include <fairlead/redis/client.hpp>
#include <fairlead/redis/lease.hpp>
#include <sim/redis_typed_scene.hpp>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace fairlead::test {
namespace {

namespace cmd = redis::cmd;

std::string const no_script = "-NOSCRIPT No matching script. Please use EVAL.\r\n";

} // namespace

TEST(RedisScript, X15_TheSourceIsSentOnceAfterNoscript) {
    redis::script const sum("return ARGV[1] + ARGV[2]");
    auto const by_digest = "EVALSHA " + std::string(sum.sha1());
    std::vector<std::string> heard;
    bool is_loaded = false;
    auto const server = typed_server(heard, [&](std::string const& line, int) -> std::string {
        if (line.starts_with("EVAL "))
            is_loaded = true;
        return is_loaded ? ":3\r\n" : no_script;
    });
    play_typed(server, [&](typed_scene& s) -> awaitable<void> {
        is_loaded = false;
        for (int i = 0; i != 2; ++i) {
            auto calling = s.db.eval<long>(sum, "k", 1, 2);
            auto const n = co_await std::move(calling);
            EXPECT_EQ(n, 3);
        }
        EXPECT_EQ(heard, (std::vector<std::string>{by_digest + " 1 k 1 2", "EVAL return ARGV[1] + ARGV[2] 1 k 1 2",
                                                   by_digest + " 1 k 1 2"}));
    });
}

TEST(RedisScript, X15_ACallWhoseConnectionIsLostIsNeverRepeated) {
    redis::script const take("return redis.call('DECR', KEYS[1])");
    std::vector<std::string> heard;
    auto const server = typed_server(heard, [](std::string const& line, int generation) -> std::string {
        if (generation == 0)
            return line.starts_with("EVAL ") ? std::string() : no_script;
        return "+OK\r\n";
    });
    play_typed(server, [&](typed_scene& s) -> awaitable<void> {
        auto calling = s.db.async_exec(cmd::eval<long>(take, "k"), as_tuple);
        auto const [ec, n] = co_await std::move(calling);
        EXPECT_EQ(ec, redis::error::maybe_executed);
        auto pinging = s.db.ping();
        co_await std::move(pinging);
        EXPECT_EQ(heard.size(), 3U) << "EVALSHA, EVAL, and the PING of the next connection";
    });
}

TEST(RedisScript, ACancelledCallIsNotSentAgain) {
    redis::script const take("return 1");
    std::vector<std::string> heard;
    auto const server = [&heard](hand& h, int) -> awaitable<void> {
        auto greeting = h.greet();
        co_await std::move(greeting);
        auto beginning = h.skip(1);
        co_await std::move(beginning);
        auto ponging = h.send("+PONG\r\n");
        co_await std::move(ponging);
        auto reading = h.next();
        auto const words = co_await std::move(reading);
        heard = {words[0]};
        auto resting = h.rest(3s); // The call has been given up meanwhile.
        co_await std::move(resting);
        auto refusing = h.send(no_script);
        co_await std::move(refusing);
        for (;;) {
            auto next = h.next();
            auto const more = co_await std::move(next);
            heard.push_back(more[0]);
            auto answering = h.send("+PONG\r\n");
            co_await std::move(answering);
        }
    };
    play_typed(server, [&](typed_scene& s) -> awaitable<void> {
        auto beginning = s.db.ping();
        co_await std::move(beginning);
        auto calling = s.db.async_exec(cmd::eval<long>(take), cancel_after(1s, as_tuple));
        auto const [ec, n] = co_await std::move(calling);
        EXPECT_EQ(ec, redis::error::maybe_executed);
        auto pinging = s.db.ping();
        co_await std::move(pinging);
        EXPECT_EQ(heard, (std::vector<std::string>{"EVALSHA", "PING"}));
    });
}

TEST(RedisScript, AFunctionThatIsMissingIsLoadedOnce) {
    redis::function_source const library("#!lua name=sums");
    std::vector<std::string> heard;
    bool is_loaded = false;
    auto const server = typed_server(heard, [&](std::string const& line, int) -> std::string {
        if (line.starts_with("FUNCTION ")) {
            is_loaded = true;
            return bulk("sums");
        }
        return is_loaded ? ":3\r\n" : "-ERR Function not found\r\n";
    });
    play_typed(server, [&](typed_scene& s) -> awaitable<void> {
        is_loaded = false;
        for (int i = 0; i != 2; ++i) {
            auto calling = s.db.fcall<long>(library, "sum", "k", 1, 2);
            auto const n = co_await std::move(calling);
            EXPECT_EQ(n, 3);
        }
        EXPECT_EQ(heard, (std::vector<std::string>{"FCALL sum 1 k 1 2", "FUNCTION LOAD REPLACE #!lua name=sums",
                                                   "FCALL sum 1 k 1 2", "FCALL sum 1 k 1 2"}));
    });
}

TEST(RedisScript, APipelineAndATransactionLoadTheLibrariesOfTheirFunctions) {
    redis::function_source const library("#!lua name=sums");
    std::vector<std::string> heard;
    bool is_loaded = false, is_queued = false;
    auto const server = typed_server(heard, [&](std::string const& line, int) -> std::string {
        if (line.starts_with("FUNCTION "))
            return std::exchange(is_loaded, true) ? "-ERR Library 'sums' already exists\r\n" : bulk("sums");
        if (line == "MULTI" || line == "EXEC") {
            is_queued = line == "MULTI";
            return is_queued ? "+OK\r\n" : "*2\r\n:3\r\n:7\r\n";
        }
        if (is_queued)
            return "+QUEUED\r\n";
        return line.starts_with("INCR") ? ":7\r\n" : is_loaded ? ":3\r\n" : "-ERR Function not found\r\n";
    });
    play_typed(server, [&](typed_scene& s) -> awaitable<void> {
        is_loaded = is_queued = false;
        for (int i = 0; i != 2; ++i) {
            auto calling =
                s.db.call(redis::pipeline(redis::cmd::fcall<long>(library, "sum", "k", 1, 2), redis::cmd::incr("n")));
            auto const [sum, n] = co_await std::move(calling);
            EXPECT_EQ(sum.value(), 3);
            EXPECT_EQ(n.value(), 7);
        }
        auto dealing = s.db.call(redis::transaction(redis::cmd::fcall<long>(library, "sum"), redis::cmd::incr("n")));
        auto done = co_await std::move(dealing);
        EXPECT_EQ(std::get<0>(*done).value(), 3);
        EXPECT_EQ(std::get<1>(*done).value(), 7);
    });
}

TEST(RedisScript, ALibraryWithoutTheFunctionEndsTheCall) {
    redis::function_source const library("#!lua name=sums");
    std::vector<std::string> heard;
    auto const server = typed_server(heard, [](std::string const& line, int) {
        return line.starts_with("FUNCTION ") ? bulk("sums") : std::string("-ERR Function not found\r\n");
    });
    play_typed(server, [&](typed_scene& s) -> awaitable<void> {
        std::string what;
        try {
            auto calling = s.db.fcall<long>(library, "sum");
            co_await std::move(calling);
        } catch (system_error const& e) {
            EXPECT_EQ(e.code(), redis::error::server_error);
            what = e.what();
        }
        EXPECT_NE(what.find("redis FCALL: ERR Function not found"), std::string::npos) << what;
        EXPECT_EQ(heard.size(), 3U);
    });
}

TEST(RedisScript, X15_AnUnorderedPipelineSendsSourcesAfterNoscript) {
    redis::script const one("return 1"), two("return 2");
    auto const call_of = [](redis::script const& s) { return "EVALSHA " + std::string(s.sha1()); };
    std::vector<std::string> heard;
    std::set<std::string> loaded;
    auto const server = typed_server(heard, [&](std::string const& line, int) -> std::string {
        for (auto const* s : {&one, &two}) {
            auto const source = "EVAL " + std::string(s->source());
            if (line.starts_with(source))
                loaded.insert(call_of(*s));
            if (line.starts_with(source) || (line.starts_with(call_of(*s)) && loaded.contains(call_of(*s))))
                return s == &one ? ":1\r\n" : ":2\r\n";
        }
        return line.starts_with("INCR") ? ":7\r\n" : no_script;
    });
    play_typed(server, [&](typed_scene& s) -> awaitable<void> {
        loaded = {call_of(two)};
        for (int i = 0; i != 2; ++i) {
            auto calling =
                s.db.call(redis::unordered_pipeline(cmd::eval<long>(one, "a"), cmd::incr("n"), cmd::eval<long>(two),
                                                    cmd::eval_ro<long>(two), cmd::eval<long>(one, "b")));
            auto const [a, n, b, c, d] = co_await std::move(calling);
            EXPECT_EQ(a.value(), 1);
            EXPECT_EQ(n.value(), 7);
            EXPECT_EQ(b.value(), 2);
            EXPECT_EQ(c.code(), redis::error::no_script) << "this server knows no EVALSHA_RO and no EVAL_RO";
            EXPECT_EQ(d.value(), 1);
        }
        std::vector<std::string> const all{call_of(one) + " 1 a", "INCR n", call_of(two) + " 0",
                                           "EVALSHA_RO " + std::string(two.sha1()) + " 0", call_of(one) + " 1 b"};
        auto expected = all;
        for (auto const& line :
             {std::string("EVAL return 1 1 a"), std::string("EVAL_RO return 2 0"), call_of(one) + " 1 b"})
            expected.push_back(line);
        expected.insert(expected.end(), all.begin(), all.end());
        expected.push_back("EVAL_RO return 2 0");
        EXPECT_EQ(heard, expected);
    });
}

TEST(RedisScript, X15_CallsThatAreSentAgainAndAreLostHaveThatErrorAlone) {
    redis::script const take("return redis.call('DECR', KEYS[1])");
    std::vector<std::string> heard;
    auto const server = typed_server(heard, [&heard](std::string const& line, int generation) -> std::string {
        if (generation != 0)
            return "+OK\r\n";
        if (line.starts_with("EVAL "))
            return ":5\r\n";
        if (line.ends_with(" again") && heard.size() == 5)
            return {};
        return line.starts_with("INCR") ? ":7\r\n" : no_script;
    });
    play_typed(server, [&](typed_scene& s) -> awaitable<void> {
        auto calling = s.db.async_exec(
            redis::unordered_pipeline(cmd::eval<long>(take, "k"), cmd::incr("n"), cmd::eval<long>(take, "k", "again")),
            as_tuple);
        auto const [ec, results] = co_await std::move(calling);
        EXPECT_FALSE(ec);
        EXPECT_EQ(std::get<0>(results).code(), error_code());
        EXPECT_EQ(std::get<1>(results).value_or(0), 7);
        EXPECT_EQ(std::get<2>(results).code(), redis::error::maybe_executed);
        auto pinging = s.db.ping();
        co_await std::move(pinging);
        EXPECT_EQ(heard.size(), 6U) << "three commands, two once more, and PING on the next connection";
    });
}

TEST(RedisScript, AnUnorderedPipelineThatMayBeRepeatedIsRepeated) {
    redis::script const take("return redis.call('DECR', KEYS[1])");
    std::vector<std::string> heard;
    auto const server = typed_server(heard, [](std::string const& line, int generation) -> std::string {
        if (line.starts_with("EVAL "))
            return generation == 1 ? std::string() : ":5\r\n";
        if (line.starts_with("EVALSHA "))
            return generation == 0 ? std::string() : no_script;
        return line.starts_with("INCR") ? ":7\r\n" : "+PONG\r\n";
    });
    play_typed(server, [&](typed_scene& s) -> awaitable<void> {
        auto calling = s.db.repeatable().call(redis::unordered_pipeline(cmd::eval<long>(take, "k"), cmd::incr("n")));
        auto const [left, n] = co_await std::move(calling);
        EXPECT_EQ(left.value(), 5);
        EXPECT_EQ(n.value(), 7);
        auto const by_digest = "EVALSHA " + std::string(take.sha1()) + " 1 k";
        auto const source = "EVAL " + std::string(take.source()) + " 1 k";
        EXPECT_EQ(heard, (std::vector<std::string>{by_digest, by_digest, "INCR n", source, source}))
            << "both attempts were lost once";
    });
}

TEST(RedisScript, X15_AnUnorderedPipelineThatIsLostIsNotRepeated) {
    redis::script const take("return redis.call('DECR', KEYS[1])");
    std::vector<std::string> heard;
    auto const server = typed_server(heard, [](std::string const& line, int generation) -> std::string {
        return generation != 0 ? "+OK\r\n" : line.starts_with("INCR") ? std::string() : no_script;
    });
    play_typed(server, [&](typed_scene& s) -> awaitable<void> {
        auto calling = s.db.async_exec(redis::unordered_pipeline(cmd::eval<long>(take, "k"), cmd::incr("n")), as_tuple);
        auto const [ec, results] = co_await std::move(calling);
        EXPECT_EQ(ec, redis::error::maybe_executed);
        auto pinging = s.db.ping();
        co_await std::move(pinging);
        EXPECT_EQ(heard.size(), 3U);
    });
}

TEST(RedisScript, ALimitOfAnUnorderedPipelineCoversWhatIsSentAgain) {
    redis::script const take("return 1");
    std::vector<std::string> heard;
    auto const server = [&heard](hand& h, int) -> awaitable<void> {
        auto greeting = h.greet();
        co_await std::move(greeting);
        for (;;) {
            auto next = h.next();
            auto const words = co_await std::move(next);
            heard.push_back(words[0]);
            if (words[0] == "EVAL")
                continue; // It takes for ever.
            if (words[0] == "EVALSHA") {
                auto resting = h.rest(12s);
                co_await std::move(resting);
            }
            auto answering = h.send(words[0] == "PING" ? "+PONG\r\n" : words[0] == "INCR" ? ":7\r\n" : no_script);
            co_await std::move(answering);
        }
    };
    play_typed(server, [&](typed_scene& s) -> awaitable<void> {
        auto beginning = s.db.ping();
        co_await std::move(beginning);
        heard.clear();
        auto const begun = s.context.now();
        auto calling = s.db.within(20s).call(redis::unordered_pipeline(cmd::eval<long>(take, "k"), cmd::incr("n")));
        auto const [taken, n] = co_await std::move(calling);
        auto const passed = s.context.now() - begun;
        EXPECT_EQ(taken.code(), redis::condition::timed_out);
        EXPECT_EQ(n.value(), 7);
        EXPECT_GE(passed, 20s);
        EXPECT_LT(passed, 21s) << "one limit for both";
        EXPECT_EQ(heard, (std::vector<std::string>{"EVALSHA", "INCR", "EVAL"}));
    });
}

TEST(RedisScript, AnUnorderedPipelineLoadsLibrariesOnlyWhenTheyAreMissing) {
    redis::function_source const library("#!lua name=sums"), broken("#!lua name=broken");
    std::vector<std::string> heard;
    bool is_loaded = false;
    auto const server = typed_server(heard, [&](std::string const& line, int) -> std::string {
        if (line.ends_with("name=broken"))
            return "-ERR Error compiling function: line 1\r\n";
        if (line.starts_with("FUNCTION ")) {
            is_loaded = true;
            return bulk("sums");
        }
        if (line.starts_with("INCR"))
            return ":7\r\n";
        return is_loaded && line.starts_with("FCALL sum") ? ":3\r\n" : "-ERR Function not found\r\n";
    });
    play_typed(server, [&](typed_scene& s) -> awaitable<void> {
        is_loaded = false;
        for (int i = 0; i != 2; ++i) {
            auto calling = s.db.call(redis::unordered_pipeline(cmd::fcall<long>(library, "sum"), cmd::incr("n"),
                                                               cmd::fcall<long>(library, "sum", "k")));
            auto const [a, n, b] = co_await std::move(calling);
            EXPECT_EQ(a.value(), 3);
            EXPECT_EQ(n.value(), 7);
            EXPECT_EQ(b.value(), 3);
        }
        EXPECT_EQ(heard, (std::vector<std::string>{"FCALL sum 0", "INCR n", "FCALL sum 1 k",
                                                   "FUNCTION LOAD REPLACE #!lua name=sums", "FCALL sum 0",
                                                   "FCALL sum 1 k", "FCALL sum 0", "INCR n", "FCALL sum 1 k"}));
        auto failing = s.db.call(redis::unordered_pipeline(cmd::fcall<long>(library, "none"),
                                                           cmd::fcall<long>(broken, "f"), cmd::incr("n")));
        auto const [none, f, n] = co_await std::move(failing);
        EXPECT_EQ(none.error_text(), "ERR Function not found");
        EXPECT_EQ(f.error_text(), "ERR Error compiling function: line 1") << "more than that f was not found";
        EXPECT_EQ(n.value(), 7);
    });
}

TEST(RedisScript, ALeaseAndHandlersTakeUnorderedPipelines) {
    redis::script const take("return 1");
    std::vector<std::string> heard;
    auto const server = typed_server(heard, [](std::string const& line, int) -> std::string {
        return line.starts_with("EVALSHA") ? no_script : line.starts_with("PING") ? "+PONG\r\n" : ":1\r\n";
    });
    auto const body = [&](typed_scene& s) -> awaitable<void> {
        auto const make = [&] { return redis::unordered_pipeline(cmd::eval<long>(take, "k"), cmd::incr("n")); };
        auto acquiring = s.db.acquire();
        auto lease = co_await std::move(acquiring);
        auto calling = lease.call(make());
        auto const [a, n] = co_await std::move(calling);
        EXPECT_EQ(a.value(), 1);
        EXPECT_EQ(n.value(), 1);
        int sum = 0;
        s.db.async_exec(make(), [&](error_code ec, auto results) {
            EXPECT_FALSE(ec);
            sum = static_cast<int>(std::get<0>(results).value() + std::get<1>(results).value());
        });
        auto waiting = s.until([&] { return sum != 0; });
        co_await std::move(waiting);
        EXPECT_EQ(sum, 2);
    };
    play_typed(server, body, {.address = "10.0.0.1"}, true);
}

/// The refusal has come when the client goes, and the coroutine that would send the source goes on later.
TEST(RedisScript, ACallMayOutliveItsClient) {
    redis::script const take("return 1");
    std::vector<std::string> heard;
    auto const server = typed_server(heard, [](std::string const&, int) { return no_script; });
    auto const body = [&](typed_scene& s) -> awaitable<void> {
        for (auto const wait : {0ns, 50'000ns, 1'000'000ns, 50'000'000ns, 150'000'000ns}) {
            auto other = std::make_unique<redis::client>(s.context, redis::config_view{.address = "10.0.0.1"});
            other->async_run(detached);
            std::optional<error_code> end;
            other->async_exec(cmd::eval<long>(take), [&](error_code ec, long) { end = ec; });
            auto resting = s.rest(wait);
            co_await std::move(resting);
            other.reset();
            auto ending = s.until([&] { return end.has_value(); });
            co_await std::move(ending);
            EXPECT_TRUE(*end);
        }
    };
    play_typed(server, body, {.address = "10.0.0.1"}, true);
}

} // namespace fairlead::test
