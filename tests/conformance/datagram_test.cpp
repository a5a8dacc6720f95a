// Datagrams: whole, one at a time, with the address of who sent them.
#include "driver_under_test.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

namespace fairlead::conformance {
namespace {

class Datagrams : public conformance_test {
protected:
    /// Runs `body(transport, a, b)` in each world with two bound sockets.
    template <class F> void with_two(F body) {
        over_datagrams([&](auto const& t) {
            using protocol = typename std::remove_cvref_t<decltype(t)>::protocol;
            typename protocol::socket a(context(), t.free_address()), b(context(), t.free_address());
            body(t, a, b);
        });
    }
    template <class Socket, class Endpoint> void send_to(Socket& s, std::string const& text, Endpoint const& to) {
        completion sent;
        s.async_send_to(buffer(text), to, sent.handler());
        run_until([&] { return sent.count != 0; });
        EXPECT_TRUE(sent.succeeded()) << sent.ec.message();
        EXPECT_EQ(sent.n, text.size());
    }
    template <class Socket> std::string receive(Socket& s, typename Socket::endpoint_type* from = nullptr) {
        std::string got(70'000, ' ');
        typename Socket::endpoint_type sender;
        completion received;
        s.async_receive_from(buffer(got), sender, received.handler());
        run_until([&] { return received.count != 0; });
        EXPECT_TRUE(received.succeeded()) << received.ec.message();
        got.resize(received.n);
        if (from)
            *from = sender;
        return got;
    }
};
// Tests of properties that only some transports have.
class UdpDatagrams : public Datagrams {};
class LocalDatagrams : public Datagrams {};

TEST_P(Datagrams, CarryTheirBytesAndTheirSender) {
    with_two([&](auto const&, auto& a, auto& b) {
        for (std::size_t const size : {1U, 2U, 100U, 1'472U, 1'473U, 9'000U, 60'000U}) {
            auto const text = pattern(size);
            send_to(a, text, b.local_endpoint());
            auto from = b.local_endpoint();
            EXPECT_TRUE(receive(b, &from) == text) << size;
            EXPECT_EQ(from, a.local_endpoint());
            send_to(b, "re", from);
            EXPECT_EQ(receive(a), "re");
        }
    });
}

TEST_P(Datagrams, AwaitedFormsDoTheSame) {
    with_two([&](auto const&, auto& a, auto& b) {
        int done = 0;
        spawn([&]() -> awaitable<void> {
            for (int i = 0; i != 100; ++i) {
                std::string const text = "ping " + std::to_string(i);
                EXPECT_EQ(co_await a.async_send_to(buffer(text), b.local_endpoint()), text.size());
                char got[100];
                auto from = b.local_endpoint();
                auto const n = co_await a.async_receive_from(buffer(got), from);
                EXPECT_EQ(std::string(got, n), text);
                EXPECT_EQ(from, b.local_endpoint());
                ++done;
            }
        });
        spawn([&]() -> awaitable<void> {
            for (int i = 0; i != 100; ++i) {
                char got[100];
                auto from = b.local_endpoint();
                auto const n = co_await b.async_receive_from(buffer(got), from);
                co_await b.async_send_to(buffer(got, n), from);
            }
        });
        run();
        EXPECT_EQ(done, 100);
    });
}

TEST_P(Datagrams, OneReceiveTakesOneDatagram) {
    with_two([&](auto const&, auto& a, auto& b) {
        std::vector<std::string> sent, got;
        for (int i = 0; i != 8; ++i) {
            sent.push_back("number " + std::to_string(i));
            send_to(a, sent.back(), b.local_endpoint());
        }
        for (int i = 0; i != 8; ++i)
            got.push_back(receive(b));
        if (differs("datagrams-overtake-each-other")) // UDP does not promise an order
            std::sort(got.begin(), got.end());
        EXPECT_EQ(got, sent);
    });
}

TEST_P(Datagrams, PendingReceivesAreServedInTheirOrder) {
    with_two([&](auto const&, auto& a, auto& b) {
        completion received[4];
        char got[4] = {};
        for (std::size_t i = 0; i != 4; ++i)
            b.async_receive(buffer(&got[i], 1), received[i].handler());
        settle();
        for (std::size_t i = 0; i != 4; ++i) {
            EXPECT_EQ(received[i].count, 0);
            send_to(a, std::string(1, static_cast<char>('a' + i)), b.local_endpoint());
            run_until([&] { return received[i].count != 0; });
        }
        EXPECT_EQ(std::string(got, 4), "abcd");
    });
}

TEST_P(Datagrams, EmptyOnesAreDatagramsToo) {
    with_two([&](auto const&, auto& a, auto& b) {
        completion pending;
        char c = ' ';
        b.async_receive(buffer(&c, 1), pending.handler());
        settle();
        EXPECT_EQ(pending.count, 0);
        send_to(a, "", b.local_endpoint());
        run();
        EXPECT_TRUE(pending.succeeded()) << "no end of anything";
        EXPECT_EQ(pending.n, 0U);
        send_to(a, "", b.local_endpoint());
        auto from = b.local_endpoint();
        EXPECT_EQ(receive(b, &from), "");
        EXPECT_EQ(from, a.local_endpoint());
        // An empty buffer takes a datagram and waits for it.
        completion nothing;
        b.async_receive(buffer(&c, 0), nothing.handler());
        settle();
        EXPECT_EQ(nothing.count, 0);
        send_to(a, "", b.local_endpoint());
        run();
        EXPECT_TRUE(nothing.succeeded()) << nothing.ec.message();
    });
}

TEST_P(Datagrams, DatagramThatDoesNotFitSaysSoAndIsGone) {
    with_two([&](auto const&, auto& a, auto& b) {
        send_to(a, "0123456789", b.local_endpoint());
        char got[4];
        auto from = b.local_endpoint();
        completion received;
        b.async_receive_from(buffer(got), from, received.handler());
        run_until([&] { return received.count != 0; });
        EXPECT_EQ(received.ec, error::message_size);
        EXPECT_EQ(received.n, 4U);
        EXPECT_EQ(std::string(got, 4), "0123");
        EXPECT_EQ(from, a.local_endpoint());
        send_to(a, "next", b.local_endpoint());
        EXPECT_EQ(receive(b), "next");
        completion exact;
        send_to(a, "fits", b.local_endpoint());
        b.async_receive(buffer(got), exact.handler());
        run();
        EXPECT_TRUE(exact.succeeded()) << exact.ec.message();
        EXPECT_EQ(exact.n, 4U);
    });
}

TEST_P(Datagrams, SeveralBuffersMakeAndTakeOneDatagram) {
    with_two([&](auto const&, auto& a, auto& b) {
        std::string const one = "one ", two = "two ", three = "three";
        std::array<const_buffer, 4> const from{buffer(one), buffer(two), const_buffer(), buffer(three)};
        std::string head(6, ' '), rest(20, ' ');
        std::array<mutable_buffer, 2> const into{buffer(head), buffer(rest)};
        completion sent, received;
        a.async_send_to(from, b.local_endpoint(), sent.handler());
        auto sender = b.local_endpoint();
        b.async_receive_from(into, sender, received.handler());
        run();
        EXPECT_TRUE(sent.succeeded() && received.succeeded());
        EXPECT_EQ(sent.n, 13U);
        EXPECT_EQ(received.n, 13U);
        EXPECT_EQ(head + rest.substr(0, 7), "one two three");
        EXPECT_EQ(sender, a.local_endpoint());
    });
}

TEST_P(UdpDatagrams, TooLargeOnesAreNotSent) {
    over_udp([&](auto const& t) {
        ip::udp::socket a(context(), t.free_address()), b(context(), t.free_address());
        // The largest size of a UNIX socket depends on the computer's settings.
        auto const outcome = [&](std::size_t size) {
            std::string const text(size, 'l');
            completion sent;
            a.async_send_to(buffer(text), b.local_endpoint(), sent.handler());
            run_until([&] { return sent.count != 0; });
            EXPECT_EQ(sent.n, sent.ec ? 0 : size);
            return sent.ec;
        };
        bool const v4 = t.kind() == ip::udp::v4();
        std::size_t const largest = v4 ? 65'507 : 65'527;
        EXPECT_EQ(outcome(65'536), error::message_size);
        EXPECT_EQ(outcome(largest + 1), error::message_size);
        EXPECT_FALSE(outcome(largest));
        EXPECT_EQ(receive(b).size(), largest);
    });
}

TEST_P(Datagrams, PeekedOnesStay) {
    with_two([&](auto const&, auto& a, auto& b) {
        send_to(a, "stay", b.local_endpoint());
        for (int i = 0; i != 3; ++i) {
            char got[10];
            auto from = b.local_endpoint();
            completion peeked;
            b.async_receive_from(buffer(got), from, socket_base::message_peek, peeked.handler());
            run_until([&] { return peeked.count != 0; });
            EXPECT_TRUE(peeked.succeeded());
            EXPECT_EQ(std::string(got, peeked.n), "stay");
            EXPECT_EQ(from, a.local_endpoint());
        }
        EXPECT_EQ(receive(b), "stay");
    });
}

// ---- connected

TEST_P(Datagrams, ConnectedSocketHearsItsPeerAlone) {
    with_two([&](auto const& t, auto& a, auto& b) {
        std::remove_cvref_t<decltype(a)> stranger(context(), t.free_address());
        completion connected;
        a.async_connect(b.local_endpoint(), connected.handler());
        run();
        EXPECT_TRUE(connected.succeeded()) << connected.ec.message();
        EXPECT_EQ(a.remote_endpoint(), b.local_endpoint());
        completion strange;
        stranger.async_send_to(buffer("hello", 5), a.local_endpoint(), strange.handler());
        run();
        if (t.is_udp) // A UNIX socket refuses, UDP has no way of telling.
            EXPECT_TRUE(strange.succeeded());
        else
            EXPECT_EQ(strange.ec, std::errc::operation_not_permitted);
        send_to(b, "from the peer", a.local_endpoint());
        EXPECT_EQ(receive(a), "from the peer");
        completion sent;
        a.async_send(buffer("to the peer", 11), sent.handler());
        run_until([&] { return sent.count != 0; });
        EXPECT_TRUE(sent.succeeded());
        auto from = a.local_endpoint();
        EXPECT_EQ(receive(b, &from), "to the peer");
        EXPECT_EQ(from, a.local_endpoint());
    });
}

TEST_P(Datagrams, PeerMayBeChanged) {
    with_two([&](auto const& t, auto& a, auto& b) {
        std::remove_cvref_t<decltype(a)> c(context(), t.free_address());
        for (auto* const peer : {&b, &c, &b}) {
            completion connected, sent;
            a.async_connect(peer->local_endpoint(), connected.handler());
            run();
            EXPECT_TRUE(connected.succeeded()) << connected.ec.message();
            a.async_send(buffer("you", 3), sent.handler());
            run_until([&] { return sent.count != 0; });
            EXPECT_EQ(receive(*peer), "you");
        }
    });
}

TEST_P(Datagrams, WithoutAPeerThereIsNobodyToSendTo) {
    with_two([&](auto const& t, auto& a, auto&) {
        completion sent;
        a.async_send(buffer("x", 1), sent.handler());
        run();
        if (t.is_udp)
            EXPECT_EQ(sent.ec, std::errc::destination_address_required);
        else
            EXPECT_EQ(sent.ec, error::not_connected);
        error_code ec;
        a.remote_endpoint(ec);
        EXPECT_EQ(ec, error::not_connected);
    });
}

TEST_P(Datagrams, WhereNobodyListensAConnectedSenderIsTold) {
    over_datagrams([&](auto const& t) {
        using protocol = typename std::remove_cvref_t<decltype(t)>::protocol;
        typename protocol::socket a(context(), t.free_address());
        auto const nobody = t.nobody(context());
        if (t.is_udp) {
            completion unconnected;
            a.async_send_to(buffer("x", 1), nobody, unconnected.handler());
            run();
            EXPECT_TRUE(unconnected.succeeded()) << "who has no peer hears of no failure";
            a.connect(nobody);
            char c;
            completion received, sent;
            a.async_receive(buffer(&c, 1), received.handler());
            settle();
            EXPECT_EQ(received.count, 0);
            a.async_send(buffer("x", 1), sent.handler());
            run();
            EXPECT_TRUE(sent.succeeded());
            EXPECT_EQ(received.ec, error::connection_refused);
            // Reported once; the socket is well.
            typename protocol::socket b(context(), nobody);
            completion again;
            a.async_send(buffer("y", 1), again.handler());
            run();
            EXPECT_TRUE(again.succeeded()) << again.ec.message();
            EXPECT_EQ(receive(b), "y");
        } else {
            completion sent;
            a.async_send_to(buffer("x", 1), nobody, sent.handler());
            run();
            EXPECT_EQ(sent.ec, error::connection_refused);
        }
    });
}

TEST_P(LocalDatagrams, UnixSenderWhoIsNotBoundHasNoName) {
    over_local_datagrams([&](auto const& t) {
        local::datagram_protocol::socket a(context(), t.kind()), b(context(), t.free_address());
        send_to(a, "anonymous", b.local_endpoint());
        auto from = b.local_endpoint();
        EXPECT_EQ(receive(b, &from), "anonymous");
        EXPECT_EQ(from, local::datagram_protocol::endpoint());
    });
}

TEST_P(UdpDatagrams, UdpSenderWhoIsNotBoundGetsAPort) {
    over_udp([&](auto const& t) {
        ip::udp::socket a(context(), t.kind()), b(context(), t.free_address());
        EXPECT_EQ(a.local_endpoint().port(), 0);
        send_to(a, "x", b.local_endpoint());
        EXPECT_NE(a.local_endpoint().port(), 0);
        auto from = b.local_endpoint();
        EXPECT_EQ(receive(b, &from), "x");
        EXPECT_EQ(from.port(), a.local_endpoint().port());
        EXPECT_TRUE(from.address().is_loopback());
    });
}

TEST_P(UdpDatagrams, SocketOfBothVersionsHearsTheOlderOneAsMapped) {
    over_datagrams([&](auto const&) {
        ip::udp::socket both(context(), ip::udp::v6()),
            old(context(), ip::udp::endpoint(ip::address_v4::loopback(), 0));
        both.set_option(ip::v6_only(false));
        both.bind(ip::udp::endpoint(ip::udp::v6(), 0));
        auto const port = both.local_endpoint().port();
        send_to(old, "old", ip::udp::endpoint(ip::address_v4::loopback(), port));
        ip::udp::endpoint from;
        EXPECT_EQ(receive(both, &from), "old");
        EXPECT_EQ(from.address().to_string(), "::ffff:127.0.0.1");
        EXPECT_EQ(from.port(), old.local_endpoint().port());
        error_code ec;
        ip::udp::socket second(context(), ip::udp::v4());
        second.bind(ip::udp::endpoint(ip::udp::v4(), port), ec);
        EXPECT_EQ(ec, error::address_in_use) << "the port is taken in both versions";
    });
}

TEST_P(UdpDatagrams, SocketOfTheNewerVersionAloneDoesNotHearTheOlderOne) {
    over_datagrams([&](auto const&) {
        ip::udp::socket alone(context(), ip::udp::v6());
        alone.set_option(ip::v6_only(true));
        alone.bind(ip::udp::endpoint(ip::udp::v6(), 0));
        ip::udp::endpoint const to(ip::address_v4::loopback(), alone.local_endpoint().port());
        ip::udp::socket second(context(), to), old(context(), ip::udp::endpoint(ip::address_v4::loopback(), 0));
        send_to(old, "old", to);
        EXPECT_EQ(receive(second), "old");
        EXPECT_EQ(alone.available(), 0U);
    });
}

TEST_P(LocalDatagrams, PairsOfUnixSocketsAreConnectedToEachOther) {
    over_local_datagrams([&](local_datagram_transport const&) {
        local::datagram_protocol::socket a(context()), b(context());
        local::connect_pair(a, b);
        completion there, back;
        a.async_send(buffer("there", 5), there.handler());
        b.async_send(buffer("back", 4), back.handler());
        run();
        EXPECT_TRUE(there.succeeded() && back.succeeded());
        EXPECT_EQ(receive(b), "there");
        EXPECT_EQ(receive(a), "back");
        b.close();
        completion gone;
        a.async_send(buffer("x", 1), gone.handler());
        run();
        EXPECT_EQ(gone.ec, error::connection_refused);
    });
}

TEST_P(LocalDatagrams, UnixSenderWaitsForRoomAndLosesNothing) {
    over_local_datagrams([&](local_datagram_transport const&) {
        local::datagram_protocol::socket a(context()), b(context());
        local::connect_pair(a, b);
        constexpr int count = 600; // more than any queue takes
        int sent = 0;
        spawn([&]() -> awaitable<void> {
            for (; sent != count; ++sent) {
                std::string const text = std::to_string(sent);
                co_await a.async_send(buffer(text));
            }
        });
        settle();
        EXPECT_LT(sent, count);
        int received = 0;
        spawn([&]() -> awaitable<void> {
            for (; received != count; ++received) {
                char got[10];
                auto const n = co_await b.async_receive(buffer(got));
                EXPECT_EQ(std::string(got, n), std::to_string(received));
            }
        });
        run();
        EXPECT_EQ(sent, count);
        EXPECT_EQ(received, count);
    });
}

// ---- waiting, cancelling, in the calling thread

TEST_P(Datagrams, WaitsEndWithReadinessAndTakeNothing) {
    with_two([&](auto const&, auto& a, auto& b) {
        completion readable, writable;
        b.async_wait(socket_base::wait_read, readable.handler());
        b.async_wait(socket_base::wait_write, writable.handler());
        run_until([&] { return writable.count != 0; });
        EXPECT_TRUE(writable.succeeded());
        settle();
        EXPECT_EQ(readable.count, 0);
        send_to(a, "x", b.local_endpoint());
        run();
        EXPECT_TRUE(readable.succeeded());
        EXPECT_EQ(b.available(), 1U);
        EXPECT_EQ(receive(b), "x");
    });
}

TEST_P(Datagrams, CancelAndCloseAbortWithoutTakingADatagram) {
    with_two([&](auto const&, auto& a, auto& b) {
        char c;
        auto from = b.local_endpoint();
        completion first, second, third, wait;
        b.async_receive(buffer(&c, 1), first.handler());
        b.async_receive_from(buffer(&c, 1), from, second.handler());
        b.async_wait(socket_base::wait_read, wait.handler());
        settle();
        b.cancel();
        run();
        for (auto const& each : {first, second, wait}) {
            EXPECT_EQ(each.count, 1);
            EXPECT_EQ(each.ec, error::operation_aborted);
        }
        send_to(a, "kept", b.local_endpoint());
        EXPECT_EQ(receive(b), "kept");
        b.async_receive(buffer(&c, 1), third.handler());
        settle();
        b.close();
        run();
        EXPECT_EQ(third.ec, error::operation_aborted);
    });
}

TEST_P(Datagrams, MovedSocketKeepsItsPendingReceives) {
    with_two([&](auto const&, auto& a, auto& b) {
        char c = ' ';
        completion received;
        b.async_receive(buffer(&c, 1), received.handler());
        settle();
        auto moved = std::move(b);
        send_to(a, "m", moved.local_endpoint());
        run();
        EXPECT_TRUE(received.succeeded());
        EXPECT_EQ(c, 'm');
    });
}

TEST_P(Datagrams, NonBlockingFormsDoWhatIsPossibleAtOnce) {
    with_two([&](auto const&, auto& a, auto& b) {
        b.non_blocking(true);
        char got[10];
        auto from = b.local_endpoint();
        error_code ec;
        b.receive_from(buffer(got), from, ec);
        EXPECT_EQ(ec, error::would_block);
        EXPECT_EQ(a.send_to(buffer("now", 3), b.local_endpoint(), ec), 3U);
        EXPECT_FALSE(ec);
        completion ready;
        b.async_wait(socket_base::wait_read, ready.handler());
        run();
        EXPECT_EQ(b.receive_from(buffer(got), from, ec), 3U);
        EXPECT_FALSE(ec);
        EXPECT_EQ(from, a.local_endpoint());
    });
}

TEST_P(Datagrams, ClosedSocketsSayBadDescriptor) {
    over_datagrams([&](auto const& t) {
        using protocol = typename std::remove_cvref_t<decltype(t)>::protocol;
        typename protocol::socket s(context());
        char c;
        auto from = t.free_address();
        completion received, sent;
        s.async_receive_from(buffer(&c, 1), from, received.handler());
        s.async_send_to(buffer("x", 1), t.free_address(), sent.handler());
        run();
        EXPECT_EQ(received.ec, error::bad_descriptor);
        EXPECT_EQ(sent.ec, error::bad_descriptor);
    });
}

TEST_P(Datagrams, ContextDestroyedWithEverythingPendingGivesUpEveryHandlerOnce) {
    char bytes[4];
    std::shared_ptr<int> const alive = std::make_shared<int>();
    with_two([&](auto const& t, auto& a, auto& b) {
        using socket = std::remove_cvref_t<decltype(a)>;
        struct objects {
            socket a, b;
            typename socket::endpoint_type from;
        };
        auto const o = std::make_shared<objects>(std::move(a), std::move(b), t.free_address());
        auto const handler = [o, alive](auto&&...) { ADD_FAILURE() << "called"; };
        o->a.async_receive(buffer(&bytes[0], 1), handler);
        o->a.async_receive_from(buffer(&bytes[1], 1), o->from, handler);
        o->a.async_receive_from(std::array<mutable_buffer, 2>{buffer(&bytes[2], 1), buffer(&bytes[3], 1)}, o->from,
                                handler);
        o->b.async_wait(socket_base::wait_read, handler);
        settle();
        EXPECT_EQ(alive.use_count(), 1 + 5);
    });
    EXPECT_EQ(alive.use_count(), 1);
}

INSTANTIATE_TEST_SUITE_P(Conformance, Datagrams, testing::ValuesIn(every_driver_and_datagram()), name_of);
INSTANTIATE_TEST_SUITE_P(Conformance, UdpDatagrams,
                         testing::ValuesIn(every_driver_and({transport::udp_v4, transport::udp_v6})), name_of);
INSTANTIATE_TEST_SUITE_P(Conformance, LocalDatagrams, testing::ValuesIn(every_driver_and({transport::local_datagram})),
                         name_of);

} // namespace
} // namespace fairlead::conformance
