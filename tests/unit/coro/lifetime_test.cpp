// Mistakes with lifetimes that the library reports at run time.
#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/post.hpp>

#include <gtest/gtest.h>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;

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
