// A real server that drops its clients: what was in flight is told apart from what was not sent.
#include "real_redis.hpp"

#include <fairlead/redis/client.hpp>

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fairlead::test {

using R = redis::error;

namespace {

using namespace std::chrono_literals;
using redis::event_kind;

/// A client whose events are kept, and a connection that changes the settings of the server.
class RealRedisDrops : public RealRedisWithClient {
public:
    void SetUp() override {
        server_ = std::make_unique<redis_server_process>(); // No test leaves its settings to the next one.
        RealRedis::SetUp();
        if (IsSkipped())
            return;
        db.emplace(ctx_, cfg_,
                   redis::client_options{
                       .pause_min = 5ms, .pause_max = 50ms, .on_event = [this](redis::client_event const& e) {
                           ++events[static_cast<std::size_t>(e.kind)];
                           if (!e.server_text.empty())
                               last_text = e.server_text;
                       }});
        admin_.emplace(ctx_, cfg_, redis::client_options{.pause_min = 5ms, .pause_max = 50ms});
        admin_->async_run(detached);
    }
    void use(awaitable<void> body) {
        RealRedisWithClient::use([](RealRedisDrops& self, awaitable<void> inner) -> awaitable<void> {
            co_await std::move(inner);
            self.admin_->cancel();
        }(*this, std::move(body)));
    }
    awaitable<void> set(std::string name, std::string value) {
        auto setting = admin_->config_set({{name, value}});
        co_await std::move(setting);
    }
    redis::client& admin() { return *admin_; }
    std::uint64_t lost() const { return db->counters().lost; }

    std::array<int, 16> events{};
    std::string last_text;

private:
    std::optional<redis::client> admin_;
};

/// A call with a handler.
struct begun_call {
    redis::request request;
    redis::generic_response replies;
    std::optional<error_code> end;

    template <class... Words> explicit begun_call(Words const&... words) { request.push(words...); }
    begun_call(begun_call const&) = delete;
    begun_call& operator=(begun_call const&) = delete;
    void begin(redis::client& c) {
        c.async_exec(request, replies, [this](error_code ec, std::size_t) { end = ec; });
    }
    awaitable<error_code> ended() {
        while (!end)
            co_await this_coro::yield();
        co_return *end;
    }
};

} // namespace

TEST_F(RealRedisDrops, P19_AReplyAboveTheOutputLimitOfTheServerIsPerhapsExecuted) {
    use([](RealRedisDrops& self) -> awaitable<void> {
        auto storing = self.admin().set("large", std::string(4'000'000, 'x'));
        co_await std::move(storing);
        auto limiting = self.set("client-output-buffer-limit", "normal 1000000 0 0");
        co_await std::move(limiting);
        begun_call both("INCR", "n"), read("GET", "large");
        both.request.push("GET", "large");
        both.begin(*self.db);
        auto ending = both.ended();
        auto const ec = co_await std::move(ending);
        EXPECT_EQ(ec, R::maybe_executed);
        EXPECT_EQ(self.lost(), 1U);
        EXPECT_EQ(self.db->counters().repeated, 0U);
        read.begin(*self.db);
        auto ending_too = read.ended();
        auto const ec_of_read = co_await std::move(ending_too);
        EXPECT_EQ(ec_of_read, R::maybe_executed);
        EXPECT_EQ(self.db->counters().repeated, 2U) << "it only reads";
        EXPECT_EQ(self.lost(), 4U);
        auto unlimited = self.set("client-output-buffer-limit", "normal 0 0 0");
        co_await std::move(unlimited);
        auto asking = self.db->get<long>("n");
        auto const n = co_await std::move(asking);
        EXPECT_EQ(n, 1) << "INCR was executed, and not again";
    }(*this));
}

TEST_F(RealRedisDrops, P19_AServerWithoutRoomForAClientIsAskedAgain) {
    std::string said;
    use([](RealRedisDrops& self, std::string& text) -> awaitable<void> {
        auto filling = self.set("maxclients", "1");
        co_await std::move(filling);
        while (text.empty()) {         // The end of the connection may overtake the words of the server.
            if (self.db->is_ready()) { // It was there first: its next connection is refused.
                auto killing =
                    self.admin().call(redis::make_command("CLIENT", {"KILL", "TYPE", "normal", "SKIPME", "yes"}));
                co_await std::move(killing);
            }
            if (self.last_text.find("max number of clients") != std::string::npos)
                text = self.last_text;
            co_await this_coro::yield();
        }
        begun_call echo("ECHO", "x");
        echo.begin(*self.db);
        auto const before = self.db->counters().failed;
        while (self.db->counters().failed == before)
            co_await this_coro::yield();
        EXPECT_FALSE(echo.end);
        auto opening = self.set("maxclients", "10000");
        co_await std::move(opening);
        auto ending = echo.ended();
        auto const ec = co_await std::move(ending);
        EXPECT_FALSE(ec) << ec.message();
    }(*this, said));
    EXPECT_TRUE(said.starts_with("ERR max number of clients reached")) << said;
}

TEST_F(RealRedisDrops, P19_ACallInFlightWhenItsClientIsKilledIsNotRepeated) {
    use([](RealRedisDrops& self) -> awaitable<void> {
        auto greeting = self.db->ping();
        co_await std::move(greeting);
        auto pausing = self.admin().call(redis::make_command("CLIENT", {"PAUSE", "60000", "WRITE"}));
        co_await std::move(pausing);
        auto const before = self.db->traffic().bytes_written;
        begun_call add("INCR", "paused");
        add.begin(*self.db);
        while (self.db->traffic().bytes_written == before)
            co_await this_coro::yield();
        auto killing = self.admin().call(redis::make_command("CLIENT", {"KILL", "TYPE", "normal", "SKIPME", "yes"}));
        co_await std::move(killing);
        auto ending = add.ended();
        auto const ec = co_await std::move(ending);
        EXPECT_EQ(ec, R::maybe_executed);
        auto going_on = self.admin().call(redis::make_command("CLIENT", {"UNPAUSE"}));
        co_await std::move(going_on);
        auto asking = self.db->get("paused");
        auto const n = co_await std::move(asking);
        EXPECT_EQ(n, std::nullopt) << "the server had not come to it, and nobody sent it again";
        EXPECT_EQ(self.lost(), 1U);
        EXPECT_EQ(self.db->counters().repeated, 0U);
    }(*this));
}

TEST_F(RealRedisDrops, P19_AnIdleClientThatIsDroppedIsThereAgainForItsNextCall) {
    use([](RealRedisDrops& self) -> awaitable<void> {
        auto first = self.db->incr("idle");
        co_await std::move(first);
        auto hurrying = self.set("timeout", "1");
        co_await std::move(hurrying);
        while (self.lost() == 0)
            co_await this_coro::yield();
        auto second = self.db->incr("idle");
        auto const n = co_await std::move(second);
        EXPECT_EQ(n, 2);
        auto resting = self.set("timeout", "0");
        co_await std::move(resting);
        EXPECT_EQ(self.db->counters().repeated, 0U);
    }(*this));
}

/// The server reads no more, so that a large request fills the socket, and the next one waits.
TEST_F(RealRedisDrops, P19_WhatWasNotSentWaitsForTheNextConnection) {
    use([](RealRedisDrops& self) -> awaitable<void> {
        auto greeting = self.db->ping();
        co_await std::move(greeting);
        server_->freeze();
        auto const before = self.db->traffic().writes;
        begun_call large("APPEND", "grown", std::string(48'000'000, 'x')), small("INCR", "small");
        large.begin(*self.db);
        while (self.db->traffic().writes == before)
            co_await this_coro::yield();
        small.begin(*self.db);
        server_->kill();
        server_->start();
        auto ending = large.ended();
        auto const ec = co_await std::move(ending);
        EXPECT_EQ(ec, R::maybe_executed);
        auto answering = small.ended();
        auto const ec_of_small = co_await std::move(answering);
        EXPECT_FALSE(ec_of_small) << ec_of_small.message();
        auto asking = self.db->exists("grown");
        auto const is_there = co_await std::move(asking);
        EXPECT_EQ(is_there, 0);
    }(*this));
}

} // namespace fairlead::test
