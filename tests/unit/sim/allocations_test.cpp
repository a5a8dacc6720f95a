// Allocations that fail: in programs of the world, the n-th, once.
#include <fairlead/coro/spawn.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/sim/failing_new.hpp>
#include <fairlead/sim/world.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <vector>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;

class SimAllocations : public testing::Test {
    void SetUp() override {
#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
        GTEST_SKIP() << "clang's sanitizers keep their own operator new";
#endif
#endif
    }
};

TEST_F(SimAllocations, TheNthFailsOnceAndOnlyInPrograms) {
    sim::world w(1);
    int failed_at = 0, made = 0;
    auto program = [&] {
        for (int i = 1; i <= 10; ++i) {
            try {
                auto const p = std::make_unique<std::vector<int>>(100);
                asm volatile("" : : "r"(p->data()) : "memory"); // clang would leave out what nobody looks at
                ++made;
            } catch (std::bad_alloc const&) {
                failed_at = i;
            }
        }
    };
    post(w.context(), program);
    w.fail_allocation(5);                              // two for each round
    auto const outside = std::make_unique<int[]>(100); // not a program of the world
    EXPECT_FALSE(w.allocation_has_failed());
    w.run();
    EXPECT_TRUE(w.allocation_has_failed());
    EXPECT_EQ(failed_at, 3);
    EXPECT_EQ(made, 9);
    post(w.context(), program);
    w.run();
    EXPECT_EQ(made, 19);
}

awaitable<int> child(int n) { // No ?: here: g++ 12 runs a co_await in the operand that is not selected.
    if (n == 0)
        co_return 0;
    co_return 1 + co_await child(n - 1);
}

TEST_F(SimAllocations, EveryOneOfAProgramIsReachedAndLeavesNothingBehind) {
    std::uint64_t n = 1;
    int ended = 0;
    auto const live = std::make_shared<int>();
    for (bool failed = true; failed; ++n) {
        sim::world w(7);
        w.add_host("app", [&](io_context& c) -> awaitable<> {
            auto const mine = live;
            steady_timer t(c, 1s);
            co_await t.async_wait();
            std::vector<char> const bytes(10'000);
            if (co_await child(5) != 5)
                throw std::logic_error("lost a child");
            ++ended;
        });
        w.fail_allocation(n);
        try {
            w.run();
        } catch (std::bad_alloc const&) {
        } catch (system_error const& e) {
            EXPECT_EQ(e.code(), std::errc::not_enough_memory);
        }
        failed = w.allocation_has_failed();
        ASSERT_LT(n, 1000U);
    }
    EXPECT_GT(n, 5U);
    EXPECT_EQ(ended, 1); // the last time
    EXPECT_EQ(live.use_count(), 1);
}

} // namespace
