#include <fairlead/sync/token_bucket.hpp>

#include <gtest/gtest.h>

#include <cstdint>

namespace {

using fairlead::impl::sync::token_bucket;

constexpr std::int64_t second = 1'000'000'000;

TEST(TokenBucket, FillsAtItsRateAndNoFurtherThanItsBurst) {
    token_bucket b({.tokens = 10, .period_ns = second, .burst = 5}, 100);
    EXPECT_EQ(b.tokens(), 5U);
    EXPECT_TRUE(b.take(5));
    EXPECT_FALSE(b.take(1));
    EXPECT_EQ(b.filled_at_ns(2), 100 + second / 5);
    b.fill(99 + second / 5);
    EXPECT_EQ(b.tokens(), 1U) << "a nanosecond early";
    EXPECT_FALSE(b.take(2));
    EXPECT_EQ(b.filled_at_ns(2), 100 + second / 5) << "to look changes nothing";
    b.fill(100 + second / 5);
    EXPECT_TRUE(b.take(2));
    b.fill(100 * second);
    EXPECT_EQ(b.tokens(), 5U);
    EXPECT_EQ(b.filled_at_ns(5), 100 * second);
}

/// Three tokens a second: none of them comes at a whole nanosecond.
TEST(TokenBucket, DoesNotDrift) {
    token_bucket b({.tokens = 3, .period_ns = second, .burst = 3}, 0);
    EXPECT_TRUE(b.take(3));
    std::int64_t now = 0;
    constexpr std::int64_t seconds = 1'000'000;
    for (std::int64_t i = 1; i <= 3 * seconds; ++i) {
        now = b.filled_at_ns(1);
        b.fill(now);
        ASSERT_TRUE(b.take(1));
        ASSERT_EQ(now, (i * second + 2) / 3) << "the first nanosecond that is late enough";
    }
    EXPECT_EQ(now, seconds * second);
}

TEST(TokenBucket, AClockThatGoesBackBringsNothing) {
    token_bucket b({.tokens = 1, .period_ns = 10, .burst = 2}, 1000);
    EXPECT_TRUE(b.take(2));
    b.fill(500);
    EXPECT_EQ(b.tokens(), 0U);
    b.fill(1010);
    EXPECT_EQ(b.tokens(), 1U);
}

TEST(TokenBucket, DoesNotOverflow) {
    token_bucket fast({.tokens = SIZE_MAX, .period_ns = INT64_MAX, .burst = SIZE_MAX}, 0);
    EXPECT_EQ(fast.tokens(), SIZE_MAX);
    fast.fill(INT64_MAX);
    EXPECT_EQ(fast.tokens(), SIZE_MAX);
    EXPECT_TRUE(fast.take(SIZE_MAX));
    EXPECT_EQ(fast.filled_at_ns(1), INT64_MAX);
    token_bucket slow({.tokens = 1, .period_ns = INT64_MAX, .burst = SIZE_MAX}, 1000);
    EXPECT_TRUE(slow.take(SIZE_MAX));
    EXPECT_EQ(slow.filled_at_ns(1), INT64_MAX) << "never, as far as clocks go";
    EXPECT_EQ(slow.filled_at_ns(SIZE_MAX), INT64_MAX);
    EXPECT_EQ(slow.filled_at_ns(0), 1000);
    token_bucket empty({.tokens = 1, .period_ns = 1, .burst = 0}, 0);
    empty.fill(second);
    EXPECT_FALSE(empty.take(1));
    EXPECT_TRUE(empty.take(0));
}

TEST(TokenBucketDeathTest, WithoutARateAborts) {
    EXPECT_DEATH(token_bucket({.tokens = 0, .period_ns = 1, .burst = 1}, 0), "tokens != 0");
    EXPECT_DEATH(token_bucket({.tokens = 1, .period_ns = 0, .burst = 1}, 0), "period_ns > 0");
}

} // namespace
