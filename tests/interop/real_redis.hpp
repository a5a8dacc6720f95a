// The fixture of tests that need a real server.
#pragma once

#include "redis_peer.hpp"
#include "redis_server_process.hpp"

#include <fairlead/net/timer.hpp>
#include <fairlead/redis/client.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace fairlead::test {

/// A server for all tests of one suite; each test has a context of its own.
class RealRedis : public testing::Test {
protected:
    static void SetUpTestSuite() { server_ = std::make_unique<redis_server_process>(); }
    static void TearDownTestSuite() { server_.reset(); }
    void SetUp() override {
        if (!server_->is_installed())
            GTEST_SKIP() << "neither redis-server nor valkey-server is installed";
        cfg_.address = server_->address();
        wait_until_it_listens();
    }
    void wait_until_it_listens() {
        for (int attempt = 0; attempt != 200; ++attempt) {
            redis::connection conn(ctx_);
            redis::request ping;
            ping.push("PING");
            std::string pong;
            conn.async_exec(ping, pong, [&](error_code, std::size_t) { conn.cancel(); });
            conn.async_run(cfg_, detached);
            run_all(ctx_);
            if (pong == "PONG")
                return;
            ctx_.restart();
            steady_timer pause(ctx_, std::chrono::milliseconds(50));
            pause.async_wait(detached);
            ctx_.run();
        }
        FAIL() << "the server does not answer";
    }
    /// Runs `body` on a connection, and ends that afterwards.
    template <class Body> void with_connection(redis::config const& cfg, Body body) {
        redis::connection conn(ctx_);
        outcome ran;
        conn.async_run(cfg, ran.handler());
        co_spawn(ctx_, body(conn), [&](std::exception_ptr e) {
            rethrow_to_test{}(e);
            conn.cancel();
        });
        run_all(ctx_);
        EXPECT_EQ(ran.times, 1);
    }

    static inline std::unique_ptr<redis_server_process> server_;
    io_context ctx_;
    redis::config cfg_;
};

/// A client of that server, which runs while a test uses it. Tests that want another one make it in their SetUp().
class RealRedisWithClient : public RealRedis {
public:
    void use(awaitable<void> body) {
        outcome ran;
        db->async_run(ran.handler());
        co_spawn(ctx_, std::move(body), [&](std::exception_ptr e) {
            rethrow_to_test{}(e);
            db->cancel();
        });
        run_all(ctx_);
        EXPECT_EQ(ran.times, 1);
        EXPECT_EQ(ran.ec, error::operation_aborted);
        EXPECT_EQ(db->pending(), 0U);
    }
    void SetUp() override {
        RealRedis::SetUp();
        if (!IsSkipped())
            db.emplace(ctx_, cfg_,
                       redis::client_options{.pause_min = std::chrono::milliseconds(5),
                                             .pause_max = std::chrono::milliseconds(50)});
    }
    std::optional<redis::client> db;
};

} // namespace fairlead::test
