// Connections of a client's beside the shared one: requests that block, large ones, and leases. In many worlds.
#include <gtest/gtest.h>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/redis/client.hpp>
#include <fairlead/redis/client_statistics.hpp>
#include <fairlead/redis/lease.hpp>
#include <fairlead/redis/optimistic.hpp>
#include <fairlead/redis/unexpected_error.hpp>
#include <sim/redis_scene.hpp>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::test {
namespace {

/// A server of lists, whose BLPOP waits. It notes what each connection said.
class list_server {
public:
    explicit list_server(io_context& c) : context_(c) {}

    awaitable<void> serve() {
        ip::tcp::acceptor acceptor(context_, {ip::tcp::v6(), 6379});
        for (;;) {
            auto accepting = acceptor.async_accept();
            auto socket = std::make_shared<ip::tcp::socket>(co_await std::move(accepting));
            if (refuses)
                continue;
            sockets_.push_back(socket);
            heard.emplace_back();
            co_spawn(context_, answer(*this, socket, heard.size() - 1), detached);
        }
    }
    void cut(std::size_t connection) {
        error_code ec;
        sockets_[connection]->close(ec);
    }
    /// All that the connections have said, in their order: "GET k" and so on, greetings left out.
    std::vector<std::vector<std::string>> heard;
    std::map<std::string, std::deque<std::string>> lists;
    std::size_t open = 0;
    int blocked = 0;
    bool refuses = false; // closes what it has accepted
    std::string refusal;  // the answer to HELLO; empty: none
    std::chrono::milliseconds look_every{1};

private:
    static awaitable<void> answer(list_server& s, std::shared_ptr<ip::tcp::socket> socket, std::size_t number) {
        hand h(*socket);
        ++s.open;
        try {
            if (auto const refusal = s.refusal; !refusal.empty()) {
                auto hello = h.skip(1);
                co_await std::move(hello);
                auto refusing = h.send(refusal);
                co_await std::move(refusing);
                auto draining = h.skip(1);
                co_await std::move(draining);
            }
            auto greeting = h.greet();
            co_await std::move(greeting);
            for (;;) {
                auto reading = h.next();
                auto const words = co_await std::move(reading);
                std::string said = words[0];
                for (std::size_t i = 1; i != words.size(); ++i)
                    said += ' ' + words[i].substr(0, 8);
                s.heard[number].push_back(said);
                auto acting = s.act(h, *socket, words);
                co_await std::move(acting);
            }
        } catch (system_error const&) {
        }
        --s.open;
    }
    awaitable<void> act(hand& h, ip::tcp::socket& socket, command_words const& words) {
        std::string reply = "+OK\r\n";
        if (words[0] == "BLPOP" || words[0] == "XREAD") {
            ++blocked;
            bool is_gone = false;
            auto& list = lists[words[words[0] == "XREAD" ? 4 : 1]];
            while (list.empty() && !is_gone) {
                auto resting = h.rest(look_every);
                co_await std::move(resting);
                is_gone = !socket.is_open();
            }
            --blocked;
            if (is_gone)
                co_return;
            reply = "*2\r\n" + bulk(words[1]) + bulk(list.front());
            list.pop_front();
        } else if (words[0] == "ECHO") {
            reply = bulk(words[1]);
        } else if (words[0] == "GET" && words[1] == "large") {
            reply = bulk(std::string(4 * 1024 * 1024, 'x'));
        } else if (words[0] == "GET") {
            reply = bulk("7");
        } else if (words[0] == "MULTI" || words[0] == "SET") {
            reply = words[0] == "MULTI" ? "+OK\r\n" : "+QUEUED\r\n";
        } else if (words[0] == "EXEC") {
            reply = conflicts-- > 0 ? "_\r\n" : "*1\r\n+OK\r\n";
        }
        auto sending = h.send(std::move(reply));
        co_await std::move(sending);
    }

    io_context& context_;
    std::vector<std::shared_ptr<ip::tcp::socket>> sockets_;

public:
    int conflicts = 0;
};

struct lease_scene : client_host {
    lease_scene(sim::world& w, io_context& c, redis::config_view const& cfg, redis::client_options const& o,
                list_server*& s)
        : client_host(w, c),
          client(std::make_unique<redis::client>(c, cfg, o)),
          server_(s) {}

    list_server& server() const { return *server_; }
    void start() {
        ended.reset();
        client->async_run([this](error_code ec) { ended = ec; });
    }

