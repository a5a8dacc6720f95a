// resume_on and offload: where the lines of a coroutine run.
#include <fairlead/coro/resume_on.hpp>

#include <fairlead/coro/offload.hpp>
#include <fairlead/coro/when_all.hpp>
#include <fairlead/exec/strand.hpp>
#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>
#include <fairlead/token/post.hpp>
#include <fairlead/token/use_future.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

namespace {

using namespace fairlead;

std::thread::id here() { return std::this_thread::get_id(); }

TEST(ResumeOn, TheCoroutineAndThoseThatAwaitItStayThere) {
    io_context context;
    thread_pool pool(1);
    std::thread::id at_first, moved, after_an_await, in_the_caller, back;
    auto const child = [&]() -> awaitable<void> {
        at_first = here();
        co_await resume_on(pool);
        moved = here();
        co_await post(context, use_await); // comes back to the pool
        after_an_await = here();
    };
    co_spawn(
        context,
        [&]() -> awaitable<void> {
            co_await child();
            in_the_caller = here();
            EXPECT_EQ(co_await this_coro::executor, any_io_executor(pool.get_executor()));
            co_await resume_on(context);
            back = here();
            steady_timer due(context, std::chrono::seconds(0));
            co_await due.async_wait();
            EXPECT_EQ(here(), back);
        },
        rethrow);
    auto kept = make_work_guard(context);
    std::thread runs([&] { context.run(); });
    auto const loop = runs.get_id();
    while (true) {
        if (post(context, use_future([&] { return back; })).get() != std::thread::id())
            break;
    }
    kept.reset();
    runs.join();
    EXPECT_EQ(at_first, loop);
    EXPECT_NE(moved, loop);
    EXPECT_EQ(after_an_await, moved);
    EXPECT_EQ(in_the_caller, moved);
    EXPECT_EQ(back, loop);
}

TEST(ResumeOn, ACoroutineIsWorkOfTheContextThatItIsIn) {
    io_context first, second;
    int steps = 0;
    co_spawn(
        first,
        [&]() -> awaitable<void> {
            ++steps;
            co_await resume_on(second);
            ++steps;
            co_await resume_on(second); // It is there: nothing happens.
            ++steps;
            co_await resume_on(first);
            ++steps;
        },
        rethrow);
    first.run();
    EXPECT_EQ(steps, 1);
    second.run();
    EXPECT_EQ(steps, 3);
    first.restart();
    first.run();
    EXPECT_EQ(steps, 4);
}

/// Until then the chain that waits for it keeps their common home.
TEST(ResumeOn, AMemberOfAGroupIsWorkOfTheContextThatItIsIn) {
    io_context first, second;
    bool goes_on = false;
    bool has_ended = false;
    auto const moves = [&]() -> awaitable<void> {
        co_await resume_on(second);
        while (!goes_on)
            co_await this_coro::yield();
    };
    co_spawn(
        first,
        [&]() -> awaitable<void> {
            co_await when_all(moves());
            has_ended = true;
        },
        rethrow);
    first.poll_one();
    first.poll();
    second.poll_one();
    first.poll();
    EXPECT_FALSE(first.stopped()) << "the group is still waited for";
    EXPECT_FALSE(second.stopped()) << "a member is here";
    goes_on = true;
    second.poll();
    EXPECT_TRUE(second.stopped());
    first.poll();
    EXPECT_TRUE(has_ended);
    EXPECT_TRUE(first.stopped());
}

TEST(ResumeOn, StrandsKeepTheirPromise) {
    thread_pool pool(2);
    auto const strand = make_strand(pool);
    auto done = co_spawn(
        pool,
        [&]() -> awaitable<bool> {
            co_await resume_on(strand);
            bool const inside = strand.running_in_this_thread();
            co_await this_coro::yield();
            co_return inside&& strand.running_in_this_thread();
        },
        use_future);
    EXPECT_TRUE(done.get());
}

TEST(ResumeOn, OneThatHasBeenAskedToEndStays) {
    io_context first, second;
    cancellation_signal signal;
    bool refused = false;
    co_spawn(
        first,
        [&]() -> awaitable<void> {
            signal.emit(cancellation_type::terminal);
            try {
                co_await resume_on(second);
            } catch (system_error const& e) {
                refused = e.code() == error::operation_aborted;
            }
            EXPECT_EQ(co_await this_coro::executor, any_io_executor(first.get_executor()));
        },
        bind_cancellation_slot(signal.slot(), [](std::exception_ptr) {}));
    first.run();
    EXPECT_TRUE(refused);
}

TEST(ResumeOn, AnEmptyExecutorIsRefused) {
    io_context context;
    bool refused = false;
    co_spawn(
        context,
        [&]() -> awaitable<void> {
            try {
                co_await resume_on(any_io_executor());
            } catch (bad_executor const&) {
                refused = true;
            }
        },
        rethrow);
    context.run();
    EXPECT_TRUE(refused);
}

/// A part of a group may move; the group goes on at home.
TEST(ResumeOn, PartsOfAGroupMoveByThemselves) {
    io_context context;
    thread_pool pool(1);
    std::thread::id part, group;
    co_spawn(
        context,
        [&]() -> awaitable<void> {
            auto const moves = [&]() -> awaitable<int> {
                co_await resume_on(pool);
                part = here();
                co_return 1;
            };
            auto const [a, b] = co_await when_all(moves(), moves());
            EXPECT_EQ(a + b, 2);
            group = here();
        },
        rethrow);
    context.run();
    EXPECT_EQ(group, here());
    EXPECT_NE(part, here());
}

TEST(Offload, RunsThereAndComesBackWithTheResult) {
    io_context context;
    thread_pool pool(1);
    std::thread::id there, back;
    std::string failure;
    co_spawn(
        context,
        [&]() -> awaitable<void> {
            int const n = co_await offload(pool, [&there] {
                there = here();
                return 7;
            });
            EXPECT_EQ(n, 7);
            back = here();
            try {
                co_await offload(pool, [] { throw std::runtime_error("cannot"); });
            } catch (std::runtime_error const& e) {
                failure = e.what();
            }
        },
        rethrow);
    context.run();
    EXPECT_EQ(back, here());
    EXPECT_NE(there, here());
    EXPECT_EQ(failure, "cannot");
    EXPECT_EQ(offload(pool, [] { return 8; }, use_future).get(), 8);
}

} // namespace
