#include <fairlead/sync/condition_variable.hpp>

#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/token/post.hpp>
#include <fairlead/token/use_future.hpp>
#include <support/counting_new.hpp>
#include <support/scale.hpp>
#include <unit/sync/waiting.hpp>

#include <memory>
#include <optional>

namespace {

using namespace waiting;

class ConditionVariable : public World {
public:
    /// Waits once, and writes its name when it has the mutex again.
    void wait(char name) {
        spawn([this, name]() -> awaitable<void> {
            mutex_guard g = co_await m.async_guard();
            auto const [ec] = co_await c->async_wait(g, as_tuple);
            EXPECT_TRUE(g.owns_lock() && m.is_locked());
            (log += name) += !ec ? "" : ec == error::operation_aborted ? "!" : "?";
        });
        EXPECT_FALSE(world.run_for(1s));
        EXPECT_FALSE(m.is_locked()) << "who waits has released the mutex";
    }

    mutex m{context};
    std::optional<condition_variable> c{std::in_place, context};
};

TEST_F(ConditionVariable, LetsGoAsManyAsItIsToldInTheOrderOfTheCalls) {
    for (char name = 'a'; name != 'f'; ++name)
        wait(name);
    c->notify_one();
    world.run_for(1s);
    EXPECT_EQ(log, "a");
    c->notify_one();
    c->notify_one();
    world.run_for(1s);
    EXPECT_EQ(log, "abc");
    c->notify_all();
    world.run();
    EXPECT_EQ(log, "abcde");
    EXPECT_FALSE(m.is_locked());
    c->notify_one(); // Nobody hears it, neither now nor later.
    wait('f');
    EXPECT_EQ(log, "abcde");
    EXPECT_EQ(c->cancel(), 1U);
    world.run();
    EXPECT_EQ(log, "abcdef!");
}

/// Producers and consumers: no notification is lost between the look at the condition and the wait.
TEST_F(ConditionVariable, LosesNoWakeUp) {
    constexpr int all = 200;
    int there = 0, taken = 0;
    for (int i = 0; i != 4; ++i)
        spawn([&]() -> awaitable<void> {
            mutex_guard g = co_await m.async_guard();
            while (taken != all) {
                while (there == 0 && taken != all)
                    co_await c->async_wait(g);
                if (taken == all)
                    break;
                --there;
                if (++taken == all)
                    c->notify_all();
            }
            log += "x";
        });
    for (int i = 0; i != 2; ++i)
        spawn([&]() -> awaitable<void> {
            for (int n = 0; n != all / 2; ++n) {
                mutex_guard g = co_await m.async_guard();
                ++there;
                g.unlock();
                c->notify_one();
                if (n % 3 == 0)
                    co_await sleep(1ms);
            }
        });
    world.run();
    EXPECT_EQ(log, "xxxx");
    EXPECT_EQ(taken, all);
}

TEST_F(ConditionVariable, OneThatIsNotifiedLocksInItsTurn) {
    wait('a');
    EXPECT_TRUE(m.try_lock());
    m.async_guard([this](error_code, mutex_guard) { log += "before "; });
    c->notify_one();
    m.async_guard([this](error_code, mutex_guard) { log += " after"; });
    world.run_for(1s);
    EXPECT_EQ(log, "");
    m.unlock();
    world.run();
    EXPECT_EQ(log, "before a after");
}

TEST_F(ConditionVariable, ACancelledWaitHasTheMutexAgain) {
    spawn([this]() -> awaitable<void> {
        mutex_guard g = co_await m.async_guard();
        auto const [ec] = co_await c->async_wait(g, cancel_after(2s, as_tuple));
        EXPECT_EQ(ec, error::operation_aborted);
        EXPECT_EQ(passed(), 5s) << "another one had the mutex until then";
        EXPECT_TRUE(g.owns_lock() && m.is_locked());
        log += "a";
    });
    spawn([this]() -> awaitable<void> {
        co_await sleep(1s);
        auto const g = co_await m.async_guard();
        co_await sleep(4s);
        log += "b";
    });
    world.run();
    EXPECT_EQ(log, "ba");
    EXPECT_FALSE(m.is_locked());
}

/// Once it is notified the wait is one for the mutex, which no request ends.
TEST_F(ConditionVariable, ACancellationAfterTheNotificationChangesNothing) {
    cancellation_signal signal;
    EXPECT_TRUE(m.try_lock());
    c->async_wait(m, bind_cancellation_slot(signal.slot(), [this](error_code ec) { log += ec ? "?" : "x"; }));
    EXPECT_TRUE(m.try_lock());
    c->notify_one();
    signal.emit(cancellation_type::terminal);
    EXPECT_EQ(m.cancel(), 0U) << "it has to have the mutex when it completes";
    EXPECT_EQ(c->cancel(), 0U);
    world.run();
    EXPECT_EQ(log, "");
    m.unlock();
    world.run();
    EXPECT_EQ(log, "x");
    EXPECT_TRUE(m.is_locked());
}

TEST_F(ConditionVariable, DestroyedItsWaitsEndWithTheMutex) {
    wait('a');
    wait('b');
    EXPECT_TRUE(m.try_lock());
    c.reset();
    world.run_for(1s);
    EXPECT_EQ(log, "");
    m.unlock();
    world.run();
    EXPECT_EQ(log, "a!b!");
}

TEST_F(ConditionVariable, AWaitWhoseMutexGoesEndsWithoutIt) {
    auto gone = std::make_unique<mutex>(context);
    EXPECT_TRUE(gone->try_lock());
    c->async_wait(*gone, [this](error_code ec) { log += ec == error::operation_aborted ? "x" : "?"; });
    EXPECT_TRUE(gone->try_lock());
    c->notify_one();
    gone.reset();
    world.run();
    EXPECT_EQ(log, "x");
}

TEST_F(ConditionVariable, AwaitedAllocatesNothing) {
    bool is_set = false;
    spawn([&]() -> awaitable<void> {
        mutex_guard g = co_await m.async_guard();
        test::new_counter const counted;
        for (int i = 0; i != 10; ++i) {
            while (!is_set)
                co_await c->async_wait(g);
            is_set = false;
        }
        EXPECT_EQ(counted.calls(), 0U);
        log += "x";
    });
    spawn([&]() -> awaitable<void> {
        for (int i = 0; i != 10; ++i) {
            co_await m.async_lock();
            is_set = true;
            m.unlock();
            c->notify_one();
            while (is_set)
                co_await post(context);
        }
    });
    world.run();
    EXPECT_EQ(log, "x");
}

/// The guard in the frame owns nothing while the coroutine waits.
TEST_F(ConditionVariable, WhoIsDestroyedWhileItWaitsLeavesTheMutexAlone) {
    for (bool const is_notified : {false, true}) {
        wait('a');
        EXPECT_TRUE(m.try_lock());
        if (is_notified)
            c->notify_one(); // It waits for the mutex.
        context.abandon_all();
        ASSERT_TRUE(m.is_locked());
        m.unlock();
    }
    EXPECT_EQ(log, "");
}

TEST_F(ConditionVariable, WhoIsDestroyedWithTheMutexGivesItOn) {
    wait('a');
    c->notify_one(); // It has the mutex, and has not run.
    EXPECT_TRUE(m.is_locked());
    context.abandon_all();
    EXPECT_FALSE(m.is_locked());
    EXPECT_EQ(log, "");
}

TEST(ConditionVariableDeathTest, WaitingWithoutTheMutexAborts) {
    io_context one, other;
    mutex m(one);
    condition_variable c(one), strange(other);
    mutex_guard none;
    EXPECT_DEATH(c.async_wait(none, [](error_code) {}), "owns_lock");
    EXPECT_DEATH(c.async_wait(m, [](error_code) {}), "is_locked_");
    EXPECT_TRUE(m.try_lock());
    EXPECT_DEATH(strange.async_wait(m, [](error_code) {}), "domain");
}

TEST(ConditionVariableOfAPool, HandsValuesFromThreadToThread) {
    auto const rounds = static_cast<int>(test::scaled(2'000, 200));
    thread_pool pool(2);
    mutex m(pool);
    condition_variable changed(pool);
    bool is_full = false; // guarded by the mutex
    int taken = 0;
    auto const give = [&]() -> awaitable<void> {
        for (int i = 0; i != rounds; ++i) {
            mutex_guard g = co_await m.async_guard();
            while (is_full)
                co_await changed.async_wait(g);
            is_full = true;
            changed.notify_all();
        }
    };
    auto const take = [&]() -> awaitable<void> {
        for (int i = 0; i != rounds; ++i) {
            mutex_guard g = co_await m.async_guard();
            while (!is_full)
                co_await changed.async_wait(g);
            is_full = false;
            ++taken;
            changed.notify_all();
        }
    };
    auto first = co_spawn(pool, give, use_future), second = co_spawn(pool, take, use_future);
    first.get();
    second.get();
    EXPECT_EQ(taken, rounds);
}

/// Cancelled by one thread while another one notifies: the wait ends once, with the mutex.
TEST(ConditionVariableOfAPool, CancelRacesWithNotify) {
    auto const rounds = static_cast<int>(test::scaled(20'000, 1'000));
    thread_pool pool(2);
    for (int i = 0; i != rounds; ++i) {
        mutex m(pool);
        condition_variable c(pool);
        EXPECT_TRUE(m.try_lock());
        mutex_guard g(m, adopt_lock);
        cancellation_signal signal;
        auto waited = c.async_wait(g, bind_cancellation_slot(signal.slot(), as_tuple(use_future)));
        std::promise<void> notified;
        post(pool, [&] {
            c.notify_one();
            notified.set_value();
        });
        signal.emit(cancellation_type::terminal);
        waited.get();
        EXPECT_TRUE(g.owns_lock());
        notified.get_future().get();
    }
}

} // namespace
