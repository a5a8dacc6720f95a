// dump() of a program that notes where it awaits. Other files of the same program are compiled without that.
#define FAIRLEAD_AWAIT_PLACES 1
#include <fairlead/coro/tasks.hpp>

#include <fairlead/coro/coro.hpp>
#include <fairlead/coro/spawn.hpp>
#include <fairlead/coro/use_coro.hpp>
#include <fairlead/coro/when_all.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/sim/world.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/sync/message_channel.hpp>
#include <fairlead/sync/mutex.hpp>
#include <fairlead/token/detached.hpp>

#include <gtest/gtest.h>

#include <array>
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

awaitable<void> noted_lock(mutex& m, io_context& c) {
    co_await m.async_lock();
    steady_timer t(c, 9s);
    co_await t.async_wait();
}
awaitable<void> noted_message(channel_receiver<int> from) {
    co_await from.next();
    noted.second = __LINE__ + 1;
    co_await from.next();
}
awaitable<void> noted_read(local::stream_protocol::socket& s) {
    std::vector<char> bytes(10'000);
    co_await async_read(s, buffer(bytes));
}
awaitable<void> noted_line(local::stream_protocol::socket& s) {
    std::string text;
    co_await async_read_until(s, dynamic_buffer(text), '\n');
}
awaitable<void> noted_large(local::stream_protocol::socket& s) {
    std::array<char, 100> bytes{};
    auto const all_but_one = [large = bytes](error_code, std::size_t n) { return large.size() - 1 - n; };
    co_await async_read(s, buffer(bytes), all_but_one);
}
awaitable<void> noted_dump(io_context& c, std::string& text) {
    steady_timer t(c, 1s);
    noted.first = __LINE__ + 1;
    co_await t.async_wait();
    text = dump(c);
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

TEST_F(AwaitPlaces, NameTheOperationAlsoWhereNobodyCanAsk) {
    local::stream_protocol::socket a(context), b(context), c(context), d(context);
    local::connect_pair(a, b);
    local::connect_pair(c, d);
    mutex m(context);
    co_spawn(context, noted_lock(m, context), detached);
    co_spawn(context, noted_lock(m, context), detached);
    co_spawn(context, noted_read(a), detached);
    co_spawn(context, noted_line(c), detached);
    auto const text = dump_at(1s);
    EXPECT_TRUE(has(text, "waits for fairlead::impl::net::timer_wait\n")) << text;
    EXPECT_TRUE(has(text, "waits for fairlead::impl::sync::lock_mutex\n")) << text;
    EXPECT_TRUE(has(text, "waits for fairlead::impl::net::transfer\n")) << text;
    EXPECT_TRUE(has(text, "waits for fairlead::impl::stream::read_until_initiation\n")) << text;
}

TEST_F(AwaitPlaces, NameAMessageThatIsWaitedFor) {
    auto ends = make_channel<int>(context, 1);
    EXPECT_TRUE(ends.first.try_send(1));
    co_spawn(context, noted_message(ends.second), detached);
    auto const text = dump_at(1s);
    EXPECT_TRUE(has(text, shown(noted.second))) << text;
    EXPECT_TRUE(has(text, "waits for fairlead::impl::sync::receive_from\n")) << text;
}

TEST_F(AwaitPlaces, NameAnOperationThatLiesInABlock) {
    local::stream_protocol::socket a(context), b(context);
    local::connect_pair(a, b);
    co_spawn(context, noted_large(a), detached);
    auto const text = dump_at(1s);
    EXPECT_TRUE(has(text, "waits for fairlead::impl::")) << text;
    EXPECT_FALSE(has(text, "_functions\n")) << text;
}

TEST_F(AwaitPlaces, HaveNoTimeWhileTheCoroutineRuns) {
    std::string text;
    co_spawn(context, noted_dump(context, text), detached);
    world.run();
    EXPECT_TRUE(has(text, "noted_dump" + shown(noted.first) + '\n')) << text;
    EXPECT_FALSE(has(text, "waits for")) << text;
}

} // namespace
