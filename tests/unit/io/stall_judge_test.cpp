#include <io/stall_judge.hpp>

#include <gtest/gtest.h>

namespace {

using fairlead::io::impl::place_in_run;
using fairlead::io::impl::stall_judge;

constexpr std::int64_t limit = 100;

place_in_run nth_item(unsigned n) {
    return {.frame = nullptr, .turn = 1, .items = n, .functions = 0, .slice_end_ns = 0};
}

TEST(StallJudge, ReportsWhoIsAtOnePlaceForTheLimit) {
    stall_judge judge(limit);
    EXPECT_FALSE(judge.look(nth_item(3), 1000));
    EXPECT_FALSE(judge.look(nth_item(3), 1099));
    EXPECT_EQ(judge.look(nth_item(3), 1100), 100);
}

TEST(StallJudge, ItemsOneAfterTheOtherAreNoStall) {
    stall_judge judge(limit);
    for (unsigned n = 0; n != 20; ++n)
        EXPECT_FALSE(judge.look(nth_item(n), 1000 + n * 99));
}

TEST(StallJudge, EachPartOfAPlaceTellsItemsApart) {
    auto const differs = [](auto member, auto value) {
        stall_judge judge(limit);
        auto other = nth_item(3);
        other.*member = value;
        return !judge.look(nth_item(3), 0) && !judge.look(other, limit);
    };
    int frame = 0;
    EXPECT_TRUE(differs(&place_in_run::frame, &frame));
    EXPECT_TRUE(differs(&place_in_run::turn, 2U));
    EXPECT_TRUE(differs(&place_in_run::items, 2U));
    EXPECT_TRUE(differs(&place_in_run::functions, 1U));
    EXPECT_TRUE(differs(&place_in_run::slice_end_ns, 1));
}

TEST(StallJudge, ReportsAgainWhenTwiceTheTimeHasPassed) {
    stall_judge judge(limit);
    judge.look(nth_item(3), 0);
    EXPECT_EQ(judge.look(nth_item(3), 120), 120);
    EXPECT_FALSE(judge.look(nth_item(3), 239));
    EXPECT_EQ(judge.look(nth_item(3), 240), 240);
    EXPECT_FALSE(judge.look(nth_item(3), 479));
    EXPECT_EQ(judge.look(nth_item(3), 500), 500);
}

TEST(StallJudge, AnotherItemBeginsWithTheLimit) {
    stall_judge judge(limit);
    judge.look(nth_item(3), 0);
    EXPECT_EQ(judge.look(nth_item(3), 200), 200);
    EXPECT_FALSE(judge.look(nth_item(2), 300));
    EXPECT_EQ(judge.look(nth_item(2), 400), 100);
}

} // namespace
