#include <fairlead/net/multicast_options.hpp>
#include <fairlead/net/socket_options.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <initializer_list>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace {

using fairlead::socket_base;
namespace ip = fairlead::ip;

struct family_v4 {
    static int family() { return AF_INET; }
};
struct family_v6 {
    static int family() { return AF_INET6; }
};

class real_socket {
public:
    real_socket(int family, int type) : fd_(::socket(family, type, 0)) {}
    ~real_socket() { ::close(fd_); }
    real_socket(real_socket const&) = delete;
    real_socket& operator=(real_socket const&) = delete;
    bool is_open() const { return fd_ >= 0; }
    int fd() const { return fd_; }

    template <typename Protocol, typename Option> bool set(Protocol p, Option const& o) {
        return ::setsockopt(fd_, o.level(p), o.name(p), o.data(p), static_cast<socklen_t>(o.size(p))) == 0;
    }
    template <typename Protocol, typename Option> bool get(Protocol p, Option& o) {
        auto size = static_cast<socklen_t>(o.size(p));
        if (::getsockopt(fd_, o.level(p), o.name(p), o.data(p), &size) != 0)
            return false;
        o.resize(p, size);
        return true;
    }

private:
    int fd_;
};

// On, off and on again through a real socket.
template <typename Option, typename Protocol> void expect_switches(int type, Protocol p) {
    real_socket s(p.family(), type);
    if (!s.is_open())
        GTEST_SKIP() << "no socket of family " << p.family();
    for (bool on : {true, false, true}) {
        ASSERT_TRUE(s.set(p, Option(on))) << std::strerror(errno);
        Option read_back(!on);
        ASSERT_TRUE(s.get(p, read_back)) << std::strerror(errno);
        EXPECT_EQ(read_back.value(), on);
    }
}

TEST(SocketOptions, BooleanOptionsReachTheKernel) {
    expect_switches<socket_base::reuse_address>(SOCK_STREAM, family_v4());
    expect_switches<socket_base::reuse_port>(SOCK_STREAM, family_v4());
    expect_switches<socket_base::keep_alive>(SOCK_STREAM, family_v4());
    expect_switches<socket_base::broadcast>(SOCK_DGRAM, family_v4());
    expect_switches<socket_base::do_not_route>(SOCK_DGRAM, family_v4());
    expect_switches<socket_base::out_of_band_inline>(SOCK_STREAM, family_v4());
    expect_switches<ip::v6_only>(SOCK_STREAM, family_v6());
    expect_switches<ip::multicast::enable_loopback>(SOCK_DGRAM, family_v4());
    expect_switches<ip::multicast::enable_loopback>(SOCK_DGRAM, family_v6());
    expect_switches<fairlead::impl::net::socket_option::boolean<IPPROTO_TCP, TCP_NODELAY>>(SOCK_STREAM, family_v4());
}

TEST(SocketOptions, IntegerOptionsReachTheKernel) {
    real_socket s(AF_INET, SOCK_STREAM);
    ASSERT_TRUE(s.is_open());
    ASSERT_TRUE(s.set(family_v4(), socket_base::send_buffer_size(20000)));
    ASSERT_TRUE(s.set(family_v4(), socket_base::receive_buffer_size(20000)));
    ASSERT_TRUE(s.set(family_v4(), socket_base::receive_low_watermark(7)));
    ASSERT_TRUE(s.set(family_v4(), ip::unicast::hops(42)));
    socket_base::send_buffer_size send;
    socket_base::receive_buffer_size receive;
    socket_base::receive_low_watermark low;
    socket_base::send_low_watermark send_low;
    ip::unicast::hops hops;
    ASSERT_TRUE(s.get(family_v4(), send) && s.get(family_v4(), receive) && s.get(family_v4(), low) &&
                s.get(family_v4(), send_low));
    ASSERT_TRUE(s.get(family_v4(), hops));
    EXPECT_EQ(send.value(), 20000); // The kernel doubles it for its own bookkeeping.
    EXPECT_EQ(receive.value(), 20000);
    EXPECT_EQ(low.value(), 7);
    EXPECT_EQ(send_low.value(), 1);
    EXPECT_EQ(hops.value(), 42);
}

TEST(SocketOptions, HopsHaveAPlaceInEachVersionOfTheProtocol) {
    for (int value : {0, 1, 255}) {
        real_socket four(AF_INET, SOCK_DGRAM);
        ip::multicast::hops hops(7);
        ASSERT_TRUE(four.set(family_v4(), ip::multicast::hops(value)) && four.get(family_v4(), hops));
        EXPECT_EQ(hops.value(), value);
        real_socket six(AF_INET6, SOCK_DGRAM);
        if (!six.is_open())
            continue; // A kernel without IPv6.
        ASSERT_TRUE(six.set(family_v6(), ip::multicast::hops(value)) && six.get(family_v6(), hops));
        EXPECT_EQ(hops.value(), value);
        ip::unicast::hops unicast;
        ASSERT_TRUE(six.set(family_v6(), ip::unicast::hops(9)) && six.get(family_v6(), unicast));
        EXPECT_EQ(unicast.value(), 9);
    }
}

