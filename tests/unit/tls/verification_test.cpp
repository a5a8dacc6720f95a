// Rows L01, L02, L16, L18: whom a client believes.
#include <fairlead/tls/host_name_verification.hpp>
#include <unit/tls/pair.hpp>

#include <functional>
#include <string>
#include <vector>

#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

namespace {

using namespace fairlead;
using namespace fairlead::test;

/// A handshake with a server that is `who`; the error of the client.
error_code refused_because(identity const& who, std::function<void(tls_pair&)> change = {}) {
    io_context context;
    ssl::context of_server(ssl::context::tls_server);
    use(of_server, who);
    tls_pair p(context, client_context(), std::move(of_server));
    if (change)
        change(p);
    error_code of_client;
    run_through(context, [&]() -> awaitable<void> { of_client = (co_await p.shake_hands()).first; });
    return of_client;
}
error_code because(int reason) { return {reason, ssl::error::get_verify_category()}; }

TEST(Catalogue, L18_CertificateIsRefusedForTheReasonThatItHas) {
    EXPECT_FALSE(refused_because(server()));
    EXPECT_EQ(refused_because(make_identity("server.test", {.begins = -7200, .ends = -3600}, &authority())),
              because(X509_V_ERR_CERT_HAS_EXPIRED));
    EXPECT_EQ(refused_because(make_identity("server.test", {.begins = 3600, .ends = 7200}, &authority())),
              because(X509_V_ERR_CERT_NOT_YET_VALID));
    EXPECT_EQ(refused_because(make_identity("server.test", {.names = "DNS:other.test"}, &authority())),
              because(X509_V_ERR_HOSTNAME_MISMATCH));
    EXPECT_EQ(refused_because(make_identity("server.test")), because(X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT));
    auto const stranger = make_identity("another authority", {.is_authority = true});
    EXPECT_EQ(refused_because(make_identity("server.test", {}, &stranger)),
              because(X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY));
    EXPECT_NE(because(X509_V_ERR_CERT_HAS_EXPIRED).message().find("expired"), std::string::npos);
}

/// The authority has revoked the certificate of `who`.
void revoke(SSL_CTX* of_client, identity const& who) {
    auto const read = [](std::string const& text) {
        return BIO_new_mem_buf(text.data(), static_cast<int>(text.size()));
    };
    auto* const from = read(who.certificate);
    auto* const by = read(authority().certificate);
    auto* const with = read(authority().key);
    X509* const revoked_one = PEM_read_bio_X509(from, nullptr, nullptr, nullptr);
    X509* const issuer = PEM_read_bio_X509(by, nullptr, nullptr, nullptr);
    EVP_PKEY* const key = PEM_read_bio_PrivateKey(with, nullptr, nullptr, nullptr);
    X509_CRL* const list = X509_CRL_new();
    X509_CRL_set_version(list, 1);
    X509_CRL_set_issuer_name(list, X509_get_subject_name(issuer));
    ASN1_TIME* const time = X509_gmtime_adj(nullptr, -60);
    X509_CRL_set1_lastUpdate(list, time);
    X509_REVOKED* const entry = X509_REVOKED_new();
    X509_REVOKED_set_serialNumber(entry, X509_get_serialNumber(revoked_one));
    X509_REVOKED_set_revocationDate(entry, time);
    X509_CRL_add0_revoked(list, entry);
    X509_CRL_set1_nextUpdate(list, X509_gmtime_adj(time, 3600));
    X509_CRL_sort(list);
    X509_CRL_sign(list, key, EVP_sha256());
    auto* const store = SSL_CTX_get_cert_store(of_client);
    X509_STORE_add_crl(store, list);
    X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK);
    ASN1_TIME_free(time);
    X509_CRL_free(list);
    EVP_PKEY_free(key);
    X509_free(issuer);
    X509_free(revoked_one);
    for (auto* const b : {from, by, with})
        BIO_free(b);
}

