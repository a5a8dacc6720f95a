// The mistakes of docs/lifetime.md that are reported at run time: by the library, or by a sanitizer alone.
#include <fairlead/coro/resume_on.hpp>
#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/recycler.hpp>
#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/net/local.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/scope/task_scope.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/post.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;

#ifdef FAIRLEAD_ASAN
constexpr bool address_sanitizer = true;
#else
constexpr bool address_sanitizer = false;
#endif
constexpr bool thread_sanitizer = FAIRLEAD_TSAN;

constexpr char const* gone_memory = "AddressSanitizer: (heap-use-after-free|use-after-poison|stack-use-after)";
std::string const long_text(100, 'x'); // None that a string keeps inside: its bytes are freed with it.

/// These mistakes are undefined behaviour: without the sanitizer they must not be run.
#define ONLY_WITH(sanitizer)                                                                                           \
    if (!(sanitizer))                                                                                                  \
    GTEST_SKIP() << "nothing but a sanitizer notices"

/// Two sockets that are connected, and what goes wrong with them.
struct LifetimeOfBytes : testing::Test {
    LifetimeOfBytes() { local::connect_pair(near, far); }
    io_context context{1};
    local::stream_protocol::socket near{context}, far{context};
};

std::size_t sum_of(std::string_view text) {
    std::size_t sum = 0;
    for (char const c : text)
        sum += static_cast<unsigned char>(c);
    return sum;
}

// ---- what nobody but a sanitizer sees

TEST(LifetimeDeathTest, TheClosureOfALambdaThatIsCalledOnTheSpotIsGone) {
    ONLY_WITH(address_sanitizer);
    auto const mistake = [] {
        io_context context(1);
        std::size_t sum = 0;
        co_spawn(
            context,
            [&sum, text = long_text]() -> awaitable<void> {
                co_await this_coro::yield();
                sum = sum_of(text);
            }(),
            detached);
        context.run();
        std::_Exit(sum == 0);
    };
    EXPECT_DEATH(mistake(), gone_memory);
}

awaitable<void> read_by_reference(std::string const& text, std::size_t& sum) {
    co_await this_coro::yield();
    sum = sum_of(text);
}
awaitable<void> read_by_value(std::string text, std::size_t& sum) {
    co_await this_coro::yield();
    sum = sum_of(text);
}

TEST(LifetimeDeathTest, AnArgumentByReferenceOfASpawnedCoroutineIsGone) {
    ONLY_WITH(address_sanitizer);
    auto const mistake = [] {
        io_context context(1);
        std::size_t sum = 0;
        co_spawn(context, read_by_reference(std::string(long_text), sum), detached);
        context.run();
        std::_Exit(sum == 0);
    };
    EXPECT_DEATH(mistake(), gone_memory);
}
TEST(Lifetime, AnArgumentByValueLivesAsLongAsItsCoroutine) {
    io_context context(1);
    std::size_t sum = 0;
    co_spawn(context, read_by_value(std::string(long_text), sum), detached);
    context.run();
    EXPECT_EQ(sum, sum_of(long_text));
}
awaitable<void> await_with_a_temporary(std::size_t& sum) { co_await read_by_reference(std::string(long_text), sum); }
TEST(Lifetime, ATemporaryLivesAsLongAsTheAwaitThatItIsAnArgumentOf) {
    io_context context(1);
    std::size_t sum = 0;
    co_spawn(context, await_with_a_temporary(sum), detached);
    context.run();
    EXPECT_EQ(sum, sum_of(long_text));
}

