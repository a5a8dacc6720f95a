// Row A22: TLS and plain streams behind one type; TLS over any stream, TLS over TLS.
#include <fairlead/net/any_stream.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>
#include <fairlead/token/detached.hpp>
#include <support/counting_new.hpp>
#include <unit/tls/pair.hpp>

#include <array>
#include <chrono>
#include <memory>
#include <string>

namespace {

using namespace fairlead;
using namespace fairlead::test;
using namespace std::chrono_literals;

class TlsAnyStream : public testing::Test {
public:
    io_context context;
};

/// The same program, whatever carries its bytes.
awaitable<std::string> ask(any_stream& s, std::string question) {
    co_await async_write(s, buffer(question));
    std::string answer(question.size(), ' ');
    co_await async_read(s, buffer(answer));
    co_return answer;
}
awaitable<void> answer(any_stream& s, std::size_t size) {
    std::string got(size, ' ');
    co_await async_read(s, buffer(got));
    co_await async_write(s, buffer(got));
}

TEST_F(TlsAnyStream, OneProgramServesPlainAndEncryptedStreams) {
    tls_pair p(context);
    local::stream_protocol::socket a(context), b(context);
    local::connect_pair(a, b);
    run_through(context, [&]() -> awaitable<void> {
        co_await p.shake_hands();
        any_stream const* last = nullptr;
        any_stream near(std::move(p.client)), far(std::move(p.server)), plain_near(std::move(a)),
            plain_far(std::move(b));
        std::string const text(100'000, 'q');
        for (auto [one, other] : {std::pair(&near, &far), std::pair(&plain_near, &plain_far)}) {
            auto asking = ask(*one, text);
            auto answering = answer(*other, text.size());
            auto const [got, ended] = co_await when_all(std::move(asking), std::move(answering));
            static_cast<void>(ended);
            EXPECT_EQ(got, text);
            last = one;
        }
        EXPECT_EQ(last, &plain_near);
        EXPECT_NE(near.target<tls_socket>(), nullptr);
        error_code of_near, of_far;
        auto ending = near.async_shutdown(redirect_error(of_near));
        auto too = far.async_shutdown(redirect_error(of_far));
        co_await when_all(std::move(ending), std::move(too));
        EXPECT_FALSE(of_near) << of_near.message();
        EXPECT_FALSE(of_far) << of_far.message();
    });
}

TEST_F(TlsAnyStream, TlsRunsOverWhateverItHolds) {
    auto of_client = client_context(), of_server = server_context();
    local::stream_protocol::socket a(context), b(context);
    local::connect_pair(a, b);
    using over_any = ssl::stream<any_stream>;
    using twice = ssl::stream<over_any>;
    twice near(over_any(any_stream(std::move(a)), of_client), of_client);
    twice far(over_any(any_stream(std::move(b)), of_server), of_server);
    near.next_layer().set_host_name("server.test");
    near.set_host_name("server.test");
    run_through(context, [&]() -> awaitable<void> {
        for (int layer = 0; layer != 2; ++layer) {
            error_code of_c, of_s;
            auto c = layer == 0 ? near.next_layer().async_handshake(ssl::stream_base::client, redirect_error(of_c))
                                : near.async_handshake(ssl::stream_base::client, redirect_error(of_c));
            auto s = layer == 0 ? far.next_layer().async_handshake(ssl::stream_base::server, redirect_error(of_s))
                                : far.async_handshake(ssl::stream_base::server, redirect_error(of_s));
            co_await when_all(std::move(c), std::move(s));
            EXPECT_FALSE(of_c) << of_c.message();
            EXPECT_FALSE(of_s) << of_s.message();
        }
        twice moved(std::move(near));
        std::string const text(200'000, 't');
        std::string got(text.size(), ' ');
        auto w = async_write(moved, buffer(text));
        auto r = async_read(far, buffer(got));
        co_await when_all(std::move(w), std::move(r));
        EXPECT_EQ(got, text);
    });
}

TEST_F(TlsAnyStream, AwaitedOperationsAllocateNothing) {
    if (!is_new_counted())
        GTEST_SKIP() << "operator new is not counted in this build";
    tls_pair p(context);
    std::uint64_t calls = ~std::uint64_t{0};
    run_through(context, [&]() -> awaitable<void> {
        co_await p.shake_hands();
        any_stream near(std::move(p.client)), far(std::move(p.server));
        char got[8];
        for (int round = 0; round != 2; ++round) { // The first one warms up what a thread keeps.
            new_counter const counter;
            for (int i = 0; i != 100; ++i) {
                co_await async_write(near, buffer("ab", 2));
                co_await far.async_read_some(buffer(got));
                auto waits = far.async_read_some(buffer(got));
                auto comes = near.async_write_some(buffer("c", 1));
                co_await when_all(std::move(waits), std::move(comes));
            }
            calls = counter.calls();
        }
    });
    EXPECT_EQ(calls, 0U);
}

TEST_F(TlsAnyStream, SeveralBuffersGoOutTogether) {
    tls_pair p(context);
    run_through(context, [&]() -> awaitable<void> {
        co_await p.shake_hands();
        std::string const one = "GET / HTTP/1.1\r\n", none, two = "Host: server.test\r\n", three = "\r\n";
        std::array const all{buffer(one), buffer(none), buffer(two), buffer(three)};
        auto op = p.client.async_write_some(all);
        EXPECT_EQ(co_await std::move(op), one.size() + two.size() + three.size());
        std::string first(4, ' '), rest(one.size() + two.size() + three.size() - 4, ' ');
        std::array const into{buffer(first), buffer(rest)};
        auto reading = async_read(p.server, into);
        EXPECT_EQ(co_await std::move(reading), first.size() + rest.size());
        EXPECT_EQ(first + rest, one + two + three);
    });
}

TEST_F(TlsAnyStream, WhatIsUnderWayBelowKeepsWhatItNeeds) {
    auto of_client = client_context();
    local::stream_protocol::socket a(context), b(context);
    local::connect_pair(a, b);
    auto client = std::make_unique<ssl::stream<any_stream>>(any_stream(std::move(a)), of_client);
    client->set_host_name("server.test");
    error_code ec;
    client->async_handshake(ssl::stream_base::client, [&ec](error_code why) { ec = why; });
    context.poll();
    client.reset(); // The stream below has gone, and its read has not come back to the one above.
    context.restart();
    context.run_for(20s);
    EXPECT_EQ(ec, error::operation_aborted);
}

TEST_F(TlsAnyStream, ARequestAfterItHasGoneReachesNobody) {
    tls_pair p(context);
    run_through(context, [&]() -> awaitable<void> { co_await p.shake_hands(); });
    context.restart();
    auto client = std::make_unique<tls_socket>(std::move(p.client));
    cancellation_signal of_read, of_write;
    std::string const much(1'000'000, 'm');
    char got[4];
    int ended = 0;
    auto const count = [&ended](error_code ec, std::size_t) {
        EXPECT_EQ(ec, error::operation_aborted);
        ++ended;
    };
    client->async_read_some(buffer(got), bind_cancellation_slot(of_read.slot(), count));
    async_write(*client, buffer(much), bind_cancellation_slot(of_write.slot(), count));
    context.poll();
    client.reset(); // The operations have ended, and their handlers have not run.
    of_read.emit(cancellation_type::terminal);
    of_write.emit(cancellation_type::terminal);
    context.run_for(20s);
    EXPECT_EQ(ended, 2);
}

} // namespace
