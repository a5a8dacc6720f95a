#include <fairlead/coro/tasks.hpp>

#include <fairlead/coro/resume_on.hpp>
#include <fairlead/coro/spawn.hpp>
#include <fairlead/coro/when_all.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/sim/world.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>
#include <fairlead/token/detached.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;

awaitable<void> listed_inner(io_context& c, std::chrono::seconds d) {
    steady_timer t(c, d);
    co_await t.async_wait();
}
awaitable<void> listed_outer(io_context& c, std::chrono::seconds d) { co_await listed_inner(c, d); }
awaitable<void> listed_by_name(io_context& c, std::chrono::seconds d, std::string name) {
    co_await this_coro::set_name(name);
    name = "another";
    co_await listed_inner(c, d);
}
awaitable<void> listed_group(io_context& c) { co_await when_all(listed_inner(c, 8s), listed_outer(c, 9s)); }
awaitable<void> listed_mover(io_context& there) {
    co_await resume_on(there.get_executor());
    co_await listed_inner(there, 9s);
}

[[gnu::noinline]] void function_that_spawns(io_context& c, awaitable<void> a) { co_spawn(c, std::move(a), detached); }

class Tasks : public testing::Test {
public:
    std::string dump_at(std::chrono::seconds when) {
        std::string text;
        world.at(when, [&] { text = dump(context); });
        world.run_for(when + 100ms);
        return text;
    }
    static bool has(std::string const& text, std::string_view part) { return text.find(part) != text.npos; }
    static std::size_t lines(std::string const& text) {
        return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    }

    sim::world world{1};
    io_context& context = world.context();
};

TEST_F(Tasks, AreListedFromTheCallOnUntilTheyEnd) {
    function_that_spawns(context, listed_outer(context, 9s));
    list_tasks(context);
    EXPECT_EQ(dump(context), "0 tasks\n");
    function_that_spawns(context, listed_outer(context, 2s));
    function_that_spawns(context, listed_outer(context, 5s));
    EXPECT_TRUE(has(dump_at(1s), "2 tasks\n"));
    EXPECT_TRUE(has(dump_at(3s), "1 tasks\n"));
    EXPECT_EQ(dump_at(6s), "0 tasks\n");
}

TEST_F(Tasks, ShowWhereTheyWereSpawnedAndTheirCoroutinesFromTheInnermostOn) {
    list_tasks(context);
    function_that_spawns(context, listed_outer(context, 9s));
    auto const text = dump_at(1s);
    auto const spawned = text.find(", spawned in (anonymous namespace)::function_that_spawns  ");
    auto const inner = text.find("  (anonymous namespace)::listed_inner\n");
    auto const outer = text.find("  (anonymous namespace)::listed_outer\n");
    EXPECT_LT(spawned, inner) << text;
    EXPECT_LT(inner, outer) << text;
    EXPECT_NE(outer, text.npos) << text;
    EXPECT_EQ(lines(text), 4U) << text;
}

TEST_F(Tasks, HaveTheNameThatTheProgramGivesThem) {
    list_tasks(context);
    function_that_spawns(context, listed_by_name(context, 9s, "session 7"));
    function_that_spawns(context, listed_outer(context, 9s));
    auto const text = dump_at(1s);
    auto const name = text.find(" \"session 7\", spawned in ");
    EXPECT_NE(name, text.npos) << text;
    EXPECT_EQ(text.find('"', name + 12), text.npos) << text;
}

TEST_F(Tasks, OfAGroupStandBelowTheOneThatAwaitsIt) {
    list_tasks(context);
    function_that_spawns(context, listed_group(context));
    auto const text = dump_at(1s);
    EXPECT_TRUE(has(text, "3 tasks\ntask ")) << text;
    EXPECT_TRUE(has(text, ", awaits a group\n")) << text;
    EXPECT_TRUE(has(text, "\n    task ")) << text;
    EXPECT_TRUE(has(text, "\n      (anonymous namespace)::listed_inner\n")) << text;
    auto const group = text.find(", spawned in (anonymous namespace)::listed_group  ");
    EXPECT_NE(group, text.npos) << text;
    EXPECT_NE(text.find(", spawned in (anonymous namespace)::listed_group  ", group + 1), text.npos) << text;
    EXPECT_TRUE(has(text, "\n      (anonymous namespace)::listed_outer\n")) << text;
    EXPECT_EQ(lines(text), 1 + 2 + (1 + 1 + 1) + (1 + 1 + 2)) << text;
}

TEST_F(Tasks, ShowThePrimitiveThatTheyAwaitIfTheyCanBeAsked) {
    list_tasks(context);
    cancellation_signal signal;
    co_spawn(context, listed_inner(context, 9s), bind_cancellation_slot(signal.slot(), detached));
    auto const text = dump_at(1s);
    EXPECT_TRUE(has(text, "  waits for ")) << text;
    EXPECT_TRUE(has(text, "timer")) << text;
}

TEST_F(Tasks, OfAnotherContextAreNotListed) {
    sim::host& other = world.add_host("other");
    list_tasks(context);
    function_that_spawns(other.context(), listed_outer(other.context(), 9s));
    EXPECT_EQ(dump_at(1s), "0 tasks\n");
    EXPECT_EQ(dump(other.context()), "0 tasks\n");
}

TEST_F(Tasks, GoToTheListOfTheContextThatTheyMoveTo) {
    sim::host& other = world.add_host("other");
    list_tasks(context);
    list_tasks(other.context());
    function_that_spawns(context, listed_mover(other.context()));
    EXPECT_EQ(dump_at(1s), "0 tasks\n");
    EXPECT_TRUE(has(dump(other.context()), "1 tasks\n"));
}

TEST_F(Tasks, NamesAreNotHeededWithoutAList) {
    function_that_spawns(context, listed_by_name(context, 1s, "session 7"));
    world.run_for(2s);
    EXPECT_EQ(dump(context), "0 tasks\n");
}

TEST(TaskList, EndsWithItsContext) {
    {
        io_context gone;
        list_tasks(gone);
        list_tasks(gone); // Twice is once.
        function_that_spawns(gone, listed_outer(gone, 9s));
        gone.poll();
        EXPECT_TRUE(impl::coro::are_tasks_listed());
    }
    EXPECT_FALSE(impl::coro::are_tasks_listed());
}

} // namespace
