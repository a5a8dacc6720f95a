#include <fairlead/exec/budget.hpp>

#include <gtest/gtest.h>

namespace {

using namespace fairlead;
using impl::exec::budget;

constexpr std::int64_t start = 1'000'000;

/// A budget in a slice that began at `start`.
budget in_a_slice() {
    budget b;
    b.slice_end_ns = start + fairness::slice_ns;
    return b;
}
/// Takes what has been granted.
int use(budget& b) {
    int n = 0;
    while (b.take())
        ++n;
    return n;
}
/// An item of 32 units, each of the second half so long; the clock is looked at twice.
void run_item_with_looks(budget& b, std::int64_t unit_ns) {
    b.fill(b.first);
    EXPECT_EQ(use(b), fairness::units_least);
    EXPECT_FALSE(b.grant_all_if_quick());
    b.grant_more(start);
    EXPECT_EQ(1 + use(b), fairness::units_least);
    EXPECT_FALSE(b.grant_all_if_quick()) << "only at the first look";
    b.grant_more(start + fairness::units_least * unit_ns);
}

TEST(Budget, QuickUnitsSpareTheNextItemsOfTheBatchTheirLooks) {
    budget b = in_a_slice();
    run_item_with_looks(b, fairness::quick_unit_ns);
    for (unsigned i = 0; i != fairness::quick_items; ++i) {
        b.fill(b.first);
        EXPECT_EQ(use(b), fairness::units_least);
        EXPECT_TRUE(b.grant_all_if_quick());
        EXPECT_EQ(1 + use(b), fairness::units_most - fairness::units_least);
        EXPECT_GE(b.granted, fairness::units_most) << "there is no more to be granted";
    }
    run_item_with_looks(b, fairness::quick_unit_ns);
    b.fill(b.first);
    use(b);
    EXPECT_TRUE(b.grant_all_if_quick());
    // Long units after short ones stay as rare as they are without all that.
    EXPECT_LE((fairness::quick_items + 1) * static_cast<unsigned>(fairness::units_most),
              fairness::batch_items * static_cast<unsigned>(fairness::units_least));
}

TEST(Budget, UnitsThatAreNotQuickSpareNothing) {
    budget b = in_a_slice();
    for (int i = 0; i != 3; ++i)
        run_item_with_looks(b, fairness::quick_unit_ns + 1);
}

TEST(Budget, ThePaceBeforeAnItemSaysNothingOfItsUnits) {
    budget b = in_a_slice();
    b.fill(b.first);
    use(b);
    b.grant_more(start); // At the first look nobody knows when the item began.
    b.fill(b.first);
    use(b);
    EXPECT_FALSE(b.grant_all_if_quick());
}

} // namespace
