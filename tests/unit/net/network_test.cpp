#include <fairlead/net/network.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace fairlead;
namespace ip = fairlead::ip;

ip::address_v4 v4(char const* text) { return ip::make_address_v4(text); }
ip::address_v6 v6(char const* text) { return ip::make_address_v6(text); }

TEST(AddressIterator, CountsOverTheLimitsOfBytes) {
    ip::address_v4_iterator i(v4("10.0.255.255"));
    EXPECT_EQ(*++i, v4("10.1.0.0"));
    EXPECT_EQ(*i--, v4("10.1.0.0"));
    EXPECT_EQ(*i++, v4("10.0.255.255"));
    EXPECT_EQ(*--i, v4("10.0.255.255"));
    EXPECT_EQ(i->to_string(), "10.0.255.255");
    ip::address_v4_iterator last(v4("255.255.255.255"));
    EXPECT_EQ(*++last, v4("0.0.0.0"));
    EXPECT_EQ(*--last, v4("255.255.255.255"));
    ip::address_v6_iterator j(v6("fe80::ffff:ffff%3"));
    EXPECT_EQ(*++j, v6("fe80::1:0:0%3"));
    EXPECT_EQ(*--j, v6("fe80::ffff:ffff%3"));
}

TEST(AddressRange, HasItsFirstAndNotItsLast) {
    ip::address_v4_range const r(v4("10.0.0.254"), v4("10.0.1.2"));
    std::vector<std::string> all;
    for (auto const& a : r)
        all.push_back(a.to_string());
    EXPECT_EQ(all, (std::vector<std::string>{"10.0.0.254", "10.0.0.255", "10.0.1.0", "10.0.1.1"}));
    EXPECT_EQ(r.size(), 4U);
    EXPECT_FALSE(r.empty());
    EXPECT_EQ(*r.find(v4("10.0.1.0")), v4("10.0.1.0"));
    EXPECT_EQ(r.find(v4("10.0.1.2")), r.end());
    EXPECT_EQ(r.find(v4("10.0.0.253")), r.end());
    EXPECT_TRUE(ip::address_v4_range().empty());
    ip::address_v6_range const s(v6("::fffe"), v6("::1:1"));
    EXPECT_EQ(std::distance(s.begin(), s.end()), 3);
    EXPECT_EQ(s.find(v6("::1:1")), s.end());
}

TEST(NetworkV4, KnowsItsParts) {
    auto const n = ip::make_network_v4("192.168.77.100/24");
    EXPECT_EQ(n.address(), v4("192.168.77.100"));
    EXPECT_EQ(n.prefix_length(), 24);
    EXPECT_EQ(n.netmask(), v4("255.255.255.0"));
    EXPECT_EQ(n.network(), v4("192.168.77.0"));
    EXPECT_EQ(n.broadcast(), v4("192.168.77.255"));
    EXPECT_EQ(n.canonical().to_string(), "192.168.77.0/24");
    EXPECT_EQ(n.to_string(), "192.168.77.100/24");
    EXPECT_FALSE(n.is_host());
    EXPECT_EQ(n.hosts().size(), 254U);
    EXPECT_EQ(*n.hosts().begin(), v4("192.168.77.1"));
    EXPECT_EQ(*n.hosts().end(), v4("192.168.77.255"));
    ip::network_v4 const host(v4("10.1.2.3"), 32);
    EXPECT_TRUE(host.is_host());
    EXPECT_EQ(host.hosts().size(), 1U);
    EXPECT_EQ(*host.hosts().begin(), v4("10.1.2.3"));
    ip::network_v4 const all(v4("10.1.2.3"), 0);
    EXPECT_EQ(all.netmask(), v4("0.0.0.0"));
    EXPECT_EQ(all.broadcast(), v4("255.255.255.255"));
    for (unsigned short bits = 0; bits <= 32; ++bits) {
        ip::network_v4 const each(v4("170.85.170.85"), bits);
        EXPECT_EQ(ip::make_network_v4(each.address(), each.netmask()), each) << bits;
        EXPECT_EQ(ip::make_network_v4(each.to_string()), each);
    }
}

TEST(NetworkV4, ASubnetIsSmaller) {
    auto const big = ip::make_network_v4("192.168.0.0/16"), small = ip::make_network_v4("192.168.77.0/24");
    EXPECT_TRUE(small.is_subnet_of(big));
    EXPECT_FALSE(big.is_subnet_of(small));
    EXPECT_FALSE(big.is_subnet_of(big));
    EXPECT_FALSE(ip::make_network_v4("192.169.77.0/24").is_subnet_of(big));
}

TEST(NetworkV4, WhatIsNoneIsRefused) {
    EXPECT_THROW(ip::network_v4(v4("1.2.3.4"), 33), std::out_of_range);
    EXPECT_THROW(ip::network_v4(v4("1.2.3.4"), v4("255.0.255.0")), std::invalid_argument);
    EXPECT_THROW(ip::network_v4(v4("1.2.3.4"), v4("255.255.253.0")), std::invalid_argument);
    for (char const* text : {"", "/", "1.2.3.4", "1.2.3.4/", "/24", "1.2.3/24", "1.2.3.4/33", "1.2.3.4/-1",
                             "1.2.3.4/ 8", "1.2.3.4/8x", "1.2.3.4/8/8", "::1/8", "1.2.3.4/4294967304"}) {
        error_code ec;
        EXPECT_EQ(ip::make_network_v4(text, ec), ip::network_v4()) << text;
        EXPECT_EQ(ec, error::invalid_argument) << text;
        EXPECT_THROW((void)ip::make_network_v4(text), system_error);
    }
}

TEST(NetworkV6, KnowsItsParts) {
    auto const n = ip::make_network_v6("2001:db8::1:2/65");
    EXPECT_EQ(n.address(), v6("2001:db8::1:2"));
    EXPECT_EQ(n.prefix_length(), 65);
    EXPECT_EQ(n.network(), v6("2001:db8::"));
    EXPECT_EQ(n.canonical().to_string(), "2001:db8::/65");
    EXPECT_EQ(n.to_string(), "2001:db8::1:2/65");
    EXPECT_EQ(*n.hosts().begin(), v6("2001:db8::"));
    EXPECT_EQ(*n.hosts().end(), v6("2001:db8::8000:0:0:0"));
    ip::network_v6 const host(v6("::5"), 128);
    EXPECT_TRUE(host.is_host());
    EXPECT_EQ(std::distance(host.hosts().begin(), host.hosts().end()), 1);
    auto const small = ip::make_network_v6("2001:db8:0:1::/64"), big = ip::make_network_v6("2001:db8::/32");
    EXPECT_TRUE(small.is_subnet_of(big));
    EXPECT_FALSE(big.is_subnet_of(small) || big.is_subnet_of(big));
}

TEST(NetworkV6, WhatIsNoneIsRefused) {
    EXPECT_THROW(ip::network_v6(v6("::1"), 129), std::out_of_range);
    for (char const* text : {"", "::1", "::1/129", "::1/", "1.2.3.4/8", "::1/x"}) {
        error_code ec;
        EXPECT_EQ(ip::make_network_v6(text, ec), ip::network_v6()) << text;
        EXPECT_EQ(ec, error::invalid_argument) << text;
    }
}

} // namespace
