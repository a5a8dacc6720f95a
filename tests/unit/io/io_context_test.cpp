#include <fairlead/io/io_context.hpp>

#include <catalogue/bent_driver.hpp>
#include <fairlead/coro/spawn.hpp>
#include <fairlead/legacy/wrapped_handler.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/post.hpp>
#include <support/scale.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using stream = local::stream_protocol::socket;

// ---- counts, ends, restarts

TEST(IoContext, NothingRunsBeforeRun) {
    io_context context;
    int n = 0;
    post(context, [&] { ++n; });
    defer(context, [&] { ++n; });
    dispatch(context, [&] { ++n; }); // not inside the context: queued
    EXPECT_EQ(n, 0);
    EXPECT_EQ(context.run(), 3U);
    EXPECT_EQ(n, 3);
}

TEST(IoContext, RunWithoutWorkReturnsAtOnceAndStops) {
    io_context context;
    EXPECT_FALSE(context.stopped());
    EXPECT_EQ(context.run(), 0U);
    EXPECT_TRUE(context.stopped());
}

TEST(IoContext, AfterRunningOutOfWorkNothingRunsUntilRestart) {
    io_context context;
    context.run();
    int n = 0;
    post(context, [&] { ++n; });
    EXPECT_EQ(context.run(), 0U);
    EXPECT_EQ(context.poll(), 0U);
    EXPECT_EQ(context.run_one(), 0U);
    EXPECT_EQ(context.poll_one(), 0U);
    EXPECT_EQ(n, 0);
    context.restart();
    EXPECT_FALSE(context.stopped());
    EXPECT_EQ(context.run(), 1U);
    EXPECT_EQ(n, 1);
}

TEST(IoContext, RunCountsHandlersThatHandlersPosted) {
    io_context context;
    int left = 1000;
    std::function<void()> again = [&] {
        if (--left)
            post(context, again);
    };
    post(context, again);
    EXPECT_EQ(context.run(), 1000U);
}

