#include "support/counting_allocator.hpp"
#include "support/users_executor.hpp"

#include <fairlead/operation/erased_handler.hpp>

#include <fairlead/io/io_context.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/post.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace {

using namespace fairlead;
using test::account;
using test::counting_allocator;
using test::counting_executor;
using namespace std::chrono_literals;
using stream = local::stream_protocol::socket;

// A deferred operation does not know its handler's type, and yet does as if it did.

TEST(Facts, F08_StepsOfADeferredOperationRunOnTheHandlersExecutor) {
    io_context context, other;
    stream a(context), b(context);
    local::connect_pair(a, b);
    std::string text;
    bool done = false;
    auto op = async_read_until(a, dynamic_buffer(text), '\n', deferred);
    std::move(op)(
        bind_executor(other, [&](error_code, std::size_t) { done = other.get_executor().running_in_this_thread(); }));
    b.write_some(buffer("ab", 2));
    context.poll();
    b.write_some(buffer("cd\n", 3));
    context.poll();
    EXPECT_EQ(a.available(), 3U) << "the next read is started by the step on the other executor";
    other.poll();
    context.restart();
    context.poll();
    EXPECT_FALSE(done);
    other.restart();
    other.poll();
    EXPECT_TRUE(done);
}

TEST(Papers, A10_StepsOfADeferredOperationTakeTheHandlersMemory) {
    io_context context;
    stream a(context), b(context);
    local::connect_pair(a, b);
    std::string text;
    account count;
    int live_in_handler = -1;
    auto op = async_read_until(a, dynamic_buffer(text), '\n', deferred);
    std::move(op)(bind_allocator(counting_allocator<void>(&count),
                                 [&](error_code, std::size_t) { live_in_handler = count.live; }));
    EXPECT_EQ(count.live, 2) << "the handler and the read";
    b.write_some(buffer("x\n", 2));
    context.run();
    EXPECT_EQ(live_in_handler, 0);
    EXPECT_EQ(count.taken, 2);
}

TEST(ErasedHandler, HandlerWithoutAnExecutorRunsWhereTheOperationEnds) {
    io_context context;
    steady_timer timer(context, 0s);
    account count;
    bool done = false;
    auto op = completion_token_transform<void(error_code)>(deferred,
                                                           [&](auto handler) { timer.async_wait(std::move(handler)); });
    std::move(op)(bind_allocator(counting_allocator<void>(&count),
                                 [&](error_code) { done = context.get_executor().running_in_this_thread(); }));
    EXPECT_EQ(context.run(), 1U) << "no trip through another queue";
    EXPECT_TRUE(done);
    EXPECT_EQ(count.taken, 2);
}

TEST(ErasedHandler, ExecutorOfAUserIsUsedOnce) {
    io_context context;
    steady_timer timer(context, 0s);
    int executed = 0, calls = 0;
    auto op = completion_token_transform<void(error_code)>(deferred,
                                                           [&](auto handler) { timer.async_wait(std::move(handler)); });
    std::move(op)(bind_executor(counting_executor<io_context>{&context, &executed}, [&](error_code) { ++calls; }));
    context.run();
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(executed, 1);
}

} // namespace
