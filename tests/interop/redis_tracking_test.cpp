// Caches of a program's own: the server tells what has changed, and the connection tells when it does so no more.
#include "real_redis.hpp"

#include <fairlead/redis/lease.hpp>

#include <string>

namespace fairlead::test {
namespace {

using RealRedisTracking = RealRedisWithClient;

redis::request tracking() {
    redis::request req;
    req.push("CLIENT", "TRACKING", "ON");
    return req;
}

/// The text of the error that such a call ends with; empty: it was taken.
template <class Calls> awaitable<std::string> refusal_of(Calls& calls) {
    auto const req = tracking();
    try {
        auto calling = calls.async_exec(req, redis::ignore);
        co_await std::move(calling);
    } catch (system_error const& e) {
        EXPECT_EQ(e.code(), redis::error::refused_command);
        EXPECT_EQ(req.refused(), "CLIENT TRACKING");
        EXPECT_TRUE(req.instead().starts_with("use a redis::connection: async_receive()")) << req.instead();
        co_return e.what();
    }
    co_return "";
}

/// A client that connected again would keep what it has cached, and the server would have forgotten it.
TEST_F(RealRedisTracking, P21_ClientsRefuseWhatEndsWithAConnectionUnseen) {
    use([](RealRedisTracking& self) -> awaitable<void> {
        auto asking = refusal_of(*self.db);
        auto const of_client = co_await std::move(asking);
        EXPECT_TRUE(of_client.starts_with("redis CLIENT TRACKING (instead: use a redis::connection")) << of_client;
        auto acquiring = self.db->acquire();
        auto lease = co_await std::move(acquiring);
        auto asking_lease = refusal_of(lease);
        auto const of_lease = co_await std::move(asking_lease);
        EXPECT_EQ(of_lease, of_client);
    }(*this));
}

TEST_F(RealRedisTracking, P21_AConnectionTellsWhatHasChangedAndThatNothingMoreIsTold) {
    redis::connection connection(ctx_);
    outcome connection_ran;
    connection.async_run(cfg_, connection_ran.handler());
    use([](RealRedisTracking& self, redis::connection& cached, outcome& ran) -> awaitable<void> {
        auto const req = tracking();
        auto asking = cached.async_exec(req, redis::ignore);
        co_await std::move(asking);
        redis::request get;
        get.push("GET", "film");
        auto reading = cached.async_exec(get, redis::ignore);
        co_await std::move(reading);
        auto changing = self.db->set("film", "2001");
        co_await std::move(changing);
        redis::generic_response told;
        auto receiving = cached.async_receive(told);
        co_await std::move(receiving);
        EXPECT_EQ(told.messages(), 1U);
        std::string words;
        for (auto const& n : told)
            words.append(n.value).append(" ");
        EXPECT_NE(words.find("invalidate "), words.npos) << words;
        EXPECT_NE(words.find("film "), words.npos) << words;
        EXPECT_EQ(ran.times, 0);
        redis::request kill;
        kill.push("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
        auto killing = self.db->async_exec(kill, redis::ignore);
        co_await std::move(killing);
        while (ran.times == 0)
            co_await this_coro::yield();
        EXPECT_TRUE(ran.ec) << "the program would keep what it has cached";
    }(*this, connection, connection_ran));
}

} // namespace
} // namespace fairlead::test
