// The common behaviour of all sockets, where it is not the business of one kind of them.
#include <fairlead/coro/spawn.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/connect.hpp>
#include <fairlead/net/datagram_socket.hpp>
#include <fairlead/net/resolver.hpp>
#include <fairlead/sim/world.hpp>

#include <fairlead/token/use_future.hpp>
#include <support/users_executor.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <iterator>
#include <list>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <unistd.h>
#include <unordered_map>
#include <utility>
#include <vector>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace {

using namespace fairlead;
using ip::tcp;
using ip::udp;

// ---- types that programs name

template <class Object> using rebound = typename Object::template rebind_executor<io_context::executor_type>::other;
template <class Object> constexpr bool rebinds =
    std::is_same_v<typename rebound<Object>::executor_type, io_context::executor_type> &&
    std::is_same_v<typename Object::executor_type, any_io_executor> &&
    std::is_convertible_v<rebound<Object>&&, Object> && std::is_nothrow_move_constructible_v<Object> &&
    std::is_nothrow_move_assignable_v<Object> && !std::is_copy_constructible_v<Object>;
static_assert(rebinds<tcp::socket> && rebinds<tcp::acceptor> && rebinds<udp::socket>);
static_assert(rebinds<local::stream_protocol::socket> && rebinds<local::stream_protocol::acceptor>);
static_assert(rebinds<local::datagram_protocol::socket>);
static_assert(std::is_same_v<rebound<tcp::resolver>::executor_type, io_context::executor_type>);
static_assert(std::is_same_v<tcp::socket::lowest_layer_type, basic_socket<tcp>>);
static_assert(std::is_same_v<tcp::socket::native_handle_type, int>);
static_assert(std::is_same_v<tcp::acceptor::peer_type<any_io_executor>, tcp::socket>);

struct tcp_pair {
    io_context context;
    tcp::acceptor acceptor{context, tcp::endpoint(ip::address_v4::loopback(), 0)};
    tcp::socket a{context}, b{context};
    tcp_pair() {
        a.connect(acceptor.local_endpoint());
        acceptor.accept(b);
    }
};

// ---- options

/// As a program defines one that no header has.
class quick_acknowledgements {
public:
    explicit quick_acknowledgements(bool on = false) : value_(on) {}
    bool value() const { return value_ != 0; }
    template <class Protocol> int level(Protocol const&) const { return IPPROTO_TCP; }
    template <class Protocol> int name(Protocol const&) const { return TCP_QUICKACK; }
    template <class Protocol> int* data(Protocol const&) { return &value_; }
    template <class Protocol> int const* data(Protocol const&) const { return &value_; }
    template <class Protocol> std::size_t size(Protocol const&) const { return sizeof value_; }
    template <class Protocol> void resize(Protocol const&, std::size_t n) const { EXPECT_EQ(n, sizeof value_); }

private:
    int value_;
};

TEST(Socket, TakenOverByAnotherTypeOfExecutorCallsItsHandlersThere) {
    using native = io_context::executor_type;
    using users = test::counting_conversion<native>;
    io_context context;
    basic_datagram_socket<udp, native> first(context, udp::endpoint(ip::address_v4::loopback(), 0));
    basic_datagram_socket<udp, users> second(std::move(first));
    ip::basic_resolver<udp, native> first_resolver(context);
    ip::basic_resolver<udp, users> second_resolver(std::move(first_resolver));
    users::count = 0;
    second.async_wait(socket_base::wait_write, [](error_code ec) { EXPECT_FALSE(ec); });
    context.run();
    EXPECT_EQ(users::count, 1);
    second_resolver.async_resolve("127.0.0.1", "80", [](error_code ec, auto const&) { EXPECT_FALSE(ec); });
    context.restart();
    context.run();
    EXPECT_EQ(users::count, 2);
}

