// Requests that block, leases and optimistic transactions with a real server.
#include "real_redis.hpp"

#include <fairlead/coro/this_coro.hpp>
#include <fairlead/redis/client.hpp>
#include <fairlead/redis/cmd.hpp>
#include <fairlead/redis/lease.hpp>
#include <fairlead/redis/optimistic.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/use_future.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace fairlead::test {
namespace {

using namespace std::chrono_literals;

class RealRedisLease : public RealRedisWithClient {
public:
    void SetUp() override {
        RealRedis::SetUp();
        if (!IsSkipped())
            make_client(4);
    }
    void make_client(std::size_t leases_max) {
        db.emplace(ctx_, cfg_, redis::client_options{.pause_min = 5ms, .pause_max = 50ms, .leases_max = leases_max});
    }
    int live = 0;
};

/// Takes jobs until it is given the last one.
awaitable<void> consume(redis::client& db, std::map<std::string, int>& taken, int& live) {
    for (bool is_last = false; !is_last;) {
        auto popping = db.blpop<std::string>("jobs", 10s);
        auto const job = co_await std::move(popping);
        if (!job) {
            ADD_FAILURE() << "there were jobs";
            break;
        }
        is_last = job->second == "end";
        if (!is_last)
            ++taken[job->second];
    }
    --live;
}

TEST_F(RealRedisLease, EachJobIsTakenByOneOfManyConsumers) {
    std::map<std::string, int> taken;
    constexpr int consumers = 20;
    for (live = 0; live != consumers; ++live)
        co_spawn(ctx_, consume(*db, taken, live), rethrow_to_test{});
    use([](redis::client& c, int& left) -> awaitable<void> {
        for (int i = 0; i != 500 + consumers; ++i) {
            auto const job = i < 500 ? std::to_string(i) : std::string("end");
            auto pushing = c.rpush("jobs", {job});
            co_await std::move(pushing);
        }
        while (left != 0)
            co_await this_coro::yield();
    }(*db, live));
    EXPECT_EQ(taken.size(), 500U);
    for (auto const& [job, times] : taken)
        EXPECT_EQ(times, 1) << job;
    EXPECT_LE(db->traffic().generations, 5U) << "the shared connection, and four";
}

awaitable<void> add_one(redis::client& db, int times, int& live) {
    for (; times != 0; --times) {
        auto adding = redis::optimistic(
            db, {"sum"},
            [](redis::lease& own) -> awaitable<decltype(redis::transaction(redis::cmd::set("", 1)))> {
                auto reading = own.get<int>("sum");
                auto const sum = co_await std::move(reading);
                co_return redis::transaction(redis::cmd::set("sum", sum.value_or(0) + 1));
            },
            1'000);
        auto const done = co_await std::move(adding);
        EXPECT_TRUE(done.has_value());
    }
    --live;
}

TEST_F(RealRedisLease, OptimisticTransactionsLoseNoUpdate) {
    for (live = 0; live != 8; ++live)
        co_spawn(ctx_, add_one(*db, 25, live), rethrow_to_test{});
    use([](redis::client& c, int& left) -> awaitable<void> {
        while (left != 0)
            co_await this_coro::yield();
        EXPECT_EQ(co_await c.get<int>("sum"), 200);
    }(*db, live));
}

using move_one = decltype(redis::transaction(redis::cmd::decr(""), redis::cmd::incr("")));

/// From the first of the accounts that has something to the last one. Nothing, when none has.
awaitable<std::optional<move_one>> move_from(redis::lease& own, std::vector<std::string> accounts) {
    for (auto const& account : accounts) {
        auto reading = own.get<int>(account);
        auto const left = co_await std::move(reading);
        if (account != accounts.back() && left.value_or(0) != 0)
            co_return redis::transaction(redis::cmd::decr(account), redis::cmd::incr(accounts.back()));
    }
    co_return std::nullopt;
}

awaitable<void> empty_all(redis::client& db, std::vector<std::string> const& accounts, int& live) {
    for (bool is_moved = true; is_moved;) {
        auto body = [&accounts](redis::lease& own) { return move_from(own, accounts); };
        auto moving = redis::optimistic(db, accounts, body, 1'000);
        auto const done = co_await std::move(moving);
        is_moved = done.has_value();
    }
    --live;
}

TEST_F(RealRedisLease, OptimisticTransactionsMayWatchKeysThatARunHasFound) {
    std::vector<std::string> accounts;
    for (int i = 0; i != 6; ++i)
        accounts.push_back("account:" + std::to_string(i));
    use([](RealRedisLease& t, std::vector<std::string> const& all) -> awaitable<void> {
        for (std::size_t i = 0; i + 1 != all.size(); ++i) {
            auto setting = t.db->set(all[i], 10);
            co_await std::move(setting);
        }
        t.live = 4;
        for (int i = 0; i != 4; ++i)
            co_spawn(t.db->get_executor(), empty_all(*t.db, all, t.live), rethrow_to_test{});
        while (t.live != 0)
            co_await this_coro::yield();
        auto reading = t.db->mget<int>(all);
        auto const left = co_await std::move(reading);
        EXPECT_EQ(left, (std::vector<std::optional<int>>{0, 0, 0, 0, 0, 50})) << "none was moved twice";
    }(*this, accounts));
}

TEST_F(RealRedisLease, AScriptThatHoldsTheServerIsKilledFromTheSameClient) {
    redis::script const endless("while true do end");
    std::optional<error_code> ended;
    use([](redis::client& c, redis::script const& s, std::optional<error_code>& ec) -> awaitable<void> {
        c.async_exec(redis::cmd::eval<long>(s, "k"), [&ec](error_code e, auto&&...) { ec = e; });
        while (!ec) {
            redis::request kill;
            kill.push("SCRIPT", "KILL");
            error_code refused; // as long as the script has not begun
            auto killing = c.async_exec(kill, redis::ignore, redirect_error(refused));
            co_await std::move(killing);
        }
        EXPECT_EQ(*ec, redis::condition::refused_by_server);
        EXPECT_EQ(c.counters().lost, 0U) << "the connection of all has not been lost";
    }(*db, endless, ended));
}

TEST_F(RealRedisLease, WhatBlocksEndsWhenItsServerIsKilled) {
    std::vector<error_code> ends;
    redis::request forever;
    forever.push("BLPOP", "nothing", 0);
    std::array<redis::generic_response, 6> responses;
    use([](RealRedisLease& self, redis::request& r, auto& into, std::vector<error_code>& ec) -> awaitable<void> {
        for (auto& each : into)
            self.db->async_exec(r, each, [&ec](error_code e, std::size_t) { ec.push_back(e); });
        std::optional<std::string> blocked;
        while (!blocked || blocked->find("blocked_clients:4") == std::string::npos) {
            auto asking = self.db->info({"clients"});
            blocked = co_await std::move(asking);
        }
        server_->kill();
        while (ec.size() < 4)
            co_await this_coro::yield();
        server_->start();
        while (!self.db->is_ready())
            co_await this_coro::yield();
        EXPECT_EQ(self.db->cancel(r), 2U) << "those that had no connection yet";
        while (ec.size() < into.size())
            co_await this_coro::yield();
    }(*this, forever, responses, ends));
    EXPECT_EQ(std::ranges::count(ends, make_error_code(redis::error::maybe_executed)), 4);
}

TEST_F(RealRedisLease, LeasesAndRequestsThatBlockComeFromAnyThread) {
    ctx_.restart();
    make_client(8); // Each thread has two at a time.
    auto running = db->async_run(use_future);
    std::thread io([this] { ctx_.run(); });
    std::vector<std::thread> threads;
    std::atomic<int> popped{0};
    for (int i = 0; i != 4; ++i)
        threads.emplace_back([this, i, &popped] {
            auto const key = "thread" + std::to_string(i);
            for (int round = 0; round != 50; ++round) {
                auto pop = db->async_exec(redis::cmd::blpop<std::string>(key, 10s), use_future);
                auto acquired = co_spawn(ctx_, db->acquire(), use_future);
                auto own = acquired.get();
                own.async_exec(redis::cmd::watch({key}), use_future).get();
                own.async_exec(redis::cmd::rpush(key, {"x"}), use_future).get();
                {
                    auto const given_back = std::move(own); // in this thread
                }
                popped += pop.get().has_value();
            }
        });
    for (auto& each : threads)
        each.join();
    db->cancel();
    EXPECT_THROW(running.get(), system_error);
    io.join();
    EXPECT_EQ(popped, 200);
}

} // namespace
} // namespace fairlead::test
