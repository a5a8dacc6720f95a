// Facts that programs rely on, by number: streams, sockets and names.
#include <fairlead/coro/spawn.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/connect.hpp>
#include <fairlead/net/resolver.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using namespace fairlead;
using ip::tcp;
using local_socket = local::stream_protocol::socket;

struct local_pair {
    io_context context;
    local_socket a{context}, b{context};
    local_pair() { local::connect_pair(a, b); }
    void run() {
        context.restart();
        context.run();
    }
};
struct tcp_pair {
    io_context context;
    tcp::acceptor acceptor{context, tcp::endpoint(ip::address_v4::loopback(), 0)};
    tcp::socket a{context}, b{context};
    tcp_pair() {
        a.connect(acceptor.local_endpoint());
        acceptor.accept(b);
    }
    void run() {
        context.restart();
        context.run();
    }
};

/// The values of a completion.
struct outcome {
    int calls = 0;
    error_code ec;
    std::size_t n = 0;
    auto note() {
        return [this](error_code e, std::size_t count) {
            ++calls;
            ec = e;
            n = count;
        };
    }
};

// ---- reading until

TEST(Facts, F25_ReadUntilCountsTheDelimiterAndLeavesTheRestInTheBuffer) {
    local_pair p;
    p.b.write_some(buffer("one\r\ntwo\r\nthr", 13));
    std::string text;
    EXPECT_EQ(read_until(p.a, dynamic_buffer(text), "\r\n"), 5U);
    EXPECT_EQ(text, "one\r\ntwo\r\nthr") << "nothing is consumed";
    text.erase(0, 5);
    outcome o;
    async_read_until(p.a, dynamic_buffer(text), "\r\n", o.note());
    p.run();
    EXPECT_FALSE(o.ec);
    EXPECT_EQ(o.n, 5U);
    EXPECT_EQ(text, "two\r\nthr");
}

TEST(Facts, F26_ABufferThatMatchesNeedsNoInputAndStillCompletesLater) {
    local_pair p;
    std::string text = "ready\n";
    outcome o;
    async_read_until(p.a, dynamic_buffer(text), '\n', o.note());
    EXPECT_EQ(o.calls, 0) << "never inside the initiating function";
    p.run();
    EXPECT_EQ(o.n, 6U);
    EXPECT_FALSE(o.ec);
}

TEST(Facts, F27_AFullBufferWithoutAMatchIsNotFound) {
    local_pair p;
    p.b.write_some(buffer("0123456789", 10));
    std::string text;
    error_code ec;
    EXPECT_EQ(read_until(p.a, dynamic_buffer(text, 8), "\n", ec), 0U);
    EXPECT_EQ(ec, error::not_found);
    EXPECT_EQ(text, "01234567");
    outcome o;
    async_read_until(p.a, dynamic_buffer(text, 8), '\n', o.note());
    p.run();
    EXPECT_EQ(o.ec, error::not_found);
    EXPECT_EQ(o.n, 0U);
}

TEST(Facts, F28_ReadingIntoAFullDynamicBufferIsNoError) {
    local_pair p;
    p.b.write_some(buffer("0123456789", 10));
    std::string text;
    error_code ec = error::eof;
    EXPECT_EQ(read(p.a, dynamic_buffer(text, 4), ec), 4U);
    EXPECT_FALSE(ec);
    outcome o;
    std::string more;
    async_read(p.a, dynamic_buffer(more, 3), o.note());
    p.run();
    EXPECT_FALSE(o.ec);
    EXPECT_EQ(o.n, 3U);
    EXPECT_EQ(text + more, "0123456");
}

