// Row L14: sessions that clients keep, and when they are not resumed.
#include <fairlead/net/acceptor.hpp>
#include <unit/tls/pair.hpp>

#include <string>
#include <utility>

#include <openssl/ssl.h>

namespace {

using namespace fairlead;
using namespace fairlead::test;

class TlsKeptSessions : public testing::TestWithParam<int> {
public:
    TlsKeptSessions() {
        SSL_CTX_set_max_proto_version(of_client.native_handle(), GetParam());
        of_client.keep_sessions(100);
    }
    /// Connects and shakes hands; `change` may do something to the stream before.
    template <class F> error_code connect(std::string const& name, ssl::context& at, F change) {
        client = tls_socket(context, of_client);
        server = tls_socket(context, at);
        return meet(name, change);
    }
    template <class F> error_code meet(std::string const& name, F change) {
        local::connect_pair(client.next_layer(), server.next_layer());
        client.set_host_name(name);
        change(client);
        error_code of_c, of_s;
        run_through(context, [&]() -> awaitable<void> {
            auto c = client.async_handshake(ssl::stream_base::client, redirect_error(of_c));
            auto s = server.async_handshake(ssl::stream_base::server, redirect_error(of_s));
            co_await when_all(std::move(c), std::move(s));
        });
        return of_c;
    }
    error_code connect(std::string const& name = "server.test") {
        return connect(name, of_server, [](tls_socket&) {});
    }
    /// Reads the tickets of TLS 1.3, which stand before the first byte.
    void read_tickets() {
        run_through(context, [&]() -> awaitable<void> {
            co_await async_write(server, buffer("x", 1));
            char c;
            co_await async_read(client, buffer(&c, 1));
        });
    }
    bool resumes(std::string const& name = "server.test") {
        EXPECT_FALSE(connect(name));
        bool const is_resumed = client.is_resumed();
        EXPECT_EQ(server.is_resumed(), is_resumed);
        read_tickets();
        return is_resumed;
    }

