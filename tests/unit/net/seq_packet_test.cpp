#include <fairlead/net/seq_packet_socket.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/generic.hpp>
#include <fairlead/token/adapters.hpp>

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <sys/socket.h>
#include <type_traits>
#include <unistd.h>

namespace {

using namespace fairlead;
using protocol = local::seq_packet_protocol;

static_assert(std::is_same_v<protocol::socket, basic_seq_packet_socket<protocol>>);
static_assert(std::is_convertible_v<protocol::socket&&, generic::seq_packet_protocol::socket>);

struct SeqPacketSocket : testing::Test {
    io_context context;
    protocol::socket a{context}, b{context};
    socket_base::message_flags flags = -1;
    char bytes[8] = {};
    SeqPacketSocket() { local::connect_pair(a, b); }
};

TEST_F(SeqPacketSocket, KeepsTheLimitsOfPackets) {
    EXPECT_EQ(a.send(buffer("one", 3), 0), 3U);
    EXPECT_EQ(a.send(buffer("three", 5), socket_base::message_end_of_record), 5U);
    EXPECT_EQ(b.receive(buffer(bytes), flags), 3U);
    error_code ec;
    EXPECT_EQ(b.receive(buffer(bytes), 0, flags, ec), 5U);
    EXPECT_FALSE(ec);
    EXPECT_EQ(flags, 0) << "Linux reports no end of record of these";
    b.non_blocking(true);
    b.receive(buffer(bytes), 0, flags, ec);
    EXPECT_EQ(ec, error::would_block);
    EXPECT_THROW(b.receive(buffer(bytes), flags), system_error);
}

TEST_F(SeqPacketSocket, ReceivesAsynchronouslyWithFlags) {
    std::size_t got = 0;
    b.async_receive(buffer(bytes), flags, [&](error_code ec, std::size_t n) { got = ec ? 99 : n; });
    context.poll();
    EXPECT_EQ(got, 0U);
    a.async_send(buffer("abc", 3), socket_base::message_end_of_record, [](error_code ec, std::size_t n) {
        EXPECT_FALSE(ec);
        EXPECT_EQ(n, 3U);
    });
    context.run();
    EXPECT_EQ(got, 3U);
    EXPECT_EQ(flags, 0) << "Linux reports no end of record of these";
}

TEST_F(SeqPacketSocket, APacketThatDoesNotFitIsCutOffAndSaysSo) {
    a.send(buffer("0123456789", 10), 0);
    error_code end;
    std::size_t got = 0;
    b.async_receive(buffer(bytes), flags, [&](error_code ec, std::size_t n) {
        end = ec;
        got = n;
    });
    context.run();
    EXPECT_EQ(end, error::message_size);
    EXPECT_EQ(got, sizeof bytes);
    EXPECT_TRUE(flags & MSG_TRUNC);
}

TEST_F(SeqPacketSocket, AwaitedItTakesSeveralBuffersToo) {
    std::string got;
    auto const session = [](SeqPacketSocket& t, std::string& into) -> awaitable<void> {
        std::array<const_buffer, 3> const out{buffer("a", 1), buffer("bc", 2), buffer("def", 3)};
        co_await t.a.async_send(out, 0);
        char x[2], y[2], z[8];
        std::array<mutable_buffer, 3> const in{buffer(x), buffer(y), buffer(z)};
        auto const n = co_await t.b.async_receive(in, t.flags);
        into = std::string(x, 2) + std::string(y, 2) + std::string(z, n - 4);
    };
    co_spawn(context, session(*this, got), detached);
    context.run();
    EXPECT_EQ(got, "abcdef");
}

TEST_F(SeqPacketSocket, TheEndIsAPacketOfNothing) {
    a.close();
    std::size_t got = 99;
    error_code end = error::eof;
    b.async_receive(buffer(bytes), flags, [&](error_code ec, std::size_t n) {
        end = ec;
        got = n;
    });
    context.run();
    EXPECT_FALSE(end);
    EXPECT_EQ(got, 0U);
    b.send(buffer("x", 1), 0, end);
    EXPECT_EQ(end, error::broken_pipe);
}

TEST_F(SeqPacketSocket, IsAcceptedAndConnected) {
    protocol::endpoint const where(std::string(1, '\0').append("fairlead-packets-").append(std::to_string(::getpid())));
    protocol::acceptor acceptor(context, where);
    protocol::socket client(context), peer(context);
    acceptor.async_accept([&](error_code ec, protocol::socket s) {
        EXPECT_FALSE(ec);
        peer = std::move(s);
    });
    client.async_connect(where, [](error_code ec) { EXPECT_FALSE(ec); });
    context.run();
    client.send(buffer("hello", 5), 0);
    EXPECT_EQ(peer.receive(buffer(bytes), flags), 5U);
}

} // namespace
