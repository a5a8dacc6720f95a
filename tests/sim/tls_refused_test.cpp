// Row L15: a client that is refused writes before it reads. Its write says why if a read would.
#include <fairlead/coro/spawn.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/sim/seeds.hpp>
#include <fairlead/sim/world.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/tls/stream.hpp>
#include <fairlead/token/adapters.hpp>
#include <sim/tls_chance.hpp>
#include <support/scale.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <utility>

#include <openssl/ssl.h>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;

/// The client shows no certificate.
struct refused_visit {
    ssl::context of_server = test::tls_script::scripted_context(false, TLS1_3_VERSION);
    ssl::context of_client = test::tls_script::scripted_context(true, TLS1_3_VERSION);
    error_code of_handshake, of_write, of_read;
    int written = 0;

    refused_visit() { of_server.set_verify_mode(ssl::verify_fail_if_no_peer_cert); }
    static awaitable<void> serve(io_context& c, refused_visit& t) {
        ip::tcp::acceptor acceptor(c, {ip::tcp::v4(), 443});
        ssl::stream<ip::tcp::socket> side(co_await acceptor.async_accept(), t.of_server);
        auto op = side.async_handshake(ssl::stream_base::server, redirect_error(t.of_handshake));
        co_await std::move(op);
    }
    static awaitable<void> visit(io_context& c, refused_visit& t, ip::tcp::endpoint at) {
        ssl::stream<ip::tcp::socket> client(c, t.of_client);
        client.set_host_name("server.test");
        co_await client.next_layer().async_connect(at);
        auto agreed = client.async_handshake(ssl::stream_base::client, redirect_error(t.of_write));
        co_await std::move(agreed); // Its own last bytes may be those that come too late.
        steady_timer pause(c);
        for (; !t.of_write && t.written != 1000; ++t.written) {
            auto op = async_write(client, buffer("request", 7), redirect_error(t.of_write));
            co_await std::move(op);
            pause.expires_after(5ms);
            co_await pause.async_wait();
        }
        char got[10];
        auto op = client.async_read_some(buffer(got), redirect_error(t.of_read));
        co_await std::move(op);
    }
};

TEST(TlsRefused, L15_AClientHearsInItsWriteThatItIsRefused) {
    int told = 0;
    sim::for_each_seed(test::scaled(200, 50), [&](sim::world& w) {
        test::tls_script::openssl_chance const chance(w.seed());
        refused_visit t;
        auto& server = w.add_host("server");
        auto& client = w.add_host("client");
        co_spawn(server.context(), refused_visit::serve(server.context(), t), rethrow);
        w.at(1s, [&] {
            ip::tcp::endpoint const at(server.address(), 443);
            co_spawn(client.context(), refused_visit::visit(client.context(), t, at), rethrow);
        });
        w.run();
        EXPECT_EQ(t.of_handshake, ssl::condition::certificate_refused) << t.of_handshake.message();
        bool const is_told = t.of_write == ssl::condition::certificate_refused;
        bool const is_told_later = t.of_read == ssl::condition::certificate_refused;
        if (is_told || w.counts().of(sim::rule::short_read) == 0) { // The write looks once. It may get half an alert.
            EXPECT_EQ(is_told, is_told_later) << t.of_write.message() << ", but " << t.of_read.message();
        }
        EXPECT_TRUE(is_told || t.of_write == error::connection_reset || t.of_write == error::broken_pipe)
            << t.of_write.message();
        told += is_told; // A reset may overtake the alert.
    });
    EXPECT_GT(told, 10);
}

} // namespace
