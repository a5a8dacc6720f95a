// Rows L03, L05, L06, L10, L15, C04: how streams end, and what a cancellation leaves.
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>
#include <unit/tls/pair.hpp>

#include <chrono>

#include <openssl/ssl.h>

namespace {

using namespace fairlead;
using namespace fairlead::test;
using namespace std::chrono_literals;

class TlsEnds : public testing::Test {
public:
    io_context context;
    tls_pair p{context};
    char got[4096];
};

TEST_F(TlsEnds, L03_AConnectionThatIsCutIsNoEnd) {
    error_code ec;
    run_through(context, [&]() -> awaitable<void> {
        co_await p.shake_hands();
        p.server.next_layer().close();
        auto op = p.client.async_read_some(buffer(got), redirect_error(ec));
        co_await std::move(op);
    });
    EXPECT_EQ(ec, ssl::error::stream_truncated) << ec.message();
    EXPECT_NE(ec, error::eof);
}

TEST_F(TlsEnds, L06_WhatIsDecryptedAlreadyComesBeforeTheEnd) {
    std::string const text(3000, 'a');
    std::string all;
    error_code ec;
    run_through(context, [&]() -> awaitable<void> {
        co_await p.shake_hands();
        co_await async_write(p.server, buffer(text));
        p.server.next_layer().close();
        char little[7];
        for (;;) {
            auto op = p.client.async_read_some(buffer(little), redirect_error(ec));
            auto const n = co_await std::move(op);
            if (ec)
                break;
            all.append(little, n);
        }
    });
    EXPECT_EQ(all, text);
    EXPECT_EQ(ec, ssl::error::stream_truncated);
}

TEST_F(TlsEnds, L05_SessionTicketsWakeNobody) {
    error_code ec;
    run_through(context, [&]() -> awaitable<void> {
        co_await p.shake_hands(); // The server has sent two tickets, which no read wants.
        auto op = p.client.async_read_some(buffer(got), cancel_after(20ms, redirect_error(ec)));
        co_await std::move(op);
        EXPECT_EQ(ec, error::operation_aborted);
        std::string const text = "after the tickets";
        co_await async_write(p.server, buffer(text));
        auto const n = co_await p.client.async_read_some(buffer(got));
        EXPECT_EQ(std::string(got, n), text);
    });
}

TEST_F(TlsEnds, C04_AWriteThatIsCancelledLosesNothing) {
    std::string const text(4'000'000, 'w');
    std::size_t n = 0;
    error_code ec;
    std::string all;
    run_through(context, [&]() -> awaitable<void> {
        co_await p.shake_hands();
        auto op = async_write(p.client, buffer(text), cancel_after(20ms, redirect_error(ec))); // Nobody reads.
        n = co_await std::move(op);
        EXPECT_EQ(ec, error::operation_aborted);
        EXPECT_LT(n, text.size());
        std::string const last = "last";
        auto const reads = [](tls_pair& of, std::string& into, std::size_t most) -> awaitable<void> {
            char some[5000];
            while (into.size() < most)
                into.append(some, co_await of.server.async_read_some(buffer(some)));
        };
        auto reading = reads(p, all, n + last.size());
        auto writing = async_write(p.client, buffer(last));
        co_await when_all(std::move(reading), std::move(writing));
    });
    EXPECT_EQ(all.size(), n + 4);
    EXPECT_EQ(all.substr(0, n), text.substr(0, n));
    EXPECT_EQ(all.substr(n), "last");
}

TEST_F(TlsEnds, WhatACancelledWriteHasLeftKeepsNobodyWaiting) {
    std::string const text(4'000'000, 'w');
    error_code ec;
    run_through(context, [&]() -> awaitable<void> {
        co_await p.shake_hands();
        auto op = async_write(p.client, buffer(text), cancel_after(20ms, redirect_error(ec))); // Nobody reads.
        co_await std::move(op);
    });
    EXPECT_EQ(ec, error::operation_aborted);
    EXPECT_TRUE(context.stopped()) << "something is still being written";
}

TEST_F(TlsEnds, L10_AHandshakeThatIsCancelledGoesOnInTheNext) {
    error_code ec;
    run_through(context, [&]() -> awaitable<void> {
        auto op = p.client.async_handshake(ssl::stream_base::client, cancel_after(10ms, redirect_error(ec)));
        co_await std::move(op);
        EXPECT_EQ(ec, error::operation_aborted);
        auto const [of_client, of_server] = co_await p.shake_hands();
        EXPECT_FALSE(of_client) << of_client.message();
        EXPECT_FALSE(of_server);
    });
}

TEST_F(TlsEnds, AReadThatIsCancelledLosesNothing) {
    std::string const text(300'000, 'r');
    std::string all;
    int cancelled = 0;
    run_through(context, [&]() -> awaitable<void> {
        co_await p.shake_hands();
        auto const writes = [](tls_pair& of, std::string const& t) -> awaitable<void> {
            for (std::size_t i = 0; i != t.size(); i += 1000) {
                steady_timer pause(of.context, 50us);
                co_await pause.async_wait();
                co_await async_write(of.server, buffer(t.data() + i, 1000));
            }
        };
        auto const reads = [](TlsEnds& t, std::string& into, std::size_t most, int& n) -> awaitable<void> {
            while (into.size() < most) {
                error_code e;
                auto op = t.p.client.async_read_some(buffer(t.got), cancel_after(20us, redirect_error(e)));
                into.append(t.got, co_await std::move(op));
                n += e == error::operation_aborted;
            }
        };
        auto w = writes(p, text);
        auto r = reads(*this, all, text.size(), cancelled);
        co_await when_all(std::move(w), std::move(r));
    });
    EXPECT_EQ(all, text);
    EXPECT_GT(cancelled, 0);
}

TEST_F(TlsEnds, L07_AShutdownWhosePeerIsMuteHasItsLimit) {
    error_code ec;
    run_through(context, [&]() -> awaitable<void> {
        co_await p.shake_hands();
        auto op = p.client.async_shutdown(cancel_after(10ms, redirect_error(ec)));
        co_await std::move(op);
        p.client.next_layer().close();
        error_code of_server;
        auto reading = p.server.async_read_some(buffer(got), redirect_error(of_server));
        co_await std::move(reading);
        EXPECT_EQ(of_server, error::eof) << "close_notify has been sent";
    });
    EXPECT_EQ(ec, error::operation_aborted);
}

TEST_F(TlsEnds, L03_AnAlertIsNoGoodbye) {
    error_code of_shutdown, of_client, of_server;
    run_through(context, [&]() -> awaitable<void> {
        co_await p.shake_hands();
        co_await async_write(p.server.next_layer(), buffer(std::string_view("no record of the server's")));
        auto const reads = [](TlsEnds& t, tls_socket& s, error_code& ec) -> awaitable<void> {
            auto op = s.async_read_some(buffer(t.got), redirect_error(ec));
            co_await std::move(op);
        };
        auto ending = p.server.async_shutdown(redirect_error(of_shutdown));
        auto reading = reads(*this, p.client, of_client); // It says why it ends the connection.
        co_await when_all(std::move(ending), std::move(reading));
        co_await reads(*this, p.server, of_server);
    });
    EXPECT_EQ(of_client.category(), error::get_ssl_category()) << of_client.message();
    EXPECT_EQ(of_shutdown.category(), error::get_ssl_category()) << of_shutdown.message();
    EXPECT_EQ(of_server, of_shutdown) << of_server.message();
}

TEST_F(TlsEnds, M11_AMovedStreamTakesItsBytesAlong) {
    std::string const text(2000, 'm');
    run_through(context, [&]() -> awaitable<void> {
        co_await p.shake_hands();
        co_await async_write(p.server, buffer(text));
        char first[10];
        co_await p.client.async_read_some(buffer(first)); // The rest lies decrypted in the stream.
        tls_socket moved(std::move(p.client));
        std::string rest(text.size() - 10, ' ');
        co_await async_read(moved, buffer(rest));
        EXPECT_EQ(rest, text.substr(10));
        tls_socket assigned(context, p.of_client);
        assigned = std::move(moved);
        co_await async_write(assigned, buffer("x", 1));
        EXPECT_EQ(co_await p.server.async_read_some(buffer(got)), 1U);
    });
}

TEST_F(TlsEnds, ADestroyedStreamEndsWhatIsPending) {
    auto client = std::make_unique<tls_socket>(std::move(p.client));
    error_code ec;
    bool is_called = false;
    run_through(context, [&]() -> awaitable<void> {
        auto a = client->async_handshake(ssl::stream_base::client);
        auto b = p.server.async_handshake(ssl::stream_base::server);
        co_await when_all(std::move(a), std::move(b));
        client->async_read_some(buffer(got), [&](error_code e, std::size_t) {
            ec = e;
            is_called = true;
        });
        co_await post(context, use_await);
        client.reset();
    });
    EXPECT_TRUE(is_called);
    EXPECT_EQ(ec, error::operation_aborted);
}

TEST_F(TlsEnds, ARequestComesTooLateWhenTheStreamHasGone) {
    auto client = std::make_unique<tls_socket>(std::move(p.client));
    cancellation_signal signal;
    error_code of_write = error::eof;
    run_through(context, [&]() -> awaitable<void> {
        auto a = client->async_handshake(ssl::stream_base::client);
        auto b = p.server.async_handshake(ssl::stream_base::server);
        co_await when_all(std::move(a), std::move(b));
        // It is written at once, and nothing is under way below when the stream goes. The handler has not been called.
        client->async_write_some(
            buffer("x", 1),
            bind_cancellation_slot(signal.slot(), [&of_write](error_code e, std::size_t) { of_write = e; }));
        client.reset();
        signal.emit(cancellation_type::terminal);
    });
    EXPECT_FALSE(of_write) << of_write.message();
}

TEST_F(TlsEnds, AnotherConnectionInItsPlaceIsNotReadByTheOldOne) {
    tls_pair next(context);
    cancellation_signal signal;
    error_code of_first, of_second;
    run_through(context, [&]() -> awaitable<void> {
        co_await p.shake_hands();
        co_await next.shake_hands();
        p.client.async_read_some(
            buffer(got), bind_cancellation_slot(signal.slot(), [&](error_code e, std::size_t) { of_first = e; }));
        signal.emit(cancellation_type::terminal); // The socket is still being read when the second one begins to wait.
        p.client.async_read_some(buffer(got), [&](error_code e, std::size_t) { of_second = e; });
        p.client = std::move(next.client);
        co_await post(context, use_await);
        co_await async_write(next.server, buffer("new", 3));
        char some[10];
        EXPECT_EQ(co_await p.client.async_read_some(buffer(some)), 3U);
    });
    EXPECT_EQ(of_first, error::operation_aborted);
    EXPECT_EQ(of_second, error::operation_aborted);
}

TEST_F(TlsEnds, WhatWouldBlockIsTriedAgain) {
    run_through(context, [&]() -> awaitable<void> {
        co_await p.shake_hands();
        p.client.next_layer().non_blocking(true);
        error_code ec;
        p.client.read_some(buffer(got), ec);
        EXPECT_EQ(ec, error::would_block);
        co_await async_write(p.server, buffer("abc", 3));
        EXPECT_EQ(p.client.read_some(buffer(got), ec), 3U);
        EXPECT_FALSE(ec) << ec.message();

        std::string const text(50'000, 'w');
        std::size_t taken = 0;
        while (!ec)
            taken += p.client.write_some(buffer(text), ec);
        EXPECT_EQ(ec, error::would_block);
        taken += p.client.write_some(buffer(text), ec);
        EXPECT_EQ(ec, error::would_block) << ec.message();
        std::string all(taken + 1, ' ');
        auto reading = async_read(p.server, buffer(all));
        auto writing = async_write(p.client, buffer("x", 1));
        co_await when_all(std::move(reading), std::move(writing));
        EXPECT_EQ(all, std::string(taken, 'w') + 'x');
    });
}

TEST_F(TlsEnds, AReadInTheCallingThreadSendsItsAlert) {
    run_through(context, [&]() -> awaitable<void> { co_await p.shake_hands(); });
    auto& below = p.server.next_layer();
    below.write_some(buffer(std::string(30, 'x')));
    error_code ec;
    p.client.read_some(buffer(got), ec);
    EXPECT_EQ(ec.category(), error::get_ssl_category()) << ec.message();
    EXPECT_NE(below.available(), 0U);
}

TEST_F(TlsEnds, CancellingTheSocketEndsTheOperations) {
    error_code ec;
    run_through(context, [&]() -> awaitable<void> {
        co_await p.shake_hands();
        p.client.async_read_some(buffer(got), [&](error_code e, std::size_t) { ec = e; });
        while (!ec) { // On a busy computer the read has not come to the socket yet.
            co_await post(context, use_await);
            p.client.lowest_layer().cancel();
        }
    });
    EXPECT_EQ(ec, error::operation_aborted);
}

TEST(TlsOfAContext, GoesWithIt) {
    auto const witness = std::make_shared<int>();
    {
        io_context context;
        tls_pair p(context), q(context);
        p.client.async_handshake(ssl::stream_base::client, [witness](error_code) { ADD_FAILURE(); });
        q.server.async_handshake(ssl::stream_base::server, [witness](error_code) { ADD_FAILURE(); });
        context.poll();
        EXPECT_EQ(witness.use_count(), 3);
    }
    EXPECT_EQ(witness.use_count(), 1);
}

TEST(TlsOfAContext, MayOutliveIt) {
    auto of_client = client_context();
    std::unique_ptr<tls_socket> client;
    {
        io_context context;
        client = std::make_unique<tls_socket>(context, of_client);
        client->set_host_name("server.test");
        tls_socket other(context, of_client);
        local::connect_pair(client->next_layer(), other.next_layer());
        client->async_handshake(ssl::stream_base::client, [](error_code) { ADD_FAILURE(); });
        context.poll();
    }
    client.reset();
}

} // namespace
