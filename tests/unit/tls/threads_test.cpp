// One read and one write at the same time, on several threads: no two of them are ever inside one SSL.
#include <fairlead/exec/strand.hpp>
#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>
#include <fairlead/token/use_future.hpp>
#include <support/scale.hpp>
#include <unit/tls/pair.hpp>

#include <atomic>
#include <chrono>
#include <latch>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <openssl/ssl.h>

namespace {

using namespace fairlead;
using namespace fairlead::test;

awaitable<void> write_all(tls_socket& s, std::string const& text) {
    for (std::size_t i = 0; i < text.size(); i += 3'000)
        co_await async_write(s, buffer(text.data() + i, std::min<std::size_t>(3'000, text.size() - i)));
}

/// Both ends read and write all of `text`, in three threads.
void exchange_in_threads(std::string const& text) {
    io_context context;
    tls_pair p(context);
    std::string by_client(text.size(), ' '), by_server(text.size(), ' ');
    std::atomic<int> left = 4;
    run_through(context, [&]() -> awaitable<void> { co_await p.shake_hands(); });
    auto const ended = [&left](std::exception_ptr e) {
        EXPECT_FALSE(e);
        --left;
    };
    auto const reads = [](tls_socket& s, std::string& into) -> awaitable<void> {
        co_await async_read(s, buffer(into));
    };
    co_spawn(make_strand(context), write_all(p.client, text), ended);
    co_spawn(make_strand(context), write_all(p.server, text), ended);
    co_spawn(make_strand(context), reads(p.client, by_client), ended);
    co_spawn(make_strand(context), reads(p.server, by_server), ended);
    context.restart();
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i != 3; ++i)
            threads.emplace_back([&context] { context.run(); });
    }
    EXPECT_EQ(left, 0);
    EXPECT_EQ(by_client, text);
    EXPECT_EQ(by_server, text);
}

/// Again and again: once in forty rounds a driver forgot a read that a thread had parked while the owner slept.
TEST(TlsOfThreads, ReadsAndWritesRunAtTheSameTime) {
    std::string const text(scaled(2'000'000, 100'000), 't');
    for (auto round = scaled(20, 2); round != 0; --round)
        exchange_in_threads(text);
}

/// After the handshake a connection uses a BIO of the thread. OpenSSL's part of it stays when the thread has ended.
TEST(TlsOfThreads, AStreamGoesOnAfterItsThreadHasEnded) {
    io_context context;
    tls_pair p(context), other(context);
    std::jthread([&] {
        run_through(context, [&]() -> awaitable<void> {
            co_await p.shake_hands();
            co_await other.shake_hands();
            co_await async_write(p.client, buffer("first", 5));
        });
    }).join();
    char first[5], second[6];
    run_through(context, [&]() -> awaitable<void> {
        co_await async_read(p.server, buffer(first));
        co_await async_write(other.client, buffer("second", 6));
        co_await async_read(other.server, buffer(second));
    });
    EXPECT_EQ(std::string_view(first, 5), "first");
    EXPECT_EQ(std::string_view(second, 6), "second");
}

/// Streams of a thread share a BIO, but a program that calls OpenSSL itself gets nobody's bytes.
TEST(TlsOfThreads, ACallOfOpensslFindsNoBytes) {
    io_context context;
    tls_pair p(context), other(context);
    run_through(context, [&]() -> awaitable<void> {
        co_await p.shake_hands();
        co_await other.shake_hands();
        co_await async_write(p.client, buffer("hello", 5));
    });
    char into[5];
    auto* const s = p.server.native_handle();
    EXPECT_EQ(SSL_get_rbio(s), SSL_get_rbio(other.server.native_handle()));
    EXPECT_EQ(SSL_get_error(s, SSL_peek(s, into, 5)), SSL_ERROR_WANT_READ);
    EXPECT_EQ(SSL_get_error(s, SSL_write(s, "x", 1)), SSL_ERROR_WANT_WRITE);
    run_through(context, [&]() -> awaitable<void> { co_await async_read(p.server, buffer(into)); });
    EXPECT_EQ(std::string_view(into, 5), "hello");
}

TEST(TlsOfThreads, RequestsRaceWithReads) {
    int const rounds = static_cast<int>(scaled(2'000, 200));
    thread_pool pool(2);
    auto of_client = client_context();
    auto of_server = server_context();
    using pool_socket = local::stream_protocol::socket;
    ssl::stream<pool_socket> client(pool.get_executor(), of_client), server(pool.get_executor(), of_server);
    local::connect_pair(client.next_layer(), server.next_layer());
    client.set_host_name("server.test");
    auto a = client.async_handshake(ssl::stream_base::client, use_future);
    auto b = server.async_handshake(ssl::stream_base::server, use_future);
    a.get();
    b.get();
    std::size_t sent = 0, got = 0;
    auto const read_all_but = [&](std::size_t left) {
        while (sent - got > left) {
            char into[4096];
            auto reading = client.async_read_some(buffer(into), use_future);
            got += reading.get();
        }
    };
    for (int i = 0; i != rounds; ++i) {
        read_all_but(500); // Where requests always come first, the socket would be full.
        char into[64];
        cancellation_signal signal;
        error_code ec;
        std::latch is_over(1);
        std::size_t n = 0;
        client.async_read_some(buffer(into), bind_cancellation_slot(signal.slot(), [&](error_code e, std::size_t m) {
                                   ec = e;
                                   n = m;
                                   is_over.count_down();
                               }));
        auto writing = server.async_write_some(buffer("12345", 5), use_future);
        signal.emit(cancellation_type::total);
        is_over.wait();
        EXPECT_TRUE(!ec || ec == error::operation_aborted) << ec.message();
        got += n;
        sent += writing.get();
    }
    read_all_but(0);
    EXPECT_EQ(sent, static_cast<std::size_t>(rounds) * 5);
    pool.join();
}

TEST(TlsOfThreads, TimeLimitsRaceWithHandshakes) {
    int const rounds = static_cast<int>(scaled(500, 100));
    thread_pool pool(2);
    auto of_client = client_context();
    auto of_server = server_context();
    std::chrono::nanoseconds limit = std::chrono::microseconds(100);
    for (int i = 0; i != rounds; ++i) {
        of_client.set_handshake_timeout(limit);
        of_server.set_handshake_timeout(limit);
        using pool_socket = local::stream_protocol::socket;
        ssl::stream<pool_socket> client(pool.get_executor(), of_client), server(pool.get_executor(), of_server);
        local::connect_pair(client.next_layer(), server.next_layer());
        client.set_host_name("server.test");
        error_code of_c, of_s;
        auto a = client.async_handshake(ssl::stream_base::client, redirect_error(use_future, of_c));
        auto b = server.async_handshake(ssl::stream_base::server, redirect_error(use_future, of_s));
        a.get();
        b.get();
        EXPECT_TRUE(!of_c || of_c == ssl::error::handshake_timed_out) << of_c.message();
        EXPECT_TRUE(!of_s || of_s == ssl::error::handshake_timed_out) << of_s.message();
        limit = of_c || of_s ? limit * 2 : limit / 3 + std::chrono::nanoseconds(1); // about as long as it takes
    }
    pool.join();
}

TEST(TlsOfThreads, AReadThatBlocksDoesNotHoldUpAWrite) {
    io_context context;
    tls_pair p(context);
    run_through(context, [&]() -> awaitable<void> { co_await p.shake_hands(); });
    std::string got(4, ' ');
    std::jthread reads([&] { got.resize(p.client.read_some(buffer(got))); });
    std::jthread answers([&] { // It answers only when it has been asked.
        char question[4];
        p.server.read_some(buffer(question));
        p.server.write_some(buffer("pong", 4));
    });
    EXPECT_EQ(p.client.write_some(buffer("ping", 4)), 4U);
    answers.join();
    reads.join();
    EXPECT_EQ(got, "pong");
}

} // namespace
