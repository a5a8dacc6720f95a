// A connection over streams that the program makes.
#include <fairlead/redis/connector.hpp>

#include <fairlead/coro/this_coro.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/redis_server/server.hpp>

#include <interop/redis_peer.hpp>

#include <chrono>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>

namespace fairlead::test {
namespace {

using namespace std::chrono_literals;

/// A stream of a program's: its operations know only handlers.
class own_stream {
public:
    explicit own_stream(ip::tcp::socket s) : socket_(std::make_unique<ip::tcp::socket>(std::move(s))) {}
    any_io_executor get_executor() { return socket_->get_executor(); }
    template <class Handler> void async_read_some(mutable_buffer b, Handler h) {
        socket_->async_read_some(b, std::move(h));
    }
    template <class Handler> void async_write_some(const_buffer b, Handler h) {
        socket_->async_write_some(b, std::move(h));
    }

private:
    std::unique_ptr<ip::tcp::socket> socket_;
};

awaitable<ip::tcp::socket> connected(redis::address_parts to) {
    ip::tcp::socket s(co_await this_coro::executor);
    ip::tcp::endpoint const peer(ip::make_address(to.host),
                                 static_cast<std::uint16_t>(std::stoi(std::string(to.port))));
    auto joining = s.async_connect(peer);
    co_await std::move(joining);
    co_return s;
}
awaitable<any_stream> plain(redis::address_parts to) {
    auto connecting = connected(to);
    co_return any_stream(co_await std::move(connecting));
}
awaitable<any_stream> of_the_program(redis::address_parts to) {
    auto connecting = connected(to);
    co_return any_stream(own_stream(co_await std::move(connecting)));
}

class RedisConnector : public testing::Test {
protected:
    RedisConnector() { cfg_.address = server_.address(); }
    /// One command, and the end. How async_run ended.
    error_code session(redis::connector how) {
        redis::connection conn(ctx_, std::move(how));
        outcome ran;
        redis::request echo;
        echo.push("ECHO", "hello");
        conn.async_exec(echo, answer_, [&](error_code ec, std::size_t) {
            executed_ = ec;
            conn.cancel();
        });
        conn.async_run(cfg_, [&](error_code ec) {
            ran.handler()(ec);
            server_.stop();
        });
        run_all(ctx_);
        EXPECT_EQ(ran.times, 1);
        return ran.ec;
    }

    io_context ctx_;
    redis::server server_{ctx_, redis::server_options{}};
    redis::config cfg_;
    std::string answer_;
    error_code executed_;
};

TEST_F(RedisConnector, CarriesASessionOverASocketOfTheProgram) {
    EXPECT_EQ(session(&plain), error::operation_aborted);
    EXPECT_FALSE(executed_) << executed_.message();
    EXPECT_EQ(answer_, "hello");
}

TEST_F(RedisConnector, CarriesASessionOverAStreamOfTheProgram) {
    EXPECT_EQ(session(&of_the_program), error::operation_aborted);
    EXPECT_FALSE(executed_) << executed_.message();
    EXPECT_EQ(answer_, "hello");
}

TEST_F(RedisConnector, ItsErrorsEndTheSession) {
    auto const refuses = [](redis::address_parts) -> awaitable<any_stream> {
        throw system_error(error_code(error::connection_refused));
        co_return any_stream();
    };
    EXPECT_EQ(session(refuses), error::connection_refused);
    EXPECT_EQ(executed_, redis::condition::not_executed);
}

TEST_F(RedisConnector, WhatIsNoErrorCodeIsTheProgramsFault) {
    auto const throws = [](redis::address_parts) -> awaitable<any_stream> {
        throw std::logic_error("a mistake");
        co_return any_stream();
    };
    EXPECT_EQ(session(throws), redis::error::connector_failed);
}

TEST_F(RedisConnector, AnExceptionBeforeItsCoroutineEndsTheSessionToo) {
    auto const throws = [](redis::address_parts) -> awaitable<any_stream> { throw std::bad_alloc(); };
    EXPECT_EQ(session(throws), error::no_memory);
}

TEST_F(RedisConnector, AStreamOfAnotherLoopIsRefused) {
    io_context another;
    auto const elsewhere = [&another](redis::address_parts) -> awaitable<any_stream> {
        co_return any_stream(ip::tcp::socket(another, ip::tcp::v4()));
    };
    EXPECT_EQ(session(elsewhere), redis::error::connector_failed);
}

TEST_F(RedisConnector, NoStreamIsRefused) {
    auto const none = [](redis::address_parts) -> awaitable<any_stream> { co_return any_stream(); };
    EXPECT_EQ(session(none), redis::error::connector_failed);
}

TEST_F(RedisConnector, IsAskedToEndWithItsSession) {
    cfg_.connect_timeout = 20ms;
    bool was_asked = false;
    auto const waits = [&was_asked](redis::address_parts) -> awaitable<any_stream> {
        steady_timer never(co_await this_coro::executor, 1h);
        error_code ec;
        auto waiting = never.async_wait(redirect_error(ec));
        co_await std::move(waiting);
        was_asked = ec == error::operation_aborted;
        throw system_error(ec);
    };
    EXPECT_EQ(session(waits), redis::error::connect_timed_out);
    EXPECT_TRUE(was_asked);
}

TEST_F(RedisConnector, IsCalledForEachSession) {
    int calls = 0;
    redis::connection conn(ctx_, [&calls](redis::address_parts to) {
        ++calls;
        return plain(to);
    });
    for (int i = 0; i != 3; ++i) {
        outcome ran;
        redis::request ping;
        ping.push("PING");
        conn.async_exec(ping, redis::ignore, [&](error_code, std::size_t) {
            conn.cancel();
            if (calls == 3)
                server_.stop();
        });
        conn.async_run(cfg_, ran.handler());
        ctx_.restart();
        while (ran.times == 0)
            ctx_.run_one_for(20s);
    }
    run_all(ctx_);
    EXPECT_EQ(calls, 3);
    EXPECT_EQ(conn.counters().generations, 3U);
}

} // namespace
} // namespace fairlead::test