TEST(Socket, TakesOptionsThatProgramsDefine) {
    tcp_pair p;
    for (bool on : {true, false}) {
        p.a.set_option(quick_acknowledgements(on));
        quick_acknowledgements got(!on);
        p.a.get_option(got);
        EXPECT_EQ(got.value(), on);
    }
    using keep_idle = impl::net::socket_option::integer<IPPROTO_TCP, TCP_KEEPIDLE>;
    p.a.set_option(keep_idle(77));
    keep_idle seconds;
    p.a.get_option(seconds);
    EXPECT_EQ(seconds.value(), 77);
    tcp::socket closed(p.context);
    error_code ec;
    closed.set_option(tcp::no_delay(true), ec);
    EXPECT_EQ(ec, error::bad_descriptor);
    EXPECT_THROW(closed.set_option(tcp::no_delay(true)), system_error);
    EXPECT_THROW(closed.get_option(seconds), system_error);
}

TEST(Socket, AnAcceptedSocketKnowsItsVersionOfTheProtocol) {
    io_context context;
    tcp::acceptor acceptor(context);
    error_code ec;
    acceptor.open(tcp::v6(), ec);
    if (!ec)
        acceptor.bind(tcp::endpoint(ip::address_v6::loopback(), 0), ec);
    if (ec)
        GTEST_SKIP() << "no IPv6 here: " << ec.message();
    acceptor.listen();
    std::vector<tcp::socket> peers;
    auto const knock = [&, clients = std::make_shared<std::vector<tcp::socket>>()] {
        clients->emplace_back(context).connect(acceptor.local_endpoint());
    };
    tcp::endpoint from;
    knock();
    peers.push_back(acceptor.accept());
    knock();
    peers.push_back(acceptor.accept(from));
    knock();
    acceptor.accept(peers.emplace_back(context));
    knock();
    acceptor.async_accept([&](error_code, tcp::socket s) { peers.push_back(std::move(s)); });
    context.run();
    for (auto& s : peers) {
        ip::unicast::hops hops(5);
        s.set_option(hops, ec);
        EXPECT_FALSE(ec) << ec.message();
        int raw = 0;
        socklen_t size = sizeof raw;
        ASSERT_EQ(::getsockopt(s.native_handle(), IPPROTO_IPV6, IPV6_UNICAST_HOPS, &raw, &size), 0);
        EXPECT_EQ(raw, 5);
    }
    EXPECT_EQ(peers.size(), 4U);
}

// ---- commands

struct outgoing_queue {
    int bytes = -1;
    int name() const { return TIOCOUTQ; }
    void* data() { return &bytes; }
};

TEST(Socket, TakesCommandsOfItsOwnAndOfPrograms) {
    tcp_pair p;
    write(p.b.native_handle(), "12345", 5);
    p.a.wait(socket_base::wait_read);
    socket_base::bytes_readable command;
    p.a.io_control(command);
    EXPECT_EQ(command.get(), 5U);
    EXPECT_EQ(p.a.available(), 5U);
    outgoing_queue queue;
    p.a.io_control(queue);
    EXPECT_EQ(queue.bytes, 0);
    p.a.close();
    error_code ec;
    p.a.io_control(command, ec);
    EXPECT_EQ(ec, error::bad_descriptor);
    EXPECT_THROW(p.a.io_control(command), system_error);
}

TEST(Socket, KnowsTheMarkOfUrgentData) {
    tcp_pair p;
    p.b.send(buffer("ab", 2));
    p.b.send(buffer("!", 1), socket_base::message_out_of_band);
    p.a.wait(socket_base::wait_error); // urgent data counts as one
    char bytes[8];
    EXPECT_FALSE(p.a.at_mark());
    EXPECT_EQ(p.a.receive(buffer(bytes)), 2U);
    error_code ec;
    EXPECT_TRUE(p.a.at_mark(ec));
    EXPECT_FALSE(ec);
    EXPECT_EQ(p.a.receive(buffer(bytes), socket_base::message_out_of_band), 1U);
    EXPECT_EQ(bytes[0], '!');
    p.a.close();
    EXPECT_THROW((void)p.a.at_mark(), system_error);
}

// ---- modes

