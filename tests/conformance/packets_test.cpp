// Packets over UNIX sockets: connections that keep the limits of what was sent, and how they end.
#include "driver_under_test.hpp"

#include <fairlead/net/seq_packet_socket.hpp>

#include <array>
#include <functional>
#include <string>
#include <sys/socket.h>

namespace fairlead::conformance {
namespace {

using packet_socket = local::seq_packet_protocol::socket;

class Packets : public conformance_test {
protected:
    /// A packet, or the error instead of it. The flags are those that came with it.
    struct received {
        error_code ec;
        std::string text;
        socket_base::message_flags flags = -1;
    };

    /// Runs `body(near, far)` in each world.
    void between_two(std::function<void(packet_socket&, packet_socket&)> body) {
        each_world([&] {
            packet_socket near(context()), far(context());
            local::connect_pair(near, far);
            body(near, far);
        });
    }
    error_code send(packet_socket& s, std::string const& text) {
        completion sent;
        s.async_send(buffer(text), 0, sent.handler());
        run_until([&] { return sent.count != 0; });
        EXPECT_EQ(sent.n, sent.ec ? 0 : text.size());
        return sent.ec;
    }
    received receive(packet_socket& s, std::size_t most = 300'000) {
        received r;
        r.text.resize(most);
        completion c;
        s.async_receive(buffer(r.text), r.flags, c.handler());
        run_until([&] { return c.count != 0; });
        r.text.resize(c.n);
        r.ec = c.ec;
        return r;
    }
    void expect_end(packet_socket& s) {
        auto const r = receive(s);
        EXPECT_FALSE(r.ec) << r.ec.message();
        EXPECT_EQ(r.text, "");
    }
    /// Sends packets until the socket takes no more; returns their number.
    static std::size_t fill(packet_socket& s) {
        s.non_blocking(true);
        std::size_t n = 0;
        error_code ec;
        while (s.send(buffer("wxyz", 4), 0, ec) == 4)
            ++n;
        EXPECT_EQ(ec, error::would_block);
        return n;
    }
    local::seq_packet_protocol::endpoint free_address() const {
        return local::seq_packet_protocol::endpoint(local_transport().free_address().path());
    }
};

TEST_P(Packets, AreReceivedWholeAndInOrder) {
    between_two([&](auto& near, auto& far) {
        std::array<std::string, 5> const texts{"one", "", pattern(60'000), "4", "five"};
        for (auto const& text : texts)
            EXPECT_FALSE(send(near, text));
        EXPECT_EQ(far.available(), 60'008U) << "all of them";
        for (auto const& text : texts) {
            auto const r = receive(far);
            EXPECT_FALSE(r.ec) << r.ec.message();
            EXPECT_TRUE(r.text == text) << r.text.size();
            EXPECT_EQ(r.flags, 0);
        }
        EXPECT_FALSE(send(far, "back"));
        EXPECT_EQ(receive(near).text, "back");
    });
}

TEST_P(Packets, SeveralBuffersAreOnePacket) {
    between_two([&](auto& near, auto& far) {
        std::array<const_buffer, 3> const out{buffer("a", 1), buffer("bc", 2), buffer("def", 3)};
        completion sent, got;
        near.async_send(out, socket_base::message_end_of_record, sent.handler());
        char x[2], y[2], z[8];
        std::array<mutable_buffer, 3> const in{buffer(x), buffer(y), buffer(z)};
        socket_base::message_flags flags = -1;
        far.async_receive(in, flags, got.handler());
        run();
        EXPECT_TRUE(sent.succeeded() && got.succeeded());
        EXPECT_EQ(std::string(x, 2) + std::string(y, 2) + std::string(z, got.n - 4), "abcdef");
        EXPECT_EQ(flags, 0) << "Linux reports no end of record of these";
    });
}

TEST_P(Packets, OneThatDoesNotFitIsCutOffAndSaysSo) {
    between_two([&](auto& near, auto& far) {
        EXPECT_FALSE(send(near, "0123456789"));
        EXPECT_FALSE(send(near, "next"));
        auto const cut = receive(far, 4);
        EXPECT_EQ(cut.ec, error::message_size);
        EXPECT_EQ(cut.text, "0123");
        EXPECT_EQ(cut.flags, MSG_TRUNC);
        auto const next = receive(far, 4);
        EXPECT_FALSE(next.ec);
        EXPECT_EQ(next.text, "next");
        EXPECT_EQ(next.flags, 0);
    });
}

TEST_P(Packets, OneThatIsOnlyLookedAtStays) {
    between_two([&](auto& near, auto& far) {
        EXPECT_FALSE(send(near, "look"));
        char bytes[8];
        socket_base::message_flags flags = -1;
        far.non_blocking(true);
        EXPECT_EQ(far.receive(buffer(bytes), socket_base::message_peek, flags), 4U);
        EXPECT_EQ(receive(far).text, "look");
    });
}

TEST_P(Packets, OneHasALargestSize) {
    between_two([&](auto& near, auto& far) {
        EXPECT_EQ(send(near, pattern(212'961)), error::message_size);
        EXPECT_FALSE(send(near, pattern(212'960)));
        EXPECT_EQ(receive(far).text.size(), 212'960U);
    });
}

TEST_P(Packets, SenderWaitsForItsReceiver) {
    between_two([&](auto& near, auto& far) {
        auto const n = fill(near);
        EXPECT_NEAR(static_cast<double>(n), 278, 3) << "each small one counts for 768 bytes of 212,992";
        completion late;
        near.async_send(buffer("last", 4), 0, late.handler());
        settle();
        EXPECT_EQ(late.count, 0);
        for (std::size_t i = 0; i != n; ++i)
            EXPECT_EQ(receive(far).text, "wxyz");
        EXPECT_EQ(receive(far).text, "last");
        run();
        EXPECT_TRUE(late.succeeded()) << late.ec.message();
    });
}

TEST_P(Packets, PendingReceivesAreServedInTheirOrder) {
    between_two([&](auto& near, auto& far) {
        char bytes[3][4];
        completion got[3];
        socket_base::message_flags flags[3];
        for (std::size_t i = 0; i != 3; ++i)
            far.async_receive(buffer(bytes[i]), flags[i], got[i].handler());
        settle();
        for (char const c : {'a', 'b', 'c'})
            EXPECT_FALSE(send(near, std::string(1, c)));
        run();
        for (std::size_t i = 0; i != 3; ++i) {
            EXPECT_TRUE(got[i].succeeded());
            EXPECT_EQ(bytes[i][0], "abc"[i]);
        }
    });
}

TEST_P(Packets, CancelledReceiveTakesNone) {
    between_two([&](auto& near, auto& far) {
        char bytes[8];
        socket_base::message_flags flags = -1;
        completion got;
        far.async_receive(buffer(bytes), flags, got.handler());
        settle();
        far.cancel();
        run();
        EXPECT_EQ(got.ec, error::operation_aborted);
        EXPECT_FALSE(send(near, "kept"));
        EXPECT_EQ(receive(far).text, "kept");
    });
}

TEST_P(Packets, EndOfTheConnectionIsBehindThem) {
    between_two([&](auto& near, auto& far) {
        EXPECT_FALSE(send(near, "left"));
        near.close();
        run();
        EXPECT_EQ(send(far, "x"), error::broken_pipe);
        EXPECT_EQ(receive(far).text, "left");
        for (int i = 0; i != 2; ++i)
            expect_end(far);
    });
}

TEST_P(Packets, EndIsToldToEachPendingReceive) {
    between_two([&](auto& near, auto& far) {
        char c;
        socket_base::message_flags flags = -1;
        completion got[2];
        for (auto& each : got)
            far.async_receive(buffer(&c, 1), flags, each.handler());
        settle();
        near.close();
        run();
        for (auto const& each : got) {
            EXPECT_TRUE(each.succeeded()) << each.ec.message();
            EXPECT_EQ(each.n, 0U);
        }
    });
}

TEST_P(Packets, OneWayCanBeShut) {
    between_two([&](auto& near, auto& far) {
        EXPECT_FALSE(send(near, "left"));
        near.shutdown(socket_base::shutdown_send);
        run();
        EXPECT_EQ(send(near, "x"), error::broken_pipe);
        EXPECT_EQ(receive(far).text, "left");
        expect_end(far);
        EXPECT_FALSE(send(far, "answer"));
        EXPECT_EQ(receive(near).text, "answer");
    });
}

TEST_P(Packets, ReceiverThatHearsNoMoreBreaksTheSender) {
    between_two([&](auto& near, auto& far) {
        EXPECT_FALSE(send(near, "left"));
        far.shutdown(socket_base::shutdown_receive);
        run();
        EXPECT_EQ(send(near, "x"), error::broken_pipe);
        EXPECT_EQ(receive(far).text, "left");
        expect_end(far);
        EXPECT_FALSE(send(far, "other way"));
    });
}

TEST_P(Packets, ThoseThatNobodyReadResetTheConnection) {
    between_two([&](auto& near, auto& far) {
        EXPECT_FALSE(send(near, "to far"));
        EXPECT_FALSE(send(far, "to near"));
        near.close();
        run();
        EXPECT_EQ(receive(far).ec, error::connection_reset) << "before the packet, and once";
        EXPECT_EQ(receive(far).text, "to far");
        expect_end(far);
        EXPECT_EQ(send(far, "x"), error::broken_pipe);
    });
}

TEST_P(Packets, WaitsTellWhatTheSocketIsReadyFor) {
    between_two([&](auto& near, auto& far) {
        completion reads, writes;
        far.async_wait(socket_base::wait_read, reads.handler());
        far.async_wait(socket_base::wait_write, writes.handler());
        settle();
        EXPECT_TRUE(writes.succeeded());
        EXPECT_EQ(reads.count, 0);
        EXPECT_FALSE(send(near, "x"));
        run();
        EXPECT_TRUE(reads.succeeded());
        EXPECT_EQ(receive(far).text, "x") << "waiting takes none";
        completion ended;
        far.async_wait(socket_base::wait_read, ended.handler());
        settle();
        EXPECT_EQ(ended.count, 0);
        near.close();
        run();
        EXPECT_TRUE(ended.succeeded());
    });
}

TEST_P(Packets, GoThroughAnAcceptedConnection) {
    each_world([&] {
        local::seq_packet_protocol::acceptor acceptor(context(), free_address());
        packet_socket client(context()), peer(context());
        completion accepted, connected;
        acceptor.async_accept(peer, accepted.handler());
        client.async_connect(acceptor.local_endpoint(), connected.handler());
        run();
        EXPECT_TRUE(accepted.succeeded() && connected.succeeded());
        EXPECT_EQ(client.remote_endpoint(), acceptor.local_endpoint());
        EXPECT_FALSE(send(client, "two "));
        EXPECT_FALSE(send(client, "packets"));
        EXPECT_EQ(receive(peer).text, "two ");
        EXPECT_EQ(receive(peer).text, "packets");
        completion again;
        client.async_connect(acceptor.local_endpoint(), again.handler());
        run();
        EXPECT_EQ(again.ec, error::already_connected);
    });
}

TEST_P(Packets, ConnectionThatNobodyAcceptsIsReset) {
    each_world([&] {
        local::seq_packet_protocol::acceptor acceptor(context(), free_address());
        packet_socket client(context());
        completion connected;
        client.async_connect(acceptor.local_endpoint(), connected.handler());
        run();
        EXPECT_TRUE(connected.succeeded()) << connected.ec.message();
        EXPECT_FALSE(send(client, "early"));
        acceptor.close();
        run();
        EXPECT_EQ(receive(client).ec, error::connection_reset);
        expect_end(client);
    });
}

TEST_P(Packets, WithoutAConnectionThereAreNone) {
    each_world([&] {
        packet_socket s(context(), local::seq_packet_protocol());
        EXPECT_EQ(send(s, "x"), error::not_connected);
        EXPECT_EQ(receive(s).ec, error::not_connected);
        completion connected;
        s.async_connect(free_address(), connected.handler());
        run();
        EXPECT_EQ(connected.ec, error::connection_refused);
        local::stream_protocol::acceptor others(context(), local_transport().free_address());
        completion wrong;
        s.async_connect(local::seq_packet_protocol::endpoint(others.local_endpoint().path()), wrong.handler());
        run();
        EXPECT_EQ(wrong.ec, error::connection_refused) << "a stream listens there";
    });
}

TEST_P(Packets, UrgentOnesAreNotSupported) {
    between_two([&](auto& near, auto& far) {
        completion sent, got;
        char c;
        socket_base::message_flags flags = -1;
        EXPECT_FALSE(send(near, "usual"));
        near.async_send(buffer("x", 1), socket_base::message_out_of_band, sent.handler());
        far.async_receive(buffer(&c, 1), socket_base::message_out_of_band, flags, got.handler());
        run();
        EXPECT_EQ(sent.ec, error::operation_not_supported);
        EXPECT_EQ(got.ec, error::operation_not_supported);
        EXPECT_EQ(receive(far).text, "usual");
    });
}

TEST_P(Packets, TheirSocketCanBeGivenAwayAndTakenOver) {
    between_two([&](auto& near, auto& far) {
        EXPECT_FALSE(send(near, "one"));
        EXPECT_FALSE(send(near, "two"));
        packet_socket other(context(), local::seq_packet_protocol(), far.release());
        EXPECT_EQ(receive(other).text, "one");
        EXPECT_EQ(receive(other).text, "two") << "the limits are kept";
    });
}

INSTANTIATE_TEST_SUITE_P(Drivers, Packets, testing::ValuesIn(every_driver()), name_of);

} // namespace
} // namespace fairlead::conformance
