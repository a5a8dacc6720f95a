#include <fairlead/net/cancel_after.hpp>
#include <fairlead/token/deferred.hpp>
#include <fairlead/token/use_future.hpp>
#include <unit/tls/pair.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <future>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace {

using namespace fairlead;
using namespace fairlead::test;

class TlsStream : public testing::Test {
public:
    io_context context;
};

TEST_F(TlsStream, CarriesBytesBothWaysAndEnds) {
    tls_pair p(context);
    run_through(context, [&p]() -> awaitable<void> {
        auto const [of_client, of_server] = co_await p.shake_hands();
        EXPECT_FALSE(of_client) << of_client.message();
        EXPECT_FALSE(of_server) << of_server.message();
        std::string const question = "ping";
        char got[16];
        co_await p.client.async_write_some(buffer(question));
        auto n = co_await p.server.async_read_some(buffer(got));
        EXPECT_EQ(std::string(got, n), "ping");
        co_await p.server.async_write_some(buffer(got, n));
        n = co_await p.client.async_read_some(buffer(got));
        EXPECT_EQ(std::string(got, n), "ping");
        error_code ec;
        auto a = p.client.async_shutdown();
        auto b = p.server.async_read_some(buffer(got), redirect_error(ec));
        auto const reads_to_the_end = [](tls_pair& of, auto op) -> awaitable<void> {
            co_await std::move(op);
            co_await of.server.async_shutdown();
        };
        auto end = reads_to_the_end(p, std::move(b));
        co_await when_all(std::move(a), std::move(end));
        EXPECT_EQ(ec, error::eof);
    });
}

TEST_F(TlsStream, CarriesMuchAtOnceBothWays) {
    tls_pair p(context);
    std::string const sent(3'000'000, 'x');
    std::string by_client(sent.size(), ' '), by_server(sent.size(), ' ');
    run_through(context, [&]() -> awaitable<void> {
        co_await p.shake_hands();
        auto a = async_write(p.client, buffer(sent));
        auto b = async_write(p.server, buffer(sent));
        auto c = async_read(p.client, buffer(by_client));
        auto d = async_read(p.server, buffer(by_server));
        co_await when_all(std::move(a), std::move(b), std::move(c), std::move(d));
    });
    EXPECT_EQ(by_client, sent);
    EXPECT_EQ(by_server, sent);
}

TEST_F(TlsStream, ASecondReadAtTheSameTimeIsAnError) {
    tls_pair p(context);
    run_through(context, [&p]() -> awaitable<void> {
        co_await p.shake_hands();
        char one[4], two[4];
        error_code ec, of_first;
        auto first = p.client.async_read_some(buffer(one), redirect_error(of_first));
        auto const second = [](tls_pair& of, char(&into)[4], error_code& e) -> awaitable<void> {
            auto again = of.client.async_read_some(buffer(into), redirect_error(e));
            co_await std::move(again);
            std::string const text = "last";
            co_await of.server.async_write_some(buffer(text));
        };
        auto other = second(p, two, ec);
        co_await when_all(std::move(first), std::move(other));
        EXPECT_EQ(ec, error::already_started);
        EXPECT_FALSE(of_first);
        EXPECT_EQ(std::string(one, 4), "last");
    });
}

TEST_F(TlsStream, AHandshakeTakesBytesThatHaveComeAlready) {
    tls_pair p(context);
    std::size_t taken = 0, come = 0;
    run_through(context, [&]() -> awaitable<void> {
        auto client = p.client.async_handshake(ssl::stream_base::client);
        auto const serves = [](tls_pair& of, std::size_t& had, std::size_t& n) -> awaitable<void> {
            char greeting[4096];
            had = co_await of.server.next_layer().async_read_some(buffer(greeting)); // "Is it TLS?"
            auto const b = buffer(greeting, had);
            n = co_await of.server.async_handshake(ssl::stream_base::server, b);
        };
        auto server = serves(p, come, taken);
        co_await when_all(std::move(client), std::move(server));
    });
    EXPECT_GT(come, 0U);
    EXPECT_EQ(taken, come);
}

