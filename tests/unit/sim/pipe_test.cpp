#include <sim/pipe.hpp>

#include <fairlead/sim/random.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace {

using fairlead::sim::pipe;

void send(pipe& p, std::vector<unsigned char> const& bytes, std::int64_t at) {
    p.put(bytes.data(), bytes.size());
    p.send(static_cast<std::uint32_t>(bytes.size()), at);
}

TEST(SimPipe, BytesOnTheWayTakeRoomAndCannotBeRead) {
    pipe p;
    ASSERT_TRUE(p.open());
    send(p, {1, 2, 3}, 10);
    EXPECT_EQ(p.readable(), 0U);
    EXPECT_EQ(p.flying(), 3U);
    EXPECT_EQ(p.space(), pipe::window - 3);
    EXPECT_EQ(p.arrive(), 3U);
    EXPECT_EQ(p.readable(), 3U);
    p.take(3);
    EXPECT_EQ(p.space(), pipe::window);
}

TEST(SimPipe, LaterSegmentsNeverArriveEarlier) {
    pipe p;
    ASSERT_TRUE(p.open());
    send(p, {1}, 100);
    send(p, {2}, 50);
    EXPECT_EQ(p.next_arrival_ns(), 100);
    p.arrive();
    EXPECT_EQ(p.next_arrival_ns(), 100);
}

TEST(SimPipe, MoreSegmentsThanItRemembersTravelWithTheLast) {
    pipe p;
    ASSERT_TRUE(p.open());
    for (unsigned char i = 0; i != 200; ++i)
        send(p, {i}, i);
    std::uint32_t arrived = 0;
    while (p.flying() != 0)
        arrived += p.arrive();
    ASSERT_EQ(arrived, 200U);
    for (unsigned char i = 0; i != 200; ++i) {
        unsigned char v = 0;
        p.copy(&v, 1, i);
        ASSERT_EQ(v, i);
    }
}

TEST(SimPipe, KeepsTheStreamAcrossItsEdges) {
    pipe p;
    ASSERT_TRUE(p.open());
    fairlead::sim::random_stream r(1, 1);
    std::uint64_t sent = 0, received = 0;
    std::vector<unsigned char> bytes;
    while (received < 1'000'000) {
        bytes.resize(r.below(p.space() + 1));
        for (auto& b : bytes)
            b = static_cast<unsigned char>(sent++ * 167 >> 3);
        if (!bytes.empty())
            send(p, bytes, 0);
        while (p.flying() != 0)
            p.arrive();
        bytes.resize(r.below(p.readable() + 1));
        p.copy(bytes.data(), bytes.size(), 0);
        p.take(static_cast<std::uint32_t>(bytes.size()));
        for (auto const b : bytes)
            ASSERT_EQ(b, static_cast<unsigned char>(received++ * 167 >> 3));
    }
}

} // namespace
