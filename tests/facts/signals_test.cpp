// Fact 39: signals that nobody waits for are kept and handed out one per wait, the lowest number first.
#include <fairlead/coro/spawn.hpp>
#include <fairlead/net/signal_set.hpp>
#include <fairlead/token/adapters.hpp>

#include <gtest/gtest.h>

#include <csignal>
#include <vector>

namespace {

using namespace fairlead;

awaitable<void> fetch(signal_set& set, std::size_t most, std::vector<int>& into) {
    while (into.size() != most)
        into.push_back(co_await set.async_wait());
}

TEST(Facts, F39_SignalsAreKeptAndHandedOutOnePerWaitTheLowestNumberFirst) {
    io_context context;
    signal_set set(context, SIGUSR1, SIGUSR2, SIGHUP);
    for (int number : {SIGUSR2, SIGUSR1, SIGUSR2, SIGHUP})
        std::raise(number);
    std::vector<int> got;
    set.async_wait([&](error_code ec, int number) {
        EXPECT_FALSE(ec);
        got.push_back(number);
    });
    context.run();
    EXPECT_EQ(got, (std::vector<int>{SIGHUP})) << "one per wait";
    context.restart();
    co_spawn(context, fetch(set, 4, got), detached);
    context.run();
    EXPECT_EQ(got, (std::vector<int>{SIGHUP, SIGUSR1, SIGUSR2, SIGUSR2}));
}

TEST(Facts, F39_AHandlerNeverRunsInTheInitiatingFunction) {
    io_context context;
    signal_set set(context, SIGUSR1);
    std::raise(SIGUSR1);
    int got = 0;
    set.async_wait([&](error_code, int number) { got = number; });
    EXPECT_EQ(got, 0);
    context.run();
    EXPECT_EQ(got, SIGUSR1);
}

TEST(Facts, F39_EverySetThatRegisteredTheNumberGetsOneAlsoInOtherContexts) {
    io_context context, other;
    signal_set first(context, SIGUSR1), second(context, SIGUSR1, SIGUSR2), third(other, SIGUSR1), wrong(other, SIGUSR2);
    int calls = 0, wrong_calls = 0;
    auto const count = [&](error_code ec, int number) { calls += !ec && number == SIGUSR1; };
    first.async_wait(count);
    second.async_wait(count);
    third.async_wait(count);
    wrong.async_wait([&](error_code ec, int) { wrong_calls += !ec; });
    std::raise(SIGUSR1);
    context.run();
    EXPECT_EQ(calls, 2);
    other.run_one();
    EXPECT_EQ(calls, 3);
    other.poll();
    EXPECT_EQ(wrong_calls, 0);
}

TEST(Facts, F39_SeveralWaitsOfASetAreServedInTheirOrder) {
    io_context context;
    signal_set set(context, SIGUSR1);
    std::vector<int> order;
    for (int i = 0; i != 3; ++i)
        set.async_wait([&order, i](error_code, int) { order.push_back(i); });
    for (int i = 0; i != 3; ++i) {
        std::raise(SIGUSR1);
        context.run_one();
    }
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2}));
}

TEST(Facts, F39_RemovingASignalForgetsWhatHasComeOfIt) {
    io_context context;
    signal_set set(context, SIGUSR1, SIGUSR2), keeps(context, SIGUSR1);
    std::raise(SIGUSR1);
    std::raise(SIGUSR2);
    set.remove(SIGUSR1);
    std::vector<int> got;
    set.async_wait([&](error_code, int number) { got.push_back(number); });
    context.run();
    EXPECT_EQ(got, (std::vector<int>{SIGUSR2}));
    set.add(SIGUSR1);
    std::raise(SIGUSR1);
    set.clear();
    bool aborted = false;
    set.async_wait([&](error_code ec, int number) { aborted = ec == error::operation_aborted && number == 0; });
    context.restart();
    context.poll();
    EXPECT_FALSE(aborted) << "no signal is in the set, and the wait is pending";
    set.cancel();
    context.run();
    EXPECT_TRUE(aborted);
}

} // namespace
