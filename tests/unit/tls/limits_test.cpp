// Limits of handshakes, and the functions by which a program gives up what is safe (rows L01, L03, L10, L11, L13, L16).
#include <fairlead/base/durations.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <unit/tls/pair.hpp>

#include <chrono>
#include <string>
#include <utility>

#include <openssl/ssl.h>

namespace {

using namespace fairlead;
using namespace fairlead::test;
using namespace std::chrono_literals;

ssl::context limited_client(int version) {
    auto c = client_context();
    SSL_CTX_set_max_proto_version(c.native_handle(), version);
    return c;
}

class TlsLimits : public testing::TestWithParam<int> {
public:
    io_context context;
    tls_pair p{context, limited_client(GetParam()), server_context()};
    /// With what the contexts say now.
    void connect_anew() {
        p.client = tls_socket(context, p.of_client);
        p.server = tls_socket(context, p.of_server);
        p.connect();
    }
    std::pair<error_code, error_code> handshake() {
        connect_anew();
        std::pair<error_code, error_code> ended;
        run_through(context, [&]() -> awaitable<void> { ended = co_await p.shake_hands(); });
        return ended;
    }
    awaitable<error_code> handshake_alone(tls_socket& s, ssl::stream_base::handshake_type t) {
        error_code ec;
        auto op = s.async_handshake(t, redirect_error(ec));
        co_await std::move(op);
        co_return ec;
    }
};

TEST_P(TlsLimits, L10_APeerThatSaysNothingHasATimeLimit) {
    p.of_client.set_handshake_timeout(10ms);
    p.of_server.set_handshake_timeout(10ms);
    connect_anew();
    run_through(context, [&]() -> awaitable<void> {
        EXPECT_EQ(co_await handshake_alone(p.server, ssl::stream_base::server), ssl::error::handshake_timed_out);
        EXPECT_EQ(co_await handshake_alone(p.client, ssl::stream_base::client), ssl::error::handshake_timed_out);
        EXPECT_EQ(co_await handshake_alone(p.client, ssl::stream_base::client), ssl::error::handshake_timed_out)
            << "once more is no other";
    });
    EXPECT_TRUE(context.stopped());
}

TEST_P(TlsLimits, L10_HandshakesThatGoOnHaveOneTimeLimitTogether) {
    p.of_server.set_handshake_timeout(100ms);
    connect_anew();
    auto const began = std::chrono::steady_clock::now();
    run_through(context, [&]() -> awaitable<void> {
        error_code ec = error::operation_aborted;
        int cancelled = -1;
        while (ec == error::operation_aborted && cancelled < 10'000) {
            ++cancelled;
            auto op = p.server.async_handshake(ssl::stream_base::server, cancel_after(1ms, redirect_error(ec)));
            co_await std::move(op);
        }
        EXPECT_EQ(ec, ssl::error::handshake_timed_out);
        EXPECT_GT(cancelled, 0);
    });
    EXPECT_GE(std::chrono::steady_clock::now() - began, 100ms);
}

TEST_P(TlsLimits, AHandshakeThatHasEndedHasNoTimer) {
    EXPECT_FALSE(handshake().first);
    EXPECT_TRUE(context.stopped()) << "a timer of 30 s is still pending";
    connect_anew();
    run_through(context, [&]() -> awaitable<void> {
        error_code ec;
        auto op = p.server.async_handshake(ssl::stream_base::server, cancel_after(1ms, redirect_error(ec)));
        co_await std::move(op);
        EXPECT_EQ(ec, error::operation_aborted);
    });
    EXPECT_TRUE(context.stopped()) << "of a handshake that was cancelled";
    p.server.async_handshake(ssl::stream_base::server, [](error_code ec) { EXPECT_EQ(ec, error::operation_aborted); });
    context.restart();
    context.poll();
    p.server = tls_socket(context, p.of_server);
    context.restart();
    context.run_for(20s);
    EXPECT_TRUE(context.stopped()) << "of a stream that has gone";
}

TEST_P(TlsLimits, AnEndlessHandshakeIsAcceptedOnlyByItsName) {
    error_code ec;
    p.of_server.set_handshake_timeout(0s, ec);
    EXPECT_EQ(ec, error::invalid_argument);
    p.of_server.set_handshake_timeout(1ns);
    p.of_server.accept_endless_handshakes();
    connect_anew();
    run_through(context, [&]() -> awaitable<void> {
        auto op = p.server.async_handshake(ssl::stream_base::server, cancel_after(20ms, redirect_error(ec)));
        co_await std::move(op);
    });
    EXPECT_EQ(ec, error::operation_aborted);
}

TEST_P(TlsLimits, L07_AShutdownWhosePeerIsMuteEndsByItself) {
    p.of_client.set_shutdown_timeout(10ms);
    connect_anew();
    run_through(context, [&]() -> awaitable<void> {
        co_await p.shake_hands();
        error_code ec;
        auto const began = std::chrono::steady_clock::now();
        auto ending = p.client.async_shutdown(redirect_error(ec));
        co_await std::move(ending);
        EXPECT_EQ(ec, ssl::error::shutdown_timed_out) << ec.message();
        EXPECT_GE(std::chrono::steady_clock::now() - began, 10ms);
        char got[10];
        auto reading = p.server.async_read_some(buffer(got), redirect_error(ec));
        co_await std::move(reading);
        EXPECT_EQ(ec, error::eof) << "close_notify has been sent";
        auto const answers = [](tls_socket& s, error_code& e) -> awaitable<void> {
            auto op = s.async_shutdown(redirect_error(e));
            co_await std::move(op);
        };
        error_code of_server, again;
        auto server = answers(p.server, of_server);
        auto client = answers(p.client, again); // The stream goes on, and so may a shutdown.
        co_await when_all(std::move(server), std::move(client));
        EXPECT_FALSE(of_server) << of_server.message();
        EXPECT_FALSE(again) << again.message();
    });
    EXPECT_TRUE(context.stopped()) << "a timer is still pending";
}

TEST_P(TlsLimits, L07_AShutdownThatWasAnsweredHasNoTimer) {
    connect_anew();
    run_through(context, [&]() -> awaitable<void> {
        co_await p.shake_hands();
        error_code of_c, of_s;
        auto c = p.client.async_shutdown(redirect_error(of_c));
        auto s = p.server.async_shutdown(redirect_error(of_s));
        co_await when_all(std::move(c), std::move(s));
        EXPECT_FALSE(of_c);
        EXPECT_FALSE(of_s);
    });
    EXPECT_TRUE(context.stopped()) << "a timer of 30 s is still pending";
}

TEST_P(TlsLimits, AnEndlessShutdownIsAcceptedOnlyByItsName) {
    error_code ec;
    p.of_client.set_shutdown_timeout(0s, ec);
    EXPECT_EQ(ec, error::invalid_argument);
    p.of_client.set_shutdown_timeout(1ns);
    p.of_client.accept_endless_shutdowns();
    connect_anew();
    run_through(context, [&]() -> awaitable<void> {
        co_await p.shake_hands();
        auto op = p.client.async_shutdown(cancel_after(20ms, redirect_error(ec)));
        co_await std::move(op);
    });
    EXPECT_EQ(ec, error::operation_aborted);
}

TEST_P(TlsLimits, L13_APeersHandshakeMayHaveSoManyBytes) {
    error_code ec;
    p.of_client.set_handshake_size_max(0, ec);
    EXPECT_EQ(ec, error::invalid_argument);
    p.of_client.set_handshake_size_max(std::size_t{1} << 31, ec);
    EXPECT_EQ(ec, error::invalid_argument);
    auto chain = server();
    while (chain.certificate.size() < 400'000)
        chain.certificate += authority().certificate;
    use(p.of_server, chain);
    auto const ends = [&] {
        connect_anew();
        error_code of_client, of_server;
        run_through(context, [&]() -> awaitable<void> {
            auto const gives_up = [](TlsLimits& t, error_code& e) -> awaitable<void> {
                e = co_await t.handshake_alone(t.p.client, ssl::stream_base::client);
                if (e)
                    t.p.client.next_layer().close(); // The server is still writing.
            };
            auto client = gives_up(*this, of_client);
            auto serving = p.server.async_handshake(ssl::stream_base::server, redirect_error(of_server));
            co_await when_all(std::move(client), std::move(serving));
        });
        return of_client;
    };
    EXPECT_EQ(ends(), ssl::error::handshake_too_large) << "as it is made";
    p.of_client.set_handshake_size_max(600'000);
    EXPECT_FALSE(ends());
    p.of_client.set_handshake_size_max(200'000);
    EXPECT_EQ(ends(), ssl::error::handshake_too_large);
}

/// Each message is small enough for OpenSSL, and there is no end to them.
TEST_P(TlsLimits, L13_ManySmallMessagesAreTooManyBytesToo) {
    p.of_server.set_handshake_size_max(1'000);
    connect_anew();
    error_code ec;
    run_through(context, [&]() -> awaitable<void> {
        // A greeting of 100,000 bytes, of which the last ones do not come.
        std::string head("\x16\x03\x01\x40\x00\x01\x01\x86\xa0\x03\x03", 11);
        head.resize(5 + 0x4000, 'g');
        co_await async_write(p.client.next_layer(), buffer(head));
        ec = co_await handshake_alone(p.server, ssl::stream_base::server);
    });
    EXPECT_EQ(ec, ssl::error::handshake_too_large) << ec.message();
    EXPECT_NE(ec.message().find("handshake"), std::string::npos);
}

TEST_P(TlsLimits, L03_ACutIsAnEndOnlyIfTheProgramSaysSo) {
    error_code ec;
    char some[10];
    for (bool const is_accepted : {false, true}) {
        if (is_accepted)
            p.of_client.accept_truncated_streams();
        EXPECT_FALSE(handshake().first);
        run_through(context, [&]() -> awaitable<void> {
            p.server.next_layer().close();
            auto op = p.client.async_read_some(buffer(some), redirect_error(ec));
            co_await std::move(op);
        });
        EXPECT_EQ(ec, is_accepted ? error_code(error::eof) : error_code(ssl::error::stream_truncated));
    }
}

/// Bytes are missing for certain then.
TEST_P(TlsLimits, L03_ACutInsideARecordIsNeverAnEnd) {
    p.of_client.accept_truncated_streams();
    for (std::size_t const cut : {1U, 5U, 6U, 20U}) {
        EXPECT_FALSE(handshake().first);
        error_code ec;
        run_through(context, [&]() -> awaitable<void> {
            auto& raw = p.server.next_layer();
            std::string record("\x17\x03\x03\x00\x40", 5);
            record.resize(69, 'r');
            co_await async_write(raw, buffer(record.data(), cut));
            raw.close();
            char some[10];
            do {
                ec = {};
                auto op = p.client.async_read_some(buffer(some), redirect_error(ec));
                co_await std::move(op);
            } while (!ec);
        });
        EXPECT_EQ(ec, ssl::error::stream_truncated) << "after " << cut << " bytes of it";
    }
}

TEST_P(TlsLimits, L03_AHandshakeThatIsCutIsNeverAnEnd) {
    p.of_client.accept_truncated_streams();
    connect_anew();
    run_through(context, [&]() -> awaitable<void> {
        p.server.next_layer().shutdown(socket_base::shutdown_send);
        EXPECT_EQ(co_await handshake_alone(p.client, ssl::stream_base::client), ssl::error::stream_truncated);
    });
}

TEST_P(TlsLimits, L01_AnUnverifiedPeerIsBelievedOnlyIfTheProgramSaysSo) {
    use(p.of_server, make_identity("anybody"));
    EXPECT_EQ(handshake().first, ssl::condition::certificate_refused);
    p.of_client.accept_unverified_peers();
    EXPECT_FALSE(handshake().first);
}

TEST(TlsGivenUp, L16_OldProtocolsAreSpokenOnlyIfTheProgramSaysSo) {
    io_context context;
    for (bool const is_accepted : {false, true}) {
        auto of_client = client_context(), of_server = server_context();
        of_server.accept_obsolete_protocols();
        SSL_CTX_set_max_proto_version(of_server.native_handle(), TLS1_1_VERSION);
        if (is_accepted)
            of_client.accept_obsolete_protocols();
        tls_pair p(context, std::move(of_client), std::move(of_server));
        run_through(context, [&]() -> awaitable<void> {
            auto const ends = co_await p.shake_hands();
            EXPECT_EQ(!ends.first, is_accepted) << ends.first.message();
            EXPECT_EQ(!ends.second, is_accepted);
        });
        if (is_accepted) {
            EXPECT_EQ(p.client.protocol_version(), "TLSv1.1");
        }
    }
}

TEST(TlsGivenUp, L11_AHandshakeBeginsAnewOnlyIfTheProgramSaysSo) {
    io_context context;
    for (bool const is_accepted : {false, true}) {
        ssl::context with_all_of_it(SSL_CTX_new(TLS_client_method()));
        SSL_CTX_set_max_proto_version(with_all_of_it.native_handle(), TLS1_2_VERSION);
        auto of_server = server_context();
        if (is_accepted)
            of_server.accept_renegotiation();
        tls_pair p(context, std::move(with_all_of_it), std::move(of_server));
        std::string got;
        error_code again;
        run_through(context, [&]() -> awaitable<void> {
            co_await p.shake_hands();
            EXPECT_EQ(SSL_renegotiate(p.client.native_handle()), 1);
            auto const serves = [](tls_pair& of, std::string& into) -> awaitable<void> {
                error_code ec;
                char some[10];
                auto op = of.server.async_read_some(buffer(some), redirect_error(ec));
                into.assign(some, co_await std::move(op));
                if (ec)
                    of.server.next_layer().close();
            };
            auto const asks = [](tls_pair& of, error_code& ec) -> awaitable<void> {
                auto op = of.client.async_handshake(ssl::stream_base::client, redirect_error(ec));
                co_await std::move(op);
                if (!ec)
                    co_await async_write(of.client, buffer("anew", 4));
            };
            auto server = serves(p, got);
            auto client = asks(p, again);
            co_await when_all(std::move(client), std::move(server));
        });
        EXPECT_EQ(!again, is_accepted) << again.message();
        EXPECT_EQ(got, is_accepted ? "anew" : "");
    }
}

INSTANTIATE_TEST_SUITE_P(Versions, TlsLimits, testing::Values(TLS1_2_VERSION, TLS1_3_VERSION),
                         [](auto const& v) { return v.param == TLS1_2_VERSION ? "Tls12" : "Tls13"; });

} // namespace
