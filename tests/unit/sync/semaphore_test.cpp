#include <fairlead/sync/semaphore.hpp>

#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/token/post.hpp>
#include <fairlead/token/use_future.hpp>
#include <support/scale.hpp>
#include <unit/sync/waiting.hpp>

#include <atomic>
#include <memory>

namespace {

using namespace waiting;

class Semaphore : public World {};

TEST_F(Semaphore, GivesItsPermitsInTheOrderOfTheCalls) {
    semaphore s(context, 2);
    for (char name = 'a'; name != 'e'; ++name) {
        s.async_acquire([this, name](error_code ec) { (log += name) += ec ? "!" : ""; });
        world.run(); // Handlers that are ready at once run in any order here.
    }
    EXPECT_EQ(log, "ab");
    EXPECT_EQ(s.permits(), 0U);
    s.release();
    world.run();
    EXPECT_EQ(log, "abc");
    s.release();
    world.run();
    EXPECT_EQ(log, "abcd");
    s.release(3);
    EXPECT_EQ(s.permits(), 3U);
    EXPECT_TRUE(s.try_acquire(3));
    EXPECT_FALSE(s.try_acquire());
}

// F09: FIFO, and nobody is passed.
/// Inside the loop a permit that nobody waits for takes no lock from the second one on.
TEST_F(Semaphore, GivesItsPermitsInsideTheLoop) {
    semaphore s(context, 1);
    spawn([&]() -> awaitable<void> {
        for (int i = 0; i != 3; ++i) {
            co_await s.async_acquire();
            s.release();
        }
        EXPECT_EQ(s.permits(), 1U);
        co_await s.async_acquire();
        co_await this_coro::yield(); // The others wait now.
        co_await this_coro::yield();
        s.release();
    });
    for (char name = 'a'; name != 'd'; ++name)
        spawn([this, &s, name]() -> awaitable<void> {
            co_await s.async_acquire();
            log += name;
            s.release();
        });
    world.run();
    EXPECT_EQ(log.size(), 3U);
    EXPECT_EQ(s.permits(), 1U);
}

TEST_F(Semaphore, OneThatAsksForManyIsNotPassed) {
    semaphore s(context, 1);
    s.async_acquire(3, [this](error_code) { log += "many "; });
    s.async_acquire([this](error_code) { log += "one "; });
    EXPECT_FALSE(s.try_acquire()) << "the first that waits was passed";
    world.run();
    EXPECT_EQ(log, "");
    s.release(2);
    world.run();
    EXPECT_EQ(log, "many ");
    s.release();
    world.run();
    EXPECT_EQ(log, "many one ");
}

TEST_F(Semaphore, WhenTheFirstIsCancelledTheNextGoes) {
    semaphore s(context, 1);
    cancellation_signal signal;
    s.async_acquire(3, bind_cancellation_slot(signal.slot(), [this](error_code ec) {
                        EXPECT_EQ(ec, error::operation_aborted);
                        log += "x";
                    }));
    s.async_acquire([this](error_code ec) {
        EXPECT_FALSE(ec);
        log += "x";
    });
    signal.emit(cancellation_type::total);
    world.run();
    EXPECT_EQ(log, "xx");
    EXPECT_EQ(s.permits(), 0U);
}

TEST_F(Semaphore, AnAwaitWithALimitTakesNothingWhenItIsLate) {
    semaphore s(context, 0);
    spawn([&]() -> awaitable<void> {
        auto [ec] = co_await s.async_acquire(cancel_after(2s, as_tuple));
        EXPECT_EQ(ec, error::operation_aborted);
        EXPECT_EQ(passed(), 2s);
        s.release();
        co_await s.async_acquire(cancel_after(2s));
        EXPECT_EQ(passed(), 2s);
        log = "done";
    });
    world.run();
    EXPECT_EQ(log, "done");
    EXPECT_EQ(s.permits(), 0U);
}

TEST_F(Semaphore, CancelledOrDestroyedItsWaitsEndAndItCanStillBeUsed) {
    auto s = std::make_unique<semaphore>(context, 0);
    for (int i = 0; i != 3; ++i)
        s->async_acquire([this](error_code ec) { log += ec == error::operation_aborted ? "x" : "?"; });
    EXPECT_EQ(s->cancel(), 3U);
    EXPECT_EQ(s->cancel(), 0U);
    world.run();
    s->async_acquire([this](error_code ec) { log += ec ? "?" : "y"; });
    s->release();
    world.run();
    s->async_acquire([this](error_code ec) { log += ec == error::operation_aborted ? "z" : "?"; });
    s.reset();
    world.run();
    EXPECT_EQ(log, "xxxyz");
}

TEST(SemaphoreOfAContext, OpsThatWaitAreGivenUpWithTheContext) {
    auto const witness = std::make_shared<int>();
    std::unique_ptr<semaphore> outlives;
    {
        io_context context;
        semaphore s(context, 0);
        outlives = std::make_unique<semaphore>(context, 0);
        s.async_acquire([kept = witness](error_code) { ADD_FAILURE(); });
        outlives->async_acquire([kept = witness](error_code) { ADD_FAILURE(); });
        co_spawn(
            context,
            [&, kept = witness]() -> awaitable<void> {
                co_await outlives->async_acquire();
                ADD_FAILURE();
            },
            rethrow);
        context.poll();
        EXPECT_EQ(witness.use_count(), 4);
    }
    EXPECT_EQ(witness.use_count(), 1);
    outlives->release(); // It has nobody to wake, and nothing of the context is left to be used.
    outlives->async_acquire([kept = witness](error_code) { ADD_FAILURE(); });
}

// A permit is given back by whoever it was given to in vain.
TEST(SemaphoreOfAContext, APermitForACoroutineThatIsDestroyedIsThere) {
    io_context outer;
    semaphore s(outer, 0);
    bool next = false;
    {
        io_context inner;
        co_spawn(
            inner,
            [&]() -> awaitable<void> {
                co_await s.async_acquire(2);
                ADD_FAILURE();
            },
            rethrow);
        inner.poll();
        s.release(3);
        outer.poll(); // Sends the coroutine home with its permits.
        EXPECT_EQ(s.permits(), 1U);
        s.async_acquire(3, [&](error_code ec) { next = !ec; });
    }
    outer.restart();
    outer.poll();
    EXPECT_TRUE(next);
    EXPECT_EQ(s.permits(), 0U);
}

TEST(SemaphoreOfAPool, IsPassedOnAmongThreads) {
    auto const rounds = static_cast<int>(test::scaled(2'000, 200));
    thread_pool pool(2);
    semaphore s(pool, 1);
    int counted = 0; // guarded by the permit
    std::atomic<int> inside{0};
    auto const work = [&]() -> awaitable<void> {
        for (int i = 0; i != rounds; ++i) {
            co_await s.async_acquire();
            EXPECT_EQ(inside.fetch_add(1), 0);
            ++counted;
            inside.fetch_sub(1);
            s.release();
        }
    };
    auto first = co_spawn(pool, work, use_future), second = co_spawn(pool, work, use_future),
         third = co_spawn(pool, work, use_future);
    first.get();
    second.get();
    third.get();
    EXPECT_EQ(counted, 3 * rounds);
}

/// Cancelled by one thread while another one gives the permit: exactly one of the two happens.
TEST(SemaphoreOfAPool, CancelRacesWithRelease) {
    auto const rounds = static_cast<int>(test::scaled(20'000, 1'000));
    thread_pool pool(2);
    for (int i = 0; i != rounds; ++i) {
        semaphore s(pool, 0);
        cancellation_signal signal;
        auto taken = s.async_acquire(bind_cancellation_slot(signal.slot(), as_tuple(use_future)));
        post(pool, [&] { s.release(); });
        signal.emit(cancellation_type::terminal);
        auto const [ec] = taken.get();
        std::promise<void> released;
        post(pool, [&] { released.set_value(); });
        if (ec)
            while (!s.try_acquire()) // The permit is still there, or about to come.
                std::this_thread::yield();
        released.get_future().get();
        EXPECT_EQ(s.permits(), 0U);
    }
}

TEST(SemaphoreOfAContext, GivesAFreePermitAtOnceInAnotherContext) {
    io_context context, other;
    semaphore s(context, 3);
    bool is_done = false;
    co_spawn(
        other,
        [&]() -> awaitable<void> {
            co_await s.async_acquire(2);
            EXPECT_EQ(s.permits(), 1U);
            s.release(2);
            is_done = true;
        },
        rethrow);
    other.poll();
    EXPECT_TRUE(is_done);
    EXPECT_EQ(s.permits(), 3U);
}

} // namespace
