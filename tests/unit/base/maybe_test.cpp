#include <fairlead/base/maybe.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <tuple>

namespace {

using fairlead::impl::base::maybe;

static_assert(std::is_trivially_destructible_v<maybe<int>> &&
              !std::is_trivially_destructible_v<maybe<std::shared_ptr<int>>>);

TEST(Maybe, HasNothingUntilItIsFilled) {
    maybe<std::tuple<int, int>> m;
    EXPECT_FALSE(m);
    EXPECT_EQ(m.emplace(1, 2), std::tuple(1, 2));
    ASSERT_TRUE(m);
    EXPECT_EQ(*m, std::tuple(1, 2));
}

TEST(Maybe, MovesAndDestroysWhatItHasOnce) {
    auto const counted = std::make_shared<int>(3);
    {
        maybe<std::shared_ptr<int>> first{std::shared_ptr<int>(counted)}, none;
        EXPECT_EQ(counted.use_count(), 2);
        maybe<std::shared_ptr<int>> second(std::move(first)), nothing(std::move(none));
        EXPECT_EQ(counted.use_count(), 2);
        ASSERT_TRUE(second);
        EXPECT_EQ(*second, counted);
        EXPECT_FALSE(nothing);
    }
    EXPECT_EQ(counted.use_count(), 1);
}

} // namespace
