#include <fairlead/io/io_context.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/packaged_task.hpp>
#include <fairlead/token/post.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <type_traits>

namespace fairlead {
namespace {

TEST(PackagedTask, FutureHasWhatTheTaskReturns) {
    io_context ctx;
    auto result = post(ctx, std::packaged_task<int()>([] { return 42; }));
    static_assert(std::is_same_v<decltype(result), std::future<int>>);
    EXPECT_EQ(result.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
    ctx.run();
    EXPECT_EQ(result.get(), 42);
}

TEST(PackagedTask, TakesTheArgumentsOfTheCompletion) {
    io_context ctx;
    steady_timer timer(ctx, std::chrono::hours(1));
    auto result = timer.async_wait(std::packaged_task<bool(error_code)>([](error_code ec) { return bool(ec); }));
    timer.cancel();
    ctx.run();
    EXPECT_TRUE(result.get());
}

TEST(PackagedTask, BoundToAnExecutorItRunsThere) {
    io_context ctx, other;
    auto result = post(ctx, bind_executor(other, std::packaged_task<void()>([] {})));
    ctx.run();
    EXPECT_EQ(result.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
    other.run();
    result.get();
}

TEST(PackagedTask, FutureThrowsWhatTheTaskThrows) {
    io_context ctx;
    auto result = post(ctx, std::packaged_task<void()>([] { throw std::runtime_error("thrown by the task"); }));
    ctx.run();
    EXPECT_THROW(result.get(), std::runtime_error);
}

TEST(PackagedTask, AbandonedItBreaksThePromise) {
    std::future<void> result;
    {
        io_context ctx;
        result = post(ctx, std::packaged_task<void()>([] {}));
    }
    EXPECT_THROW(result.get(), std::future_error);
}

} // namespace
} // namespace fairlead
