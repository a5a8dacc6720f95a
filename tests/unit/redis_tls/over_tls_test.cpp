// A connection over TLS and mTLS, to a real redis-server.
#include <fairlead/redis/client.hpp>
#include <fairlead/redis/lease.hpp>
#include <fairlead/redis_tls/over_tls.hpp>
#include <fairlead/token/adapters.hpp>

#include <fairlead/tls/error.hpp>

#include <interop/redis_peer.hpp>
#include <support/child_process.hpp>
#include <unit/tls/certificates.hpp>

#include <fairlead/coro/this_coro.hpp>
#include <fairlead/coro/when_all.hpp>
#include <fairlead/net/timer.hpp>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <unistd.h>

namespace fairlead::test {
namespace {

using namespace std::chrono_literals;

/// A redis-server that speaks nothing but TLS, with a certificate made out to 127.0.0.1.
class tls_redis {
public:
    explicit tls_redis(char const* client_certificates)
        : program_(find_program({"redis-server", "valkey-server"})),
          folder_("redis_tls_test." + std::to_string(::getpid()) + "." + client_certificates) {
        if (program_.empty())
            return;
        std::filesystem::create_directories(folder_);
        write("authority.pem", authority().certificate);
        write("server.pem", server().certificate);
        write("server.key", server().key);
        io_context of_its_own;
        port_ = ip::tcp::acceptor(of_its_own, {ip::address_v4::loopback(), 0}).local_endpoint().port();
        process_.start({program_,
                        "--port",
                        "0",
                        "--tls-port",
                        std::to_string(port_),
                        "--bind",
                        "127.0.0.1",
                        "--save",
                        "",
                        "--appendonly",
                        "no",
                        "--dbfilename",
                        "nothing.rdb",
                        "--tls-cert-file",
                        path("server.pem"),
                        "--tls-key-file",
                        path("server.key"),
                        "--tls-ca-cert-file",
                        path("authority.pem"),
                        "--tls-auth-clients",
                        client_certificates});
        wait_until_it_listens();
    }
    ~tls_redis() {
        process_.kill();
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
    bool is_installed() const { return !program_.empty(); }
    bool has_tls() const { return has_tls_; }
    std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
    void kill() { process_.kill(); }
    std::string path(char const* name) const { return folder_ + "/" + name; }
    void write(char const* name, std::string const& text) const { std::ofstream(path(name)) << text; }

private:
    /// A server that was built without TLS ends at once.
    void wait_until_it_listens() {
        for (int attempt = 0; attempt != 400 && !has_tls_; ++attempt) {
            io_context c;
            ip::tcp::socket s(c);
            error_code ec;
            s.connect({ip::address_v4::loopback(), static_cast<std::uint16_t>(port_)}, ec);
            has_tls_ = !ec;
            steady_timer pause(c, has_tls_ ? 0ms : 25ms);
            pause.wait();
        }
    }

    std::string program_;
    std::string folder_;
    unsigned port_ = 0;
    bool has_tls_ = false;
    child_process process_;
};

/// The parameter is what the server asks of clients: "no" or "yes", a certificate.
class RedisOverTls : public testing::TestWithParam<char const*> {
protected:
    void SetUp() override {
        if (!server_.is_installed())
            GTEST_SKIP() << "neither redis-server nor valkey-server is installed";
        if (!server_.has_tls())
            GTEST_SKIP() << "the server has no TLS";
        cfg_.address = server_.address();
    }
    bool is_mutual() const { return std::string_view(GetParam()) == "yes"; }
    ssl::context context_for_clients() const {
        auto c = client_context();
        if (is_mutual())
            use(c, make_identity("client", {}, &authority()));
        return c;
    }
    /// Runs `body` on a connection; how async_run ended.
    template <class Body> error_code with_connection(redis::connector how, Body body) {
        redis::connection conn(ctx_, std::move(how));
        outcome ran;
        conn.async_run(cfg_, ran.handler());
        co_spawn(ctx_, body(conn), [&](std::exception_ptr e) {
            rethrow_to_test{}(e);
            conn.cancel();
        });
        run_all(ctx_);
        EXPECT_EQ(ran.times, 1);
        return ran.ec;
    }
    /// How async_run ends where nothing is to be executed.
    error_code refused(redis::connector how) {
        redis::connection conn(ctx_, std::move(how));
        outcome ran, executed;
        redis::request ping;
        ping.push("PING");
        conn.async_exec(ping, redis::ignore, executed.handler());
        conn.async_run(cfg_, ran.handler());
        run_all(ctx_);
        EXPECT_EQ(ran.times, 1);
        EXPECT_EQ(executed.times, 1);
        EXPECT_EQ(executed.ec, redis::condition::not_executed) << executed.ec.message();
        return ran.ec;
    }

