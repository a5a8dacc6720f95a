// Writes to a peer that has gone, and has said why. With TLS 1.3 a client may write before it reads that it is refused.
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <unit/tls/pair.hpp>

#include <string>
#include <utility>

#include <openssl/ssl.h>

namespace {

using namespace fairlead;
using namespace fairlead::test;

ssl::context demanding_server() {
    auto c = server_context();
    c.add_certificate_authority(buffer(authority().certificate));
    c.set_verify_mode(ssl::verify_fail_if_no_peer_cert);
    return c;
}
ssl::context stranger() {
    auto c = client_context();
    use(c, make_identity("stranger"));
    return c;
}

class TlsRefusedWrites : public testing::Test {
public:
    /// Writes until that fails. The first ones may go into a connection whose end has not been noticed.
    template <class Stream> awaitable<error_code> write_until_error(Stream& s) {
        error_code ec;
        for (int i = 0; i != 10'000 && !ec; ++i) {
            auto op = async_write(s, buffer("request", 7), redirect_error(ec));
            co_await std::move(op);
        }
        co_return ec;
    }
    /// The server ends the connection for an error, and says which.
    static void break_off(tls_pair& p) {
        char some[10];
        error_code ec;
        p.client.next_layer().write_some(buffer(std::string(30, 'x')));
        p.server.read_some(buffer(some), ec);
        EXPECT_EQ(ec.category(), error::get_ssl_category()) << ec.message();
        p.server.next_layer().close();
    }
    static bool is_alert(error_code const& ec) {
        return ec.category() == error::get_ssl_category() && ec.message().find("alert") != std::string::npos;
    }
    io_context context;
    char got[100];
};

TEST_F(TlsRefusedWrites, AClientThatIsRefusedHearsWhyInItsWrite) {
    tls_pair p(context, stranger(), demanding_server());
    run_through(context, [&]() -> awaitable<void> {
        auto const [of_client, of_server] = co_await p.shake_hands();
        EXPECT_FALSE(of_client) << of_client.message();
        EXPECT_EQ(of_server, ssl::condition::certificate_refused) << of_server.message();
        p.server.next_layer().close();
        auto const first = co_await write_until_error(p.client);
        EXPECT_EQ(first, ssl::condition::certificate_refused) << first.message();
        EXPECT_EQ(co_await write_until_error(p.client), first) << "and in each later one";
        error_code ec;
        auto op = p.client.async_read_some(buffer(got), redirect_error(ec));
        co_await std::move(op);
        EXPECT_EQ(ec, first) << ec.message();
    });
}

TEST_F(TlsRefusedWrites, ItHearsWhyOverTcpToo) {
    auto of_client = stranger(), of_server = demanding_server();
    ip::tcp::acceptor acceptor(context, {ip::address_v4::loopback(), 0});
    ssl::stream<ip::tcp::socket> client(context, of_client), server(context, of_server);
    client.set_host_name("server.test");
    client.next_layer().connect(acceptor.local_endpoint());
    acceptor.accept(server.next_layer());
    run_through(context, [&]() -> awaitable<void> {
        error_code of_c, of_s;
        auto c = client.async_handshake(ssl::stream_base::client, redirect_error(of_c));
        auto s = server.async_handshake(ssl::stream_base::server, redirect_error(of_s));
        co_await when_all(std::move(c), std::move(s));
        EXPECT_FALSE(of_c) << of_c.message();
        EXPECT_EQ(of_s, ssl::condition::certificate_refused);
        server.next_layer().close();
        auto const ec = co_await write_until_error(client);
        EXPECT_EQ(ec, ssl::condition::certificate_refused) << ec.message();
    });
}

TEST_F(TlsRefusedWrites, AWriteInTheCallingThreadSaysWhyToo) {
    tls_pair p(context);
    run_through(context, [&]() -> awaitable<void> { co_await p.shake_hands(); });
    break_off(p);
    error_code ec;
    p.client.write_some(buffer("request", 7), ec);
    EXPECT_TRUE(is_alert(ec)) << ec.message();
    p.client.shutdown_send(ec);
    EXPECT_TRUE(is_alert(ec)) << ec.message();
}

TEST_F(TlsRefusedWrites, WhatCameBeforeTheAlertStaysForTheNextRead) {
    tls_pair p(context);
    std::string const text(20'000, 't'); // two records
    run_through(context, [&]() -> awaitable<void> {
        co_await p.shake_hands();
        co_await async_write(p.server, buffer(text));
    });
    break_off(p);
    error_code ec;
    for (int i = 0; i != 3; ++i) {
        p.client.write_some(buffer("request", 7), ec);
        EXPECT_TRUE(ec == error::broken_pipe || ec == error::connection_reset) << ec.message();
    }
    std::string all;
    ec = {};
    while (!ec)
        all.append(got, p.client.read_some(buffer(got), ec));
    EXPECT_EQ(all, text);
    EXPECT_TRUE(is_alert(ec)) << ec.message();
}

TEST_F(TlsRefusedWrites, AnAlertThatWasReadAndNotLookedAtIsFound) {
    tls_pair p(context);
    run_through(context, [&]() -> awaitable<void> {
        co_await p.shake_hands();
        co_await async_write(p.server, buffer("data", 4));
    });
    break_off(p);
    EXPECT_EQ(p.client.read_some(buffer(got)), 4U);
    error_code ec;
    p.client.write_some(buffer("request", 7), ec);
    EXPECT_TRUE(is_alert(ec)) << ec.message();
}

TEST_F(TlsRefusedWrites, AReadThatIsPendingGetsTheAlertItself) {
    tls_pair p(context);
    error_code of_write, of_read;
    run_through(context, [&]() -> awaitable<void> {
        co_await p.shake_hands();
        bool is_over = false;
        p.client.async_read_some(buffer(got), [&](error_code ec, std::size_t) {
            of_read = ec;
            is_over = true;
        });
        for (int i = 0; i != 3; ++i)
            co_await post(context, use_await); // The tickets are read, and more is waited for.
        break_off(p);
        p.client.write_some(buffer("request", 7), of_write);
        EXPECT_FALSE(is_over);
        while (!is_over)
            co_await post(context, use_await);
    });
    EXPECT_TRUE(of_write == error::broken_pipe || of_write == error::connection_reset) << of_write.message();
    EXPECT_TRUE(is_alert(of_read)) << of_read.message();
}

TEST_F(TlsRefusedWrites, WithoutAnAlertTheErrorIsThatOfTheSocket) {
    tls_pair p(context);
    run_through(context, [&]() -> awaitable<void> { co_await p.shake_hands(); });
    p.server.next_layer().close();
    error_code ec;
    for (int i = 0; i != 2; ++i) {
        p.client.write_some(buffer("request", 7), ec);
        EXPECT_TRUE(ec == error::broken_pipe || ec == error::connection_reset) << ec.message();
    }
    p.client.read_some(buffer(got), ec);
    EXPECT_EQ(ec, ssl::error::stream_truncated) << ec.message();
}

} // namespace
