// OCSP responses: servers staple those of their certificates, and clients may require them.
#include <fairlead/tls/host_name_verification.hpp>
#include <unit/tls/pair.hpp>

#include <cstdio>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <openssl/ocsp.h>
#include <openssl/ssl.h>
#include <unistd.h>

namespace {

using namespace fairlead;
using namespace fairlead::test;

std::string text_of(const_buffer const& b) { return {static_cast<char const*>(b.data()), b.size()}; }

class TlsOcsp : public testing::TestWithParam<int> {
public:
    TlsOcsp() { SSL_CTX_set_max_proto_version(of_client.native_handle(), GetParam()); }

    /// The errors of client and server.
    std::pair<error_code, error_code> handshake(std::string const& name = "server.test") {
        client = tls_socket(context, of_client);
        server_side = tls_socket(context, of_server);
        local::connect_pair(client.next_layer(), server_side.next_layer());
        client.set_host_name(name);
        if (prepares)
            prepares(client);
        error_code of_c, of_s;
        run_through(context, [&]() -> awaitable<void> {
            auto c = client.async_handshake(ssl::stream_base::client, redirect_error(of_c));
            auto s = server_side.async_handshake(ssl::stream_base::server, redirect_error(of_s));
            co_await when_all(std::move(c), std::move(s));
        });
        return {of_c, of_s};
    }
    error_code refused_because(std::string const& response) {
        of_server.set_ocsp_response_callback([response] { return response; });
        return handshake().first;
    }

