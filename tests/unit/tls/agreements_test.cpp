// Agreements of a handshake besides keys: protocols (ALPN), the name of the server (SNI), and sessions (row L14).
#include <unit/tls/pair.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <openssl/err.h>
#include <openssl/ssl.h>

namespace {

using namespace fairlead;
using namespace fairlead::test;
using names = std::vector<std::string>;

struct agreement {
    error_code of_client, of_server;
    std::string of_the_client, of_the_server;
};
agreement after_handshake(names const& offered, names const& taken) {
    io_context context;
    tls_pair p(context);
    if (!offered.empty())
        p.of_client.set_alpn_protocols(offered);
    if (!taken.empty())
        p.of_server.set_alpn_protocols(taken);
    p.client = tls_socket(context, p.of_client);
    p.server = tls_socket(context, p.of_server);
    p.connect();
    agreement a;
    run_through(context, [&]() -> awaitable<void> {
        auto const ends = co_await p.shake_hands();
        a = {ends.first, ends.second, std::string(p.client.alpn_protocol()), std::string(p.server.alpn_protocol())};
    });
    return a;
}

TEST(TlsProtocols, TheServerTakesItsFirstThatIsOffered) {
    auto const a = after_handshake({"http/1.1", "h2", "h3"}, {"spdy", "h2", "http/1.1"});
    EXPECT_FALSE(a.of_client);
    EXPECT_EQ(a.of_the_client, "h2");
    EXPECT_EQ(a.of_the_server, "h2");
}

TEST(TlsProtocols, OneSideAloneAgreesOnNone) {
    for (auto const& [offered, taken] : {std::pair<names, names>{{"h2"}, {}}, {{}, {"h2"}}, {{}, {}}}) {
        auto const a = after_handshake(offered, taken);
        EXPECT_FALSE(a.of_client) << a.of_client.message();
        EXPECT_FALSE(a.of_server) << a.of_server.message();
        EXPECT_EQ(a.of_the_client + a.of_the_server, "");
    }
}

TEST(TlsProtocols, AClientThatOffersOnlyOthersIsRefused) {
    auto const a = after_handshake({"h"}, {"h2"});
    EXPECT_EQ(ERR_GET_REASON(static_cast<unsigned long>(a.of_client.value())),
              SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL)
        << a.of_client.message();
    EXPECT_TRUE(a.of_server);
}

TEST(TlsProtocols, NamesThatCannotBeSentAreRefused) {
    ssl::context c(ssl::context::tls);
    error_code ec;
    c.set_alpn_protocols({"h2", ""}, ec);
    EXPECT_EQ(ec, error::invalid_argument);
    c.set_alpn_protocols({std::string(256, 'a')}, ec);
    EXPECT_EQ(ec, error::invalid_argument);
    c.set_alpn_protocols(names(256, std::string(255, 'a')), ec);
    EXPECT_EQ(ec, error::invalid_argument);
    c.set_alpn_protocols(names(255, std::string(255, 'a')), ec);
    EXPECT_FALSE(ec);
    c.set_alpn_protocols({}, ec);
    EXPECT_FALSE(ec);
}

/// A server of two names: "server.test", and "other.test", for which it has another context.
class TlsServerNames : public testing::Test {
public:
    static std::shared_ptr<ssl::context> context_of(std::string const& name) {
        auto made = std::make_shared<ssl::context>(ssl::context::tls_server);
        use(*made, make_identity(name, {.names = "DNS:" + name}, &authority()));
        return made;
    }
    std::pair<error_code, error_code> handshake_with(std::string const& name) {
        client = tls_socket(context, of_client);
        server = tls_socket(context, of_server);
        local::connect_pair(client.next_layer(), server.next_layer());
        if (!name.empty())
            client.set_host_name(name);
        error_code of_c, of_s;
        run_through(context, [&]() -> awaitable<void> {
            auto c = client.async_handshake(ssl::stream_base::client, redirect_error(of_c));
            auto s = server.async_handshake(ssl::stream_base::server, redirect_error(of_s));
            co_await when_all(std::move(c), std::move(s));
        });
        return {of_c, of_s};
    }

    io_context context;
    ssl::context of_client = client_context(), of_server = server_context();
    std::shared_ptr<ssl::context> other = context_of("other.test");
    names asked;
    tls_socket client{context, of_client}, server{context, of_server};

