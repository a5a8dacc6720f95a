#include <fairlead/coro/spawn.hpp>

#include <fairlead/io/io_context.hpp>
#include <fairlead/token/adapters.hpp>

#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sys/wait.h>

namespace {

using namespace fairlead;

awaitable<int> answer() { co_return 42; }

// Without a local variable before it: the one shape that g++ 12 compiles wrongly.
awaitable<void> awaits_in_a_condition() {
    if (co_await answer() == 42)
        std::fputs("it works\n", stderr);
}
awaitable<void> awaits_before_a_condition() {
    bool const go = co_await answer() == 42;
    if (go)
        std::fputs("it works\n", stderr);
}

[[noreturn]] void run(awaitable<void> (*coroutine)()) {
    io_context context(1);
    co_spawn(context, coroutine(), detached);
    context.run();
    std::_Exit(0);
}

bool works_or_aborts(int status) {
    return (WIFEXITED(status) && WEXITSTATUS(status) == 0) || (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

TEST(CoroutineFrame, ConditionThatAwaitsWorksOrTheProgramSaysWhatToDo) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(run(&awaits_in_a_condition), works_or_aborts, "it works|no local variable before that");
    EXPECT_EXIT(run(&awaits_before_a_condition), testing::ExitedWithCode(0), "it works");
}

} // namespace
