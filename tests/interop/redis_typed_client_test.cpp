// Scripts, scans, structs and groups of consumers through a client, with a real server in RESP3 and in RESP2.
#include "real_redis.hpp"

#include <fairlead/coro/this_coro.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/redis/client.hpp>
#include <fairlead/redis/consumer_group.hpp>
#include <fairlead/redis/described.hpp>
#include <fairlead/redis/lease.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace fairlead::test {

struct typed_user {
    std::string name;
    int visits = 0;
    bool is_member = false;
    std::chrono::milliseconds pause{};
    std::optional<double> score;

    friend bool operator==(typed_user const&, typed_user const&) = default;
};

} // namespace fairlead::test

template <> struct fairlead::redis::described<fairlead::test::typed_user> {
    using user = fairlead::test::typed_user;
    static constexpr auto members =
        std::tuple(field("name", &user::name), field("visits", &user::visits, 0), field("is_member", &user::is_member),
                   field("pause", &user::pause), field("score", &user::score));
};

namespace fairlead::test {
namespace {

using namespace std::chrono_literals;
namespace cmd = redis::cmd;

class RealRedisCalls : public RealRedis, public testing::WithParamInterface<int> {
public:
    static void SetUpTestSuite() {
        RealRedis::SetUpTestSuite();
        old_ = std::make_unique<redis_server_process>(std::vector<std::string>{"--rename-command", "HELLO", ""});
    }
    static void TearDownTestSuite() {
        old_.reset();
        RealRedis::TearDownTestSuite();
    }
    void SetUp() override {
        RealRedis::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        if (GetParam() == 2) {
            cfg_.address = old_->address();
            wait_until_it_listens();
        }
        redis::config_view cfg = cfg_;
        cfg.request_timeout = 20s;
        db.emplace(ctx_, cfg, redis::client_options{.pause_min = 5ms, .pause_max = 50ms});
    }
    redis_server_process& server() { return GetParam() == 2 ? *old_ : *server_; }
    void use(std::function<awaitable<void>(redis::client&)> const& body) {
        if (!db)
            return;
        outcome ran;
        db->async_run(ran.handler());
        co_spawn(
            ctx_,
            [](redis::client& c, std::function<awaitable<void>(redis::client&)> const& b) -> awaitable<void> {
                auto flushing = c.flushall(redis::options::at_once);
                co_await std::move(flushing);
                auto running = b(c);
                co_await std::move(running);
            }(*db, body),
            [&](std::exception_ptr e) {
                rethrow_to_test{}(e);
                db->cancel();
            });
        run_all(ctx_);
        EXPECT_EQ(ran.times, 1);
        EXPECT_EQ(db->pending(), 0U);
    }

