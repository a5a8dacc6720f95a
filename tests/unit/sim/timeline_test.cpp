#include <sim/timeline.hpp>

#include <sim/actions.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <set>
#include <vector>

namespace fairlead::test {
namespace {

using namespace std::chrono_literals;
using sim::event_kind;
using sim::timeline;

std::vector<std::uint32_t> order_of_three_at_once(std::uint64_t seed) {
    timeline t(seed);
    t.promise(3);
    EXPECT_TRUE(t.make_space());
    for (std::uint32_t i = 0; i != 3; ++i)
        t.push(t.now_ns(), event_kind::arrive, {i, 7});
    std::vector<std::uint32_t> order;
    while (t.is_due()) {
        auto const e = t.take();
        EXPECT_EQ(e.kind, event_kind::arrive);
        EXPECT_EQ(e.generation, 7U);
        order.push_back(e.index);
    }
    return order;
}

TEST(SimTimeline, EventsAreDueInTheOrderOfTheirTimes) {
    timeline t(1);
    auto const begin = t.now_ns();
    t.promise(3);
    ASSERT_TRUE(t.make_space());
    EXPECT_FALSE(t.has_events());
    EXPECT_EQ(t.next_event_ns(), timeline::never_ns);
    t.push(begin + 30, event_kind::arrive, {3, 0});
    t.push(begin + 10, event_kind::arrive, {1, 0});
    t.push(begin + 20, event_kind::arrive, {2, 0});
    EXPECT_FALSE(t.is_due());
    EXPECT_EQ(t.next_event_ns(), begin + 10);
    t.jump(begin + 20);
    EXPECT_TRUE(t.is_due());
    EXPECT_EQ(t.take().index, 1U);
    EXPECT_EQ(t.take().index, 2U);
    EXPECT_FALSE(t.is_due()) << "the third is not due yet";
    t.pass(10);
    EXPECT_EQ(t.take().index, 3U);
}

TEST(SimTimeline, TheSeedDecidesTies) {
    std::set<std::vector<std::uint32_t>> orders;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        auto const order = order_of_three_at_once(seed);
        EXPECT_EQ(order, order_of_three_at_once(seed));
        orders.insert(order);
    }
    EXPECT_EQ(orders.size(), 6U);
}

TEST(SimTimeline, NeitherGoesBackNorBeyondNever) {
    timeline t(1);
    auto const begin = t.now_ns();
    EXPECT_EQ(begin, timeline::beginning_ns);
    t.jump(begin - 1);
    EXPECT_EQ(t.now_ns(), begin);
    EXPECT_EQ(timeline::later(begin, 1s), begin + 1'000'000'000);
    EXPECT_EQ(timeline::later(begin, std::chrono::nanoseconds::max()), timeline::never_ns);
    EXPECT_EQ(timeline::later(timeline::never_ns, 1s), timeline::never_ns);
}

TEST(SimTimeline, StepsEndAtTheirBound) {
    timeline t(1);
    t.steps_most = 2;
    EXPECT_TRUE(t.step());
    EXPECT_TRUE(t.step());
    EXPECT_FALSE(t.step());
}

TEST(SimActions, RunAtTheirTimeAndMayAskForMore) {
    timeline t(1);
    sim::actions a(t);
    auto const begin = t.now_ns();
    std::vector<std::int64_t> ran;
    a.at(begin + 5, [&] {
        ran.push_back(t.now_ns() - begin);
        a.at(begin - 5, [&] { ran.push_back(-1); }); // in the past: now
    });
    EXPECT_TRUE(a.has_any());
    while (t.has_events()) {
        t.jump(t.next_event_ns());
        auto const e = t.take();
        EXPECT_EQ(e.kind, event_kind::action);
        a.run(e.index);
    }
    EXPECT_EQ(ran, (std::vector<std::int64_t>{5, -1}));
    EXPECT_FALSE(a.has_any());
}

} // namespace
} // namespace fairlead::test
