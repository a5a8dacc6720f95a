#include <fairlead/net/signal_set.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/executor.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/use_future.hpp>

#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <optional>
#include <type_traits>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;

static_assert(std::is_same_v<signal_set, basic_signal_set<any_io_executor>>);
static_assert(!std::is_copy_constructible_v<signal_set>);
using rebound_signal_set = signal_set::rebind_executor<io_context::executor_type>::other;
static_assert(std::is_same_v<rebound_signal_set::executor_type, io_context::executor_type>);

TEST(SignalSet, IsMadeFromAnExecutorOrAContextWithUpToThreeSignals) {
    io_context context;
    signal_set none(context.get_executor()), one(context.get_executor(), SIGUSR1),
        two(context.get_executor(), SIGUSR1, SIGUSR2), three(context.get_executor(), SIGUSR1, SIGUSR2, SIGHUP);
    rebound_signal_set other(context, SIGUSR1, SIGUSR2, SIGHUP);
    EXPECT_EQ(none.get_executor(), any_io_executor(context.get_executor()));
}

TEST(SignalSet, WhatIsNoSignalCannotBeAdded) {
    io_context context;
    signal_set set(context);
    for (int number : {-1, 0, SIGKILL, SIGSTOP, 65, 1 << 20}) {
        error_code ec;
        set.add(number, ec);
        EXPECT_EQ(ec, error::invalid_argument) << number;
    }
    EXPECT_THROW(set.add(SIGKILL), system_error);
    EXPECT_THROW(signal_set(context, SIGKILL), system_error);
}

TEST(SignalSet, WhatIsNoSignalCannotBeRemoved) {
    io_context context;
    signal_set set(context, SIGUSR1);
    for (int number : {-1, 0, 65, 1 << 20}) {
        error_code ec;
        set.remove(number, ec);
        EXPECT_EQ(ec, error::invalid_argument) << number;
    }
    signal_set empty(context);
    error_code ec = error::eof;
    empty.clear(ec);
    EXPECT_FALSE(ec);
}

TEST(SignalSet, AddingTwiceAndRemovingWhatIsNotThereDoNothing) {
    io_context context;
    signal_set set(context);
    error_code ec = error::eof;
    set.remove(SIGUSR1, ec);
    EXPECT_FALSE(ec);
    set.add(SIGUSR1);
    set.add(SIGUSR1);
    std::raise(SIGUSR1);
    int calls = 0;
    set.async_wait([&](error_code, int) { ++calls; });
    set.async_wait([&](error_code failed, int) { calls += failed ? 0 : 100; });
    context.run_one();
    context.poll();
    EXPECT_EQ(calls, 1) << "added twice, it still comes once";
    set.remove(SIGUSR1);
    set.remove(SIGUSR1, ec);
    EXPECT_FALSE(ec);
}

TEST(SignalSet, CancelAbortsTheWaitsAndKeepsTheSignals) {
    io_context context;
    signal_set set(context, SIGUSR1);
    int aborted = 0;
    for (int i = 0; i != 2; ++i)
        set.async_wait([&](error_code ec, int) { aborted += ec == error::operation_aborted; });
    set.cancel();
    EXPECT_EQ(aborted, 0);
    context.run();
    EXPECT_EQ(aborted, 2);
    std::raise(SIGUSR1);
    int got = 0;
    set.async_wait([&](error_code, int number) { got = number; });
    context.restart();
    context.run();
    EXPECT_EQ(got, SIGUSR1);
}

TEST(SignalSet, DestroyedItAbortsItsWaits) {
    io_context context;
    bool aborted = false;
    {
        signal_set set(context, SIGUSR1);
        set.async_wait([&](error_code ec, int) { aborted = ec == error::operation_aborted; });
    }
    context.run();
    EXPECT_TRUE(aborted);
}

TEST(SignalSet, ADestroyedContextGivesItsWaitsUp) {
    auto witness = std::make_shared<int>();
    auto context = std::make_unique<io_context>();
    auto set = std::make_unique<signal_set>(*context, SIGUSR1);
    set->async_wait([witness](error_code, int) { FAIL(); });
    struct late : execution_context::service {
        explicit late(execution_context& c) : service(c) {}
        void shutdown() override { set.reset(); }
        std::unique_ptr<signal_set> set;
    };
    use_service<late>(*context).set = std::move(set);
    context.reset();
    EXPECT_EQ(witness.use_count(), 1);
}

TEST(SignalSet, AwaitedItAllocatesNothingAndYieldsTheNumber) {
    io_context context;
    signal_set set(context, SIGUSR2);
    int got = 0;
    auto const wait_once = [](signal_set& s, int& into) -> awaitable<void> { into = co_await s.async_wait(); };
    co_spawn(context, wait_once(set, got), detached);
    context.poll();
    std::raise(SIGUSR2);
    context.run();
    EXPECT_EQ(got, SIGUSR2);
}

TEST(SignalSet, FlagsOfOneSignalMustAgreeWithinTheProcess) {
    io_context context;
    using flags = signal_set::flags;
    signal_set first(context), second(context);
    first.add(SIGCHLD, flags::no_child_stop | flags::restart);
    struct sigaction now{};
    ASSERT_EQ(::sigaction(SIGCHLD, nullptr, &now), 0);
    EXPECT_EQ(now.sa_flags & (SA_NOCLDSTOP | SA_RESTART), SA_NOCLDSTOP | SA_RESTART);
    error_code ec;
    second.add(SIGCHLD, flags::none, ec);
    EXPECT_EQ(ec, error::invalid_argument);
    second.add(SIGCHLD, flags::dont_care, ec);
    EXPECT_FALSE(ec);
    second.remove(SIGCHLD);
    second.add(SIGCHLD, flags::no_child_stop | flags::restart, ec);
    EXPECT_FALSE(ec);
}

} // namespace
