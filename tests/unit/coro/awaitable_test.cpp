#include <fairlead/coro/spawn.hpp>

#include <fairlead/io/io_context.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/post.hpp>
#include <fairlead/token/use_future.hpp>
#include <support/scale.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;

struct witness {
    static inline int alive = 0;
    witness() { ++alive; }
    witness(witness const&) { ++alive; }
    witness(witness&&) noexcept { ++alive; }
    ~witness() { --alive; }
};

awaitable<int> value(int n) { co_return n; }
awaitable<void> nothing() { co_return; }
awaitable<int> fails(std::string what) {
    throw std::runtime_error(what);
    co_return 0;
}

/// Runs one coroutine to its end and returns what it returned or throws what it threw.
template <class T> T run_to_end(awaitable<T> a) {
    io_context context;
    auto future = co_spawn(context, std::move(a), use_future);
    context.run();
    return future.get();
}

/// As Asio's programs write it for whom the executor's type matters.
awaitable<int, io_context::executor_type> value_on_a_native_executor() {
    int const n = co_await value(4);
    co_return n;
}

TEST(Awaitable, ExecutorMayBeNamedAndChangesNothing) {
    static_assert(std::is_same_v<awaitable<int, io_context::executor_type>, awaitable<int>>);
    static_assert(std::is_same_v<awaitable<>, awaitable<void, any_io_executor>>);
    static_assert(std::is_same_v<awaitable<>::executor_type, any_io_executor>);
    EXPECT_EQ(run_to_end(value_on_a_native_executor()), 4);
}

TEST(Awaitable, MadeOfNothingIsNotValidUntilItIsGivenACoroutine) {
    awaitable<int> a;
    EXPECT_FALSE(a.valid());
    a = value(5);
    EXPECT_TRUE(a.valid());
    EXPECT_EQ(run_to_end(std::move(a)), 5);
}

TEST(Awaitable, ReturnsAValue) { EXPECT_EQ(run_to_end(value(3)), 3); }

TEST(Awaitable, ReturnsMoveOnlyValuesAndReferences) {
    auto const made = run_to_end([]() -> awaitable<std::unique_ptr<int>> { co_return std::make_unique<int>(4); }());
    EXPECT_EQ(*made, 4);
    int n = 5;
    auto const through = [](int& of) -> awaitable<int*> {
        auto const give = [](int& o) -> awaitable<int&> { co_return o; };
        int& r = co_await give(of);
        co_return &r;
    };
    EXPECT_EQ(run_to_end(through(n)), &n);
}

TEST(Awaitable, ExceptionOfAChildReachesItsParent) {
    auto const parent = []() -> awaitable<std::string> {
        try {
            co_await fails("child");
        } catch (std::runtime_error const& e) {
            co_return std::string("caught ") + e.what();
        }
        co_return "not thrown";
    };
    EXPECT_EQ(run_to_end(parent()), "caught child");
}

TEST(Awaitable, ExceptionPassesThroughManyLevelsAndDestroysTheirLocals) {
    witness::alive = 0;
    struct nest {
        static awaitable<int> at(int depth) {
            witness const w;
            if (depth == 0)
                co_return co_await fails("deep");
            co_return co_await at(depth - 1);
        }
    };
    EXPECT_THROW(run_to_end(nest::at(1000)), std::runtime_error);
    EXPECT_EQ(witness::alive, 0);
}

TEST(Awaitable, DestroyedUnstartedItNeverRunsAndFreesItsArguments) {
    witness::alive = 0;
    bool ran = false;
    {
        auto const unused = [](witness, bool& r) -> awaitable<void> {
            r = true;
            co_return;
        }(witness(), ran);
        EXPECT_TRUE(unused.valid());
        EXPECT_EQ(witness::alive, 1);
    }
    EXPECT_FALSE(ran);
    EXPECT_EQ(witness::alive, 0);
}

