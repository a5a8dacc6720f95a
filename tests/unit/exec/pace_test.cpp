#include <fairlead/exec/pace.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace {

using namespace fairlead;
using impl::exec::pace;

/// Items one after the other, each as long as it says, on a clock of its own. A slice that is over is followed by the
/// next one, as in a loop that has looked at everything else.
struct row {
    pace p;
    std::int64_t now = 1'000'000'000;
    std::int64_t quiet_since = now; ///< the last look after which everything else had its turn
    std::int64_t longest = 0;       ///< between two of them
    unsigned looks = 0;

    void look() {
        ++looks;
        p.look(now);
        if (now >= p.slice_end_ns()) {
            longest = std::max(longest, now - quiet_since);
            quiet_since = now;
            p.begin_slice(now);
        }
    }
    template <class Length> void run(unsigned items, Length length) {
        for (unsigned done = 0; done != items;) {
            if (p.is_due())
                look();
            for (auto n = std::min(p.items(), items - done); n != 0; --n, ++done) {
                now += length(done);
                p.ran(1);
            }
            look();
        }
    }
};

TEST(Pace, ShortItemsAreLookedAtOnceABatch) {
    row r;
    r.run(64, [](unsigned) { return 10; });
    EXPECT_LE(r.looks, 8U) << "after 1, 2, 4, ... items";
    r.looks = 0;
    r.run(100 * fairness::batch_items, [](unsigned) { return 10; });
    EXPECT_LE(r.looks, 101U);
}

TEST(Pace, ItemsOfOneLengthHoldUpTheRestForASliceAndOneOfThem) {
    for (std::int64_t const length : {10, 700, 3'000, 10'000, 60'000, 150'000, 199'999, 200'000, 201'000, 5'000'000}) {
        row r;
        r.run(2'000, [=](unsigned) { return length; });
        EXPECT_LE(r.longest, fairness::slice_ns + length) << length;
    }
}

TEST(Pace, LongItemsThatComeInTurnHoldUpTheRestForASliceAndOneOfThem) {
    constexpr std::int64_t length = 1'000'000;
    for (unsigned const every : {2U, 3U, 7U, 10U, 31U, 64U, 65U, 100U}) {
        row r;
        r.run(5'000, [=](unsigned i) { return i % every == every - 1 ? length : 10; });
        EXPECT_LE(r.longest, fairness::slice_ns + length) << "one of " << every;
    }
}

TEST(Pace, ShortItemsBuyAsManyLongOnesOnce) {
    constexpr std::int64_t length = 1'000'000;
    for (unsigned const bought : {0U, 1U, 5U, 20U, 63U, 1'000U}) {
        row r;
        r.run(3, [](unsigned) { return length; });
        r.run(bought, [](unsigned) { return 10; });
        r.longest = 0;
        r.run(200, [](unsigned) { return length; });
        auto const most = std::min(bought + 1, fairness::batch_items);
        EXPECT_LE(r.longest, fairness::slice_ns + most * length) << bought;
    }
}

TEST(Pace, TurnsOfShortItemsBetweenSleepsAreMeasuredOnceABatch) {
    pace p;
    std::int64_t now = 1'000'000'000;
    unsigned looks = 0;
    auto const turns = [&](unsigned n, std::int64_t length) { // of an item each
        for (; n != 0; --n) {
            if (p.is_due()) {
                p.look(now);
                ++looks;
            }
            now += length;
            p.ran(1);
            if (p.is_measuring()) {
                p.look(now);
                ++looks;
            }
            p.rest();
            now += 1'000'000'000; // asleep
        }
    };
    turns(64, 10);
    looks = 0;
    turns(640, 10);
    EXPECT_LE(looks, 20U);
    EXPECT_LE(p.items(), 16U) << "a turn of many items is measured, too";
    turns(2 * fairness::batch_items, 1'000'000);
    p.look(now);
    EXPECT_EQ(p.items(), 1U) << "long ones are noticed";
    EXPECT_EQ(p.first_units(), 0);
}

TEST(Pace, TinyItemsAreKnownBySixteenOfThem) {
    pace p;
    std::int64_t now = 1'000'000'000;
    auto const run = [&](unsigned items, std::int64_t length) {
        p.ran(items);
        now += items * length;
        p.look(now);
    };
    p.look(now);
    for (unsigned n = 1; n != 16; n *= 2) {
        run(n, 10);
        EXPECT_FALSE(p.is_tiny()) << n;
    }
    run(16, 149);
    EXPECT_TRUE(p.is_tiny());
    run(16, 150);
    EXPECT_FALSE(p.is_tiny());
}

} // namespace
