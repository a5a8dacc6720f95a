// The items that one of several threads has taken of a loop, and those who take them over.
#include <fairlead/exec/share.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>

namespace {

using namespace fairlead;
using impl::exec::share;
using impl::exec::shares;

struct item : op {
    item() noexcept { run = nullptr; }
};

TEST(Share, IsInOrderAndIsLeftToOthersFromItsEnd) {
    impl::exec::owning_thread self;
    share s(self);
    item a, b, c;
    EXPECT_EQ(s.pop(), nullptr);
    s.push(a);
    s.push(b);
    s.push(c);
    EXPECT_EQ(s.pop(), &a);
    EXPECT_EQ(s.pop_back(), &c);
    op_queue queue;
    s.move_to(queue);
    EXPECT_TRUE(s.empty());
    EXPECT_EQ(queue.pop_front(), &b);
    EXPECT_TRUE(queue.empty());
}

TEST(Share, IsTakenOverOnlyWhileItsThreadIsOutsideOfSections) {
    if (!shares::are_possible())
        GTEST_SKIP() << "the system refuses membarrier(2)";
    shares all;
    impl::exec::owning_thread busy, other;
    share s(busy), own(other);
    all.open(s);
    all.open(own);
    item a, kept;
    s.push(a);
    own.push(kept);
    op_queue queue;
    busy.sections = 1;
    EXPECT_EQ(all.take_over(queue, &own), shares::found::unknown);
    EXPECT_TRUE(queue.empty());
    busy.sections = 0;
    EXPECT_EQ(all.take_over(queue, &own), shares::found::something);
    EXPECT_EQ(queue.pop_front(), &a);
    EXPECT_TRUE(queue.empty());
    EXPECT_EQ(all.take_over(queue, &own), shares::found::nothing);
    EXPECT_EQ(own.pop(), &kept) << "the caller's own share is nobody else's";
    all.close(s);
    all.close(own);
    EXPECT_FALSE(s.is_open());
    EXPECT_EQ(all.take_over(queue, nullptr), shares::found::nothing);
}

/// Its items have taken so long as of the last look at the clock.
void run_items(share& s, unsigned items, std::int64_t each_ns, std::int64_t& now) {
    for (unsigned left = items; left != 0;) {
        unsigned const n = std::min(left, std::max(s.pace().items(), 1U));
        s.pace().ran(n);
        now += n * each_ns;
        s.pace().look(now);
        left -= n;
    }
    s.gets_on();
}

TEST(Share, ThreadsWithShortItemsComeBackSoonAsLongAsTheyGetOn) {
    shares all;
    impl::exec::owning_thread one, other;
    share s(one), t(other);
    std::int64_t now = 1'000'000;
    EXPECT_FALSE(all.come_back_soon(now)) << "nobody has a share";
    s.pace().look(now);
    s.gets_on();
    all.open(s);
    EXPECT_FALSE(all.come_back_soon(now)) << "nothing is known of its items";
    run_items(s, 100, 1'000, now);
    EXPECT_TRUE(all.come_back_soon(now));
    EXPECT_TRUE(all.come_back_soon(now + shares::stuck_ns - 1));
    EXPECT_FALSE(all.come_back_soon(now + shares::stuck_ns)) << "it has not got on since";
    run_items(s, 1, 1'000, now);
    EXPECT_TRUE(all.come_back_soon(now + shares::stuck_ns));
    all.open(t);
    EXPECT_FALSE(all.come_back_soon(now)) << "the other one's items may be long";
    all.close(t);
    run_items(s, 1, fairness::slice_ns, now);
    EXPECT_FALSE(all.come_back_soon(now)) << "an item took a slice";
    all.close(s);
}

// Items that one thread pushes and pops, and the other one takes over, are each seen once.
TEST(Share, LosesNothingToThoseThatTakeItOver) {
    if (!shares::are_possible())
        GTEST_SKIP() << "the system refuses membarrier(2)";
    constexpr int rounds = 2'000;
    shares all;
    impl::exec::owning_thread busy;
    share s(busy);
    all.open(s);
    item items[4];
    std::atomic<bool> over{false};
    std::atomic<int> taken{0};
    std::thread idle([&] {
        op_queue queue;
        while (!over) {
            all.take_over(queue, nullptr);
            while (!queue.empty()) {
                queue.pop_front()->run = nullptr;
                ++taken;
            }
        }
    });
    int popped = 0;
    for (int round = 0; round != rounds; ++round) {
        int const before = taken + popped;
        busy.sections.store(1, std::memory_order_relaxed);
        for (auto& each : items)
            s.push(each);
        busy.sections.store(0, std::memory_order_release);
        busy.sections.store(1, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_seq_cst); // The barrier of whoever takes over does the rest.
        while (s.pop())
            ++popped;
        busy.sections.store(0, std::memory_order_release);
        while (taken + popped != before + 4)
            std::this_thread::yield();
    }
    over = true;
    idle.join();
    EXPECT_EQ(taken + popped, 4 * rounds);
    all.close(s);
}

} // namespace
