// generator as a part of a chain: where it runs, that the stack stays flat, and when its frame goes.
#include <fairlead/coro/generator.hpp>

#include <fairlead/coro/resume_on.hpp>
#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/recycler.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/post.hpp>

#include <catalogue/small_stack.hpp>
#include <support/scale.hpp>

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;

/// Notes its end, in the frame of a coroutine.
struct end_mark {
    std::string& log;
    char const* what;
    end_mark(std::string& l, char const* w) : log(l), what(w) {}
    end_mark(end_mark const&) = delete;
    end_mark& operator=(end_mark const&) = delete;
    ~end_mark() { log += what; }
};

generator<int> count_to(int n) {
    for (int i = 1; i <= n; ++i)
        co_yield i;
}

TEST(GeneratorExecutor, MoveToAnotherOneInsideItMovesItsReader) {
    io_context first, second;
    auto const moves = [](io_context& to) -> generator<int> {
        co_yield 1;
        co_await resume_on(to);
        co_yield 2;
    };
    int seen = 0;
    co_spawn(
        first,
        [&]() -> awaitable<void> {
            auto g = moves(second);
            while (auto const v = co_await g.next())
                seen = *v;
        },
        rethrow);
    first.run();
    EXPECT_EQ(seen, 1) << "it has left this context";
    second.run();
    EXPECT_EQ(seen, 2);
}

TEST(GeneratorExecutor, ValuesThatAreThereDoNotWaitForTheQueue) {
    io_context context;
    std::string log;
    co_spawn(
        context,
        [&]() -> awaitable<void> {
            post(context, [&] { log += "posted"; });
            auto g = count_to(3);
            while (auto const v = co_await g.next())
                log += std::to_string(*v) + " ";
        },
        rethrow);
    context.run();
    EXPECT_EQ(log, "1 2 3 posted");
}

