// Programs written for Asio open its namespace together with that of the standard clocks. No header of Asio's brings a
// name that is ambiguous then. The test is that this compiles.
#include <asio.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/experimental/channel.hpp>
#include <asio/experimental/co_spawn.hpp>
#include <asio/experimental/concurrent_channel.hpp>
#include <asio/experimental/coro.hpp>
#include <asio/experimental/parallel_group.hpp>
#include <asio/experimental/promise.hpp>
#include <asio/experimental/use_coro.hpp>
#include <asio/experimental/use_promise.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <type_traits>

namespace {

using namespace asio;
using namespace std::chrono;

static_assert(std::is_same_v<steady_clock, std::chrono::steady_clock>);
static_assert(std::is_same_v<system_clock, std::chrono::system_clock>);
static_assert(std::is_same_v<high_resolution_clock, std::chrono::high_resolution_clock>);
static_assert(std::is_same_v<steady_timer::time_point, steady_clock::time_point>);
static_assert(std::is_same_v<time_point<steady_clock>, steady_clock::time_point>);
static_assert(duration_cast<milliseconds>(duration<int>(1)) == milliseconds(1000));
static_assert(std::is_same_v<file_clock, std::chrono::file_clock>);
static_assert(days(1) == hours(24) && hours(1) == minutes(60) && minutes(1) == seconds(60));
static_assert(seconds(1) == microseconds(1'000'000) && microseconds(1) == nanoseconds(1000));

TEST(CompatClocks, W1_TheStandardClockIsMeantBesideAsiosNamespace) {
    io_context context;
    steady_timer timer(context);
    auto const begin = steady_clock::now();
    timer.expires_at(begin + milliseconds(1));
    auto wait = timer.async_wait(experimental::use_promise);
    context.run();
    EXPECT_TRUE(wait.completed());
    EXPECT_GE(steady_clock::now(), begin + milliseconds(1));
}

} // namespace
