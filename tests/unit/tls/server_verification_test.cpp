// Row L14, and what a server asks of its clients: its context, one that a name chooses, and a stream may say it.
#include <support/scratch_folder.hpp>
#include <unit/tls/pair.hpp>

#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <openssl/ssl.h>

namespace {

using namespace fairlead;
using namespace fairlead::test;

constexpr auto demands_one = ssl::verify_peer | ssl::verify_fail_if_no_peer_cert;

void demand_one(ssl::context& c) {
    c.add_certificate_authority(buffer(authority().certificate));
    c.set_verify_mode(demands_one);
}
identity const& visitor() {
    static auto const i = make_identity("visitor", {.names = "DNS:visitor.test"}, &authority());
    return i;
}

class TlsServerVerification : public testing::TestWithParam<int> {
public:
    TlsServerVerification() {
        SSL_CTX_set_max_proto_version(of_client.native_handle(), GetParam());
        of_client.keep_sessions(100);
    }
    struct outcome {
        bool is_served;
        bool is_resumed;
    };
    /// A client connects to streams that are there.
    outcome meet() {
        local::connect_pair(client.next_layer(), server.next_layer());
        client.set_host_name("server.test");
        run_through(context, [&]() -> awaitable<void> {
            auto c = client.async_handshake(ssl::stream_base::client, redirect_error(of_c));
            auto s = server.async_handshake(ssl::stream_base::server, redirect_error(of_s));
            co_await when_all(std::move(c), std::move(s));
            if (of_s)
                co_return;
            co_await async_write(server, buffer("x", 1)); // behind the tickets
            char got;
            co_await async_read(client, buffer(&got, 1));
        });
        return {!of_s, server.is_resumed()};
    }
    outcome connect(ssl::context& at, std::function<void(tls_socket&)> const& change = {}) {
        client = tls_socket(context, of_client);
        server = tls_socket(context, at);
        if (change)
            change(server);
        return meet();
    }
    bool is_served(std::function<void(tls_socket&)> const& change = {}) { return connect(of_server, change).is_served; }
    bool resumes() {
        auto const o = connect(of_server);
        EXPECT_TRUE(o.is_served) << of_s.message();
        return o.is_resumed;
    }
    /// Clients get this one from now on.
    void choose(std::shared_ptr<ssl::context> c) {
        chosen = std::move(c);
        of_server.set_server_name_callback([this](std::string_view) { return chosen; });
    }
    static std::shared_ptr<ssl::context> another() { return std::make_shared<ssl::context>(server_context()); }
    static std::function<bool(bool, ssl::verify_context&)> says(bool answer, bool& is_asked) {
        return [answer, &is_asked](bool, ssl::verify_context&) {
            is_asked = true;
            return answer;
        };
    }