TEST(IoContext, PostedFunctionsRunInTheirOrder) {
    io_context context;
    std::vector<int> order;
    for (int i = 0; i != 300; ++i) // several batches
        post(context, [&order, i] { order.push_back(i); });
    context.run();
    ASSERT_EQ(order.size(), 300U);
    for (int i = 0; i != 300; ++i)
        EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(IoContext, RunOneRunsOne) {
    io_context context;
    int n = 0;
    for (int i = 0; i != 3; ++i)
        post(context, [&] { ++n; });
    EXPECT_EQ(context.run_one(), 1U);
    EXPECT_EQ(n, 1);
    EXPECT_EQ(context.poll_one(), 1U);
    EXPECT_EQ(n, 2);
    EXPECT_EQ(context.run_one_for(1h), 1U);
    EXPECT_EQ(n, 3);
    EXPECT_EQ(context.run_one(), 0U);
}

TEST(IoContext, PollRunsWhatIsReadyAndDoesNotWait) {
    io_context context;
    steady_timer timer(context, 1h);
    timer.async_wait([](error_code) {});
    int n = 0;
    post(context, [&] { ++n; });
    EXPECT_EQ(context.poll(), 1U);
    EXPECT_EQ(n, 1);
    EXPECT_EQ(context.poll(), 0U);
    EXPECT_EQ(context.poll_one(), 0U);
    EXPECT_FALSE(context.stopped()) << "a wait is still pending";
}

TEST(IoContext, RunForWithoutWorkReturnsAtOnce) {
    io_context context;
    EXPECT_EQ(context.run_for(1h), 0U); // A failure shows as the test's time-out.
    EXPECT_TRUE(context.stopped());
    context.restart();
    EXPECT_EQ(context.run_one_for(1h), 0U);
}

TEST(IoContext, RunForEndsWhileWorkIsStillPending) {
    io_context context;
    auto guard = make_work_guard(context);
    EXPECT_EQ(context.run_for(1ms), 0U);
    EXPECT_FALSE(context.stopped());
    int n = 0;
    post(context, [&] { ++n; });
    EXPECT_EQ(context.run_for(1ms), 1U);
    EXPECT_EQ(n, 1);
}

TEST(IoContext, RunForEndsInTimeAlsoWhileHandlersKeepComing) {
    io_context context;
    std::function<void()> again = [&] { post(context, again); };
    for (int i = 0; i != 3; ++i)
        post(context, again);
    EXPECT_GT(context.run_for(1ms), 0U); // A failure shows as the test's time-out.
    EXPECT_FALSE(context.stopped());
    std::thread other([&] { context.run(); }); // Two threads that share the loop.
    context.run_for(1ms); // It may well get none, when the system lets the other one have the loop all the time.
    context.stop();
    other.join();
}

TEST(IoContext, RunUntilTakesTheTimeOfAnotherClock) {
    io_context context;
    auto const guard = make_work_guard(context);
    int n = 0;
    post(context, [&] { ++n; });
    post(context, [&] { ++n; });
    EXPECT_EQ(context.run_one_until(std::chrono::system_clock::now() + 1ms), 1U);
    EXPECT_EQ(context.run_until(std::chrono::system_clock::now() + 1ms), 1U);
    EXPECT_EQ(n, 2);
    EXPECT_FALSE(context.stopped());
}

TEST(IoContext, RunForEndsWithinOneHandlerOfItsTime) {
    io_context context;
    int n = 0;
    for (int i = 0; i != 10; ++i)
        post(context, [&] {
            ++n;
            for (auto const end = steady_clock::now() + 2ms; steady_clock::now() < end;)
                ;
        });
    EXPECT_EQ(context.run_for(1ms), 1U);
    EXPECT_EQ(context.poll(), 9U);
    EXPECT_EQ(n, 10);
}

TEST(IoContext, RunForEndsInTimeAlsoWhileASocketHasNewsAtEachLook) {
    io_context context;
    local::stream_protocol::socket a(context), b(context);
    local::connect_pair(a, b);
    char c = 'x';
    std::function<void(error_code, std::size_t)> again = [&](error_code, std::size_t) {
        a.async_read_some(buffer(&c, 1), again); // finds nothing yet
        b.write_some(buffer("x", 1));
    };
    again({}, 0);
    EXPECT_GT(context.run_for(1ms), 0U);
    EXPECT_FALSE(context.stopped());
}

TEST(IoContext, RunForEndsInTimeAlsoWhileTimersAreAlwaysDue) {
    io_context context;
    steady_timer timer(context);
    std::function<void(error_code)> again = [&](error_code) {
        timer.expires_after(0s);
        timer.async_wait(again);
    };
    again({});
    EXPECT_GT(context.run_for(1ms), 0U);
    EXPECT_FALSE(context.stopped());
}

TEST(IoContext, RunUntilATimeThatIsPastStillRunsOneThatIsReady) {
    io_context context;
    auto guard = make_work_guard(context);
    int n = 0;
    for (int i = 0; i != 2; ++i)
        post(context, [&] { ++n; });
    EXPECT_EQ(context.run_until(steady_clock::time_point::min()), 1U);
    EXPECT_EQ(context.run_until(steady_clock::now() - 1h), 1U);
    EXPECT_EQ(context.run_until(steady_clock::now() - 1h), 0U);
    EXPECT_EQ(n, 2);
}

TEST(IoContext, WorkGuardKeepsRunAliveUntilReset) {
    io_context context;
    auto guard = make_work_guard(context);
    int n = 0;
    post(context, [&] {
        ++n;
        post(context, [&] {
            ++n;
            guard.reset();
        });
    });
    EXPECT_EQ(context.run(), 2U);
    EXPECT_EQ(n, 2);
    EXPECT_TRUE(context.stopped());
}

TEST(IoContext, WorkGuardResetByAnotherThreadEndsASleepingRun) {
    io_context context;
    auto guard = make_work_guard(context);
    std::atomic<bool> running{false};
    post(context, [&] { running = true; });
    std::thread other([&] {
        while (!running)
            std::this_thread::yield();
        guard.reset();
    });
    EXPECT_EQ(context.run(), 1U);
    other.join();
}

// ---- stop

TEST(IoContext, StopLeavesQueuedHandlersForAfterRestart) {
    io_context context;
    int n = 0;
    post(context, [&] {
        ++n;
        context.stop();
    });
    post(context, [&] { ++n; });
    post(context, [&] { ++n; });
    EXPECT_EQ(context.run(), 1U);
    EXPECT_TRUE(context.stopped());
    EXPECT_EQ(context.run(), 0U);
    EXPECT_EQ(n, 1);
    context.restart();
    EXPECT_EQ(context.run(), 2U);
    EXPECT_EQ(n, 3);
}

TEST(IoContext, StopBeforeRunIsHonoured) {
    io_context context;
    int n = 0;
    post(context, [&] { ++n; });
    context.stop();
    EXPECT_EQ(context.run(), 0U);
    EXPECT_EQ(context.poll(), 0U);
    EXPECT_EQ(n, 0);
}

TEST(IoContext, StopFromAnotherThreadWakesASleepingRun) {
    io_context context;
    auto guard = make_work_guard(context);
    std::atomic<bool> running{false};
    post(context, [&] { running = true; });
    std::thread other([&] {
        while (!running)
            std::this_thread::yield();
        context.stop();
    });
    EXPECT_EQ(context.run(), 1U);
    EXPECT_TRUE(context.stopped());
    other.join();
}

// ---- exceptions

TEST(IoContext, ExceptionLeavesRunAndTheRestIsNotLost) {
    io_context context;
    std::vector<int> order;
    for (int i = 0; i != 5; ++i)
        post(context, [&order, i] {
            order.push_back(i);
            if (i == 1 || i == 3)
                throw std::runtime_error("handler");
        });
    EXPECT_THROW(context.run(), std::runtime_error);
    EXPECT_FALSE(context.stopped());
    EXPECT_THROW(context.run(), std::runtime_error) << "no restart is needed";
    EXPECT_EQ(context.run(), 1U);
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(IoContext, ExceptionOfAnIoHandlerLeavesTheContextUsable) {
    io_context context;
    stream a(context), b(context);
    local::connect_pair(a, b);
    char c[4];
    a.async_read_some(buffer(c), [](error_code, std::size_t) { throw std::runtime_error("read"); });
    b.write_some(buffer("x", 1));
    EXPECT_THROW(context.run(), std::runtime_error);
    std::size_t got = 0;
    a.async_read_some(buffer(c), [&](error_code, std::size_t n) { got = n; });
    b.write_some(buffer("yz", 2));
    EXPECT_EQ(context.run(), 1U);
    EXPECT_EQ(got, 2U);
}

TEST(IoContext, ExceptionDoesNotUpsetTheCountOfTheNextRun) {
    io_context context;
    stream a(context), b(context);
    local::connect_pair(a, b);
    char c[4];
    a.async_read_some(buffer(c), [](error_code, std::size_t) {}); // started outside run()
    post(context, [] { throw std::runtime_error("handler"); });
    EXPECT_THROW(context.run(), std::runtime_error);
    int n = 0;
    post(context, [&] { ++n; });
    post(context, [&] { ++n; });
    EXPECT_EQ(context.run_one(), 1U);
    EXPECT_EQ(n, 1);
}

// ---- dispatch, nesting

TEST(IoContext, DispatchInsideTheContextIsInline) {
    io_context context;
    std::string order;
    post(context, [&] {
        order += 'a';
        dispatch(context, [&] { order += 'b'; });
        order += 'c';
        post(context, [&] { order += 'e'; });
        order += 'd';
    });
    context.run();
    EXPECT_EQ(order, "abcde");
}

TEST(IoContext, DispatchFromAnotherContextQueues) {
    io_context one, two;
    bool ran = false;
    post(one, [&] {
        dispatch(two, [&] { ran = true; });
        EXPECT_FALSE(ran);
    });
    one.run();
    EXPECT_FALSE(ran);
    EXPECT_EQ(two.run(), 1U);
    EXPECT_TRUE(ran);
}

TEST(IoContext, PostGoesThroughItsExecutorThenToTheHandlersOwn) {
    io_context through, own;
    bool ran = false;
    post(through, bind_executor(own.get_executor(), [&] { ran = true; }));
    EXPECT_EQ(own.poll(), 0U) << "not there yet";
    EXPECT_FALSE(own.stopped()) << "but the handler's executor has work";
    through.run();
    EXPECT_FALSE(ran);
    EXPECT_EQ(own.run(), 1U);
    EXPECT_TRUE(ran);
}

TEST(IoContext, HandlerOfAnotherContextKeepsBothRunning) {
    io_context io, handlers;
    steady_timer timer(io, 1ms);
    bool ran = false;
    timer.async_wait(bind_executor(handlers.get_executor(), [&](error_code) { ran = true; }));
    EXPECT_EQ(handlers.poll(), 0U);
    EXPECT_FALSE(handlers.stopped());
    io.run();
    EXPECT_FALSE(ran);
    EXPECT_EQ(handlers.run(), 1U);
    EXPECT_TRUE(ran);
}

TEST(IoContext, RunningInThisThreadIsTrueInsideHandlersOnly) {
    io_context context;
    auto const e = context.get_executor();
    EXPECT_FALSE(e.running_in_this_thread());
    bool inside = false;
    post(context, [&] { inside = e.running_in_this_thread(); });
    context.run();
    EXPECT_TRUE(inside);
    EXPECT_EQ(&e.context(), &context);
}

TEST(IoContext, PollInsideAHandlerRunsTheOthers) {
    io_context context;
    std::string order;
    post(context, [&] {
        order += 'a';
        context.poll();
        order += 'c';
    });
    post(context, [&] { order += 'b'; });
    context.run();
    EXPECT_EQ(order, "abc");
}

TEST(IoContext, PollInsideAHandlerDoesNotEndTheOuterRun) {
    io_context context;
    int n = 0;
    post(context, [&] {
        context.poll();
        post(context, [&] { ++n; });
    });
    context.run();
    EXPECT_EQ(n, 1);
}

TEST(IoContext, ContextsMayNest) {
    io_context outer, inner;
    int n = 0;
    post(outer, [&] {
        post(inner, [&] { ++n; });
        inner.run();
        EXPECT_TRUE(outer.get_executor().running_in_this_thread());
        dispatch(outer, [&] { ++n; });
    });
    outer.run();
    EXPECT_EQ(n, 2);
}

// ---- started outside run(): acts at once

TEST(IoContext, OperationCancelledBeforeRunIsAborted) {
    io_context context;
    steady_timer timer(context, 1h);
    error_code got;
    timer.async_wait([&](error_code ec) { got = ec; });
    EXPECT_EQ(timer.cancel(), 1U);
    context.run();
    EXPECT_EQ(got, error::operation_aborted);
}

TEST(IoContext, SocketClosedBeforeRunAbortsItsOperations) {
    io_context context;
    stream a(context), b(context);
    local::connect_pair(a, b);
    char c[4];
    error_code got;
    a.async_read_some(buffer(c), [&](error_code ec, std::size_t) { got = ec; });
    a.close();
    context.run();
    EXPECT_EQ(got, error::operation_aborted);
}

TEST(IoContext, SocketCancelledBeforeRunAbortsItsOperations) {
    io_context context;
    stream a(context), b(context);
    local::connect_pair(a, b);
    char c[4];
    error_code got;
    a.async_read_some(buffer(c), [&](error_code ec, std::size_t) { got = ec; });
    a.cancel();
    context.run_for(1h);
    EXPECT_EQ(got, error::operation_aborted);
}

TEST(IoContext, TimerDestroyedBeforeRunAbortsItsWait) {
    io_context context;
    error_code got;
    {
        steady_timer timer(context, 1h);
        timer.async_wait([&](error_code ec) { got = ec; });
    }
    context.run();
    EXPECT_EQ(got, error::operation_aborted);
}

// ---- threads

TEST(IoContext, RunOneInALoopWithABusyHandlerStillSeesTimersAndSockets) {
    io_context context;
    steady_timer timer(context, 1ms);
    bool expired = false, read = false;
    timer.async_wait([&](error_code) { expired = true; });
    local::stream_protocol::socket a(context), b(context);
    local::connect_pair(a, b);
    char byte;
    a.async_read_some(buffer(&byte, 1), [&](error_code, std::size_t) { read = true; });
    b.write_some(buffer("x", 1));
    std::function<void()> again = [&] { post(context, again); };
    post(context, again);
    for (std::uint64_t i = 0; i != 50'000'000 && !(expired && read); ++i)
        context.run_one();
    EXPECT_TRUE(expired);
    EXPECT_TRUE(read);
}

TEST(IoContext, RunMayMoveFromThreadToThread) {
    io_context context;
    int n = 0;
    for (int i = 0; i != 4; ++i) {
        post(context, [&] { ++n; });
        std::thread([&] {
            context.run();
            context.restart();
        }).join();
    }
    EXPECT_EQ(n, 4);
}

struct producers_result {
    std::uint64_t each;
    std::size_t items;
    std::vector<std::uint64_t> seen;
    bool in_order = true;
};

/// Threads that post while the loop starts, runs, sleeps and wakes.
producers_result run_producers() {
    constexpr std::size_t producers = 4;
    producers_result r{fairlead::test::scaled(20'000, 500), 0, std::vector<std::uint64_t>(producers, 0), true};
    io_context context;
    auto guard = make_work_guard(context);
    std::atomic<std::size_t> finished{0};
    std::vector<std::thread> threads;
    for (std::size_t p = 0; p != producers; ++p)
        threads.emplace_back([&, p] {
            for (std::uint64_t i = 0; i != r.each; ++i)
                post(context, [&r, p, i] {
                    if (r.seen[p]++ != i)
                        r.in_order = false;
                });
            if (++finished == producers)
                post(context, [&guard] { guard.reset(); });
        });
    r.items = context.run();
    for (auto& t : threads)
        t.join();
    return r;
}

TEST(IoContext, ManyProducersLoseNothing) {
    auto const r = run_producers();
    EXPECT_EQ(r.items, r.seen.size() * r.each + 1);
    for (auto const n : r.seen)
        EXPECT_EQ(n, r.each);
}

TEST(IoContext, PostsOfOneThreadKeepTheirOrder) {
    for (int i = 0; i != 10; ++i)
        EXPECT_TRUE(run_producers().in_order);
}

TEST(IoContext, PostsWakeASleepingLoopEachTime) {
    // Every round trip needs the sleeper to be woken: one lost wake-up and this never ends.
    auto const rounds = fairlead::test::scaled(5'000, 200);
    io_context ping, pong;
    auto ping_guard = make_work_guard(ping);
    auto pong_guard = make_work_guard(pong);
    std::uint64_t n = 0;
    std::function<void()> there, back;
    there = [&] { post(ping, back); };
    back = [&] {
        if (++n == rounds) {
            ping_guard.reset();
            post(pong, [&] { pong_guard.reset(); });
            return;
        }
        post(pong, there);
    };
    post(pong, there);
    std::thread other([&] { pong.run(); });
    ping.run();
    other.join();
    EXPECT_EQ(n, rounds);
}

TEST(IoContext, PostsToAnIdleContextFromManyThreadsAllRunLater) {
    constexpr int producers = 4;
    constexpr int each = 500;
    io_context context;
    std::vector<std::thread> threads;
    int n = 0;
    for (int p = 0; p != producers; ++p)
        threads.emplace_back([&] {
            for (int i = 0; i != each; ++i)
                post(context, [&n] { ++n; });
        });
    for (auto& t : threads)
        t.join();
    EXPECT_EQ(context.run(), static_cast<std::size_t>(producers * each));
    EXPECT_EQ(n, producers * each);
}

TEST(IoContext, CoroutineAwaitsAnOperationOfAnotherThreadsContext) {
    io_context mine, theirs;
    auto guard = make_work_guard(theirs);
    std::thread other([&] { theirs.run(); });
    auto const home = std::this_thread::get_id();
    int rounds = 0;
    co_spawn(
        mine,
        [](io_context& foreign, std::thread::id id, int& n) -> awaitable<void> {
            for (; n != 200; ++n) {
                co_await post(foreign, use_await);
                EXPECT_EQ(std::this_thread::get_id(), id) << "resumed at home";
            }
        }(theirs, home, rounds),
        detached);
    mine.run();
    EXPECT_EQ(rounds, 200);
    guard.reset();
    other.join();
}

// ---- destroyed with everything pending

struct witness {
    static inline int alive = 0;
    witness() { ++alive; }
    witness(witness const&) { ++alive; }
    witness(witness&&) noexcept { ++alive; }
    ~witness() { --alive; }
};

TEST(IoContext, DestroyedWithPendingWorkDestroysHandlersWithoutCallingThem) {
    witness::alive = 0;
    int called = 0;
    {
        io_context context;
        stream a(context), b(context);
        local::connect_pair(a, b);
        steady_timer timer(context, 1h);
        char c[4];
        a.async_read_some(buffer(c), [&, w = witness()](error_code, std::size_t) { ++called; });
        async_read(b, buffer(c), [&, w = witness()](error_code, std::size_t) { ++called; });
        timer.async_wait([&, w = witness()](error_code) { ++called; });
        post(context, [&, w = witness()] {
            ++called;
            context.stop();
        });
        context.run();
        EXPECT_EQ(called, 1);
        post(context, [&, w = witness()] { ++called; });
        EXPECT_EQ(witness::alive, 4);
        // The context goes last: sockets and timers abort their operations first, which nobody then runs.
    }
    EXPECT_EQ(called, 1);
    EXPECT_EQ(witness::alive, 0);
}

TEST(IoContext, DestroyedBeforeItsTimersDestroysTheirHandlers) {
    witness::alive = 0;
    auto context = std::make_unique<io_context>();
    auto holder = std::make_shared<steady_timer>(*context, 1h);
    holder->async_wait([holder, w = witness()](error_code) { FAIL(); }); // a session that keeps itself alive
    std::weak_ptr<steady_timer> const watched(holder);
    holder.reset();
    context->poll();
    context.reset();
    EXPECT_TRUE(watched.expired());
    EXPECT_EQ(witness::alive, 0);
}

awaitable<void> waits_for_ever(io_context& context, int depth) {
    witness w;
    if (depth == 0) {
        steady_timer timer(context, 1h);
        co_await timer.async_wait();
    } else {
        co_await waits_for_ever(context, depth - 1);
    }
    ADD_FAILURE() << "resumed";
}

TEST(IoContext, DestroyedWithSuspendedCoroutinesDestroysEachFrameOnce) {
    witness::alive = 0;
    {
        io_context context;
        co_spawn(context, waits_for_ever(context, 0), [w = witness()](std::exception_ptr) { FAIL(); });
        co_spawn(context, waits_for_ever(context, 5), detached);
        co_spawn(context, waits_for_ever(context, 1), detached);
        context.poll();
        EXPECT_EQ(witness::alive, 1 + 1 + 6 + 2);
        co_spawn(context, waits_for_ever(context, 1), detached); // not started yet
    }
    EXPECT_EQ(witness::alive, 0);
}

TEST(IoContext, HandlerDestroyedWithTheContextMayStartSomethingNew) {
    struct restarts {
        io_context* context;
        int* count;
        restarts(io_context* c, int* n) noexcept : context(c), count(n) {}
        restarts(restarts&& other) noexcept : context(std::exchange(other.context, nullptr)), count(other.count) {}
        void operator()() {}
        ~restarts() {
            if (context && ++*count < 3)
                post(*context, restarts(context, count));
        }
    };
    int destroyed = 0;
    {
        io_context context;
        post(context, restarts(&context, &destroyed));
    }
    EXPECT_EQ(destroyed, 3);
}

TEST(IoContext, BuffersOfManyPartsAreFreedWhenTheirReaderIsAbandoned) {
    // The leak sanitizer is the judge.
    io_context context;
    co_spawn(
        context,
        [](io_context& c) -> awaitable<void> {
            stream a(c), b(c);
            local::connect_pair(a, b);
            char bytes[3][8];
            std::array<mutable_buffer, 3> const parts{buffer(bytes[0]), buffer(bytes[1]), buffer(bytes[2])};
            co_await a.async_read_some(parts);
        }(context),
        detached);
    context.poll();
}

// ---- work

TEST(IoContext, PendingOperationsKeepRunAlive) {
    io_context context;
    stream a(context), b(context);
    local::connect_pair(a, b);
    char c[4];
    bool read = false;
    a.async_read_some(buffer(c), [&](error_code, std::size_t) { read = true; });
    steady_timer timer(context, 1ms);
    timer.async_wait([&](error_code) { b.write_some(buffer("x", 1)); });
    EXPECT_EQ(context.run(), 2U);
    EXPECT_TRUE(read);
}

TEST(IoContext, MoveOnlyHandlersAreInvokedAsRvalues) {
    struct rvalue_only {
        std::unique_ptr<int> p;
        int* got;
        void operator()() && { *got = *p; }
    };
    io_context context;
    int got = 0;
    post(context, rvalue_only{std::make_unique<int>(3), &got});
    context.run();
    EXPECT_EQ(got, 3);
}

TEST(IoContext, CountersTellTurnsAndItems) {
    io_context context;
    for (int i = 0; i != 10; ++i)
        post(context, [] {});
    context.run();
    EXPECT_EQ(context.counters().items, 10U);
    EXPECT_GE(context.counters().turns, 1U);
}

TEST(IoContext, CountersTellTheItemsBeforeAnExceptionWhoeverRunsThem) {
    auto const count = [](auto run) {
        io_context context;
        for (int i = 0; i != 5; ++i)
            post(context, [i] {
                if (i == 2)
                    throw std::runtime_error("the third");
            });
        EXPECT_THROW(run(context.as_loop()), std::runtime_error);
        EXPECT_EQ(context.counters().items, 3U) << "it counts itself";
        EXPECT_EQ(run(context.as_loop()), 2U);
        EXPECT_EQ(context.counters().items, 5U);
    };
    count([](io_loop& l) { return l.run_until_ns(std::numeric_limits<std::size_t>::max(), -1); });
    count([](io_loop& l) { return l.turn(); });
}

// ---- what programs of old say

/// Of an io_context alone, and says so by its constructor.
class loop_service : public io_context::service {
public:
    inline static io_context::id id;
    explicit loop_service(io_context& c) : io_context::service(c) {}
};

TEST(IoContext, AServiceMayBeMadeForIoContextsAlone) {
    io_context context;
    auto& made = use_service<loop_service>(context);
    EXPECT_EQ(&made.get_io_context(), &context);
    EXPECT_EQ(&use_service<loop_service>(context), &made);
    EXPECT_TRUE(has_service<loop_service>(context));
    io_context other;
    auto own = std::make_unique<loop_service>(other);
    EXPECT_THROW(add_service(context, own.get()), invalid_service_owner);
}

TEST(IoContext, AWrappedHandlerRunsInTheContextWhoeverCallsIt) {
    io_context context, other;
    bool ran = false;
    post(other, context.wrap([&] {
        EXPECT_TRUE(context.get_executor().running_in_this_thread());
        ran = true;
    }));
    other.run();
    EXPECT_FALSE(ran);
    context.run();
    EXPECT_TRUE(ran);
}

TEST(IoContext, RunInsideAnotherIsInsideBoth) {
    io_context outer, inner;
    int here = 0;
    post(outer, [&] {
        post(inner, [&] {
            EXPECT_TRUE(inner.get_executor().running_in_this_thread());
            EXPECT_TRUE(outer.get_executor().running_in_this_thread());
            dispatch(outer, [&] { ++here; });
            EXPECT_EQ(here, 1) << "at once";
        });
        inner.run();
        EXPECT_FALSE(inner.get_executor().running_in_this_thread());
    });
    outer.run();
    EXPECT_EQ(here, 1);
}

TEST(IoContext, RunInsideAHandlerGivesTheOuterClockBack) {
    test::bend b;
    b.ahead_ns = 3'600'000'000'000;
    io_context outer(std::make_unique<test::bent_driver>(b)), inner;
    auto lasted = std::chrono::nanoseconds(-1);
    post(outer, [&] {
        auto const before = steady_clock::now();
        post(inner, [] {});
        inner.run();
        lasted = steady_clock::now() - before;
    });
    outer.run();
    EXPECT_GE(lasted.count(), 0) << "the clock of the inner one is an hour behind";
}

/// Waits that know when a thread leaves run().
struct counts_ends final : io_loop::other_waits {
    int ends = 0;
    void take_pending(op_queue&) noexcept override {}
    void run_ends() noexcept override { ++ends; }
};

TEST(IoContext, TellsOtherWaitsWhenAThreadLeavesRun) {
    io_context context;
    io_loop& l = io_loop::of(*impl::exec::loop_of(context.get_executor()));
    counts_ends waits;
    l.abandons_too(waits);
    post(context, [&] {
        post(context, [] {});
        context.poll_one();
        EXPECT_EQ(waits.ends, 0) << "the thread stays inside run()";
    });
    context.run();
    EXPECT_EQ(waits.ends, 1);
    post(context, [] { throw 1; });
    context.restart();
    EXPECT_THROW(context.run(), int);
    EXPECT_EQ(waits.ends, 2);
    l.abandons_no_more(waits);
}

} // namespace