    void choose() {
        of_server.set_server_name_callback([this](std::string_view name) {
            asked.emplace_back(name);
            if (name == "unknown.test")
                throw std::runtime_error("no such name");
            return name == "other.test" ? other : nullptr;
        });
    }
};

TEST_F(TlsServerNames, TheCertificateIsThatOfTheName) {
    EXPECT_TRUE(handshake_with("other.test").first) << "with the certificate of server.test";
    choose();
    EXPECT_FALSE(handshake_with("other.test").first);
    EXPECT_FALSE(handshake_with("server.test").first);
    EXPECT_EQ(asked, (names{"other.test", "server.test"}));
}

TEST_F(TlsServerNames, AContextForOneSideRefusesWhatIsForTheOther) {
    error_code ec;
    of_client.set_server_name_callback([](std::string_view) { return nullptr; }, ec);
    EXPECT_EQ(ec, error::operation_not_supported);
    of_server.keep_sessions(1, ec);
    EXPECT_EQ(ec, error::operation_not_supported);
    ssl::context of_both(ssl::context::tls);
    of_both.set_server_name_callback([](std::string_view) { return nullptr; });
    of_both.keep_sessions(1);
}

TEST_F(TlsServerNames, WithoutANameTheFunctionIsAskedAllTheSame) {
    choose();
    of_client.set_verify_mode(ssl::verify_none);
    EXPECT_FALSE(handshake_with("").first);
    EXPECT_EQ(asked, names{""});
}

TEST_F(TlsServerNames, AFunctionThatThrowsRefusesTheName) {
    choose();
    auto const ends = handshake_with("unknown.test");
    EXPECT_EQ(ERR_GET_REASON(static_cast<unsigned long>(ends.first.value())), SSL_R_TLSV1_UNRECOGNIZED_NAME)
        << ends.first.message();
    EXPECT_TRUE(ends.second);
}

TEST_F(TlsServerNames, ACertificateIsReplacedWhileStreamsUseTheOldOne) {
    choose();
    EXPECT_FALSE(handshake_with("other.test").first);
    auto const serial = [this] {
        auto* const c = SSL_get1_peer_certificate(client.native_handle());
        auto const n = ASN1_INTEGER_get(X509_get0_serialNumber(c));
        X509_free(c);
        return n;
    };
    auto const before = serial();
    std::weak_ptr<ssl::context> const old = other;
    other = context_of("other.test");
    EXPECT_TRUE(old.expired());
    run_through(context, [&]() -> awaitable<void> {
        std::string const text = "still there";
        co_await async_write(server, buffer(text));
        std::string got(text.size(), ' ');
        co_await async_read(client, buffer(got));
        EXPECT_EQ(got, text);
    });
    EXPECT_FALSE(handshake_with("other.test").first);
    EXPECT_NE(serial(), before);
}

TEST_F(TlsServerNames, AllElseStaysAsInTheFirstContext) {
    choose();
    of_client.set_alpn_protocols({"h2"});
    of_server.set_alpn_protocols({"h2"});
    int verified = 0;
    of_server.set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert);
    of_server.set_verify_callback([&](bool, ssl::verify_context&) {
        ++verified;
        return true;
    });
    use(of_client, make_identity("client.test", {}, &authority()));
    auto const ends = handshake_with("other.test");
    EXPECT_FALSE(ends.second) << ends.second.message();
    EXPECT_GT(verified, 0);
    EXPECT_EQ(client.alpn_protocol(), "h2");
    other->set_alpn_protocols({"h3"});
    EXPECT_TRUE(handshake_with("other.test").first) << "unless the other one has protocols of its own";
}

TEST_F(TlsServerNames, LimitsAreThoseOfTheFirstContext) {
    choose();
    use(of_client, make_identity("client.test", {}, &authority()));
    of_server.set_verify_mode(ssl::verify_peer);
    other->set_handshake_size_max(100);
    of_server.set_verify_callback([](bool, ssl::verify_context&) { return true; });
    EXPECT_FALSE(handshake_with("other.test").second);
}

