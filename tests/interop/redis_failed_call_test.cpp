// The texts of failed calls' exceptions.

#include "redis_peer.hpp"

#include <fairlead/token/bind_cancellation_slot.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::test {

using R = redis::error;

namespace {

constexpr std::string_view old_hello = "-ERR unknown command 'HELLO'\r\n";

/// The text of the exception when the call is awaited and fails.
template <class Response>
awaitable<std::string> failure_of(redis::connection& conn, redis::request const& req, Response& resp) {
    try {
        co_await conn.async_exec(req, resp);
    } catch (system_error const& e) {
        co_return e.what();
    }
    co_return "nothing failed";
}

/// Plays `replies` to whatever comes after the greeting.
class RedisFailedCall : public testing::Test {
protected:
    template <class Body> void with_server(std::string replies, Body body, std::string_view hello = hello_reply) {
        io_context ctx;
        scripted_server server(ctx, [&](scripted_peer& peer) { return play(peer, hello, replies); });
        redis::connection conn(ctx);
        outcome ran;
        redis::config cfg;
        cfg.address = server.address();
        conn.async_run(cfg, ran.handler());
        co_spawn(ctx, body(conn), [&](std::exception_ptr e) {
            rethrow_to_test{}(e);
            conn.cancel();
        });
        run_all(ctx);
        EXPECT_EQ(ran.times, 1);
    }

private:
    static awaitable<void> play(scripted_peer& peer, std::string_view hello, std::string const& replies) {
        auto greeted = peer.receive_text("HELLO");
        co_await std::move(greeted);
        auto greeting = peer.send(hello);
        co_await std::move(greeting);
        auto asked = peer.receive_text("last");
        if (co_await std::move(asked)) {
            auto answering = peer.send(replies);
            co_await std::move(answering);
        }
        auto draining = peer.drain();
        co_await std::move(draining);
    }
};

awaitable<void> be_refused(redis::connection& conn) {
    struct {
        std::vector<std::string> words;
        std::string_view text;
    } const rows[] = {
        {{"select", "1"}, "redis SELECT (instead: set config::database, or use config::dedicated): "},
        {{"BLPOP", "k", "0"}, "redis BLPOP (instead: use redis::client, or a connection with config::dedicated): "},
        {{"client", "reply", "off"}, "redis CLIENT REPLY (instead: let replies come, and read them into "},
        {{"MULTI"}, "redis MULTI (instead: put MULTI and its EXEC into one request, or use "},
        {{"DISCARD", "junk"}, "redis DISCARD (instead: leave its arguments out): "},
    };
    for (auto const& row : rows) {
        redis::request req;
        req.push("PING");
        req.push_range(row.words[0], std::vector<std::string>(row.words.begin() + 1, row.words.end()));
        auto failing = failure_of(conn, req, redis::ignore);
        auto const what = co_await std::move(failing);
        EXPECT_TRUE(what.starts_with(row.text)) << what;
        EXPECT_NE(what.find("nothing was sent"), what.npos) << what;
    }
}

awaitable<void> fail_in_the_middle(redis::connection& conn) {
    redis::request req;
    req.push("SET", "k", "secret");
    req.push("SUBSCRIBE", "channel");
    req.push("incr", "k");
    req.push("GET", "last");
    auto failing = failure_of(conn, req, redis::ignore);
    auto const what = co_await std::move(failing);
    EXPECT_TRUE(what.starts_with("redis incr, reply 2 of 3: The server refused a command")) << what;
    EXPECT_EQ(what.find("secret"), what.npos) << "arguments stay out of logs";
}

awaitable<void> read_the_wrong_type(redis::connection& conn) {
    redis::request req;
    req.push("GET", "last");
    int number = 0;
    auto failing = failure_of(conn, req, number);
    auto const what = co_await std::move(failing);
    EXPECT_TRUE(what.starts_with("redis GET: ")) << what;
}

awaitable<void> be_refused_a_channel(redis::connection& conn) {
    redis::request req;
    req.push("PING");
    req.push("SSUBSCRIBE", "last");
    auto failing = failure_of(conn, req, redis::ignore);
    auto const what = co_await std::move(failing);
    EXPECT_TRUE(what.starts_with("redis SSUBSCRIBE, see connection::server_text(): ")) << what;
    EXPECT_EQ(conn.server_text(), "NOPERM no");
}

awaitable<void> subscribe_in_vain(redis::connection& conn) {
    redis::request ping;
    ping.push("PING", "last");
    std::string pong;
    co_await conn.async_exec(ping, pong);
    redis::request req;
    req.push("SUBSCRIBE", "channel");
    auto failing = failure_of(conn, req, redis::ignore);
    auto const what = co_await std::move(failing);
    EXPECT_TRUE(what.starts_with("redis SUBSCRIBE (instead: use redis::client::subscribe()): ")) << what;
    EXPECT_EQ(req.instead(), "use redis::client::subscribe()");
    EXPECT_NE(what.find("RESP3"), what.npos) << what;
}

awaitable<void> lose_the_connection(redis::connection& conn) {
    redis::request req;
    req.push("INCR", "a");
    req.push("INCR", "last");
    auto failing = failure_of(conn, req, redis::ignore);
    auto const what = co_await std::move(failing);
    EXPECT_TRUE(what.starts_with("redis INCR and 1 more: The request was written")) << what;
}

} // namespace

