// The connection over loopback sockets: against the embedded server, and against servers that misbehave.

#include "redis_peer.hpp"

#include <fairlead/net/timer.hpp>
#include <fairlead/redis_server/server.hpp>
#include <fairlead/token/post.hpp>
#include <fairlead/token/use_future.hpp>

#include <support/scale.hpp>

#include <unistd.h>

#include <cerrno>
#include <deque>
#include <future>
#include <memory>
#include <optional>
#include <thread>

namespace fairlead::test {

using R = redis::error;

namespace {

redis::config config_for(std::string address) {
    redis::config cfg;
    cfg.address = std::move(address);
    return cfg;
}

/// Loopback TCP or a UNIX socket.
class RedisConnection : public testing::TestWithParam<bool> {
protected:
    RedisConnection() { start({}); }
    void start(redis::server_options options) {
        server_.reset();
        if (GetParam()) {
            path_ = "redis_connection_test." + std::to_string(::getpid());
            ::unlink(path_.c_str());
            options.unix_path = path_;
            options.host.clear();
        }
        server_.emplace(ctx_, std::move(options));
        cfg_ = config_for(server_->address());
    }
    ~RedisConnection() override {
        if (!path_.empty())
            ::unlink(path_.c_str());
    }
    /// Runs until `conn` and the server have ended.
    void run() { run_all(ctx_); }

