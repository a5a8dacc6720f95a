#include <fairlead/sync/latch.hpp>

#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/token/use_future.hpp>
#include <support/counting_new.hpp>
#include <support/scale.hpp>
#include <unit/sync/waiting.hpp>

#include <memory>

namespace {

using namespace waiting;

class Latch : public World {};

TEST_F(Latch, LetsAllPassWhenItIsCountedDownAndForEver) {
    latch l(context, 3);
    for (int i = 0; i != 2; ++i)
        l.async_wait([this](error_code ec) { log += ec ? "?" : "x"; });
    l.count_down();
    world.run();
    EXPECT_EQ(log, "");
    EXPECT_FALSE(l.try_wait());
    EXPECT_EQ(l.left(), 2U);
    l.count_down(2);
    EXPECT_TRUE(l.try_wait());
    world.run();
    EXPECT_EQ(log, "xx");
    l.count_down(0);
    spawn([&]() -> awaitable<void> {
        auto const items = context.counters().items;
        test::new_counter const counted;
        for (int i = 0; i != 10; ++i)
            co_await l.async_wait();
        EXPECT_EQ(counted.calls(), 0U);
        EXPECT_EQ(context.counters().items, items);
        log += "y";
    });
    world.run();
    EXPECT_EQ(log, "xxy");
}

/// Inside the loop a count takes no lock from the second one on.
TEST_F(Latch, IsCountedDownInsideTheLoop) {
    latch l(context, 4);
    spawn([&]() -> awaitable<void> {
        co_await l.async_wait();
        EXPECT_EQ(l.left(), 0U);
        log += "passed";
    });
    spawn([&]() -> awaitable<void> {
        for (std::size_t left = 4; left != 0; l.count_down()) {
            EXPECT_EQ(l.left(), left--);
            co_await this_coro::yield();
            EXPECT_EQ(log, "");
        }
    });
    world.run();
    EXPECT_EQ(log, "passed");
}

TEST_F(Latch, OfNothingLetsPassFromTheBeginning) {
    latch l(context, 0);
    EXPECT_TRUE(l.try_wait());
    l.async_wait([this](error_code ec) { log += ec ? "?" : "x"; });
    world.run();
    EXPECT_EQ(log, "x");
}

TEST_F(Latch, CancelledOrDestroyedItsWaitsEndAndTheCountStays) {
    auto l = std::make_unique<latch>(context, 1U);
    auto const aborted = [this](error_code ec) { log += ec == error::operation_aborted ? "x" : "?"; };
    cancellation_signal signal;
    l->async_wait(bind_cancellation_slot(signal.slot(), aborted));
    signal.emit(cancellation_type::total);
    l->async_wait(aborted);
    EXPECT_EQ(l->cancel(), 1U);
    EXPECT_EQ(l->left(), 1U);
    spawn([&, aborted]() -> awaitable<void> {
        auto const [ec] = co_await l->async_wait(cancel_after(2s, as_tuple));
        aborted(ec);
        EXPECT_EQ(passed(), 2s);
    });
    world.run();
    l->async_wait(aborted);
    l.reset();
    world.run();
    EXPECT_EQ(log, "xxxx");
}

TEST(LatchDeathTest, CountingBelowZeroAborts) {
    io_context c;
    latch l(c, 1);
    EXPECT_DEATH(l.count_down(2), "n <= left_");
}

TEST(LatchOfAPool, IsCountedDownByManyThreads) {
    auto const rounds = static_cast<int>(test::scaled(2'000, 100));
    thread_pool pool(2);
    for (int i = 0; i != rounds; ++i) {
        latch l(pool, 3);
        int counted[3] = {};
        auto const work = [&](int& mine) -> awaitable<void> {
            ++mine;
            l.count_down();
            co_await l.async_wait();
            EXPECT_EQ(counted[0] + counted[1] + counted[2], 3) << "the latch orders nothing";
        };
        auto first = co_spawn(pool, work(counted[0]), use_future),
             second = co_spawn(pool, work(counted[1]), use_future),
             third = co_spawn(pool, work(counted[2]), use_future);
        first.get();
        second.get();
        third.get();
    }
}

} // namespace
