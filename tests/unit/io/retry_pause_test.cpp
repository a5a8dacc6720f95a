#include <io/retry_pause.hpp>

#include <gtest/gtest.h>

namespace {

using fairlead::io::retry_pause;

TEST(RetryPause, IsDoubledWithEachAttemptInVainUpToItsBound) {
    retry_pause pause(10, 35);
    for (std::int64_t const length : {10, 20, 35, 35}) {
        pause.lengthen(1000);
        EXPECT_FALSE(pause.is_over(1000 + length - 1));
        EXPECT_TRUE(pause.is_over(1000 + length));
    }
    pause.shorten();
    pause.lengthen(2000);
    EXPECT_TRUE(pause.is_over(2010)) << "one that was not in vain begins anew";
}

TEST(RetryPause, LimitsHowLongALoopMaySleep) {
    retry_pause pause(10, 10);
    pause.lengthen(1000);
    EXPECT_EQ(pause.limit(-1), 1010);
    EXPECT_EQ(pause.limit(5000), 1010);
    EXPECT_EQ(pause.limit(1005), 1005);
    EXPECT_EQ(pause.limit(0), 0) << "only looks";
}

TEST(RetryPause, EndsWhenThereIsReasonToHope) {
    retry_pause pause(10, 10);
    pause.lengthen(1000);
    pause.end();
    EXPECT_TRUE(pause.is_over(1));
}

TEST(RetryPause, CountsThoseThatWait) {
    retry_pause pause(10, 10);
    EXPECT_FALSE(pause.any());
    pause.add();
    pause.add();
    pause.remove();
    EXPECT_TRUE(pause.any());
    pause.remove();
    EXPECT_FALSE(pause.any());
}

} // namespace
