// Credentials that change while a connection goes on, with the users of a real server.
#include "real_redis.hpp"

#include <fairlead/redis/client.hpp>
#include <fairlead/redis/lease.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace fairlead::test {
namespace {

using namespace std::chrono_literals;

class RealRedisCredentials : public RealRedisWithClient {
public:
    void SetUp() override {
        RealRedis::SetUp();
        if (IsSkipped())
            return;
        with_connection(cfg_, [](redis::connection& conn) -> awaitable<void> {
            redis::request users;
            users.push("ACL", "SETUSER", "ann", "on", ">one", "~*", "+@all");
            users.push("ACL", "SETUSER", "bob", "on", ">two", "~*", "+@all");
            co_await conn.async_exec(users, redis::ignore);
        });
        ctx_.restart();
        db.emplace(ctx_, cfg_,
                   redis::client_options{.pause_min = 5ms,
                                         .pause_max = 50ms,
                                         .ask_credentials = [this] { return now; },
                                         .on_event = [this](redis::client_event const& e) { told.push_back(e.kind); }});
    }
    awaitable<void> until_told(redis::event_kind k) {
        while (told.empty() || told.back() != k) {
            steady_timer soon(ctx_, 2ms);
            auto waiting = soon.async_wait();
            co_await std::move(waiting);
        }
    }
    redis::credentials now{.username = "ann", .password = "one"};
    std::vector<redis::event_kind> told;
};

template <class Caller> awaitable<std::string> who_am_i(Caller& c) {
    auto asking = c.call(redis::make_command<std::string>("ACL", "WHOAMI"));
    auto name = co_await std::move(asking);
    co_return name;
}
template <class Caller> awaitable<long> id_of(Caller& c) {
    auto asking = c.call(redis::make_command<long>("CLIENT", "ID"));
    auto const id = co_await std::move(asking);
    co_return id;
}

awaitable<void> change_users(RealRedisCredentials& t) {
    auto& db = *t.db;
    auto first = who_am_i(db);
    auto const ann = co_await std::move(first);
    EXPECT_EQ(ann, "ann");
    auto taking = db.acquire();
    auto own = co_await std::move(taking);
    auto asking = id_of(db);
    auto const id = co_await std::move(asking);
    auto asking_own = id_of(own);
    auto const own_id = co_await std::move(asking_own);

    t.now = {.username = "bob", .password = "two"};
    db.renew_credentials();
    auto renewed = t.until_told(redis::event_kind::renewed);
    co_await std::move(renewed);
    auto second = who_am_i(db);
    auto const bob = co_await std::move(second);
    EXPECT_EQ(bob, "bob");
    auto on_lease = who_am_i(own);
    auto const own_name = co_await std::move(on_lease);
    EXPECT_EQ(own_name, "bob");

    t.now = {.username = "ann", .password = "wrong"};
    db.renew_credentials();
    auto refused = t.until_told(redis::event_kind::not_renewed);
    co_await std::move(refused);
    auto third = who_am_i(db);
    auto const still_bob = co_await std::move(third);
    EXPECT_EQ(still_bob, "bob") << "the old session goes on";

    auto asking_again = id_of(db);
    auto const same_id = co_await std::move(asking_again);
    auto asking_own_again = id_of(own);
    auto const same_own_id = co_await std::move(asking_own_again);
    EXPECT_EQ(same_id, id) << "it is the same connection";
    EXPECT_EQ(same_own_id, own_id);
    EXPECT_EQ(db.counters().attempts, 1U);
}

TEST_F(RealRedisCredentials, UsersChangeOnConnectionsThatGoOn) { use(change_users(*this)); }

/// AUTH by itself is of a connection of one's own, and fails as any command does.
awaitable<void> log_in_by_command(RealRedisCredentials& t) {
    auto taking = t.db->acquire();
    auto own = co_await std::move(taking);
    auto asking = id_of(own);
    auto const id = co_await std::move(asking);
    for (auto const* const user : {"bob", "nobody"}) {
        error_code ec;
        auto logging_in = own.async_exec(redis::make_command<redis::ignore_t>("AUTH", {user, "wrong"}), as_tuple);
        std::tie(ec, std::ignore) = co_await std::move(logging_in);
        EXPECT_EQ(ec, redis::error::wrong_password) << ec.message();
        EXPECT_EQ(ec, redis::condition::refused_by_server);
    }
    auto naming = who_am_i(own);
    auto const name = co_await std::move(naming);
    EXPECT_EQ(name, "ann") << "the login of before holds";
    auto asking_again = id_of(own);
    auto const same_id = co_await std::move(asking_again);
    EXPECT_EQ(same_id, id) << "the connection goes on";
}

TEST_F(RealRedisCredentials, AWrongPasswordIsARefusalOfItsOwnKind) { use(log_in_by_command(*this)); }

/// A refused login of a connection is no refused command: nothing can be executed on it.
TEST_F(RealRedisCredentials, AConnectionWithAWrongPasswordEndsWithTheWordsOfTheServer) {
    auto cfg = cfg_;
    cfg.username = "ann";
    cfg.password = "wrong";
    redis::connection conn(ctx_);
    outcome ran;
    conn.async_run(cfg, ran.handler());
    run_all(ctx_);
    EXPECT_EQ(ran.ec, redis::error::auth_refused);
    EXPECT_TRUE(conn.server_text().starts_with("WRONGPASS")) << conn.server_text();
}

} // namespace
} // namespace fairlead::test
