// <asio/local/seq_packet_protocol.hpp> alone makes the types of the protocol complete.
#include <asio/local/seq_packet_protocol.hpp>

#include <gtest/gtest.h>

TEST(CompatHeaders, LocalSeqPacketProtocolHasItsTypes) {
    EXPECT_EQ(asio::local::seq_packet_protocol::endpoint("/tmp/x").path(), "/tmp/x");
    EXPECT_GT(sizeof(asio::local::seq_packet_protocol::socket), 0U);
    EXPECT_GT(sizeof(asio::local::seq_packet_protocol::acceptor), 0U);
}
