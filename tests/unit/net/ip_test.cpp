#include <fairlead/net/ip.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace {

using namespace std::string_view_literals;
namespace ip = fairlead::ip;
using fairlead::error_code;
using ip::tcp;
using ip::udp;

bool accepts_v4(std::string_view text) {
    error_code ec;
    ip::address_v4 const a = ip::make_address_v4(text, ec);
    if (ec) {
        EXPECT_EQ(ec, fairlead::error::invalid_argument);
        EXPECT_EQ(a, ip::address_v4());
    }
    return !ec;
}

bool accepts_v6(std::string_view text) {
    error_code ec;
    ip::address_v6 const a = ip::make_address_v6(text, ec);
    if (ec) {
        EXPECT_EQ(ec, fairlead::error::invalid_argument);
        EXPECT_EQ(a, ip::address_v6());
    }
    return !ec;
}

bool accepts(std::string_view text) {
    error_code ec;
    (void)ip::make_address(text, ec);
    EXPECT_EQ(!ec, accepts_v4(text) || accepts_v6(text));
    return !ec;
}

std::string round_trip(std::string_view text) { return ip::make_address(text).to_string(); }

// ---- Version 4

TEST(AddressV4, ConvertsBetweenNumberBytesAndText) {
    ip::address_v4 const a(0x01020304);
    EXPECT_EQ(a.to_uint(), 0x01020304u);
    EXPECT_EQ(a.to_bytes(), (ip::address_v4::bytes_type{1, 2, 3, 4}));
    EXPECT_EQ(a.to_string(), "1.2.3.4");
    EXPECT_EQ(ip::address_v4(a.to_bytes()), a);
    EXPECT_EQ(ip::make_address_v4(0x01020304), a);
    EXPECT_EQ(ip::make_address_v4(a.to_bytes()), a);
    EXPECT_EQ(ip::make_address_v4("1.2.3.4"), a);
    EXPECT_EQ(ip::make_address_v4(std::string("1.2.3.4")), a);
    EXPECT_EQ(ip::address_v4().to_string(), "0.0.0.0");
    EXPECT_EQ(ip::address_v4::broadcast().to_string(), "255.255.255.255");
    static_assert(ip::address_v4::loopback().to_bytes()[0] == 127);
}

TEST(AddressV4, KnowsItsRanges) {
    EXPECT_TRUE(ip::address_v4::any().is_unspecified());
    EXPECT_FALSE(ip::address_v4(1).is_unspecified());
    for (auto const* text : {"127.0.0.0", "127.0.0.1", "127.255.255.255"})
        EXPECT_TRUE(ip::make_address_v4(text).is_loopback()) << text;
    for (auto const* text : {"126.255.255.255", "128.0.0.0"})
        EXPECT_FALSE(ip::make_address_v4(text).is_loopback()) << text;
    for (auto const* text : {"224.0.0.0", "239.255.255.255"})
        EXPECT_TRUE(ip::make_address_v4(text).is_multicast()) << text;
    for (auto const* text : {"223.255.255.255", "240.0.0.0"})
        EXPECT_FALSE(ip::make_address_v4(text).is_multicast()) << text;
}

TEST(AddressV4, TextThatIsNotFourPlainNumbersIsRefused) {
    for (auto text : {"",
                      ".",
                      "...",
                      "1",
                      "1.2",
                      "1.2.3",
                      "1.2.3.",
                      ".1.2.3",
                      "1..2.3",
                      "1.2.3.4.",
                      "1.2.3.4.5",
                      "256.0.0.0",
                      "0.0.0.256",
                      "999.1.1.1",
                      "4294967296.0.0.0",
                      "1.2.3.18446744073709551617",
                      "01.2.3.4",
                      "1.2.3.04",
                      "00.0.0.0",
                      "1.2.3.000",
                      "0x1.2.3.4",
                      "1.2.3.a",
                      "-1.2.3.4",
                      "+1.2.3.4",
                      " 1.2.3.4",
                      "1.2.3.4 ",
                      "1.2.3. 4",
                      "1.2.3.4\n",
                      "1,2,3,4",
                      "1.2.3.4%1",
                      "1.2.3.4:80",
                      "::1",
                      "localhost",
                      "１.2.3.4"})
        EXPECT_FALSE(accepts_v4(text)) << text;
    for (auto text : {"0.0.0.0", "9.10.99.100", "199.200.249.250", "255.255.255.255"})
        EXPECT_TRUE(accepts_v4(text)) << text;
}