/// All bytes that wait at a socket.
std::string taken_from(local::stream_protocol::socket& s) {
    std::string all(s.available(), ' ');
    if (!all.empty())
        all.resize(s.read_some(buffer(all)));
    return all;
}
/// Pieces of at most so many bytes, with an empty one between each two.
std::vector<const_buffer> cut(std::string const& all, std::size_t most) {
    std::vector<const_buffer> pieces;
    for (std::size_t i = 0; i < all.size(); i += most) {
        pieces.push_back(buffer(all.data() + i, std::min(most, all.size() - i)));
        pieces.emplace_back();
    }
    return pieces;
}

/// The client has written behind its handshake already. Somebody else has read all of that.
TEST_F(TlsStream, AHandshakeTakesSeveralBuffersAndLeavesTheRestToTheNextRead) {
    for (std::size_t const most : {7U, 100U, 100'000U}) { // more pieces than lie in the operation, some, and one
        tls_pair p(context);
        std::string const text(300, 'e');
        error_code of_client = error::eof, of_server;
        p.client.async_handshake(ssl::stream_base::client, [&](error_code ec) { of_client = ec; });
        context.restart();
        context.poll();
        std::string const first = taken_from(p.server.next_layer());
        std::array const halves{buffer(first.data(), 50), buffer(first.data() + 50, first.size() - 50)};
        p.server.next_layer().non_blocking(true);
        p.server.handshake(ssl::stream_base::server, halves, of_server);
        EXPECT_EQ(of_server, error::would_block) << of_server.message();
        context.restart();
        context.poll();
        EXPECT_FALSE(of_client) << of_client.message();
        async_write(p.client, buffer(text), [](error_code ec, std::size_t) { EXPECT_FALSE(ec); });
        context.restart();
        context.poll();

        std::string const rest = taken_from(p.server.next_layer());
        EXPECT_GT(rest.size(), text.size());
        std::string got(text.size(), ' ');
        run_through(context, [&]() -> awaitable<void> {
            auto const pieces = cut(rest, most);
            EXPECT_EQ(co_await p.server.async_handshake(ssl::stream_base::server, pieces), rest.size());
            EXPECT_EQ(p.server.next_layer().available(), 0U);
            co_await async_read(p.server, buffer(got));
        });
        EXPECT_EQ(got, text);
    }
}

TEST_F(TlsStream, AHandshakeInTheCallingThreadTakesSeveralBuffers) {
    tls_pair p(context);
    std::thread peer([&p] { p.client.handshake(ssl::stream_base::client); });
    char greeting[4096];
    auto const n = p.server.next_layer().read_some(buffer(greeting));
    std::array const halves{buffer(greeting, 1), buffer(greeting + 1, n - 1)};
    p.server.handshake(ssl::stream_base::server, halves);
    peer.join();
}

TEST_F(TlsStream, SeveralBuffersThatAreTooMuchAreNotTaken) {
    tls_pair p(context);
    std::string const much(40'000, 'm');
    std::array const twice{buffer(much), buffer(much)};
    run_through(context, [&]() -> awaitable<void> {
        auto const [ec, n] = co_await p.server.async_handshake(ssl::stream_base::server, twice, as_tuple);
        EXPECT_EQ(ec, error::no_buffer_space);
        EXPECT_EQ(n, 0U);
        auto const [of_client, of_server] = co_await p.shake_hands();
        EXPECT_FALSE(of_client) << of_client.message();
        EXPECT_FALSE(of_server) << of_server.message();
    });
}

TEST_F(TlsStream, WorksOverAStreamOfAUsers) {
    tls_pair outer(context);
    ssl::context of_client = client_context(), of_server = server_context();
    ssl::stream<tls_socket&> client(outer.client, of_client), server(outer.server, of_server);
    client.set_host_name("server.test");
    std::string const text(200'000, 'u');
    std::string got(text.size(), ' ');
    run_through(context, [&]() -> awaitable<void> {
        co_await outer.shake_hands();
        auto a = client.async_handshake(ssl::stream_base::client);
        auto b = server.async_handshake(ssl::stream_base::server);
        co_await when_all(std::move(a), std::move(b));
        auto writing = async_write(client, buffer(text));
        auto reading = async_read(server, buffer(got));
        co_await when_all(std::move(writing), std::move(reading));
        error_code ec;
        char more[4];
        auto waiting =
            server.async_read_some(buffer(more), cancel_after(std::chrono::milliseconds(1), redirect_error(ec)));
        co_await std::move(waiting);
        EXPECT_EQ(ec, error::operation_aborted);
    });
    EXPECT_EQ(got, text);
}

TEST_F(TlsStream, WaitsInTheCallingThreadToo) {
    tls_pair p(context);
    std::thread peer([&p] {
        p.server.handshake(ssl::stream_base::server);
        char some[10];
        auto const n = p.server.read_some(buffer(some));
        p.server.write_some(buffer(some, n));
        error_code ec;
        p.server.read_some(buffer(some), ec);
        EXPECT_EQ(ec, error::eof);
        p.server.shutdown();
    });
    p.client.handshake(ssl::stream_base::client);
    EXPECT_EQ(p.client.write_some(buffer("abc", 3)), 3U);
    char some[10];
    EXPECT_EQ(p.client.read_some(buffer(some)), 3U);
    p.client.shutdown();
    peer.join();
}

/// It gives up every operation: with an exception, or without a word.
struct poor_stream {
    using executor_type = io_context::executor_type;
    executor_type executor;
    bool throws;
    executor_type get_executor() const noexcept { return executor; }
    template <class Buffers, class Token> void async_read_some(Buffers const&, Token&& token) { start(token); }
    template <class Buffers, class Token> void async_write_some(Buffers const&, Token&& token) { start(token); }
    template <class Token> void start(Token& token) const {
        std::decay_t<Token> const taken(std::move(token));
        if (throws)
            throw std::bad_alloc();
    }
};

TEST_F(TlsStream, AStreamBelowThatCannotStartEndsTheOperation) {
    for (bool const throws : {true, false}) {
        auto of_client = client_context();
        poor_stream below{context.get_executor(), throws};
        ssl::stream<poor_stream&> client(below, of_client);
        client.set_host_name("server.test");
        error_code ec;
        run_through(context, [&]() -> awaitable<void> {
            auto op = client.async_handshake(ssl::stream_base::client, redirect_error(ec));
            co_await std::move(op);
        });
        EXPECT_EQ(ec, throws ? error::no_memory : error::operation_aborted);
    }
}

/// It keeps handlers, until it drops them.
struct forgetful_stream {
    using executor_type = io_context::executor_type;
    executor_type executor;
    std::vector<std::shared_ptr<void>> kept = {};
    executor_type get_executor() const noexcept { return executor; }
    template <class Buffers, class Token> void async_read_some(Buffers const&, Token&& token) { keep(token); }
    template <class Buffers, class Token> void async_write_some(Buffers const&, Token&& token) { keep(token); }
    template <class Token> void keep(Token& token) {
        kept.push_back(std::make_shared<std::decay_t<Token>>(std::move(token)));
    }
};

TEST_F(TlsStream, AStreamBelowThatDropsItsHandlerEndsTheOperation) {
    auto of_client = client_context();
    forgetful_stream below{context.get_executor()};
    ssl::stream<forgetful_stream&> client(below, of_client);
    client.set_host_name("server.test");
    error_code ec;
    bool is_over = false;
    client.async_handshake(ssl::stream_base::client, [&](error_code e) {
        ec = e;
        is_over = true;
    });
    context.poll();
    EXPECT_FALSE(is_over);
    below.kept.clear();
    context.restart();
    context.poll();
    EXPECT_TRUE(is_over);
    EXPECT_EQ(ec, error::operation_aborted);
}

/// The paper's client: it reads from one stream or the other, as is known at run time only.
struct http_client {
    local::stream_protocol::socket plain;
    tls_socket encrypted;
    bool encrypts;

    template <class Buffers, class Token> auto async_read_some(Buffers const& into, Token&& token) {
        if (encrypts)
            return encrypted.async_read_some(into, std::forward<Token>(token));
        return plain.async_read_some(into, std::forward<Token>(token));
    }
};

TEST(Papers, A22_PlainAndTlsReadHaveOneTypeForEveryToken) {
    io_context context;
    tls_pair p(context);
    local::stream_protocol::socket mine(context), others(context);
    local::connect_pair(mine, others);
    run_through(context, [&]() -> awaitable<void> { co_await p.shake_hands(); });
    http_client client{std::move(mine), std::move(p.client), false};
    using bytes = char[2];
    bytes some;
    auto const callback = [](error_code, std::size_t) {};
    static_assert(std::is_same_v<decltype(client.async_read_some(buffer(some), use_await)),
                                 async_op<void(error_code, std::size_t)>>);
    static_assert(std::is_same_v<decltype(client.async_read_some(buffer(some), deferred)),
                                 async_op<void(error_code, std::size_t)>>);
    static_assert(std::is_same_v<decltype(client.async_read_some(buffer(some), use_future)), std::future<std::size_t>>);
    static_assert(std::is_void_v<decltype(client.async_read_some(buffer(some), callback))>);
    run_through(context, [&]() -> awaitable<void> {
        for (bool const with_tls : {false, true}) {
            client.encrypts = with_tls;
            if (with_tls)
                co_await async_write(p.server, buffer("ab", 2));
            else
                co_await async_write(others, buffer("cd", 2));
            EXPECT_EQ(co_await client.async_read_some(buffer(some), use_await), 2U);
            EXPECT_EQ(std::string(some, 2), with_tls ? "ab" : "cd");
        }
    });
}

TEST(Papers, B08_OperationsOfTlsThrowNothing) {
    using stream = ssl::stream<ip::tcp::socket>;
    std::array<char, 4> bytes{};
    auto const one = [&bytes]() noexcept { return buffer(bytes); };
    EXPECT_TRUE(noexcept(std::declval<stream&>().async_handshake(ssl::stream_base::client)));
    EXPECT_TRUE(noexcept(std::declval<stream&>().async_handshake(ssl::stream_base::server, const_buffer(one()))));
    EXPECT_TRUE(noexcept(std::declval<stream&>().async_handshake(ssl::stream_base::server,
                                                                 std::declval<std::array<const_buffer, 2>>())));
    EXPECT_TRUE(noexcept(std::declval<stream&>().async_read_early_data(one())));
    EXPECT_TRUE(noexcept(std::declval<stream&>().async_read_some(one(), use_await)));
    EXPECT_TRUE(noexcept(std::declval<stream&>().async_write_some(const_buffer(one()), use_await)));
    EXPECT_TRUE(noexcept(std::declval<stream&>().async_shutdown()));
    EXPECT_TRUE(noexcept(std::declval<stream&>().async_shutdown_send()));
}

TEST_F(TlsStream, WhateverComesBeforeTheHandshakeLeavesTheStreamAsItIs) {
    tls_pair p(context);
    char some[10];
    error_code ec;
    for (auto* const s : {&p.client, &p.server}) {
        EXPECT_EQ(s->read_some(buffer(some), ec), 0U);
        EXPECT_EQ(ec, error::not_connected);
        EXPECT_EQ(s->write_some(buffer("x", 1), ec), 0U);
        EXPECT_EQ(ec, error::not_connected);
    }
    run_through(context, [&]() -> awaitable<void> {
        auto shutting = p.client.async_shutdown(redirect_error(ec));
        co_await std::move(shutting);
        EXPECT_EQ(ec, error::not_connected);
        auto ending = p.server.async_shutdown_send(redirect_error(ec));
        co_await std::move(ending);
        EXPECT_EQ(ec, error::not_connected);
        auto reading = p.client.async_read_early_data(buffer(some), redirect_error(ec));
        EXPECT_EQ(co_await std::move(reading), 0U);
        EXPECT_EQ(ec, error::eof) << "a client gets none";
        auto const [of_client, of_server] = co_await p.shake_hands();
        EXPECT_FALSE(of_client) << of_client.message();
        EXPECT_FALSE(of_server) << of_server.message();
    });
}

} // namespace
