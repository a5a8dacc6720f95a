// One direction ends before the other: TLS 1.3 has them apart (RFC 8446 section 6.1), TLS 1.2 has not (RFC
// 5246, 7.2.1).
#include <fairlead/token/bind_cancellation_slot.hpp>
#include <unit/tls/pair.hpp>

#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <openssl/ssl.h>

namespace {

using namespace fairlead;
using namespace fairlead::test;

ssl::context client_up_to(int version) {
    auto c = client_context();
    SSL_CTX_set_max_proto_version(c.native_handle(), version);
    return c;
}

class TlsHalfClose : public testing::TestWithParam<int> {
public:
    bool is_new() const { return GetParam() == TLS1_3_VERSION; }
    /// The error of a read of nothing but an end.
    awaitable<error_code> end_of(tls_socket& s) {
        error_code ec;
        char some[10];
        auto op = s.async_read_some(buffer(some), redirect_error(ec));
        EXPECT_EQ(co_await std::move(op), 0U);
        co_return ec;
    }
    awaitable<error_code> write_to(tls_socket& s, std::string_view text) {
        error_code ec;
        auto op = async_write(s, buffer(text.data(), text.size()), redirect_error(ec));
        co_await std::move(op);
        co_return ec;
    }
    io_context context;
    tls_pair p{context, client_up_to(GetParam()), server_context()};
};

TEST_P(TlsHalfClose, ReadsGoOnAfterOurEnd) {
    std::string const text(300'000, 'h');
    std::string got(text.size(), ' ');
    run_through(context, [&]() -> awaitable<void> {
        co_await p.shake_hands();
        EXPECT_EQ(p.client.protocol_version(), is_new() ? "TLSv1.3" : "TLSv1.2");
        co_await async_write(p.client, buffer("request", 7));
        auto reading = async_read(p.client, buffer(got));
        auto const rest = [](TlsHalfClose& t, std::string const& answer) -> awaitable<void> {
            auto writing = async_write(t.p.server, buffer(answer));
            auto ending = t.p.client.async_shutdown_send(); // while the read is pending
            co_await when_all(std::move(writing), std::move(ending));
            co_await t.p.server.async_shutdown_send();
        };
        auto other = rest(*this, text);
        co_await when_all(std::move(reading), std::move(other));
        EXPECT_EQ(co_await end_of(p.client), error::eof);
    });
    EXPECT_EQ(got, text);
}

TEST_P(TlsHalfClose, NothingIsWrittenBehindTheEnd) {
    run_through(context, [&]() -> awaitable<void> {
        co_await p.shake_hands();
        co_await p.client.async_shutdown_send();
        co_await p.client.async_shutdown_send(); // once more is no more
        EXPECT_EQ(co_await write_to(p.client, "x"), error::broken_pipe);
        EXPECT_EQ(co_await end_of(p.server), error::eof);
        EXPECT_EQ(co_await end_of(p.server), error::eof);
        co_await p.server.async_shutdown();
        co_await p.client.async_shutdown();
        EXPECT_EQ(co_await end_of(p.client), error::eof) << "a write that was refused has not spoiled the stream";
    });
}

TEST_P(TlsHalfClose, WritesGoOnAfterThePeersEndWithTls13Only) {
    run_through(context, [&]() -> awaitable<void> {
        co_await p.shake_hands();
        co_await p.client.async_shutdown_send();
        EXPECT_EQ(co_await end_of(p.server), error::eof);
        if (is_new()) {
            std::string const text(100'000, 'w');
            std::string got(text.size(), ' ');
            auto writing = async_write(p.server, buffer(text));
            auto reading = async_read(p.client, buffer(got));
            co_await when_all(std::move(writing), std::move(reading));
            EXPECT_EQ(got, text);
            co_await p.server.async_shutdown_send();
        } else {
            EXPECT_EQ(co_await write_to(p.server, "x"), error::broken_pipe);
        }
        EXPECT_EQ(co_await end_of(p.client), error::eof) << "TLS 1.2 has answered at once";
    });
}

TEST_P(TlsHalfClose, AShutdownEndsWhatIsHalfEnded) {
    run_through(context, [&]() -> awaitable<void> {
        co_await p.shake_hands();
        co_await p.client.async_shutdown_send();
        auto a = p.client.async_shutdown();
        auto b = p.server.async_shutdown();
        co_await when_all(std::move(a), std::move(b));
    });
}

TEST_P(TlsHalfClose, AnEndIsAWriteAndComesAfterWhatWasWritten) {
    std::string const text(50'000, 'w');
    std::size_t taken = 0;
    run_through(context, [&]() -> awaitable<void> {
        co_await p.shake_hands();
        bool is_over = true;
        while (is_over) { // Until the socket takes no more.
            is_over = false;
            p.client.async_write_some(buffer(text), [&](error_code ec, std::size_t n) {
                EXPECT_FALSE(ec);
                taken += n;
                is_over = true;
            });
            co_await post(context, use_await);
            co_await post(context, use_await);
        }
        error_code ec;
        auto ending = p.client.async_shutdown_send(redirect_error(ec));
        co_await std::move(ending);
        EXPECT_EQ(ec, error::already_started);
        auto const reads = [](tls_pair& of, std::size_t& n) -> awaitable<error_code> {
            error_code end;
            std::string some(100'000, ' ');
            while (!end) {
                auto op = of.server.async_read_some(buffer(some), redirect_error(end));
                n += co_await std::move(op);
            }
            co_return end;
        };
        auto const ends = [](tls_pair& of, bool& has_written) -> awaitable<void> {
            while (!has_written)
                co_await post(of.context, use_await);
            co_await of.client.async_shutdown_send();
        };
        std::size_t got = 0;
        auto reading = reads(p, got);
        auto other = ends(p, is_over);
        EXPECT_EQ(std::get<0>(co_await when_all(std::move(reading), std::move(other))), error::eof);
        EXPECT_EQ(got, taken);
    });
}

/// A client whose socket takes no more. Its goodbye waits behind what it has written, and was cancelled there.
struct cancelled_end {
    std::size_t taken = 0; ///< bytes that the client has reported as written
    error_code of_end;

    awaitable<void> begin(tls_pair& p) {
        std::string const text(4'000'000, 'w');
        cancellation_signal signal;
        error_code of_write;
        bool is_over = false;
        async_write(p.client, buffer(text), bind_cancellation_slot(signal.slot(), [&](error_code ec, std::size_t n) {
                        of_write = ec;
                        taken = n;
                        is_over = true;
                    }));
        for (int i = 0; i != 3; ++i)
            co_await post(p.context, use_await); // Nobody reads.
        signal.emit(cancellation_type::terminal);
        while (!is_over)
            co_await post(p.context, use_await);
        EXPECT_EQ(of_write, error::operation_aborted) << of_write.message();
        is_over = false;
        p.client.async_shutdown_send(bind_cancellation_slot(signal.slot(), [&](error_code ec) {
            of_end = ec;
            is_over = true;
        }));
        for (int i = 0; i != 3; ++i)
            co_await post(p.context, use_await);
        EXPECT_FALSE(is_over) << "there is no space for it";
        signal.emit(cancellation_type::terminal);
        while (!is_over)
            co_await post(p.context, use_await);
    }
    /// All that has come until the end, and the end.
    static awaitable<std::pair<std::size_t, error_code>> read_all(tls_socket& s) {
        std::string some(100'000, ' ');
        std::size_t n = 0;
        error_code end;
        while (!end) {
            auto op = s.async_read_some(buffer(some), redirect_error(end));
            n += co_await std::move(op);
        }
        co_return std::pair(n, end);
    }
};

TEST_P(TlsHalfClose, AnEndThatWasCancelledIsRepeated) {
    run_through(context, [&]() -> awaitable<void> {
        co_await p.shake_hands();
        cancelled_end c;
        co_await c.begin(p);
        EXPECT_EQ(c.of_end, error::operation_aborted) << c.of_end.message();
        EXPECT_EQ(co_await write_to(p.client, "x"), error::broken_pipe) << "the end has been encrypted";
        error_code again;
        auto ending = p.client.async_shutdown_send(redirect_error(again));
        auto reading = cancelled_end::read_all(p.server);
        auto const [ended, all] = co_await when_all(std::move(ending), std::move(reading));
        static_cast<void>(ended);
        EXPECT_FALSE(again) << again.message();
        EXPECT_EQ(all.first, c.taken) << "all that the write has reported";
        EXPECT_EQ(all.second, error::eof);
        if (is_new()) { // The other direction is as it was.
            co_await async_write(p.server, buffer("answer", 6));
            char got[6];
            EXPECT_EQ(co_await async_read(p.client, buffer(got)), 6U);
        }
        co_await p.server.async_shutdown_send();
        EXPECT_EQ(co_await end_of(p.client), error::eof);
    });
}

TEST_P(TlsHalfClose, AShutdownSendsAnEndThatWasCancelled) {
    run_through(context, [&]() -> awaitable<void> {
        co_await p.shake_hands();
        cancelled_end c;
        co_await c.begin(p);
        auto const answers = [](tls_pair& of, std::size_t n) -> awaitable<void> {
            EXPECT_EQ(co_await cancelled_end::read_all(of.server), std::pair(n, error_code(error::eof)));
            co_await of.server.async_shutdown();
        };
        error_code of_shutdown;
        auto ending = p.client.async_shutdown(redirect_error(of_shutdown));
        auto reading = answers(p, c.taken);
        co_await when_all(std::move(ending), std::move(reading));
        EXPECT_FALSE(of_shutdown) << of_shutdown.message();
    });
}

TEST_P(TlsHalfClose, AStreamWhoseEndWasCancelledCanBeClosed) {
    run_through(context, [&]() -> awaitable<void> {
        co_await p.shake_hands();
        cancelled_end c;
        co_await c.begin(p);
        p.client.next_layer().close();
        auto const [n, end] = co_await cancelled_end::read_all(p.server);
        EXPECT_LE(n, c.taken);
        EXPECT_TRUE(end == ssl::error::stream_truncated || end == error::connection_reset) << end.message();
    });
    EXPECT_TRUE(context.stopped()) << "something is still pending";
}

TEST_P(TlsHalfClose, KeysAreUpdatedAfterOurEnd) {
    if (!is_new())
        GTEST_SKIP() << "TLS 1.2 has no updates of keys";
    run_through(context, [&]() -> awaitable<void> {
        co_await p.shake_hands();
        co_await p.client.async_shutdown_send();
        EXPECT_EQ(SSL_key_update(p.server.native_handle(), SSL_KEY_UPDATE_REQUESTED), 1);
        std::string got(5, ' ');
        auto writing = async_write(p.server, buffer("after", 5));
        auto reading = async_read(p.client, buffer(got));
        co_await when_all(std::move(writing), std::move(reading));
        EXPECT_EQ(got, "after");
    });
}

TEST_P(TlsHalfClose, BlockingCallsEndOneDirectionToo) {
    run_through(context, [&]() -> awaitable<void> { co_await p.shake_hands(); });
    char some[10];
    error_code ec;
    p.client.shutdown_send();
    EXPECT_EQ(p.server.read_some(buffer(some), ec), 0U);
    EXPECT_EQ(ec, error::eof);
    EXPECT_EQ(p.server.write_some(buffer("x", 1), ec), is_new() ? 1U : 0U);
    EXPECT_EQ(ec, is_new() ? error_code() : error::broken_pipe);
    p.server.shutdown_send(ec);
    EXPECT_FALSE(ec);
    if (is_new()) {
        EXPECT_EQ(p.client.read_some(buffer(some)), 1U);
    }
    EXPECT_EQ(p.client.read_some(buffer(some), ec), 0U);
    EXPECT_EQ(ec, error::eof);
}

/// Blocks, as programs do that call OpenSSL alone. Its answer is read to the end of the peer; empty: it was cut.
std::string answer_to_bare_client(int fd, int version) {
    SSL_CTX* const c = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_max_proto_version(c, version);
    SSL* const s = SSL_new(c);
    SSL_set_fd(s, fd);
    std::string got;
    if (SSL_connect(s) == 1 && SSL_write(s, "request", 7) == 7 && SSL_shutdown(s) == 0) {
        char some[1000];
        int n = 0;
        while ((n = SSL_read(s, some, sizeof some)) > 0)
            got.append(some, static_cast<std::size_t>(n));
        got = SSL_get_error(s, n) == SSL_ERROR_ZERO_RETURN ? got + " and the end" : "";
    }
    SSL_free(s);
    SSL_CTX_free(c);
    return got;
}

TEST_P(TlsHalfClose, ABareClientOfOpenSSLEndsItsRequest) {
    auto of_server = server_context();
    tls_socket server(context, of_server);
    local::stream_protocol::socket peer(context);
    local::connect_pair(server.next_layer(), peer);
    std::string answer;
    {
        std::jthread client([&] { answer = answer_to_bare_client(peer.native_handle(), GetParam()); });
        run_through(context, [&]() -> awaitable<void> {
            co_await server.async_handshake(ssl::stream_base::server);
            char request[7];
            co_await async_read(server, buffer(request));
            EXPECT_EQ(co_await end_of(server), error::eof);
            EXPECT_EQ(co_await write_to(server, "answer"), is_new() ? error_code() : error::broken_pipe);
            co_await server.async_shutdown();
        });
    }
    EXPECT_EQ(answer, is_new() ? "answer and the end" : " and the end");
}

INSTANTIATE_TEST_SUITE_P(Versions, TlsHalfClose, testing::Values(TLS1_2_VERSION, TLS1_3_VERSION),
                         [](auto const& v) { return v.param == TLS1_2_VERSION ? "Tls12" : "Tls13"; });

} // namespace
