// Rows L04, L08, L09, L11 to L13, L15 and L17: peers and programs that do what is not usual.
#include <fairlead/token/bind_cancellation_slot.hpp>
#include <unit/tls/pair.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/sslerr.h>

namespace {

using namespace fairlead;
using namespace fairlead::test;

class TlsAttack : public testing::Test {
public:
    io_context context;
    char got[4096];
};

TEST_F(TlsAttack, L04_KeysAreUpdatedWhileBothSidesReadAndWrite) {
    tls_pair p(context);
    std::string const text(2'000'000, 'k');
    std::string by_client(text.size(), ' '), by_server(text.size(), ' ');
    auto const writes = [](tls_socket& s, std::string const& t) -> awaitable<void> {
        for (std::size_t i = 0; i != t.size(); i += 100'000) { // The peer has to answer with an update of its own.
            EXPECT_EQ(SSL_key_update(s.native_handle(), SSL_KEY_UPDATE_REQUESTED), 1);
            co_await async_write(s, buffer(t.data() + i, 100'000));
        }
    };
    run_through(context, [&]() -> awaitable<void> {
        co_await p.shake_hands();
        auto a = writes(p.client, text);
        auto b = writes(p.server, text);
        auto c = async_read(p.client, buffer(by_client));
        auto d = async_read(p.server, buffer(by_server));
        co_await when_all(std::move(a), std::move(b), std::move(c), std::move(d));
    });
    EXPECT_EQ(by_client, text);
    EXPECT_EQ(by_server, text);
}

/// While a handshake begins anew, bytes of the peer's are still under way.
TEST_F(TlsAttack, L04_AHandshakeBeginsAnewWhileBothSidesReadAndWrite) {
    auto of_client = client_context(ssl::context::tlsv12_client);
    auto of_server = server_context(ssl::context::tlsv12_server);
    of_client.accept_renegotiation();
    of_server.accept_renegotiation();
    tls_pair p(context, std::move(of_client), std::move(of_server));
    std::string const text(3'000'000, 'k');
    std::string by_client(text.size(), ' '), by_server(text.size(), ' ');
    int begun = 0;
    auto const writes = [](tls_socket& s, std::string const& t, int* n) -> awaitable<void> {
        for (std::size_t i = 0; i != t.size(); i += 100'000) {
            if (n && !SSL_renegotiate_pending(s.native_handle()) && i % 500'000 == 0) {
                EXPECT_EQ(SSL_renegotiate(s.native_handle()), 1);
                ++*n;
            }
            co_await async_write(s, buffer(t.data() + i, 100'000));
        }
    };
    /// Between two reads nobody reads.
    auto const reads = [](io_context& of, tls_socket& s, std::string& into) -> awaitable<void> {
        for (std::size_t n = 0; n != into.size();) {
            n += co_await s.async_read_some(buffer(into.data() + n, std::min<std::size_t>(70'000, into.size() - n)));
            co_await post(of, use_await);
        }
    };
    run_through(context, [&]() -> awaitable<void> {
        co_await p.shake_hands();
        auto a = writes(p.client, text, &begun);
        auto b = writes(p.server, text, nullptr);
        auto c = reads(context, p.client, by_client);
        auto d = reads(context, p.server, by_server);
        co_await when_all(std::move(a), std::move(b), std::move(c), std::move(d));
    });
    EXPECT_GT(begun, 3);
    EXPECT_GE(SSL_CTX_sess_accept_renegotiate(p.of_server.native_handle()), begun - 1);
    EXPECT_TRUE(by_client == text);
    EXPECT_TRUE(by_server == text);
}

/// One thread is inside OpenSSL, in a function that it calls for each message. Another one wants to read meanwhile.
TEST_F(TlsAttack, L04_NoTwoThreadsAreInsideOneStream) {
    tls_pair p(context);
    run_through(context, [&]() -> awaitable<void> { co_await p.shake_hands(); });
    struct state {
        std::atomic<int> inside = 0, most = 0;
        std::atomic<bool> wants_to_read = false, has_waited = false;
    } seen;
    SSL_set_msg_callback_arg(p.client.native_handle(), &seen);
    SSL_set_msg_callback(p.client.native_handle(), [](int, int, int, void const*, std::size_t, SSL*, void* arg) {
        auto& s = *static_cast<state*>(arg);
        int const now = ++s.inside;
        if (now > s.most)
            s.most = now;
        s.wants_to_read.wait(false);
        auto const until = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
        if (!s.has_waited.exchange(true))
            while (s.most < 2 && std::chrono::steady_clock::now() < until)
                std::this_thread::yield();
        --s.inside;
    });
    EXPECT_EQ(p.server.write_some(buffer("answer", 6)), 6U);
    // Writing sends it first. OpenSSL 3.5 shows no records of data to that function.
    EXPECT_EQ(SSL_key_update(p.client.native_handle(), SSL_KEY_UPDATE_NOT_REQUESTED), 1);
    std::jthread writes([&] { EXPECT_EQ(p.client.write_some(buffer("question", 8)), 8U); });
    while (seen.inside == 0)
        std::this_thread::yield();
    seen.wants_to_read = true;
    seen.wants_to_read.notify_all();
    EXPECT_EQ(p.client.read_some(buffer(got)), 6U);
    writes.join();
    EXPECT_EQ(seen.most, 1);
}

TEST_F(TlsAttack, L08_ACancelledWriteDoesNotNeedItsBufferAnyMore) {
    tls_pair p(context);
    cancellation_signal signal;
    std::size_t taken = 0;
    run_through(context, [&]() -> awaitable<void> {
        co_await p.shake_hands();
        error_code ec;
        while (!ec) { // Until the socket takes no more.
            std::string text(50'000, 'a');
            bool is_over = false;
            std::size_t n = 0;
            p.client.async_write_some(buffer(text),
                                      bind_cancellation_slot(signal.slot(), [&](error_code e, std::size_t m) {
                                          ec = e;
                                          n = m;
                                          is_over = true;
                                      }));
            co_await post(context, use_await);
            signal.emit(cancellation_type::terminal);
            while (!is_over)
                co_await post(context, use_await);
            taken += n;
            text.assign(text.size(), '!');
        }
        EXPECT_EQ(ec, error::operation_aborted);
        std::string all(taken + 1, ' ');
        auto reading = async_read(p.server, buffer(all));
        auto writing = async_write(p.client, buffer("b", 1));
        co_await when_all(std::move(reading), std::move(writing));
        EXPECT_EQ(all, std::string(taken, 'a') + 'b');
    });
}

TEST_F(TlsAttack, L09_ErrorsOfOthersAreNotOurs) {
    tls_pair p(context);
    run_through(context, [&]() -> awaitable<void> {
        ERR_raise(ERR_LIB_SSL, SSL_R_BAD_LENGTH);
        auto const [of_client, of_server] = co_await p.shake_hands();
        EXPECT_FALSE(of_client);
        EXPECT_FALSE(of_server);
        ERR_raise(ERR_LIB_SSL, SSL_R_BAD_LENGTH);
        co_await async_write(p.server, buffer("1", 1));
        ERR_raise(ERR_LIB_SSL, SSL_R_BAD_LENGTH);
        EXPECT_EQ(co_await p.client.async_read_some(buffer(got)), 1U);
        error_code of_shutdown, of_reader;
        auto says_goodbye = p.server.async_shutdown(redirect_error(of_shutdown));
        auto const reads = [](TlsAttack& t, tls_pair& of, error_code& e) -> awaitable<void> {
            ERR_raise(ERR_LIB_SSL, SSL_R_BAD_LENGTH);
            auto op = of.client.async_read_some(buffer(t.got), redirect_error(e));
            co_await std::move(op);
            of.client.next_layer().close();
        };
        auto reader = reads(*this, p, of_reader);
        co_await when_all(std::move(says_goodbye), std::move(reader));
        EXPECT_EQ(of_reader, fairlead::error::eof);
    });
    ERR_clear_error();
}

TEST_F(TlsAttack, L11_NobodyNegotiatesAnew) {
    ssl::context with_all_of_it(SSL_CTX_new(TLS_client_method()));
    SSL_CTX_set_options(with_all_of_it.native_handle(), SSL_OP_ALLOW_CLIENT_RENEGOTIATION);
    SSL_CTX_set_max_proto_version(with_all_of_it.native_handle(), TLS1_2_VERSION);
    tls_pair p(context, std::move(with_all_of_it), server_context());
    run_through(context, [&]() -> awaitable<void> {
        auto const [of_client, of_server] = co_await p.shake_hands();
        EXPECT_FALSE(of_client) << of_client.message();
        EXPECT_EQ(SSL_renegotiate(p.client.native_handle()), 1);
        error_code again, of_reader;
        auto client = p.client.async_handshake(ssl::stream_base::client, redirect_error(again));
        auto const serves = [](TlsAttack& t, tls_pair& of, error_code& e) -> awaitable<void> {
            auto op = of.server.async_read_some(buffer(t.got), redirect_error(e));
            co_await std::move(op);
            of.server.next_layer().close();
        };
        auto server = serves(*this, p, of_reader);
        co_await when_all(std::move(client), std::move(server));
        EXPECT_TRUE(again);
        EXPECT_TRUE(of_reader);
    });
    EXPECT_EQ(SSL_num_renegotiations(p.server.native_handle()), 0);
}

TEST_F(TlsAttack, L12_NoEarlyDataIsOfferedOrTaken) {
    auto of_server = server_context();
    EXPECT_EQ(SSL_CTX_get_max_early_data(of_server.native_handle()), 0U);
    tls_pair p(context, client_context(), std::move(of_server));
    run_through(context, [&]() -> awaitable<void> {
        co_await p.shake_hands();
        co_await async_write(p.server, buffer("1", 1));
        co_await p.client.async_read_some(buffer(got)); // The ticket has come before.
    });
    auto* const session = SSL_get1_session(p.client.native_handle());
    EXPECT_EQ(SSL_SESSION_get_max_early_data(session), 0U);
    SSL_SESSION_free(session);
}

TEST_F(TlsAttack, L13_RecordsThatAreNoneEndTheHandshake) {
    std::string const bad[] = {
        std::string("GET / HTTP/1.1\r\n\r\n"),
        std::string("\x16\x03\x01\xff\xff", 5) + std::string(20'000, 'x'), // longer than a record may be
        std::string("\x16\x03\x01\x00\x04\x01\xff\xff\xff", 9),            // a greeting of 16 MiB
        std::string("\x14\x03\x03\x00\x01\x01", 6),                        // a change of cipher before all else
        std::string(5, '\0'),
    };
    for (auto const& bytes : bad) {
        auto of_server = server_context();
        tls_socket side(context, of_server);
        local::stream_protocol::socket peer(context);
        local::connect_pair(side.next_layer(), peer);
        error_code ec;
        run_through(context, [&]() -> awaitable<void> {
            co_await async_write(peer, buffer(bytes));
            peer.shutdown(socket_base::shutdown_send);
            auto op = side.async_handshake(ssl::stream_base::server, redirect_error(ec));
            co_await std::move(op);
        });
        EXPECT_TRUE(ec) << testing::PrintToString(bytes.substr(0, 9));
        EXPECT_NE(ec, error::eof);
    }
}

TEST_F(TlsAttack, L13_AFloodOfChangesOfCipherEndsTheHandshake) {
    auto greets = client_context();
    std::unique_ptr<SSL, void (*)(SSL*)> const peer_of_ours(SSL_new(greets.native_handle()), &SSL_free);
    auto* const out = BIO_new(BIO_s_mem());
    SSL_set_bio(peer_of_ours.get(), BIO_new(BIO_s_mem()), out);
    SSL_set_connect_state(peer_of_ours.get());
    SSL_do_handshake(peer_of_ours.get());
    char* greeting = nullptr;
    auto const size = BIO_get_mem_data(out, &greeting);
    std::string bytes(greeting, static_cast<std::size_t>(size));
    for (int i = 0; i != 1000; ++i) // One means nothing in TLS 1.3.
        bytes.append("\x14\x03\x03\x00\x01\x01", 6);
    auto const ec = handshake_after(context, bytes);
    EXPECT_EQ(ec.category(), error::get_ssl_category()) << ec.message();
}

TEST_F(TlsAttack, L13_AChainOfAMegabyteIsRefused) {
    ssl::context of_server(ssl::context::tls_server);
    auto chain = server();
    while (chain.certificate.size() < 1'000'000)
        chain.certificate += authority().certificate;
    use(of_server, chain);
    tls_pair p(context, client_context(), std::move(of_server));
    error_code of_client, of_other;
    run_through(context, [&]() -> awaitable<void> {
        auto const gives_up = [](tls_pair& of, error_code& ec) -> awaitable<void> {
            auto op = of.client.async_handshake(ssl::stream_base::client, redirect_error(ec));
            co_await std::move(op);
            of.client.next_layer().close(); // The server is still writing.
        };
        auto client = gives_up(p, of_client);
        auto serving = p.server.async_handshake(ssl::stream_base::server, redirect_error(of_other));
        co_await when_all(std::move(client), std::move(serving));
    });
    EXPECT_TRUE(of_other);
    EXPECT_EQ(of_client, ssl::error::handshake_too_large) << of_client.message();
}

TEST_F(TlsAttack, L15_ARefusedClientHearsSoInItsFirstRead) {
    for (bool const has_one : {false, true}) {
        auto of_client = client_context(ssl::context::tlsv13_client);
        if (has_one)
            use(of_client, make_identity("a stranger"));
        auto of_server = server_context(ssl::context::tlsv13_server);
        of_server.add_certificate_authority(buffer(authority().certificate));
        of_server.set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert);
        tls_pair p(context, std::move(of_client), std::move(of_server));
        run_through(context, [&]() -> awaitable<void> {
            auto const [of_c, of_s] = co_await p.shake_hands();
            EXPECT_FALSE(of_c) << "it has said all that it has to say";
            EXPECT_EQ(of_s, ssl::condition::certificate_refused) << of_s.message();
            error_code ec;
            auto op = p.client.async_read_some(buffer(got), redirect_error(ec));
            co_await std::move(op);
            EXPECT_EQ(ec, ssl::condition::certificate_refused) << ec.message();
        });
    }
    EXPECT_NE(error_code(ssl::error::stream_truncated), ssl::condition::certificate_refused);
}

TEST_F(TlsAttack, L17_NothingThatIsSecretIsWritten) {
    ::setenv("SSLKEYLOGFILE", "/dev/stderr", 1);
    auto of_server = server_context();
    ::unsetenv("SSLKEYLOGFILE");
    EXPECT_EQ(SSL_CTX_get_keylog_callback(of_server.native_handle()), nullptr);
    std::string const password = "swordfish";
    ssl::context c(ssl::context::tls_server);
    c.set_password_callback([&](std::size_t, ssl::context::password_purpose) { return password; });
    c.use_certificate_chain(buffer(server().certificate));
    try {
        c.use_private_key(buffer(server().certificate), ssl::context::pem); // no key
        ADD_FAILURE();
    } catch (system_error const& e) {
        EXPECT_EQ(std::string(e.what()).find(password), std::string::npos);
        EXPECT_EQ(std::string(e.what()).find("MII"), std::string::npos);
    }
}

} // namespace
