// A client and a real server that is killed, frozen and started again.
#include "real_redis.hpp"

#include <fairlead/coro/this_coro.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/redis/client.hpp>
#include <fairlead/redis/cmd.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>

#include <array>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <unistd.h>

namespace fairlead::test {
namespace {

using namespace std::chrono_literals;
using redis::event_kind;

/// The calls of all callers, and how they ended.
struct tally {
    redis::client* db;
    bool stop = false;
    int live = 0;
    long answered = 0, unknown = 0, unsent = 0, wrong = 0;

    void note(error_code const& ec) {
        if (!ec)
            ++answered;
        else if (ec == redis::condition::not_executed)
            ++unsent;
        else if (ec == redis::error::maybe_executed || ec == redis::error::no_answer_in_time)
            ++unknown;
        else
            ADD_FAILURE() << ec.message();
    }
};

/// Asks for its own words, which nobody else may be given.
awaitable<void> ask_for_own_words(tally& t, int caller) {
    for (int i = 0; !t.stop; ++i) {
        auto const token = std::to_string(caller) + ':' + std::to_string(i);
        redis::request req;
        req.push("ECHO", token);
        std::string answer;
        auto asking = t.db->async_exec(req, answer, as_tuple);
        auto const [ec, n] = co_await std::move(asking);
        t.note(ec);
        t.wrong += !ec && answer != token;
        if (ec)
            co_await this_coro::yield();
    }
    --t.live;
}

awaitable<void> increment(tally& t) {
    redis::request req;
    req.push("INCR", "client-ledger");
    while (!t.stop) {
        long value = 0;
        auto asking = t.db->async_exec(req, value, as_tuple);
        auto const [ec, n] = co_await std::move(asking);
        t.note(ec);
        if (ec)
            co_await this_coro::yield();
    }
    --t.live;
}

/// Until so many calls more have been answered.
awaitable<void> answers(tally& t, long more) {
    auto const enough = t.answered + more;
    while (t.answered < enough)
        co_await this_coro::yield();
}
awaitable<void> all_stop(tally& t) {
    t.stop = true;
    while (t.live != 0)
        co_await this_coro::yield();
}

class RealRedisClient : public RealRedisWithClient {
public:
    void SetUp() override {
        RealRedis::SetUp();
        if (IsSkipped())
            return;
        redis::config_view cfg = cfg_;
        cfg.request_timeout = 5s;
        cfg.health_check_interval = 300ms;
        db.emplace(ctx_, cfg,
                   redis::client_options{
                       .pause_min = 5ms, .pause_max = 50ms, .on_event = [this](redis::client_event const& e) {
                           ++events[static_cast<std::size_t>(e.kind)];
                       }});
        t.db = &*db;
    }
    int count(event_kind k) const { return events[static_cast<std::size_t>(k)]; }

