#include <fairlead/exec/adaptive_spin.hpp>

#include <gtest/gtest.h>

namespace {

using fairlead::impl::exec::adaptive_spin;

constexpr bool until_a_post = true, until_something_else = false;

/// Sleeps that posts end, until the next attempt is due.
unsigned sleeps_until_due(adaptive_spin& s) {
    unsigned n = 0;
    for (; !s.is_due(); ++n)
        s.has_slept(until_a_post);
    return n;
}

TEST(AdaptiveSpin, BeginsAfterASleepThatAPostHasEnded) {
    adaptive_spin s;
    EXPECT_FALSE(s.is_due());
    s.has_slept(until_something_else);
    EXPECT_FALSE(s.is_due());
    s.has_slept(until_a_post);
    EXPECT_TRUE(s.is_due());
}

TEST(AdaptiveSpin, EndsAfterASleepThatSomethingElseHasEnded) {
    adaptive_spin s;
    s.has_slept(until_a_post);
    s.has_slept(until_something_else);
    EXPECT_FALSE(s.is_due());
}

TEST(AdaptiveSpin, GoesOnAsLongAsPostsCome) {
    adaptive_spin s;
    s.has_slept(until_a_post);
    for (int i = 0; i != 10; ++i) {
        s.has_spun(until_a_post);
        EXPECT_TRUE(s.is_due());
    }
}

TEST(AdaptiveSpin, SkipsTwiceAsManySleepsEachTimeInVain) {
    adaptive_spin s;
    EXPECT_EQ(sleeps_until_due(s), 1U);
    for (unsigned const skipped : {1U, 3U, 7U, 15U, 31U, 63U, 127U, 255U, 511U, 1023U, 1023U}) {
        s.has_spun(until_something_else);
        EXPECT_FALSE(s.is_due());
        EXPECT_EQ(sleeps_until_due(s), skipped + 1);
    }
}

TEST(AdaptiveSpin, SleepsThatSomethingElseHasEndedAreNotCounted) {
    adaptive_spin s;
    s.has_slept(until_a_post);
    s.has_spun(until_something_else);
    for (int i = 0; i != 10; ++i)
        s.has_slept(until_something_else);
    EXPECT_EQ(sleeps_until_due(s), 2U);
}

TEST(AdaptiveSpin, APostThatCameHalvesWhatIsSkipped) {
    adaptive_spin s;
    for (int i = 0; i != 3; ++i) {
        sleeps_until_due(s);
        s.has_spun(until_something_else);
    }
    EXPECT_EQ(sleeps_until_due(s), 8U);
    s.has_spun(until_a_post); // 7 become 3
    s.has_spun(until_something_else);
    EXPECT_EQ(sleeps_until_due(s), 8U); // and 7 again
    s.has_spun(until_a_post);
    s.has_spun(until_a_post); // 7, 3, 1
    s.has_spun(until_something_else);
    EXPECT_EQ(sleeps_until_due(s), 4U);
}

} // namespace
