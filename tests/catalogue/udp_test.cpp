// Datagrams: row I13 of the failure catalogue, and I05 as far as it speaks of them.
#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/datagram_socket.hpp>
#include <fairlead/token/adapters.hpp>

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace fairlead;
using ip::udp;
using local_datagram = local::datagram_protocol;

udp::endpoint loopback() { return {ip::address_v4::loopback(), 0}; }

struct udp_pair {
    io_context context;
    udp::socket a{context, loopback()}, b{context, loopback()};
    udp::endpoint at_a = a.local_endpoint(), at_b = b.local_endpoint();
    udp_pair() {
        a.connect(at_b);
        b.connect(at_a);
    }
};

/// A connected socket whose peer's port nobody holds any more.
struct lonely {
    io_context context;
    udp::socket s{context, loopback()};
    udp::endpoint nobody;
    lonely() {
        udp::socket const gone(context, loopback());
        nobody = gone.local_endpoint();
        s.connect(nobody);
    }
};

// ---- I13: truncation

TEST(Catalogue, I13_TruncatedDatagramIsFlaggedAndTheNextOneIsWhole) {
    udp_pair p;
    int cut = 0;
    co_spawn(
        p.context,
        [](udp_pair& q, int& n) -> awaitable<void> {
            char bytes[4] = {}, more[2] = {};
            std::array<mutable_buffer, 2> const two{buffer(bytes), buffer(more)};
            std::array<mutable_buffer, 4> const four{buffer(bytes, 1), buffer(bytes + 1, 1), buffer(more, 1),
                                                     buffer(more + 1, 1)};
            udp::endpoint sender;
            auto const check = [&](error_code ec, std::size_t got, std::size_t space) {
                n += ec == error::message_size && got == space;
            };
            auto const feed = [&q] {
                q.a.send(buffer("0123456789", 10));
                q.a.send(buffer("fit", 3));
            };
            auto const whole = [&](std::size_t got) { n += got == 3; };
            feed();
            {
                auto const [ec, got] = co_await q.b.async_receive_from(buffer(bytes), sender, as_tuple);
                check(ec, got, 4);
                n += std::string(bytes, 4) == "0123" && sender == q.at_a;
                auto const next = co_await q.b.async_receive_from(buffer(bytes), sender);
                whole(next);
            }
            feed();
            {
                auto const [ec, got] = co_await q.b.async_receive_from(two, sender, as_tuple);
                check(ec, got, 6);
                n += std::string(more, 2) == "45";
                auto const next = co_await q.b.async_receive_from(two, sender);
                whole(next);
            }
            feed();
            {
                auto const [ec, got] = co_await q.b.async_receive(buffer(bytes), as_tuple);
                check(ec, got, 4);
                auto const next = co_await q.b.async_receive(buffer(bytes));
                whole(next);
            }
            feed();
            {
                auto const [ec, got] = co_await q.b.async_receive(four, as_tuple);
                check(ec, got, 4);
                auto const next = co_await q.b.async_receive(four);
                whole(next);
            }
        }(p, cut),
        [](std::exception_ptr e) { EXPECT_FALSE(e); });
    p.context.run();
    EXPECT_EQ(cut, 4 * 2 + 2);
}

TEST(Catalogue, I13_TruncationIsFlaggedToCallbacksAndInTheCallingThread) {
    udp_pair p;
    char bytes[4];
    udp::endpoint sender;
    error_code ec;
    for (int i = 0; i != 5; ++i)
        p.a.send(buffer("0123456789", 10));
    EXPECT_EQ(p.b.receive_from(buffer(bytes), sender, ec), 4U);
    EXPECT_EQ(ec, error::message_size);
    EXPECT_EQ(sender, p.at_a);
    EXPECT_EQ(p.b.receive(buffer(bytes), socket_base::message_peek, ec), 4U);
    EXPECT_EQ(ec, error::message_size);
    EXPECT_THROW(p.b.receive(buffer(bytes)), system_error);
    int cut = 0;
    p.b.async_receive_from(buffer(bytes), sender,
                           [&](error_code e, std::size_t n) { cut += e == error::message_size && n == 4; });
    p.b.async_receive(buffer(bytes), [&](error_code e, std::size_t n) { cut += e == error::message_size && n == 4; });
    p.context.run();
    EXPECT_EQ(cut, 2);
}

TEST(Catalogue, I13_TruncationOfUnixDatagramsIsFlaggedToo) {
    io_context context;
    local_datagram::socket a(context), b(context);
    local::connect_pair(a, b);
    a.send(buffer("0123456789", 10));
    a.send(buffer("0123456789", 10));
    char bytes[10];
    error_code ec;
    EXPECT_EQ(b.receive(buffer(bytes, 9), ec), 9U);
    EXPECT_EQ(ec, error::message_size);
    EXPECT_EQ(b.receive(buffer(bytes), ec), 10U);
    EXPECT_FALSE(ec) << "exactly as large as the buffer";
}

// ---- I13: ICMP

TEST(Catalogue, I13_UnreachablePortIsReportedToTheReceiverAndTheSocketIsWell) {
    lonely l;
    char bytes[4];
    error_code got;
    l.s.async_receive(buffer(bytes), [&](error_code ec, std::size_t) { got = ec; });
    l.context.poll();
    l.s.send(buffer("anybody?", 8));
    l.context.restart();
    l.context.run();
    EXPECT_EQ(got, error::connection_refused);
    // Somebody moves in.
    udp::socket somebody(l.context, l.nobody);
    somebody.send_to(buffer("here", 4), l.s.local_endpoint());
    std::size_t n = 0;
    l.s.async_receive(buffer(bytes), [&](error_code, std::size_t k) { n = k; });
    l.context.restart();
    l.context.run();
    EXPECT_EQ(n, 4U);
    EXPECT_EQ(l.s.send(buffer("hello", 5)), 5U);
    char heard[8];
    EXPECT_EQ(somebody.receive(buffer(heard)), 5U);
}

