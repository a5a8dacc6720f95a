// Executors and contexts as schedulers.
#include <fairlead/sender/scheduler.hpp>

#include <fairlead/exec/inline_executor.hpp>
#include <fairlead/exec/strand.hpp>
#include <fairlead/exec/thread_pool.hpp>
#include <support/counting_new.hpp>
#include <support/repeat_sender.hpp>
#include <support/scale.hpp>
#include <support/users_executor.hpp>
#include <unit/sender/receivers.hpp>

#include <optional>
#include <type_traits>

namespace {

using namespace senders;

static_assert(execution::scheduler<io_context::executor_type>);
static_assert(execution::scheduler<any_io_executor>);
static_assert(execution::scheduler<strand<any_io_executor>>);
static_assert(execution::scheduler<thread_pool::executor_type>);
static_assert(execution::scheduler<system_executor>);

/// The sender of a scheduler names that scheduler.
template <class Scheduler> void expect_scheduler(Scheduler const& s) {
    static_assert(execution::scheduler<Scheduler>);
    static_assert(execution::sender_to<decltype(s.schedule()), recorder<>>);
    EXPECT_TRUE(
        execution::get_completion_scheduler<execution::set_value_t>(execution::get_env(execution::schedule(s))) == s);
}

class Scheduler : public SenderWorld {};

TEST_F(Scheduler, EveryExecutorAndContextIsOne) {
    int count = 0;
    expect_scheduler(execution::scheduler_of(context));
    expect_scheduler(execution::scheduler_of(any_io_executor(context.get_executor())));
    expect_scheduler(execution::scheduler_of(make_strand(context)));
    expect_scheduler(execution::scheduler_of(test::counting_executor<io_context>{&context, &count}));
    EXPECT_EQ(count, 0);
}

TEST_F(Scheduler, ScheduleCompletesInTheTurnOfItsExecutor) {
    auto op = connected(context.get_executor().schedule(), recorder<>{&log});
    execution::start(op);
    EXPECT_EQ(log, "");
    world.run();
    EXPECT_EQ(log, "value");
}

TEST_F(Scheduler, AnExecutorOfAUsersIsCalled) {
    int count = 0;
    auto const s = execution::scheduler_of(test::counting_executor<io_context>{&context, &count});
    auto op = connected(s.schedule(), recorder<>{&log});
    execution::start(op);
    EXPECT_EQ(count, 1);
    world.run();
    EXPECT_EQ(log, "value");
}

TEST_F(Scheduler, AStopBeforeItsTurnIsHeard) {
    auto op = connected(context.get_executor().schedule(), token_recorder{&log, stop.get_token()});
    execution::start(op);
    stop.request_stop();
    world.run();
    EXPECT_EQ(log, "stopped");
}

TEST_F(Scheduler, AnEmptyExecutorStopsWhatIsScheduled) {
    auto op = connected(any_io_executor().schedule(), token_recorder{&log, stop.get_token()});
    execution::start(op);
    EXPECT_EQ(log, "stopped");
}

TEST(SchedulerAlone, AContextThatGoesStopsWhatIsScheduled) {
    std::string log;
    inplace_stop_source stop;
    std::optional<io_context> context(std::in_place);
    auto op = senders::connected(context->get_executor().schedule(), token_recorder{&log, stop.get_token()});
    execution::start(op);
    context.reset();
    EXPECT_EQ(log, "stopped");
}

/// It cannot be stopped.
struct only_value {
    using receiver_concept = execution::receiver_tag;
    std::string* log;
    void set_value() noexcept { *log += "value"; }
};

TEST(SchedulerAlone, WhatIsScheduledWithoutAStopTokenOnlySucceeds) {
    using sender = decltype(std::declval<io_context>().get_executor().schedule());
    static_assert(std::is_same_v<execution::completion_signatures_of_t<sender>,
                                 execution::completion_signatures<execution::set_value_t()>>);
    static_assert(execution::sender_to<sender, only_value>);
    using stoppable = execution::completion_signatures<execution::set_value_t(), execution::set_stopped_t()>;
    static_assert(
        std::is_same_v<execution::completion_signatures_of_t<sender, stop_environment<inplace_stop_token>>, stoppable>);
    std::string log;
    {
        io_context context;
        auto op = senders::connected(context.get_executor().schedule(), only_value{&log});
        execution::start(op);
        EXPECT_EQ(log, "");
        context.run();
        EXPECT_EQ(log, "value");
    }
}

TEST(SchedulerAlone, AContextThatGoesEndsWhatCannotBeStopped) {
    std::string log;
    std::optional<io_context> context(std::in_place);
    auto op = senders::connected(context->get_executor().schedule(), recorder<>{&log});
    execution::start(op);
    context.reset();
    EXPECT_EQ(log, "value");
}

TEST_F(Scheduler, TheStateOfAnExecutorThatIsAPointerIsAnOpAndTheReceiver) {
    auto const adds = [this](auto ex) {
        auto op = senders::connected(execution::schedule(ex), recorder<>{&log});
        return sizeof(op) - sizeof(recorder<>);
    };
    EXPECT_LE(adds(context.get_executor()), sizeof(op));
    thread_pool pool(1);
    EXPECT_LE(adds(pool.get_executor()), sizeof(op));
    pool.join();
}

TEST(SchedulerAlone, AnExecutorNeedsNoContext) {
    std::string log;
    int count = 0;
    auto const once = [&log](auto const& ex) {
        auto const scheduler = execution::scheduler_of(ex);
        expect_scheduler(scheduler);
        auto op = senders::connected(scheduler.schedule(), recorder<>{&log});
        execution::start(op);
    };
    once(inline_executor());
    once(test::executor_without_context{&count});
    EXPECT_EQ(count, 1);
    EXPECT_EQ(log, "valuevalue");
}

/// Runs functions inside the call, as no scheduler should.
struct inline_context_executor {
    execution_context* where;
    execution_context& context() const noexcept { return *where; }
    template <class F> void execute(F&& f) const { std::forward<F>(f)(); }
    bool operator==(inline_context_executor const&) const = default;
};

TEST(SchedulerAlone, RepeatedItNeedsABoundedStackEverywhere) {
    io_context context(1);
    auto const repeats = [&](auto const& scheduler, auto run) {
        std::uint64_t left = test::scaled(1'000'000, 10'000);
        test::stack_gauge stack;
        test::counting_ends::counts ends;
        test::repeat_sender all{[&] {
                                    stack.look();
                                    return execution::schedule(scheduler);
                                },
                                [&] { return left-- == 0; }};
        auto state = std::move(all).connect(test::counting_ends{&ends});
        run(state);
        EXPECT_EQ(ends.values, 1);
        EXPECT_LE(stack.bytes(), std::uintptr_t(64) << 10);
    };
    auto const in_loop = [&](auto& state) {
        state.start();
        context.run();
        context.restart();
    };
    repeats(context.get_executor(), in_loop);
    repeats(any_io_executor(context.get_executor()), in_loop);
    repeats(make_strand(context), in_loop);
    repeats(execution::scheduler_of(inline_context_executor{&context}), [](auto& state) { state.start(); });
    repeats(execution::scheduler_of(inline_executor()), [](auto& state) { state.start(); });
    thread_pool pool(1);
    repeats(pool.get_executor(), [&](auto& state) {
        post(pool, [&state] { state.start(); });
        pool.join();
    });
}

TEST(SchedulerAlone, SchedulingAllocatesNothing) {
    io_context context(1);
    auto const ex = make_strand(context);
    std::string log;
    auto const once = [&] {
        auto op = senders::connected(context.get_executor().schedule(), recorder<>{&log});
        auto other = senders::connected(ex.schedule(), recorder<>{&log});
        execution::start(op);
        execution::start(other);
        context.run();
        context.restart();
    };
    once();
    log.clear();
    test::new_counter const news;
    once();
    EXPECT_EQ(news.calls(), 0u);
    EXPECT_EQ(log, "valuevalue");
}

} // namespace