TEST_F(RedisFailedCall, Y5_RefusalNamesTheCommandAndWhatToWrite) { with_server("", be_refused); }

TEST_F(RedisFailedCall, Y5_ErrorOfOneReplyNamesItsCommand) {
    with_server("+OK\r\n>3\r\n+subscribe\r\n+channel\r\n:1\r\n-ERR no number\r\n$1\r\n5\r\n", fail_in_the_middle);
    with_server("+text\r\n", read_the_wrong_type);
}

TEST_F(RedisFailedCall, Y5_RefusedSubscriptionIsNamedThoughItHasNoReply) {
    with_server("+PONG\r\n-NOPERM no\r\n", be_refused_a_channel);
    with_server("$4\r\nlast\r\n", subscribe_in_vain, old_hello);
}

TEST_F(RedisFailedCall, Y5_LostRequestIsNamedByItsFirstCommand) { with_server("&", lose_the_connection); }

TEST_F(RedisFailedCall, Y5_RequestWithoutConnectionIsNamed) {
    io_context ctx;
    redis::connection conn(ctx);
    redis::request req;
    req.push("GET", "k");
    std::string what;
    auto const keep = [&](std::exception_ptr, std::string text) { what = text; };
    co_spawn(ctx, failure_of(conn, req, redis::ignore), keep);
    ctx.poll();
    conn.cancel();
    run_all(ctx);
    EXPECT_TRUE(what.starts_with("redis GET: ")) << what;

    // A coroutine that somebody asks to end is told the same of the call that this ends.
    cancellation_signal signal;
    what.clear();
    co_spawn(ctx, failure_of(conn, req, redis::ignore), bind_cancellation_slot(signal.slot(), keep));
    ctx.restart();
    ctx.poll();
    EXPECT_EQ(what, "") << "the call is under way";
    signal.emit(cancellation_type::terminal);
    run_all(ctx);
    EXPECT_TRUE(what.starts_with("redis GET: ")) << what;
}

TEST_F(RedisFailedCall, Y5_SessionThatFailsNamesTheServer) {
    io_context ctx;
    std::string const nobody = "unix:/nonexistent/" + std::string(100, 'x');
    auto conn = std::make_unique<redis::connection>(ctx);
    std::exception_ptr thrown, not_received;
    redis::generic_response pushes;
    co_spawn(ctx, conn->async_receive(pushes, use_awaitable),
             [&](std::exception_ptr e, std::size_t) { not_received = e; });
    ctx.poll(); // It waits before the session can end: then the connection is gone.
    co_spawn(ctx, conn->async_run({.address = nobody}, use_awaitable), [&](std::exception_ptr e) {
        thrown = e;
        conn = nullptr;
    });
    run_all(ctx);
    auto const says = [](std::exception_ptr const& e, std::string_view begin) {
        try {
            std::rethrow_exception(e);
        } catch (system_error const& x) {
            EXPECT_TRUE(std::string_view(x.what()).starts_with(begin)) << x.what();
        }
    };
    says(thrown, "redis connection to unix:/nonexistent/xxxxxxxxxxxxxxxxxxxxx: "); // which is as long as it is kept
    says(not_received, "redis receive: ");
}

} // namespace fairlead::test