TEST(Catalogue, L18_RevokedCertificateIsRefused) {
    auto const revoked_one = make_identity("server.test", {}, &authority());
    for (auto const* const who : {&server(), &revoked_one}) {
        io_context context;
        ssl::context of_server(ssl::context::tls_server);
        use(of_server, *who);
        auto of_client = client_context();
        revoke(of_client.native_handle(), revoked_one);
        tls_pair p(context, std::move(of_client), std::move(of_server));
        error_code ec;
        run_through(context, [&]() -> awaitable<void> { ec = (co_await p.shake_hands()).first; });
        EXPECT_EQ(ec, who == &server() ? error_code() : because(X509_V_ERR_CERT_REVOKED)) << ec.message();
    }
}

TEST(Catalogue, L02_NameThatIsSentIsTheOneThatIsVerified) {
    auto const named = [](char const* name) { return [name](tls_pair& p) { p.client.set_host_name(name); }; };
    EXPECT_FALSE(refused_because(server(), named("a.wild.test")));
    EXPECT_EQ(refused_because(server(), named("b.a.wild.test")), because(X509_V_ERR_HOSTNAME_MISMATCH));
    EXPECT_EQ(refused_because(server(), named("erver.test")), because(X509_V_ERR_HOSTNAME_MISMATCH));

    io_context context;
    tls_pair p(context);
    run_through(context, [&p]() -> awaitable<void> { co_await p.shake_hands(); });
    EXPECT_STREQ(SSL_get_servername(p.server.native_handle(), TLSEXT_NAMETYPE_host_name), "server.test");
}

TEST(Catalogue, L02_AddressIsVerifiedAndNotSent) {
    auto const to_address = [](char const* address) {
        return [address](tls_pair& p) { p.client.set_host_name(address); };
    };
    EXPECT_FALSE(refused_because(server(), to_address("127.0.0.1")));
    EXPECT_EQ(refused_because(server(), to_address("127.0.0.2")), because(X509_V_ERR_IP_ADDRESS_MISMATCH));
    io_context context;
    tls_pair p(context);
    to_address("127.0.0.1")(p);
    run_through(context, [&p]() -> awaitable<void> { co_await p.shake_hands(); });
    EXPECT_EQ(SSL_get_servername(p.server.native_handle(), TLSEXT_NAMETYPE_host_name), nullptr);
}

/// OpenSSL would take ".test" for every name below it.
TEST(Catalogue, L02_NameThatIsNoHostIsRefused) {
    io_context context;
    tls_pair p(context);
    for (char const* const name : {"", ".", ".test", ".server.test", "*.wild.test", "server.test:443", "[server.test]",
                                   "[127.0.0.1]", "user@server.test", "server test"}) {
        error_code ec;
        EXPECT_EQ(p.client.set_host_name(name, ec), error::invalid_argument) << name;
        EXPECT_EQ(
            refused_because(server(),
                            [name](tls_pair& q) { q.client.set_verify_callback(ssl::host_name_verification(name)); }),
            because(X509_V_ERR_HOSTNAME_MISMATCH))
            << name;
    }
    EXPECT_FALSE(refused_because(server(), [](tls_pair& q) { q.client.set_host_name("server.test."); }));
    p.client.set_host_name("server.test.");
    run_through(context, [&p]() -> awaitable<void> { co_await p.shake_hands(); });
    EXPECT_STREQ(SSL_get_servername(p.server.native_handle(), TLSEXT_NAMETYPE_host_name), "server.test");
}

TEST(Catalogue, L02_AddressMayHaveBracketsAndAZone) {
    auto const by_address = make_identity("x", {.names = "IP:::1"}, &authority());
    for (char const* const name : {"::1", "[::1]", "::1%lo", "[::1%1]"}) {
        EXPECT_FALSE(refused_because(by_address, [name](tls_pair& p) { p.client.set_host_name(name); })) << name;
        EXPECT_EQ(refused_because(server(), [name](tls_pair& p) { p.client.set_host_name(name); }),
                  because(X509_V_ERR_IP_ADDRESS_MISMATCH))
            << name;
    }
}

