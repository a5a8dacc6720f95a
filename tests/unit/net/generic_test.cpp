#include <fairlead/net/generic.hpp>

#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/connect.hpp>
#include <fairlead/net/datagram_socket.hpp>
#include <fairlead/net/raw_socket.hpp>
#include <fairlead/net/seq_packet_socket.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <unistd.h>

#include <netinet/in.h>
#include <sys/socket.h>

namespace {

using namespace fairlead;
using ip::tcp;
using ip::udp;

static_assert(std::is_convertible_v<tcp::socket&&, generic::stream_protocol::socket>);
static_assert(std::is_convertible_v<local::stream_protocol::socket&&, generic::stream_protocol::socket>);
static_assert(std::is_convertible_v<udp::socket&&, generic::datagram_protocol::socket>);
static_assert(std::is_convertible_v<tcp::acceptor&&, generic::stream_protocol::acceptor>);
static_assert(std::is_convertible_v<ip::icmp::socket&&, generic::raw_protocol::socket>);
static_assert(!std::is_convertible_v<generic::stream_protocol::socket&&, tcp::socket>);
static_assert(std::is_convertible_v<tcp::endpoint, generic::stream_protocol::endpoint>);

local::stream_protocol::endpoint unused_path() {
    return std::string(1, '\0').append("fairlead-generic-").append(std::to_string(::getpid()));
}

TEST(GenericProtocol, IsMadeOfAnyProtocolOfItsKind) {
    generic::stream_protocol const p(AF_INET, IPPROTO_TCP);
    EXPECT_EQ(p.family(), AF_INET);
    EXPECT_EQ(p.type(), SOCK_STREAM);
    EXPECT_EQ(p.protocol(), IPPROTO_TCP);
    EXPECT_EQ(generic::stream_protocol(tcp::v4()), p);
    EXPECT_NE(generic::stream_protocol(tcp::v6()), p);
    EXPECT_EQ(generic::datagram_protocol(udp::v6()).family(), AF_INET6);
    EXPECT_EQ(generic::seq_packet_protocol(local::seq_packet_protocol()).type(), SOCK_SEQPACKET);
    EXPECT_EQ(generic::raw_protocol(ip::icmp::v6()).protocol(), IPPROTO_ICMPV6);
    EXPECT_THROW(generic::stream_protocol{udp::v4()}, std::bad_cast);
    EXPECT_THROW(generic::datagram_protocol{tcp::v4()}, std::bad_cast);
}

TEST(GenericEndpoint, HoldsTheAddressesOfOtherProtocols) {
    using endpoint = generic::stream_protocol::endpoint;
    endpoint const none;
    EXPECT_EQ(none.protocol().family(), AF_UNSPEC);
    tcp::endpoint const t(ip::address_v4::loopback(), 80);
    endpoint const e(t);
    EXPECT_EQ(e.size(), t.size());
    EXPECT_EQ(e.protocol(), tcp::v4());
    EXPECT_EQ(e, endpoint(t.data(), t.size(), IPPROTO_TCP));
    EXPECT_NE(e, none);
    EXPECT_TRUE(none < e);
    EXPECT_EQ(std::hash<endpoint>()(e), std::hash<endpoint>()(endpoint(t)));
    EXPECT_EQ(endpoint(unused_path()).protocol().family(), AF_UNIX);
    endpoint changed(e);
    EXPECT_THROW(changed.resize(endpoint::capacity() + 1), system_error);
    char const too_long[200] = {};
    EXPECT_THROW(endpoint(too_long, sizeof too_long), system_error);
}

TEST(GenericSocket, ConnectsToAnyFamily) {
    io_context context;
    tcp::acceptor by_tcp(context, tcp::endpoint(ip::address_v4::loopback(), 0));
    local::stream_protocol::acceptor by_path(context, unused_path());
    generic::stream_protocol::socket a(context), b(context);
    bool connected = false;
    a.async_connect(generic::stream_protocol::endpoint(by_tcp.local_endpoint()),
                    [&](error_code ec) { connected = !ec; });
    context.run();
    EXPECT_TRUE(connected);
    EXPECT_EQ(a.remote_endpoint(), generic::stream_protocol::endpoint(by_tcp.local_endpoint()));
    b.connect(by_path.local_endpoint());
    auto const peer = by_path.accept();
    EXPECT_TRUE(peer.is_open());
    // An option has its place by the family.
    ip::unicast::hops hops(9);
    a.set_option(hops);
    hops = 0;
    a.get_option(hops);
    EXPECT_EQ(hops.value(), 9);
}

TEST(GenericSocket, TakesOverASocketWithItsPendingOperations) {
    io_context context;
    local::stream_protocol::socket a(context), b(context);
    local::connect_pair(a, b);
    std::size_t got = 0;
    char bytes[8];
    a.async_read_some(buffer(bytes), [&](error_code, std::size_t n) { got = n; });
    context.poll();
    generic::stream_protocol::socket g(std::move(a));
    EXPECT_FALSE(a.is_open());
    EXPECT_TRUE(g.is_open());
    b.write_some(buffer("abc", 3));
    context.run();
    EXPECT_EQ(got, 3U);
    generic::stream_protocol::socket h(context);
    h = std::move(b);
    EXPECT_TRUE(h.is_open());
    EXPECT_EQ(h.write_some(buffer("xy", 2)), 2U);
}

TEST(GenericSocket, OptionsOfVersion6FindTheirPlace) {
    io_context context;
    tcp::socket s(context);
    error_code ec;
    s.open(tcp::v6(), ec);
    if (ec)
        GTEST_SKIP() << "no IPv6 here: " << ec.message();
    generic::stream_protocol::socket g(std::move(s));
    ip::unicast::hops hops(7);
    g.set_option(hops);
    hops = 0;
    g.get_option(hops);
    EXPECT_EQ(hops.value(), 7);
    int raw = 0;
    socklen_t size = sizeof raw;
    ASSERT_EQ(::getsockopt(g.native_handle(), IPPROTO_IPV6, IPV6_UNICAST_HOPS, &raw, &size), 0);
    EXPECT_EQ(raw, 7);
}

TEST(GenericSocket, AnAcceptorAcceptsIntoIt) {
    io_context context;
    tcp::acceptor acceptor(context, tcp::endpoint(ip::address_v4::loopback(), 0));
    tcp::socket client(context), second(context);
    client.connect(acceptor.local_endpoint());
    generic::stream_protocol::socket peer(context), later(context);
    acceptor.accept(peer);
    EXPECT_TRUE(peer.is_open());
    second.connect(acceptor.local_endpoint());
    tcp::endpoint from;
    acceptor.async_accept(later, from, [](error_code ec) { EXPECT_FALSE(ec); });
    context.run();
    EXPECT_EQ(from, second.local_endpoint());
    generic::stream_protocol::acceptor g(std::move(acceptor));
    EXPECT_TRUE(g.is_open());
}

TEST(GenericSocket, DatagramsOfAnyFamily) {
    io_context context;
    udp::socket receiver(context, udp::endpoint(ip::address_v4::loopback(), 0));
    generic::datagram_protocol::socket s(context, generic::datagram_protocol(udp::v4()));
    generic::datagram_protocol::endpoint const to(receiver.local_endpoint());
    EXPECT_EQ(s.send_to(buffer("ping", 4), to), 4U);
    char bytes[8];
    udp::endpoint from;
    EXPECT_EQ(receiver.receive_from(buffer(bytes), from), 4U);
    EXPECT_EQ(generic::datagram_protocol::endpoint(from).protocol().family(), AF_INET);
    std::size_t got = 0;
    generic::datagram_protocol::endpoint sender;
    s.async_receive_from(buffer(bytes), sender, [&](error_code, std::size_t n) { got = n; });
    receiver.send_to(buffer("pong!", 5), from);
    context.run();
    EXPECT_EQ(got, 5U);
    EXPECT_EQ(sender, to);
}

TEST(RawSocket, NeedsAPrivilege) {
    io_context context;
    ip::icmp::socket s(context);
    error_code ec;
    s.open(ip::icmp::v4(), ec);
    if (::geteuid() != 0) {
        EXPECT_EQ(ec, error::no_permission);
        EXPECT_FALSE(s.is_open());
    }
    using rebound_socket = ip::icmp::socket::rebind_executor<io_context::executor_type>::other;
    static_assert(std::is_same_v<rebound_socket, basic_raw_socket<ip::icmp, io_context::executor_type>>);
    if (ec)
        GTEST_SKIP() << "without the privilege: " << ec.message();
    // An echo request to this computer comes back, with the header of the internet protocol in front.
    unsigned char request[8] = {8, 0, 0, 0, 0x12, 0x34, 0, 1};
    unsigned sum = 0;
    for (int i = 0; i != 8; i += 2)
        sum += static_cast<unsigned>(request[i] << 8 | request[i + 1]);
    sum = ~((sum >> 16) + (sum & 0xFFFF));
    request[2] = static_cast<unsigned char>(sum >> 8);
    request[3] = static_cast<unsigned char>(sum);
    s.send_to(buffer(request), ip::icmp::endpoint(ip::address_v4::loopback(), 0));
    unsigned char bytes[64];
    ip::icmp::endpoint from;
    std::size_t n = 0;
    s.async_receive_from(buffer(bytes), from, [&](error_code, std::size_t got) { n = got; });
    context.run();
    EXPECT_EQ(n, 28U);
    EXPECT_EQ(from.address(), ip::address_v4::loopback());
}

} // namespace
