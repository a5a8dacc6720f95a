// <asio/generic/seq_packet_protocol.hpp> alone makes the types of the protocol complete.
#include <asio/generic/seq_packet_protocol.hpp>

#include <gtest/gtest.h>

TEST(CompatHeaders, GenericSeqPacketProtocolHasItsTypes) {
    EXPECT_EQ(asio::generic::seq_packet_protocol(1, 0).family(), 1);
    EXPECT_GT(sizeof(asio::generic::seq_packet_protocol::socket), 0U);
}