TEST(Catalogue, L02_SubjectIsNoName) {
    auto const old = make_identity("server.test", {.names = "IP:10.0.0.1"}, &authority());
    auto const by_name = [](tls_pair& p) { p.client.set_host_name("server.test"); };
    auto const by_function = [](tls_pair& p) {
        p.client.set_verify_callback(ssl::host_name_verification("server.test"));
    };
    EXPECT_EQ(refused_because(old, by_name), because(X509_V_ERR_HOSTNAME_MISMATCH));
    EXPECT_EQ(refused_because(old, by_function), because(X509_V_ERR_HOSTNAME_MISMATCH));
}

TEST(Catalogue, L01_ClientBelievesNobodyUnlessItIsToldTo) {
    io_context context;
    ssl::context trusting_the_system(ssl::context::tls_client);
    tls_pair p(context, std::move(trusting_the_system), server_context());
    error_code of_client;
    run_through(context, [&]() -> awaitable<void> { of_client = (co_await p.shake_hands()).first; });
    EXPECT_EQ(of_client, because(X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY)) << of_client.message();

    auto const unverified = [](tls_pair& q) { q.client.set_verify_mode(ssl::verify_none); };
    EXPECT_FALSE(refused_because(make_identity("anybody"), unverified));
}

TEST(Catalogue, L01_ClientWithoutANameSendsNothing) {
    io_context context;
    auto trusting = client_context();
    auto of_server = server_context();
    tls_socket client(context, trusting), server(context, of_server);
    local::connect_pair(client.next_layer(), server.next_layer());
    error_code ec;
    run_through(context, [&]() -> awaitable<void> {
        auto op = client.async_handshake(ssl::stream_base::client, redirect_error(ec));
        co_await std::move(op);
    });
    EXPECT_EQ(ec, ssl::error::no_host_name);
    EXPECT_EQ(server.next_layer().available(), 0U);
}

/// The outcome for a client whose SSL the program has made of a context of ours, and maybe changed.
error_code outcome_with_ssl_of(ssl::context& c, identity const& who, std::function<void(tls_socket&)> change = {}) {
    io_context context;
    ssl::context of_server(ssl::context::tls_server);
    use(of_server, who);
    tls_socket client(context, SSL_new(c.native_handle())), server(context, of_server);
    local::connect_pair(client.next_layer(), server.next_layer());
    if (change)
        change(client);
    error_code of_client;
    run_through(context, [&]() -> awaitable<void> {
        auto serves = [&]() -> awaitable<void> {
            auto s = server.async_handshake(ssl::stream_base::server, as_tuple);
            co_await std::move(s);
        };
        auto shakes = [&]() -> awaitable<void> {
            auto op = client.async_handshake(ssl::stream_base::client, redirect_error(of_client));
            co_await std::move(op);
            client.next_layer().close();
        };
        co_await when_all(shakes(), serves());
    });
    return of_client;
}
void expect_server_test(tls_socket& s) { s.set_host_name("server.test"); }

TEST(Catalogue, L01_ClientWithAnSslOfTheProgramBelievesNobodyUnlessItIsToldTo) {
    ssl::context trusting_the_system(ssl::context::tls_client);
    EXPECT_EQ(outcome_with_ssl_of(trusting_the_system, server(), expect_server_test),
              because(X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY));
    EXPECT_EQ(outcome_with_ssl_of(trusting_the_system, server()), ssl::error::no_host_name);
    auto safe = client_context();
    EXPECT_FALSE(outcome_with_ssl_of(safe, server(), expect_server_test));
    EXPECT_EQ(outcome_with_ssl_of(safe, make_identity("server.test"), expect_server_test),
              because(X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT));

    auto const unverified = [](tls_socket& s) { s.set_verify_mode(ssl::verify_none); };
    EXPECT_FALSE(outcome_with_ssl_of(safe, make_identity("anybody"), unverified));
    safe.accept_unverified_peers();
    EXPECT_FALSE(outcome_with_ssl_of(safe, make_identity("anybody")));
    ssl::context of_openssl(SSL_CTX_new(TLS_client_method()));
    EXPECT_FALSE(outcome_with_ssl_of(of_openssl, make_identity("anybody"))) << "it is taken as it is";
}