TEST(Socket, NativeModeIsForOthersAndNeverLetsTheLoopWait) {
    tcp_pair p;
    p.acceptor.native_non_blocking(true);
    EXPECT_TRUE(p.acceptor.native_non_blocking());
    p.acceptor.native_non_blocking(false);
    EXPECT_FALSE(p.acceptor.native_non_blocking());
    EXPECT_FALSE(::fcntl(p.acceptor.native_handle(), F_GETFL) & O_NONBLOCK);
    bool accepted = false;
    tcp::socket peer(p.context), client(p.context);
    p.acceptor.async_accept(peer, [&](error_code ec) { accepted = !ec; });
    p.context.poll(); // a failure shows as the test's time-out
    client.connect(p.acceptor.local_endpoint());
    p.context.run();
    EXPECT_TRUE(accepted);
    error_code ec;
    p.a.non_blocking(true);
    p.a.native_non_blocking(false, ec);
    EXPECT_EQ(ec, error::invalid_argument);
    p.a.close();
    p.a.non_blocking(false, ec);
    EXPECT_EQ(ec, error::bad_descriptor);
    p.a.native_non_blocking(true, ec);
    EXPECT_EQ(ec, error::bad_descriptor);
    EXPECT_FALSE(p.a.native_non_blocking());
    EXPECT_THROW(p.a.non_blocking(true), system_error);
}

bool waits(int fd) { return !(::fcntl(fd, F_GETFL) & O_NONBLOCK); }

TEST(Socket, W4_CallsOfOthersWaitUntilTheFirstAsynchronousOperation) {
    tcp_pair p;
    EXPECT_FALSE(p.a.native_non_blocking());
    EXPECT_TRUE(waits(p.a.native_handle()));
    EXPECT_TRUE(waits(p.b.native_handle()));
    p.b.async_wait(tcp::socket::wait_read, [](error_code) {});
    p.context.poll();
    EXPECT_TRUE(waits(p.b.native_handle())) << "waiting for readiness changes nothing";
    char byte;
    p.b.async_read_some(buffer(&byte, 1), [](error_code, std::size_t) {});
    p.context.poll();
    EXPECT_TRUE(p.b.native_non_blocking());
    EXPECT_FALSE(waits(p.b.native_handle()));
    p.a.write_some(buffer("xy", 2)); // one for the reader, one that the wait still finds
    p.context.run();
    EXPECT_FALSE(waits(p.b.native_handle()));
    EXPECT_TRUE(waits(p.a.native_handle()));
}

TEST(Socket, W4_AReleasedDescriptorIsAsItsNativeHandleWas) {
    tcp_pair p;
    char byte;
    p.b.async_read_some(buffer(&byte, 1), [](error_code, std::size_t) {});
    p.context.poll();
    int const untouched = p.a.release(), used = p.b.release();
    p.context.run();
    EXPECT_TRUE(waits(untouched));
    EXPECT_FALSE(waits(used));
    tcp::socket again(p.context, tcp::v4(), used), other(p.context, tcp::v4(), untouched);
    EXPECT_FALSE(waits(again.native_handle())) << "it is not known who made it so";
    EXPECT_TRUE(waits(other.native_handle()));
}

TEST(Socket, W4_NativeHandleOfANonBlockingSocketDoesNotWait) {
    tcp_pair p;
    p.a.non_blocking(true);
    EXPECT_TRUE(p.a.native_non_blocking());
    EXPECT_FALSE(waits(p.a.native_handle()));
    p.b.native_non_blocking(false);
    p.b.non_blocking(true);
    EXPECT_FALSE(waits(p.b.native_handle()));
    p.b.non_blocking(false);
    EXPECT_TRUE(waits(p.b.native_handle()));
    p.a.close();
    p.a.open(tcp::v4());
    EXPECT_FALSE(p.a.non_blocking()) << "a mode is the descriptor's";
    EXPECT_TRUE(waits(p.a.native_handle()));
}

// ---- accepting in all its forms

