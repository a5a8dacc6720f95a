#include <fairlead/scope/dump_on_signal.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/scope/task_scope.hpp>
#include <fairlead/token/deferred.hpp>
#include <fairlead/token/post.hpp>

#include <gtest/gtest.h>

#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;

awaitable<void> shown_by_a_signal(steady_timer& t) { co_await t.async_wait(); }

TEST(DumpOnSignal, WritesTheTasksAtEachSignal) {
    io_context context;
    steady_timer timer(context, 20s);
    std::vector<std::string> texts;
    std::optional<dump_on_signal> shows;
    shows.emplace(context, SIGUSR2, [&](std::string const& text) {
        texts.push_back(text);
        if (texts.size() == 1)
            ::raise(SIGUSR2);
        else
            timer.cancel();
    });
    co_spawn(context, shown_by_a_signal(timer), [&](std::exception_ptr) { shows.reset(); });
    ::raise(SIGUSR2);
    context.run(); // Returns: nothing waits for signals any more.
    ASSERT_EQ(texts.size(), 2U);
    for (auto const& text : texts) {
        EXPECT_EQ(text.find("tasks, at a signal:\n1 tasks\n"), 0U) << text;
        EXPECT_NE(text.find("shown_by_a_signal"), text.npos) << text;
    }
}

awaitable<void> task_of_a_scope(steady_timer& t) { co_await t.async_wait(); }
awaitable<void> scope_with_a_task(steady_timer& t) {
    auto body = [&t](task_scope<>& s) -> awaitable<void> { co_await s.spawn(task_of_a_scope, std::ref(t)); };
    co_await with_scope(body);
}

TEST(DumpOnSignal, TasksOfAScopeStandBelowIt) {
    io_context context;
    steady_timer timer(context, 20s);
    std::optional<dump_on_signal> shows;
    std::string shown;
    shows.emplace(context, SIGUSR2, [&](std::string const& text) {
        shown = text;
        timer.cancel();
    });
    co_spawn(context, scope_with_a_task(timer), [&](std::exception_ptr) { shows.reset(); });
    ::raise(SIGUSR2);
    context.run();
    EXPECT_NE(shown.find(", spawned in (anonymous namespace)::scope_with_a_task  "), shown.npos) << shown;
    EXPECT_NE(shown.find("\n      waits for fairlead::impl::net::timer_wait\n      "
                         "(anonymous namespace)::task_of_a_scope\n"),
              shown.npos)
        << shown;
}

awaitable<void> gives_way_once() { co_await post(co_await this_coro::executor, deferred); }
awaitable<void> task_that_raises(steady_timer& t) {
    ::raise(SIGUSR2);
    co_await t.async_wait();
}
awaitable<void> scope_with_room_for_one(steady_timer& t) {
    auto body = [&t](task_scope<>& s) -> awaitable<void> {
        co_await s.spawn(gives_way_once);
        co_await s.spawn(task_that_raises, std::ref(t)); // It waits for room, and the loop goes on with it.
    };
    co_await with_scope({.at_most = 1}, body);
}

TEST(DumpOnSignal, ATaskThatHasWaitedForRoomHasNoPlaceInTheProgram) {
    io_context context;
    steady_timer timer(context, 20s);
    std::optional<dump_on_signal> shows;
    std::string shown;
    shows.emplace(context, SIGUSR2, [&](std::string const& text) {
        shown = text;
        timer.cancel();
    });
    co_spawn(context, scope_with_room_for_one(timer), [&](std::exception_ptr) { shows.reset(); });
    context.run();
    EXPECT_NE(shown.find(", spawned by the library\n"), shown.npos) << shown;
    EXPECT_NE(shown.find("(anonymous namespace)::task_that_raises\n"), shown.npos) << shown;
}

TEST(DumpOnSignal, MayGoBetweenASignalAndItsHandler) {
    io_context context;
    int texts = 0;
    std::optional<dump_on_signal> one;
    std::optional<dump_on_signal> other;
    // One signal ends both waits, before either handler runs.
    auto const ends = [&](std::optional<dump_on_signal>& self, std::optional<dump_on_signal>& the_other) {
        return [&](std::string const&) {
            if (++texts == 2)
                context.stop(); // Only with a bug, which must not keep the test running.
            the_other.reset();
            post(context, [&self] { self.reset(); });
        };
    };
    one.emplace(context, SIGUSR2, ends(one, other));
    other.emplace(context, SIGUSR2, ends(other, one));
    ::raise(SIGUSR2);
    context.run();
    EXPECT_EQ(texts, 1);
}

TEST(DumpOnSignal, RefusesWhatIsNoSignal) {
    io_context context;
    EXPECT_THROW(dump_on_signal(context, 1000), system_error);
}

} // namespace
