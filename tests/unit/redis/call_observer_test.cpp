// The counts of calls by command, and the hooks around calls.
#include <redis/call_observer.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/strand.hpp>
#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/net/ip.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/redis/client.hpp>
#include <fairlead/redis/cmd.hpp>
#include <fairlead/redis/unexpected_error.hpp>
#include <fairlead/redis_server/server.hpp>
#include <fairlead/sim/seeds.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/block.hpp>
#include <fairlead/token/use_future.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace fairlead::test {
namespace {

using namespace std::chrono_literals;
using redis::call_outcome;

redis::command_statistics observed_row(redis::call_statistics const& s, std::string_view command) {
    for (auto const& each : s.commands())
        if (each.command == command)
            return each;
    return {};
}

/// A client of the embedded server, and a coroutine that uses it.
struct observed_scene {
    explicit observed_scene(redis::client_options o = {}, redis::config_view cfg = {})
        : address(server.address()),
          client(context, at(cfg), std::move(o)) {}

    redis::config_view at(redis::config_view cfg) const {
        cfg.address = address;
        return cfg;
    }
    template <class Body> void use(Body body) {
        client.async_run([](error_code) {});
        co_spawn(context, body(), [this](std::exception_ptr e) {
            client.cancel();
            server.stop();
            if (e)
                std::rethrow_exception(e);
        });
        context.run_for(60s);
        EXPECT_TRUE(context.stopped());
    }