TEST(Acceptor, AcceptsInTheCallingThreadInEveryForm) {
    io_context context, other;
    tcp::acceptor acceptor(context, tcp::endpoint(ip::address_v4::loopback(), 0));
    std::vector<tcp::socket> clients;
    auto const knock = [&]() -> tcp::endpoint {
        clients.emplace_back(context).connect(acceptor.local_endpoint());
        return clients.back().local_endpoint();
    };
    tcp::endpoint from;
    error_code ec;
    tcp::socket peer(context);
    auto const closed_again = [&] { peer.close(); };
    knock();
    acceptor.accept(peer);
    closed_again();
    knock();
    acceptor.accept(peer, ec);
    closed_again();
    EXPECT_FALSE(ec);
    auto where = knock();
    acceptor.accept(peer, from);
    EXPECT_EQ(from, where);
    closed_again();
    where = knock();
    acceptor.accept(peer, from, ec);
    EXPECT_EQ(from, where);
    knock();
    EXPECT_TRUE(acceptor.accept().is_open());
    knock();
    EXPECT_TRUE(acceptor.accept(ec).is_open());
    where = knock();
    EXPECT_EQ(acceptor.accept(from).remote_endpoint(), where);
    EXPECT_EQ(from, where);
    where = knock();
    EXPECT_EQ(acceptor.accept(from, ec).remote_endpoint(), where);
    EXPECT_EQ(from, where);
    knock();
    EXPECT_EQ(acceptor.accept(other).get_executor(), other.get_executor());
    knock();
    EXPECT_TRUE(acceptor.accept(other, ec).is_open());
    where = knock();
    EXPECT_EQ(acceptor.accept(other, from).remote_endpoint(), where);
    EXPECT_EQ(from, where);
    where = knock();
    EXPECT_EQ(acceptor.accept(other, from, ec).remote_endpoint(), where);
    EXPECT_EQ(from, where);
    auto const executor = other.get_executor();
    knock();
    auto rebound_peer = acceptor.accept(executor);
    static_assert(std::is_same_v<decltype(rebound_peer), rebound<tcp::socket>>);
    knock();
    EXPECT_TRUE(acceptor.accept(executor, ec).is_open());
    where = knock();
    EXPECT_EQ(acceptor.accept(executor, from).remote_endpoint(), where);
    EXPECT_EQ(from, where);
    where = knock();
    EXPECT_EQ(acceptor.accept(executor, from, ec).remote_endpoint(), where);
    EXPECT_EQ(from, where);
    acceptor.non_blocking(true);
    EXPECT_FALSE(acceptor.accept(ec).is_open());
    EXPECT_EQ(ec, error::would_block);
    EXPECT_THROW(acceptor.accept(), system_error);
    EXPECT_THROW(acceptor.accept(peer), system_error);
}

TEST(Acceptor, TellsThePeersAddressAlsoWithANewSocket) {
    io_context context, other;
    tcp::acceptor acceptor(context, tcp::endpoint(ip::address_v4::loopback(), 0));
    tcp::socket client(context);
    std::array<tcp::endpoint, 3> from;
    int good = 0;
    auto const check = [&](tcp::endpoint const& e) {
        return [&good, &e](error_code ec, auto s) { good += !ec && s.remote_endpoint() == e; };
    };
    acceptor.async_accept(from[0], check(from[0]));
    acceptor.async_accept(other, from[1], check(from[1]));
    acceptor.async_accept(other.get_executor(), from[2], check(from[2]));
    for (int i = 0; i != 3; ++i) {
        client.connect(acceptor.local_endpoint());
        context.run_one();
        client.close();
    }
    context.run();
    EXPECT_EQ(good, 3);
}

TEST(Acceptor, SocketsOfAContextHaveItsExecutorAndGoIntoOnesOfAnyExecutor) {
    io_context context, other;
    tcp::acceptor acceptor(context, tcp::endpoint(ip::address_v4::loopback(), 0));
    std::vector<tcp::socket> clients;
    auto const knock = [&] {
        clients.emplace_back(context).connect(acceptor.local_endpoint());
        return clients.back().local_endpoint();
    };
    tcp::endpoint from;
    error_code ec;
    static_assert(std::is_same_v<decltype(acceptor.accept(other)), rebound<tcp::socket>>);
    static_assert(std::is_same_v<decltype(acceptor.accept(other, from, ec)), rebound<tcp::socket>>);

    rebound<tcp::socket> exact(context);
    tcp::socket any(context);
    auto where = knock();
    exact = acceptor.accept(other);
    EXPECT_EQ(exact.remote_endpoint(), where);
    EXPECT_EQ(exact.get_executor(), other.get_executor());
    where = knock();
    any = acceptor.accept(other, from);
    EXPECT_EQ(any.remote_endpoint(), where);
    EXPECT_EQ(any.get_executor(), any_io_executor(other.get_executor()));

    where = knock();
    acceptor.async_accept(other, from, [&](error_code e, rebound<tcp::socket> s) {
        ec = e;
        exact = std::move(s);
    });
    context.run();
    EXPECT_FALSE(ec);
    EXPECT_EQ(from, where);
    EXPECT_EQ(exact.remote_endpoint(), where);
    where = knock();
    acceptor.async_accept(other, [&](error_code, tcp::socket s) { any = std::move(s); });
    context.restart();
    context.run();
    EXPECT_EQ(any.remote_endpoint(), where);
}