/// A greeting that asks for server.test, and what a server makes of it.
TEST_F(TlsServerNames, AMalformedNameIsRefusedAndNobodyIsAsked) {
    choose();
    client = tls_socket(context, of_client);
    local::stream_protocol::socket raw(context);
    local::connect_pair(client.next_layer(), raw);
    client.set_host_name("server.test");
    client.async_handshake(ssl::stream_base::client, [](error_code) {});
    std::string hello(4096, ' ');
    run_through(context, [&]() -> awaitable<void> {
        hello.resize(co_await raw.async_read_some(buffer(hello)));
        client.next_layer().close();
    });
    auto const error_of = [&](std::string const& greeting) {
        asked.clear();
        server = tls_socket(context, of_server);
        local::stream_protocol::socket peer(context);
        local::connect_pair(peer, server.next_layer());
        error_code ec;
        run_through(context, [&]() -> awaitable<void> {
            co_await async_write(peer, buffer(greeting));
            peer.shutdown(socket_base::shutdown_send);
            auto op = server.async_handshake(ssl::stream_base::server, redirect_error(ec));
            co_await std::move(op);
        });
        return ec;
    };
    auto const at = hello.find("server.test");
    ASSERT_NE(at, hello.npos);
    EXPECT_EQ(error_of(hello), ssl::error::stream_truncated) << "all is well with it";
    EXPECT_EQ(asked, names{"server.test"});

    // In front of the name: the size of the list, the kind of the name, and its size.
    struct {
        std::size_t before;
        char put;
    } const changes[] = {{5, 1}, {4, 13}, {4, 15}, {4, 0}, {3, 1}, {2, 1}, {1, 10}, {1, 12}};
    for (auto const& [before, put] : changes) {
        auto bad = hello;
        bad[at - before] = put;
        EXPECT_EQ(error_of(bad).category(), error::get_ssl_category()) << before << " before it: " << int(put);
        EXPECT_EQ(asked, names{});
    }
    auto with_zero = hello;
    with_zero[at + 3] = '\0';
    EXPECT_EQ(error_of(with_zero).category(), error::get_ssl_category());
    EXPECT_EQ(asked, names{});

    auto const with_name_of = [&](std::size_t size) {
        auto longer = hello;
        longer.replace(at, 11, std::string(size, 'n'));
        auto const add = [&](std::size_t where) {
            auto const n = static_cast<unsigned>(static_cast<unsigned char>(longer[where]) << 8 |
                                                 static_cast<unsigned char>(longer[where + 1])) +
                           static_cast<unsigned>(size) - 11;
            longer[where] = static_cast<char>(n >> 8);
            longer[where + 1] = static_cast<char>(n & 0xff);
        };
        auto const session = 5 + 4 + 2 + 32; // behind the record, the message, the version and the random bytes
        auto extensions = session + 1 + static_cast<std::size_t>(static_cast<unsigned char>(hello[session]));
        extensions += 2 + static_cast<std::size_t>(static_cast<unsigned char>(hello[extensions]) << 8 |
                                                   static_cast<unsigned char>(hello[extensions + 1]));
        extensions += 1 + static_cast<std::size_t>(static_cast<unsigned char>(hello[extensions]));
        for (auto const where : {std::size_t{3}, std::size_t{7}, extensions, at - 7, at - 5, at - 2})
            add(where);
        return longer;
    };
    EXPECT_EQ(error_of(with_name_of(255)), ssl::error::stream_truncated);
    EXPECT_EQ(asked, names{std::string(255, 'n')});
    EXPECT_EQ(error_of(with_name_of(256)).category(), error::get_ssl_category());
    EXPECT_EQ(asked, names{});
}

class TlsSessions : public TlsServerNames {
public:
    ~TlsSessions() override { SSL_SESSION_free(session); }
    /// A handshake, with the session of the one before if there was one. True: it was resumed.
    bool resumes(ssl::context& at, std::string const& name = "server.test") {
        client = tls_socket(context, of_client);
        server = tls_socket(context, at);
        local::connect_pair(client.next_layer(), server.next_layer());
        client.set_host_name(name);
        if (session)
            SSL_set_session(client.native_handle(), session);
        run_through(context, [&]() -> awaitable<void> {
            auto c = client.async_handshake(ssl::stream_base::client);
            auto s = server.async_handshake(ssl::stream_base::server);
            co_await when_all(std::move(c), std::move(s));
            co_await async_write(server, buffer("x", 1)); // behind the tickets
            char c1;
            co_await async_read(client, buffer(&c1, 1));
            auto client_ends = client.async_shutdown(); // OpenSSL resumes no session that was cut.
            auto server_ends = server.async_shutdown();
            co_await when_all(std::move(client_ends), std::move(server_ends));
        });
        SSL_SESSION_free(session);
        session = SSL_get1_session(client.native_handle());
        return SSL_session_reused(client.native_handle()) == 1;
    }
    SSL_SESSION* session = nullptr;
};

TEST_F(TlsSessions, AClientWithACertificateMayResumeOne) {
    of_server.set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert);
    of_server.add_certificate_authority(buffer(authority().certificate));
    use(of_client, make_identity("client.test", {}, &authority()));
    EXPECT_FALSE(resumes(of_server));
    EXPECT_TRUE(resumes(of_server));
}

TEST_F(TlsSessions, L14_OneOfAnotherContextIsNotResumed) {
    ssl::context weaker = server_context(), stricter = server_context();
    for (int const version : {TLS1_3_VERSION, TLS1_2_VERSION}) {
        SSL_CTX_set_max_proto_version(of_client.native_handle(), version);
        EXPECT_FALSE(resumes(weaker));
        EXPECT_TRUE(resumes(weaker));
        EXPECT_FALSE(resumes(stricter));
    }
}

/// Clients of one name may have shown another certificate than the other name asks for, or none.
TEST_F(TlsSessions, L14_OneOfAnotherNameIsNotResumed) {
    choose();
    for (int const version : {TLS1_3_VERSION, TLS1_2_VERSION}) {
        SSL_CTX_set_max_proto_version(of_client.native_handle(), version);
        EXPECT_FALSE(resumes(of_server, "server.test"));
        EXPECT_FALSE(resumes(of_server, "other.test"));
        EXPECT_TRUE(resumes(of_server, "other.test"));
    }
}

} // namespace