    tally t{nullptr};
    std::array<int, 9> events{};
};

TEST_F(RealRedisClient, X01_NobodyGetsAnotherOnesAnswerWhileTheServerIsKilledAndFrozen) {
    for (int i = 0; i != 50; ++i) {
        ++t.live;
        co_spawn(ctx_, ask_for_own_words(t, i), rethrow_to_test{});
    }
    use([](RealRedisClient& self) -> awaitable<void> {
        for (int round = 0; round != 4; ++round) {
            auto some = answers(self.t, 1'000);
            co_await std::move(some);
            auto const lost = self.count(event_kind::lost);
            if (round % 2 == 0)
                server_->kill();
            else
                server_->freeze();
            while (self.count(event_kind::lost) == lost)
                co_await this_coro::yield();
            if (round % 2 == 0)
                server_->start();
            else
                server_->thaw();
        }
        auto some = answers(self.t, 1'000);
        co_await std::move(some);
        auto stopping = all_stop(self.t);
        co_await std::move(stopping);
    }(*this));
    EXPECT_EQ(t.wrong, 0);
    EXPECT_GT(t.unknown, 0) << "calls were under way each time";
    EXPECT_GE(db->counters().lost, 4U);
}

TEST_F(RealRedisClient, EveryIncrementIsDoneOnceNotSentOrUnknown) {
    for (int i = 0; i != 50; ++i) {
        ++t.live;
        co_spawn(ctx_, increment(t), rethrow_to_test{});
    }
    redis::connection killer(ctx_);
    killer.async_run(cfg_, detached);
    use([](RealRedisClient& self, redis::connection& k) -> awaitable<void> {
        redis::request kill, get;
        kill.push("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
        get.push("GET", "client-ledger");
        for (int round = 0; round != 20; ++round) {
            auto some = answers(self.t, 200);
            co_await std::move(some);
            int killed = 0;
            auto killing = k.async_exec(kill, killed);
            co_await std::move(killing);
            EXPECT_GE(killed, 1);
        }
        auto stopping = all_stop(self.t);
        co_await std::move(stopping);
        long value = 0;
        auto getting = k.async_exec(get, value);
        co_await std::move(getting);
        EXPECT_GE(value, self.t.answered);
        EXPECT_LE(value, self.t.answered + self.t.unknown) << "something was executed twice";
        k.cancel();
    }(*this, killer));
    EXPECT_GE(db->counters().lost, 10U);
    EXPECT_EQ(db->counters().repeated, 0U) << "INCR is never sent anew";
}

TEST_F(RealRedisClient, X13_SubscriptionsGoOnBehindAKill) {
    use([](RealRedisClient& self) -> awaitable<void> {
        auto subscribing = self.db->subscribe("news", redis::pattern("log.*"));
        auto sub = co_await std::move(subscribing);
        redis::request publish;
        publish.push("PUBLISH", "news", "n");
        publish.push("PUBLISH", "log.a", "l");
        std::uint64_t before = 0;
        for (int round = 0; round != 2; ++round) {
            auto publishing = self.db->async_exec(publish, redis::ignore);
            co_await std::move(publishing);
            for (char const* const expected : {"news", "log.a"}) {
                auto next = sub.next();
                auto const m = co_await std::move(next);
                EXPECT_EQ(m->channel(), expected);
                EXPECT_EQ(m->pattern(), *expected == 'n' ? "" : "log.*");
                EXPECT_GT(m->connection(), before);
            }
            if (round != 0)
                break;
            before = 1;
            server_->kill();
            while (self.count(event_kind::lost) == 0)
                co_await this_coro::yield();
            server_->start();
            while (self.count(event_kind::restored) == 0)
                co_await this_coro::yield();
        }
    }(*this));
}

TEST(RealRedisAtAUnixSocket, AClientCallsSubscribesAndIsThereAgainBehindAKill) {
    auto const path = testing::TempDir() + "fairlead_redis_" + std::to_string(::getpid()) + ".sock";
    redis_server_process server({"--unixsocket", path});
    if (!server.is_installed())
        GTEST_SKIP() << "neither redis-server nor valkey-server is installed";
    io_context context(1);
    redis::client db(context, {.address = "unix:" + path}, {.pause_min = 5ms, .pause_max = 50ms});
    outcome ran;
    db.async_run(ran.handler());
    co_spawn(
        context,
        [](redis::client& c, redis_server_process& of) -> awaitable<void> {
            auto subscribing = c.subscribe("news");
            auto news = co_await std::move(subscribing);
            for (int round = 0; round != 2; ++round) {
                auto publishing = c.publish("news", "n");
                co_await std::move(publishing);
                auto hearing = news.next();
                auto const told = co_await std::move(hearing);
                EXPECT_TRUE(told);
                if (round != 0)
                    break;
                of.kill();
                of.start();
                while (c.counters().restored == 0)
                    co_await this_coro::yield();
            }
            c.cancel();
        }(db, server),
        rethrow_to_test{});
    run_all(context);
    EXPECT_EQ(ran.ec, error::operation_aborted);
    server.kill();
    std::remove(path.c_str());
}

TEST_F(RealRedisClient, TypedCommandsGiveTheirResults) {
    use([](redis::client& c) -> awaitable<void> {
        using redis::options::ex, redis::options::nx;
        auto deleting = c.del({"k", "h"});
        co_await std::move(deleting);
        EXPECT_EQ(co_await c.get("k"), std::nullopt);
        EXPECT_TRUE(co_await c.set("k", 41, ex(10s), nx));
        EXPECT_FALSE(co_await c.set("k", 0, nx));
        EXPECT_EQ(co_await c.incr("k"), 42);
        EXPECT_EQ(co_await c.get<long>("k"), 42);
        auto [ec, text] = co_await c.async_exec(redis::cmd::get("k"), as_tuple);
        EXPECT_FALSE(ec);
        EXPECT_EQ(text, "42");
        auto both = c.call(redis::pipeline(redis::cmd::hset("h", {{"a", 1}, {"b", 2}}), redis::cmd::hget("k", "a")));
        auto const results = co_await std::move(both);
        EXPECT_EQ(std::get<0>(results).value(), 2);
        EXPECT_TRUE(std::get<1>(results).error_text().starts_with("WRONGTYPE"));
        auto const all = co_await c.hgetall<std::map<std::string, int>>("h");
        EXPECT_EQ(all, (std::map<std::string, int>{{"a", 1}, {"b", 2}}));
        std::string said;
        try {
            co_await c.lpush("k", "no list");
        } catch (system_error const& e) {
            EXPECT_EQ(e.code(), redis::error::wrong_type);
            EXPECT_EQ(e.code(), redis::condition::refused_by_server);
            said = e.what();
        }
        EXPECT_TRUE(said.starts_with("redis LPUSH: WRONGTYPE Operation against")) << said;
    }(*db));
}

TEST_F(RealRedisClient, TypedCommandsTakeHandlersAndRequestsToEnd) {
    int called = 0;
    cancellation_signal signal;
    db->async_exec(redis::cmd::ping(), [&](error_code ec, std::string const& pong) {
        EXPECT_FALSE(ec);
        EXPECT_EQ(pong, "PONG");
        ++called;
    });
    db->async_exec(redis::cmd::get("a"),
                   bind_cancellation_slot(signal.slot(), [&](error_code ec, std::optional<std::string> const&) {
                       EXPECT_EQ(ec, error::operation_aborted);
                       ++called;
                   }));
    signal.emit(cancellation_type::terminal);
    use([](redis::client& c, int& n) -> awaitable<void> {
        while (n != 2)
            co_await this_coro::yield();
        EXPECT_EQ(c.pending(), 0U);
    }(*db, called));
}

/// A client, and a server that knows no HELLO.
class RealRedisClientInResp2 : public RealRedisClient {
public:
    static void SetUpTestSuite() {
        server_ = std::make_unique<redis_server_process>(std::vector<std::string>{"--rename-command", "HELLO", ""});
    }
};

TEST_F(RealRedisClientInResp2, SubscriptionsOfAllKindsGoOnBehindAKill) {
    use([](RealRedisClientInResp2& self) -> awaitable<void> {
        auto subscribing = self.db->subscribe("news", redis::pattern("log.*"), redis::shard("s"));
        auto sub = co_await std::move(subscribing);
        redis::request publish;
        publish.push("PUBLISH", "news", "n");
        publish.push("PUBLISH", "log.a", std::string(100'000, 'l'));
        publish.push("SPUBLISH", "s", "s");
        std::uint64_t before = 0;
        for (int round = 0; round != 2; ++round) {
            for (int i = 0; i != 50; ++i) {
                auto publishing = self.db->async_exec(publish, redis::ignore);
                co_await std::move(publishing);
            }
            for (int i = 0; i != 50; ++i)
                for (std::string const expected : {"news", "log.a", "s"}) {
                    auto next = sub.next();
                    auto const m = co_await std::move(next);
                    EXPECT_EQ(m->channel(), expected);
                    EXPECT_EQ(m->pattern(), expected == "log.a" ? "log.*" : "");
                    EXPECT_EQ(m->payload().size(), expected == "log.a" ? 100'000U : 1U);
                    EXPECT_EQ(m->lost(), 0U);
                    EXPECT_GT(m->connection(), before);
                }
            if (round != 0)
                break;
            before = 1;
            server_->kill();
            while (self.count(event_kind::lost) == 0 || self.count(event_kind::subscriptions_lost) == 0)
                co_await this_coro::yield();
            server_->start();
            while (self.count(event_kind::restored) == 0)
                co_await this_coro::yield();
        }
    }(*this));
}

TEST_F(RealRedisClientInResp2, CallsGoOnWhereOnlyTheirConnectionIsLeft) {
    use([](RealRedisClientInResp2& self) -> awaitable<void> {
        auto subscribing = self.db->subscribe("news");
        auto sub = co_await std::move(subscribing);
        redis::request kill, publish;
        kill.push("CLIENT", "KILL", "TYPE", "pubsub");
        publish.push("PUBLISH", "news", "n");
        for (int round = 1; round != 4; ++round) {
            long killed = 0;
            auto killing = self.db->async_exec(kill, killed);
            co_await std::move(killing);
            EXPECT_EQ(killed, 1);
            while (self.count(event_kind::restored) != round)
                co_await this_coro::yield();
            long receivers = 0;
            auto publishing = self.db->async_exec(publish, receivers);
            co_await std::move(publishing);
            EXPECT_EQ(receivers, 1);
            auto next = sub.next();
            auto const m = co_await std::move(next);
            EXPECT_EQ(m->payload(), "n");
            EXPECT_EQ(m->connection(), static_cast<std::uint64_t>(round) + 1);
        }
        EXPECT_EQ(self.count(event_kind::lost), 0);
        steady_timer rest(self.db->get_executor(), 1s); // The server is asked on both connections.
        auto resting = rest.async_wait();
        co_await std::move(resting);
        EXPECT_EQ(self.count(event_kind::subscriptions_lost), 3);
    }(*this));
}

} // namespace
} // namespace fairlead::test