    io_context context{1};
    redis::server server{context};
    std::string address;
    redis::client client;
};

TEST(RedisCallStatistics, CountEachCommandOfEachRequest) {
    auto const statistics = std::make_shared<redis::call_statistics>();
    observed_scene s({.statistics = statistics});
    auto body = [&]() -> awaitable<void> {
        redis::request two;
        two.push("set", "text", "abcdef");
        two.push("GET", "text");
        redis::response<std::string, std::string> both;
        co_await s.client.async_exec(two, both);
        std::string name;
        redis::request config;
        config.push("CLIENT", "GETNAME");
        co_await s.client.async_exec(config, redis::ignore);
        co_await s.client.get("text");
    };
    s.use(body);
    auto const get = observed_row(*statistics, "GET");
    EXPECT_EQ(get.calls, 2U);
    EXPECT_EQ(get.errors(), 0U);
    EXPECT_EQ(get.bytes_received, 12U);
    EXPECT_EQ(get.bytes_sent, 2 * std::string_view("*2\r\n$3\r\nGET\r\n$4\r\ntext\r\n").size());
    EXPECT_GT(get.time, 0ns);
    EXPECT_EQ(observed_row(*statistics, "SET").bytes_received, 2U);
    EXPECT_EQ(observed_row(*statistics, "CLIENT GETNAME").calls, 1U);
    EXPECT_EQ(statistics->commands().size(), 3U);
}

TEST(RedisCallStatistics, ErrorsAreCountedByKindAlsoWhereAResultTookThem) {
    auto const statistics = std::make_shared<redis::call_statistics>();
    observed_scene s({.statistics = statistics});
    auto body = [&]() -> awaitable<void> {
        redis::request req;
        req.push("SET", "text", "abc");
        req.push("INCR", "text");
        req.push("GET", "text");
        req.push("NO.SUCH.COMMAND");
        redis::response<std::string, redis::result<long>, redis::result<long>, redis::ignore_t> all;
        auto executing = s.client.async_exec(req, all, as_tuple);
        auto const [ec, n] = co_await std::move(executing);
        EXPECT_TRUE(ec);
        redis::request unfit;
        unfit.push("SELECT", "1");
        auto refusing = s.client.async_exec(unfit, redis::ignore, as_tuple);
        auto const [refused, m] = co_await std::move(refusing);
        EXPECT_EQ(refused, redis::error::refused_command);
        redis::request mismatch;
        mismatch.push("PING");
        redis::response<std::string, std::string> too_many;
        auto mismatching = s.client.async_exec(mismatch, too_many, as_tuple);
        auto const [mismatched, k] = co_await std::move(mismatching);
        EXPECT_EQ(mismatched, redis::error::response_mismatch);
    };
    s.use(body);
    EXPECT_EQ(observed_row(*statistics, "SET").of(call_outcome::answered), 1U);
    EXPECT_EQ(observed_row(*statistics, "INCR").of(call_outcome::refused_by_server), 1U);
    EXPECT_EQ(observed_row(*statistics, "GET").of(call_outcome::incompatible_reply), 1U);
    EXPECT_EQ(observed_row(*statistics, "other").of(call_outcome::refused_by_server), 1U);
    EXPECT_EQ(observed_row(*statistics, "SELECT").of(call_outcome::refused_by_client), 1U);
    EXPECT_EQ(observed_row(*statistics, "PING").of(call_outcome::refused_by_client), 1U);
}

TEST(RedisCallStatistics, CommandsWithoutAReplyEndAsTheirRequest) {
    auto const statistics = std::make_shared<redis::call_statistics>();
    {
        io_context context(1);
        redis::request late, cancelled, alone;
        redis::client client(context, {.address = "127.0.0.1:1"}, {.pause_min = 1ms, .statistics = statistics});
        late.push("GET", "a");
        late.push("GET", "b");
        late.set_timeout(5ms);
        cancelled.push("TTL", "a");
        client.async_exec(late, redis::ignore, [](error_code ec, std::size_t) { EXPECT_TRUE(ec); });
        client.async_exec(cancelled, redis::ignore, [](error_code ec, std::size_t) { EXPECT_TRUE(ec); });
        client.cancel(cancelled);
        context.run();
        alone.push("LLEN", "a");
        client.async_exec(alone, redis::ignore, [](error_code, std::size_t) { FAIL() << "its context goes"; });
    }
    auto const get = observed_row(*statistics, "GET");
    EXPECT_EQ(get.calls, 2U);
    EXPECT_EQ(get.of(call_outcome::timed_out), 2U);
    EXPECT_GE(get.time, 10ms);
    EXPECT_EQ(observed_row(*statistics, "TTL").of(call_outcome::cancelled), 1U);
    EXPECT_EQ(observed_row(*statistics, "LLEN").of(call_outcome::cancelled), 1U);
}

TEST(RedisCallStatistics, LatencyIsTheTimeUntilTheReply) {
    auto const statistics = std::make_shared<redis::call_statistics>();
    sim::for_each_seed(1, [&](sim::world& w) {
        auto& server = w.add_server("redis", [](io_context& c) -> awaitable<void> {
            redis::server s(c, {"0.0.0.0", 6379});
            steady_timer for_ever(c, steady_clock::time_point::max());
            auto waiting = for_ever.async_wait();
            co_await std::move(waiting);
        });
        auto& app = w.add_host("app", [&](io_context& c) -> awaitable<void> {
            redis::client db(c, {.address = "redis:6379"}, {.statistics = statistics});
            std::optional<error_code> ended;
            db.async_run([&](error_code ec) { ended = ec; });
            co_await db.ping();
            co_await db.get("a");
            db.cancel();
            steady_timer pause(c);
            while (!ended) {
                pause.expires_after(1ms);
                auto waiting = pause.async_wait();
                co_await std::move(waiting);
            }
        });
        w.set_link(app, server, {.latency = 10ms, .jitter = 0ns});
        w.run();
    });
    auto const get = observed_row(*statistics, "GET");
    EXPECT_EQ(get.calls, 1U);
    EXPECT_GE(get.time, 20ms);
    EXPECT_LT(get.time, 22ms);
    EXPECT_EQ(get.by_latency[15], 1U); // up to 32.768 ms
}

TEST(RedisCallStatistics, CallsOfOtherThreadsAreCountedFromTheirStart) {
    auto const statistics = std::make_shared<redis::call_statistics>();
    observed_scene s({.statistics = statistics});
    std::thread caller;
    auto body = [&]() -> awaitable<void> {
        co_await s.client.ping();
        std::atomic<bool> is_done{false};
        caller = std::thread([&] {
            redis::request req;
            req.push("GET", "a");
            for (int i = 0; i != 100; ++i) {
                std::optional<std::string> value;
                s.client.async_exec(req, value, block);
                EXPECT_LE(observed_row(*statistics, "GET").calls, 100U);
            }
            is_done = true;
        });
        steady_timer pause(s.context);
        while (!is_done) {
            pause.expires_after(1ms);
            auto waiting = pause.async_wait();
            co_await std::move(waiting);
        }
        caller.join();
    };
    s.use(body);
    EXPECT_EQ(observed_row(*statistics, "GET").calls, 100U);
}

TEST(RedisCallStatistics, CallsOfAPoolAreCountedWhereNobodyRunsTheLoop) {
    auto const statistics = std::make_shared<redis::call_statistics>();
    io_context context(1);
    redis::server server(context);
    auto const address = server.address();
    std::thread serving([&] { context.run(); });
    std::atomic<int> begun{0}, ended{0};
    {
        thread_pool pool(2);
        redis::client db(pool.get_executor(), {.address = address},
                         {.statistics = statistics,
                          .before_call =
                              [&](redis::call_begin const&) {
                                  ++begun;
                                  return std::uintptr_t(7);
                              },
                          .after_call = [&](redis::call_end const&, std::uintptr_t n) { ended += n == 7; }});
        db.async_run([](error_code) {});
        auto const work = [&] {
            redis::request req;
            req.push("GET", "a");
            for (int i = 0; i != 50; ++i) {
                std::optional<std::string> value;
                db.async_exec(req, value, block);
            }
        };
        std::thread other(work);
        work();
        other.join();
        db.cancel();
        pool.join();
    }
    context.stop();
    serving.join();
    EXPECT_EQ(observed_row(*statistics, "GET").of(call_outcome::answered), 100U);
    EXPECT_EQ(begun, 100);
    EXPECT_EQ(ended, 100);
}

// ---- hooks

struct heard_call {
    std::string command;
    std::size_t commands, sent, received;
    std::uintptr_t number;
    error_code ec;
    std::string refusal;
    bool is_same;
};

struct hook_log {
    std::uintptr_t begun = 0;
    std::vector<heard_call> ended;
    redis::client_options options() {
        return {.before_call = [this](redis::call_begin const&) { return ++begun; },
                .after_call =
                    [this](redis::call_end const& e, std::uintptr_t number) {
                        EXPECT_GT(e.duration, 0ns);
                        ended.push_back({std::string(e.command), e.commands, e.bytes_sent, e.bytes_received, number,
                                         e.ec, std::string(e.refusal), e.is_same});
                    }};
    }
};

TEST(RedisCallHooks, AreToldOfEachCall) {
    hook_log log;
    observed_scene s(log.options());
    auto body = [&]() -> awaitable<void> {
        co_await s.client.set("text", "abc");
        EXPECT_EQ(log.begun, 1U);
        redis::request several;
        several.push("get", "text");
        several.push("GET", "text");
        several.push("INCR", "text");
        redis::response<std::string, std::string, redis::result<long>> replies;
        auto executing = s.client.async_exec(several, replies, as_tuple);
        auto const [ec, n] = co_await std::move(executing);
        EXPECT_FALSE(ec);
        redis::request same;
        same.push("get", "text");
        same.push("GET", "text");
        co_await s.client.async_exec(same, redis::ignore);
        redis::request wrong;
        wrong.push("LPUSH", "text", "x");
        long length = 0;
        auto failing = s.client.async_exec(wrong, length, as_tuple);
        auto const [failed, m] = co_await std::move(failing);
        EXPECT_EQ(failed, redis::error::wrong_type);
    };
    s.use(body);
    ASSERT_EQ(log.ended.size(), 4U);
    EXPECT_EQ(log.ended[0].command, "SET");
    EXPECT_EQ(log.ended[0].commands, 1U);
    EXPECT_EQ(log.ended[0].sent, std::string_view("*3\r\n$3\r\nSET\r\n$4\r\ntext\r\n$3\r\nabc\r\n").size());
    EXPECT_EQ(log.ended[0].received, 2U);
    EXPECT_EQ(log.ended[0].number, 1U);
    EXPECT_EQ(log.ended[1].command, "GET");
    EXPECT_EQ(log.ended[1].commands, 3U);
    EXPECT_FALSE(log.ended[1].is_same);
    EXPECT_EQ(log.ended[1].refusal, "ERR");
    EXPECT_FALSE(log.ended[1].ec);
    EXPECT_TRUE(log.ended[2].is_same);
    EXPECT_EQ(log.ended[3].ec, redis::error::wrong_type);
    EXPECT_EQ(log.ended[3].refusal, "WRONGTYPE");
    EXPECT_EQ(log.ended[3].number, 4U);
}

TEST(RedisCallHooks, OneThatThrowsCostsNoCall) {
    int begun = 0, ended = 0;
    auto const statistics = std::make_shared<redis::call_statistics>();
    redis::client_options o;
    o.statistics = statistics;
    o.before_call = [&](redis::call_begin const&) -> std::uintptr_t {
        ++begun;
        throw std::runtime_error("no tracer");
    };
    o.after_call = [&](redis::call_end const&, std::uintptr_t number) {
        ++ended;
        EXPECT_EQ(number, 0U);
        throw 7;
    };
    observed_scene s(std::move(o));
    auto body = [&]() -> awaitable<void> {
        for (int i = 0; i != 3; ++i) {
            co_await s.client.set("text", std::to_string(i));
            auto getting = s.client.get("text");
            auto const text = co_await std::move(getting);
            EXPECT_EQ(text, std::to_string(i));
        }
    };
    s.use(body);
    EXPECT_EQ(begun, 6);
    EXPECT_EQ(ended, 6);
    EXPECT_EQ(observed_row(*statistics, "GET").of(call_outcome::answered), 3U);
}

TEST(RedisCallHooks, AreToldOfCallsThatEndWithoutAnAnswer) {
    hook_log log;
    {
        io_context context(1);
        redis::request unfit, waits;
        redis::client client(context, {.address = "127.0.0.1:1"}, log.options());
        unfit.push("WATCH", "a");
        waits.push("GET", "a");
        client.async_exec(unfit, redis::ignore, [](error_code, std::size_t) {});
        client.async_exec(waits, redis::ignore, [](error_code, std::size_t) {});
        EXPECT_EQ(log.begun, 2U);
        EXPECT_EQ(log.ended.size(), 1U);
        client.cancel();
        context.run();
    }
    ASSERT_EQ(log.ended.size(), 2U);
    EXPECT_EQ(log.ended[0].ec, redis::error::refused_command);
    EXPECT_EQ(log.ended[1].ec, error::operation_aborted);
}

// ---- the last events

TEST(RedisRecentEvents, ConnectionThatIsLostTellsWhatCameBefore) {
    redis::client_options o;
    std::string told;
    o.on_event = [&](redis::client_event const& e) {
        if (e.kind == redis::event_kind::lost)
            told = e.recent_events;
        else
            EXPECT_TRUE(e.recent_events.empty());
    };
    observed_scene s(std::move(o));
    auto body = [&]() -> awaitable<void> {
        co_await s.client.set("text", "abc");
        co_await s.client.get("text");
        s.server.disconnect_clients();
        steady_timer pause(s.context);
        while (told.empty()) {
            pause.expires_after(1ms);
            auto waiting = pause.async_wait();
            co_await std::move(waiting);
        }
    };
    s.use(body);
    std::size_t at = 0;
    for (auto const* each : {"connecting\n", "connected\n", "wrote ", "read ", "ready, RESP3\n", "wrote 32 bytes\n",
                             "1 reply: simple_string\n", "wrote 23 bytes\n", "read 9 bytes, 1 reply: blob_string\n",
                             "ended: End of file"}) {
        auto const found = told.find(each, at);
        EXPECT_NE(found, std::string::npos) << each << " in\n" << told;
        at = found == std::string::npos ? at : found;
    }
    EXPECT_NE(s.client.recent_events().find("ended: "), std::string::npos);
}

// ---- the exception of a call that ended with its connection, in other threads

/// The events in the exception of `call`; empty: it threw another one, or none.
std::string events_of(std::function<void()> const& call) {
    try {
        call();
    } catch (redis::unexpected_error const& e) {
        EXPECT_TRUE(std::string_view(e.what()).starts_with("redis ")) << e.what();
        return std::string(e.recent_events());
    } catch (system_error const& e) {
        ADD_FAILURE() << e.what();
    }
    return {};
}

#ifdef __has_feature
#if __has_feature(thread_sanitizer)
#define EXCEPTIONS_ARE_SHARED_UNSEEN
#endif
#endif
#ifdef __SANITIZE_THREAD__
#define EXCEPTIONS_ARE_SHARED_UNSEEN
#endif

/// The last thread to let go of an exception destroys it. The thread sanitizer does not see the counter, which is
/// counted inside libstdc++, and takes that for a race with whoever has read the text.
void skip_where_exceptions_are_shared_unseen() {
#ifdef EXCEPTIONS_ARE_SHARED_UNSEEN
    GTEST_SKIP() << "the thread sanitizer does not see libstdc++ count the owners of an exception";
#endif
}

/// Each connection of its server ends behind the first command after the greeting.
class RedisUnexpectedError : public testing::Test {
protected:
    using calls = std::initializer_list<std::function<void()>>;

