#include <fairlead/token/block.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/strand.hpp>
#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/operation/compose.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/deferred.hpp>
#include <fairlead/token/post.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using local_socket = local::stream_protocol::socket;

/// A user's operation: hops through the executor so many times and completes with the sum of the steps.
template <class Executor, class Token> auto async_count(Executor ex, int steps, Token&& token) {
    return async_initiate<Token, void(error_code, int)>(
        [](auto handler, Executor on, int left) {
            struct step {
                decltype(handler) h;
                Executor on;
                int left, done = 0;
                void operator()() {
                    if (left == 0)
                        return std::move(h)(error_code(), done);
                    --left;
                    ++done;
                    auto const ex_copy = on;
                    post(ex_copy, std::move(*this));
                }
            };
            post(on, step{std::move(handler), on, left});
        },
        token, ex, steps);
}

TEST(Block, RunsTheLoopThatNobodyRuns) {
    io_context context;
    EXPECT_EQ(async_count(context.get_executor(), 5, block), 5);
    EXPECT_FALSE(context.stopped()) << "a blocking call is no run()";
    error_code ec = error::eof;
    EXPECT_EQ(async_count(context.get_executor(), 3, block[ec]), 3);
    EXPECT_FALSE(ec);
}

TEST(Block, WorksWithAContextThatHasStopped) {
    io_context context;
    context.run();
    ASSERT_TRUE(context.stopped());
    EXPECT_EQ(async_count(context.get_executor(), 2, block), 2);
    EXPECT_TRUE(context.stopped());
}

TEST(Block, LeavesALoopToTheThreadThatRunsIt) {
    io_context context;
    auto guard = make_work_guard(context);
    std::thread runner([&] { context.run(); });
    std::atomic<std::thread::id> running;
    post(context, [&] { running = std::this_thread::get_id(); });
    while (running.load() == std::thread::id())
        std::this_thread::yield();
    std::thread::id ran_in;
    auto const where = [&] { ran_in = std::this_thread::get_id(); };
    dispatch(context, deferred)(block);
    async_initiate<block_t const&, void()>(
        [&](auto handler) {
            post(context, [&, h = std::move(handler)]() mutable {
                where();
                std::move(h)();
            });
        },
        block);
    EXPECT_EQ(ran_in, running.load());
    guard.reset();
    runner.join();
}

TEST(Block, WaitsForAPool) {
    thread_pool pool(2);
    EXPECT_EQ(async_count(pool.get_executor(), 100, block), 100);
    EXPECT_EQ(async_count(make_strand(pool), 100, block), 100);
    pool.join();
}

TEST(Block, FollowsAnOperationThroughSeveralContexts) {
    io_context first, second;
    int hops = 0;
    auto const hop = [&](auto& self, auto handler) -> void {
        if (++hops == 20)
            return std::move(handler)();
        post(hops % 2 ? second : first, [&self, h = std::move(handler)]() mutable { self(self, std::move(h)); });
    };
    async_initiate<block_t const&, void()>([&](auto handler) { hop(hop, std::move(handler)); }, block);
    EXPECT_EQ(hops, 20);
}

awaitable<int> answer(io_context& context, local_socket& a, local_socket& b) {
    steady_timer timer(context, 1ms);
    co_await timer.async_wait();
    co_await async_write(a, buffer("4", 1));
    char c = ' ';
    co_await async_read(b, buffer(&c, 1));
    co_return c - '0';
}

TEST(Block, WaitsForACoroutine) {
    io_context context;
    local_socket a(context), b(context);
    local::connect_pair(a, b);
    EXPECT_EQ(co_spawn(context, answer(context, a, b), block), 4);
}

awaitable<void> failing() {
    throw std::runtime_error("mine");
    co_return;
}

TEST(Block, ThrowsWhatTheOperationThrew) {
    io_context context;
    EXPECT_THROW(co_spawn(context, failing(), block), std::runtime_error);
}

TEST(Block, RethrowsWhatOtherHandlersThrewWhenItsOperationHasEnded) {
    io_context context;
    post(context, [] { throw std::runtime_error("another's"); });
    int ended = 0;
    auto const other = [&](auto handler) {
        post(context, [&, h = std::move(handler)]() mutable {
            ++ended;
            std::move(h)();
        });
    };
    EXPECT_THROW((async_initiate<block_t const&, void()>(other, block)), std::runtime_error);
    EXPECT_EQ(ended, 1);
}

TEST(Block, SaysThatAnOperationWasGivenUp) {
    auto context = std::make_unique<io_context>();
    try {
        async_initiate<block_t const&, void()>(
            [&](auto handler) {
                post(*context, [h = std::move(handler)]() mutable { // takes it and forgets it
                    auto const gone = std::move(h);
                });
            },
            block);
        FAIL();
    } catch (system_error const& e) {
        EXPECT_EQ(e.code(), error::operation_aborted);
    }
}

TEST(Block, AnotherThreadMayTakeTheLoopOverAndLeaveIt) {
    io_context context;
    for (int round = 0; round != 100; ++round) {
        context.restart();
        std::thread runner([&] { context.run(); }); // comes and goes whenever there is nothing to do
        EXPECT_EQ(async_count(context.get_executor(), 50, block), 50);
        runner.join();
    }
}

TEST(Block, WaitsNoLongerThanATimeLimit) {
    io_context context;
    steady_timer timer(context, 1h);
    error_code ec;
    timer.async_wait(cancel_after(1ms, block[ec]));
    EXPECT_EQ(ec, error::operation_aborted);
    local_socket a(context), b(context);
    local::connect_pair(a, b);
    char bytes[4];
    EXPECT_EQ(a.async_read_some(buffer(bytes), cancel_after(1ms, block[ec])), 0U);
    EXPECT_EQ(ec, error::operation_aborted);
}

TEST(Block, RefusesInsideALoop) {
    io_context context;
    post(context, [&] {
        error_code ec;
        async_count(context.get_executor(), 1, block[ec]);
        EXPECT_EQ(ec, std::errc::resource_deadlock_would_occur);
        EXPECT_THROW(async_count(context.get_executor(), 1, block), system_error);
    });
    context.run();
}

} // namespace