    io_context context;
    ssl::context of_client = client_context(), of_server = server_context();
    std::shared_ptr<ssl::context> chosen;
    tls_socket client{context, of_client}, server{context, of_server};
    error_code of_c, of_s;
};

TEST_P(TlsServerVerification, L14_ASessionFromBeforeAContextDemandsACertificateIsNotResumed) {
    EXPECT_FALSE(resumes());
    EXPECT_TRUE(resumes());
    demand_one(of_server);
    for (int n = 0; n < 3; ++n) // Each has a ticket that the one before did not use up.
        EXPECT_FALSE(is_served()) << n;
    use(of_client, visitor());
    EXPECT_FALSE(resumes());
    EXPECT_TRUE(resumes()) << "nothing has changed";
}

TEST_P(TlsServerVerification, L14_EachChangeOfAContextEndsItsSessions) {
    SSL_CTX_set_num_tickets(of_server.native_handle(), 1); // The client has none left of before.
    scratch_folder const folder;                           // Each process has an authority of its own.
    auto const file = folder.path + "/authority.pem";
    std::ofstream(file) << authority().certificate;
    use(of_client, visitor());
    bool is_asked = false;
    std::vector<std::function<void()>> const changes = {
        [&] { of_server.load_verify_file(file); },
        [&] { of_server.set_verify_mode(ssl::verify_peer); },
        [&] { of_server.set_verify_depth(5); },
        [&] { of_server.set_verify_callback(says(true, is_asked)); },
        [&] { of_server.add_certificate_authority(buffer(test::server().certificate)); },
        [&] { of_server.add_verify_path(folder.path); },
        [&] { of_server.set_default_verify_paths(); },
        [&] { of_server.accept_unverified_peers(); },
    };
    EXPECT_FALSE(resumes());
    for (std::size_t i = 0; i < changes.size(); ++i) {
        changes[i]();
        EXPECT_FALSE(resumes()) << i;
        EXPECT_TRUE(resumes()) << i;
    }
    EXPECT_TRUE(is_asked);
}

TEST_P(TlsServerVerification, L14_AStreamThatDemandsACertificateResumesNothing) {
    auto const demands = [](tls_socket& s) { s.set_verify_mode(demands_one); };
    EXPECT_FALSE(resumes());
    EXPECT_FALSE(is_served(demands));
    EXPECT_TRUE(resumes()) << "those of the other streams are as before";
    of_server.add_certificate_authority(buffer(authority().certificate));
    use(of_client, visitor());
    EXPECT_TRUE(is_served(demands)) << of_s.message();
    EXPECT_FALSE(connect(of_server).is_resumed) << "nor does any other its session";
}

TEST_P(TlsServerVerification, L14_ACallbackOfAStreamIsAskedAlthoughASessionIsThere) {
    demand_one(of_server);
    use(of_client, visitor());
    bool is_asked = false;
    EXPECT_FALSE(resumes());
    EXPECT_FALSE(is_served([&](tls_socket& s) { s.set_verify_callback(says(false, is_asked)); }));
    EXPECT_TRUE(is_asked);
    EXPECT_FALSE(connect(of_server, [](tls_socket& s) { s.set_verify_depth(5); }).is_resumed);
}

TEST_P(TlsServerVerification, L14_ASessionOfAChosenContextIsNotResumedByAStricterOne) {
    choose(another());
    EXPECT_FALSE(resumes());
    EXPECT_TRUE(resumes());
    auto const before = chosen;
    choose(another());
    demand_one(*chosen);
    EXPECT_FALSE(is_served());
    choose(before);
    EXPECT_TRUE(resumes());
    demand_one(*chosen);
    EXPECT_FALSE(is_served());
    use(of_client, visitor());
    EXPECT_FALSE(resumes());
    EXPECT_TRUE(resumes()) << "nothing has changed";
}

TEST_P(TlsServerVerification, L14_ASessionFromBeforeTheFirstContextDemandsACertificateIsNotResumedByTheChosenOne) {
    SSL_CTX_set_num_tickets(of_server.native_handle(), 1); // The client has none left of before.
    choose(another());
    chosen->add_certificate_authority(buffer(authority().certificate));
    EXPECT_FALSE(resumes());
    of_server.set_verify_mode(ssl::verify_peer);
    EXPECT_FALSE(resumes());
    client = tls_socket(context, of_client);
    server = tls_socket(context, of_server);
    of_server.set_verify_mode(demands_one);
    EXPECT_TRUE(meet().is_served) << "its stream was there before";
    EXPECT_FALSE(is_served());
    use(of_client, visitor());
    EXPECT_FALSE(resumes());
    EXPECT_TRUE(resumes()) << "nothing has changed";
    bool is_asked = false;
    of_server.set_verify_callback(says(true, is_asked));
    EXPECT_FALSE(resumes());
    EXPECT_TRUE(is_asked);
    EXPECT_TRUE(resumes());
    of_server.set_verify_callback(says(false, is_asked));
    EXPECT_FALSE(is_served());
}

/// The stream is in the scope that its context had. Another one in it may verify otherwise, by another chosen context.
TEST_P(TlsServerVerification, L14_StreamsThatWereThereBeforeAChangeResumeOnlyWhatTheirChosenContextsAllow) {
    auto const lax = another(), strict = another();
    demand_one(*strict);
    lax->accept_unverified_peers();
    tls_socket first(context, of_server), second(context, of_server);
    of_server.set_verify_depth(5);
    choose(lax);
    client = tls_socket(context, of_client);
    std::swap(server, first);
    EXPECT_TRUE(meet().is_served);
    choose(strict);
    client = tls_socket(context, of_client);
    std::swap(server, second);
    EXPECT_FALSE(meet().is_served);
}

/// Two listeners have one context in common, and the same keys for tickets.
TEST_P(TlsServerVerification, L14_AChosenContextKeepsTheSessionsOfTwoFirstOnesApart) {
    choose(another());
    chosen->add_certificate_authority(buffer(authority().certificate));
    auto stricter = server_context();
    stricter.set_verify_mode(demands_one);
    stricter.set_server_name_callback([this](std::string_view) { return chosen; });
    unsigned char keys[80];
    ASSERT_EQ(SSL_CTX_get_tlsext_ticket_keys(of_server.native_handle(), keys, sizeof keys), 1);
    ASSERT_EQ(SSL_CTX_set_tlsext_ticket_keys(stricter.native_handle(), keys, sizeof keys), 1);
    EXPECT_FALSE(resumes());
    EXPECT_FALSE(connect(stricter).is_served);
    EXPECT_TRUE(resumes());
}

TEST_P(TlsServerVerification, KeysForTicketsOfAProgramAreForOneVerification) {
    unsigned char keys[80] = "some bytes of the program";
    ASSERT_EQ(SSL_CTX_set_tlsext_ticket_keys(of_server.native_handle(), keys, sizeof keys), 1);
    EXPECT_FALSE(resumes());
    EXPECT_TRUE(resumes());
    demand_one(of_server);
    EXPECT_FALSE(is_served());
    use(of_client, visitor());
    EXPECT_FALSE(resumes());
    EXPECT_TRUE(resumes());
}

/// A server that this context has visited knows the session's secret. It cannot come back with it as a client.
TEST_P(TlsServerVerification, L14_ASessionOfAClientIsNotThatOfAServer) {
    ssl::context both(ssl::context::tls);
    use(both, test::server());
    demand_one(both);
    both.keep_sessions(10);
    SSL_CTX_set_max_proto_version(both.native_handle(), GetParam());
    SSL_CTX_set_options(of_server.native_handle(), SSL_OP_NO_TICKET); // The session has an id then.
    client = tls_socket(context, both);
    server = tls_socket(context, of_server);
    EXPECT_TRUE(meet().is_served);
    auto* const known = SSL_get1_session(server.native_handle());
    client = tls_socket(context, of_client);
    server = tls_socket(context, both);
    SSL_set_session(client.native_handle(), known);
    EXPECT_FALSE(meet().is_served);
    SSL_SESSION_free(known);
}

TEST_P(TlsServerVerification, AChosenContextDemandsACertificate) {
    choose(another());
    demand_one(*chosen);
    EXPECT_FALSE(is_served());
    use(of_client, visitor());
    EXPECT_TRUE(is_served()) << of_s.message();
    EXPECT_FALSE(server.peer_certificates().empty());
    use(of_client, make_identity("stranger"));
    EXPECT_FALSE(is_served());
}

TEST_P(TlsServerVerification, AChosenContextAsksNobodyIfItHasSaidSo) {
    demand_one(of_server);
    choose(another());
    EXPECT_FALSE(is_served()) << "it has not said so";
    chosen->set_verify_mode(ssl::verify_none);
    EXPECT_TRUE(is_served()) << of_s.message();
    EXPECT_TRUE(connect(of_server).is_resumed);
}

/// That of the first one may accept anybody.
TEST_P(TlsServerVerification, ACallbackOfTheFirstContextHasNoSayWhereTheChosenOneHasAMode) {
    bool asks_first = false, asks_chosen = false;
    demand_one(of_server);
    of_server.set_verify_callback(says(true, asks_first));
    choose(another());
    use(of_client, make_identity("stranger"));
    EXPECT_TRUE(is_served()) << "the chosen one has said nothing";
    EXPECT_TRUE(std::exchange(asks_first, false));
    demand_one(*chosen);
    EXPECT_FALSE(is_served());
    EXPECT_FALSE(asks_first);
    chosen->set_verify_callback(says(true, asks_chosen));
    EXPECT_TRUE(is_served()) << of_s.message();
    EXPECT_FALSE(asks_first);
    EXPECT_TRUE(asks_chosen);
}

TEST_P(TlsServerVerification, ACallbackOfTheChosenContextCountsWithTheModeOfTheFirst) {
    bool asks_first = false, asks_chosen = false;
    of_server.set_verify_mode(demands_one);
    of_server.set_verify_callback(says(true, asks_first));
    choose(another());
    chosen->set_verify_callback(says(false, asks_chosen));
    use(of_client, visitor());
    EXPECT_FALSE(is_served());
    EXPECT_FALSE(asks_first);
    EXPECT_TRUE(asks_chosen);
}

TEST_P(TlsServerVerification, TheDepthOfAChosenContextCounts) {
    auto const between = make_identity("between", {.is_authority = true}, &authority());
    auto own = make_identity("visitor", {}, &between);
    own.certificate += between.certificate;
    use(of_client, own);
    of_server.set_verify_mode(demands_one);
    of_server.set_verify_depth(0);
    choose(another());
    chosen->add_certificate_authority(buffer(authority().certificate));
    EXPECT_FALSE(is_served());
    EXPECT_EQ(of_s, error_code(X509_V_ERR_CERT_CHAIN_TOO_LONG, ssl::error::get_verify_category()));
    chosen->set_verify_depth(1);
    EXPECT_TRUE(is_served()) << of_s.message();
    EXPECT_FALSE(is_served([](tls_socket& s) { s.set_verify_depth(0); })) << "that of the stream comes first";
    of_server.set_verify_depth(100);
    chosen->set_verify_depth(0);
    EXPECT_FALSE(is_served());
}

TEST_P(TlsServerVerification, AStreamsOwnChoicesComeBeforeThoseOfTheChosenContext) {
    choose(another());
    demand_one(*chosen);
    EXPECT_TRUE(is_served([](tls_socket& s) { s.set_verify_mode(ssl::verify_none); })) << of_s.message();
    bool is_asked = false;
    chosen->set_verify_callback([](bool, ssl::verify_context&) { return false; });
    use(of_client, make_identity("stranger"));
    EXPECT_TRUE(is_served([&](tls_socket& s) { s.set_verify_callback(says(true, is_asked)); })) << of_s.message();
    EXPECT_TRUE(is_asked);
}

TEST_P(TlsServerVerification, AContextOfOpenSslThatVerifiesDoesSoWhereItIsChosen) {
    choose(std::make_shared<ssl::context>(SSL_CTX_new(TLS_server_method())));
    use(*chosen, test::server());
    EXPECT_TRUE(is_served()) << of_s.message();
    SSL_CTX_set1_cert_store(chosen->native_handle(), SSL_CTX_get_cert_store(of_client.native_handle()));
    SSL_CTX_set_verify(chosen->native_handle(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    EXPECT_FALSE(is_served());
    use(of_client, visitor());
    EXPECT_TRUE(is_served()) << of_s.message();
    EXPECT_TRUE(is_served()) << "its session is not resumed, and not in the way: " << of_s.message();
}

INSTANTIATE_TEST_SUITE_P(Versions, TlsServerVerification, testing::Values(TLS1_2_VERSION, TLS1_3_VERSION),
                         [](auto const& v) { return v.param == TLS1_2_VERSION ? "Tls12" : "Tls13"; });

} // namespace
