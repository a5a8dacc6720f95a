// dump() of a program that notes where it awaits. The build compiles this file with FAIRLEAD_AWAIT_PLACES=1, and other
// files of the same program without it.
#include <fairlead/coro/tasks.hpp>

#include <fairlead/coro/coro.hpp>
#include <fairlead/coro/spawn.hpp>
#include <fairlead/coro/use_coro.hpp>
#include <fairlead/coro/when_all.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/sim/world.hpp>
#include <fairlead/token/detached.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;

/// A line of this file, as dump() shows it.
std::string shown(unsigned line) {
    return std::string("  ") + std::source_location::current().file_name() + ':' + std::to_string(line);
}

struct noted_lines {
    unsigned first = 0, second = 0, outer = 0, group = 0, yield = 0, generated = 0;
};
noted_lines noted;

awaitable<void> noted_inner(io_context& c) {
    steady_timer t(c, 2s);
    noted.first = __LINE__ + 1;
    co_await t.async_wait();
    t.expires_after(3s);
    noted.second = __LINE__ + 1;
    co_await t.async_wait();
}
awaitable<void> noted_outer(io_context& c) {
    noted.outer = __LINE__ + 1;
    co_await noted_inner(c);
}
awaitable<void> noted_group(io_context& c) {
    noted.group = __LINE__ + 1;
    co_await when_all(noted_inner(c), noted_inner(c));
}
awaitable<void> noted_yield() {
    noted.yield = __LINE__ + 1;
    co_await this_coro::yield();
}

experimental::coro<int> noted_generator(io_context& c) {
    steady_timer t(c, 9s);
    noted.generated = __LINE__ + 1;
    co_await t.async_wait();
    co_yield 1;
}
awaitable<void> noted_caller(io_context& c) {
    auto numbers = noted_generator(c);
    co_await numbers.async_resume(use_await);
}

class AwaitPlaces : public testing::Test {
public:
    void SetUp() override { list_tasks(context); }
    std::string dump_at(std::chrono::seconds when) {
        std::string text;
        world.at(when, [&] { text = dump(context); });
        world.run_for(when + 1ms);
        return text;
    }
    static bool has(std::string const& text, std::string const& part) { return text.find(part) != text.npos; }

    sim::world world{1};
    io_context& context = world.context();
};

TEST_F(AwaitPlaces, OfEachCoroutineOfAChainAreShownWithTheTimeOfTheWait) {
    co_spawn(context, noted_outer(context), detached);
    auto const text = dump_at(1s);
    EXPECT_TRUE(has(text, "noted_inner" + shown(noted.first) + ", for 1.000 s\n")) << text;
    EXPECT_TRUE(has(text, "noted_outer" + shown(noted.outer) + '\n')) << text;
}

TEST_F(AwaitPlaces, AreThoseOfTheLatestAwait) {
    co_spawn(context, noted_outer(context), detached);
    world.run_for(2'500ms);
    auto const text = dump(context);
    EXPECT_TRUE(has(text, "noted_inner" + shown(noted.second) + ", for 0.500 s\n")) << text;
    EXPECT_TRUE(has(text, "noted_outer" + shown(noted.outer) + '\n')) << text;
}

TEST_F(AwaitPlaces, AreShownOfGroupsAndOfYields) {
    co_spawn(context, noted_group(context), detached);
    auto text = dump_at(1s);
    EXPECT_TRUE(has(text, "noted_group" + shown(noted.group) + ", for 1.000 s\n")) << text;
    EXPECT_TRUE(has(text, "noted_inner" + shown(noted.first) + ", for 1.000 s\n")) << text;
    co_spawn(context, noted_yield(), detached);
    context.poll_one();
    text = dump(context);
    EXPECT_TRUE(has(text, "noted_yield" + shown(noted.yield))) << text;
}

TEST_F(AwaitPlaces, OfACoroAreThoseOfTheProgram) {
    co_spawn(context, noted_caller(context), detached);
    auto const text = dump_at(1s);
    EXPECT_TRUE(has(text, "noted_generator" + shown(noted.generated))) << text;
}

} // namespace
