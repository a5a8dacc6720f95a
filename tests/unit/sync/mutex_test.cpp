#include <fairlead/sync/mutex.hpp>

#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/sync/event.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/post.hpp>
#include <fairlead/token/use_future.hpp>
#include <support/counting_new.hpp>
#include <support/scale.hpp>
#include <unit/sync/waiting.hpp>

#include <memory>
#include <optional>
#include <type_traits>

namespace {

using namespace waiting;

class Mutex : public World {
public:
    mutex m{context};
};

// F09: FIFO, and nobody is passed.
TEST_F(Mutex, IsHandedOverInTheOrderOfTheCalls) {
    EXPECT_TRUE(m.try_lock());
    for (char name = 'a'; name != 'd'; ++name)
        m.async_lock([this, name](error_code ec) {
            (log += name) += ec ? "!" : "";
            EXPECT_FALSE(m.try_lock());
        });
    world.run();
    EXPECT_EQ(log, "");
    m.unlock();
    EXPECT_FALSE(m.try_lock()) << "the first that waits was passed before it ran";
    world.run();
    EXPECT_EQ(log, "a");
    m.unlock();
    world.run();
    m.unlock();
    world.run();
    EXPECT_EQ(log, "abc");
    EXPECT_TRUE(m.is_locked());
    m.unlock();
    EXPECT_FALSE(m.is_locked());
    EXPECT_TRUE(m.try_lock());
}

TEST_F(Mutex, OfWhichAGuardIsGivenIsUnlockedWithTheGuard) {
    static_assert(!std::is_copy_constructible_v<mutex_guard> && std::is_nothrow_move_constructible_v<mutex_guard>);
    spawn([this]() -> awaitable<void> {
        {
            mutex_guard const g = co_await m.async_guard();
            EXPECT_TRUE(g.owns_lock());
            EXPECT_FALSE(m.try_guard());
        }
        EXPECT_FALSE(m.is_locked());
        co_await m.async_lock();
        mutex_guard g(m, adopt_lock);
        mutex_guard other(std::move(g));
        EXPECT_TRUE(!g && other);
        other.unlock();
        EXPECT_FALSE(m.is_locked());
        other = m.try_guard();
        other = mutex_guard();
        EXPECT_FALSE(m.is_locked());
        m.try_guard().release();
        EXPECT_TRUE(m.is_locked());
        log = "done";
    });
    world.run();
    EXPECT_EQ(log, "done");
}

TEST_F(Mutex, AwaitedWhileItIsFreeItNeitherSuspendsNorAllocates) {
    spawn([this]() -> awaitable<void> {
        auto const items = context.counters().items;
        test::new_counter const counted;
        for (int i = 0; i != 10; ++i) {
            co_await m.async_lock();
            m.unlock();
            auto const g = co_await m.async_guard();
            EXPECT_TRUE(g);
        }
        EXPECT_EQ(counted.calls(), 0U);
        EXPECT_EQ(context.counters().items, items);
        log = "done";
    });
    world.run();
    EXPECT_EQ(log, "done");
}

TEST_F(Mutex, ACancelledWaitOwnsNothingAndTheNextOneGets) {
    EXPECT_TRUE(m.try_lock());
    cancellation_signal signal;
    m.async_guard(bind_cancellation_slot(signal.slot(), [this](error_code ec, mutex_guard g) {
        EXPECT_EQ(ec, error::operation_aborted);
        EXPECT_FALSE(g);
        log += "a";
    }));
    m.async_guard([this](error_code ec, mutex_guard g) { log += !ec && g ? "b" : "?"; });
    signal.emit(cancellation_type::total);
    world.run();
    ASSERT_EQ(log, "a");
    m.unlock();
    world.run();
    EXPECT_EQ(log, "ab");
    EXPECT_FALSE(m.is_locked());
}

TEST_F(Mutex, ACancellationThatComesAfterTheHandOverChangesNothing) {
    EXPECT_TRUE(m.try_lock());
    cancellation_signal signal;
    m.async_lock(bind_cancellation_slot(signal.slot(), [this](error_code ec) { log += ec ? "?" : "x"; }));
    m.unlock();
    signal.emit(cancellation_type::terminal);
    EXPECT_EQ(m.cancel(), 0U);
    world.run();
    EXPECT_EQ(log, "x");
    EXPECT_TRUE(m.is_locked());
}

TEST_F(Mutex, CancelledOrDestroyedItsWaitsEnd) {
    auto waited = std::make_unique<mutex>(context);
    EXPECT_TRUE(waited->try_lock());
    for (int i = 0; i != 2; ++i)
        waited->async_lock([this](error_code ec) { log += ec == error::operation_aborted ? "x" : "?"; });
    EXPECT_EQ(waited->cancel(), 2U);
    world.run();
    EXPECT_EQ(log, "xx");
    waited->async_lock([this](error_code ec) { log += ec == error::operation_aborted ? "y" : "?"; });
    waited->async_lock([this](error_code ec) { log += ec == error::operation_aborted ? "y" : "?"; });
    waited->unlock(); // The first of them is given what is gone when it runs.
    waited.reset();
    world.run();
    EXPECT_EQ(log, "xxyy");
}

TEST_F(Mutex, AnAwaitWithALimitOwnsTheMutexInTimeOrNotAtAll) {
    spawn([this]() -> awaitable<void> {
        auto const g = co_await m.async_guard();
        auto [ec, none] = co_await m.async_guard(cancel_after(2s, as_tuple));
        EXPECT_EQ(ec, error::operation_aborted);
        EXPECT_FALSE(none);
        EXPECT_EQ(passed(), 2s);
        log = "late ";
    });
    world.run();
    EXPECT_FALSE(m.is_locked());
    EXPECT_TRUE(m.try_lock());
    spawn([this]() -> awaitable<void> {
        auto const g = co_await m.async_guard(cancel_after(1s));
        EXPECT_TRUE(g) << "the time was not up";
        log += "done";
    });
    EXPECT_FALSE(world.run_for(500ms));
    m.unlock();
    world.run();
    EXPECT_EQ(log, "late done");
    EXPECT_FALSE(m.is_locked());
}

/// The one that is destroyed between the hand-over and its turn gives the mutex on.
TEST_F(Mutex, GivenToACoroutineThatIsDestroyedBeforeItRunsIsFreeAgain) {
    EXPECT_TRUE(m.try_lock());
    spawn([this]() -> awaitable<void> {
        co_await m.async_lock();
        ADD_FAILURE();
    });
    spawn([this]() -> awaitable<void> {
        auto const g = co_await m.async_guard();
        ADD_FAILURE();
    });
    m.async_guard([](error_code, mutex_guard) { ADD_FAILURE(); });
    EXPECT_FALSE(world.run_for(1s));
    m.unlock();
    context.abandon_all();
    EXPECT_FALSE(m.is_locked());
}

TEST_F(Mutex, AGuardInACoroutineThatIsDestroyedUnlocks) {
    event never(context);
    spawn([&]() -> awaitable<void> {
        auto const g = co_await m.async_guard();
        co_await never.async_wait();
    });
    EXPECT_FALSE(world.run_for(1s));
    EXPECT_TRUE(m.is_locked());
    context.abandon_all();
    EXPECT_FALSE(m.is_locked());
}

/// As above, with a handler whose values are under way to another executor.
TEST_F(Mutex, AGuardThatIsAbandonedOnItsWayUnlocks) {
    std::optional<io_context> elsewhere(std::in_place);
    m.async_guard(bind_executor(*elsewhere, [](error_code, mutex_guard) { ADD_FAILURE(); }));
    world.run();
    EXPECT_TRUE(m.is_locked());
    elsewhere.reset();
    EXPECT_FALSE(m.is_locked());
}

/// A coroutine of another context, which goes while the op is on its way home.
TEST(MutexOfAContext, GivenToACoroutineThatIsDestroyedElsewhereIsFreeAgain) {
    for (bool const mutex_goes_first : {false, true}) {
        std::optional<io_context> home(std::in_place), context(std::in_place);
        std::optional<mutex> m(std::in_place, *context);
        EXPECT_TRUE(m->try_lock());
        co_spawn(
            *home,
            [&]() -> awaitable<void> {
                co_await m->async_lock();
                ADD_FAILURE();
            },
            rethrow);
        home->poll();
        m->unlock();
        context->poll();
        EXPECT_TRUE(m->is_locked());
        if (mutex_goes_first) {
            m.reset();
            context.reset();
        }
        home.reset();
        EXPECT_FALSE(m && m->is_locked());
    }
}

/// And one that comes home has it.
TEST(MutexOfAContext, GivenToACoroutineElsewhereIsItsOwn) {
    io_context home, context;
    thread_pool pool(1);
    mutex m(context);
    EXPECT_TRUE(m.try_lock());
    int ended = 0;
    auto const lock = [&]() -> awaitable<void> {
        auto const g = co_await m.async_guard();
        EXPECT_TRUE(g && m.is_locked());
        ++ended;
    };
    co_spawn(home, lock, rethrow);
    home.poll();
    auto in_pool = co_spawn(pool, lock, use_future);
    m.unlock();
    context.poll();
    home.restart();
    home.poll();
    auto const work = make_work_guard(context);
    while (in_pool.wait_for(0s) != std::future_status::ready) {
        context.restart();
        context.poll();
    }
    EXPECT_EQ(ended, 2);
    EXPECT_FALSE(m.is_locked());
}

TEST(MutexDeathTest, UnlockingOfWhatIsNotLockedAborts) {
    io_context c;
    mutex m(c);
    EXPECT_DEATH(m.unlock(), "is_locked_");
    mutex_guard g;
    EXPECT_DEATH(g.unlock(), "owns_lock");
}

TEST(MutexOfAContext, WhoWaitsIsGivenUpWithTheContext) {
    auto const witness = std::make_shared<int>();
    std::unique_ptr<mutex> outlives;
    {
        io_context context;
        outlives = std::make_unique<mutex>(context);
        mutex goes_first(context);
        for (mutex* m : {outlives.get(), &goes_first}) {
            EXPECT_TRUE(m->try_lock());
            m->async_lock([kept = witness](error_code) { ADD_FAILURE(); });
            m->async_guard([kept = witness](error_code, mutex_guard) { ADD_FAILURE(); });
            m->unlock();
        }
        EXPECT_EQ(witness.use_count(), 5);
    }
    EXPECT_EQ(witness.use_count(), 1);
    EXPECT_FALSE(outlives->is_locked());
}

TEST(MutexOfAPool, ExcludesAmongThreads) {
    auto const rounds = static_cast<int>(test::scaled(2'000, 200));
    thread_pool pool(2);
    mutex m(pool);
    int counted = 0, inside = 0; // guarded by the mutex
    auto const work = [&]() -> awaitable<void> {
        for (int i = 0; i != rounds; ++i) {
            auto const g = co_await m.async_guard();
            EXPECT_EQ(++inside, 1);
            ++counted;
            --inside;
        }
    };
    auto first = co_spawn(pool, work, use_future), second = co_spawn(pool, work, use_future),
         third = co_spawn(pool, work, use_future);
    first.get();
    second.get();
    third.get();
    EXPECT_EQ(counted, 3 * rounds);
    EXPECT_FALSE(m.is_locked());
}

/// Cancelled by one thread while another one unlocks: exactly one of the two happens.
TEST(MutexOfAPool, CancelRacesWithUnlock) {
    auto const rounds = static_cast<int>(test::scaled(20'000, 1'000));
    thread_pool pool(2);
    for (int i = 0; i != rounds; ++i) {
        mutex m(pool);
        EXPECT_TRUE(m.try_lock());
        cancellation_signal signal;
        auto taken = m.async_guard(bind_cancellation_slot(signal.slot(), as_tuple(use_future)));
        std::promise<void> unlocked;
        post(pool, [&] {
            m.unlock();
            unlocked.set_value();
        });
        signal.emit(cancellation_type::terminal);
        auto [ec, g] = taken.get();
        EXPECT_EQ(g.owns_lock(), !ec);
        unlocked.get_future().get();
        EXPECT_EQ(m.is_locked(), !ec);
    }
}

/// Its loop is asked only where somebody has to wait: here it never runs.
TEST(MutexOfAContext, IsLockedAtOnceInAnotherContextWhileItIsFree) {
    io_context context, other;
    mutex m(context);
    int ended = 0;
    auto const lock = [&]() -> awaitable<void> {
        co_await m.async_lock();
        EXPECT_FALSE(m.try_lock());
        m.unlock();
        {
            auto const g = co_await m.async_guard();
            EXPECT_TRUE(g && m.is_locked());
        }
        EXPECT_FALSE(m.is_locked());
        ++ended;
    };
    co_spawn(other, lock, rethrow);
    other.poll();
    ASSERT_EQ(ended, 1);
    thread_pool pool(1);
    co_spawn(pool, lock, use_future).get();
    EXPECT_EQ(ended, 2);
}

/// Of two threads that want the first object of a context, one may have made a list of waits in vain.
TEST(WaitDomain, ThatIsGivenUpLeavesTheContextItsOwn) {
    auto const witness = std::make_shared<int>();
    std::unique_ptr<mutex> outlives;
    {
        io_context context;
        outlives = std::make_unique<mutex>(context);
        {
            impl::sync::wait_domain const in_vain(context);
        }
        EXPECT_TRUE(outlives->try_lock());
        outlives->async_lock([kept = witness](error_code) { ADD_FAILURE(); });
        EXPECT_EQ(witness.use_count(), 2);
    }
    EXPECT_EQ(witness.use_count(), 1);
}

} // namespace