/// Such a stream is seen to verify in no way of its own, and yet it does.
TEST(Catalogue, L14_ClientWithAnSslOfTheProgramKeepsNoSessions) {
    auto safe = client_context();
    safe.keep_sessions(10);
    io_context context;
    ssl::context of_server(ssl::context::tlsv12_server);
    use(of_server, make_identity("impostor"));
    for (bool const is_of_program : {true, false}) {
        tls_socket server(context, of_server),
            client = is_of_program ? tls_socket(context, SSL_new(safe.native_handle())) : tls_socket(context, safe);
        local::connect_pair(client.next_layer(), server.next_layer());
        expect_server_test(client);
        if (is_of_program)
            SSL_set_verify(client.native_handle(), SSL_VERIFY_PEER, [](int, X509_STORE_CTX*) { return 1; });
        error_code of_c, of_s;
        run_through(context, [&]() -> awaitable<void> {
            auto c = client.async_handshake(ssl::stream_base::client, redirect_error(of_c));
            auto s = server.async_handshake(ssl::stream_base::server, redirect_error(of_s));
            co_await when_all(std::move(c), std::move(s));
        });
        EXPECT_EQ(!of_c, is_of_program) << of_c.message();
    }
}

TEST(TlsVerification, AnSslOfTheProgramWithAFunctionOfOpenSslNeedsNoName) {
    auto safe = client_context();
    auto const own_function = [](tls_socket& s) {
        SSL_set_verify(s.native_handle(), SSL_VERIFY_PEER,
                       [](int is_verified, X509_STORE_CTX*) { return is_verified; });
    };
    EXPECT_FALSE(outcome_with_ssl_of(safe, server(), own_function));
    EXPECT_EQ(outcome_with_ssl_of(safe, make_identity("anybody"), own_function),
              because(X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT));
}

/// Each has to be refused, in both forms.
void expect_settled(tls_socket& s) {
    auto* const native = s.native_handle();
    auto const mode = SSL_get_verify_mode(native);
    auto const depth = SSL_get_verify_depth(native);
    auto const callback = SSL_get_verify_callback(native);
    char const* const name = SSL_get_servername(native, TLSEXT_NAMETYPE_host_name);
    std::string const named = name ? name : "";
    auto const accepts = [](bool, ssl::verify_context&) { return true; };
    error_code ec;
    EXPECT_EQ(s.set_host_name("other.test", ec), error::already_started);
    EXPECT_EQ(s.set_verify_mode(mode == ssl::verify_none ? ssl::verify_peer : ssl::verify_none, ec),
              error::already_started);
    EXPECT_EQ(s.set_verify_depth(depth + 3, ec), error::already_started);
    EXPECT_EQ(s.set_verify_callback(accepts, ec), error::already_started);
    EXPECT_EQ(s.set_early_data(buffer("x", 1), ec), error::already_started);
    EXPECT_THROW(s.set_host_name("other.test"), system_error);
    EXPECT_THROW(s.set_verify_mode(ssl::verify_peer), system_error);
    EXPECT_THROW(s.set_verify_depth(3), system_error);
    EXPECT_THROW(s.set_verify_callback(accepts), system_error);
    EXPECT_EQ(SSL_get_verify_mode(native), mode);
    EXPECT_EQ(SSL_get_verify_depth(native), depth);
    EXPECT_EQ(SSL_get_verify_callback(native), callback);
    char const* const is_named = SSL_get_servername(native, TLSEXT_NAMETYPE_host_name);
    EXPECT_EQ(is_named ? is_named : "", named);
}

TEST(TlsVerification, ChoicesOfAStreamComeBeforeItsHandshakeOrAreErrors) {
    io_context context;
    tls_pair p(context);
    p.client.set_verify_depth(4);
    p.server.set_verify_mode(ssl::verify_peer);
    p.client.async_handshake(ssl::stream_base::client, [](error_code ec) { EXPECT_FALSE(ec) << ec.message(); });
    expect_settled(p.client); // It waits for its peer.
    run_through(context, [&]() -> awaitable<void> { co_await p.server.async_handshake(ssl::stream_base::server); });
    expect_settled(p.client);
    expect_settled(p.server);
}