    io_context context;
    ssl::context of_client = client_context(), of_server = server_context();
    tls_socket client{context, of_client}, server_side{context, of_server};
    std::function<void(tls_socket&)> prepares; ///< the client
};

TEST_P(TlsOcsp, ServersStapleWhatTheyWereGiven) {
    auto const response = make_ocsp_response();
    auto const path = testing::TempDir() + "tls_ocsp_" + std::to_string(::getpid());
    std::ofstream(path) << response;
    of_client.request_ocsp_response();
    EXPECT_FALSE(handshake().first);
    EXPECT_EQ(text_of(client.ocsp_response()), "") << "none was given";
    of_server.use_ocsp_response(buffer(response));
    EXPECT_FALSE(handshake().first);
    EXPECT_EQ(text_of(client.ocsp_response()), response);
    auto const other = make_ocsp_response({{.ends = 7200}});
    of_server.use_ocsp_response(buffer(other));
    EXPECT_FALSE(handshake().first);
    EXPECT_EQ(text_of(client.ocsp_response()), other);
    of_server.use_ocsp_response_file(path);
    EXPECT_FALSE(handshake().first);
    EXPECT_EQ(text_of(client.ocsp_response()), response);
    std::remove(path.c_str());
}

TEST_P(TlsOcsp, ClientsThatVerifyNobodyDoNotAskUnlessTheyAreToldTo) {
    int asked = 0;
    of_client.accept_unverified_peers();
    of_server.set_ocsp_response_callback([&asked] {
        ++asked;
        return make_ocsp_response();
    });
    EXPECT_FALSE(handshake().first);
    EXPECT_EQ(text_of(client.ocsp_response()), "");
    EXPECT_EQ(asked, 0);
}

TEST_P(TlsOcsp, ACertificateThatPromisesAResponseIsRefusedWithoutOne) {
    auto const made = make_identity("server.test", {.features = "status_request"}, &authority());
    use(of_server, made);
    auto const [of_c, of_s] = handshake();
    EXPECT_EQ(of_c, ssl::error::no_ocsp_response) << of_c.message();
    EXPECT_EQ(of_s, ssl::condition::certificate_refused) << of_s.message();
    EXPECT_FALSE(refused_because(make_ocsp_response({{.subject = &made}})));
    error_code const revoked(X509_V_ERR_CERT_REVOKED, ssl::error::get_verify_category());
    EXPECT_EQ(refused_because(make_ocsp_response({{.status = 1, .subject = &made}})), revoked);
    EXPECT_EQ(refused_because(make_ocsp_response()), ssl::error::ocsp_response_mismatched);
    EXPECT_EQ(refused_because({}), ssl::error::no_ocsp_response);
}

TEST_P(TlsOcsp, OtherPromisesOfACertificateDemandNoResponse) {
    use(of_server, make_identity("server.test", {.features = "23"}, &authority()));
    EXPECT_FALSE(handshake().first);
}

TEST_P(TlsOcsp, AVerifyCallbackThatAcceptsHidesNoMissingResponse) {
    auto const made = make_identity("server.test", {.features = "status_request"}, &authority());
    auto const passes_on = [](bool is_verified, ssl::verify_context&) { return is_verified; };
    auto const accepts = [](bool, ssl::verify_context&) { return true; };
    use(of_server, made);
    for (int i = 0; i != 3; ++i) {
        if (i == 0)
            of_client.set_verify_callback(passes_on);
        else if (i == 1)
            of_client.set_verify_callback(accepts);
        else
            of_client.set_verify_callback(ssl::host_name_verification("server.test"));
        EXPECT_EQ(refused_because({}), ssl::error::no_ocsp_response);
        EXPECT_FALSE(refused_because(make_ocsp_response({{.subject = &made}})));
        error_code const revoked(X509_V_ERR_CERT_REVOKED, ssl::error::get_verify_category());
        EXPECT_EQ(refused_because(make_ocsp_response({{.status = 1, .subject = &made}})), revoked);
        prepares = [&](tls_socket& s) { s.set_verify_callback(accepts); };
        EXPECT_EQ(refused_because({}), ssl::error::no_ocsp_response) << "of a stream";
        prepares = {};
    }
    of_client.set_verify_callback([](bool, ssl::verify_context&) { return false; });
    EXPECT_EQ(refused_because(make_ocsp_response({{.subject = &made}})).category(), ssl::error::get_verify_category());
}

TEST_P(TlsOcsp, APromiseOfAStrangerThatACallbackAcceptsCannotBeKept) {
    auto const stranger = make_identity("server.test", {.features = "status_request"});
    use(of_server, stranger);
    of_client.set_verify_callback([](bool, ssl::verify_context&) { return true; });
    EXPECT_EQ(refused_because({}), ssl::error::no_ocsp_response);
    EXPECT_EQ(refused_because(make_ocsp_response({{.subject = &stranger, .signer = &stranger}})),
              ssl::error::ocsp_response_unverified);
    of_client.accept_missing_ocsp_responses();
    EXPECT_FALSE(refused_because({}));
}

TEST_P(TlsOcsp, APromiseIsGivenUpByNameOnly) {
    use(of_server, make_identity("server.test", {.features = "status_request"}, &authority()));
    EXPECT_EQ(handshake().first, ssl::error::no_ocsp_response);
    of_client.accept_missing_ocsp_responses();
    EXPECT_FALSE(handshake().first);
    of_client.require_ocsp_response();
    EXPECT_EQ(handshake().first, ssl::error::no_ocsp_response) << "it is required all the same";

    of_client = client_context();
    EXPECT_EQ(handshake().first, ssl::error::no_ocsp_response);
    of_client.accept_unverified_peers();
    EXPECT_FALSE(handshake().first);
}

TEST_P(TlsOcsp, AServerRenewsItsResponseWhileItRuns) {
    of_client.request_ocsp_response();
    std::string newest = make_ocsp_response();
    of_server.set_ocsp_response_callback([&newest] { return newest; });
    EXPECT_FALSE(handshake().first);
    auto const first = text_of(client.ocsp_response());
    newest = make_ocsp_response({{.ends = 7200}});
    EXPECT_FALSE(handshake().first);
    EXPECT_EQ(text_of(client.ocsp_response()), newest);
    EXPECT_NE(first, newest);
}

TEST_P(TlsOcsp, AFunctionThatThrowsStaplesNothing) {
    of_client.request_ocsp_response();
    of_server.set_ocsp_response_callback([]() -> std::string { throw std::runtime_error("no response yet"); });
    EXPECT_FALSE(handshake().first);
    EXPECT_EQ(text_of(client.ocsp_response()), "");
    of_client.require_ocsp_response();
    EXPECT_EQ(handshake().first, ssl::error::no_ocsp_response);
}

TEST_P(TlsOcsp, EachNameHasTheResponseOfItsCertificate) {
    auto const made = make_identity("other.test", {.names = "DNS:other.test"}, &authority());
    auto const other = std::make_shared<ssl::context>(ssl::context::tls_server);
    use(*other, made);
    other->use_ocsp_response(buffer(make_ocsp_response({{.subject = &made}})));
    of_server.use_ocsp_response(buffer(make_ocsp_response()));
    of_server.set_server_name_callback([&](std::string_view name) { return name == "other.test" ? other : nullptr; });
    of_client.require_ocsp_response();
    EXPECT_FALSE(handshake("other.test").first);
    EXPECT_FALSE(handshake("server.test").first);
}

TEST_P(TlsOcsp, AResponseThatIsRequiredAndGoodIsTaken) {
    of_client.require_ocsp_response();
    EXPECT_FALSE(refused_because(make_ocsp_response()));
    EXPECT_FALSE(refused_because(make_ocsp_response({{.ends = 0}}))) << "it does not say when a newer one comes";
    auto const other = make_identity("other.test", {}, &authority());
    EXPECT_FALSE(refused_because(make_ocsp_response({{.status = 1, .subject = &other}, {}})));
    auto const delegate = make_identity("delegate", {.purposes = "OCSPSigning"}, &authority());
    EXPECT_FALSE(refused_because(make_ocsp_response({{.signer = &delegate}})));
}

TEST_P(TlsOcsp, ACertificateWithoutAResponseIsRefused) {
    of_client.require_ocsp_response();
    auto const [of_c, of_s] = handshake();
    EXPECT_EQ(of_c, ssl::error::no_ocsp_response);
    EXPECT_EQ(of_c, ssl::condition::certificate_refused);
    EXPECT_EQ(of_s, ssl::condition::certificate_refused) << of_s.message();
    EXPECT_NE(of_c.message().find("OCSP"), std::string::npos);
}

TEST_P(TlsOcsp, AStreamThatWasMadeBeforeRequiresOneToo) {
    tls_pair p(context, std::move(of_client), std::move(of_server));
    p.of_client.require_ocsp_response();
    run_through(context, [&p]() -> awaitable<void> {
        EXPECT_EQ((co_await p.shake_hands()).first, ssl::error::no_ocsp_response);
    });
}

TEST_P(TlsOcsp, AResponseIsRefusedForTheReasonThatItHas) {
    of_client.require_ocsp_response();
    auto const good = make_ocsp_response();
    for (auto const& malformed : {std::string("no response"), good + '!', good.substr(0, good.size() - 1),
                                  std::string("\x30\x03\x0a\x01\x03", 5)}) // "Try later."
        EXPECT_EQ(refused_because(malformed), ssl::error::ocsp_response_malformed);

    auto const stranger = make_identity("authority of the tests", {.is_authority = true});
    auto const no_delegate = make_identity("server.test", {}, &authority());
    for (auto const* const signer : {&stranger, &server(), &no_delegate})
        EXPECT_EQ(refused_because(make_ocsp_response({{.signer = signer}})), ssl::error::ocsp_response_unverified);
    auto changed = good;
    changed[changed.find("\x18\x0f") + 16] ^= 1; // the second in which it was made
    EXPECT_EQ(refused_because(changed), ssl::error::ocsp_response_unverified);

    auto const other = make_identity("server.test", {}, &authority());
    EXPECT_EQ(refused_because(make_ocsp_response({{.subject = &other}})), ssl::error::ocsp_response_mismatched);
    EXPECT_EQ(refused_because(make_ocsp_response({{.begins = -7200, .ends = -3600}})),
              ssl::error::ocsp_response_expired);
    EXPECT_EQ(refused_because(make_ocsp_response({{.begins = 3600, .ends = 7200}})), ssl::error::ocsp_response_expired);
    EXPECT_EQ(refused_because(make_ocsp_response({{.begins = -2 * 86'400, .ends = 0}})),
              ssl::error::ocsp_response_expired)
        << "older than a day";
    EXPECT_EQ(refused_because(make_ocsp_response({{.status = 2}})), ssl::error::ocsp_status_unknown);
    error_code const revoked(X509_V_ERR_CERT_REVOKED, ssl::error::get_verify_category());
    EXPECT_EQ(refused_because(make_ocsp_response({{.status = 1}})), revoked);
    EXPECT_EQ(refused_because(make_ocsp_response({{}, {.status = 1}})), revoked) << "whatever else is said";
}

TEST_P(TlsOcsp, AResponseThatIsNotRequiredChangesNothing) {
    of_client.request_ocsp_response();
    for (auto const& response : {std::string("no response"), make_ocsp_response({{.status = 1}})}) {
        EXPECT_FALSE(refused_because(response));
        EXPECT_EQ(text_of(client.ocsp_response()), response);
    }
}

TEST_P(TlsOcsp, ASessionThatIsResumedWasLookedAtBefore) {
    of_client.keep_sessions(10);
    auto const resumes = [this] {
        EXPECT_FALSE(handshake().first);
        run_through(context, [this]() -> awaitable<void> { // reads the tickets, too
            co_await async_write(server_side, buffer("x", 1));
            char c;
            co_await async_read(client, buffer(&c, 1));
        });
        return client.is_resumed();
    };
    of_server.use_ocsp_response(buffer(make_ocsp_response()));
    EXPECT_FALSE(resumes());
    EXPECT_TRUE(resumes());
    of_client.require_ocsp_response();
    EXPECT_FALSE(resumes()) << "those before were made without a response";
    EXPECT_TRUE(resumes());
}

TEST_P(TlsOcsp, WhatIsForOneSideIsRefusedByTheOther) {
    error_code ec;
    auto const response = make_ocsp_response();
    of_client.use_ocsp_response(buffer(response), ec);
    EXPECT_EQ(ec, error::operation_not_supported);
    of_client.set_ocsp_response_callback([] { return std::string(); }, ec);
    EXPECT_EQ(ec, error::operation_not_supported);
    of_server.request_ocsp_response(ec);
    EXPECT_EQ(ec, error::operation_not_supported);
    of_server.require_ocsp_response(ec);
    EXPECT_EQ(ec, error::operation_not_supported);
    of_server.accept_missing_ocsp_responses(ec);
    EXPECT_EQ(ec, error::operation_not_supported);
}

TEST_P(TlsOcsp, AResponseThatCannotBeReadIsAnErrorWhenItIsGiven) {
    error_code ec;
    of_server.use_ocsp_response(buffer("no response", 11), ec);
    EXPECT_EQ(ec, ssl::error::ocsp_response_malformed);
    of_server.use_ocsp_response_file("/that/is/not/there", ec);
    EXPECT_EQ(ec, std::errc::no_such_file_or_directory) << ec.message();
    EXPECT_THROW(of_server.use_ocsp_response(buffer("\x30\x03\x0a\x01\x03", 5)), system_error) << "try later";
}

INSTANTIATE_TEST_SUITE_P(Versions, TlsOcsp, testing::Values(TLS1_2_VERSION, TLS1_3_VERSION),
                         [](auto const& v) { return v.param == TLS1_2_VERSION ? "Tls12" : "Tls13"; });

} // namespace
