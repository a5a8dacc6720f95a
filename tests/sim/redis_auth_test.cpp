// Credentials that change while connections go on.
#include <gtest/gtest.h>

#include <sim/redis_typed_scene.hpp>

#include <fairlead/redis/lease.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace fairlead::test {
namespace {

/// It writes down all that comes on its connections, each with its number, and refuses the password "wrong".
struct auth_server {
    std::vector<std::vector<std::string>> heard; // by connection

    script play() {
        return [this](hand& h, int generation) -> awaitable<void> {
            auto const n = static_cast<std::size_t>(generation);
            if (n == 0)
                heard.clear();
            heard.resize(std::max(heard.size(), n + 1));
            bool is_queued = false;
            for (;;) {
                auto reading = h.next();
                auto const words = co_await std::move(reading);
                heard[n].push_back(line_of(words));
                std::string reply = bulk(words.back());
                if (words[0] == "HELLO")
                    reply = "%1\r\n+proto\r\n:3\r\n";
                else if (words[0] == "AUTH")
                    reply = is_queued                 ? "+QUEUED\r\n"
                            : words.back() == "wrong" ? "-WRONGPASS invalid username-password pair\r\n"
                                                      : "+OK\r\n";
                else if (words[0] == "MULTI")
                    is_queued = true, reply = "+OK\r\n";
                else if (words[0] == "EXEC")
                    is_queued = false, reply = "*0\r\n";
                else if (is_queued)
                    reply = "+QUEUED\r\n";
                auto answering = h.send(std::move(reply));
                co_await std::move(answering);
            }
        };
    }
    std::size_t count(std::size_t connection, std::string_view line) const {
        return static_cast<std::size_t>(std::ranges::count(heard.at(connection), line));
    }
};

struct rotation {
    int asked = 0;
    std::string next_password{};
    std::vector<redis::event_kind> told;
    std::string text;
    error_code why;