TEST(TlsVerification, ChoicesAfterARefusedHandshakeAreErrors) {
    io_context context;
    auto trusting = client_context();
    tls_socket nameless(context, trusting);
    error_code ec;
    EXPECT_EQ(nameless.handshake(ssl::stream_base::client, ec), ssl::error::no_host_name);
    expect_settled(nameless);
}

TEST(TlsVerification, ChoicesForAnSslThatHasShakenHandsAreErrors) {
    io_context context;
    tls_pair p(context);
    run_through(context, [&]() -> awaitable<void> { co_await p.shake_hands(); });
    SSL_up_ref(p.client.native_handle());
    tls_socket again(context, p.client.native_handle());
    expect_settled(again);
}

TEST(TlsVerification, ACallbackDecidesAsInAsio) {
    auto const asked_of = [](bool answer, int& calls) {
        return [answer, &calls](tls_pair& p) {
            p.client.set_verify_callback([answer, &calls](bool, ssl::verify_context&) {
                ++calls;
                return answer;
            });
        };
    };
    int calls = 0;
    EXPECT_FALSE(refused_because(make_identity("anybody"), asked_of(true, calls)));
    EXPECT_GT(calls, 0);
    EXPECT_EQ(refused_because(server(), asked_of(false, calls)), because(X509_V_ERR_APPLICATION_VERIFICATION));
    auto const by_name = [](char const* name) {
        return [name](tls_pair& p) { p.client.set_verify_callback(ssl::host_name_verification(name)); };
    };
    EXPECT_FALSE(refused_because(server(), by_name("server.test")));
    EXPECT_EQ(refused_because(make_identity("x", {.names = "DNS:other.test"}, &authority()), by_name("server.test")),
              because(X509_V_ERR_HOSTNAME_MISMATCH));
}

TEST(TlsVerification, ACallbackThatThrowsHasNotAccepted) {
    EXPECT_EQ(refused_because(server(),
                              [](tls_pair& p) {
                                  p.client.set_verify_callback([](bool, ssl::verify_context&) -> bool { throw 1; });
                              }),
              because(X509_V_ERR_APPLICATION_VERIFICATION));
}

TEST(TlsVerification, AServerMayAskForACertificate) {
    io_context context;
    auto const own = make_identity("somebody", {.names = "DNS:client.test"}, &authority());
    for (bool const has_one : {true, false}) {
        auto of_client = client_context();
        if (has_one)
            use(of_client, own);
        auto of_server = server_context();
        of_server.add_certificate_authority(buffer(authority().certificate));
        of_server.set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert);
        tls_pair p(context, std::move(of_client), std::move(of_server));
        std::pair<error_code, error_code> ended;
        run_through(context, [&]() -> awaitable<void> { ended = co_await p.shake_hands(); });
        EXPECT_EQ(!ended.second, has_one) << ended.second.message();
    }
}

TEST(TlsVerification, AServerThatFailsWithoutACertificateAsksForOne) {
    io_context context;
    for (auto const m : {ssl::context::tlsv12, ssl::context::tlsv13})
        for (bool const is_of_stream : {true, false})
            for (bool const has_one : {true, false}) {
                auto of_client = client_context(m);
                if (has_one)
                    use(of_client, make_identity("somebody", {}, &authority()));
                auto of_server = server_context(m);
                of_server.add_certificate_authority(buffer(authority().certificate));
                if (!is_of_stream)
                    of_server.set_verify_mode(ssl::verify_fail_if_no_peer_cert);
                tls_pair p(context, std::move(of_client), std::move(of_server));
                if (is_of_stream)
                    p.server.set_verify_mode(ssl::verify_fail_if_no_peer_cert);
                std::pair<error_code, error_code> ended;
                run_through(context, [&]() -> awaitable<void> { ended = co_await p.shake_hands(); });
                EXPECT_EQ(!ended.second, has_one) << ended.second.message();
            }
}