TEST(Facts, F28_ConditionsReturnTheMostForTheNextStep) {
    error_code const good, bad = error::eof;
    EXPECT_GT(transfer_all()(good, 1'000), 0U);
    EXPECT_EQ(transfer_all()(bad, 0), 0U);
    EXPECT_GT(transfer_at_least(4)(good, 3), 0U);
    EXPECT_EQ(transfer_at_least(4)(good, 4), 0U);
    EXPECT_EQ(transfer_exactly(4)(good, 1), 3U);
    EXPECT_EQ(transfer_exactly(4)(good, 4), 0U);
    EXPECT_EQ(transfer_exactly(4)(bad, 1), 0U);
    local_pair p;
    p.b.write_some(buffer("0123456789", 10));
    char bytes[16];
    error_code ec;
    EXPECT_EQ(read(p.a, buffer(bytes), transfer_exactly(4), ec), 4U);
    EXPECT_EQ(read(p.a, buffer(bytes), transfer_at_least(2), ec), 6U);
}

TEST(Facts, F66_DynamicBuffersAreOfBothVersions) {
    std::string text = "ab";
    auto v = dynamic_buffer(text, 8);
    static_assert(std::is_copy_constructible_v<decltype(v)>);
    // Version 1: prepare, commit, consume, data.
    auto const space = v.prepare(3);
    EXPECT_EQ(space.size(), 3U);
    std::string("cde").copy(static_cast<char*>(space.data()), 3);
    v.commit(2);
    EXPECT_EQ(text, "abcd");
    v.consume(1);
    EXPECT_EQ(text, "bcd");
    EXPECT_THROW((void)v.prepare(6), std::length_error);
    // Version 2: grow, shrink, consume, data(position, size).
    auto w = dynamic_buffer(text, 8);
    w.grow(2);
    EXPECT_EQ(w.size(), 5U);
    EXPECT_EQ(w.data(1, 2).size(), 2U);
    EXPECT_EQ(*static_cast<char const*>(std::as_const(w).data(1, 1).data()), 'c');
    w.shrink(2);
    EXPECT_EQ(text, "bcd");
    EXPECT_EQ(w.max_size(), 8U);
    std::vector<char> bytes;
    EXPECT_EQ(dynamic_buffer(bytes, 4).max_size(), 4U);
}

// ---- reading and writing

TEST(Facts, F29_SeveralReadsAndWritesAreServedInTheirOrder) {
    local_pair p;
    std::string got;
    char bytes[4][2];
    for (auto& each : bytes)
        p.a.async_read_some(buffer(each), [&](error_code, std::size_t n) { got.append(each, n); });
    for (char const* each : {"ab", "cd", "ef", "gh"})
        p.b.async_write_some(buffer(each, 2), [](error_code, std::size_t) {});
    p.run();
    EXPECT_EQ(got, "abcdefgh");
}

TEST(Facts, F31_ReadsAndWritesOfNothingSucceedAtOnceAlsoAtTheEnd) {
    tcp_pair p;
    for (bool const at_the_end : {false, true}) {
        if (at_the_end)
            p.b.close();
        outcome r, w;
        char none[1];
        p.a.async_read_some(buffer(none, 0), r.note());
        p.a.async_write_some(buffer(none, 0), w.note());
        EXPECT_EQ(r.calls + w.calls, 0);
        p.run();
        EXPECT_EQ(r.calls + w.calls, 2);
        EXPECT_TRUE(!r.ec && !w.ec && r.n == 0 && w.n == 0);
        error_code ec = error::eof;
        EXPECT_EQ(p.a.read_some(buffer(none, 0), ec), 0U);
        EXPECT_FALSE(ec);
    }
}

TEST(Facts, F32_TheEndOfAStreamIsEofAndNeverSuccess) {
    tcp_pair p;
    p.b.write_some(buffer("x", 1));
    p.b.shutdown(tcp::socket::shutdown_send);
    char bytes[8];
    EXPECT_EQ(p.a.read_some(buffer(bytes)), 1U);
    for (int i = 0; i != 2; ++i) { // each time
        outcome o;
        p.a.async_read_some(buffer(bytes), o.note());
        p.run();
        EXPECT_EQ(o.ec, error::eof);
        EXPECT_EQ(o.n, 0U);
        error_code ec;
        p.a.read_some(buffer(bytes), ec);
        EXPECT_EQ(ec, error::eof);
    }
    EXPECT_EQ(p.a.write_some(buffer("y", 1)), 1U) << "the other way is open";
}

TEST(Facts, F33_AConnectionThatIsResetSaysSo) {
    tcp_pair p;
    outcome o;
    char bytes[8];
    p.a.async_read_some(buffer(bytes), o.note());
    p.context.poll();
    p.b.set_option(tcp::socket::linger(true, 0));
    p.b.close();
    p.run();
    EXPECT_EQ(o.ec, error::connection_reset);
}

TEST(Facts, F34_WritingToAPeerThatIsGoneIsAnErrorAndNoSignal) {
    ASSERT_EQ(std::signal(SIGPIPE, SIG_DFL), SIG_DFL);
    local_pair p;
    p.b.close();
    outcome o;
    p.a.async_write_some(buffer("x", 1), o.note());
    p.run();
    EXPECT_EQ(o.ec, error::broken_pipe);
    tcp_pair q;
    q.b.close();
    error_code ec;
    while (!ec)
        q.a.write_some(buffer("x", 1), ec);
    EXPECT_TRUE(ec == error::broken_pipe || ec == error::connection_reset) << ec.message();
}

// ---- accepting and connecting

TEST(Facts, F35_ClosingAnAcceptorAbortsItsAccepts) {
    io_context context;
    tcp::acceptor acceptor(context, tcp::endpoint(ip::address_v4::loopback(), 0));
    std::vector<error_code> ends;
    tcp::socket peer(context);
    acceptor.async_accept(peer, [&](error_code ec) { ends.push_back(ec); });
    acceptor.async_accept([&](error_code ec, tcp::socket) { ends.push_back(ec); });
    context.poll();
    acceptor.close();
    context.run();
    EXPECT_EQ(ends, (std::vector<error_code>{error::operation_aborted, error::operation_aborted}));
    tcp::acceptor again(context, tcp::endpoint(ip::address_v4::loopback(), 0));
    socket_base::enable_connection_aborted option(true);
    again.set_option(option);
    option = false;
    again.get_option(option);
    EXPECT_TRUE(option.value());
}

TEST(Facts, F36_AnAcceptedSocketHasTheAcceptorsExecutorOrTheOneAskedFor) {
    io_context context, other;
    tcp::acceptor acceptor(context, tcp::endpoint(ip::address_v4::loopback(), 0));
    std::vector<tcp::socket> clients;
    int good = 0;
    auto const expect = [&](io_context& wanted) {
        return [&](error_code ec, auto s) {
            good += !ec && any_io_executor(s.get_executor()) == any_io_executor(wanted.get_executor());
        };
    };
    acceptor.async_accept(expect(context));
    acceptor.async_accept(other, expect(other));
    acceptor.async_accept(other.get_executor(), expect(other));
    tcp::socket given(other);
    acceptor.async_accept(given, [&](error_code ec) { good += !ec && given.is_open(); });
    for (int i = 0; i != 4; ++i)
        clients.emplace_back(context).connect(acceptor.local_endpoint());
    context.run();
    EXPECT_EQ(good, 4);
}

TEST(Facts, F37_ConnectingToARangeReopensTheSocketAndYieldsTheEndpoint) {
    io_context context;
    tcp::acceptor acceptor(context, tcp::endpoint(ip::address_v4::loopback(), 0));
    tcp::acceptor nobody(context, tcp::endpoint(ip::address_v4::loopback(), 0));
    auto const refused = nobody.local_endpoint();
    nobody.close();
    std::array<tcp::endpoint, 3> const range{refused, acceptor.local_endpoint(), refused};
    tcp::socket s(context);
    tcp::endpoint connected;
    int first_was_open = -1;
    async_connect(
        s, range,
        [&](error_code const& ec, tcp::endpoint const&) {
            if (ec)
                first_was_open = s.is_open();
            return true;
        },
        [&](error_code ec, tcp::endpoint e) {
            EXPECT_FALSE(ec);
            connected = e;
        });
    context.run();
    EXPECT_EQ(connected, range[1]);
    EXPECT_EQ(s.remote_endpoint(), range[1]);
    EXPECT_NE(first_was_open, -1) << "the condition was told how the first attempt ended";
    std::vector<error_code> ends;
    auto const note = [&](error_code ec, tcp::endpoint e) {
        ends.push_back(ec);
        EXPECT_EQ(e, tcp::endpoint());
    };
    std::vector<tcp::endpoint> const none;
    async_connect(s, none, note);
    async_connect(s, range, [](error_code const&, tcp::endpoint const&) { return false; }, note);
    context.restart();
    context.run();
    EXPECT_EQ(ends, (std::vector<error_code>{error::not_found, error::not_found}));
}

// ---- names

TEST(Facts, F38_TheResolverNeverLetsItsCallerWaitAndItsResultsAreCheapToCopy) {
    io_context context;
    tcp::resolver resolver(context);
    tcp::resolver::results_type results;
    resolver.async_resolve("localhost", "80", [&](error_code ec, tcp::resolver::results_type found) {
        EXPECT_FALSE(ec);
        results = found;
    });
    EXPECT_TRUE(results.empty());
    context.run();
    ASSERT_FALSE(results.empty());
    auto const copy = results;
    EXPECT_EQ(&*copy.begin(), &*results.begin()) << "the copy shares the entries";
    for (auto const& entry : copy) {
        EXPECT_EQ(entry.host_name(), "localhost");
        EXPECT_EQ(entry.service_name(), "80");
        EXPECT_EQ(entry.endpoint().port(), 80);
        EXPECT_TRUE(entry.endpoint().address().is_loopback());
    }
    error_code ec;
    resolver.resolve("no.such.name.invalid", "80", ec);
    EXPECT_TRUE(ec.category() == error::get_netdb_category()) << ec.message();
    resolver.resolve("127.0.0.1", "no-such-service", ec);
    EXPECT_TRUE(ec.category() == error::get_addrinfo_category()) << ec.message();
    EXPECT_EQ(ec, error::service_not_found);
}

TEST(Facts, F72_CancellingTheResolverConcernsAllOfItsLookUps) {
    io_context context;
    tcp::resolver resolver(context);
    int ended = 0;
    for (int i = 0; i != 3; ++i)
        resolver.async_resolve("no.such.name.invalid", "80", [&](error_code ec, tcp::resolver::results_type) {
            EXPECT_TRUE(ec);
            ++ended;
        });
    resolver.cancel();
    context.run();
    EXPECT_EQ(ended, 3);
}

// ---- errors

TEST(Facts, F44_ErrorsHaveCategoriesAndFixedTexts) {
    error_code const eof = error::eof;
    EXPECT_TRUE(eof.category() == error::get_misc_category());
    EXPECT_EQ(eof.message(), error_code(error::eof).message());
    EXPECT_EQ(error_code(error::already_open).category(), eof.category());
    EXPECT_EQ(error_code(error::not_found).category(), eof.category());
    EXPECT_EQ(error_code(error::connection_refused), std::errc::connection_refused);
    EXPECT_EQ(error_code(error::operation_aborted), std::errc::operation_canceled);
    EXPECT_TRUE(error_code(error::would_block).category() == error::get_system_category());
    EXPECT_FALSE(eof.message().empty());
    EXPECT_NE(eof.message(), error_code(error::not_found).message());
}

TEST(Facts, F73_SynchronousCallsThrowOrTellAndAfterNonBlockingSayWouldBlock) {
    tcp_pair p;
    char bytes[8];
    error_code ec = error::eof;
    p.b.write_some(buffer("x", 1), ec);
    EXPECT_FALSE(ec) << "success clears it";
    EXPECT_EQ(p.a.read_some(buffer(bytes)), 1U);
    p.a.non_blocking(true);
    EXPECT_TRUE(p.a.non_blocking());
    EXPECT_EQ(p.a.read_some(buffer(bytes), ec), 0U);
    EXPECT_EQ(ec, error::would_block);
    EXPECT_EQ(ec, error::try_again);
    try {
        p.a.read_some(buffer(bytes));
        FAIL();
    } catch (system_error const& e) {
        EXPECT_EQ(e.code(), error::would_block);
    }
    p.a.wait(tcp::socket::wait_read, ec);
    EXPECT_EQ(ec, error::would_block);
    outcome o;
    p.a.async_read_some(buffer(bytes), o.note()); // regardless
    p.context.poll();
    EXPECT_EQ(o.calls, 0);
    p.b.write_some(buffer("yz", 2));
    p.run();
    EXPECT_EQ(o.n, 2U);
    p.acceptor.non_blocking(true);
    tcp::socket peer(p.context);
    p.acceptor.accept(peer, ec);
    EXPECT_EQ(ec, error::would_block);
    p.acceptor.wait(tcp::acceptor::wait_read, ec);
    EXPECT_EQ(ec, error::would_block);
}

TEST(Facts, F30_ClosingOrReleasingEndsWhatIsPendingAndNothingElse) {
    local_pair p, q;
    outcome closed, released, other;
    char bytes[8];
    p.a.async_read_some(buffer(bytes), closed.note());
    p.b.async_read_some(buffer(bytes), released.note());
    p.context.poll();
    p.a.close();
    int const fd = p.b.release();
    p.run();
    EXPECT_EQ(closed.ec, error::operation_aborted);
    EXPECT_EQ(released.ec, error::operation_aborted);
    error_code ec;
    p.a.cancel(ec);
    EXPECT_EQ(ec, error::bad_descriptor);
    p.b.assign(local::stream_protocol(), fd);
    local_socket c(p.context), d(p.context);
    local::connect_pair(c, d);
    c.async_read_some(buffer(bytes), other.note());
    p.b.close();
    d.write_some(buffer("x", 1));
    p.run();
    EXPECT_FALSE(other.ec);
    EXPECT_EQ(other.n, 1U);
}

} // namespace