    std::optional<error_code> ended;
    std::unique_ptr<redis::client> client;

private:
    list_server*& server_;
};

/// A request whose end a test looks at later.
struct lease_call {
    explicit lease_call(auto const&... words) { request.push(words...); }
    lease_call(lease_call const&) = delete;
    lease_call& operator=(lease_call const&) = delete;
    void start(auto& c) { c.async_exec(request, response, noting()); }
    std::function<void(error_code, std::size_t)> noting() {
        return [this](error_code ec, std::size_t) {
            end = ec;
            is_done = true;
        };
    }

    redis::request request;
    redis::generic_response response;
    error_code end = fairlead::error::in_progress;
    bool is_done = false;
};

using lease_body = std::function<awaitable<void>(lease_scene&)>;

awaitable<void> run_lease_scene(sim::world& w, io_context& context, lease_body const& body, list_server*& server,
                                redis::client_options const& options, redis::config_view const& config) {
    lease_scene scene(w, context, config, options, server);
    auto resting = scene.rest(100ms); // until the server listens
    co_await std::move(resting);
    scene.start();
    auto playing = body(scene);
    co_await std::move(playing);
    if (!scene.client)
        co_return;
    scene.client->cancel();
    auto ending = scene.until([&] { return scene.ended.has_value(); });
    co_await std::move(ending);
    EXPECT_EQ(scene.client->pending(), 0U);
}

void use_leases(lease_body const& body, redis::client_options const& options = {},
                redis::config_view const& config = {.address = "10.0.0.1"}) {
    sim::for_each_seed(worlds(), [&](sim::world& w) {
        list_server* server = nullptr;
        std::unique_ptr<list_server> owned;
        auto& redis = w.add_server("redis", [&](sim::host& h) {
            owned = std::make_unique<list_server>(h.context());
            server = owned.get();
            return owned->serve();
        });
        w.add_host("app", [&](sim::host& h) { return run_lease_scene(w, h.context(), body, server, options, config); });
        finish(w);
        redis.kill(); // It refers to what the body owns.
    });
}

std::string text_of(lease_call const& c) {
    std::string all;
    for (auto const& n : c.response)
        if (n.kind == resp3::type::blob_string)
            all.append(all.empty() ? "" : " ").append(n.value);
    return all;
}

TEST(RedisLease, ARequestThatBlocksHoldsUpNobody) {
    use_leases([](lease_scene& s) -> awaitable<void> {
        lease_call pop("BLPOP", "jobs", 0), echo("ECHO", "hello");
        pop.start(*s.client);
        auto blocking = s.until([&s] { return s.server().blocked == 1; });
        co_await std::move(blocking);
        echo.start(*s.client);
        auto echoing = s.until([&] { return echo.is_done; });
        co_await std::move(echoing);
        EXPECT_FALSE(pop.is_done);
        EXPECT_EQ(text_of(echo), "hello");
        EXPECT_EQ(s.client->pending(), 1U);
        s.server().lists["jobs"].push_back("one");
        auto popping = s.until([&] { return pop.is_done; });
        co_await std::move(popping);
        EXPECT_FALSE(pop.end);
        EXPECT_EQ(text_of(pop), "jobs one");
        EXPECT_EQ(s.server().heard.size(), 2U);
        EXPECT_EQ(s.client->traffic().generations, 2U) << "of all connections";
    });
}

TEST(RedisLease, CallersWaitInTheirOrderForOneOfSoManyConnections) {
    use_leases(
        [](lease_scene& s) -> awaitable<void> {
            std::deque<lease_call> pops;
            for (int i = 0; i != 6; ++i)
                pops.emplace_back("BLPOP", "list" + std::to_string(i), 0).start(*s.client);
            auto blocking = s.until([&s] { return s.server().blocked == 2; });
            co_await std::move(blocking);
            auto resting = s.rest(50ms);
            co_await std::move(resting);
            EXPECT_EQ(s.server().blocked, 2);
            EXPECT_EQ(s.client->pending(), 6U);
            for (std::size_t i = 0; i != pops.size(); ++i) {
                s.server().lists["list" + std::to_string(i)].push_back("x");
                auto popping = s.until([&] { return pops[i].is_done; });
                co_await std::move(popping);
                EXPECT_FALSE(pops[i].end);
                for (auto later = i + 1; later != pops.size(); ++later)
                    EXPECT_FALSE(pops[later].is_done);
            }
            EXPECT_EQ(s.server().heard.size(), 3U) << "the shared connection, and two that were used again";
        },
        {.leases_max = 2});
}

TEST(RedisLease, NoMoreWaitForAConnectionThanMayWaitAtAll) {
    use_leases(
        [](lease_scene& s) -> awaitable<void> {
            lease_call first("BLPOP", "a", 0), second("BLPOP", "b", 0), third("BLPOP", "c", 0);
            first.start(*s.client);
            auto blocking = s.until([&s] { return s.server().blocked == 1; });
            co_await std::move(blocking);
            second.start(*s.client);
            third.start(*s.client);
            auto ending = s.until([&] { return third.is_done; });
            co_await std::move(ending);
            EXPECT_EQ(third.end, redis::error::too_many_requests);
            EXPECT_FALSE(first.is_done || second.is_done);
            s.client->cancel(first.request);
            s.client->cancel(second.request);
            auto others = s.until([&] { return first.is_done && second.is_done; });
            co_await std::move(others);
        },
        {.leases_max = 1}, {.address = "10.0.0.1", .requests_max = 1});
}

TEST(RedisLease, ACancelledRequestMakesPlaceForTheNext) {
    use_leases(
        [](lease_scene& s) -> awaitable<void> {
            lease_call first("BLPOP", "a", 0), second("BLPOP", "b", 0), third("BLPOP", "c", 0);
            first.start(*s.client);
            second.start(*s.client);
            third.start(*s.client);
            auto blocking = s.until([&s] { return s.server().blocked == 1; });
            co_await std::move(blocking);
            EXPECT_EQ(s.client->cancel(second.request), 1U);
            EXPECT_EQ(s.client->cancel(first.request), 1U);
            auto ending = s.until([&] { return first.is_done && second.is_done; });
            co_await std::move(ending);
            EXPECT_EQ(first.end, redis::error::maybe_executed);
            EXPECT_EQ(second.end, fairlead::error::operation_aborted);
            s.server().lists["c"].push_back("x");
            auto popping = s.until([&] { return third.is_done; });
            co_await std::move(popping);
            EXPECT_FALSE(third.end);
            EXPECT_EQ(text_of(third), "c x");
            EXPECT_EQ(s.server().heard.size(), 3U) << "the connection that was busy for nobody has been left";
        },
        {.leases_max = 1});
}

/// By a slot and by a limit; while it waits for a connection, and while it is executed.
TEST(RedisLease, TokensEndRequestsThatBlock) {
    use_leases(
        [](lease_scene& s) -> awaitable<void> {
            redis::request forever;
            forever.push("BLPOP", "a", 0);
            redis::generic_response one, two;
            error_code ec, late;
            bool is_late = false;
            s.client->async_exec(forever, one, cancel_after(2s, [&](error_code e, std::size_t) {
                                     late = e;
                                     is_late = true;
                                 }));
            auto limited = s.client->async_exec(forever, two, cancel_after(1s, redirect_error(ec)));
            co_await std::move(limited);
            EXPECT_EQ(ec, fairlead::error::operation_aborted) << "it still waited for a connection";
            auto ending = s.until([&] { return is_late; });
            co_await std::move(ending);
            EXPECT_EQ(late, redis::error::maybe_executed);
        },
        {.leases_max = 1});
}

/// Its time in the server is added only when it goes there.
TEST(RedisLease, ALimitCoversTheWaitForAConnection) {
    use_leases(
        [](lease_scene& s) -> awaitable<void> {
            lease_call first("BLPOP", "a", 0), second("BLPOP", "b", 2), third("ECHO", "large"), last("BLPOP", "b", 0);
            for (auto* const each : {&second, &third, &last})
                each->request.set_timeout(1s);
            third.request.set_apart();
            for (auto* const each : {&first, &second, &third, &last})
                each->start(*s.client);
            auto const begin = s.world.elapsed();
            auto ending = s.until([&] { return second.is_done && third.is_done && last.is_done; });
            co_await std::move(ending);
            for (auto* const each : {&second, &third, &last})
                EXPECT_EQ(each->end, redis::error::not_sent_in_time);
            EXPECT_GE(s.world.elapsed() - begin, 1s);
            EXPECT_LE(s.world.elapsed() - begin, 1100ms);
            EXPECT_FALSE(first.is_done);
            s.server().lists["a"].push_back("x");
            auto popping = s.until([&] { return first.is_done; });
            co_await std::move(popping);
            EXPECT_FALSE(first.end);
        },
        {.leases_max = 1});
}

/// It began with the call, not with the connection.
TEST(RedisLease, ALimitGoesOnWhereTheRequestGoes) {
    use_leases(
        [](lease_scene& s) -> awaitable<void> {
            s.server().look_every = 50ms;
            lease_call first("BLPOP", "a", 0), second("BLPOP", "b", 2);
            second.request.set_timeout(3s);
            first.start(*s.client);
            auto blocking = s.until([&s] { return s.server().blocked == 1; });
            co_await std::move(blocking);
            second.start(*s.client);
            auto const begin = s.world.elapsed();
            auto resting = s.rest(500ms);
            co_await std::move(resting);
            s.server().lists["a"].push_back("x");
            auto ending = s.until([&] { return second.is_done; });
            co_await std::move(ending);
            EXPECT_EQ(second.end, redis::error::no_answer_in_time);
            EXPECT_GE(s.world.elapsed() - begin, 5s) << "the two that it waits in the server are added";
            EXPECT_LE(s.world.elapsed() - begin, 5100ms);
        },
        {.leases_max = 1});
}

/// Where a request may wait in the server for ever, a limit of its own is one of all its time. That of all requests
/// holds until it is there.
TEST(RedisLease, AWaitForEverHasTheLimitThatIsItsOwn) {
    use_leases(
        [](lease_scene& s) -> awaitable<void> {
            s.server().look_every = 50ms;
            lease_call by_default("BLPOP", "a", 0), own("BLPOP", "b", 0), by_token("BLPOP", "c", 0),
                both("BLPOP", "d", 20);
            own.request.set_timeout(3s);
            auto const begin = s.world.elapsed();
            by_default.start(*s.client);
            own.start(*s.client);
            s.client->async_exec(by_token.request, by_token.response, cancel_after(5s, by_token.noting()));
            s.client->async_exec(both.request, both.response, cancel_after(6s, both.noting()));
            auto blocking = s.until([&s] { return s.server().blocked == 4; });
            co_await std::move(blocking);
            auto ending = s.until([&] { return own.is_done; });
            co_await std::move(ending);
            EXPECT_EQ(own.end, redis::error::no_answer_in_time);
            EXPECT_GE(s.world.elapsed() - begin, 3s);
            EXPECT_LE(s.world.elapsed() - begin, 3100ms);
            auto asked = s.until([&] { return by_token.is_done; });
            co_await std::move(asked);
            EXPECT_EQ(by_token.end, redis::error::maybe_executed);
            EXPECT_GE(s.world.elapsed() - begin, 5s);
            EXPECT_LE(s.world.elapsed() - begin, 5100ms);
            auto asked_too = s.until([&] { return both.is_done; });
            co_await std::move(asked_too);
            EXPECT_EQ(both.end, redis::error::maybe_executed) << "its own would be 24 seconds";
            EXPECT_GE(s.world.elapsed() - begin, 6s);
            EXPECT_LE(s.world.elapsed() - begin, 6100ms);
            auto resting = s.rest(10s);
            co_await std::move(resting);
            EXPECT_FALSE(by_default.is_done) << "a wait for ever under a default limit";
            s.server().lists["a"].push_back("x");
            auto popping = s.until([&] { return by_default.is_done; });
            co_await std::move(popping);
            EXPECT_FALSE(by_default.end);
        },
        {}, {.address = "10.0.0.1", .request_timeout = 4s});
}

TEST(RedisLease, ARequestThatBlocksDoesNotWaitForAServerForEver) {
    use_leases(
        [](lease_scene& s) -> awaitable<void> {
            s.server().look_every = 50ms;
            lease_call before("BLPOP", "a", 0), read("XREAD", "BLOCK", 0, "STREAMS", "s", "0-0");
            read.start(*s.client);
            auto blocking = s.until([&s] { return s.server().blocked == 1; });
            co_await std::move(blocking);
            auto resting = s.rest(10s);
            co_await std::move(resting);
            s.server().refuses = true;
            auto const begin = s.world.elapsed();
            for (std::size_t i = 0; i != s.server().heard.size(); ++i)
                s.server().cut(i);
            auto losing = s.until([&] { return !s.client->is_ready(); });
            co_await std::move(losing);
            auto const lost = s.world.elapsed();
            before.start(*s.client);
            auto ending = s.until([&] { return before.is_done && read.is_done; });
            co_await std::move(ending);
            EXPECT_EQ(before.end, redis::error::not_sent_in_time);
            EXPECT_EQ(read.end, redis::error::not_sent_in_time) << "it was to be sent anew";
            EXPECT_GE(s.world.elapsed() - begin, 5s);
            EXPECT_LE(s.world.elapsed() - lost, 8s);
            s.server().refuses = false;
        },
        {}, {.address = "10.0.0.1", .request_timeout = 5s});
}

TEST(RedisLease, OnlyRequestsThatReadAreSentAnew) {
    use_leases([](lease_scene& s) -> awaitable<void> {
        lease_call pop("BLPOP", "a", 0);
        pop.start(*s.client);
        auto popping = s.until([&s] { return s.server().blocked == 1; });
        co_await std::move(popping);
        lease_call read("XREAD", "BLOCK", 0, "STREAMS", "s", "0-0");
        read.start(*s.client);
        auto reading = s.until([&s] { return s.server().blocked == 2; });
        co_await std::move(reading);
        for (std::size_t i = 0; i != s.server().heard.size(); ++i)
            s.server().cut(i);
        auto ending = s.until([&] { return pop.is_done; });
        co_await std::move(ending);
        EXPECT_EQ(pop.end, redis::error::maybe_executed);
        auto again = s.until([&s] { return s.server().blocked == 1; });
        co_await std::move(again);
        s.server().lists["s"].push_back("x");
        auto answered = s.until([&] { return read.is_done; });
        co_await std::move(answered);
        EXPECT_FALSE(read.end);
        EXPECT_EQ(s.client->counters().repeated, 1U);
    });
}

TEST(RedisLease, ALargeValueHasAWayOfItsOwn) {
    use_leases([](lease_scene& s) -> awaitable<void> {
        lease_call large("GET", "large"), small("ECHO", "small");
        large.request.set_apart();
        large.start(*s.client);
        auto sent = s.until([&s] { return s.server().heard.size() == 2 && !s.server().heard[1].empty(); });
        co_await std::move(sent);
        EXPECT_EQ(s.server().heard[1][0], "GET large");
        small.start(*s.client);
        auto ending = s.until([&] { return small.is_done && large.is_done; });
        co_await std::move(ending);
        EXPECT_EQ(s.server().heard[0].front(), "ECHO small");
        EXPECT_EQ(std::ranges::count(s.server().heard[0], "GET large"), 0);
        EXPECT_EQ(text_of(large).size(), 4U * 1024 * 1024);
    });
}

TEST(RedisLease, UnusedConnectionsAreClosed) {
    use_leases(
        [](lease_scene& s) -> awaitable<void> {
            lease_call apart("ECHO", "x");
            apart.request.set_apart();
            for (int round = 0; round != 2; ++round) {
                apart.is_done = false;
                apart.start(*s.client);
                auto ending = s.until([&] { return apart.is_done; });
                co_await std::move(ending);
                EXPECT_FALSE(apart.end);
                auto resting = s.rest(900ms);
                co_await std::move(resting);
                EXPECT_EQ(s.server().open, 2U);
                auto closing = s.until([&s] { return s.server().open == 1; });
                co_await std::move(closing);
            }
            EXPECT_EQ(s.server().heard.size(), 3U);
        },
        {.lease_idle = 1s});
}

TEST(RedisLease, ARequestThatComesAsAnUnusedConnectionIsClosedGetsAnother) {
    use_leases(
        [](lease_scene& s) -> awaitable<void> {
            lease_call first("ECHO", "x"), second("ECHO", "y");
            first.request.set_apart();
            second.request.set_apart();
            steady_timer at_that_moment(s.client->get_executor());
            s.client->async_exec(first.request, first.response, [&](error_code, std::size_t) {
                post(s.client->get_executor(), [&] { // Behind the timer of the unused connection.
                    at_that_moment.expires_after(1s);
                    at_that_moment.async_wait([&](error_code) { second.start(*s.client); });
                });
            });
            auto ending = s.until([&] { return second.is_done; });
            co_await std::move(ending);
            EXPECT_FALSE(second.end) << second.end.message();
            EXPECT_EQ(text_of(second), "y");
        },
        {.leases_max = 1, .lease_idle = 1s});
}

TEST(RedisLease, WithoutAPoolSuchRequestsAreRefused) {
    use_leases(
        [](lease_scene& s) -> awaitable<void> {
            lease_call pop("BLPOP", "a", 0), select("SELECT", 1), wait("WAIT", 1, 0);
            pop.start(*s.client);
            select.start(*s.client);
            wait.start(*s.client);
            auto ending = s.until([&] { return pop.is_done && select.is_done && wait.is_done; });
            co_await std::move(ending);
            EXPECT_EQ(pop.end, redis::error::refused_command);
            EXPECT_EQ(select.end, redis::error::refused_command);
            EXPECT_EQ(wait.end, redis::error::refused_command) << "it would wait for no write";
        },
        {.leases_max = 0});
}

// ---- leases

using said = std::vector<std::string>;

TEST(RedisLease, ALeaseLeavesNothingToTheNextOne) {
    use_leases(
        [](lease_scene& s) -> awaitable<void> {
            {
                auto acquiring = s.client->acquire();
                auto own = co_await std::move(acquiring);
                EXPECT_TRUE(own && own.is_ready());
                auto watching = own.watch({"k"});
                co_await std::move(watching);
            }
            {
                auto acquiring = s.client->acquire();
                auto own = co_await std::move(acquiring);
                EXPECT_EQ(s.server().heard[1], (said{"WATCH k", "UNWATCH"}));
                redis::request multi;
                multi.push("MULTI");
                auto opening = own.async_exec(multi, redis::ignore);
                co_await std::move(opening);
            }
            auto acquiring = s.client->acquire();
            auto own = co_await std::move(acquiring);
            EXPECT_EQ(s.server().heard.size(), 3U) << "with the open transaction its connection has ended";
            EXPECT_EQ(s.server().heard[1].back(), "MULTI");
            redis::request select;
            select.push("SELECT", 1);
            auto selecting = own.async_exec(select, redis::ignore);
            co_await std::move(selecting);
            own = redis::lease();
            auto once_more = s.client->acquire();
            auto last = co_await std::move(once_more);
            auto asking = last.get("k");
            EXPECT_EQ(co_await std::move(asking), "7");
            EXPECT_EQ(s.server().heard.size(), 4U);
            last = redis::lease();
            auto again = s.client->acquire();
            auto unused = co_await std::move(again);
            EXPECT_EQ(s.server().heard.back(), (said{"GET k"})) << "what changes nothing needs no clean-up";
            redis::request name;
            name.push("CLIENT", "SETNAME", "mine");
            auto naming = unused.async_exec(name, redis::ignore);
            co_await std::move(naming);
            unused = redis::lease();
            auto nameless = s.client->acquire();
            auto const other = co_await std::move(nameless);
            EXPECT_EQ(s.server().heard.size(), 5U) << "it would have the name of the one before";
        },
        {.leases_max = 1});
}

/// Its reply would open a transaction for whoever comes next.
TEST(RedisLease, AMultiThatWasGivenUpCostsTheConnection) {
    use_leases(
        [](lease_scene& s) -> awaitable<void> {
            auto acquiring = s.client->acquire();
            auto own = co_await std::move(acquiring);
            auto const first = s.server().heard.size();
            lease_call pop("BLPOP", "a", 0), multi("MULTI");
            pop.start(own);
            multi.start(own);
            auto blocking = s.until([&s] { return s.server().blocked == 1; });
            co_await std::move(blocking);
            s.client->cancel(pop.request);
            s.client->cancel(multi.request);
            auto ending = s.until([&] { return pop.is_done && multi.is_done; });
            co_await std::move(ending);
            own = redis::lease();
            auto once_more = s.client->acquire();
            own = co_await std::move(once_more);
            EXPECT_EQ(s.server().heard.size(), first + 1);
        },
        {.leases_max = 1});
}

TEST(RedisLease, AConnectionThatTheServerRefusesIsToldOf) {
    std::uint64_t told = 0;
    redis::client_options options{.pause_max = 500ms};
    options.on_event = [&told](redis::client_event const& e) {
        if (e.kind != redis::event_kind::lease_failed)
            return;
        ++told;
        EXPECT_EQ(e.why, redis::error::hello_refused);
        EXPECT_EQ(e.server_text, "ERR max number of clients reached");
        EXPECT_EQ(e.attempt, told);
    };
    use_leases(
        [&told](lease_scene& s) -> awaitable<void> {
            told = 0;
            auto being_ready = s.until([&s] { return s.client->is_ready(); });
            co_await std::move(being_ready);
            s.server().refusal = "-ERR max number of clients reached\r\n";
            std::string what;
            try {
                auto acquiring = s.client->acquire();
                co_await std::move(acquiring);
            } catch (system_error const& e) {
                EXPECT_EQ(e.code(), redis::error::not_sent_in_time);
                what = e.what();
            }
            EXPECT_TRUE(what.starts_with("redis lease (no connection: ERR max number of clients reached): ")) << what;
            EXPECT_GE(told, 1U);
            std::string events;
            try {
                auto popping = s.client->within(1s).blpop({"a"}, redis::options::for_ever);
                co_await std::move(popping);
            } catch (redis::unexpected_error const& e) {
                EXPECT_EQ(e.code(), redis::error::not_sent_in_time);
                events = e.recent_events();
            }
            EXPECT_NE(events.find("ended: "), std::string::npos) << events;
            EXPECT_EQ(s.client->counters().leases_failed, told);
            EXPECT_EQ(s.client->counters().failed, 0U) << "the shared one is well";
            auto const page = redis::to_prometheus(s.client->statistics());
            EXPECT_NE(page.find("\nfairlead_redis_leases_failed_total " + std::to_string(told) + "\n"),
                      std::string::npos)
                << page;
            s.server().refusal.clear();
            auto once_more = s.client->acquire();
            auto const own = co_await std::move(once_more);
            EXPECT_TRUE(own);
        },
        options, {.address = "10.0.0.1", .request_timeout = 5s});
}

TEST(RedisLease, ALeaseDoesNotReconnect) {
    use_leases(
        [](lease_scene& s) -> awaitable<void> {
            auto acquiring = s.client->acquire();
            auto own = co_await std::move(acquiring);
            lease_call pop("BLPOP", "a", 0), before("ECHO", "x"), after("ECHO", "y");
            pop.start(own);
            before.start(own);
            auto blocking = s.until([&s] { return s.server().blocked == 1; });
            co_await std::move(blocking);
            s.server().cut(1);
            auto ending = s.until([&] { return pop.is_done && before.is_done && !own.is_ready(); });
            co_await std::move(ending);
            EXPECT_EQ(pop.end, redis::error::maybe_executed);
            EXPECT_TRUE(before.end == redis::error::maybe_executed || before.end == redis::error::not_sent);
            after.start(own);
            auto refusing = s.until([&] { return after.is_done; });
            co_await std::move(refusing);
            EXPECT_EQ(after.end, redis::error::not_connected);
            std::string events;
            try {
                auto too_late = own.get("k");
                co_await std::move(too_late);
            } catch (redis::unexpected_error const& e) {
                events = e.recent_events();
            }
            EXPECT_NE(events.find("ready, RESP3"), std::string::npos) << events;
            EXPECT_NE(events.find("ended: "), std::string::npos) << events;
            own = redis::lease();
            auto once_more = s.client->acquire();
            own = co_await std::move(once_more);
            auto asking = own.get("k");
            EXPECT_EQ(co_await std::move(asking), "7");
        },
        {.leases_max = 1});
}

TEST(RedisLease, ALeaseMayOutliveItsClient) {
    use_leases([](lease_scene& s) -> awaitable<void> {
        auto acquiring = s.client->acquire();
        auto own = co_await std::move(acquiring);
        lease_call pop("BLPOP", "a", 0), waiting("BLPOP", "b", 0), after("ECHO", "y");
        pop.start(own);
        waiting.start(*s.client);
        auto blocking = s.until([&s] { return s.server().blocked == 2; });
        co_await std::move(blocking);
        s.client.reset();
        auto ending = s.until([&] { return pop.is_done && waiting.is_done && s.ended; });
        co_await std::move(ending);
        EXPECT_EQ(pop.end, redis::error::maybe_executed);
        EXPECT_EQ(waiting.end, redis::error::maybe_executed);
        after.start(own);
        auto refusing = s.until([&] { return after.is_done; });
        co_await std::move(refusing);
        EXPECT_TRUE(after.end);
    });
}

TEST(RedisLease, CancellingAClientEndsAllThatWait) {
    use_leases(
        [](lease_scene& s) -> awaitable<void> {
            lease_call first("BLPOP", "a", 0), second("BLPOP", "b", 0);
            first.start(*s.client);
            second.start(*s.client);
            auto blocking = s.until([&s] { return s.server().blocked == 1; });
            co_await std::move(blocking);
            error_code why;
            bool is_over = false;
            co_spawn(s.context, s.client->acquire(), [&](std::exception_ptr e, redis::lease) {
                is_over = true;
                try {
                    if (e)
                        std::rethrow_exception(e);
                } catch (system_error const& x) {
                    why = x.code();
                }
            });
            auto resting = s.rest(10ms);
            co_await std::move(resting);
            s.client->cancel();
            auto ending = s.until([&] { return first.is_done && second.is_done && is_over && s.ended; });
            co_await std::move(ending);
            EXPECT_EQ(first.end, redis::error::maybe_executed);
            EXPECT_EQ(second.end, fairlead::error::operation_aborted);
            EXPECT_EQ(why, fairlead::error::operation_aborted);
            s.start(); // and the pool works again
            lease_call third("BLPOP", "c", 0);
            third.start(*s.client);
            s.server().lists["c"].push_back("x");
            auto popping = s.until([&] { return third.is_done; });
            co_await std::move(popping);
            EXPECT_FALSE(third.end);
        },
        {.leases_max = 1});
}

TEST(RedisLease, AnOptimisticTransactionBeginsAnewAfterAConflict) {
    use_leases([](lease_scene& s) -> awaitable<void> {
        using set_one = decltype(redis::transaction(redis::cmd::set("k", 1)));
        int calls = 0;
        auto body = [&calls](redis::lease& own) -> awaitable<std::optional<set_one>> {
            ++calls;
            auto reading = own.get<int>("k");
            auto const now = co_await std::move(reading);
            if (calls == 10)
                co_return std::nullopt;
            co_return redis::transaction(redis::cmd::set("k", now.value_or(0) + 1));
        };
        s.server().conflicts = 2;
        auto changing = redis::optimistic(*s.client, {"k"}, body);
        auto const outcome = co_await std::move(changing);
        EXPECT_TRUE(outcome.has_value());
        EXPECT_EQ(calls, 3);
        said const one{"WATCH k", "GET k", "MULTI", "SET k 8", "EXEC"};
        said all;
        for (int i = 0; i != 3; ++i)
            all.insert(all.end(), one.begin(), one.end());
        all.push_back("UNWATCH");
        auto cleaning = s.until([&] { return s.server().heard[1].size() == all.size(); });
        co_await std::move(cleaning);
        EXPECT_EQ(s.server().heard[1], all);

        s.server().conflicts = 3;
        error_code ec;
        auto failing = redis::optimistic(*s.client, {"k"}, body, 3);
        try {
            co_await std::move(failing);
        } catch (system_error const& e) {
            ec = e.code();
        }
        EXPECT_EQ(ec, redis::error::watched_key_changed);
        EXPECT_EQ(ec, redis::condition::not_executed);
        calls = 9;
        auto leaving = redis::optimistic(*s.client, {"k"}, body);
        auto const nothing = co_await std::move(leaving);
        EXPECT_FALSE(nothing.has_value());
    });
}

/// The first command of a transaction, with at most eight bytes of each argument.
awaitable<std::string> first_command_of(lease_scene& s, awaitable<redis::transaction_result<bool>> changing) {
    for (auto& connection : s.server().heard)
        connection.clear();
    auto const outcome = co_await std::move(changing);
    EXPECT_TRUE(outcome.has_value());
    for (auto const& connection : s.server().heard)
        for (auto const& command : connection)
            if (command != "UNWATCH") // of the one before
                co_return command;
    co_return "";
}

TEST(RedisLease, KeysOfAnOptimisticTransactionAreAnyRangeAndAreCopied) {
    use_leases([](lease_scene& s) -> awaitable<void> {
        using set_one = decltype(redis::transaction(redis::cmd::set("k", 1)));
        auto body = [](redis::lease&) -> awaitable<set_one> { co_return redis::transaction(redis::cmd::set("k", 1)); };
        auto& db = *s.client;
        std::vector<std::string> keys{"a", "b c", std::string(100, 'd')};
        auto of_vector = redis::optimistic(db, keys, body);
        keys.assign({"x", "y", std::string(100, 'z')}); // before anything was sent
        auto first = first_command_of(s, std::move(of_vector));
        auto const vector = co_await std::move(first);
        EXPECT_EQ(vector, "WATCH a b c dddddddd");
        std::string_view const views[] = {"a", "b", "c"};
        auto second = first_command_of(s, redis::optimistic(db, std::span(views).first(2), body));
        auto const span = co_await std::move(second);
        EXPECT_EQ(span, "WATCH a b");
        auto third = first_command_of(s, redis::optimistic(db, std::vector<std::string>{"a"}, body));
        auto const temporary = co_await std::move(third);
        EXPECT_EQ(temporary, "WATCH a");
        auto fourth = first_command_of(s, redis::optimistic(db, std::set<std::string>{"b", "a"}, body));
        auto const set = co_await std::move(fourth);
        EXPECT_EQ(set, "WATCH a b");
        auto fifth = first_command_of(s, redis::optimistic(db, "a", body));
        auto const one = co_await std::move(fifth);
        EXPECT_EQ(one, "WATCH a");
        auto sixth = first_command_of(s, redis::optimistic(db, std::vector<std::string>(), body));
        auto const none = co_await std::move(sixth);
        EXPECT_EQ(none, "MULTI") << "there is nothing to watch";
    });
}

} // namespace
} // namespace fairlead::test