    redis::client_options options(std::chrono::milliseconds valid_for = 0ms) {
        return {.pause_min = 5ms,
                .pause_max = 20ms,
                .ask_credentials = [this, valid_for]() -> redis::credentials {
                    ++asked;
                    if (next_password == "none")
                        throw std::runtime_error("the vault is closed");
                    return {"me", next_password.empty() ? "p" + std::to_string(asked) : next_password, valid_for};
                },
                .on_event =
                    [this](redis::client_event const& e) {
                        if (e.kind == redis::event_kind::renewed || e.kind == redis::event_kind::not_renewed) {
                            told.push_back(e.kind);
                            text = e.server_text;
                            why = e.why;
                        }
                    }};
    }
    /// In another world.
    void begin() {
        next_password.clear();
        told.clear();
    }
    std::string auth(int more) const { return "AUTH me p" + std::to_string(asked + more); }
};

TEST(RedisCredentials, AreRenewedInTheOrderOfTheCallsWithoutANewConnection) {
    auth_server server;
    rotation r;
    play_typed(
        server.play(),
        [&](typed_scene& s) -> awaitable<void> {
            r.begin();
            auto first = s.db.get("first");
            co_await std::move(first);
            auto const hello = "HELLO 3 " + r.auth(0), second = r.auth(1), fourth = r.auth(3);
            int done = 0;
            auto const count = [&done](error_code ec, auto&&) { done += !ec; };
            s.db.async_exec(redis::cmd::get("before"), count);
            s.db.renew_credentials();
            s.db.async_exec(redis::cmd::get("behind"), count);
            auto ending = s.until([&] { return done == 2 && !r.told.empty(); });
            co_await std::move(ending);
            EXPECT_EQ(server.heard.at(0),
                      (std::vector<std::string>{hello, "GET first", "GET before", second, "GET behind"}));
            EXPECT_EQ(r.told, std::vector{redis::event_kind::renewed});
            EXPECT_EQ(s.db.counters().renewed, 1U);
            EXPECT_EQ(s.db.counters().attempts, 1U);
            s.db.renew_credentials();
            s.db.renew_credentials(); // The answer to the first is still due.
            auto again = s.until([&] { return r.told.size() == 3; });
            co_await std::move(again);
            EXPECT_EQ(server.heard.at(0).back(), fourth);
        },
        {.address = "10.0.0.1"}, true, r.options());
}

TEST(RedisCredentials, AreAskedForAgainWhenTheirTimeIsOver) {
    auth_server server;
    rotation r;
    play_typed(
        server.play(),
        [&](typed_scene& s) -> awaitable<void> {
            r.begin();
            auto first = s.db.get("first");
            co_await std::move(first);
            auto const asked = r.asked;
            auto const second = r.auth(1), third = r.auth(2);
            auto resting = s.rest(3'500ms);
            co_await std::move(resting);
            EXPECT_GE(r.asked, asked + 3);
            EXPECT_LE(r.asked, asked + 4);
            EXPECT_EQ(server.count(0, second), 1U);
            EXPECT_EQ(server.count(0, third), 1U);
            EXPECT_EQ(s.db.counters().attempts, 1U);
            r.next_password = "none";
            auto waiting = s.until([&] { return r.told.back() == redis::event_kind::not_renewed; });
            co_await std::move(waiting);
            EXPECT_EQ(r.why, redis::error::credentials_failed);
            r.next_password = "other";
            auto again = s.until([&] { return r.told.back() == redis::event_kind::renewed; });
            co_await std::move(again);
            EXPECT_EQ(server.heard.at(0).back(), "AUTH me other");
        },
        {.address = "10.0.0.1"}, true, r.options(1s));
}

TEST(RedisCredentials, ThatAreRefusedLeaveTheOldOnesInForce) {
    auth_server server;
    rotation r;
    play_typed(
        server.play(),
        [&](typed_scene& s) -> awaitable<void> {
            r.begin();
            auto first = s.db.get("first");
            co_await std::move(first);
            r.next_password = "wrong";
            s.db.renew_credentials();
            auto waiting = s.until([&] { return !r.told.empty(); });
            co_await std::move(waiting);
            EXPECT_EQ(r.told, std::vector{redis::event_kind::not_renewed});
            EXPECT_EQ(r.why, redis::error::auth_refused);
            EXPECT_TRUE(r.text.starts_with("WRONGPASS")) << r.text;
            EXPECT_EQ(s.db.counters().not_renewed, 1U);
            auto after = s.db.get("after");
            auto const value = co_await std::move(after);
            EXPECT_EQ(value, "after");
            EXPECT_EQ(s.db.counters().lost, 0U);
            r.next_password.clear();
        },
        {.address = "10.0.0.1"}, true, r.options());
}

TEST(RedisCredentials, ALeaseGetsThemOutsideItsTransactions) {
    auth_server server;
    rotation r;
    play_typed(
        server.play(),
        [&](typed_scene& s) -> awaitable<void> {
            r.begin();
            r.next_password = "old";
            auto taking = s.db.acquire();
            auto own = co_await std::move(taking);
            auto first = own.get("first");
            co_await std::move(first);
            r.next_password = "new";
            s.db.renew_credentials();
            auto sent = s.until([&] { return server.count(1, "AUTH me new") == 1; });
            co_await std::move(sent);
            redis::request multi, one, exec;
            multi.push("MULTI");
            one.push("INCR", "n");
            exec.push("EXEC");
            auto opening = own.async_exec(multi, redis::ignore);
            co_await std::move(opening);
            r.next_password = "newest";
            s.db.renew_credentials();
            auto shared = s.until([&] { return server.count(0, "AUTH me newest") == 1; });
            co_await std::move(shared);
            auto queueing = own.async_exec(one, redis::ignore);
            co_await std::move(queueing);
            EXPECT_EQ(server.count(1, "AUTH me newest"), 0U) << "it would be queued";
            auto closing = own.async_exec(exec, redis::ignore);
            co_await std::move(closing);
            auto behind = s.until([&] { return server.count(1, "AUTH me newest") == 1; });
            co_await std::move(behind);
            auto last = own.get("last");
            auto const value = co_await std::move(last);
            EXPECT_EQ(value, "last");
            own = redis::lease();
            auto resting = s.rest(3s); // It forgets what was watched.
            co_await std::move(resting);
            auto blocking = s.db.blpop("jobs", 1s); // on the same connection, which is free again
            try {
                co_await std::move(blocking);
            } catch (system_error const&) { // The answer of this server is no pair.
            }
            EXPECT_EQ(server.heard.size(), 2U);
            r.next_password = "last";
            s.db.renew_credentials();
            auto free = s.until([&] { return server.count(1, "AUTH me last") == 1; });
            co_await std::move(free);
            r.next_password.clear();
        },
        {.address = "10.0.0.1"}, true, r.options());
}

} // namespace
} // namespace fairlead::test