    io_context context;
    ssl::context of_client = client_context(), of_server = server_context();
    tls_socket client{context, of_client}, server{context, of_server};
};

TEST_P(TlsKeptSessions, AClientResumesTheOneBefore) {
    EXPECT_FALSE(resumes());
    EXPECT_TRUE(resumes()) << "the connection before has ended without a shutdown";
    EXPECT_TRUE(resumes());
    auto const of_c = of_client.handshakes(), of_s = of_server.handshakes();
    EXPECT_EQ(of_c.of_clients, 3U);
    EXPECT_EQ(of_c.of_servers, 0U);
    EXPECT_EQ(of_c.resumed, 2U);
    EXPECT_EQ(of_s.of_clients, 0U);
    EXPECT_EQ(of_s.of_servers, 3U);
    EXPECT_EQ(of_s.resumed, 2U);
}

TEST_P(TlsKeptSessions, NoneAreKeptUnlessItIsToldTo) {
    of_client.keep_sessions(0);
    EXPECT_FALSE(resumes());
    EXPECT_FALSE(resumes());
    of_client.keep_sessions(1);
    EXPECT_FALSE(resumes());
    EXPECT_TRUE(resumes());
    of_client.keep_sessions(0);
    EXPECT_FALSE(resumes());
}

TEST_P(TlsKeptSessions, TheOldestGoFirst) {
    of_client.keep_sessions(2);
    SSL_CTX_set_num_tickets(of_server.native_handle(), 1);
    EXPECT_FALSE(resumes("a.wild.test"));
    EXPECT_FALSE(resumes("b.wild.test"));
    EXPECT_FALSE(resumes("c.wild.test"));
    EXPECT_TRUE(resumes("c.wild.test"));
    EXPECT_TRUE(resumes("b.wild.test"));
    EXPECT_FALSE(resumes("a.wild.test"));
}

TEST_P(TlsKeptSessions, L14_OneOfAnotherNameIsNotOffered) {
    EXPECT_FALSE(resumes("a.wild.test"));
    EXPECT_FALSE(resumes("b.wild.test")) << "although the server would take it";
    EXPECT_TRUE(resumes("a.wild.test"));
}

/// Two programs listen at one name, and the second one would take sessions of the first.
TEST_P(TlsKeptSessions, L14_OneOfAnotherPortIsNotOffered) {
    using tcp = ip::tcp;
    tcp::acceptor first(context, {ip::address_v4::loopback(), 0}), second(context, {ip::address_v4::loopback(), 0});
    auto const resumes_at = [&](tcp::acceptor& at) {
        ssl::stream<tcp::socket> c(context, of_client), s(context, of_server);
        c.set_host_name("server.test");
        run_through(context, [&]() -> awaitable<void> {
            auto connecting = c.next_layer().async_connect(at.local_endpoint());
            auto accepting = at.async_accept(s.next_layer());
            co_await when_all(std::move(connecting), std::move(accepting));
            auto shakes = c.async_handshake(ssl::stream_base::client);
            auto serves = s.async_handshake(ssl::stream_base::server);
            co_await when_all(std::move(shakes), std::move(serves));
            co_await async_write(s, buffer("x", 1)); // Tickets stand before it.
            char got;
            co_await async_read(c, buffer(&got, 1));
        });
        return c.is_resumed();
    };
    EXPECT_FALSE(resumes_at(first));
    EXPECT_TRUE(resumes_at(first));
    EXPECT_FALSE(resumes_at(second)) << "although the server would take it";
    EXPECT_TRUE(resumes_at(second));
    EXPECT_TRUE(resumes_at(first));
}

/// A client that believed whoever answered has made one; now it verifies, and must not believe the same one by it.
TEST_P(TlsKeptSessions, L14_OneThatWasNotVerifiedIsNotResumedByAContextThatVerifies) {
    auto impostor = ssl::context(ssl::context::tls_server);
    use(impostor, make_identity("server.test"));
    of_client.set_verify_mode(ssl::verify_none);
    EXPECT_FALSE(connect("server.test", impostor, [](tls_socket&) {}));
    of_client.set_verify_mode(ssl::verify_peer);
    read_tickets(); // They come late.
    EXPECT_TRUE(connect("server.test", impostor, [](tls_socket&) {}));

    of_client.set_verify_mode(ssl::verify_none);
    EXPECT_FALSE(connect("server.test", impostor, [](tls_socket&) {}));
    read_tickets();
    of_client.set_verify_mode(ssl::verify_peer);
    EXPECT_TRUE(connect("server.test", impostor, [](tls_socket&) {}));
}

TEST_P(TlsKeptSessions, L14_StreamsThatVerifyInAWayOfTheirOwnKeepNone) {
    auto impostor = ssl::context(ssl::context::tls_server);
    use(impostor, make_identity("server.test"));
    auto const each = {+[](tls_socket& s) { s.set_verify_mode(ssl::verify_none); },
                       +[](tls_socket& s) { s.set_verify_callback([](bool, ssl::verify_context&) { return true; }); }};
    for (auto* const change : each) {
        EXPECT_FALSE(connect("server.test", impostor, change));
        read_tickets();
        EXPECT_TRUE(connect("server.test", impostor, [](tls_socket&) {}));
    }
    EXPECT_FALSE(resumes());
    EXPECT_FALSE(connect("server.test", of_server, *each.begin()));
    EXPECT_FALSE(client.is_resumed());
    EXPECT_FALSE(connect("server.test", of_server, [](tls_socket& s) { s.set_verify_depth(3); }));
    EXPECT_FALSE(client.is_resumed());
}

/// Its session is kept as one of the context.
TEST_P(TlsKeptSessions, L14_StreamsCannotBeginToVerifyInAWayOfTheirOwnAfterTheHandshake) {
    EXPECT_FALSE(connect());
    error_code ec;
    EXPECT_EQ(client.set_verify_depth(3, ec), error::already_started);
    read_tickets();
    EXPECT_FALSE(connect());
    EXPECT_TRUE(client.is_resumed());
}

/// OpenSSL ends a handshake whose session is of another context, as it calls a context that has changed.
TEST_P(TlsKeptSessions, ASessionThatTheProgramSetsIsResumedAlthoughTheContextHasChanged) {
    EXPECT_FALSE(resumes());
    auto* const session = SSL_get1_session(client.native_handle());
    of_client.set_verify_depth(3);
    EXPECT_FALSE(
        connect("server.test", of_server, [&](tls_socket& s) { SSL_set_session(s.native_handle(), session); }));
    EXPECT_TRUE(client.is_resumed());
    SSL_SESSION_free(session);
    read_tickets();
    tls_socket before(context, of_client);
    of_client.set_verify_depth(4);
    EXPECT_FALSE(resumes());
    client = std::move(before);
    server = tls_socket(context, of_server);
    EXPECT_FALSE(meet("server.test", [](tls_socket&) {}));
    EXPECT_TRUE(client.is_resumed());
}

TEST_P(TlsKeptSessions, L14_OneOfAnotherClientIsNotResumed) {
    of_server.set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert);
    of_server.add_certificate_authority(buffer(authority().certificate));
    use(of_client, make_identity("first client", {}, &authority()));
    EXPECT_FALSE(resumes());
    EXPECT_TRUE(resumes());
    use(of_client, make_identity("second client", {}, &authority()));
    EXPECT_FALSE(resumes());
    char name[100] = {};
    auto* const shown = SSL_get1_peer_certificate(server.native_handle());
    X509_NAME_get_text_by_NID(X509_get_subject_name(shown), NID_commonName, name, sizeof name);
    X509_free(shown);
    EXPECT_STREQ(name, "second client");
}

TEST_P(TlsKeptSessions, TicketsOfTls13AreUsedOnce) {
    SSL_CTX_set_num_tickets(of_server.native_handle(), 1);
    EXPECT_FALSE(resumes());
    EXPECT_FALSE(connect());
    EXPECT_TRUE(client.is_resumed());
    EXPECT_FALSE(connect()); // The tickets of the one before have not been read.
    EXPECT_EQ(client.is_resumed(), GetParam() == TLS1_2_VERSION);
}

TEST_P(TlsKeptSessions, AContextOfOpenSslKeepsThemToo) {
    ssl::context taken_over(SSL_CTX_new(TLS_client_method()));
    SSL_CTX_set_max_proto_version(taken_over.native_handle(), GetParam());
    taken_over.add_certificate_authority(buffer(authority().certificate));
    taken_over.set_verify_mode(ssl::verify_peer);
    taken_over.keep_sessions(1);
    std::swap(of_client, taken_over);
    EXPECT_FALSE(resumes());
    EXPECT_TRUE(resumes());
}

INSTANTIATE_TEST_SUITE_P(Versions, TlsKeptSessions, testing::Values(TLS1_2_VERSION, TLS1_3_VERSION),
                         [](auto const& v) { return v.param == TLS1_2_VERSION ? "Tls12" : "Tls13"; });

} // namespace