TEST(Acceptor, AnAcceptedDescriptorThatNobodyCanTakeIsClosed) {
    io_context context;
    tcp::acceptor acceptor(context, tcp::endpoint(ip::address_v4::loopback(), 0));
    tcp::socket client(context);
    client.connect(acceptor.local_endpoint());
    tcp::socket peer(context);
    acceptor.accept(peer);
    tcp::socket second(context);
    second.connect(acceptor.local_endpoint());
    error_code ec;
    acceptor.accept(peer, ec); // peer is open
    EXPECT_EQ(ec, error::already_open);
    char byte;
    EXPECT_EQ(second.read_some(buffer(&byte, 1), ec), 0U);
    EXPECT_EQ(ec, error::eof);
}

TEST(Acceptor, AnAcceptedDescriptorThatTheOtherContextCannotTakeIsClosed) {
    sim::world world(1); // takes no descriptors
    io_context context;
    tcp::acceptor acceptor(context, tcp::endpoint(ip::address_v4::loopback(), 0));
    tcp::socket client(context), peer(world.context());
    client.connect(acceptor.local_endpoint());
    error_code ec;
    acceptor.accept(peer, ec);
    EXPECT_EQ(ec, error::operation_not_supported);
    EXPECT_FALSE(peer.is_open());
    char byte;
    EXPECT_EQ(client.read_some(buffer(&byte, 1), ec), 0U); // a failure shows as the test's time-out
    EXPECT_EQ(ec, error::eof);
}

// ---- connecting to one of several

TEST(Connect, DatagramSocketsAndConditionsHaveItToo) {
    io_context context;
    udp::socket receiver(context, udp::endpoint(ip::address_v4::loopback(), 0)), s(context);
    std::array<udp::endpoint, 2> const range{udp::endpoint(ip::address_v4::loopback(), 1), receiver.local_endpoint()};
    auto const second = [&](error_code const&, udp::endpoint const& e) { return e == range[1]; };
    EXPECT_EQ(connect(s, range, second), range[1]);
    EXPECT_EQ(s.remote_endpoint(), range[1]);
    s.close();
    udp::endpoint connected;
    async_connect(s, range, second, [&](error_code ec, udp::endpoint e) {
        EXPECT_FALSE(ec);
        connected = e;
    });
    context.run();
    EXPECT_EQ(connected, range[1]);
    error_code ec;
    connect(s, range, [](error_code const&, udp::endpoint const&) { return false; }, ec);
    EXPECT_EQ(ec, error::not_found);
    EXPECT_EQ(connect(s, range, ec), range[0]) << "of datagrams the first one always does";
}