TEST(Catalogue, I13_UnreachablePortIsReportedToWhoeverAsksFirst) {
    lonely l;
    char bytes[4];
    udp::endpoint sender;
    error_code ec;
    l.s.send(buffer("1", 1));
    l.s.wait(socket_base::wait_read);
    EXPECT_EQ(l.s.receive(buffer(bytes), ec), 0U);
    EXPECT_EQ(ec, error::connection_refused);
    l.s.send(buffer("2", 1));
    l.s.wait(socket_base::wait_read);
    EXPECT_EQ(l.s.receive_from(buffer(bytes), sender, ec), 0U);
    EXPECT_EQ(ec, error::connection_refused);
    l.s.send(buffer("3", 1));
    l.s.wait(socket_base::wait_read);
    EXPECT_EQ(l.s.send(buffer("4", 1), ec), 0U) << "this one was not sent";
    EXPECT_EQ(ec, error::connection_refused);
    EXPECT_EQ(l.s.send(buffer("5", 1), ec), 1U);
    EXPECT_FALSE(ec) << "once each";
    l.s.wait(socket_base::wait_read);
    error_code async_ec;
    l.s.async_send(buffer("6", 1), [&](error_code e, std::size_t) { async_ec = e; });
    l.context.run();
    EXPECT_EQ(async_ec, error::connection_refused);
}

TEST(Catalogue, I13_SocketWithoutAPeerHearsOfNoUnreachablePort) {
    lonely l;
    udp::socket s(l.context, loopback());
    error_code got;
    char bytes[4];
    s.async_receive(buffer(bytes), [&](error_code ec, std::size_t n) {
        got = ec ? ec : error_code(static_cast<int>(n), error::get_system_category());
    });
    s.send_to(buffer("x", 1), l.nobody);
    s.send_to(buffer("own", 3), s.local_endpoint());
    l.context.run();
    EXPECT_EQ(got.value(), 3) << "the datagram, not an error";
}

// ---- I13 and I05: nothing in a datagram, and nothing to put it into

TEST(Catalogue, I13_DatagramsOfNoBytesAreSentAndReceived) {
    udp_pair p;
    int good = 0;
    co_spawn(
        p.context,
        [](udp_pair& q, int& n) -> awaitable<void> {
            char bytes[4];
            std::vector<const_buffer> const none;
            udp::endpoint sender;
            n += co_await q.a.async_send(buffer(bytes, 0)) == 0;
            n += co_await q.a.async_send_to(buffer(bytes, 0), q.at_b) == 0;
            n += co_await q.a.async_send(none) == 0;
            n += co_await q.a.async_send_to(none, q.at_b) == 0;
            co_await q.a.async_send(buffer("end", 3));
            n += co_await q.b.async_receive(buffer(bytes)) == 0;
            n += co_await q.b.async_receive_from(buffer(bytes), sender) == 0;
            n += sender == q.at_a;
            n += co_await q.b.async_receive(buffer(bytes)) == 0;
            n += co_await q.b.async_receive(buffer(bytes)) == 0;
            n += co_await q.b.async_receive(buffer(bytes)) == 3;
        }(p, good),
        [](std::exception_ptr e) { EXPECT_FALSE(e); });
    p.context.run();
    EXPECT_EQ(good, 10);
    EXPECT_EQ(p.a.send(buffer("", 0)), 0U);
    EXPECT_EQ(p.a.send_to(buffer("", 0), p.at_b), 0U);
    char bytes[4];
    EXPECT_EQ(p.b.receive(buffer(bytes)), 0U);
    udp::endpoint sender;
    EXPECT_EQ(p.b.receive_from(buffer(bytes), sender), 0U);
    p.b.non_blocking(true);
    error_code ec;
    p.b.receive(buffer(bytes), ec);
    EXPECT_EQ(ec, error::would_block) << "two were sent";
}

TEST(Catalogue, I05_EmptyBuffersTakeADatagramAndWaitForIt) {
    udp_pair p;
    char bytes[1];
    std::vector<mutable_buffer> const none;
    udp::endpoint sender;
    std::vector<std::string> order;
    auto const note = [&](char const* what) {
        return [&order, what](error_code ec, std::size_t n) {
            EXPECT_EQ(n, 0U);
            order.push_back(what + std::string(ec ? ec == error::message_size ? " cut" : " failed" : ""));
        };
    };
    p.b.async_receive(buffer(bytes, 0), note("one"));
    p.b.async_receive_from(none, sender, note("sequence"));
    p.b.async_receive_from(buffer(bytes, 0), sender, note("one from"));
    p.context.poll();
    EXPECT_TRUE(order.empty()) << "a stream would be done with nothing; a datagram has to come first";
    p.a.send(buffer("", 0));
    p.a.send(buffer("lost", 4));
    p.a.send(buffer("", 0));
    p.context.restart();
    p.context.run();
    EXPECT_EQ(order, (std::vector<std::string>{"one", "sequence cut", "one from"}));
    EXPECT_EQ(p.b.available(), 0U);
}

} // namespace