    std::string path_;
    io_context ctx_;
    std::optional<redis::server> server_;
    redis::config cfg_;
};

struct crowd {
    redis::connection& conn;
    redis::server& server;
    int left;
};

awaitable<void> echo_many(crowd& all, int id, int commands) {
    redis::request req;
    std::string reply;
    for (int i = 0; i != commands; ++i) {
        auto const token = std::to_string(id) + ":" + std::to_string(i);
        req.clear();
        req.push("ECHO", token);
        co_await all.conn.async_exec(req, reply);
        EXPECT_EQ(reply, token);
    }
    if (--all.left == 0) {
        all.conn.cancel();
        all.server.stop();
    }
}

} // namespace

TEST_P(RedisConnection, AThousandCallersShareOneConnectionAndEachGetsItsOwnReplies) {
    redis::connection conn(ctx_);
    outcome ran;
    conn.async_run(cfg_, ran.handler());
    constexpr int callers = 1000;
    constexpr int commands = 20;
    crowd all{conn, *server_, callers};
    for (int id = 0; id != callers; ++id)
        co_spawn(ctx_, echo_many(all, id, commands), rethrow_to_test{});
    run();
    EXPECT_EQ(all.left, 0);
    EXPECT_EQ(ran.ec, fairlead::error::operation_aborted);
    auto const c = conn.counters();
    EXPECT_EQ(c.commands, static_cast<std::uint64_t>(callers * commands));
    EXPECT_LT(c.writes, c.commands / 50) << "the commands of one turn go out in one write";
    EXPECT_EQ(c.replies_dropped, 0U);
}

namespace {

awaitable<void> use_all_kinds_of_responses(redis::connection& conn, redis::server& server) {
    redis::request req;
    req.push("SET", "text", "hello");
    req.push("INCRBY", "number", 41);
    req.push("HSET", "hash", "a", 1, "b", 2);
    req.push("HGETALL", "hash");
    req.push("GET", "missing");
    req.push("LPUSH", "text", 1);
    redis::response<redis::ignore_t, long, long, std::map<std::string, int>, std::optional<std::string>, long> resp;
    auto const bytes = co_await conn.async_exec(req, resp);
    EXPECT_GT(bytes, 0U);
    EXPECT_TRUE(std::get<0>(resp).has_value());
    EXPECT_EQ(std::get<1>(resp).value(), 41);
    EXPECT_EQ(std::get<3>(resp).value(), (std::map<std::string, int>{{"a", 1}, {"b", 2}}));
    EXPECT_EQ(std::get<4>(resp).value(), std::nullopt);
    EXPECT_TRUE(std::get<5>(resp).error_text().starts_with("WRONGTYPE"));

    redis::request one;
    one.push("GET", "text");
    std::string text;
    co_await conn.async_exec(one, text);
    EXPECT_EQ(text, "hello");

    redis::generic_response all;
    co_await conn.async_exec(req, all);
    EXPECT_EQ(all.messages(), 6U);

    auto [ignored_ec, ignored_n] = co_await conn.async_exec(req, redis::ignore, as_tuple);
    EXPECT_EQ(ignored_ec, R::wrong_type) << "what is ignored may still have been refused";

    int number = 0;
    auto [ec, n] = co_await conn.async_exec(one, number, as_tuple);
    EXPECT_EQ(ec, resp3::error::not_an_integer);
    redis::response<std::string, std::string> too_many;
    auto [mismatch, none] = co_await conn.async_exec(one, too_many, as_tuple);
    EXPECT_EQ(mismatch, R::response_mismatch);

    redis::request nothing;
    auto [empty, zero] = co_await conn.async_exec(nothing, redis::ignore, as_tuple);
    EXPECT_EQ(empty, error_code());
    conn.cancel();
    server.stop();
}

} // namespace

TEST_P(RedisConnection, RepliesGoIntoEveryKindOfResponse) {
    redis::connection conn(ctx_);
    outcome ran;
    conn.async_run(cfg_, ran.handler());
    co_spawn(ctx_, use_all_kinds_of_responses(conn, *server_), rethrow_to_test{});
    run();
    EXPECT_EQ(ran.times, 1);
}

TEST_P(RedisConnection, WorksWithEveryToken) {
    redis::connection conn(ctx_);
    outcome ran;
    auto later_run = conn.async_run(cfg_, deferred);
    std::move(later_run)(ran.handler());

    redis::request req;
    req.push("INCR", "n");
    int values[5] = {};
    outcome called;
    conn.async_exec(req, values[0], called.handler());
    auto future = conn.async_exec(req, values[1], use_future);
    auto later = conn.async_exec(req, values[2], deferred);
    outcome deferred_call;
    std::move(later)(deferred_call.handler());
    conn.async_exec(req, values[3], detached);
    error_code ec;
    conn.async_exec(req, values[4],
                    redirect_error(
                        [&](std::size_t) {
                            conn.cancel();
                            server_->stop();
                        },
                        ec));
    run();
    EXPECT_EQ(future.get(), 1U);
    EXPECT_EQ(called.times, 1);
    EXPECT_EQ(deferred_call.times, 1);
    for (int i = 0; i != 5; ++i)
        EXPECT_EQ(values[i], i + 1);
}

TEST_P(RedisConnection, RequestsWaitForTheConnectionUnlessToldNotTo) {
    redis::connection conn(ctx_);
    redis::request req;
    req.push("PING");
    std::string early;
    outcome early_call;
    conn.async_exec(req, early, early_call.handler());
    EXPECT_EQ(conn.pending(), 1U) << "what was started counts at once";
    outcome ran;
    conn.async_run(cfg_, ran.handler());
    steady_timer soon(ctx_, std::chrono::milliseconds(50));
    soon.async_wait([&](error_code) {
        conn.cancel();
        server_->stop();
    });
    run();
    EXPECT_EQ(early, "PONG");

    redis::connection strict(ctx_);
    cfg_.cancel_if_not_connected = true;
    strict.async_run(cfg_, ran.handler());
    outcome refused;
    strict.async_exec(req, early, refused.handler());
    strict.cancel();
    run();
    EXPECT_EQ(refused.ec, R::not_connected);
    EXPECT_EQ(refused.times, 1);
}

TEST_P(RedisConnection, UnfitCommandsAreRefusedBeforeAnythingIsSent) {
    redis::connection conn(ctx_);
    outcome ran;
    conn.async_run(cfg_, ran.handler());
    redis::request monitor, blocking, fine;
    monitor.push("PING");
    monitor.push("monitor");
    blocking.push("BLPOP", "queue", 0);
    fine.push("PING");
    outcome a, b, c;
    std::string pong;
    conn.async_exec(monitor, redis::ignore, a.handler());
    conn.async_exec(blocking, redis::ignore, b.handler());
    conn.async_exec(fine, pong, [&](error_code ec, std::size_t) {
        c.ec = ec;
        conn.cancel();
        server_->stop();
    });
    run();
    EXPECT_EQ(a.ec, R::refused_command);
    EXPECT_EQ(b.ec, R::refused_command);
    EXPECT_EQ(c.ec, error_code());
    EXPECT_EQ(server_->commands_run(), 2U) << "HELLO and PING";
}

namespace {

awaitable<void> watch_and_select(redis::connection& conn, redis::server& server) {
    redis::request req;
    req.push("SELECT", 2);
    req.push("WATCH", "k");
    redis::generic_response all;
    co_await conn.async_exec(req, all);
    EXPECT_EQ(all.messages(), 2U);
    conn.cancel();
    server.stop();
}

} // namespace

TEST_P(RedisConnection, ADedicatedConnectionMayChangeItsState) {
    redis::connection conn(ctx_);
    outcome ran;
    cfg_.dedicated = true;
    conn.async_run(cfg_, ran.handler());
    co_spawn(ctx_, watch_and_select(conn, *server_), rethrow_to_test{});
    run();
}

namespace {

awaitable<void> subscribe_and_count(redis::connection& subscriber, redis::connection& publisher, int count,
                                    int& received) {
    redis::request subscribe;
    subscribe.push("subscribe", "news", "sport");
    co_await subscriber.async_exec(subscribe, redis::ignore);
    redis::generic_response pushes;
    co_await subscriber.async_receive(pushes);
    EXPECT_EQ(pushes.messages(), 2U) << "the confirmations of both channels";

    redis::request publish;
    for (int i = 0; i != count; ++i)
        publish.push("PUBLISH", "news", i);
    publisher.async_exec(publish, redis::ignore, detached);
    redis::request ping;
    ping.push("PING");
    std::string pong;
    while (received != count) {
        co_await subscriber.async_receive(pushes);
        for (auto const n : pushes) {
            if (n.depth == 1 && n.last) {
                EXPECT_EQ(n.value, std::to_string(received));
                ++received;
            }
        }
        co_await subscriber.async_exec(ping, pong);
        EXPECT_EQ(pong, "PONG");
    }
}

} // namespace

TEST_P(RedisConnection, PushesAreDeliveredInOrderWhileRepliesFlow) {
    redis::connection subscriber(ctx_), publisher(ctx_);
    outcome ran, ran_too;
    subscriber.async_run(cfg_, ran.handler());
    publisher.async_run(cfg_, ran_too.handler());
    int received = 0;
    co_spawn(ctx_, subscribe_and_count(subscriber, publisher, 5000, received), [&](std::exception_ptr e) {
        rethrow_to_test{}(e);
        subscriber.cancel();
        publisher.cancel();
        server_->stop();
    });
    run();
    EXPECT_EQ(received, 5000);
    EXPECT_EQ(subscriber.counters().pushes_dropped, 0U);
}

TEST_P(RedisConnection, ACancelledRequestLeavesTheOthersTheirReplies) {
    redis::connection conn(ctx_);
    outcome ran;
    conn.async_run(cfg_, ran.handler());
    std::deque<redis::request> requests(100);
    std::deque<std::string> replies(100);
    std::deque<outcome> outcomes(100);
    std::size_t left = requests.size();
    for (std::size_t i = 0; i != requests.size(); ++i) {
        requests[i].push("ECHO", i);
        conn.async_exec(requests[i], replies[i], [&, i](error_code ec, std::size_t) {
            outcomes[i].ec = ec;
            ++outcomes[i].times;
            // Each reply gives up a later one: some of these have been written, all share one write.
            if (i + 7 < requests.size() && !ec)
                conn.cancel(requests[i + 7]);
            if (--left == 0) {
                conn.cancel();
                server_->stop();
            }
        });
    }
    run();
    EXPECT_EQ(left, 0U);
    for (std::size_t i = 0; i != requests.size(); ++i) {
        EXPECT_EQ(outcomes[i].times, 1);
        if (!outcomes[i].ec)
            EXPECT_EQ(replies[i], std::to_string(i));
        else
            EXPECT_EQ(outcomes[i].ec, R::maybe_executed);
    }
}

namespace {

awaitable<void> lose_and_return(redis::connection& conn, redis::server& server, redis::config const& cfg) {
    redis::request req;
    req.push("PING");
    std::string pong;
    for (int generation = 1; generation != 4; ++generation) {
        outcome ran;
        conn.async_run(cfg, ran.handler());
        co_await conn.async_exec(req, pong);
        EXPECT_EQ(pong, "PONG");
        EXPECT_EQ(conn.counters().generations, static_cast<std::uint64_t>(generation));
        // The second one is written, and its reply, if any, is lost with the connection.
        outcome lost;
        std::string unanswered = "untouched";
        conn.async_exec(req, unanswered, lost.handler());
        server.disconnect_clients();
        while (ran.times == 0 || lost.times == 0)
            co_await this_coro::yield();
        EXPECT_TRUE(ran.ec) << "async_run never ends without a reason";
        EXPECT_TRUE(lost.ec == R::maybe_executed || lost.ec == R::not_sent) << lost.ec.message();
        EXPECT_EQ(unanswered, "untouched");
        EXPECT_FALSE(conn.is_ready());
    }
    server.stop();
}

} // namespace

TEST_P(RedisConnection, ALostConnectionFailsWhatIsPendingAndCanBeRunAgain) {
    redis::connection conn(ctx_);
    co_spawn(ctx_, lose_and_return(conn, *server_, cfg_), rethrow_to_test{});
    run();
}

TEST_P(RedisConnection, RefusedCredentialsMeanThatNoUserCommandWasSent) {
    redis::server_options options;
    options.engine.password = "secret";
    start(options);
    redis::request req;
    req.push("PING");
    for (std::string password : {"", "wrong"}) {
        redis::connection conn(ctx_);
        cfg_.password = password;
        outcome ran, called;
        auto const before = server_->commands_run();
        conn.async_run(cfg_, ran.handler());
        conn.async_exec(req, redis::ignore, called.handler());
        while (ran.times == 0 || called.times == 0)
            ctx_.run_one_for(std::chrono::seconds(10));
        EXPECT_EQ(ran.ec, R::auth_refused);
        EXPECT_FALSE(conn.server_text().empty());
        EXPECT_EQ(called.ec, R::not_sent);
        EXPECT_LE(server_->commands_run() - before, 1U) << "HELLO only";
    }
    redis::connection conn(ctx_);
    cfg_.password = "secret";
    cfg_.client_name = "tester";
    cfg_.database = 5;
    outcome ran, called;
    conn.async_run(cfg_, ran.handler());
    redis::request info;
    info.push("CLIENT", "GETNAME");
    std::string name;
    conn.async_exec(info, name, [&](error_code ec, std::size_t) {
        called.ec = ec;
        conn.cancel();
        server_->stop();
    });
    run();
    EXPECT_EQ(called.ec, error_code());
    EXPECT_EQ(name, "tester");
}

namespace {

awaitable<void> pass_large_values(redis::connection& conn, redis::server& server) {
    std::string value(16 * 1024 * 1024, 'v');
    value[12345] = '\n';
    redis::request req;
    req.push("SET", "large", value);
    req.push("GET", "large");
    redis::response<std::string, std::string> resp;
    co_await conn.async_exec(req, resp);
    EXPECT_TRUE(std::get<1>(resp).value() == value);
    redis::request many;
    std::size_t const copies = scaled(20, 2);
    for (std::size_t i = 0; i != copies; ++i)
        many.push("GET", "large");
    redis::generic_response all;
    co_await conn.async_exec(many, all);
    EXPECT_EQ(all.messages(), copies);
    EXPECT_TRUE(all[copies - 1].value == value);
    conn.cancel();
    server.stop();
}

} // namespace

TEST_P(RedisConnection, LargeValuesPassInBothDirections) {
    redis::connection conn(ctx_);
    outcome ran;
    conn.async_run(cfg_, ran.handler());
    co_spawn(ctx_, pass_large_values(conn, *server_), rethrow_to_test{});
    run();
}

TEST_P(RedisConnection, ASecondRunIsRefusedWhileTheFirstLasts) {
    redis::connection conn(ctx_);
    outcome first, second;
    conn.async_run(cfg_, first.handler());
    conn.async_run(cfg_, [&](error_code ec) {
        second.ec = ec;
        conn.cancel();
        server_->stop();
    });
    run();
    EXPECT_EQ(second.ec, R::already_running);
    EXPECT_EQ(first.ec, fairlead::error::operation_aborted);
}

TEST_P(RedisConnection, DestroyingItCompletesWhatIsPending) {
    outcome ran, called, received;
    redis::request req;
    req.push("PING");
    std::string pong;
    redis::generic_response pushes;
    {
        redis::connection conn(ctx_);
        conn.async_run(cfg_, ran.handler());
        conn.async_receive(pushes, received.handler());
        ctx_.poll();
        conn.async_exec(req, pong, called.handler());
    }
    server_->stop();
    run();
    EXPECT_EQ(ran.ec, fairlead::error::operation_aborted);
    EXPECT_EQ(called.times, 1);
    EXPECT_TRUE(called.ec);
    EXPECT_EQ(received.ec, fairlead::error::operation_aborted);
}

namespace {

awaitable<void> hold(std::shared_ptr<redis::connection> conn, redis::config cfg) {
    redis::request req;
    req.push("PING");
    std::string pong;
    if (!cfg.address.empty()) {
        auto running = conn->async_run(cfg, as_tuple);
        co_await std::move(running);
    }
    co_await conn->async_exec(req, pong);
}

} // namespace

TEST_P(RedisConnection, AContextCanBeDestroyedWithEverythingUnderWay) {
    for (int turns : {0, 1, 2, 5, 20}) {
        auto ctx = std::make_unique<io_context>();
        redis::server_options options;
        std::optional<redis::server> server(std::in_place, *ctx, options);
        auto conn = std::make_shared<redis::connection>(*ctx);
        co_spawn(*ctx, hold(conn, config_for(server->address())), detached);
        co_spawn(*ctx, hold(conn, config_for("")), detached);
        conn.reset();
        for (int i = 0; i != turns; ++i)
            ctx->run_one_for(std::chrono::milliseconds(100));
        server.reset();
        ctx.reset(); // Nothing leaks and nothing is run: the sanitizer looks on.
    }
}

namespace {

awaitable<void> echo_from_afar(redis::connection& conn, int id, std::atomic<int>& left) {
    redis::request req;
    std::string reply;
    for (int i = 0; i != 200; ++i) {
        auto const token = std::to_string(id) + "/" + std::to_string(i);
        req.clear();
        req.push("ECHO", token);
        co_await conn.async_exec(req, reply);
        EXPECT_EQ(reply, token);
    }
    if (--left == 0)
        post(conn.get_executor(), [&conn] { conn.cancel(); });
}

} // namespace

TEST_P(RedisConnection, OtherThreadsMayExecuteToo) {
    redis::connection conn(ctx_);
    outcome ran;
    std::atomic<int> left = 3 * 20;
    conn.async_run(cfg_, [&](error_code ec) {
        ran.ec = ec;
        server_->stop();
    });
    for (int i = 0; i != 20; ++i)
        co_spawn(ctx_, echo_from_afar(conn, i, left), rethrow_to_test{});
    std::vector<std::thread> threads;
    for (int t = 1; t != 3; ++t)
        threads.emplace_back([&, t] {
            io_context own;
            for (int i = 0; i != 20; ++i)
                co_spawn(own, echo_from_afar(conn, 100 * t + i, left), rethrow_to_test{});
            own.run();
        });
    run();
    for (auto& t : threads)
        t.join();
    EXPECT_EQ(left.load(), 0);
}

INSTANTIATE_TEST_SUITE_P(Loopback, RedisConnection, testing::Values(false, true),
                         [](auto const& row) { return row.param ? "Unix" : "Tcp"; });

// ---- addresses

TEST(RedisConnectionErrors, AnAddressThatLeadsNowhereIsToldApart) {
    io_context ctx;
    ip::tcp::acceptor taken(ctx, ip::tcp::endpoint(ip::make_address("127.0.0.1"), 0));
    auto const free_port = std::to_string(taken.local_endpoint().port());
    taken.close();
    struct row {
        std::string address;
        error_code ec;
    };
    for (row const& r : {row{"127.0.0.1:" + free_port, make_error_code(fairlead::error::connection_refused)},
                         row{"host:", make_error_code(R::invalid_address)},
                         row{"unix:" + std::string(200, 'x'), make_error_code(fairlead::error::name_too_long)},
                         row{"unix:/nonexistent/socket", error_code(ENOENT, fairlead::error::get_system_category())}}) {
        redis::connection conn(ctx);
        redis::request req;
        req.push("PING");
        outcome ran, called;
        conn.async_exec(req, redis::ignore, called.handler());
        conn.async_run(config_for(r.address), ran.handler());
        run_all(ctx);
        EXPECT_TRUE(ran.ec == r.ec || ran.ec == r.ec.default_error_condition())
            << r.address << ": " << ran.ec.message();
        EXPECT_EQ(called.ec, R::not_sent);
        EXPECT_EQ(called.times, 1);
    }
}

TEST(RedisConnectionErrors, CancelBeforeAndDuringConnectingEndsEverything) {
    io_context ctx;
    redis::connection conn(ctx);
    redis::request req;
    req.push("PING");
    outcome waiting, ran, called;
    conn.async_exec(req, redis::ignore, waiting.handler());
    ctx.poll();
    EXPECT_EQ(conn.pending(), 1U);
    conn.cancel();
    run_all(ctx);
    EXPECT_EQ(waiting.ec, fairlead::error::operation_aborted);

    conn.async_run(config_for("localhost:1"), ran.handler());
    conn.async_exec(req, redis::ignore, called.handler());
    ctx.restart();
    ctx.poll_one();
    conn.cancel();
    run_all(ctx);
    EXPECT_EQ(ran.ec, fairlead::error::operation_aborted);
    EXPECT_EQ(called.ec, fairlead::error::operation_aborted);
}

// ---- servers that misbehave

namespace {

struct misbehaviour {
    std::string name;
    scripted_server::script_function script;
    error_code run_ends_with;
    error_code exec_ends_with;
};
std::ostream& operator<<(std::ostream& out, misbehaviour const& m) { return out << m.name; } // or the bytes are shown

awaitable<void> close_at_once(scripted_peer&) { co_return; }
awaitable<void> speak_http(scripted_peer& p) {
    auto sending = p.send("HTTP/1.1 400 Bad Request\r\n\r\n");
    co_await std::move(sending);
    auto rest = p.drain();
    co_await std::move(rest);
}
awaitable<void> be_full(scripted_peer& p) {
    auto sending = p.send("-ERR max number of clients reached\r\n");
    co_await std::move(sending);
    auto rest = p.drain();
    co_await std::move(rest);
}
awaitable<void> never_greet(scripted_peer& p) {
    auto rest = p.drain();
    co_await std::move(rest);
}
awaitable<void> greet(scripted_peer& p, std::string_view and_then) {
    auto reading = p.receive_text("HELLO");
    co_await std::move(reading);
    auto sending = p.send(">2\r\n+invalidate\r\n_\r\n");
    co_await std::move(sending);
    auto greeting = p.send(hello_reply);
    co_await std::move(greeting);
    auto ping = p.receive_text("GET");
    co_await std::move(ping);
    auto answer = p.send(and_then);
    co_await std::move(answer);
}
awaitable<void> stop_in_mid_reply(scripted_peer& p) {
    auto greeting = greet(p, "*2\r\n$3\r\none\r\n$100\r\nhalf of it");
    co_await std::move(greeting);
}
awaitable<void> drop_after_request(scripted_peer& p) {
    auto greeting = greet(p, "");
    co_await std::move(greeting);
}
awaitable<void> answer_twice(scripted_peer& p) {
    auto greeting = greet(p, "$1\r\nx\r\n$1\r\ny\r\n");
    co_await std::move(greeting);
    auto rest = p.drain();
    co_await std::move(rest);
}
awaitable<void> send_garbage(scripted_peer& p) {
    auto greeting = greet(p, "\x16\x03\x01 what is this");
    co_await std::move(greeting);
    auto rest = p.drain();
    co_await std::move(rest);
}
awaitable<void> claim_too_much(scripted_peer& p) {
    auto greeting = greet(p, "$9223372036854775807\r\n");
    co_await std::move(greeting);
    auto rest = p.drain();
    co_await std::move(rest);
}
awaitable<void> go_silent(scripted_peer& p) {
    auto greeting = greet(p, "");
    co_await std::move(greeting);
    auto rest = p.drain();
    co_await std::move(rest);
}

class MisbehavingServer : public testing::TestWithParam<misbehaviour> {};

} // namespace

TEST_P(MisbehavingServer, EndsTheConnectionWithAClearError) {
    auto const& row = GetParam();
    io_context ctx;
    scripted_server server(ctx, row.script);
    redis::connection conn(ctx);
    auto cfg = config_for(server.address());
    cfg.hello_timeout = std::chrono::milliseconds(200);
    cfg.health_check_interval = std::chrono::milliseconds(100);
    outcome ran, called;
    redis::request req;
    req.push("GET", "k");
    redis::generic_response resp;
    conn.async_run(cfg, ran.handler());
    conn.async_exec(req, resp, called.handler());
    run_all(ctx, std::chrono::seconds(10));
    EXPECT_EQ(ran.ec, row.run_ends_with) << ran.ec.message() << " " << conn.server_text();
    EXPECT_EQ(called.ec, row.exec_ends_with) << called.ec.message();
    EXPECT_EQ(ran.times, 1);
    EXPECT_EQ(called.times, 1);
    EXPECT_EQ(resp.empty(), static_cast<bool>(called.ec));
    EXPECT_EQ(conn.pending(), 0U);
}

INSTANTIATE_TEST_SUITE_P(
    All, MisbehavingServer,
    testing::Values(misbehaviour{"ClosesAtOnce", close_at_once, fairlead::error::eof, R::not_sent},
                    misbehaviour{"SpeaksHttp", speak_http, resp3::error::unknown_type, R::not_sent},
                    misbehaviour{"IsFull", be_full, R::hello_refused, R::not_sent},
                    misbehaviour{"NeverGreets", never_greet, R::hello_timed_out, R::not_sent},
                    misbehaviour{"StopsInMidReply", stop_in_mid_reply, fairlead::error::eof, R::maybe_executed},
                    misbehaviour{"DropsAfterTheRequest", drop_after_request, fairlead::error::eof, R::maybe_executed},
                    misbehaviour{"AnswersTwice", answer_twice, R::unexpected_reply, error_code()},
                    misbehaviour{"SendsGarbage", send_garbage, resp3::error::unknown_type, R::maybe_executed},
                    misbehaviour{"ClaimsTooMuch", claim_too_much, resp3::error::bulk_too_long, R::maybe_executed},
                    misbehaviour{"GoesSilent", go_silent, R::server_silent, R::maybe_executed}),
    [](auto const& row) { return row.param.name; });

namespace {

awaitable<void> speak_resp2(scripted_peer& p) {
    auto hello = p.receive_text("HELLO");
    co_await std::move(hello);
    auto refusing = p.send("-ERR unknown command `HELLO`\r\n");
    co_await std::move(refusing);
    auto get = p.receive_text("GET");
    co_await std::move(get);
    auto answer = p.send("$-1\r\n");
    co_await std::move(answer);
    auto rest = p.drain();
    co_await std::move(rest);
}

// Sends before it has read what it answers, and reads only when all is sent.
awaitable<void> write_before_reading(scripted_peer& p) {
    auto hello = p.receive_text("HELLO");
    co_await std::move(hello);
    auto greeting = p.send(hello_reply);
    co_await std::move(greeting);
    auto first = p.receive_text("SET");
    co_await std::move(first);
    std::string large;
    resp3::append_blob_string(large, std::string(32 * 1024 * 1024, 'r'));
    auto sending = p.send(large);
    co_await std::move(sending);
    auto rest = p.drain();
    co_await std::move(rest);
}

} // namespace

TEST(RedisConnectionErrors, AnOldServerIsServedInResp2WithoutSubscriptions) {
    io_context ctx;
    scripted_server server(ctx, speak_resp2);
    redis::connection conn(ctx);
    outcome ran, early, called, late;
    redis::request subscribe, get;
    subscribe.push("SUBSCRIBE", "c");
    get.push("GET", "k");
    std::optional<std::string> value = "old";
    conn.async_run(config_for(server.address()), ran.handler());
    conn.async_exec(subscribe, redis::ignore, early.handler());
    conn.async_exec(get, value, [&](error_code ec, std::size_t) {
        called.ec = ec;
        conn.async_exec(subscribe, redis::ignore, [&](error_code e, std::size_t) {
            late.ec = e;
            conn.cancel();
        });
    });
    run_all(ctx);
    EXPECT_EQ(early.ec, R::refused_command);
    EXPECT_EQ(called.ec, error_code());
    EXPECT_EQ(value, std::nullopt);
    EXPECT_EQ(late.ec, R::refused_command);
}

TEST(RedisConnectionErrors, ItReadsWhileItWrites) {
    io_context ctx;
    scripted_server server(ctx, write_before_reading);
    redis::connection conn(ctx);
    outcome ran, called;
    redis::request req;
    req.push("SET", "k", std::string(32 * 1024 * 1024, 'v'));
    std::string reply;
    conn.async_run(config_for(server.address()), ran.handler());
    conn.async_exec(req, reply, [&](error_code ec, std::size_t) {
        called.ec = ec;
        conn.cancel();
    });
    run_all(ctx);
    EXPECT_EQ(called.ec, error_code());
    EXPECT_EQ(reply.size(), 32U * 1024 * 1024);
}

} // namespace fairlead::test
