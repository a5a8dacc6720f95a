#include <fairlead/sim/random.hpp>

#include <gtest/gtest.h>

namespace {

using fairlead::sim::random_stream;

TEST(SimRandom, YieldsThePublishedSequence) {
    random_stream r(1, 0); // xoshiro256** seeded by splitmix64 of 1
    for (auto const expected : {0xb3f2af6d0fc710c5U, 0x853b559647364ceaU, 0x92f89756082a4514U, 0x642e1c7bc266a3a7U})
        EXPECT_EQ(r.next(), expected);
}

TEST(SimRandom, StreamsOfOneSeedDoNotDisturbOneAnother) {
    random_stream a(42, 7), undisturbed(42, 7), other(42, 8);
    EXPECT_NE(random_stream(42, 7).next(), other.next());
    for (int i = 0; i != 100; ++i) {
        other.next();
        EXPECT_EQ(a.next(), undisturbed.next());
    }
}

TEST(SimRandom, BelowReachesEveryValueAndNoOther) {
    random_stream r(3, 0);
    unsigned seen[7] = {};
    for (int i = 0; i != 7000; ++i) {
        auto const v = r.below(7);
        ASSERT_LT(v, 7U);
        ++seen[v];
    }
    for (auto const n : seen) {
        EXPECT_GT(n, 850U);
        EXPECT_LT(n, 1150U);
    }
    EXPECT_EQ(r.below(1), 0U);
}

TEST(SimRandom, ChanceIsOutOf1024) {
    random_stream r(4, 0);
    int never = 0, half = 0, always = 0;
    for (int i = 0; i != 10'000; ++i) {
        never += r.chance(0);
        half += r.chance(512);
        always += r.chance(1024);
    }
    EXPECT_EQ(never, 0);
    EXPECT_NEAR(half, 5000, 300);
    EXPECT_EQ(always, 10'000);
}

} // namespace
