#include <fairlead/sync/rate_limiter.hpp>

#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/token/post.hpp>
#include <fairlead/token/use_future.hpp>
#include <support/counting_new.hpp>
#include <support/scale.hpp>
#include <unit/sync/waiting.hpp>

#include <memory>
#include <thread>

namespace {

using namespace waiting;

class RateLimiter : public World {
public:
    /// Acquires, and notes its name with the second in which it got its tokens.
    void acquire(rate_limiter& r, std::size_t n, char name) {
        r.async_acquire(n, [this, name](error_code ec) {
            (log += name) += ec == error::operation_aborted ? "!" : ec ? "?" : std::to_string(passed().count());
        });
    }
};

TEST_F(RateLimiter, GivesItsBurstAtOnceAndThenAtItsRate) {
    rate_limiter r(context, {.tokens = 2, .period = 2s, .burst = 3});
    EXPECT_EQ(r.tokens(), 3U);
    for (char name = 'a'; name != 'g'; ++name) {
        acquire(r, 1, name);
        world.run_for(1ms);
    }
    world.run();
    EXPECT_EQ(log, "a0b0c0d1e2f3");
    EXPECT_EQ(r.tokens(), 0U);
    EXPECT_EQ(passed(), 3s) << "a timer that nobody needs holds up the world";
}

// F09: FIFO, and nobody is passed.
TEST_F(RateLimiter, OneThatAsksForManyIsNotPassed) {
    rate_limiter r(context, {.tokens = 1, .period = 1s, .burst = 5});
    EXPECT_TRUE(r.try_acquire(4));
    acquire(r, 4, 'a');
    acquire(r, 1, 'b');
    EXPECT_FALSE(r.try_acquire()) << "the first that waits was passed";
    world.run();
    EXPECT_EQ(log, "a3b4");
}

TEST_F(RateLimiter, WhenTheFirstIsCancelledTheNextGoesEarlier) {
    rate_limiter r(context, {.tokens = 1, .period = 1s, .burst = 9});
    EXPECT_TRUE(r.try_acquire(9));
    cancellation_signal signal;
    r.async_acquire(9, bind_cancellation_slot(signal.slot(), [this](error_code ec) {
                        log += ec == error::operation_aborted ? "x" : "?";
                    }));
    acquire(r, 2, 'a');
    acquire(r, 5, 'b');
    world.run_for(1500ms);
    EXPECT_EQ(log, "");
    signal.emit(cancellation_type::total);
    world.run();
    EXPECT_EQ(log, "xa2b7") << "it had taken nothing";
}

TEST_F(RateLimiter, RefusesAtOnceToGiveMoreThanItsBurst) {
    rate_limiter r(context, {.tokens = 1, .period = 1s, .burst = 2});
    EXPECT_FALSE(r.try_acquire(3));
    acquire(r, 2, 'a');
    acquire(r, 2, 'b');
    r.async_acquire(3, [this](error_code ec) {
        EXPECT_EQ(ec, error::invalid_argument);
        EXPECT_EQ(passed(), 0s) << "it need not wait to fail";
    });
    spawn([&]() -> awaitable<void> {
        auto const [ec] = co_await r.async_acquire(3, as_tuple);
        EXPECT_EQ(ec, error::invalid_argument);
        EXPECT_EQ(passed(), 0s);
        EXPECT_THROW(co_await r.async_acquire(3), system_error);
    });
    world.run();
    EXPECT_EQ(log, "a0b2");
}

TEST_F(RateLimiter, AwaitedWhileThereAreTokensItNeitherSuspendsNorAllocates) {
    rate_limiter r(context, {.tokens = 1, .period = 1s, .burst = 20});
    spawn([&]() -> awaitable<void> {
        EXPECT_TRUE(r.try_acquire(20));
        co_await r.async_acquire(20); // The heap of timers grows once.
        test::new_counter const counted;
        co_await r.async_acquire(3);
        EXPECT_EQ(counted.calls(), 0U) << "it waits";
        co_await sleep(20s);
        test::new_counter const counted_now;
        auto const before = context.counters();
        for (int i = 0; i != 10; ++i)
            co_await r.async_acquire();
        EXPECT_EQ(context.counters().items, before.items);
        EXPECT_EQ(counted_now.calls(), 0U);
        log = "done";
    });
    world.run();
    EXPECT_EQ(log, "done");
}

TEST_F(RateLimiter, AnAwaitWithALimitTakesNothingWhenItIsLate) {
    rate_limiter r(context, {.tokens = 1, .period = 1s, .burst = 10});
    EXPECT_TRUE(r.try_acquire(10));
    spawn([&]() -> awaitable<void> {
        auto const [ec] = co_await r.async_acquire(10, cancel_after(3s, as_tuple));
        EXPECT_EQ(ec, error::operation_aborted);
        EXPECT_EQ(passed(), 3s);
        EXPECT_EQ(r.tokens(), 3U);
        log = "done";
    });
    world.run();
    EXPECT_EQ(log, "done");
    EXPECT_EQ(passed(), 3s) << "the timer is still set";
}

TEST_F(RateLimiter, CancelledOrDestroyedItsWaitsEndAndItsTimerToo) {
    auto r = std::make_unique<rate_limiter>(context, rate_limit{.tokens = 1, .period = 1h, .burst = 1});
    EXPECT_TRUE(r->try_acquire());
    acquire(*r, 1, 'a');
    acquire(*r, 1, 'b');
    world.run_for(1s);
    EXPECT_EQ(r->cancel(), 2U);
    EXPECT_EQ(r->cancel(), 0U);
    world.run();
    acquire(*r, 1, 'c');
    world.run_for(1s);
    r.reset();
    world.run();
    EXPECT_EQ(log, "a!b!c!");
    EXPECT_EQ(passed(), 2s);
}

TEST(RateLimiterOfAContext, WhoWaitsIsGivenUpWithTheContext) {
    auto const witness = std::make_shared<int>();
    std::unique_ptr<rate_limiter> outlives;
    {
        io_context context;
        rate_limit const limit{.tokens = 1, .period = 1h, .burst = 1};
        outlives = std::make_unique<rate_limiter>(context, limit);
        rate_limiter goes_first(context, limit), never_waits(context, limit);
        for (rate_limiter* r : {outlives.get(), &goes_first}) {
            EXPECT_TRUE(r->try_acquire());
            r->async_acquire([kept = witness](error_code) { ADD_FAILURE(); });
            context.poll();
            r->async_acquire([kept = witness](error_code) { ADD_FAILURE(); });
        }
        EXPECT_EQ(witness.use_count(), 5);
    }
    EXPECT_EQ(witness.use_count(), 1);
    EXPECT_FALSE(outlives->try_acquire());
    outlives->async_acquire([kept = witness](error_code) { ADD_FAILURE(); });
}

/// Limiters that go while another thread has them wait, and while their timers are being set.
TEST(RateLimiterOfAPool, IsCancelledAndDestroyedAmongThreads) {
    auto const rounds = static_cast<int>(test::scaled(5'000, 200));
    thread_pool pool(2);
    for (int i = 0; i != rounds; ++i) {
        auto r = std::make_unique<rate_limiter>(pool, rate_limit{.tokens = 1, .period = 50us, .burst = 4});
        cancellation_signal signal;
        auto first = r->async_acquire(4, as_tuple(use_future));
        auto second = r->async_acquire(3, bind_cancellation_slot(signal.slot(), as_tuple(use_future)));
        auto third = r->async_acquire(1, as_tuple(use_future));
        std::promise<void> emitted;
        post(pool, [&] {
            signal.emit(cancellation_type::terminal);
            emitted.set_value();
        });
        if (i % 2 == 0)
            r.reset();
        else
            EXPECT_FALSE(std::get<0>(third.get()));
        EXPECT_FALSE(std::get<0>(first.get()));
        second.get();
        if (i % 2 == 0)
            third.get();
        emitted.get_future().get();
    }
}

} // namespace
