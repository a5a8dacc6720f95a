#include <fairlead/sync/barrier.hpp>

#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/token/use_future.hpp>
#include <support/counting_new.hpp>
#include <support/scale.hpp>
#include <unit/sync/waiting.hpp>

#include <atomic>
#include <memory>

namespace {

using namespace waiting;

class Barrier : public World {
public:
    void arrive(barrier& b) {
        b.async_arrive_and_wait([this](error_code ec) {
            log += !ec ? "x" : ec == error::operation_aborted ? "a" : "?";
        });
    }
};

TEST_F(Barrier, LetsAllGoWhenTheLastArrivesAndBeginsAgain) {
    barrier b(context, 3);
    for (int phase = 0; phase != 3; ++phase) {
        log.clear();
        arrive(b);
        arrive(b);
        world.run();
        EXPECT_EQ(log, "");
        EXPECT_EQ(b.arrived(), 2U);
        arrive(b);
        EXPECT_EQ(b.arrived(), 0U) << "one that comes now belongs to the next phase";
        world.run();
        EXPECT_EQ(log, "xxx");
    }
}

TEST_F(Barrier, KeepsCoroutinesInStep) {
    barrier b(context, 3);
    int steps[3] = {};
    for (int& mine : steps)
        spawn([&b, &steps, &mine, this]() -> awaitable<void> {
            for (int i = 1; i != 20; ++i) {
                co_await sleep(std::chrono::seconds(1 + (i + (&mine - steps)) % 3));
                ++mine;
                co_await b.async_arrive_and_wait();
                for (int const other : steps)
                    EXPECT_EQ(other, i);
                co_await b.async_arrive_and_wait();
            }
            log += "x";
        });
    world.run();
    EXPECT_EQ(log, "xxx");
}

TEST_F(Barrier, TheLastOneNeitherSuspendsNorAllocates) {
    barrier alone(context, 1), both(context, 2);
    spawn([&]() -> awaitable<void> {
        arrive(both);
        auto const items = context.counters().items;
        test::new_counter const counted;
        for (int i = 0; i != 10; ++i)
            co_await alone.async_arrive_and_wait();
        co_await both.async_arrive_and_wait();
        EXPECT_EQ(counted.calls(), 0U);
        EXPECT_EQ(context.counters().items, items);
    });
    world.run();
    EXPECT_EQ(log, "x");
}

TEST_F(Barrier, ACancelledArrivalIsTakenBack) {
    barrier b(context, 2);
    cancellation_signal signal;
    b.async_arrive_and_wait(bind_cancellation_slot(
        signal.slot(), [this](error_code ec) { log += ec == error::operation_aborted ? "a" : "?"; }));
    EXPECT_EQ(b.arrived(), 1U);
    signal.emit(cancellation_type::total);
    EXPECT_EQ(b.arrived(), 0U);
    arrive(b);
    world.run();
    EXPECT_EQ(log, "a");
    arrive(b);
    world.run();
    EXPECT_EQ(log, "axx");
}

TEST_F(Barrier, OneThatDropsOutIsWaitedForNoMore) {
    barrier b(context, 3);
    arrive(b);
    arrive(b);
    b.arrive_and_drop();
    world.run();
    EXPECT_EQ(log, "xx");
    EXPECT_EQ(b.expected(), 2U);
    arrive(b);
    b.arrive_and_drop();
    arrive(b);
    world.run();
    EXPECT_EQ(log, "xxxx");
    b.arrive_and_drop();
    EXPECT_EQ(b.expected(), 0U);
}

TEST_F(Barrier, CancelledOrDestroyedItsWaitsEnd) {
    auto b = std::make_unique<barrier>(context, 3U);
    arrive(*b);
    arrive(*b);
    EXPECT_EQ(b->cancel(), 2U);
    EXPECT_EQ(b->arrived(), 0U);
    arrive(*b);
    spawn([&]() -> awaitable<void> {
        auto const [ec] = co_await b->async_arrive_and_wait(cancel_after(2s, as_tuple));
        EXPECT_EQ(ec, error::operation_aborted);
        EXPECT_EQ(passed(), 2s);
        EXPECT_EQ(b->arrived(), 1U);
    });
    world.run();
    EXPECT_EQ(log, "aa");
    b.reset();
    world.run();
    EXPECT_EQ(log, "aaa");
}

TEST(BarrierDeathTest, WithoutParticipantsAborts) {
    io_context c;
    EXPECT_DEATH(barrier(c, 0), "n != 0");
    barrier b(c, 1);
    b.arrive_and_drop();
    EXPECT_DEATH(b.arrive_and_drop(), "expected_ != 0");
}

TEST(BarrierOfAPool, KeepsThreadsInStep) {
    auto const rounds = static_cast<int>(test::scaled(2'000, 100));
    thread_pool pool(2);
    barrier b(pool, 3);
    std::atomic<int> arrived{0};
    auto const work = [&]() -> awaitable<void> {
        for (int i = 1; i != rounds; ++i) {
            arrived.fetch_add(1);
            co_await b.async_arrive_and_wait();
            EXPECT_EQ(arrived.load(), 3 * i);
            co_await b.async_arrive_and_wait();
        }
    };
    auto first = co_spawn(pool, work, use_future), second = co_spawn(pool, work, use_future),
         third = co_spawn(pool, work, use_future);
    first.get();
    second.get();
    third.get();
}

} // namespace