TEST(Awaitable, IsMoveOnlyAndMovedFromIsInvalid) {
    static_assert(!std::is_copy_constructible_v<awaitable<int>>);
    static_assert(std::is_nothrow_move_constructible_v<awaitable<int>>);
    auto a = value(1);
    auto b = std::move(a);
    EXPECT_FALSE(a.valid());
    EXPECT_TRUE(b.valid());
    b = value(2);
    EXPECT_EQ(run_to_end(std::move(b)), 2);
}

TEST(Awaitable, MillionImmediateChildrenLeaveTheStackFlat) {
    auto const loop = [](std::uint64_t n) -> awaitable<std::uint64_t> {
        std::uint64_t sum = 0;
        for (std::uint64_t i = 0; i != n; ++i)
            sum += static_cast<std::uint64_t>(co_await value(1));
        co_return sum;
    };
    auto const n = fairlead::test::scaled(1'000'000, 100'000);
    EXPECT_EQ(run_to_end(loop(n)), n);
}

awaitable<std::uint64_t> depth_of(std::uint64_t n) {
    if (n == 0)
        co_return 0;
    co_return 1 + co_await depth_of(n - 1);
}

TEST(Awaitable, DeepRecursionIsBoundedByTheHeapNotTheStack) {
    auto const n = fairlead::test::scaled(300'000, 100'000);
    EXPECT_EQ(run_to_end(depth_of(n)), n);
}

awaitable<void> throw_from_depth(std::uint64_t n) {
    if (n == 0)
        throw std::runtime_error("bottom");
    co_await throw_from_depth(n - 1);
}

TEST(Awaitable, ExceptionFromADeepRecursionUnwindsWithoutTheStack) {
    auto const n = fairlead::test::scaled(50'000, 20'000);
    EXPECT_THROW(run_to_end(throw_from_depth(n)), std::runtime_error);
}

awaitable<void> wait_at_depth(io_context& context, std::uint64_t n) {
    if (n == 0) {
        steady_timer timer(context, 1h);
        co_await timer.async_wait();
    } else {
        co_await wait_at_depth(context, n - 1);
    }
}

TEST(Awaitable, DeepChainOfSuspendedFramesIsDestroyedWithoutTheStack) {
    io_context context;
    co_spawn(context, wait_at_depth(context, fairlead::test::scaled(300'000, 200'000)), detached);
    context.poll();
}

TEST(Awaitable, ThisCoroExecutorIsTheOneItWasSpawnedOn) {
    io_context context;
    auto const ask = []() -> awaitable<any_io_executor> {
        auto const nested = []() -> awaitable<any_io_executor> { co_return co_await this_coro::executor; };
        co_return co_await nested();
    };
    auto future = co_spawn(context, ask(), use_future);
    context.run();
    EXPECT_EQ(future.get(), any_io_executor(context.get_executor()));
}

TEST(Awaitable, YieldLetsEverythingQueuedGoFirst) {
    io_context context;
    std::string order;
    co_spawn(
        context,
        [](io_context& c, std::string& out) -> awaitable<void> {
            post(c, [&out] { out += 'b'; });
            out += 'a';
            co_await this_coro::yield();
            out += 'c';
        }(context, order),
        detached);
    context.run();
    EXPECT_EQ(order, "abc");
}

TEST(Awaitable, YieldIfDueGivesWayOnceTheBudgetIsSpent) {
    io_context context;
    int others = 0;
    int units_before_the_other = 0;
    co_spawn(
        context,
        [](io_context& c, int& n, int& units) -> awaitable<void> {
            post(c, [&n] { ++n; });
            while (n == 0) {
                co_await this_coro::yield_if_due();
                ++units;
            }
        }(context, others, units_before_the_other),
        detached);
    context.run();
    EXPECT_GE(units_before_the_other, fairness::units_least);
    EXPECT_LE(units_before_the_other, fairness::units_most + 1);
}

TEST(Awaitable, UserAwaiterIsAwaitedAsItIs) {
    struct ready_value {
        int n;
        explicit ready_value(int v) : n(v) {}
        bool await_ready() const noexcept { return true; }
        void await_suspend(std::coroutine_handle<>) const noexcept {}
        int await_resume() const noexcept { return n; }
    };
    EXPECT_EQ(run_to_end([]() -> awaitable<int> { co_return co_await ready_value(9); }()), 9);
}

// ---- co_spawn

TEST(CoSpawn, OutsideTheContextNothingRunsBeforeItReturns) {
    io_context context;
    bool ran = false;
    co_spawn(
        context,
        [](bool& r) -> awaitable<void> {
            r = true;
            co_return;
        }(ran),
        detached);
    EXPECT_FALSE(ran);
    context.run();
    EXPECT_TRUE(ran);
}

TEST(CoSpawn, InsideTheContextTheBodyStartsInlineButTheHandlerDoesNotRun) {
    io_context context;
    std::string order;
    post(context, [&] {
        co_spawn(
            context,
            [](std::string& out) -> awaitable<void> {
                out += 'a';
                co_return;
            }(order),
            [&](std::exception_ptr e) {
                EXPECT_FALSE(e);
                order += 'c';
            });
        order += 'b';
    });
    context.run();
    EXPECT_EQ(order, "abc");
}

TEST(CoSpawn, HandlerReceivesTheValue) {
    io_context context;
    int got = 0;
    co_spawn(context, value(7), [&](std::exception_ptr e, int n) {
        EXPECT_FALSE(e);
        got = n;
    });
    context.run();
    EXPECT_EQ(got, 7);
}

struct never_assigned {
    int const n = 0;
};
awaitable<never_assigned> not_assignable() { co_return never_assigned{6}; }

TEST(CoSpawn, HandlerReceivesAValueThatCannotBeAssigned) {
    io_context context;
    int n = 0;
    co_spawn(context, not_assignable(), [&](std::exception_ptr e, never_assigned v) {
        EXPECT_FALSE(e);
        n = v.n;
    });
    context.run();
    EXPECT_EQ(n, 6);
}

TEST(CoSpawn, HandlerReceivesTheException) {
    io_context context;
    std::string got;
    co_spawn(context, fails("lost"), [&](std::exception_ptr e, int) {
        try {
            std::rethrow_exception(e);
        } catch (std::runtime_error const& x) {
            got = x.what();
        }
    });
    context.run();
    EXPECT_EQ(got, "lost");
}

TEST(CoSpawn, DetachedSwallowsTheException) {
    io_context context;
    co_spawn(context, fails("nobody hears"), detached);
    EXPECT_NO_THROW(context.run());
}

TEST(CoSpawn, ExceptionThatTheHandlerThrowsLeavesRun) {
    // The usual way to let errors of a coroutine out.
    for (bool const suspends : {false, true}) {
        io_context context;
        co_spawn(
            context,
            [](bool s) -> awaitable<void> {
                if (s)
                    co_await this_coro::yield();
                throw std::runtime_error("out");
            }(suspends),
            [](std::exception_ptr e) {
                if (e)
                    std::rethrow_exception(e);
            });
        int after = 0;
        post(context, [&] { ++after; });
        EXPECT_THROW(context.run(), std::runtime_error);
        context.restart();
        context.run();
        EXPECT_EQ(after, 1);
        EXPECT_TRUE(context.stopped());
    }
}

TEST(CoSpawn, FrameIsGoneBeforeTheHandlerRuns) {
    witness::alive = 0;
    io_context context;
    int alive_in_handler = -1;
    co_spawn(
        context, [](witness) -> awaitable<void> { co_await this_coro::yield(); }(witness()),
        [&](std::exception_ptr) { alive_in_handler = witness::alive; });
    context.run();
    EXPECT_EQ(alive_in_handler, 0);
}

TEST(CoSpawn, LambdaWithCapturesLivesAsLongAsItsCoroutine) {
    io_context context;
    std::string got;
    {
        auto text = std::make_unique<std::string>("a text that is longer than what a string keeps inside");
        co_spawn(
            context,
            [&got, t = std::move(text)]() -> awaitable<void> {
                co_await this_coro::yield();
                got = *t;
            },
            detached);
    }
    context.run();
    EXPECT_EQ(got, "a text that is longer than what a string keeps inside");
}

TEST(CoSpawn, InsideACoroutineStartsAnIndependentOne) {
    io_context context;
    std::string order;
    auto const child = [](std::string& out) -> awaitable<void> {
        out += 'b';
        co_await this_coro::yield();
        out += 'd';
    };
    co_spawn(
        context,
        [](io_context& c, std::string& out, auto make) -> awaitable<void> {
            out += 'a';
            co_spawn(c, make(out), detached);
            out += 'c';
            co_return;
        }(context, order, child),
        detached);
    context.run();
    EXPECT_EQ(order, "abcd");
}

awaitable<void> spawn_nested(io_context& context, int left, int& started) {
    ++started;
    if (left > 0)
        co_spawn(context, spawn_nested(context, left - 1, started), detached);
    co_return;
}

TEST(CoSpawn, NestingItWithoutEndDoesNotGrowTheStack) {
    io_context context;
    int started = 0;
    auto const n = static_cast<int>(fairlead::test::scaled(200'000, 50'000));
    co_spawn(context, spawn_nested(context, n, started), detached);
    context.run();
    EXPECT_EQ(started, n + 1);
}

TEST(CoSpawn, AwaitedItGivesTheResultOfTheOther) {
    io_context context;
    auto const outer = [](io_context& c) -> awaitable<int> {
        int sum = co_await co_spawn(c, value(1), use_await); // never suspends
        auto const slow = []() -> awaitable<int> {
            co_await this_coro::yield();
            co_return 2;
        };
        sum += co_await co_spawn(c, slow(), use_await);
        try {
            co_await co_spawn(c, fails("other"), use_await);
        } catch (std::runtime_error const&) {
            sum += 4;
        }
        co_return sum;
    };
    auto future = co_spawn(context, outer(context), use_future);
    context.run();
    EXPECT_EQ(future.get(), 7);
}

TEST(CoSpawn, AwaitedOnAnotherThreadsContextItResumesAtHome) {
    io_context home, other;
    auto guard = make_work_guard(other);
    std::thread thread([&] { other.run(); });
    auto const home_id = std::this_thread::get_id();
    co_spawn(
        home,
        [](io_context& o, std::thread::id id) -> awaitable<void> {
            auto const where = []() -> awaitable<std::thread::id> { co_return std::this_thread::get_id(); };
            for (int i = 0; i != 100; ++i) {
                auto const there = co_await co_spawn(o, where(), use_await);
                EXPECT_NE(there, id);
                EXPECT_EQ(std::this_thread::get_id(), id);
            }
        }(other, home_id),
        [](std::exception_ptr e) { EXPECT_FALSE(e); });
    home.run();
    guard.reset();
    thread.join();
}

TEST(CoSpawn, KeepsRunAliveUntilTheHandlerHasRun) {
    io_context home, handlers;
    bool done = false;
    co_spawn(home, nothing(), bind_executor(handlers.get_executor(), [&](std::exception_ptr) { done = true; }));
    home.run();
    EXPECT_FALSE(done);
    EXPECT_EQ(handlers.run(), 1U);
    EXPECT_TRUE(done);
}

TEST(CoSpawn, FutureOfAnAbandonedCoroutineIsBroken) {
    std::future<int> future;
    {
        io_context context;
        future = co_spawn(
            context,
            [](io_context& c) -> awaitable<int> {
                steady_timer timer(c, 1h);
                co_await timer.async_wait();
                co_return 1;
            }(context),
            use_future);
        context.poll();
    }
    EXPECT_THROW(future.get(), std::future_error);
}

TEST(CoSpawn, NotAwaitedOpNeverStarts) {
    io_context context;
    bool ran = false;
    {
        auto const unused = co_spawn(
            context,
            [](bool& r) -> awaitable<void> {
                r = true;
                co_return;
            }(ran),
            use_await);
        (void)unused;
    }
    context.run();
    EXPECT_FALSE(ran);
}

TEST(CoSpawn, EmptyExecutorIsRefused) { EXPECT_THROW(co_spawn(any_io_executor(), nothing(), detached), bad_executor); }

} // namespace
