// Peers that are OpenSSL's own programs.
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <support/child_process.hpp>
#include <unit/tls/pair.hpp>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <string_view>
#include <vector>

#include <openssl/pem.h>
#include <openssl/ssl.h>

namespace {

using namespace fairlead;
using namespace fairlead::test;
using tls_over_tcp = ssl::stream<ip::tcp::socket>;

class TlsPeers : public testing::Test {
public:
    void SetUp() override {
        if (openssl.empty())
            GTEST_SKIP() << "needs the program openssl";
        write("authority.pem", authority().certificate);
        write("server.pem", server().certificate + server().key);
    }
    void write(char const* name, std::string const& text) const { std::ofstream(path(name)) << text; }
    std::string path(char const* name) const { return folder + name; }
    static std::uint16_t free_port() {
        io_context of_its_own;
        return ip::tcp::acceptor(of_its_own, loopback(0)).local_endpoint().port();
    }
    /// A server of OpenSSL's, with these arguments besides. False: it has not begun to listen.
    bool serves(std::vector<std::string> const& more, std::string const& certificate = "server.pem") {
        port = free_port();
        std::vector<std::string> all = {
            openssl, "s_server", "-accept", "127.0.0.1:" + std::to_string(port), "-cert", path(certificate.c_str())};
        all.insert(all.end(), more.begin(), more.end());
        peer.start(all, true);
        return peer.says("ACCEPT");
    }
    /// A client of OpenSSL's with these arguments besides: sends "question".
    void asks(ip::tcp::acceptor const& at, std::string const& more) {
        peer.start({"/bin/sh", "-c",
                    "echo question | '" + openssl +
                        "' s_client -connect 127.0.0.1:" + std::to_string(at.local_endpoint().port()) +
                        " -servername server.test -CAfile '" + path("authority.pem") + "' " + more},
                   true);
    }
    /// Runs OpenSSL's program to its end.
    void run_openssl(std::vector<std::string> arguments) const {
        arguments.insert(arguments.begin(), openssl);
        child_process done;
        done.start(arguments, true);
        EXPECT_FALSE(done.says("(nothing that it says)"));
    }
    /// A response that OpenSSL's responder has made for the server; 'V': it is valid, 'R': it is revoked.
    std::string responder_says(char status) const {
        auto* const from = BIO_new_mem_buf(server().certificate.data(), static_cast<int>(server().certificate.size()));
        X509* const own = PEM_read_bio_X509(from, nullptr, nullptr, nullptr);
        char serial[20];
        std::snprintf(serial, sizeof serial, "%04lX", ASN1_INTEGER_get(X509_get0_serialNumber(own)));
        X509_free(own);
        BIO_free(from);
        write("authority_key.pem", authority().key);
        write("index.txt", std::string(1, status) + "\t350101000000Z\t" + (status == 'R' ? "260101000000Z" : "") +
                               "\t" + serial + "\tunknown\t/CN=server.test\n");
        run_openssl({"ocsp", "-issuer", path("authority.pem"), "-cert", path("server.pem"), "-no_nonce", "-reqout",
                     path("request.der")});
        run_openssl({"ocsp", "-index", path("index.txt"), "-CA", path("authority.pem"), "-rsigner",
                     path("authority.pem"), "-rkey", path("authority_key.pem"), "-reqin", path("request.der"),
                     "-respout", path("response.der"), "-ndays", "1"});
        return path("response.der");
    }
    /// The error of our client's handshake with the server of OpenSSL's.
    error_code handshake_with(ssl::context& c, std::string_view version = {}) {
        tls_over_tcp client(context, c);
        client.set_host_name("server.test");
        error_code ec;
        run_through(context, [&]() -> awaitable<void> {
            co_await client.next_layer().async_connect(loopback(port));
            auto op = client.async_handshake(ssl::stream_base::client, redirect_error(ec));
            co_await std::move(op);
        });
        EXPECT_TRUE(ec || version.empty() || client.protocol_version() == version) << client.protocol_version();
        return ec;
    }
    static ip::tcp::endpoint loopback(std::uint16_t port) { return {ip::address_v4::loopback(), port}; }