TEST(GeneratorStack, MillionValuesLeaveTheStackFlat) {
    auto const n = static_cast<int>(fairlead::test::scaled(1'000'000, 20'000));
    test::on_small_stack([n] {
        io_context context;
        int sum = 0;
        co_spawn(
            context,
            [&]() -> awaitable<void> {
                auto g = count_to(n);
                while (co_await g.next())
                    ++sum;
            },
            rethrow);
        context.run();
        EXPECT_EQ(sum, n);
    });
}

generator<int> counted_through(int deep) {
    if (deep == 0) {
        for (int i = 0; i != 3; ++i)
            co_yield i;
        co_return;
    }
    auto inner = counted_through(deep - 1);
    while (auto const v = co_await inner.next())
        co_yield *v;
}

TEST(GeneratorStack, ManyGeneratorsInsideOneAnotherLeaveTheStackFlat) {
    test::on_small_stack([] {
        io_context context;
        int count = 0;
        co_spawn(
            context,
            [&]() -> awaitable<void> {
                auto g = counted_through(20'000);
                while (co_await g.next())
                    ++count;
            },
            rethrow);
        context.run();
        EXPECT_EQ(count, 3);
    });
}

generator<int> waits_inside(io_context& c, std::string& log, int deep, std::string name) {
    end_mark const note(log, name.c_str());
    if (deep == 0) {
        steady_timer t(c, 1h);
        co_await t.async_wait();
        co_yield 1;
    } else {
        auto inner = waits_inside(c, log, deep - 1, std::to_string(deep - 1));
        while (auto const v = co_await inner.next())
            co_yield *v;
    }
}

TEST(GeneratorEnd, ContextDestroyedUnderItsOperationDestroysFramesFromTheInnermost) {
    std::string log;
    {
        io_context context;
        co_spawn(
            context,
            [&]() -> awaitable<void> {
                end_mark const note(log, "reader");
                auto g = waits_inside(context, log, 3, "3");
                co_await g.next();
                ADD_FAILURE() << "the wait does not end";
            },
            rethrow);
        context.poll();
    }
    EXPECT_EQ(log, "0123reader");
}

TEST(GeneratorEnd, ContextDestroyedUnderItsReaderDestroysItAtItsYield) {
    std::string log;
    {
        io_context context;
        co_spawn(
            context,
            [&]() -> awaitable<void> {
                end_mark const note(log, "reader");
                auto const yields = [](std::string& l) -> generator<int> {
                    end_mark const inner(l, "generator ");
                    co_yield 1;
                };
                auto g = yields(log);
                co_await g.next();
                steady_timer t(context, 1h);
                co_await t.async_wait();
            },
            rethrow);
        context.poll();
    }
    EXPECT_EQ(log, "generator reader");
}

TEST(GeneratorEnd, ContextDestroyedOnTheWayBackFromItsYieldDestroysItOnce) {
    std::string log;
    int seen = 0;
    {
        io_context context;
        co_spawn(
            context,
            [&]() -> awaitable<void> {
                end_mark const note(log, "reader");
                auto const yields = [](std::string& l) -> generator<int> {
                    end_mark const inner(l, "generator ");
                    for (;;)
                        co_yield 1;
                };
                auto g = yields(log);
                for (;;) {
                    co_await g.next();
                    ++seen;
                }
            },
            rethrow);
        for (int i = 0; i != 7; ++i)
            context.poll_one(); // Each ends where the budget does, on the way there or back.
        EXPECT_GT(seen, 0);
    }
    EXPECT_EQ(log, "generator reader");
}

TEST(GeneratorEnd, OneThatOutlivesTheChainInsideItHasNoCoroutine) {
    std::string log;
    generator<int> g;
    {
        io_context context;
        g = waits_inside(context, log, 0, "generator ");
        co_spawn(context, [&]() -> awaitable<void> { co_await g.next(); }, rethrow);
        context.poll();
    }
    EXPECT_EQ(log, "generator ");
    EXPECT_FALSE(g.valid());
}

TEST(GeneratorMemory, TakesOnlyItsFrame) {
    io_context context;
    bool done = false;
    co_spawn(
        context,
        [&]() -> awaitable<void> {
            std::uint64_t fresh = 0;
            for (int round = 0; round != 2; ++round) {
                fresh = this_thread_recycler_counters().fresh;
                auto g = count_to(100);
                while (co_await g.next())
                    ;
            }
            EXPECT_EQ(this_thread_recycler_counters().fresh, fresh) << "the second one has the frame of the first";
            auto const cached = this_thread_recycler_counters().cached;
            auto g = count_to(100);
            auto const with_frame = this_thread_recycler_counters().cached;
            EXPECT_LT(with_frame, cached);
            co_await g.next();
            EXPECT_EQ(this_thread_recycler_counters().cached, with_frame);
            done = true;
        },
        rethrow);
    context.run();
    EXPECT_TRUE(done);
}

TEST(GeneratorDeathTest, SecondCallAtATimeIsABug) {
    EXPECT_DEATH(
        {
            io_context context;
            std::string log;
            auto g = waits_inside(context, log, 0, "");
            auto const reads = [](generator<int>& of) -> awaitable<void> { co_await of.next(); };
            co_spawn(context, reads(g), rethrow);
            co_spawn(context, reads(g), rethrow);
            context.poll();
        },
        "next\\(\\) of this generator is awaited already");
}

TEST(GeneratorDeathTest, OneWithoutCoroutineIsNotRead) {
    EXPECT_DEATH(
        {
            io_context context;
            generator<int> g;
            auto const reads = [](generator<int>& of) -> awaitable<void> { co_await of.next(); };
            co_spawn(context, reads(g), rethrow);
            context.poll();
        },
        "this generator has no coroutine");
}

TEST(GeneratorDeathTest, DestructionUnderItsNextIsABug) {
    EXPECT_DEATH(
        {
            io_context context;
            std::string log;
            auto g = waits_inside(context, log, 0, "");
            auto const reads = [](generator<int>& of) -> awaitable<void> { co_await of.next(); };
            co_spawn(context, reads(g), rethrow);
            context.poll();
            g = {};
        },
        "neither moved nor destroyed while its next\\(\\) is awaited");
}

} // namespace