/// The authority of that one has vouched for others, too.
TEST(TlsVerification, OneCertificateAloneCanBeTrusted) {
    auto const sibling = make_identity("server.test", {}, &authority());
    for (auto const* const who : {&server(), &sibling}) {
        io_context context;
        ssl::context pinned(ssl::context::tls_client), of_server(ssl::context::tls_server);
        pinned.add_certificate_authority(buffer(server().certificate));
        use(of_server, *who);
        tls_pair p(context, std::move(pinned), std::move(of_server));
        error_code ec;
        run_through(context, [&]() -> awaitable<void> { ec = (co_await p.shake_hands()).first; });
        EXPECT_EQ(!ec, who == &server()) << ec.message();
    }
}

std::string der_of(identity const& i) {
    auto* const from = BIO_new_mem_buf(i.certificate.data(), static_cast<int>(i.certificate.size()));
    X509* const c = PEM_read_bio_X509(from, nullptr, nullptr, nullptr);
    unsigned char* bytes = nullptr;
    auto const size = i2d_X509(c, &bytes);
    std::string made(reinterpret_cast<char*>(bytes), static_cast<std::size_t>(size));
    OPENSSL_free(bytes);
    X509_free(c);
    BIO_free(from);
    return made;
}

TEST(TlsVerification, BothSidesHaveTheWholeChainOfTheOther) {
    auto const with_authority = [](identity i) {
        i.certificate += authority().certificate;
        return i;
    };
    auto const client_own = make_identity("client.test", {}, &authority());
    for (auto const m : {ssl::context::tlsv12, ssl::context::tlsv13}) {
        io_context context;
        auto of_client = client_context(m);
        ssl::context of_server(m);
        use(of_server, with_authority(server()));
        tls_pair p(context, std::move(of_client), std::move(of_server));
        EXPECT_TRUE(p.client.peer_certificates().empty()) << "before the handshake";
        run_through(context, [&]() -> awaitable<void> { co_await p.shake_hands(); });
        std::vector<std::string> const of_the_server = {der_of(server()), der_of(authority())};
        EXPECT_EQ(p.client.peer_certificates(), of_the_server);
        EXPECT_TRUE(p.server.peer_certificates().empty()) << "nobody has asked the client";

        use(p.of_client, with_authority(client_own));
        p.of_server.add_certificate_authority(buffer(authority().certificate));
        p.of_server.set_verify_mode(ssl::verify_peer);
        p.client = tls_socket(context, p.of_client);
        p.server = tls_socket(context, p.of_server);
        p.connect();
        run_through(context, [&]() -> awaitable<void> { co_await p.shake_hands(); });
        std::vector<std::string> const of_the_client = {der_of(client_own), der_of(authority())};
        EXPECT_EQ(p.server.peer_certificates(), of_the_client);
        EXPECT_EQ(p.client.peer_certificates(), of_the_server);
    }
}

TEST(Catalogue, L16_OldProtocolsAreRefused) {
    for (auto const m : {ssl::context::sslv3, ssl::context::tlsv1_client, ssl::context::tlsv11_server})
        EXPECT_THROW(ssl::context c(m), system_error);
    for (auto const m : {ssl::context::tls, ssl::context::sslv23_client, ssl::context::tlsv12_server}) {
        ssl::context c(m);
        EXPECT_GE(SSL_CTX_get_min_proto_version(c.native_handle()), TLS1_2_VERSION);
    }
    io_context context;
    auto of_server = server_context();
    SSL_CTX_set_min_proto_version(of_server.native_handle(), TLS1_VERSION);
    SSL_CTX_set_max_proto_version(of_server.native_handle(), TLS1_1_VERSION);
    SSL_CTX_set_security_level(of_server.native_handle(), 0);
    tls_pair p(context, client_context(), std::move(of_server));
    std::pair<error_code, error_code> ended;
    run_through(context, [&]() -> awaitable<void> { ended = co_await p.shake_hands(); });
    EXPECT_TRUE(ended.first);
    EXPECT_TRUE(ended.second);
}

} // namespace
