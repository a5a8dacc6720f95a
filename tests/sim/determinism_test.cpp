// The same seed is the same run: in one process, with every compiler and every build type.
#include "town.hpp"

#include <support/scale.hpp>

#include <gtest/gtest.h>

#include <fairlead/sim/seeds.hpp> // after the framework

namespace fairlead::test {
namespace {

std::uint64_t digest_of_town(std::uint64_t seed) {
    sim::world w(seed);
    run_town(w);
    return w.digest();
}

TEST(SimDeterminism, SameSeedIsTheSameTownTwice) {
    for (std::uint64_t seed = 1; seed <= scaled(200, 30); ++seed)
        ASSERT_EQ(digest_of_town(seed), digest_of_town(seed)) << "seed " << seed;
}

TEST(SimDeterminism, ThousandTownsAreTheSameWithEveryCompilerAndBuildType) {
    // A change of the simulator, of the turn or of an operation's steps changes this. That is no fault, but a reason to
    // say so in the commit. A difference between two builds of one commit is a fault.
    std::uint64_t all = 0;
    for (std::uint64_t seed = 1; seed <= 1000; ++seed)
        all = (all ^ digest_of_town(seed)) * 0x9fb21c651e98df25U;
    EXPECT_EQ(all, 2225206879296149158U);
}

TEST(SimTown, WhateverGoesWrongTheEchoIsRight) {
    town_report all;
    auto const sum = sim::for_each_seed(scaled(2000, 100), [&](sim::world& w) {
        auto const r = run_town(w);
        all.rounds += r.rounds;
        all.answered += r.answered;
        all.failed += r.failed;
        all.datagrams_answered += r.datagrams_answered;
    });
    EXPECT_GT(all.answered, all.rounds / 2);
    EXPECT_GT(all.failed, all.rounds / 100);
    EXPECT_GT(all.datagrams_answered, all.rounds / 20);
    for (std::size_t i = 0; i != sim::rules; ++i) { // Everything that can go wrong has.
        EXPECT_TRUE(sum.counts.injected[i] != 0 || sum.seeds < 1000) << sim::name_of(static_cast<sim::rule>(i));
    }
}

} // namespace
} // namespace fairlead::test
