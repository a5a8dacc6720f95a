// experimental::coro as programs for Asio write it, with nothing else included.
#include <asio/experimental/co_spawn.hpp>
#include <asio/experimental/use_coro.hpp>

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include <gtest/gtest.h>

#include <chrono>

namespace {

asio::experimental::task<int> answer(asio::any_io_executor ex) {
    asio::steady_timer timer(ex, std::chrono::seconds(0));
    co_await timer.async_wait(asio::experimental::use_coro);
    co_return 42;
}
asio::experimental::generator<int> answers(asio::io_context& context) {
    for (int i = 0; i != 2; ++i)
        co_yield co_await answer(context.get_executor());
}

TEST(AsioCompatCoro, TasksAndGeneratorsHaveTheirNames) {
    asio::io_context context;
    int sum = 0;
    auto g = answers(context);
    g.async_resume([&](std::exception_ptr, std::optional<int> n) { sum += *n; });
    asio::experimental::co_spawn(answer(context.get_executor()), [&](std::exception_ptr, int n) { sum += n; });
    context.run();
    EXPECT_EQ(sum, 84);
}

TEST(AsioCompatCoro, PostWaitsInACoroutineUntilThatIsResumed) {
    asio::io_context context;
    bool ran = false;
    auto const handle = asio::experimental::detail::post_coroutine(context, [&] { ran = true; }).handle;
    context.run();
    EXPECT_FALSE(ran);
    context.restart();
    handle.resume();
    context.run();
    EXPECT_TRUE(ran);
}

} // namespace