    std::string const openssl = find_program({"openssl"});
    std::string const folder = testing::TempDir() + "tls_" + std::to_string(::getpid()) + '_';
    io_context context;
    child_process peer;
    std::uint16_t port = 0;
};

TEST_F(TlsPeers, AServerOfOpenSSLAnswersOurClient) {
    port = free_port();
    peer.start(
        {openssl, "s_server", "-accept", "127.0.0.1:" + std::to_string(port), "-cert", path("server.pem"), "-www"},
        true);
    ASSERT_TRUE(peer.says("ACCEPT"));
    ssl::context c(ssl::context::tls_client);
    c.load_verify_file(path("authority.pem"));
    tls_over_tcp client(context, c);
    client.set_host_name("server.test");
    std::string page;
    error_code ec;
    run_through(context, [&]() -> awaitable<void> {
        co_await client.next_layer().async_connect(loopback(port));
        co_await client.async_handshake(ssl::stream_base::client);
        std::string const request = "GET / HTTP/1.0\r\n\r\n";
        co_await async_write(client, buffer(request));
        char some[1000];
        while (!ec) {
            auto op = client.async_read_some(buffer(some), redirect_error(ec));
            page.append(some, co_await std::move(op));
        }
    });
    EXPECT_EQ(ec, error::eof) << ec.message();
    EXPECT_EQ(page.substr(0, 15), "HTTP/1.0 200 ok");
}

TEST_F(TlsPeers, L03_AServerThatIsKilledHasTruncatedTheStream) {
    port = free_port();
    peer.start(
        {openssl, "s_server", "-accept", "127.0.0.1:" + std::to_string(port), "-cert", path("server.pem"), "-quiet"},
        true);
    ssl::context c = client_context();
    tls_over_tcp client(context, c);
    client.set_host_name("127.0.0.1");
    error_code ec;
    run_through(context, [&]() -> awaitable<void> {
        do { // It says nothing when it listens.
            ec = {};
            client.next_layer().close();
            auto joining = client.next_layer().async_connect(loopback(port), redirect_error(ec));
            co_await std::move(joining);
        } while (ec == error::connection_refused);
        co_await client.async_handshake(ssl::stream_base::client);
        peer.signal(SIGKILL);
        char some[10];
        auto op = client.async_read_some(buffer(some), redirect_error(ec));
        co_await std::move(op);
    });
    EXPECT_TRUE(ec == ssl::error::stream_truncated || ec == error::connection_reset) << ec.message();
}

TEST_F(TlsPeers, AClientOfOpenSSLTalksToOurServer) {
    ip::tcp::acceptor acceptor(context, loopback(0));
    auto c = server_context();
    peer.start({"/bin/sh", "-c",
                "echo question | '" + openssl + "' s_client -connect 127.0.0.1:" +
                    std::to_string(acceptor.local_endpoint().port()) + " -servername server.test -CAfile '" +
                    path("authority.pem") + "' -verify_return_error -verify_hostname server.test -quiet"},
               true);
    std::string got;
    run_through(context, [&]() -> awaitable<void> {
        tls_over_tcp side(co_await acceptor.async_accept(), c);
        co_await side.async_handshake(ssl::stream_base::server);
        char some[100];
        got.assign(some, co_await side.async_read_some(buffer(some)));
        std::string const answer = "answer to " + got;
        co_await async_write(side, buffer(answer));
        error_code ec;
        auto ending = side.async_shutdown(redirect_error(ec));
        co_await std::move(ending);
    });
    EXPECT_EQ(got, "question\n");
    EXPECT_TRUE(peer.says("answer to question"));
}

TEST_F(TlsPeers, AServerOfOpenSSLStaplesForOurClient) {
    auto of_client = client_context();
    of_client.require_ocsp_response();
    for (std::string const version : {"-tls1_2", "-tls1_3"}) {
        ASSERT_TRUE(serves({version}));
        EXPECT_EQ(handshake_with(of_client), ssl::error::no_ocsp_response);
        peer.kill();
        ASSERT_TRUE(serves({version, "-status_file", responder_says('V')}));
        EXPECT_FALSE(handshake_with(of_client));
        peer.kill();
        ASSERT_TRUE(serves({version, "-status_file", responder_says('R')}));
        EXPECT_EQ(handshake_with(of_client), error_code(X509_V_ERR_CERT_REVOKED, ssl::error::get_verify_category()));
        peer.kill();
    }
}

TEST_F(TlsPeers, OurServerStaplesForAClientOfOpenSSL) {
    for (std::string const version : {"-tls1_2", "-tls1_3"})
        for (bool const is_good : {true, false}) {
            ip::tcp::acceptor acceptor(context, loopback(0));
            auto of_server = server_context();
            of_server.use_ocsp_response_file(responder_says(is_good ? 'V' : 'R'));
            asks(acceptor, version + " -ign_eof -status");
            tls_over_tcp side(context, of_server);
            run_through(context, [&]() -> awaitable<void> {
                co_await acceptor.async_accept(side.next_layer());
                co_await side.async_handshake(ssl::stream_base::server);
            });
            EXPECT_TRUE(peer.says("OCSP Response Status: successful"));
            EXPECT_TRUE(peer.says(is_good ? "Cert Status: good" : "Cert Status: revoked"));
            peer.kill();
        }
}

TEST_F(TlsPeers, AServerOfOpenSSLAnswersWhatHasEnded) {
    for (std::string const version : {"-tls1_2", "-tls1_3"}) {
        ASSERT_TRUE(serves({version, "-rev"}));
        auto c = client_context();
        tls_over_tcp client(context, c);
        client.set_host_name("server.test");
        std::string got(9, ' ');
        error_code ec;
        run_through(context, [&]() -> awaitable<void> {
            co_await client.next_layer().async_connect(loopback(port));
            co_await client.async_handshake(ssl::stream_base::client);
            co_await async_write(client, buffer("question\n", 9));
            co_await client.async_shutdown_send();
            co_await async_read(client, buffer(got));
            char some[10];
            auto op = client.async_read_some(buffer(some), redirect_error(ec));
            co_await std::move(op);
        });
        EXPECT_EQ(got, "noitseuq\n");
        EXPECT_EQ(ec, error::eof) << ec.message();
        peer.kill();
    }
}

TEST_F(TlsPeers, AClientOfOpenSSLEndsAndIsHeard) {
    for (std::string const version : {"-tls1_2", "-tls1_3"}) {
        ip::tcp::acceptor acceptor(context, loopback(0));
        auto of_server = server_context();
        asks(acceptor, version);
        error_code ec;
        std::string got(9, ' ');
        run_through(context, [&]() -> awaitable<void> {
            tls_over_tcp side(co_await acceptor.async_accept(), of_server);
            co_await side.async_handshake(ssl::stream_base::server);
            co_await async_read(side, buffer(got));
            char some[10];
            auto op = side.async_read_some(buffer(some), redirect_error(ec));
            co_await std::move(op);
        });
        EXPECT_EQ(got, "question\n");
        EXPECT_EQ(ec, error::eof) << ec.message();
        peer.kill();
    }
}

TEST_F(TlsPeers, OldProtocolsAreSpokenIfTheProgramSaysSo) {
    ASSERT_TRUE(serves({"-tls1_1", "-cipher", "ALL:@SECLEVEL=0"}));
    auto of_client = client_context();
    EXPECT_TRUE(handshake_with(of_client));
    of_client.accept_obsolete_protocols();
    EXPECT_FALSE(handshake_with(of_client, "TLSv1.1"));
}

TEST_F(TlsPeers, L14_ASessionOfOneServerIsNotOfferedToAnotherPort) {
    auto of_client = client_context();
    of_client.keep_sessions(10);
    ASSERT_TRUE(serves({"-tls1_2"}));
    EXPECT_FALSE(handshake_with(of_client));
    EXPECT_FALSE(handshake_with(of_client));
    EXPECT_EQ(of_client.handshakes().resumed, 1U);
    peer.kill();
    ASSERT_TRUE(serves({"-tls1_2"})); // at a port of its own
    EXPECT_FALSE(handshake_with(of_client));
    EXPECT_EQ(SSL_CTX_sess_connect(of_client.native_handle()), 3);
    EXPECT_EQ(of_client.handshakes().resumed, 1U);
}

/// OpenSSL's program cannot do so while bytes of the server's are under way: so it gets no answer.
TEST_F(TlsPeers, L04_AClientOfOpenSSLBeginsAnewWhileAReadWaits) {
    ip::tcp::acceptor acceptor(context, loopback(0));
    auto of_server = server_context(ssl::context::tlsv12_server);
    of_server.accept_renegotiation();
    peer.start({"/bin/sh", "-c",
                "(for i in 1 2 3; do echo question; sleep 0.1; echo R; sleep 0.1; done; echo question; sleep 0.1) | '" +
                    openssl + "' s_client -connect 127.0.0.1:" + std::to_string(acceptor.local_endpoint().port()) +
                    " -servername server.test -CAfile '" + path("authority.pem") + "'"},
               true);
    std::string asked;
    error_code ec;
    run_through(context, [&]() -> awaitable<void> {
        tls_over_tcp side(co_await acceptor.async_accept(), of_server);
        co_await side.async_handshake(ssl::stream_base::server);
        while (!ec) {
            char some[100];
            auto reading = side.async_read_some(buffer(some), redirect_error(ec));
            auto const n = co_await std::move(reading);
            asked.append(some, n);
        }
    });
    EXPECT_EQ(asked, "question\nquestion\nquestion\nquestion\n");
    EXPECT_EQ(ec, error::eof) << ec.message();
    EXPECT_EQ(SSL_CTX_sess_accept_renegotiate(of_server.native_handle()), 3);
}

TEST_F(TlsPeers, AServerOfOpenSSLTakesEarlyDataOfOurClient) {
    auto of_client = client_context();
    of_client.keep_sessions(10);
    ASSERT_TRUE(serves({"-tls1_3", "-early_data", "-max_early_data", "5000"}));
    for (bool const is_first : {true, false}) {
        tls_over_tcp client(context, of_client);
        client.set_host_name("server.test");
        std::string const early = "an early question\n";
        client.set_early_data(buffer(early));
        run_through(context, [&]() -> awaitable<void> {
            co_await client.next_layer().async_connect(loopback(port));
            co_await client.async_handshake(ssl::stream_base::client);
            error_code ec;
            char some[10]; // Tickets, and nothing else.
            auto reading =
                client.async_read_some(buffer(some), cancel_after(std::chrono::milliseconds(200), redirect_error(ec)));
            co_await std::move(reading);
            auto ending = client.async_shutdown(cancel_after(std::chrono::seconds(1), redirect_error(ec)));
            co_await std::move(ending);
        });
        EXPECT_EQ(client.early_data_outcome(), is_first ? ssl::early_data::not_sent : ssl::early_data::accepted);
    }
    EXPECT_TRUE(peer.says("an early question"));
}

TEST_F(TlsPeers, OurServerTakesEarlyDataOfAClientOfOpenSSL) {
    write("early.txt", "an early question");
    ip::tcp::acceptor acceptor(context, loopback(0));
    auto of_server = server_context();
    of_server.accept_replayable_early_data(5'000);
    for (std::string const& more :
         {" -sess_out '" + path("session.pem") + "'",
          " -sess_in '" + path("session.pem") + "' -early_data '" + path("early.txt") + "'"}) {
        std::string early, got;
        asks(acceptor, "-tls1_3 -ign_eof" + more);
        run_through(context, [&]() -> awaitable<void> {
            tls_over_tcp side(co_await acceptor.async_accept(), of_server);
            char some[100];
            error_code ec;
            while (!ec) {
                auto reading = side.async_read_early_data(buffer(some), redirect_error(ec));
                early.append(some, co_await std::move(reading));
            }
            EXPECT_EQ(ec, error::eof) << ec.message();
            co_await side.async_handshake(ssl::stream_base::server);
            got.assign(some, co_await side.async_read_some(buffer(some)));
            co_await async_write(side, buffer("answer\n", 7));
            auto ending = side.async_shutdown(redirect_error(ec));
            co_await std::move(ending);
        });
        EXPECT_EQ(got, "question\n");
        bool const is_first = more.find("-sess_out") != more.npos;
        EXPECT_EQ(early, is_first ? "" : "an early question");
        EXPECT_TRUE(peer.says(is_first ? "answer" : "Early data was accepted"));
        EXPECT_FALSE(peer.says("(nothing that it says)")) << "it has written its session when it ends";
        peer.kill();
    }
}

/// A ticket that allows early data, as a server of the same keys would give it that takes some.
void make_session_for_early_data(std::string const& path, bool has_keys_of, ssl::context& of_other) {
    io_context context;
    auto of_server = server_context();
    SSL_CTX_set_max_early_data(of_server.native_handle(), 16'384);
    SSL_CTX_set_options(of_server.native_handle(), SSL_OP_NO_ANTI_REPLAY); // Else its tickets are of no use elsewhere.
    if (has_keys_of) {
        unsigned char keys[80];
        ASSERT_EQ(SSL_CTX_get_tlsext_ticket_keys(of_server.native_handle(), keys, sizeof keys), 1);
        ASSERT_EQ(SSL_CTX_set_tlsext_ticket_keys(of_other.native_handle(), keys, sizeof keys), 1);
        for (auto* const c : {&of_server, &of_other})
            SSL_CTX_set_session_id_context(c->native_handle(), reinterpret_cast<unsigned char const*>("same"), 4);
    }
    auto of_client = client_context();
    SSL_CTX_set_session_id_context(of_client.native_handle(), nullptr, 0); // as that of a client of OpenSSL's
    tls_pair p(context, std::move(of_client), std::move(of_server));
    run_through(context, [&]() -> awaitable<void> {
        co_await p.shake_hands();
        co_await async_write(p.server, buffer("1", 1));
        char c;
        co_await p.client.async_read_some(buffer(&c, 1)); // The ticket has come before.
    });
    auto* const session = SSL_get1_session(p.client.native_handle());
    EXPECT_EQ(SSL_SESSION_get_max_early_data(session), 16'384U);
    auto* const to = BIO_new_file(path.c_str(), "w");
    PEM_write_bio_SSL_SESSION(to, session);
    BIO_free(to);
    SSL_SESSION_free(session);
}

TEST_F(TlsPeers, L12_OurServerTakesNoEarlyDataOfAClientOfOpenSSL) {
    write("early.txt", "a request that somebody may have recorded");
    for (bool const may_resume : {false, true}) {
        auto of_server = server_context();
        make_session_for_early_data(path("session.pem"), may_resume, of_server);
        ip::tcp::acceptor acceptor(context, loopback(0));
        asks(acceptor,
             "-tls1_3 -ign_eof -sess_in '" + path("session.pem") + "' -early_data '" + path("early.txt") + "'");
        std::string got;
        bool is_resumed = false;
        run_through(context, [&]() -> awaitable<void> {
            tls_over_tcp side(co_await acceptor.async_accept(), of_server);
            co_await side.async_handshake(ssl::stream_base::server);
            is_resumed = side.is_resumed();
            char some[100];
            got.assign(some, co_await side.async_read_some(buffer(some)));
        });
        EXPECT_EQ(got, "question\n");
        EXPECT_EQ(is_resumed, may_resume);
        EXPECT_TRUE(peer.says("Early data was rejected"));
        peer.kill();
    }
}

} // namespace
