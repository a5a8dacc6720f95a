#include <fairlead/sync/shared_mutex.hpp>

#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/token/post.hpp>
#include <fairlead/token/use_future.hpp>
#include <support/counting_new.hpp>
#include <support/scale.hpp>
#include <unit/sync/waiting.hpp>

#include <algorithm>
#include <memory>
#include <string>

namespace {

using namespace waiting;

class SharedMutex : public World {
public:
    void read(char name) {
        m.async_lock_shared([this, name](error_code ec) { (log += name) += ec ? "!" : ""; });
    }
    void write(char name) {
        m.async_lock([this, name](error_code ec) { (log += name) += ec ? "!" : ""; });
    }
    /// The names of the handlers that have run, sorted: those that are ready at once run in any order.
    std::string ran() {
        world.run();
        std::sort(log.begin(), log.end());
        return std::exchange(log, {});
    }

    shared_mutex m{context};
};

TEST_F(SharedMutex, AdmitsReadersTogetherAndAWriterAlone) {
    read('a');
    read('b');
    EXPECT_EQ(ran(), "ab");
    ASSERT_FALSE(m.try_lock());
    EXPECT_TRUE(m.try_lock_shared());
    write('c');
    EXPECT_EQ(ran(), "");
    m.unlock_shared();
    m.unlock_shared();
    EXPECT_EQ(ran(), "");
    m.unlock_shared();
    EXPECT_EQ(ran(), "c");
    EXPECT_FALSE(m.try_lock_shared());
    m.unlock();
    EXPECT_TRUE(m.try_lock());
}

// F09: FIFO, and nobody is passed.
TEST_F(SharedMutex, AWriterThatWaitsIsNotPassedByLaterReaders) {
    EXPECT_TRUE(m.try_lock_shared());
    write('a');
    read('b');
    read('c');
    write('d');
    read('e');
    EXPECT_FALSE(m.try_lock_shared()) << "the writer was passed";
    ASSERT_EQ(ran(), "");
    m.unlock_shared();
    EXPECT_EQ(ran(), "a");
    m.unlock();
    EXPECT_EQ(ran(), "bc") << "readers in a row go together, and the one behind the writer does not";
    m.unlock_shared();
    EXPECT_EQ(ran(), "");
    m.unlock_shared();
    EXPECT_EQ(ran(), "d");
    m.unlock();
    EXPECT_EQ(ran(), "e");
}

TEST_F(SharedMutex, WhenAWaitingWriterIsCancelledTheReadersBehindItGo) {
    EXPECT_TRUE(m.try_lock_shared());
    cancellation_signal signal;
    m.async_lock(bind_cancellation_slot(signal.slot(),
                                        [this](error_code ec) { log += ec == error::operation_aborted ? "a" : "?"; }));
    read('b');
    read('c');
    EXPECT_EQ(ran(), "");
    signal.emit(cancellation_type::terminal);
    EXPECT_EQ(ran(), "abc");
    for (int i = 0; i != 3; ++i)
        m.unlock_shared();
    EXPECT_TRUE(m.try_lock()) << "the cancelled writer took something";
}

TEST_F(SharedMutex, AwaitedWhileItIsFreeItNeitherSuspendsNorAllocates) {
    spawn([this]() -> awaitable<void> {
        auto const items = context.counters().items;
        test::new_counter const counted;
        for (int i = 0; i != 10; ++i) {
            co_await m.async_lock();
            m.unlock();
            co_await m.async_lock_shared();
            co_await m.async_lock_shared();
            m.unlock_shared();
            m.unlock_shared();
        }
        EXPECT_EQ(counted.calls(), 0U);
        EXPECT_EQ(context.counters().items, items);
        log = "x";
    });
    EXPECT_EQ(ran(), "x");
}

TEST_F(SharedMutex, CancelledOrDestroyedItsWaitsEnd) {
    auto waited = std::make_unique<shared_mutex>(context);
    auto const wait = [&] {
        waited->async_lock([this](error_code ec) { log += ec == error::operation_aborted ? "x" : "?"; });
        waited->async_lock_shared([this](error_code ec) { log += ec == error::operation_aborted ? "x" : "?"; });
    };
    EXPECT_TRUE(waited->try_lock());
    wait();
    EXPECT_EQ(waited->cancel(), 2U);
    EXPECT_EQ(ran(), "xx");
    wait();
    waited->unlock(); // The writer is given what is gone when it runs.
    waited.reset();
    EXPECT_EQ(ran(), "xx");
}

TEST_F(SharedMutex, GivenToCoroutinesThatAreDestroyedBeforeTheyRunItIsFreeAgain) {
    EXPECT_TRUE(m.try_lock());
    for (int i = 0; i != 2; ++i)
        spawn([this]() -> awaitable<void> {
            co_await m.async_lock_shared();
            ADD_FAILURE();
        });
    m.async_lock([](error_code) { ADD_FAILURE(); });
    EXPECT_FALSE(world.run_for(1s));
    m.unlock();
    context.abandon_all();
    EXPECT_TRUE(m.try_lock());
}

TEST(SharedMutexDeathTest, UnlockingOfWhatIsNotLockedAborts) {
    io_context c;
    shared_mutex m(c);
    EXPECT_DEATH(m.unlock(), "has_writer_");
    EXPECT_DEATH(m.unlock_shared(), "readers_ != 0");
    EXPECT_TRUE(m.try_lock());
    EXPECT_DEATH(m.unlock_shared(), "readers_ != 0");
}

TEST(SharedMutexOfAPool, ExcludesWritersAmongThreads) {
    auto const rounds = static_cast<int>(test::scaled(2'000, 200));
    thread_pool pool(2);
    shared_mutex m(pool);
    int written = 0; // guarded by the mutex
    auto const write = [&]() -> awaitable<void> {
        for (int i = 0; i != rounds; ++i) {
            co_await m.async_lock();
            ++written;
            m.unlock();
        }
    };
    auto const read = [&]() -> awaitable<void> {
        for (int i = 0; i != rounds; ++i) {
            co_await m.async_lock_shared();
            EXPECT_LE(written, 2 * rounds);
            m.unlock_shared();
        }
    };
    auto first = co_spawn(pool, write, use_future), second = co_spawn(pool, write, use_future),
         third = co_spawn(pool, read, use_future);
    first.get();
    second.get();
    third.get();
    EXPECT_EQ(written, 2 * rounds);
    EXPECT_TRUE(m.try_lock());
}

/// A waiting writer is cancelled by one thread while another one unlocks. The reader behind it goes in any case.
TEST(SharedMutexOfAPool, CancelRacesWithUnlock) {
    auto const rounds = static_cast<int>(test::scaled(20'000, 1'000));
    thread_pool pool(2);
    for (int i = 0; i != rounds; ++i) {
        shared_mutex m(pool);
        EXPECT_TRUE(m.try_lock_shared());
        cancellation_signal signal;
        auto writes = m.async_lock(bind_cancellation_slot(signal.slot(), as_tuple(use_future)));
        auto reads = m.async_lock_shared(use_future);
        std::promise<void> unlocked;
        post(pool, [&] {
            m.unlock_shared();
            unlocked.set_value();
        });
        signal.emit(cancellation_type::terminal);
        auto const [ec] = writes.get();
        if (!ec)
            m.unlock();
        reads.get();
        unlocked.get_future().get();
        m.unlock_shared();
        EXPECT_TRUE(m.try_lock());
    }
}

TEST(SharedMutexOfAContext, IsLockedAtOnceInAnotherContextWhileItIsFree) {
    io_context context, other;
    shared_mutex m(context);
    EXPECT_TRUE(m.try_lock_shared());
    bool is_done = false;
    co_spawn(
        other,
        [&]() -> awaitable<void> {
            co_await m.async_lock_shared();
            EXPECT_FALSE(m.try_lock());
            m.unlock_shared();
            is_done = true;
        },
        rethrow);
    other.poll();
    EXPECT_TRUE(is_done);
    m.unlock_shared();
    EXPECT_TRUE(m.try_lock());
}

} // namespace