    tls_redis server_{GetParam()};
    io_context ctx_;
    redis::config cfg_;
};

INSTANTIATE_TEST_SUITE_P(Servers, RedisOverTls, testing::Values("no", "yes"), [](auto const& i) {
    return std::string_view(i.param) == "yes" ? "AskClientsForCertificates" : "DoNot";
});

TEST_P(RedisOverTls, ManyCallersShareOneConnection) {
    auto tls = context_for_clients();
    auto const ec = with_connection(redis::over_tls(tls), [](redis::connection& conn) -> awaitable<void> {
        redis::request set, get;
        std::string const large(1'000'000, 'v');
        set.push("SET", "key", large);
        auto setting = conn.async_exec(set, redis::ignore);
        co_await std::move(setting);
        get.push("GET", "key");
        std::string got;
        auto getting = conn.async_exec(get, got);
        co_await std::move(getting);
        EXPECT_EQ(got, large);
        std::vector<awaitable<void>> callers;
        for (int i = 0; i != 100; ++i)
            callers.push_back([](redis::connection& c, int number) -> awaitable<void> {
                for (int n = 0; n != 10; ++n) {
                    redis::request echo;
                    auto const text = std::to_string(number) + "/" + std::to_string(n);
                    echo.push("ECHO", text);
                    std::string answer;
                    auto asking = c.async_exec(echo, answer);
                    co_await std::move(asking);
                    EXPECT_EQ(answer, text);
                }
            }(conn, i));
        auto all = when_all(std::move(callers));
        co_await std::move(all);
    });
    EXPECT_EQ(ec, error::operation_aborted) << ec.message(); // cancelled, when all was done
}

TEST_P(RedisOverTls, AServerThatCannotBeTrustedIsSentNothing) {
    ssl::context tls(ssl::context::tls_client);
    tls.add_certificate_authority(buffer(make_identity("another authority", {.is_authority = true}).certificate));
    auto const ec = refused(redis::over_tls(tls));
    EXPECT_EQ(&ec.category(), &ssl::error::get_verify_category()) << ec.message();
    auto good = context_for_clients();
    auto const of_name = refused(redis::over_tls(good, "another.test"));
    EXPECT_EQ(&of_name.category(), &ssl::error::get_verify_category()) << of_name.message();
}

TEST_P(RedisOverTls, AClientWithoutACertificateIsRefusedWhereOneIsAskedFor) {
    if (!is_mutual())
        GTEST_SKIP() << "this server asks for none";
    auto tls = client_context();
    auto const ec = refused(redis::over_tls(tls));
    EXPECT_TRUE(ec);
    EXPECT_NE(ec, error::operation_aborted) << ec.message();
}

TEST_P(RedisOverTls, ProgramForTheCommandLineBelievesWhomItIsTold) {
    if (::access(FAIRLEAD_REDIS_PROGRAM, X_OK) != 0)
        GTEST_SKIP() << "fairlead-redis was not built (FAIRLEAD_BUILD_PROGRAMS)";
    auto const client = make_identity("client", {}, &authority());
    server_.write("client.pem", client.certificate);
    server_.write("client.key", client.key);
    auto const address = server_.address();
    auto const says = [&](std::vector<std::string> const& more) {
        std::vector<std::string> command{FAIRLEAD_REDIS_PROGRAM, "-p", address.substr(address.rfind(':') + 1), "--tls"};
        command.insert(command.end(), more.begin(), more.end());
        command.emplace_back("PING");
        child_process program;
        program.start(command, true);
        return program.says("PONG");
    };
    auto const authority_file = server_.path("authority.pem");
    EXPECT_EQ(says({"--cacert", authority_file}), !is_mutual());
    EXPECT_TRUE(
        says({"--cacert", authority_file, "--cert", server_.path("client.pem"), "--key", server_.path("client.key")}));
    EXPECT_FALSE(says({"--cert", server_.path("client.pem"), "--key", server_.path("client.key")}));
    EXPECT_TRUE(says({"--insecure", "--cert", server_.path("client.pem"), "--key", server_.path("client.key")}));
    EXPECT_FALSE(says({"--cacert", authority_file, "--sni", "another.test", "--cert", server_.path("client.pem"),
                       "--key", server_.path("client.key")}));
}

TEST_P(RedisOverTls, AServerThatDiesEndsTheSession) {
    auto tls = context_for_clients();
    redis::connection conn(ctx_, redis::over_tls(tls));
    outcome ran, waits;
    conn.async_run(cfg_, ran.handler());
    redis::request pause, get;
    pause.push("CLIENT", "PAUSE", "60000");
    get.push("GET", "key");
    auto const dies = [&]() -> awaitable<void> {
        auto pausing = conn.async_exec(pause, redis::ignore);
        co_await std::move(pausing);
        auto const before = conn.counters().writes;
        conn.async_exec(get, redis::ignore, waits.handler());
        while (conn.counters().writes == before)
            co_await this_coro::yield();
        server_.kill();
    };
    co_spawn(ctx_, dies(), rethrow_to_test{});
    run_all(ctx_);
    EXPECT_EQ(ran.times, 1);
    EXPECT_TRUE(ran.ec == ssl::error::stream_truncated || ran.ec == error::connection_reset) << ran.ec.message();
    EXPECT_EQ(waits.ec, redis::error::maybe_executed) << waits.ec.message();
}

TEST_P(RedisOverTls, AClientIsThereAgainWithItsSubscriptionsWhenItsConnectionsWereKilled) {
    auto tls = context_for_clients();
    redis::client db(ctx_, cfg_, redis::over_tls(tls), {.pause_min = 1ms, .pause_max = 10ms});
    outcome ran;
    db.async_run(ran.handler());
    auto const uses = [&]() -> awaitable<void> {
        auto subscribing = db.subscribe("news");
        auto news = co_await std::move(subscribing);
        for (int round = 0; round != 2; ++round) {
            auto acquiring = db.acquire(); // A lease is a connection of its own, with TLS of its own.
            auto own = co_await std::move(acquiring);
            auto counting = own.incr("n");
            co_await std::move(counting);
            auto publishing = db.publish("news", "n");
            co_await std::move(publishing);
            auto hearing = news.next();
            auto const told = co_await std::move(hearing);
            EXPECT_TRUE(told);
            EXPECT_EQ(told->payload(), "n");
            if (round != 0)
                break;
            redis::request kill;
            kill.push("CLIENT", "KILL", "SKIPME", "no");
            error_code ec;
            auto killing = db.async_exec(kill, redis::ignore, redirect_error(ec));
            co_await std::move(killing);
            while (db.counters().restored == 0)
                co_await this_coro::yield();
        }
        EXPECT_EQ(db.counters().lost, 1U);
        db.cancel();
    };
    co_spawn(ctx_, uses(), rethrow_to_test{});
    run_all(ctx_);
    EXPECT_EQ(ran.ec, error::operation_aborted);
}

TEST_P(RedisOverTls, TheLimitOfConnectingCoversTheHandshake) {
    ip::tcp::acceptor silent(ctx_, {ip::address_v4::loopback(), 0});
    cfg_.address = "127.0.0.1:" + std::to_string(silent.local_endpoint().port());
    cfg_.connect_timeout = 50ms;
    auto tls = context_for_clients();
    EXPECT_EQ(refused(redis::over_tls(tls)), redis::error::connect_timed_out);
}

} // namespace
} // namespace fairlead::test