    void expect_events_of(calls all) {
        for (auto const& each : all)
            EXPECT_NE(events_of(each).find("ended: "), std::string::npos) << &each - all.begin();
    }
    void SetUp() override {
        incr_.push("INCR", "n");
        co_spawn(context_, accept(acceptor_), detached);
        db_.async_run([](error_code) {});
        serving_ = std::thread([this] { context_.run(); });
    }
    void TearDown() override {
        context_.stop();
        serving_.join();
    }
    static awaitable<void> accept(ip::tcp::acceptor& from) {
        for (;;) {
            auto accepting = from.async_accept();
            auto socket = co_await std::move(accepting);
            char bytes[4096];
            auto hello = socket.async_read_some(buffer(bytes));
            co_await std::move(hello);
            std::string_view const greeting = "%1\r\n+proto\r\n:3\r\n";
            auto greet = async_write(socket, buffer(greeting));
            co_await std::move(greet);
            auto command = socket.async_read_some(buffer(bytes));
            co_await std::move(command);
        }
    }
    static awaitable<void> increment(redis::client& db) {
        auto incrementing = db.incr("n");
        co_await std::move(incrementing);
    }

    io_context context_{1};
    ip::tcp::acceptor acceptor_{context_, {ip::address_v4::loopback(), 0}};
    std::string const address_ = "127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
    redis::client db_{context_, {.address = address_}, {.pause_min = 1ms, .pause_max = 2ms, .repeats_max = 0}};
    redis::client gives_up_{context_, {.address = "127.0.0.1:1"}, {.attempts_max = 1}};
    redis::connection fails_{context_};
    redis::request incr_;
    redis::script const script_{"return 1"};
    std::thread serving_;
};

TEST_F(RedisUnexpectedError, CallsThatBlockTheirThreadHaveTheEvents) {
    expect_events_of({
        [&] { db_.async_exec(incr_, redis::ignore, block); },
        [&] { db_.async_exec(redis::cmd::incr("n"), block); },
        [&] { db_.async_exec(redis::cmd::eval<long>(script_, "k"), block); },
        [&] { db_.async_exec(incr_, redis::ignore, deferred)(block); },
        [&] { db_.incr("n")(block); },
        [&] { db_.within(1h).incr("n")(block); },
        [&] { gives_up_.async_run(block); },
        [&] { fails_.async_run({.address = "127.0.0.1:1"}, block); },
    });
    error_code ec;
    db_.async_exec(redis::cmd::incr("n"), block[ec]);
    EXPECT_EQ(ec, redis::error::maybe_executed);
    db_.incr("n")(block[ec]);
    EXPECT_EQ(ec, redis::error::maybe_executed);
}

TEST_F(RedisUnexpectedError, FuturesHaveTheEvents) {
    skip_where_exceptions_are_shared_unseen();
    if (IsSkipped())
        return;
    expect_events_of({
        [&] { db_.async_exec(incr_, redis::ignore, use_future).get(); },
        [&] { db_.async_exec(redis::cmd::incr("n"), use_future).get(); },
        [&] { db_.async_exec(redis::cmd::eval<long>(script_, "k"), use_future).get(); },
        [&] { db_.incr("n")(use_future).get(); },
        [&] { db_.async_exec(incr_, redis::ignore, bind_executor(context_, use_future)).get(); },
        [&] { db_.async_exec(incr_, redis::ignore, cancel_after(1h, use_future)).get(); },
        [&] { gives_up_.async_run(use_future).get(); },
        [&] { fails_.async_run({.address = "127.0.0.1:1"}, use_future).get(); },
    });
}

TEST_F(RedisUnexpectedError, CoroutinesOnOtherExecutorsHaveTheEvents) {
    skip_where_exceptions_are_shared_unseen();
    if (IsSkipped())
        return;
    thread_pool pool(1);
    expect_events_of({
        [&] { co_spawn(pool, increment(db_), use_future).get(); },
        [&] { co_spawn(make_strand(pool), increment(db_), use_future).get(); },
        [&] { co_spawn(make_strand(context_), increment(db_), use_future).get(); },
    });
}

} // namespace
} // namespace fairlead::test