TEST(Connect, OfIteratorsYieldsTheOneThatAnswered) {
    io_context context;
    tcp::acceptor acceptor(context, tcp::endpoint(ip::address_v4::loopback(), 0)),
        nobody(context, acceptor.local_endpoint().protocol());
    nobody.bind(tcp::endpoint(ip::address_v4::loopback(), 0)); // and nobody listens
    std::list<tcp::endpoint> const range{nobody.local_endpoint(), acceptor.local_endpoint()};
    using iterator = std::list<tcp::endpoint>::const_iterator;
    auto const second = std::next(range.begin());
    tcp::socket s(context);
    EXPECT_EQ(connect(s, range.begin(), range.end()), second);
    EXPECT_EQ(s.remote_endpoint(), *second);
    error_code ec;
    EXPECT_EQ(connect(s, range.begin(), second, ec), second) << "the end";
    EXPECT_EQ(ec, error::connection_refused);
    EXPECT_THROW(connect(s, range.begin(), second), system_error);
    int asked = 0;
    auto const count = [&asked](error_code const&, tcp::endpoint const&) { return ++asked == 2; };
    EXPECT_EQ(connect(s, range.begin(), range.end(), count), second);
    EXPECT_EQ(asked, 2);
    auto const none = [](error_code const&, tcp::endpoint const&) { return false; };
    EXPECT_EQ(connect(s, range.begin(), range.end(), none, ec), range.end());
    EXPECT_EQ(ec, error::not_found);

    std::vector<std::pair<error_code, iterator>> ends;
    auto const note = [&ends](error_code e, iterator at) { ends.emplace_back(e, at); };
    auto const run = [&context] {
        context.restart();
        context.run();
    };
    async_connect(s, range.begin(), range.end(), note);
    run();
    async_connect(s, range.begin(), second, note);
    run();
    async_connect(s, range.begin(), range.end(), none, note);
    run();
    async_connect(s, range.end(), range.end(), note);
    run();
    std::vector<std::pair<error_code, iterator>> const expected{{error_code(), second},
                                                                {error::connection_refused, second},
                                                                {error::not_found, range.end()},
                                                                {error::not_found, range.end()}};
    EXPECT_EQ(ends, expected);

    async_connect(s, range.begin(), range.end(), note);
    s.close();
    run();
    EXPECT_EQ(ends.back(), std::pair(error_code(error::operation_aborted), range.end()));
}

struct skip_one {
    template <class Iterator> Iterator operator()(error_code const&, Iterator at) const { return std::next(at); }
};

using endpoint_iterator = std::vector<tcp::endpoint>::const_iterator;
static_assert(is_endpoint_sequence<std::vector<tcp::endpoint>>::value);
static_assert(is_endpoint_sequence<tcp::resolver::results_type>::value && !is_endpoint_sequence<tcp::endpoint>::value);
static_assert(is_connect_condition<skip_one, endpoint_iterator>::value);
static_assert(is_connect_condition<bool (*)(error_code const&, tcp::endpoint const&), endpoint_iterator>::value);
static_assert(!is_connect_condition<void (*)(error_code, tcp::endpoint), endpoint_iterator>::value);
static_assert(!is_connect_condition<use_await_t, endpoint_iterator>::value);

TEST(Connect, ConditionsMayChooseThePositionInstead) {
    io_context context;
    tcp::acceptor acceptor(context, tcp::endpoint(ip::address_v4::loopback(), 0)),
        nobody(context, acceptor.local_endpoint().protocol());
    nobody.bind(tcp::endpoint(ip::address_v4::loopback(), 0)); // and nobody listens
    auto const there = acceptor.local_endpoint(), refused = nobody.local_endpoint();
    std::vector<tcp::endpoint> const range{refused, there, refused};
    using iterator = std::vector<tcp::endpoint>::const_iterator;
    std::vector<std::pair<error_code, tcp::endpoint>> asked;
    auto const next = [&asked](error_code const& e, iterator at) {
        asked.emplace_back(e, *at);
        return at;
    };
    skip_one const skip;
    auto const stop = [&range](error_code const& e, iterator at) { return e ? range.end() : at; };
    std::vector<std::pair<error_code, tcp::endpoint>> const first_two{{error_code(), refused},
                                                                      {error::connection_refused, there}};
    tcp::socket s(context);
    error_code ec;
    EXPECT_EQ(connect(s, range, next), there);
    EXPECT_EQ(asked, first_two);
    EXPECT_EQ(connect(s, range.begin(), range.end(), next), range.begin() + 1);
    EXPECT_EQ(connect(s, range, skip, ec), there);
    EXPECT_FALSE(ec);
    EXPECT_EQ(connect(s, range, stop, ec), tcp::endpoint()) << "the end is that of the caller's range";
    EXPECT_EQ(ec, error::connection_refused);
    EXPECT_EQ(connect(s, range.end(), range.end(), next, ec), range.end());
    EXPECT_EQ(ec, error::not_found);
    EXPECT_THROW(connect(s, range.begin(), range.end(), stop), system_error);

    tcp::endpoint connected;
    iterator at;
    auto const run = [&context] {
        context.restart();
        context.run();
    };
    asked.clear();
    async_connect(s, range, next, [&](error_code e, tcp::endpoint const& to) {
        ec = e;
        connected = to;
    });
    run();
    EXPECT_FALSE(ec);
    EXPECT_EQ(connected, there);
    EXPECT_EQ(asked, first_two);
    async_connect(s, range.begin(), range.end(), skip, [&](error_code e, iterator to) {
        ec = e;
        at = to;
    });
    run();
    EXPECT_FALSE(ec);
    EXPECT_EQ(at, range.begin() + 1);
    async_connect(s, range.begin(), range.end(), stop, [&](error_code e, iterator to) {
        ec = e;
        at = to;
    });
    run();
    EXPECT_EQ(ec, error::connection_refused);
    EXPECT_EQ(at, range.end());
    async_connect(s, range, [&](auto e, auto const& to) { // Generic, and a handler all the same.
        ec = e;
        connected = tcp::endpoint(to.address(), 1);
    });
    run();
    EXPECT_EQ(connected, tcp::endpoint(there.address(), 1));
}

