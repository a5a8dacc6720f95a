// Early data (0-RTT): what a client sends ahead of its handshake. Row L12: only if both programs have asked for it.
#include <fairlead/net/cancel_after.hpp>
#include <unit/tls/pair.hpp>

#include <chrono>
#include <string>
#include <utility>

#include <openssl/ssl.h>

namespace {

using namespace fairlead;
using namespace fairlead::test;

class TlsEarlyData : public testing::Test {
public:
    TlsEarlyData() { of_client.keep_sessions(10); }
    void connect() {
        client = tls_socket(context, of_client);
        server = tls_socket(context, of_server);
        local::connect_pair(client.next_layer(), server.next_layer());
        client.set_host_name("server.test");
    }
    /// The bytes that the server gets ahead of the handshake, in pieces of `piece` bytes.
    awaitable<std::string> serve(std::size_t piece) {
        std::string all, some(piece, ' ');
        for (;;) {
            error_code ec;
            auto reading = server.async_read_early_data(buffer(some), redirect_error(ec));
            all.append(some, 0, co_await std::move(reading));
            if (ec) {
                EXPECT_EQ(ec, error::eof) << ec.message();
                break;
            }
        }
        co_await server.async_handshake(ssl::stream_base::server);
        co_await async_write(server, buffer("x", 1)); // Tickets stand before it.
        co_return all;
    }
    awaitable<void> ask() {
        co_await client.async_handshake(ssl::stream_base::client);
        char c;
        co_await async_read(client, buffer(&c, 1));
        EXPECT_EQ(c, 'x');
    }
    std::string talk(std::string const& early, std::size_t piece = 100) {
        connect();
        if (!early.empty())
            client.set_early_data(buffer(early));
        std::string got;
        run_through(context, [&]() -> awaitable<void> {
            auto const serves = [](TlsEarlyData& t, std::size_t n, std::string& into) -> awaitable<void> {
                into = co_await t.serve(n);
            };
            auto s = serves(*this, piece, got);
            auto c = ask();
            co_await when_all(std::move(s), std::move(c));
        });
        return got;
    }

