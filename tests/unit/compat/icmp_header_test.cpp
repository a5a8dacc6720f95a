// <asio/ip/icmp.hpp> alone makes the types of the protocol complete.
#include <asio/ip/icmp.hpp>

#include <gtest/gtest.h>

TEST(CompatHeaders, IcmpProtocolHasItsTypes) {
    asio::ip::icmp::endpoint const endpoint(asio::ip::icmp::v4(), 0);
    EXPECT_TRUE(endpoint.address().is_unspecified());
    EXPECT_GT(sizeof(asio::ip::icmp::socket), 0U);
    EXPECT_GT(sizeof(asio::ip::icmp::resolver), 0U);
}