TEST(Connect, OfIteratorsOfEntriesAndAwaited) {
    io_context context;
    tcp::acceptor acceptor(context, tcp::endpoint(ip::address_v4::loopback(), 0));
    tcp::resolver resolver(context);
    auto const found = resolver.resolve("127.0.0.1", std::to_string(acceptor.local_endpoint().port()));
    tcp::socket s(context);
    bool connected = false;
    auto const body = [](tcp::socket& socket, tcp::resolver::results_type entries, bool& done) -> awaitable<void> {
        auto const at = co_await async_connect(socket, entries.begin(), entries.end());
        done = at->endpoint() == socket.remote_endpoint();
    };
    co_spawn(context, body(s, found, connected), detached);
    context.run();
    EXPECT_TRUE(connected);
}

// ---- names

TEST(Resolver, ResultsThatSomebodyElseFoundAreConnectedTo) {
    io_context context;
    tcp::acceptor const acceptor(context, {ip::address_v4::loopback(), 0});
    std::vector<tcp::endpoint> const found{acceptor.local_endpoint(), {ip::address_v4::loopback(), 1}};
    auto const all = tcp::resolver::results_type::create(found.begin(), found.end(), "somewhere", "service");
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all.begin()->endpoint(), found[0]);
    EXPECT_EQ(all.begin()->host_name(), "somewhere");
    EXPECT_EQ(all.begin()->service_name(), "service");
    EXPECT_EQ(tcp::resolver::results_type::create(found[1], "h", "s").begin()->endpoint(), found[1]);
    EXPECT_TRUE(tcp::resolver::results_type::create(found.end(), found.end(), "h", "s").empty());

    tcp::socket socket(context);
    EXPECT_EQ(connect(socket, all), found[0]);
}

