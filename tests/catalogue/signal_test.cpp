// Signals: rows S05 and S08.
#include <fairlead/net/signal_set.hpp>

#include <fairlead/net/timer.hpp>

#include <gtest/gtest.h>

#include <support/scale.hpp>

#include <csignal>
#include <cstdlib>
#include <memory>
#include <optional>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;

std::sig_atomic_t volatile handled_before = 0;
extern "C" void count_before(int) { handled_before = handled_before + 1; }

TEST(Catalogue, S05_ASignalTellsOfTheEndOfAChild) {
    io_context context;
    signal_set set(context, SIGCHLD);
    pid_t const child = ::fork();
    if (child == 0)
        ::_exit(7);
    int status = 0;
    set.async_wait([&](error_code ec, int number) {
        EXPECT_FALSE(ec);
        EXPECT_EQ(number, SIGCHLD);
        EXPECT_EQ(::waitpid(child, &status, 0), child);
    });
    context.run();
    EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(Catalogue, S05_NoSignalThatTheProcessTookIsMergedWithAnother) {
    io_context context;
    signal_set set(context, SIGUSR1);
    for (int i = 0; i != 100'000; ++i) // more than a pipe would hold
        std::raise(SIGUSR1);
    int got = 0;
    bool more = true;
    while (more) {
        more = false;
        set.async_wait([&](error_code ec, int) { more = !ec; });
        context.poll();
        context.restart();
        got += more;
    }
    EXPECT_EQ(got, 100'000);
    set.cancel();
    context.run();
}

TEST(Catalogue, S05_TheLastSetGivesTheProcessItsOwnHandlerBack) {
    ASSERT_NE(std::signal(SIGUSR2, &count_before), SIG_ERR);
    {
        io_context context, other;
        signal_set set(context, SIGUSR2);
        std::optional<signal_set> second(std::in_place, other, SIGUSR2);
        std::raise(SIGUSR2);
        set.clear();
        std::raise(SIGUSR2);
        EXPECT_EQ(handled_before, 0) << "the second set still has it";
        second.reset();
        std::raise(SIGUSR2);
        EXPECT_EQ(handled_before, 1);
        set.add(SIGUSR2);
        std::raise(SIGUSR2);
        EXPECT_EQ(handled_before, 1);
    }
    std::raise(SIGUSR2);
    EXPECT_EQ(handled_before, 2);
    std::signal(SIGUSR2, SIG_DFL);
}

TEST(Catalogue, S05_AContextThatDoesNotRunHearsOfItWhenItRunsAgain) {
    io_context idle, busy;
    signal_set of_idle(idle, SIGUSR1), of_busy(busy, SIGUSR1);
    int heard_idle = 0, heard_busy = 0;
    of_idle.async_wait([&](error_code, int) { ++heard_idle; });
    of_busy.async_wait([&](error_code, int) { ++heard_busy; });
    std::raise(SIGUSR1);
    busy.run();
    EXPECT_EQ(heard_busy, 1);
    EXPECT_EQ(heard_idle, 0);
    idle.run();
    EXPECT_EQ(heard_idle, 1);
}

TEST(Catalogue, S05_ASetThatOutlivesItsContextKeepsNothing) {
    ASSERT_NE(std::signal(SIGUSR2, &count_before), SIG_ERR);
    auto const before = handled_before;
    auto context = std::make_unique<io_context>();
    auto set = std::make_unique<signal_set>(*context, SIGUSR1, SIGUSR2);
    set->async_wait([](error_code, int) { FAIL(); });
    context.reset();
    error_code ec;
    set->add(SIGHUP, ec);
    EXPECT_EQ(ec, error::bad_descriptor);
    set->async_wait([](error_code, int) { FAIL(); });
    set->cancel();
    set->remove(SIGUSR1, ec);
    EXPECT_FALSE(ec);
    std::raise(SIGUSR2);
    EXPECT_EQ(handled_before, before) << "the set still has it";
    set.reset();
    std::raise(SIGUSR2);
    EXPECT_EQ(handled_before, before + 1);
    std::signal(SIGUSR2, SIG_DFL);
}

TEST(Catalogue, S05_AForkedChildHasItsOwnSignals) {
    io_context context;
    signal_set set(context, SIGUSR1);
    int parents = 0, childs = 0;
    set.async_wait([&](error_code ec, int) { parents += !ec; });
    context.poll();
    context.notify_fork(io_context::fork_prepare);
    pid_t const child = ::fork();
    if (child == 0) {
        context.notify_fork(io_context::fork_child);
        set.cancel();
        context.poll();
        set.async_wait([&](error_code ec, int) { childs += !ec; });
        std::raise(SIGUSR1);
        context.restart();
        context.run();
        ::_exit(childs == 1 ? 0 : 1);
    }
    context.notify_fork(io_context::fork_parent);
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    auto const before = context.counters().polls;
    steady_timer timer(context, 1ms);
    timer.async_wait([](error_code) {});
    context.run_one();
    EXPECT_EQ(context.counters().polls - before, 1U) << "the child's signal woke the parent up";
    EXPECT_EQ(parents, 0);
    std::raise(SIGUSR1);
    context.run();
    EXPECT_EQ(parents, 1);
}

TEST(Catalogue, S08_ASignalMayComeInTheMiddleOfAnything) {
    // One thread allocates, registers and waits; the other one sends signals to it all the time. A handler that took a
    // lock or memory would stand still here.
    io_context context;
    signal_set set(context, SIGUSR1);
    pthread_t const target = ::pthread_self();
    std::atomic<bool> over{false};
    std::thread sender([&] {
        while (!over.load(std::memory_order_relaxed))
            ::pthread_kill(target, SIGUSR1);
    });
    int const rounds = static_cast<int>(test::scaled(2'000, 200));
    int got = 0;
    for (int i = 0; i != rounds; ++i) {
        set.async_wait([&](error_code ec, int) { got += !ec; });
        context.run();
        context.restart();
        std::vector<int> memory(static_cast<std::size_t>(i) + 1);
        signal_set other(context, SIGUSR1, SIGUSR2);
        other.remove(SIGUSR1);
    }
    over = true;
    sender.join();
    EXPECT_EQ(got, rounds);
}

} // namespace