using LifetimeOfBytesDeathTest = LifetimeOfBytes;
TEST_F(LifetimeOfBytesDeathTest, AReadWritesIntoMemoryThatHasGone) {
    ONLY_WITH(address_sanitizer);
    auto const mistake = [this] {
        {
            std::string line(100, ' ');
            near.async_read_some(buffer(line), detached);
        }
        far.write_some(buffer(long_text));
        context.run();
        std::_Exit(0);
    };
    EXPECT_DEATH(mistake(), gone_memory);
}
TEST_F(LifetimeOfBytesDeathTest, AVectorThatGrowsTakesTheBytesOfAReadAway) {
    ONLY_WITH(address_sanitizer);
    auto const mistake = [this] {
        std::vector<char> bytes(100);
        near.async_read_some(buffer(bytes), detached);
        bytes.resize(10'000);
        far.write_some(buffer(long_text));
        context.run();
        std::_Exit(0);
    };
    EXPECT_DEATH(mistake(), gone_memory);
}

awaitable<void> starts_one_and_leaves(std::size_t& sum) {
    std::string const local = long_text;
    co_spawn(co_await this_coro::executor, read_by_reference(local, sum), detached);
} // local goes, the other coroutine does not

TEST(LifetimeDeathTest, ADetachedCoroutineReadsLocalsThatHaveGone) {
    ONLY_WITH(address_sanitizer);
    auto const mistake = [] {
        io_context context(1);
        std::size_t sum = 0;
        co_spawn(context, starts_one_and_leaves(sum), detached);
        context.run();
        std::_Exit(sum == 0);
    };
    EXPECT_DEATH(mistake(), gone_memory);
}
awaitable<void> waits_for_the_one_it_starts(std::size_t& sum) {
    std::string const local = long_text;
    auto body = [&](task_scope<>& tasks) -> awaitable<void> {
        co_await tasks.spawn(read_by_reference, std::cref(local), std::ref(sum));
    };
    co_await with_scope(std::move(body));
}
TEST(Lifetime, TasksOfAScopeMayReferToWhatStandsBeforeIt) {
    io_context context(1);
    std::size_t sum = 0;
    co_spawn(context, waits_for_the_one_it_starts(sum), rethrow);
    context.run();
    EXPECT_EQ(sum, sum_of(long_text));
}

/// A session with callbacks, whose handler uses `this`; and one that keeps itself alive.
class session_of_callbacks : public std::enable_shared_from_this<session_of_callbacks> {
public:
    explicit session_of_callbacks(io_context& c) : timer_(c, 1h) {}
    void start_with_this() {
        timer_.async_wait([this](error_code) { ++*waits_; });
    }
    void start_with_self(int& waits) {
        timer_.async_wait([self = shared_from_this(), &waits](error_code ec) {
            self->stop();
            waits += ec == error::operation_aborted;
        });
    }
    void stop() { timer_.cancel(); }

private:
    std::unique_ptr<int> waits_ = std::make_unique<int>();
    steady_timer timer_;
};

TEST(LifetimeDeathTest, TheHandlerOfAnObjectThatHasGoneIsCalledAllTheSame) {
    ONLY_WITH(address_sanitizer);
    auto const mistake = [] {
        io_context context(1);
        std::make_unique<session_of_callbacks>(context)->start_with_this();
        context.run(); // The timer went with its session: the wait is aborted, and the handler is told.
        std::_Exit(0);
    };
    EXPECT_DEATH(mistake(), gone_memory);
}
TEST(Lifetime, AHandlerThatKeepsItsObjectFindsIt) {
    io_context context(1);
    int waits = 0;
    auto session = std::make_shared<session_of_callbacks>(context);
    session->start_with_self(waits);
    std::weak_ptr<session_of_callbacks> const watched = session;
    session->stop();
    session.reset();
    EXPECT_FALSE(watched.expired()) << "the handler has it";
    context.run();
    EXPECT_EQ(waits, 1);
    EXPECT_TRUE(watched.expired());
}

/// The statement ends the process well; the sanitizer then turns what it has reported into a failure.
awaitable<void> hold_a_lock_across_an_await(thread_pool& pool, std::mutex& mutex) {
    std::unique_lock const lock(mutex);
    co_await resume_on(pool);
} // unlocks in another thread

TEST(LifetimeDeathTest, ALockThatIsHeldAcrossAnAwaitIsUnlockedByAnotherThread) {
    ONLY_WITH(thread_sanitizer);
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    auto const mistake = [] {
        std::mutex mutex;
        io_context context(1);
        thread_pool pool(1);
        co_spawn(context, hold_a_lock_across_an_await(pool, mutex), detached);
        context.run();
        pool.join();
        std::exit(0);
    };
    EXPECT_DEATH(mistake(), "unlock of an unlocked mutex \\(or by a wrong thread\\)");
}
awaitable<void> hold_a_lock_while_others_run(std::mutex& mutex, steady_timer& timer) {
    std::unique_lock const lock(mutex);
    co_await timer.async_wait();
}
TEST(Lifetime, ALockThatIsHeldAcrossAnAwaitKeepsEverybodyElseOut) {
    io_context context(1);
    std::mutex mutex;
    steady_timer timer(context, 1h);
    co_spawn(context, hold_a_lock_while_others_run(mutex, timer), detached);
    bool is_free = true;
    post(context, [&] {
        std::thread([&] { is_free = mutex.try_lock(); }).join(); // lock() in this thread would wait for ever
        timer.cancel();
    });
    context.run();
    EXPECT_FALSE(is_free);
    EXPECT_TRUE(mutex.try_lock());
    mutex.unlock();
}

TEST(LifetimeDeathTest, OneObjectInTwoThreadsIsARace) {
    ONLY_WITH(thread_sanitizer);
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    auto const mistake = [] {
        io_context context(1);
        steady_timer timer(context);
        std::thread one([&] { timer.expires_after(1s); });
        std::thread other([&] { timer.expires_after(2s); });
        one.join();
        other.join();
        std::exit(0);
    };
    EXPECT_DEATH(mistake(), "ThreadSanitizer: data race");
}

// ---- what is defined, and may surprise

TEST_F(LifetimeOfBytes, TwoReadsUntilADelimiterTakeEachOthersBytes) {
    std::string first, second;
    async_read_until(near, dynamic_buffer(first), '\n', detached);
    async_read_until(near, dynamic_buffer(second), '\n', detached);
    for (std::string_view const piece : {"one\ntw", "o\n"}) {
        far.write_some(buffer(piece));
        context.poll();
    }
    EXPECT_EQ(first, "one\ntw");
    EXPECT_EQ(second, "o\n");
}

// ---- what the library reports

constexpr char const* has_gone = "this operation has gone: it was moved, started or awaited before";

awaitable<void> await_one_that_was_moved(steady_timer& timer) {
    auto op = timer.async_wait();
    auto const other = std::move(op);
    co_await std::move(op);
}
awaitable<void> await_twice(steady_timer& timer) {
    auto op = timer.async_wait();
    co_await std::move(op);
    co_await std::move(op);
}
awaitable<void> await_twice_with_a_limit(steady_timer& timer) {
    auto op = timer.async_wait(cancel_after(1h));
    co_await std::move(op);
    co_await std::move(op);
}
awaitable<void> await_twice_of_a_post(steady_timer& timer) {
    auto op = post(timer.get_executor());
    co_await std::move(op);
    co_await std::move(op);
}
awaitable<void> await_twice_of_a_failure(steady_timer& timer) {
    timer.expires_after(1h);
    post(timer.get_executor(), [&timer] { timer.cancel(); });
    auto op = timer.async_wait();
    try {
        co_await std::move(op);
    } catch (system_error const&) {
    }
    timer.expires_after(0s); // Where nobody notices, the test ends, and fails.
    co_await std::move(op);
}
void run_with_a_timer(awaitable<void> (*body)(steady_timer&)) {
    io_context context(1);
    steady_timer timer(context, 0s);
    co_spawn(context, body(timer), rethrow);
    context.run();
}

TEST(LifetimeDeathTest, AnOperationThatWasMovedSaysSo) {
    EXPECT_DEATH(run_with_a_timer(&await_one_that_was_moved), has_gone);
}
TEST(LifetimeDeathTest, AnOperationThatIsAwaitedTwiceSaysSo) {
#if defined(NDEBUG) || defined(__OPTIMIZE__)
    GTEST_SKIP() << "is asserted in builds without optimisation";
#else
    EXPECT_DEATH(run_with_a_timer(&await_twice), has_gone);
    EXPECT_DEATH(run_with_a_timer(&await_twice_with_a_limit), has_gone);
    EXPECT_DEATH(run_with_a_timer(&await_twice_of_a_post), has_gone);
    EXPECT_DEATH(run_with_a_timer(&await_twice_of_a_failure), has_gone);
#endif
}

awaitable<void> started_by_a_token_and_awaited(steady_timer& timer) {
    auto op = timer.async_wait();
    std::move(op)([](error_code) {});
    co_await std::move(op);
}
TEST(LifetimeDeathTest, AnOperationThatWasStartedSaysSo) {
    EXPECT_DEATH(run_with_a_timer(&started_by_a_token_and_awaited), has_gone);
}

} // namespace