TEST(Resolver, ResolvesInEveryForm) {
    io_context context;
    tcp::resolver r(context);
    auto const numeric = tcp::resolver::numeric_host | tcp::resolver::numeric_service;
    error_code ec;
    tcp::endpoint const wanted(ip::address_v4::loopback(), 80);
    EXPECT_EQ(r.resolve("127.0.0.1", "80").begin()->endpoint(), wanted);
    EXPECT_EQ(r.resolve("127.0.0.1", "80", ec).begin()->endpoint(), wanted);
    EXPECT_EQ(r.resolve("127.0.0.1", "80", numeric).begin()->endpoint(), wanted);
    EXPECT_EQ(r.resolve("127.0.0.1", "80", numeric, ec).begin()->endpoint(), wanted);
    EXPECT_EQ(r.resolve(tcp::v4(), "127.0.0.1", "80").begin()->endpoint(), wanted);
    EXPECT_EQ(r.resolve(tcp::v4(), "127.0.0.1", "80", ec).begin()->endpoint(), wanted);
    EXPECT_EQ(r.resolve(tcp::v4(), "127.0.0.1", "80", numeric).begin()->endpoint(), wanted);
    EXPECT_EQ(r.resolve(tcp::v4(), "127.0.0.1", "80", numeric, ec).begin()->endpoint(), wanted);
    r.resolve(tcp::v6(), "127.0.0.1", "80", numeric, ec);
    EXPECT_TRUE(ec);
    EXPECT_THROW(r.resolve(tcp::v6(), "127.0.0.1", "80", numeric), system_error);
    tcp::resolver::results_type got;
    r.async_resolve(tcp::v4(), "127.0.0.1", "80", numeric,
                    [&](error_code, tcp::resolver::results_type found) { got = found; });
    context.run();
    ASSERT_EQ(got.size(), 1U);
    EXPECT_EQ(got, got);
    EXPECT_NE(got, tcp::resolver::results_type());
    tcp::resolver::results_type empty;
    got.swap(empty);
    EXPECT_TRUE(got.empty());
    EXPECT_EQ(got, tcp::resolver::results_type());
    EXPECT_EQ(empty.begin()->host_name(), "127.0.0.1");
    EXPECT_EQ(empty.begin()->service_name(std::allocator<char>()), "80");
}

TEST(Resolver, FindsTheNamesOfAnEndpoint) {
    io_context context;
    tcp::resolver r(context);
    tcp::endpoint const e(ip::address_v4::loopback(), 65'432); // no service has it
    auto const found = r.resolve(e);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found.begin()->endpoint(), e);
    EXPECT_EQ(found.begin()->host_name(), "localhost");
    EXPECT_EQ(found.begin()->service_name(), "65432");
    EXPECT_EQ(r.resolve(tcp::endpoint(ip::address_v6::loopback(), 65'432)).begin()->host_name(), "localhost");
    tcp::resolver::results_type later;
    r.async_resolve(e, [&](error_code ec, tcp::resolver::results_type results) {
        EXPECT_FALSE(ec);
        later = results;
    });
    EXPECT_TRUE(later.empty());
    context.run();
    ASSERT_EQ(later.size(), 1U);
    EXPECT_EQ(later.begin()->host_name(), found.begin()->host_name());
    EXPECT_EQ(later.begin()->service_name(), "65432");
    error_code ec;
    EXPECT_EQ(r.resolve(e, ec).size(), 1U);
    bool aborted = false;
    r.async_resolve(e, [&](error_code failed, tcp::resolver::results_type) {
        aborted = failed == error::operation_aborted || !failed;
    });
    r.cancel();
    context.restart();
    context.run();
    EXPECT_TRUE(aborted);
}

TEST(HostName, IsTheMachines) {
    char name[256] = {};
    ASSERT_EQ(::gethostname(name, sizeof name - 1), 0);
    EXPECT_EQ(ip::host_name(), name);
    error_code ec = error::eof;
    EXPECT_EQ(ip::host_name(ec), name);
    EXPECT_FALSE(ec);
}

TEST(ResolverBase, FlagsAreBits) {
    using r = ip::resolver_base;
    auto f = r::passive | r::numeric_host;
    EXPECT_EQ(f & r::passive, r::passive);
    f ^= r::passive;
    EXPECT_EQ(f, r::numeric_host);
    f |= r::canonical_name;
    f &= ~r::numeric_host;
    EXPECT_EQ(f, r::canonical_name);
}

TEST(Endpoints, AreKeysOfHashTables) {
    std::unordered_map<tcp::endpoint, int> by_endpoint;
    std::unordered_map<ip::address, int> by_address;
    std::unordered_map<ip::address_v4, int> by_v4;
    std::unordered_map<ip::address_v6, int> by_v6;
    by_endpoint[{ip::address_v4::loopback(), 1}] = 1;
    by_endpoint[{ip::address_v4::loopback(), 2}] = 2;
    by_address[ip::address_v6::loopback()] = 3;
    by_v4[ip::address_v4::loopback()] = 4;
    by_v6[ip::address_v6::loopback()] = 5;
    EXPECT_EQ(by_endpoint.at({ip::address_v4::loopback(), 2}), 2);
    EXPECT_EQ(by_address.at(ip::make_address("::1")), 3);
}

} // namespace