    static inline std::unique_ptr<redis_server_process> old_;
    std::optional<redis::client> db;
};
INSTANTIATE_TEST_SUITE_P(Resp, RealRedisCalls, testing::Values(3, 2));

} // namespace

TEST_P(RealRedisCalls, X15_AScriptWorksBehindFlushesAndOnAServerThatDoesNotKnowIt) {
    redis::script const add("return redis.call('INCRBY', KEYS[1], ARGV[1])");
    use([&](redis::client& c) -> awaitable<void> {
        long expected = 0;
        for (int round = 0; round != 3; ++round) {
            for (int i = 0; i != 2; ++i) {
                auto adding = c.eval<long>(add, "n", 2);
                auto const n = co_await std::move(adding);
                expected += 2;
                EXPECT_EQ(n, expected);
            }
            auto asking = c.script_exists(add.sha1());
            auto const exists = co_await std::move(asking);
            EXPECT_EQ(exists, std::vector<bool>{true}) << "the digest is that of the server";
            if (round == 0) {
                auto flushing = c.script_flush();
                co_await std::move(flushing);
            } else if (round == 1) {
                server().kill(); // with its scripts and data
                server().start();
                expected = 0;
                while (c.counters().ready < 2)
                    co_await this_coro::yield();
            }
        }
    });
}

TEST_P(RealRedisCalls, X15_ScriptsInPipelinesAndTransactionsNeedNobodyToLoadThem) {
    redis::script const add("return redis.call('INCRBY', KEYS[1], ARGV[1])");
    use([&](redis::client& c) -> awaitable<void> {
        for (int round = 1; round != 3; ++round) {
            auto flushing = c.script_flush();
            co_await std::move(flushing);
            auto piping =
                c.call(redis::pipeline(cmd::eval<long>(add, "n", 1), cmd::get<long>("n"), cmd::eval<long>(add, "n", 1),
                                       cmd::script_flush(), cmd::eval<long>(add, "n", 1)));
            auto const [a, b, d, e, f] = co_await std::move(piping);
            long const before = (round - 1) * 5;
            EXPECT_EQ(a.value(), before + 1);
            EXPECT_EQ(b.value(), before + 1);
            EXPECT_EQ(d.value(), before + 2);
            EXPECT_EQ(f.value(), before + 3);
            auto flushing_again = c.script_flush();
            co_await std::move(flushing_again);
            auto dealing = c.call(redis::transaction(cmd::eval<long>(add, "n", 1), cmd::eval<long>(add, "n", 1)));
            auto done = co_await std::move(dealing);
            EXPECT_EQ(std::get<1>(*done).value(), before + 5);
        }
    });
}

TEST_P(RealRedisCalls, X15_AnUnorderedPipelineSendsWhatTheServerHasNot) {
    redis::script const add("return redis.call('INCRBY', KEYS[1], ARGV[1])");
    redis::script const look("return redis.call('STRLEN', KEYS[1])");
    redis::function_source const library("#!lua name=counting\n"
                                         "redis.register_function('add', function(keys, args)\n"
                                         "  return redis.call('INCRBY', keys[1], args[1]) end)\n");
    use([&](redis::client& c) -> awaitable<void> {
        auto counting_anew = c.config_resetstat();
        co_await std::move(counting_anew);
        for (int round = 0; round != 4; ++round) {
            if (round % 2 == 0) {
                auto flushing = c.call(redis::pipeline(cmd::script_flush(), cmd::function_flush(), cmd::del("n", "m")));
                co_await std::move(flushing);
            }
            auto calling = c.call(redis::unordered_pipeline(
                cmd::eval<long>(add, "n", 1), cmd::set("t", "text"), cmd::eval_ro<long>(look, "t"),
                cmd::fcall<long>(library, "add", "m", 1), cmd::eval<long>(add, "n", 1),
                cmd::fcall<long>(library, "add", "m", 1), cmd::get("t")));
            auto const [a, t, size, d, e, f, text] = co_await std::move(calling);
            long const before = round % 2 * 2;
            EXPECT_EQ(a.value(), before + 1);
            EXPECT_EQ(size.value(), 4);
            EXPECT_EQ(d.value(), before + 1);
            EXPECT_EQ(e.value(), before + 2);
            EXPECT_EQ(f.value(), before + 2);
            EXPECT_EQ(text.value(), "text");
        }
        auto asking = c.call(redis::make_command<std::string>("INFO", {"commandstats"}));
        auto const counts = co_await std::move(asking);
        EXPECT_NE(counts.find("cmdstat_eval:calls=2,"), std::string::npos) << counts;
        EXPECT_NE(counts.find("cmdstat_function|load:calls=2,"), std::string::npos) << counts;
    });
}

TEST_P(RealRedisCalls, AFunctionOfALibraryIsLoadedWhenTheServerHasNone) {
    redis::function_source const library("#!lua name=counting\n"
                                         "redis.register_function('add', function(keys, args)\n"
                                         "  return redis.call('INCRBY', keys[1], args[1]) end)\n");
    use([&](redis::client& c) -> awaitable<void> {
        auto forgetting = c.function_flush();
        co_await std::move(forgetting);
        for (long i = 1; i != 4; ++i) {
            auto adding = c.fcall<long>(library, "add", "n", 1);
            auto const n = co_await std::move(adding);
            EXPECT_EQ(n, i);
        }
        for (int i = 0; i != 2; ++i) {
            auto forgetting_again = c.function_flush();
            co_await std::move(forgetting_again);
            auto dealing = c.call(redis::transaction(cmd::fcall<long>(library, "add", "n", 1), cmd::get<long>("n")));
            auto done = co_await std::move(dealing);
            EXPECT_EQ(std::get<0>(*done).value(), 4 + 2 * i);
            auto calling = c.call(redis::pipeline(cmd::fcall<long>(library, "add", "n", 1), cmd::get<long>("n")));
            auto const [n, same] = co_await std::move(calling);
            EXPECT_EQ(n.value(), 5 + 2 * i);
            EXPECT_EQ(same.value(), 5 + 2 * i);
        }
        auto failing = c.async_exec(cmd::fcall<long>(library, "subtract", "n", 1), as_tuple);
        auto const [ec, n] = co_await std::move(failing);
        EXPECT_EQ(ec, redis::error::server_error);
    });
}

TEST_P(RealRedisCalls, AScriptThatFailsSaysWhatTheServerSaid) {
    redis::script const wrong("return redis.call('NONE')");
    use([&](redis::client& c) -> awaitable<void> {
        std::string what;
        try {
            auto calling = c.eval<long>(wrong);
            co_await std::move(calling);
        } catch (system_error const& e) {
            EXPECT_EQ(e.code(), redis::condition::refused_by_server);
            what = e.what();
        }
        EXPECT_NE(what.find("redis EVAL: ERR"), std::string::npos) << what;
    });
}

TEST_P(RealRedisCalls, ScansFindAllThatIsThere) {
    use([&](redis::client& c) -> awaitable<void> {
        using namespace redis::options;
        for (int i = 0; i != 500; ++i) {
            auto const name = std::to_string(i);
            auto writing = c.call(redis::pipeline(cmd::set("k:" + name, i), cmd::hset("h", name, i), cmd::sadd("s", i),
                                                  cmd::zadd("z", {{name, i}})));
            co_await std::move(writing);
        }
        std::set<std::string> found;
        auto keys = c.scan(match("k:*"), count(50));
        while (auto k = co_await keys.next())
            found.insert(*k);
        EXPECT_EQ(found.size(), 500U);
        std::set<int> members;
        auto all = c.sscan<int>("s");
        while (auto m = co_await all.next())
            members.insert(*m);
        EXPECT_EQ(members.size(), 500U);
        std::set<std::string> names;
        auto fields = c.hscan<int>("h", count(20));
        while (auto f = co_await fields.next()) {
            EXPECT_EQ(f->first, std::to_string(f->second));
            names.insert(f->first);
        }
        EXPECT_EQ(names.size(), 500U);
        names.clear();
        auto scores = c.zscan("z");
        while (auto m = co_await scores.next()) {
            EXPECT_EQ(m->first, std::to_string(static_cast<int>(m->second)));
            names.insert(m->first);
        }
        EXPECT_EQ(names.size(), 500U);
        auto nothing = c.sscan("none");
        auto const none = co_await nothing.next();
        EXPECT_EQ(none, std::nullopt);
    });
}

TEST_P(RealRedisCalls, StructsAreHashes) {
    use([&](redis::client& c) -> awaitable<void> {
        typed_user ann;
        ann.name = "ann";
        ann.visits = 7;
        ann.is_member = true;
        ann.pause = 1500ms;
        auto writing = c.hset("user:1", ann);
        auto const fields = co_await std::move(writing);
        EXPECT_EQ(fields, 4) << "none for the empty optional";
        auto reading = c.hgetall<typed_user>("user:1");
        auto const read = co_await std::move(reading);
        EXPECT_EQ(read, ann);
        ann.score = 0.5;
        auto adding = c.hset("user:1", ann);
        co_await std::move(adding);
        auto asking = c.hmget<typed_user>("user:1");
        auto const asked = co_await std::move(asking);
        EXPECT_EQ(asked, ann);
        auto missing = c.hgetall<std::optional<typed_user>>("none");
        auto const none = co_await std::move(missing);
        EXPECT_EQ(none, std::nullopt);
        auto missing_fields = c.hmget<typed_user>("none");
        auto const none_either = co_await std::move(missing_fields);
        EXPECT_EQ(none_either, std::nullopt);
        auto removing = c.hdel("user:1", "name", "visits");
        co_await std::move(removing);
        auto failing = c.async_exec(cmd::hgetall<typed_user>("user:1"), as_tuple);
        auto const [ec, user] = co_await std::move(failing);
        EXPECT_EQ(ec, redis::error::missing_field);
    });
}

TEST_P(RealRedisCalls, AValueIsWrittenIntoMemoryOfTheCaller) {
    use([&](redis::client& c) -> awaitable<void> {
        std::string const large(100'000, 'x');
        auto writing = c.mset("small", "hello", "large", large);
        co_await std::move(writing);
        std::vector<char> space(large.size());
        auto reading = c.get_into("large", space);
        auto const size = co_await std::move(reading);
        EXPECT_EQ(size, large.size());
        EXPECT_EQ(std::string_view(space.data(), space.size()), large);
        auto missing = c.get_into("none", space);
        auto const none = co_await std::move(missing);
        EXPECT_EQ(none, std::nullopt);
        space.resize(4);
        auto failing = c.async_exec(cmd::get_into("small", space), as_tuple);
        auto const [ec, n] = co_await std::move(failing);
        EXPECT_EQ(ec, redis::error::memory_too_small);
    });
}

TEST_P(RealRedisCalls, AStreamIsSharedByTwoConsumersAndNothingIsLost) {
    use([&](redis::client& c) -> awaitable<void> {
        redis::consumer_options const o{.batch = 3, .poll_interval = 5ms};
        std::set<std::string> seen;
        {
            redis::consumer_group first(c, "orders", "billing", "one", o);
            auto const add = cmd::xadd("orders", "*", {{"n", 1}});
            for (int i = 0; i != 10; ++i) {
                auto adding = c.call(add);
                co_await std::move(adding);
            }
            for (int i = 0; i != 4; ++i) { // It holds two more when it goes.
                auto taking = first.next();
                auto const m = co_await std::move(taking);
                EXPECT_EQ(m->from, redis::consumed_entry::origin::fresh);
                EXPECT_EQ(*m->find("n"), "1");
                if (i == 3)
                    continue; // Not acknowledged.
                EXPECT_TRUE(seen.insert(m->id).second);
                auto acknowledging = first.ack(*m);
                EXPECT_TRUE(co_await std::move(acknowledging));
            }
        }
        redis::consumer_group again(c, "orders", "billing", "one", o);
        auto claims = o;
        claims.claim_idle = 1ms;
        redis::consumer_group other(c, "orders", "billing", "two", claims);
        int pending = 0, claimed = 0;
        auto taking = again.next();
        auto const own = co_await std::move(taking);
        EXPECT_EQ(own->from, redis::consumed_entry::origin::pending);
        seen.insert(own->id);
        auto acknowledging = again.ack(*own);
        co_await std::move(acknowledging);
        auto summing = c.xpending("orders", "billing");
        auto const left = co_await std::move(summing);
        EXPECT_EQ(left.entries, 2);
        steady_timer pause(co_await this_coro::executor, 5ms);
        auto resting = pause.async_wait();
        co_await std::move(resting);
        while (seen.size() != 10) {
            auto next = other.next();
            auto const m = co_await std::move(next);
            pending += m->from == redis::consumed_entry::origin::pending;
            claimed += m->from == redis::consumed_entry::origin::claimed;
            seen.insert(m->id);
            auto done = other.ack(m->id);
            EXPECT_TRUE(co_await std::move(done));
        }
        EXPECT_EQ(pending, 0);
        EXPECT_EQ(claimed, 2) << "those that the first one held when it went";
        auto counting = c.xpending("orders", "billing");
        auto const none = co_await std::move(counting);
        EXPECT_EQ(none.entries, 0);
    });
}

TEST_P(RealRedisCalls, AConsumerGoesOnWithAServerThatWasKilled) {
    use([&](redis::client& c) -> awaitable<void> {
        redis::consumer_group orders(c, "orders", "billing", "one", {.poll_interval = 5ms});
        for (int round = 0; round != 2; ++round) {
            auto adding = c.xadd("orders", "*", {{"n", round}});
            co_await std::move(adding);
            auto taking = orders.next();
            auto const m = co_await std::move(taking);
            EXPECT_EQ(*m->find("n"), std::to_string(round));
            if (round != 0)
                break;
            server().kill(); // with its stream and its group
            server().start();
            auto const ready = c.counters().ready;
            while (c.counters().ready == ready)
                co_await this_coro::yield();
        }
    });
}

TEST_P(RealRedisCalls, AConsumerWaitsAtTheServer) {
    use([&](redis::client& c) -> awaitable<void> {
        redis::consumer_group orders(c, "orders", "billing", "one", {.poll_interval = 1h});
        for (int i = 0; i != 3; ++i) {
            co_spawn(
                ctx_,
                [](redis::client& other, int n) -> awaitable<void> {
                    for (bool is_waited_for = false; !is_waited_for;) { // until the consumer's command blocks
                        auto asking = other.info("clients");
                        auto const text = co_await std::move(asking);
                        is_waited_for = text.find("blocked_clients:1") != text.npos;
                    }
                    auto const add = redis::cmd::xadd("orders", "*", {{"n", n}});
                    auto adding = other.async_exec(add, as_tuple); // The consumer may be first, and end the client.
                    co_await std::move(adding);
                }(c, i),
                rethrow_to_test{});
            auto taking = orders.next();
            auto const m = co_await std::move(taking);
            EXPECT_EQ(*m->find("n"), std::to_string(i));
        }
    });
}

TEST_P(RealRedisCalls, ALeaseCallsScriptsThatTheServerDoesNotKnow) {
    redis::script const add("return redis.call('INCRBY', KEYS[1], ARGV[1])");
    use([&](redis::client& c) -> awaitable<void> {
        auto flushing = c.script_flush();
        co_await std::move(flushing);
        auto acquiring = c.acquire();
        auto own = co_await std::move(acquiring);
        auto adding = own.eval<long>(add, "n", 2);
        auto const n = co_await std::move(adding);
        EXPECT_EQ(n, 2);
    });
}

} // namespace fairlead::test
