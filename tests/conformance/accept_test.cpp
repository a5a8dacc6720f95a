// Listening, accepting, connecting, and the names of both ends.
#include "streams.hpp"

#include <fairlead/net/connect.hpp>
#include <fairlead/token/adapters.hpp>

#include <array>
#include <cstdio>
#include <vector>

namespace fairlead::conformance {
namespace {

class Acceptors : public stream_conformance_test {
protected:
    /// Connects in the calling thread, which a listening peer lets succeed without its help.
    template <class Socket, class Endpoint> void connect_now(Socket& s, Endpoint const& to) {
        error_code ec;
        s.connect(to, ec);
        EXPECT_FALSE(ec) << ec.message();
    }
    template <class Acceptor> void accept_now(Acceptor& a, typename Acceptor::protocol_type::socket& into) {
        completion accepted;
        a.async_accept(into, accepted.handler());
        run_until([&] { return accepted.count != 0; });
        EXPECT_TRUE(accepted.succeeded()) << accepted.ec.message();
    }
    template <class Transport> static auto listen_at_free(io_context& c, Transport const& t) {
        return typename Transport::protocol::acceptor(c, t.free_address());
    }
};
// Tests of properties that only some transports have.
class TcpAcceptors : public Acceptors {};
class Tcp6Acceptors : public Acceptors {};
class LocalAcceptors : public Acceptors {};

template <class T> using socket_of = typename std::remove_cvref_t<T>::protocol::socket;
template <class T> using acceptor_of = typename std::remove_cvref_t<T>::protocol::acceptor;
template <class T> using endpoint_of = typename std::remove_cvref_t<T>::protocol::endpoint;

// ---- accepting

TEST_P(Acceptors, ConnectionsAreMadeBeforeAnybodyAcceptsThem) {
    over_transport([&](auto const& t) {
        auto acceptor = listen_at_free(context(), t);
        std::vector<socket_of<decltype(t)>> clients, served;
        for (int i = 0; i != 5; ++i) {
            clients.emplace_back(context());
            connect_now(clients.back(), acceptor.local_endpoint());
        }
        for (int i = 0; i != 5; ++i)
            accept_now(acceptor, served.emplace_back(context()));
        // In the order in which they came.
        for (std::size_t i = 0; i != 5; ++i)
            pass(clients[i], served[i], "client " + std::to_string(i));
    });
}

TEST_P(Acceptors, WhatWasWrittenBeforeAcceptingIsThere) {
    over_transport([&](auto const& t) {
        auto acceptor = listen_at_free(context(), t);
        socket_of<decltype(t)> client(context()), served(context());
        connect_now(client, acceptor.local_endpoint());
        completion sent;
        async_write(client, buffer("early", 5), sent.handler());
        run();
        client.close();
        accept_now(acceptor, served);
        std::string got;
        EXPECT_EQ(read_to_end(served, got), error::eof);
        EXPECT_EQ(got, "early");
    });
}

TEST_P(Acceptors, PendingAcceptsAreServedInTheirOrder) {
    over_transport([&](auto const& t) {
        auto acceptor = listen_at_free(context(), t);
        std::array<socket_of<decltype(t)>, 3> clients{
            socket_of<decltype(t)>(context()), socket_of<decltype(t)>(context()), socket_of<decltype(t)>(context())};
        std::array<socket_of<decltype(t)>, 3> served{
            socket_of<decltype(t)>(context()), socket_of<decltype(t)>(context()), socket_of<decltype(t)>(context())};
        completion accepted[3];
        for (std::size_t i = 0; i != 3; ++i)
            acceptor.async_accept(served[i], accepted[i].handler());
        settle();
        for (std::size_t i = 0; i != 3; ++i) {
            completion connected;
            clients[i].async_connect(acceptor.local_endpoint(), connected.handler());
            run_until([&] { return connected.count && accepted[i].count; });
            EXPECT_TRUE(connected.succeeded() && accepted[i].succeeded());
        }
        for (std::size_t i = 0; i != 3; ++i)
            pass(clients[i], served[i], "client " + std::to_string(i));
    });
}

TEST_P(Acceptors, AwaitedLoopServesManyClients) {
    over_transport([&](auto const& t) {
        auto acceptor = listen_at_free(context(), t);
        constexpr int clients = 20;
        int served = 0;
        spawn([&]() -> awaitable<void> {
            for (int i = 0; i != clients; ++i) {
                auto s = co_await acceptor.async_accept();
                char c;
                co_await s.async_read_some(buffer(&c, 1));
                co_await s.async_write_some(buffer(&c, 1));
                ++served;
            }
        });
        int answered = 0;
        for (int i = 0; i != clients; ++i)
            spawn([&, i]() -> awaitable<void> {
                socket_of<decltype(t)> s(context());
                co_await s.async_connect(acceptor.local_endpoint());
                char const out = static_cast<char>('a' + i);
                co_await s.async_write_some(buffer(&out, 1));
                char in = ' ';
                co_await s.async_read_some(buffer(&in, 1));
                answered += in == out;
            });
        run();
        EXPECT_EQ(served, clients);
        EXPECT_EQ(answered, clients);
    });
}

TEST_P(Acceptors, AcceptTellsWhoConnected) {
    over_transport([&](auto const& t) {
        auto acceptor = listen_at_free(context(), t);
        socket_of<decltype(t)> client(context()), served(context());
        if (!t.is_tcp) {
            client.open(t.kind());
            client.bind(t.free_address());
        }
        endpoint_of<decltype(t)> from;
        completion connected, accepted;
        acceptor.async_accept(served, from, accepted.handler());
        client.async_connect(acceptor.local_endpoint(), connected.handler());
        run();
        EXPECT_TRUE(connected.succeeded() && accepted.succeeded());
        EXPECT_EQ(from, client.local_endpoint());
        EXPECT_EQ(served.remote_endpoint(), client.local_endpoint());
        EXPECT_EQ(served.local_endpoint(), acceptor.local_endpoint());
        EXPECT_EQ(client.remote_endpoint(), acceptor.local_endpoint());
    });
}

TEST_P(Acceptors, AcceptIntoAnOpenSocketIsRefused) {
    over_transport([&](auto const& t) {
        auto acceptor = listen_at_free(context(), t);
        socket_of<decltype(t)> client(context()), open(context(), t.kind());
        completion connected, accepted;
        acceptor.async_accept(open, accepted.handler());
        client.async_connect(acceptor.local_endpoint(), connected.handler());
        run();
        EXPECT_TRUE(connected.succeeded());
        EXPECT_EQ(accepted.ec, error::already_open);
        EXPECT_EQ(read_error(client), error::eof) << "the connection is closed again";
    });
}

TEST_P(Acceptors, ClosingAbortsPendingAcceptsAndLeavesConnectionsAlone) {
    over_transport([&](auto const& t) {
        auto acceptor = listen_at_free(context(), t);
        socket_of<decltype(t)> client(context()), served(context()),
            more[2] = {socket_of<decltype(t)>(context()), socket_of<decltype(t)>(context())};
        completion connected, first, pending[2];
        acceptor.async_accept(served, first.handler());
        client.async_connect(acceptor.local_endpoint(), connected.handler());
        run();
        acceptor.async_accept(more[0], pending[0].handler());
        acceptor.async_accept(more[1], pending[1].handler());
        settle();
        acceptor.close();
        run();
        for (auto const& p : pending) {
            EXPECT_EQ(p.count, 1);
            EXPECT_EQ(p.ec, error::operation_aborted);
        }
        EXPECT_FALSE(more[0].is_open());
        pass(client, served, "still connected");
        pass(served, client, "both ways");
    });
}

TEST_P(Acceptors, ConnectionsThatNobodyAcceptedAreReset) {
    over_transport([&](auto const& t) {
        socket_of<decltype(t)> client(context());
        {
            auto acceptor = listen_at_free(context(), t);
            connect_now(client, acceptor.local_endpoint());
            settle();
        }
        EXPECT_EQ(read_error(client), error::connection_reset);
        EXPECT_EQ(read_error(client), error::eof);
        EXPECT_EQ(write_error(client), error::broken_pipe);
    });
}

TEST_P(TcpAcceptors, ConnectionThatIsResetWhileItWaitsIsAcceptedAndSaysSo) {
    over_tcp([&](auto const& t) {
        auto acceptor = listen_at_free(context(), t);
        {
            socket_of<decltype(t)> gone(context());
            connect_now(gone, acceptor.local_endpoint());
            gone.set_option(socket_base::linger(true, 0));
        }
        socket_of<decltype(t)> good(context()), served(context());
        connect_now(good, acceptor.local_endpoint());
        settle();
        accept_now(acceptor, served);
        EXPECT_EQ(read_error(served), error::connection_reset);
        served.close();
        accept_now(acceptor, served);
        pass(good, served, "the next one is well");
    });
}

TEST_P(Acceptors, WhoDoesNotListenCannotAccept) {
    over_transport([&](auto const& t) {
        acceptor_of<decltype(t)> acceptor(context(), t.kind());
        acceptor.bind(t.free_address());
        socket_of<decltype(t)> s(context());
        completion accepted;
        acceptor.async_accept(s, accepted.handler());
        run();
        EXPECT_EQ(accepted.ec, error::invalid_argument);
        error_code ec;
        acceptor.accept(s, ec);
        EXPECT_EQ(ec, error::invalid_argument);
    });
}

TEST_P(TcpAcceptors, ShutdownOfReceivingEndsListeningOnTcp) {
    over_tcp([&](auto const& t) {
        auto acceptor = listen_at_free(context(), t);
        auto const at = acceptor.local_endpoint();
        socket_of<decltype(t)> s(context());
        completion accepted;
        acceptor.async_accept(s, accepted.handler());
        settle();
        acceptor.shutdown(socket_base::shutdown_receive);
        run();
        EXPECT_EQ(accepted.count, 1);
        EXPECT_EQ(accepted.ec, error::invalid_argument);
        completion connected;
        s.async_connect(at, connected.handler());
        run();
        EXPECT_EQ(connected.ec, error::connection_refused);
    });
}

TEST_P(Acceptors, NonBlockingAcceptSaysWouldBlock) {
    over_transport([&](auto const& t) {
        auto acceptor = listen_at_free(context(), t);
        acceptor.non_blocking(true);
        error_code ec;
        auto nobody = acceptor.accept(ec);
        EXPECT_EQ(ec, error::would_block);
        EXPECT_FALSE(nobody.is_open());
        socket_of<decltype(t)> client(context());
        connect_now(client, acceptor.local_endpoint());
        completion ready;
        acceptor.async_wait(socket_base::wait_read, ready.handler());
        run();
        EXPECT_TRUE(ready.succeeded());
        auto served = acceptor.accept(ec);
        EXPECT_FALSE(ec) << ec.message();
        pass(client, served, "accepted");
    });
}

TEST_P(Acceptors, BlockingFormsDoWhatIsPossibleAtOnce) {
    over_transport([&](auto const& t) {
        auto acceptor = listen_at_free(context(), t);
        socket_of<decltype(t)> client(context());
        client.connect(acceptor.local_endpoint());
        auto served = acceptor.accept();
        EXPECT_EQ(served.remote_endpoint(), client.local_endpoint());
        pass(client, served, "one");
        pass(served, client, "two");
    });
}

TEST_P(Acceptors, BacklogOfNoneHoldsOneAndLetsOthersWaitOnTcp) {
    over_transport([&](auto const& t) {
        acceptor_of<decltype(t)> acceptor(context(), t.kind());
        acceptor.bind(t.free_address());
        acceptor.listen(0);
        socket_of<decltype(t)> first(context()), second(context()), served(context());
        connect_now(first, acceptor.local_endpoint());
        completion connected;
        second.async_connect(acceptor.local_endpoint(), connected.handler());
        settle();
        if (t.is_tcp) {
            EXPECT_EQ(connected.count, 0) << "tries again for a long time";
            second.close();
            run();
            EXPECT_EQ(connected.ec, error::operation_aborted);
        } else {
            EXPECT_EQ(connected.ec, error::try_again);
        }
        accept_now(acceptor, served);
        pass(first, served, "first");
        socket_of<decltype(t)> third(context());
        completion again;
        third.async_connect(acceptor.local_endpoint(), again.handler());
        run();
        EXPECT_TRUE(again.succeeded()) << again.ec.message();
    });
}

// ---- connecting

TEST_P(Acceptors, ConnectingWhereNobodyListensIsRefused) {
    over_transport([&](auto const& t) {
        socket_of<decltype(t)> s(context());
        completion connected;
        s.async_connect(t.nobody(context()), connected.handler());
        run();
        EXPECT_EQ(connected.count, 1);
        EXPECT_EQ(connected.ec, error::connection_refused);
        EXPECT_TRUE(s.is_open()) << "opened by the attempt";
        error_code ec;
        s.remote_endpoint(ec);
        EXPECT_EQ(ec, error::not_connected);
        socket_of<decltype(t)> blocking(context());
        blocking.connect(t.nobody(context()), ec);
        EXPECT_EQ(ec, connected.ec);
    });
}

TEST_P(Acceptors, ConnectingToSomebodyWhoIsBoundButDoesNotListenIsRefused) {
    over_transport([&](auto const& t) {
        acceptor_of<decltype(t)> bound(context(), t.kind());
        bound.bind(t.free_address());
        socket_of<decltype(t)> s(context());
        completion connected;
        s.async_connect(bound.local_endpoint(), connected.handler());
        run();
        EXPECT_EQ(connected.ec, error::connection_refused);
        bound.listen();
        if (t.is_tcp && differs("connect-is-reported-again")) {
            completion once_more;
            s.async_connect(bound.local_endpoint(), once_more.handler());
            run();
            EXPECT_EQ(once_more.ec, error::connection_aborted);
        }
        completion again; // The same socket may try again.
        s.async_connect(bound.local_endpoint(), again.handler());
        run();
        EXPECT_TRUE(again.succeeded()) << again.ec.message();
    });
}

TEST_P(Acceptors, ConnectedSocketCannotConnectAgain) {
    over_transport([&](auto const& t) {
        auto acceptor = listen_at_free(context(), t);
        socket_of<decltype(t)> s(context()), served(context());
        connect_now(s, acceptor.local_endpoint());
        accept_now(acceptor, served);
        completion twice;
        s.async_connect(acceptor.local_endpoint(), twice.handler());
        run();
        if (t.is_tcp && differs("connect-is-reported-again"))
            EXPECT_TRUE(twice.succeeded());
        else
            EXPECT_EQ(twice.ec, error::already_connected);
        error_code ec;
        s.connect(acceptor.local_endpoint(), ec);
        EXPECT_EQ(ec, error::already_connected);
        pass(s, served, "no harm done");
    });
}

TEST_P(TcpAcceptors, ConnectWhileConnectingSaysSo) {
    over_tcp([&](auto const& t) {
        acceptor_of<decltype(t)> acceptor(context(), t.kind());
        acceptor.bind(t.free_address());
        acceptor.listen(0);
        socket_of<decltype(t)> first(context()), s(context());
        connect_now(first, acceptor.local_endpoint());
        completion one, two;
        s.async_connect(acceptor.local_endpoint(), one.handler());
        settle();
        s.async_connect(acceptor.local_endpoint(), two.handler());
        settle();
        EXPECT_EQ(one.count, 0);
        EXPECT_EQ(two.count, 1);
        EXPECT_EQ(two.ec, error::already_started);
        s.close();
        run();
        EXPECT_EQ(one.ec, error::operation_aborted);
        EXPECT_EQ(two.count, 1);
    });
}

TEST_P(Acceptors, TransfersStartedWhileConnectingWaitForTheConnection) {
    over_transport([&](auto const& t) {
        auto acceptor = listen_at_free(context(), t);
        socket_of<decltype(t)> s(context()), served(context());
        completion connected, accepted, sent, received;
        std::string got(5, ' ');
        acceptor.async_accept(served, accepted.handler());
        s.open(t.kind());
        s.async_connect(acceptor.local_endpoint(), connected.handler());
        async_write(s, buffer("early", 5), sent.handler());
        run();
        EXPECT_TRUE(connected.succeeded()) << connected.ec.message();
        EXPECT_TRUE(sent.succeeded()) << sent.ec.message();
        async_read(served, buffer(got), received.handler());
        run();
        EXPECT_EQ(got, "early");
    });
}

TEST_P(TcpAcceptors, SocketNeverConnectsToItself) {
    over_tcp([&](auto const& t) {
        socket_of<decltype(t)> s(context(), t.kind());
        s.bind(t.free_address());
        completion connected;
        s.async_connect(s.local_endpoint(), connected.handler());
        run();
        EXPECT_EQ(connected.ec, error::connection_refused);
        socket_of<decltype(t)> blocking(context(), t.kind());
        blocking.bind(t.free_address());
        error_code ec;
        blocking.connect(blocking.local_endpoint(), ec);
        EXPECT_EQ(ec, error::connection_refused);
    });
}

TEST_P(TcpAcceptors, ConnectingToAnyAddressReachesThisMachine) {
    over_tcp([&](auto const& t) {
        auto acceptor = listen_at_free(context(), t);
        ip::tcp::socket s(context()), served(context());
        connect_now(s, ip::tcp::endpoint(t.kind(), acceptor.local_endpoint().port()));
        accept_now(acceptor, served);
        EXPECT_EQ(s.remote_endpoint(), acceptor.local_endpoint());
        EXPECT_TRUE(s.local_endpoint().address().is_loopback());
        pass(s, served, "here");
    });
}

TEST_P(Acceptors, RangeConnectTakesTheFirstThatAccepts) {
    over_transport([&](auto const& t) {
        auto acceptor = listen_at_free(context(), t);
        std::vector<endpoint_of<decltype(t)>> const range{t.nobody(context()), t.nobody(context()),
                                                          acceptor.local_endpoint(), t.nobody(context())};
        socket_of<decltype(t)> s(context()), served(context());
        completion accepted;
        acceptor.async_accept(served, accepted.handler());
        int done = 0;
        async_connect(s, range, [&](error_code ec, endpoint_of<decltype(t)> const& at) {
            EXPECT_FALSE(ec) << ec.message();
            EXPECT_EQ(at, acceptor.local_endpoint());
            ++done;
        });
        run();
        EXPECT_EQ(done, 1);
        EXPECT_TRUE(accepted.succeeded());
        pass(s, served, "found");
    });
}

TEST_P(Acceptors, RangeConnectReportsTheLastFailureAndAnEmptyRange) {
    over_transport([&](auto const& t) {
        std::vector<endpoint_of<decltype(t)>> const range{t.nobody(context()), t.nobody(context())};
        std::vector<endpoint_of<decltype(t)>> const empty;
        socket_of<decltype(t)> s(context());
        bool ended = false;
        spawn([&]() -> awaitable<void> {
            completion alone;
            socket_of<decltype(t)> other(context());
            auto const [one] = co_await other.async_connect(range.back(), as_tuple);
            auto const [ec, at] = co_await async_connect(s, range, as_tuple);
            EXPECT_EQ(ec, one);
            EXPECT_TRUE(ec);
            EXPECT_EQ(at, endpoint_of<decltype(t)>());
            auto const [none, nowhere] = co_await async_connect(s, empty, as_tuple);
            EXPECT_EQ(none, error::not_found);
            ended = true;
        });
        run();
        EXPECT_TRUE(ended);
    });
}

// ---- names

TEST_P(Acceptors, BindingTwiceIsAnErrorAndSoIsAnAddressInUse) {
    over_transport([&](auto const& t) {
        auto acceptor = listen_at_free(context(), t);
        auto const at = acceptor.local_endpoint();
        socket_of<decltype(t)> s(context(), t.kind());
        error_code ec;
        s.bind(at, ec);
        EXPECT_EQ(ec, error::address_in_use);
        s.set_option(socket_base::reuse_address(true));
        s.bind(at, ec);
        EXPECT_EQ(ec, error::address_in_use) << "somebody listens there";
        s.bind(t.free_address(), ec);
        EXPECT_FALSE(ec) << ec.message();
        s.bind(t.free_address(), ec);
        EXPECT_EQ(ec, error::invalid_argument) << "already bound";
    });
}

TEST_P(Acceptors, AddressIsFreeAgainOnceItsAcceptorIsClosed) {
    over_transport([&](auto const& t) {
        auto acceptor = listen_at_free(context(), t);
        auto const at = acceptor.local_endpoint();
        socket_of<decltype(t)> s(context()), served(context());
        connect_now(s, at);
        accept_now(acceptor, served);
        acceptor.close();
        // With a connection that still has the port: that is what reuse_address, which acceptors set, is for.
        acceptor_of<decltype(t)> again(context(), at);
        EXPECT_EQ(again.local_endpoint(), at);
        socket_of<decltype(t)> other(context());
        connect_now(other, at);
        pass(s, served, "the old one");
    });
}

TEST_P(TcpAcceptors, ReuseAddressSharesAPortUntilSomebodyListens) {
    over_tcp([&](auto const& t) {
        acceptor_of<decltype(t)> a(context(), t.kind()), b(context(), t.kind()), c(context(), t.kind());
        a.set_option(socket_base::reuse_address(true));
        b.set_option(socket_base::reuse_address(true));
        a.bind(t.free_address());
        error_code ec;
        c.bind(a.local_endpoint(), ec);
        EXPECT_EQ(ec, error::address_in_use) << "both have to agree";
        b.bind(a.local_endpoint(), ec);
        EXPECT_FALSE(ec) << ec.message();
        a.listen();
        b.listen(socket_base::max_listen_connections, ec);
        EXPECT_EQ(ec, error::address_in_use);
    });
}

TEST_P(Acceptors, PortZeroIsReplacedByAFreeOne) {
    over_transport([&](auto const& t) {
        if constexpr (std::remove_cvref_t<decltype(t)>::is_tcp) {
            ip::tcp::acceptor const a(context(), t.free_address()), b(context(), t.free_address());
            EXPECT_NE(a.local_endpoint().port(), 0);
            EXPECT_NE(b.local_endpoint().port(), 0);
            EXPECT_NE(a.local_endpoint(), b.local_endpoint());
            ip::tcp::acceptor any(context(), t.kind());
            EXPECT_EQ(any.local_endpoint(), ip::tcp::endpoint(t.kind(), 0)) << "not bound yet";
            any.listen(); // binds
            EXPECT_NE(any.local_endpoint().port(), 0);
            EXPECT_TRUE(any.local_endpoint().address().is_unspecified());
            ip::tcp::socket s(context());
            connect_now(s, a.local_endpoint());
            EXPECT_NE(s.local_endpoint().port(), 0);
            EXPECT_EQ(s.local_endpoint().address(), a.local_endpoint().address());
        } else {
            local::stream_protocol::acceptor unbound(context(), t.kind());
            error_code ec;
            unbound.listen(1, ec);
            EXPECT_EQ(ec, error::invalid_argument);
            EXPECT_EQ(unbound.local_endpoint(), local::stream_protocol::endpoint());
        }
    });
}

TEST_P(Acceptors, ForeignAndMisshapenAddressesAreRefused) {
    over_transport([&](auto const& t) {
        if constexpr (std::remove_cvref_t<decltype(t)>::is_tcp) {
            bool const v4 = t.kind() == ip::tcp::v4();
            // Addresses for documentation: nobody has them.
            ip::tcp::endpoint const foreign(ip::make_address(v4 ? "192.0.2.1" : "2001:db8::1"), 0);
            ip::tcp::endpoint const other_family(v4 ? ip::tcp::v6() : ip::tcp::v4(), 1);
            ip::tcp::socket s(context(), t.kind());
            error_code ec;
            s.bind(foreign, ec);
            EXPECT_EQ(ec, std::errc::address_not_available);
            // An IPv4 address is too short for an IPv6 socket; that is noticed first.
            auto const wrong = v4 ? std::errc::address_family_not_supported : std::errc::invalid_argument;
            s.bind(other_family, ec);
            EXPECT_EQ(ec, wrong);
            completion connected;
            s.async_connect(other_family, connected.handler());
            run();
            EXPECT_EQ(connected.ec, wrong);
        } else {
            local::stream_protocol::socket s(context(), t.kind());
            completion connected;
            s.async_connect(local::stream_protocol::endpoint(), connected.handler());
            run();
            EXPECT_EQ(connected.ec, error::invalid_argument) << "no name";
        }
    });
}

TEST_P(Tcp6Acceptors, ListenerOfIpv6TakesIpv4TooUnlessToldOtherwise) {
    over_tcp([&](tcp_transport const&) {
        ip::tcp::acceptor both(context(), ip::tcp::endpoint(ip::tcp::v6(), 0));
        ip::tcp::socket s(context());
        error_code ec;
        s.connect(ip::tcp::endpoint(ip::address_v4::loopback(), both.local_endpoint().port()), ec);
        EXPECT_FALSE(ec) << ec.message();
        ip::tcp::socket served(context());
        accept_now(both, served);
        EXPECT_TRUE(served.remote_endpoint().address().is_v6()) << served.remote_endpoint();
        EXPECT_TRUE(served.remote_endpoint().address().to_v6().is_v4_mapped());
        EXPECT_EQ(served.remote_endpoint().port(), s.local_endpoint().port());
        pass(s, served, "mapped");
        ip::tcp::acceptor only(context(), ip::tcp::v6());
        only.set_option(ip::v6_only(true));
        only.bind(ip::tcp::endpoint(ip::tcp::v6(), 0));
        only.listen();
        ip::tcp::socket refused(context());
        refused.connect(ip::tcp::endpoint(ip::address_v4::loopback(), only.local_endpoint().port()), ec);
        EXPECT_EQ(ec, error::connection_refused);
    });
}

TEST_P(LocalAcceptors, PathOfAUnixSocketStaysWhenItsSocketIsClosed) {
    over_local([&](auto const& t) {
        std::string path = testing::TempDir();
        path.append("fairlead-conformance-").append(t.free_address().path().substr(22));
        {
            local::stream_protocol::socket s(context());
            completion connected;
            s.async_connect(path, connected.handler());
            run();
            EXPECT_EQ(connected.ec, std::errc::no_such_file_or_directory);
            local::stream_protocol::acceptor a(context(), local::stream_protocol::endpoint(path));
            EXPECT_EQ(a.local_endpoint().path(), path);
            local::stream_protocol::socket again(context());
            connect_now(again, a.local_endpoint());
            EXPECT_EQ(again.remote_endpoint().path(), path);
        }
        local::stream_protocol::socket s(context());
        completion connected;
        s.async_connect(path, connected.handler());
        run();
        if (differs("paths-go-with-their-sockets"))
            EXPECT_EQ(connected.ec, std::errc::no_such_file_or_directory);
        else
            EXPECT_EQ(connected.ec, error::connection_refused);
        std::remove(path.c_str());
    });
}

INSTANTIATE_TEST_SUITE_P(Conformance, Acceptors, testing::ValuesIn(every_driver_and_stream()), name_of);
INSTANTIATE_TEST_SUITE_P(Conformance, TcpAcceptors,
                         testing::ValuesIn(every_driver_and({transport::tcp_v4, transport::tcp_v6})), name_of);
INSTANTIATE_TEST_SUITE_P(Conformance, Tcp6Acceptors, testing::ValuesIn(every_driver_and({transport::tcp_v6})), name_of);
INSTANTIATE_TEST_SUITE_P(Conformance, LocalAcceptors, testing::ValuesIn(every_driver_and({transport::local})), name_of);

} // namespace
} // namespace fairlead::conformance