// ---- Version 6

TEST(AddressV6, PrintsTheShortestText) {
    std::pair<char const*, char const*> const cases[] = {
        {"::", "::"},
        {"::1", "::1"},
        {"1::", "1::"},
        {"0:0:0:0:0:0:0:0", "::"},
        {"1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"},
        {"1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"},
        {"::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"},
        {"1:0:3:4:5:6:7:8", "1:0:3:4:5:6:7:8"},
        {"1:0:0:4:5:6:7:8", "1::4:5:6:7:8"},
        {"1:0:0:4:0:0:7:8", "1::4:0:0:7:8"},
        {"1:0:0:4:0:0:0:8", "1:0:0:4::8"},
        {"2001:DB8::0A0b", "2001:db8::a0b"},
        {"FFFF:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
        {"::ffff:1.2.3.4", "::ffff:1.2.3.4"},
        {"::ffff:0102:0304", "::ffff:1.2.3.4"},
        {"::1.2.3.4", "::1.2.3.4"},
        {"1::1.2.3.4", "1::102:304"},
        {"1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"},
        {"fe80::1%0", "fe80::1"},
        {"fe80::1%1", "fe80::1%1"},
        {"fe80::1%4294967295", "fe80::1%4294967295"},
        {"::%7", "::%7"},
    };
    for (auto const& [text, expected] : cases) {
        EXPECT_EQ(round_trip(text), expected) << text;
        EXPECT_EQ(round_trip(expected), expected);
    }
}

TEST(AddressV6, TextThatIsNoAddressIsRefused) {
    for (auto text : {"",
                      ":",
                      ":::",
                      "::::",
                      "1",
                      "1:",
                      ":1",
                      "1:2:3:4:5:6:7",
                      "1:2:3:4:5:6:7:",
                      ":2:3:4:5:6:7:8",
                      "1:2:3:4:5:6:7:8:",
                      "1:2:3:4:5:6:7:8:9",
                      "1:2:3:4:5:6:7:8::",
                      "::1:2:3:4:5:6:7:8",
                      "1:2:3:4::5:6:7:8",
                      "1::2::3",
                      "::1::",
                      ":::1",
                      "1:::",
                      "12345::",
                      "::00001",
                      "g::",
                      "::-1",
                      "::+1",
                      "0x1::",
                      " ::1",
                      "::1 ",
                      "::1\n",
                      "[::1]",
                      "[::1]:80",
                      "::1/64",
                      "1.2.3.4",
                      "1.2.3.4::",
                      "::1.2.3",
                      "::1.2.3.4.5",
                      "::1.2.3.256",
                      "::01.2.3.4",
                      "::1.2.3.4:5",
                      "1:2:3:4:5:6:7:1.2.3.4",
                      "1:2:3:4:5:6:7:8:1.2.3.4",
                      "::a.2.3.4",
                      "::.1.2.3"})
        EXPECT_FALSE(accepts_v6(text)) << text;
}

TEST(AddressV6, KnowsItsRanges) {
    EXPECT_TRUE(ip::address_v6::any().is_unspecified());
    EXPECT_FALSE(ip::address_v6::loopback().is_unspecified());
    EXPECT_TRUE(ip::make_address_v6("::1").is_loopback());
    EXPECT_FALSE(ip::make_address_v6("::2").is_loopback());
    EXPECT_FALSE(ip::make_address_v6("::ffff:127.0.0.1").is_loopback());
    EXPECT_TRUE(ip::make_address_v6("fe80::").is_link_local());
    EXPECT_TRUE(ip::make_address_v6("febf:ffff::").is_link_local());
    EXPECT_FALSE(ip::make_address_v6("fec0::").is_link_local());
    EXPECT_TRUE(ip::make_address_v6("fec0::").is_site_local());
    EXPECT_FALSE(ip::make_address_v6("fe7f::").is_link_local());
    EXPECT_TRUE(ip::make_address_v6("ff00::").is_multicast());
    EXPECT_FALSE(ip::make_address_v6("feff::").is_multicast());
    EXPECT_TRUE(ip::make_address_v6("ff01::1").is_multicast_node_local());
    EXPECT_TRUE(ip::make_address_v6("ff02::1").is_multicast_link_local());
    EXPECT_TRUE(ip::make_address_v6("ff15::1").is_multicast_site_local());
    EXPECT_TRUE(ip::make_address_v6("ff08::1").is_multicast_org_local());
    EXPECT_TRUE(ip::make_address_v6("ff0e::1").is_multicast_global());
    EXPECT_FALSE(ip::make_address_v6("fe02::1").is_multicast_link_local());
}

TEST(AddressV6, ScopeIdIsPartOfTheValue) {
    ip::address_v6 a = ip::make_address_v6("fe80::1%3");
    EXPECT_EQ(a.scope_id(), 3u);
    EXPECT_NE(a, ip::make_address_v6("fe80::1"));
    EXPECT_LT(a, ip::make_address_v6("fe80::1%4"));
    EXPECT_LT(a, ip::make_address_v6("fe80::2"));
    a.scope_id(0);
    EXPECT_EQ(a, ip::make_address_v6("fe80::1"));
    EXPECT_EQ(ip::make_address_v6(a.to_bytes(), 9).scope_id(), 9u);
}

TEST(AddressV6, MapsVersionFourAndBack) {
    auto const four = ip::make_address_v4("1.2.3.4");
    auto const mapped = ip::make_address_v6(ip::v4_mapped, four);
    EXPECT_EQ(mapped.to_string(), "::ffff:1.2.3.4");
    EXPECT_TRUE(mapped.is_v4_mapped());
    EXPECT_EQ(ip::make_address_v4(ip::v4_mapped, mapped), four);
    for (auto const* text : {"::1.2.3.4", "::1:ffff:1.2.3.4", "::fffe:1.2.3.4", "1::ffff:1.2.3.4"}) {
        EXPECT_FALSE(ip::make_address_v6(text).is_v4_mapped()) << text;
        EXPECT_THROW((void)ip::make_address_v4(ip::v4_mapped, ip::make_address_v6(text)), ip::bad_address_cast);
    }
}

// ---- Either version

TEST(Address, IsOneVersionAndRefusesToBeTheOther) {
    ip::address const none;
    ip::address const four = ip::make_address("1.2.3.4");
    ip::address const six = ip::make_address("::1");
    EXPECT_TRUE(none.is_v4() && none.is_unspecified() && four.is_v4() && !four.is_v6() && six.is_v6() && !six.is_v4());
    EXPECT_EQ(four.to_v4().to_string(), "1.2.3.4");
    EXPECT_EQ(six.to_v6(), ip::address_v6::loopback());
    EXPECT_THROW((void)four.to_v6(), ip::bad_address_cast);
    EXPECT_THROW((void)six.to_v4(), std::bad_cast);
    EXPECT_TRUE(six.is_loopback() && !six.is_unspecified() && !six.is_multicast());
    EXPECT_TRUE(ip::address(ip::address_v6()).is_unspecified());
    EXPECT_TRUE(ip::make_address("ff02::1").is_multicast() && ip::make_address("224.0.0.1").is_multicast());
    ip::address assigned = six;
    assigned = ip::address_v4::loopback();
    EXPECT_EQ(assigned, ip::make_address("127.0.0.1"));
    EXPECT_NE(ip::address(ip::address_v4()), ip::address(ip::address_v6()));
}

TEST(Address, OrdersVersionFourFirst) {
    std::vector<ip::address> sorted;
    for (auto const* text : {"0.0.0.0", "1.2.3.4", "255.255.255.255", "::", "::1", "::1%1", "::2", "ff::"})
        sorted.push_back(ip::make_address(text));
    for (std::size_t i = 0; i < sorted.size(); ++i)
        for (std::size_t j = 0; j < sorted.size(); ++j) {
            EXPECT_EQ(sorted[i] < sorted[j], i < j);
            EXPECT_EQ(sorted[i] == sorted[j], i == j);
        }
    std::unordered_set<ip::address> const set(sorted.begin(), sorted.end());
    EXPECT_EQ(set.size(), sorted.size());
}

TEST(Address, BadTextThrowsWhereNoErrorCodeIsTaken) {
    try {
        (void)ip::make_address("nonsense");
        FAIL();
    } catch (fairlead::system_error const& e) {
        EXPECT_EQ(e.code(), fairlead::error::invalid_argument);
    }
    EXPECT_THROW((void)ip::make_address_v4("::1"), fairlead::system_error);
    EXPECT_THROW((void)ip::make_address_v6("1.2.3.4"), fairlead::system_error);
}

TEST(Address, GoodTextClearsTheErrorCode) {
    error_code ec = fairlead::error::eof;
    EXPECT_EQ(ip::make_address("1.2.3.4", ec).to_string(), "1.2.3.4");
    EXPECT_FALSE(ec);
    ec = fairlead::error::eof;
    EXPECT_EQ(ip::make_address("::1", ec).to_string(), "::1");
    EXPECT_FALSE(ec);
}

TEST(Address, PrintsItsText) {
    std::ostringstream out;
    out << ip::address_v4::loopback() << ' ' << ip::address_v6::loopback() << ' ' << ip::address();
    EXPECT_EQ(out.str(), "127.0.0.1 ::1 0.0.0.0");
    std::wostringstream wide;
    wide << ip::address_v4::loopback();
    EXPECT_EQ(wide.str(), L"127.0.0.1");
}

// ---- Hostile text

TEST(Catalogue, N07_NulBytesInAddressesAreRejected) {
    for (auto text : {"\0"sv, "127.0.0.1\0"sv, "127.0.0.1\0.evil"sv, "\000127.0.0.1"sv, "127.0\0.0.1"sv, "::1\0"sv,
                      "::\0001"sv, "\0::1"sv, "fe80::1%\0"sv, "fe80::1%1\0"sv, "fe80::1\0%1"sv})
        EXPECT_FALSE(accepts(text)) << text;
}

TEST(Catalogue, N07_OverlongAddressesAreRejected) {
    std::string const zeros(100000, '0');
    for (std::string const& text :
         {zeros, zeros + ".0.0.0", "0.0.0." + zeros, "::" + zeros, "::1%" + zeros, "::1%" + zeros + '1',
          std::string("0000:0000:0000:0000:0000:0000:255.255.255.255%42949672950"), std::string(100000, ':'),
          std::string(100000, '1'), "1.2.3.4" + std::string(100000, ' ')})
        EXPECT_FALSE(accepts(text)) << text.substr(0, 60);
    EXPECT_TRUE(accepts("ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255%4294967295")); // The longest there is.
}

TEST(Catalogue, N07_InternationalNamesAreNoAddresses) {
    for (auto text : {"bücher.example", "xn--bcher-kva.example", "１２７.0.0.1", "127。0。0。1", "::１", "fe80::1%１"})
        EXPECT_FALSE(accepts(text)) << text;
}

TEST(Catalogue, N07_ScopeIdsBeyond32BitsAreRejected) {
    EXPECT_EQ(ip::make_address_v6("fe80::1%4294967295").scope_id(), 4294967295u);
    for (auto text :
         {"fe80::1%4294967296", "fe80::1%9999999999", "fe80::1%18446744073709551616", "fe80::1%18446744073709551617",
          "fe80::1%99999999999999999999999999", "fe80::1%", "fe80::1%%1", "fe80::1%-1", "fe80::1%+1", "fe80::1% 1",
          "fe80::1%1 ", "fe80::1%01", "fe80::1%0x1", "fe80::1%eth0", "fe80::1%1%2", "%1", "fe80::%1:1"})
        EXPECT_FALSE(accepts(text)) << text;
}

TEST(Catalogue, N07_RandomTextIsJudgedAsTheSystemJudgesIt) {
    auto const seed = std::random_device{}();
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    auto const below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
    std::string_view const pieces[] = {":", "::", ".", "0", "1", "12", "255", "256", "ffff", "abcd", "00", "1.2.3.4"};
    int accepted = 0;
    for (int i = 0; i < 200000; ++i) {
        std::string text;
        for (std::size_t n = below(16); n != 0; --n)
            text += i % 2 == 0 ? pieces[below(std::size(pieces))]
                               : std::string_view(n % 2 == 0 ? ":" : pieces[3 + below(9)]);
        in_addr four;
        in6_addr six;
        bool const is_four = ::inet_pton(AF_INET, text.c_str(), &four) == 1;
        bool const is_six = ::inet_pton(AF_INET6, text.c_str(), &six) == 1;
        ASSERT_EQ(accepts_v4(text), is_four) << text;
        ASSERT_EQ(accepts_v6(text), is_six) << text;
        accepted += is_four || is_six;
        if (is_six) {
            auto const bytes = ip::make_address_v6(text).to_bytes();
            ASSERT_EQ(std::memcmp(bytes.data(), &six, 16), 0) << text;
        }
    }
    EXPECT_GT(accepted, 1000);
}

TEST(AddressV6, PrintsWhatTheSystemPrints) {
    auto const seed = std::random_device{}();
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    for (int i = 0; i < 50000; ++i) {
        ip::address_v6::bytes_type bytes{};
        auto const mask = static_cast<unsigned>(random());
        for (std::size_t j = 0; j < 16; ++j)
            if (mask >> (j / 2) & 1)
                bytes[j] = static_cast<unsigned char>(mask >> (8 + j % 2) & 1 ? random() : 0xFF);
        char expected[INET6_ADDRSTRLEN];
        ASSERT_NE(::inet_ntop(AF_INET6, bytes.data(), expected, sizeof expected), nullptr);
        ip::address_v6 const a(bytes);
        ASSERT_EQ(a.to_string(), expected);
        ASSERT_EQ(ip::make_address_v6(expected), a);
    }
}

// ---- Endpoints

TEST(IpEndpoint, DefaultIsTheUnspecifiedVersionFourAddress) {
    tcp::endpoint const e;
    EXPECT_EQ(e.address(), ip::address());
    EXPECT_EQ(e.port(), 0);
    EXPECT_EQ(e.protocol(), tcp::v4());
    EXPECT_EQ(e.size(), sizeof(sockaddr_in));
    EXPECT_EQ(e.to_string(), "0.0.0.0:0");
}

TEST(IpEndpoint, FromAProtocolItIsEveryLocalAddress) {
    EXPECT_EQ(tcp::endpoint(tcp::v4(), 80).to_string(), "0.0.0.0:80");
    EXPECT_EQ(udp::endpoint(udp::v6(), 53).to_string(), "[::]:53");
    EXPECT_EQ(udp::endpoint(udp::v6(), 53).protocol(), udp::v6());
}

TEST(IpEndpoint, LaysItsBytesOutAsTheSystemDoes) {
    tcp::endpoint const four(ip::make_address("1.2.3.4"), 0x1234);
    sockaddr_in in;
    ASSERT_EQ(four.size(), sizeof in);
    std::memcpy(&in, four.data(), sizeof in);
    EXPECT_EQ(in.sin_family, AF_INET);
    EXPECT_EQ(in.sin_port, htons(0x1234));
    EXPECT_EQ(in.sin_addr.s_addr, htonl(0x01020304));

    tcp::endpoint const six(ip::make_address("fe80::1%7"), 65535);
    sockaddr_in6 in6;
    ASSERT_EQ(six.size(), sizeof in6);
    std::memcpy(&in6, six.data(), sizeof in6);
    EXPECT_EQ(in6.sin6_family, AF_INET6);
    EXPECT_EQ(in6.sin6_port, 0xFFFF);
    EXPECT_EQ(in6.sin6_flowinfo, 0u);
    EXPECT_EQ(in6.sin6_addr.s6_addr[0], 0xFE);
    EXPECT_EQ(in6.sin6_addr.s6_addr[15], 1);
    EXPECT_EQ(in6.sin6_scope_id, 7u);
}

TEST(IpEndpoint, ChangingOnePartKeepsTheOther) {
    tcp::endpoint e(ip::make_address("1.2.3.4"), 80);
    e.port(65535);
    EXPECT_EQ(e.to_string(), "1.2.3.4:65535");
    e.address(ip::make_address("fe80::1%7"));
    EXPECT_EQ(e.to_string(), "[fe80::1%7]:65535");
    EXPECT_EQ(e.size(), 28u);
    e.address(ip::make_address("1.2.3.4"));
    EXPECT_EQ(e, tcp::endpoint(ip::make_address("1.2.3.4"), 65535));
    EXPECT_EQ(e.size(), 16u);
}

TEST(IpEndpoint, LongestTextHasRoom) {
    auto const a = ip::make_address("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff%4294967295");
    EXPECT_EQ(tcp::endpoint(a, 65535).to_string(), "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff%4294967295]:65535");
    EXPECT_EQ(tcp::endpoint(ip::make_address("::ffff:255.255.255.255%4294967295"), 65535).to_string(),
              "[::ffff:255.255.255.255%4294967295]:65535");
}

TEST(IpEndpoint, ResizeBeyondCapacityIsInvalid) {
    tcp::endpoint e;
    EXPECT_EQ(e.capacity(), 28u);
    EXPECT_NO_THROW(e.resize(0));
    EXPECT_NO_THROW(e.resize(16));
    EXPECT_NO_THROW(e.resize(28));
    try {
        e.resize(29);
        FAIL();
    } catch (fairlead::system_error const& error) {
        EXPECT_EQ(error.code(), fairlead::error::invalid_argument);
    }
}

TEST(IpEndpoint, BindsAndComesBackFromTheKernel) {
    for (char const* text : {"127.0.0.1", "::1"}) {
        udp::endpoint const wanted(ip::make_address(text), 0);
        int const fd = ::socket(wanted.protocol().family(), wanted.protocol().type(), wanted.protocol().protocol());
        if (fd < 0 || ::bind(fd, wanted.data(), static_cast<socklen_t>(wanted.size())) != 0) {
            ::close(fd);
            continue; // A computer without that version.
        }
        udp::endpoint bound;
        auto size = static_cast<socklen_t>(bound.capacity());
        ASSERT_EQ(::getsockname(fd, bound.data(), &size), 0);
        bound.resize(size);
        EXPECT_EQ(bound.address(), wanted.address());
        EXPECT_NE(bound.port(), 0);
        EXPECT_EQ(bound.protocol(), wanted.protocol());
        ::close(fd);
    }
}

TEST(IpEndpoint, OrdersByAddressThenPortAndHashes) {
    auto const at = [](char const* address, int port) {
        return tcp::endpoint(ip::make_address(address), static_cast<ip::port_type>(port));
    };
    std::vector<tcp::endpoint> const sorted = {at("0.0.0.0", 9), at("1.2.3.4", 1), at("1.2.3.4", 2), at("1.2.3.5", 1),
                                               at("::", 0),      at("::1", 0),     at("::1", 65535), at("::1%1", 0)};
    for (std::size_t i = 0; i < sorted.size(); ++i)
        for (std::size_t j = 0; j < sorted.size(); ++j) {
            EXPECT_EQ(sorted[i] < sorted[j], i < j);
            EXPECT_EQ(sorted[i] == sorted[j], i == j);
        }
    std::unordered_set<tcp::endpoint> const set(sorted.begin(), sorted.end());
    EXPECT_EQ(set.size(), sorted.size());
    std::map<tcp::endpoint, int> map{{sorted[0], 1}};
    EXPECT_EQ(map.count(sorted[0]), 1u);
}

TEST(IpEndpoint, PrintsItsText) {
    std::ostringstream out;
    out << tcp::endpoint(ip::address_v4::loopback(), 80) << ' ' << udp::endpoint(ip::address_v6::loopback(), 80);
    EXPECT_EQ(out.str(), "127.0.0.1:80 [::1]:80");
}

TEST(IpProtocols, SayWhatASocketNeeds) {
    static_assert(tcp::v4().family() == AF_INET && tcp::v6().family() == AF_INET6);
    static_assert(tcp::v4().type() == SOCK_STREAM && tcp::v4().protocol() == IPPROTO_TCP);
    static_assert(udp::v4().type() == SOCK_DGRAM && udp::v4().protocol() == IPPROTO_UDP);
    static_assert(tcp::v4() == tcp::v4() && tcp::v4() != tcp::v6());
    EXPECT_EQ(tcp::no_delay(true).level(tcp::v4()), IPPROTO_TCP);
    EXPECT_EQ(ip::unicast::hops(1).level(tcp::v6()), IPPROTO_IPV6);
    EXPECT_EQ(ip::unicast::hops(1).level(tcp::v4()), IPPROTO_IP);
}

} // namespace