TEST(SocketOptions, MulticastHopsOutsideOneByteAreRefused) {
    EXPECT_THROW(ip::multicast::hops(-1), std::out_of_range);
    EXPECT_THROW(ip::multicast::hops(256), std::out_of_range);
    ip::multicast::hops hops(255);
    EXPECT_THROW(hops = 256, std::out_of_range);
    EXPECT_EQ(hops.value(), 255);
    hops = 0;
    EXPECT_EQ(hops.value(), 0);
}

TEST(SocketOptions, LingerReachesTheKernel) {
    real_socket s(AF_INET, SOCK_STREAM);
    ASSERT_TRUE(s.set(family_v4(), socket_base::linger(true, 30)));
    socket_base::linger read_back;
    EXPECT_FALSE(read_back.enabled());
    EXPECT_EQ(read_back.timeout(), 0);
    ASSERT_TRUE(s.get(family_v4(), read_back));
    EXPECT_TRUE(read_back.enabled());
    EXPECT_EQ(read_back.timeout(), 30);
    read_back.enabled(false);
    read_back.timeout(5);
    ASSERT_TRUE(s.set(family_v4(), read_back) && s.get(family_v4(), read_back));
    EXPECT_FALSE(read_back.enabled());
}

TEST(SocketOptions, BooleanBehavesAsABool) {
    socket_base::keep_alive o;
    EXPECT_FALSE(o);
    EXPECT_TRUE(!o);
    o = true;
    EXPECT_TRUE(o);
    EXPECT_TRUE(o.value());
    EXPECT_FALSE(!o);
    static_assert(!std::is_convertible_v<bool, socket_base::keep_alive>);
    static_assert(!std::is_convertible_v<int, socket_base::send_buffer_size>);
}

TEST(SocketOptions, AnswersOfAnotherSizeAreErrorsButForOneByteBooleans) {
    socket_base::keep_alive boolean(true);
    socket_base::send_buffer_size integer(1);
    socket_base::linger linger(true, 1);
    for (std::size_t size : {0u, 2u, 3u, 5u, 8u})
        EXPECT_THROW(boolean.resize(family_v4(), size), std::length_error) << size;
    for (std::size_t size : {0u, 1u, 3u, 5u, 8u})
        EXPECT_THROW(integer.resize(family_v4(), size), std::length_error) << size;
    for (std::size_t size : {0u, 4u, 7u, 9u})
        EXPECT_THROW(linger.resize(family_v4(), size), std::length_error) << size;
    EXPECT_NO_THROW(boolean.resize(family_v4(), 4));
    EXPECT_NO_THROW(integer.resize(family_v4(), 4));
    EXPECT_NO_THROW(linger.resize(family_v4(), 8));

    int const only_high_bytes = 0x01010100;
    std::memcpy(boolean.data(family_v4()), &only_high_bytes, sizeof only_high_bytes);
    boolean.resize(family_v4(), 1);
    EXPECT_FALSE(boolean.value());
}

TEST(SocketOptions, ConnectionAbortedIsOursAlone) {
    socket_base::enable_connection_aborted const option(true);
    EXPECT_EQ(option.level(family_v4()), fairlead::impl::net::custom_option_level);
    EXPECT_EQ(option.name(family_v4()), fairlead::impl::net::enable_connection_aborted_name);
    real_socket s(AF_INET, SOCK_STREAM);
    EXPECT_FALSE(s.set(family_v4(), option));
}

TEST(SocketOptions, BytesReadableReadsTheKernelsAnswer) {
    int pair[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    ASSERT_EQ(::send(pair[0], "hello", 5, 0), 5);
    socket_base::bytes_readable command(99);
    EXPECT_EQ(command.get(), 99u);
    ASSERT_EQ(::ioctl(pair[1], static_cast<unsigned long>(command.name()), command.data()), 0);
    EXPECT_EQ(command.get(), 5u);
    ::close(pair[0]);
    ::close(pair[1]);
}

TEST(SocketBase, ConstantsAreTheSystems) {
    static_assert(int{socket_base::shutdown_receive} == SHUT_RD && int{socket_base::shutdown_both} == SHUT_RDWR);
    static_assert(socket_base::message_peek == MSG_PEEK && socket_base::max_listen_connections == SOMAXCONN);
    static_assert(std::is_same_v<socket_base::message_flags, int>);
    static_assert(!std::is_default_constructible_v<socket_base> && std::is_empty_v<socket_base>);
}

} // namespace
