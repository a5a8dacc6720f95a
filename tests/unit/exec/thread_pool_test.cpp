#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/token/post.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>

#include <unistd.h>

GTEST_DECLARE_bool_(death_test_use_fork); // declared in no public header

namespace {

using namespace fairlead;

TEST(ThreadPool, HasAtLeastTwoThreadsWhereNobodySaysHowMany) {
    thread_pool pool;
    std::promise<void> first, second;
    auto one = first.get_future(), other = second.get_future();
    // Each waits for the other: one thread would wait for ever.
    post(pool, [&] {
        first.set_value();
        other.wait();
    });
    post(pool, [&] {
        second.set_value();
        one.wait();
    });
    pool.join();
    EXPECT_EQ(one.wait_for(std::chrono::seconds(0)), std::future_status::ready);
}

/// Exits with 0 if what was posted before the pool of the process was stopped has run, and nothing after.
[[noreturn]] void stop_the_pool_of_the_process() {
    auto& context = system_executor().context();
    std::promise<void> ran;
    post(system_executor(), [&] { ran.set_value(); });
    ran.get_future().wait();
    bool good = !context.stopped();
    context.stop();
    good = good && context.stopped();
    std::atomic<bool> late{false};
    post(system_executor(), [&] { late = true; });
    context.join();
    ::_exit(good && !late ? 0 : 1);
}

TEST(SystemContext, RunsNothingAnyMoreOnceItIsStopped) {
    // In a process of its own: others would miss it.
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    testing::FLAGS_gtest_death_test_use_fork = true;
    EXPECT_EXIT(stop_the_pool_of_the_process(), testing::ExitedWithCode(0), "");
}

} // namespace
