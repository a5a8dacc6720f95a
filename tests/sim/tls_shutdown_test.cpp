// Row L07: a peer that is there and says nothing. The shutdown ends by itself, and the peer finds the connection reset.
// Row C04: the end of one direction is cancelled.
#include <fairlead/coro/spawn.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/net/connect.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/sim/seeds.hpp>
#include <fairlead/sim/world.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/tls/stream.hpp>
#include <fairlead/token/adapters.hpp>
#include <sim/tls_chance.hpp>
#include <support/scale.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include <openssl/ssl.h>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using tls_over_tcp = ssl::stream<ip::tcp::socket>;

struct mute_peer {
    ssl::context of_server, of_client;
    error_code of_shutdown, of_peer;
    std::chrono::nanoseconds took{};

    explicit mute_peer(int version)
        : of_server(test::tls_script::scripted_context(false, version)),
          of_client(test::tls_script::scripted_context(true, version)) {}

    static awaitable<void> serve(io_context& c, mute_peer& t) {
        ip::tcp::acceptor acceptor(c, {ip::tcp::v4(), 443});
        tls_over_tcp side(co_await acceptor.async_accept(), t.of_server);
        co_await side.async_handshake(ssl::stream_base::server);
        steady_timer pause(c, 2min); // It neither reads nor writes.
        co_await pause.async_wait();
        for (int i = 0; i != 3 && !t.of_peer; ++i) {
            auto writing = async_write(side.next_layer(), buffer("hello", 5), redirect_error(t.of_peer));
            co_await std::move(writing);
            pause.expires_after(1s);
            co_await pause.async_wait();
        }
    }
    static awaitable<void> ask(io_context& c, mute_peer& t, ip::tcp::endpoint at) {
        tls_over_tcp client(c, t.of_client);
        client.set_host_name("server.test");
        co_await client.next_layer().async_connect(at);
        co_await client.async_handshake(ssl::stream_base::client);
        auto const began = steady_timer::clock_type::now();
        auto ending = client.async_shutdown(redirect_error(t.of_shutdown));
        co_await std::move(ending);
        t.took = steady_timer::clock_type::now() - began;
    } // The client goes, and its socket with it.
};

TEST(TlsMutePeer, L07_AShutdownIsBoundedAndThenTheConnectionIsReset) {
    for (int const version : {TLS1_2_VERSION, TLS1_3_VERSION})
        sim::for_each_seed(test::scaled(50, 5), [version](sim::world& w) {
            test::tls_script::openssl_chance const chance(w.seed());
            mute_peer t(version);
            auto& server = w.add_host("server");
            auto& client = w.add_host("client");
            co_spawn(server.context(), mute_peer::serve(server.context(), t), rethrow);
            w.at(1s, [&] {
                ip::tcp::endpoint const at(server.address(), 443);
                co_spawn(client.context(), mute_peer::ask(client.context(), t, at), rethrow);
            });
            w.run();
            EXPECT_EQ(t.of_shutdown, ssl::error::shutdown_timed_out) << t.of_shutdown.message();
            EXPECT_GE(t.took, 30s);
            EXPECT_LT(t.took, 31s);
            EXPECT_TRUE(t.of_peer == error::connection_reset || t.of_peer == error::broken_pipe) << t.of_peer.message();
        });
}

/// A client that writes faster than its server reads, says goodbye, is asked to end that, and says it again.
struct cancelled_goodbye {
    ssl::context of_server, of_client;
    error_code of_first, of_later_write, of_second, of_peer;
    std::size_t written = 0, read = 0;
    bool is_closed_early;

    cancelled_goodbye(int version, bool closes)
        : of_server(test::tls_script::scripted_context(false, version)),
          of_client(test::tls_script::scripted_context(true, version)),
          is_closed_early(closes) {}

    static awaitable<void> serve(io_context& c, cancelled_goodbye& t) {
        ip::tcp::acceptor acceptor(c, {ip::tcp::v4(), 443});
        tls_over_tcp side(co_await acceptor.async_accept(), t.of_server);
        co_await side.async_handshake(ssl::stream_base::server);
        steady_timer pause(c, 1min);
        co_await pause.async_wait();
        std::string some(10'000, ' ');
        while (!t.of_peer) {
            auto op = side.async_read_some(buffer(some), redirect_error(t.of_peer));
            t.read += co_await std::move(op);
        }
    }
    static awaitable<void> ask(io_context& c, cancelled_goodbye& t, ip::tcp::endpoint at, std::uint32_t millis) {
        tls_over_tcp client(c, t.of_client);
        client.set_host_name("server.test");
        co_await client.next_layer().async_connect(at);
        co_await client.async_handshake(ssl::stream_base::client);
        std::string const text(4'000'000, 'w');
        error_code ec;
        auto writing = async_write(client, buffer(text), cancel_after(10s, redirect_error(ec)));
        t.written = co_await std::move(writing);
        EXPECT_EQ(ec, error::operation_aborted) << ec.message();
        auto first =
            client.async_shutdown_send(cancel_after(std::chrono::milliseconds(millis), redirect_error(t.of_first)));
        co_await std::move(first);
        if (t.is_closed_early)
            co_return;
        auto later = async_write(client, buffer("x", 1), redirect_error(t.of_later_write));
        co_await std::move(later);
        auto second = client.async_shutdown_send(redirect_error(t.of_second));
        co_await std::move(second);
        char got[10];
        while (!ec || ec == error::operation_aborted) { // The server goes when it has read the goodbye.
            auto op = client.async_read_some(buffer(got), redirect_error(ec));
            co_await std::move(op);
        }
    }
};

TEST(TlsCancelledGoodbye, C04_IsSaidAgainBehindAllThatWasWritten) {
    for (int const version : {TLS1_2_VERSION, TLS1_3_VERSION})
        for (bool const closes : {false, true})
            sim::for_each_seed(test::scaled(50, 5), [&](sim::world& w) {
                test::tls_script::openssl_chance const chance(w.seed());
                cancelled_goodbye t(version, closes);
                auto& server = w.add_host("server");
                auto& client = w.add_host("client");
                co_spawn(server.context(), cancelled_goodbye::serve(server.context(), t), rethrow);
                w.at(1s, [&] {
                    ip::tcp::endpoint const at(server.address(), 443);
                    auto asking = cancelled_goodbye::ask(client.context(), t, at, w.random().below(20'000));
                    co_spawn(client.context(), std::move(asking), rethrow);
                });
                w.run();
                EXPECT_EQ(t.of_first, error::operation_aborted) << t.of_first.message();
                if (closes) {
                    EXPECT_NE(t.of_peer, error::eof) << "the goodbye has never been sent";
                    EXPECT_LE(t.read, t.written);
                    return;
                }
                EXPECT_EQ(t.of_later_write, error::broken_pipe) << t.of_later_write.message();
                EXPECT_FALSE(t.of_second) << t.of_second.message();
                EXPECT_EQ(t.of_peer, error::eof) << t.of_peer.message();
                EXPECT_EQ(t.read, t.written);
            });
}

} // namespace