    io_context context;
    ssl::context of_client = client_context(), of_server = server_context();
    tls_socket client{context, of_client}, server{context, of_server};
};

TEST_F(TlsEarlyData, ArrivesAheadOfAHandshakeThatResumes) {
    of_server.accept_replayable_early_data(10'000);
    EXPECT_EQ(talk("GET /first"), "") << "there is no session yet";
    EXPECT_EQ(client.early_data_outcome(), ssl::early_data::not_sent);
    EXPECT_EQ(server.early_data_outcome(), ssl::early_data::not_sent);
    EXPECT_EQ(talk("GET /second", 4), "GET /second");
    EXPECT_TRUE(client.is_resumed());
    EXPECT_EQ(client.early_data_outcome(), ssl::early_data::accepted);
    EXPECT_EQ(server.early_data_outcome(), ssl::early_data::accepted);
    EXPECT_EQ(talk(""), "") << "nothing was given to this stream";
    EXPECT_EQ(client.early_data_outcome(), ssl::early_data::not_sent);
}

TEST_F(TlsEarlyData, L12_IsNotSentToServersThatHaveNotAskedForIt) {
    for (int i = 0; i != 2; ++i)
        EXPECT_EQ(talk("GET /"), "");
    EXPECT_TRUE(client.is_resumed());
    EXPECT_EQ(client.early_data_outcome(), ssl::early_data::not_sent);
}

TEST_F(TlsEarlyData, L12_IsDroppedUnlessItIsReadByItsName) {
    of_server.accept_replayable_early_data(10'000);
    talk("");
    connect();
    client.set_early_data(buffer("GET /", 5));
    std::string got(4, ' ');
    run_through(context, [&]() -> awaitable<void> {
        auto const asks = [](TlsEarlyData& t) -> awaitable<void> {
            co_await t.client.async_handshake(ssl::stream_base::client);
            co_await async_write(t.client, buffer("late", 4));
        };
        auto const serves = [](TlsEarlyData& t, std::string& into) -> awaitable<void> {
            co_await t.server.async_handshake(ssl::stream_base::server);
            co_await async_read(t.server, buffer(into));
        };
        auto c = asks(*this);
        auto s = serves(*this, got);
        co_await when_all(std::move(c), std::move(s));
    });
    EXPECT_EQ(got, "late");
    EXPECT_EQ(client.early_data_outcome(), ssl::early_data::refused);
}

TEST_F(TlsEarlyData, HasALimitOfItsServer) {
    of_server.accept_replayable_early_data(50'000);
    talk("");
    std::string const most(50'000, 'e');
    EXPECT_TRUE(talk(most, 7'000) == most);
    EXPECT_EQ(client.early_data_outcome(), ssl::early_data::accepted);
    EXPECT_EQ(talk(most + '!'), "");
    EXPECT_EQ(client.early_data_outcome(), ssl::early_data::not_sent);
    EXPECT_TRUE(client.is_resumed());
}

/// A server of many bytes takes them although handshakes have a limit, too.
TEST_F(TlsEarlyData, IsNotPartOfTheLimitOfHandshakes) {
    of_server.accept_replayable_early_data(1'000'000);
    of_server.set_handshake_size_max(2'000);
    talk("");
    std::string const text(900'000, 'e');
    EXPECT_TRUE(talk(text, 20'000) == text);
}

TEST_F(TlsEarlyData, L12_ATicketIsGoodOnce) {
    of_server.accept_replayable_early_data(1'000);
    talk("");
    // As somebody has it who has recorded the connection. One of OpenSSL's is of no use after a cut.
    auto* const recorded = SSL_SESSION_dup(SSL_get0_session(client.native_handle()));
    for (bool const is_first : {true, false}) {
        of_client.keep_sessions(0);
        connect();
        auto* const again = SSL_SESSION_dup(recorded);
        SSL_set_session(client.native_handle(), again);
        SSL_SESSION_free(again);
        client.set_early_data(buffer("pay", 3));
        std::string got;
        run_through(context, [&]() -> awaitable<void> {
            auto const serves = [](TlsEarlyData& t, std::string& into) -> awaitable<void> {
                into = co_await t.serve(100);
            };
            auto s = serves(*this, got);
            auto c = ask();
            co_await when_all(std::move(s), std::move(c));
        });
        EXPECT_EQ(got, is_first ? "pay" : "");
        EXPECT_EQ(client.early_data_outcome(), is_first ? ssl::early_data::accepted : ssl::early_data::refused);
    }
    SSL_SESSION_free(recorded);
}

TEST_F(TlsEarlyData, IsForTheProtocolOfItsSession) {
    of_server.accept_replayable_early_data(1'000);
    of_server.set_alpn_protocols({"new", "old"});
    of_client.set_alpn_protocols({"old"});
    talk("");
    of_client.set_alpn_protocols({"new"});
    EXPECT_EQ(talk("for the old one"), "");
    EXPECT_EQ(client.alpn_protocol(), "new");
}

TEST_F(TlsEarlyData, IsGivenBeforeTheHandshake) {
    talk("");
    error_code ec;
    client.set_early_data(buffer("late", 4), ec);
    EXPECT_EQ(ec, error::already_started);
    EXPECT_THROW(client.set_early_data(buffer("late", 4)), system_error);
}

TEST_F(TlsEarlyData, OfAServerHasALimitAndAClientTakesNone) {
    error_code ec;
    of_client.accept_replayable_early_data(1, ec);
    EXPECT_EQ(ec, error::operation_not_supported);
    of_server.accept_replayable_early_data(0, ec);
    EXPECT_EQ(ec, error::invalid_argument);
    of_server.accept_replayable_early_data(std::size_t{1} << 32, ec);
    EXPECT_EQ(ec, error::invalid_argument);
}

TEST_F(TlsEarlyData, IsReadWithTls12AsNone) {
    of_server.accept_replayable_early_data(1'000);
    SSL_CTX_set_max_proto_version(of_client.native_handle(), TLS1_2_VERSION);
    EXPECT_EQ(talk("GET /"), "");
    EXPECT_EQ(talk("GET /"), "");
    EXPECT_TRUE(client.is_resumed());
}

TEST_F(TlsEarlyData, AReadThatIsCancelledGoesOnInTheNext) {
    of_server.accept_replayable_early_data(1'000);
    talk("");
    connect();
    client.set_early_data(buffer("GET /", 5));
    std::string got;
    run_through(context, [&]() -> awaitable<void> {
        char some[10];
        error_code ec;
        auto reading =
            server.async_read_early_data(buffer(some), cancel_after(std::chrono::milliseconds(1), redirect_error(ec)));
        EXPECT_EQ(co_await std::move(reading), 0U);
        EXPECT_EQ(ec, error::operation_aborted);
        auto const serves = [](TlsEarlyData& t, std::string& into) -> awaitable<void> { into = co_await t.serve(100); };
        auto s = serves(*this, got);
        auto c = ask();
        co_await when_all(std::move(s), std::move(c));
    });
    EXPECT_EQ(got, "GET /");
}

} // namespace
