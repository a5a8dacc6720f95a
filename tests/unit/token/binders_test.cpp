// Binders in general, and their forms without a token.
#include "support/users_executor.hpp"

#include <fairlead/token/adapters.hpp>
#include <fairlead/token/append.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>
#include <fairlead/token/consign.hpp>
#include <fairlead/token/prepend.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/strand.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/legacy/with_properties.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/operation/compose.hpp>
#include <fairlead/token/any_completion_handler.hpp>
#include <fairlead/token/post.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

namespace fairlead {
namespace {

using test::executor_without_context;
using namespace std::chrono_literals;

static_assert(execution::executor<executor_without_context> && !io_executor<executor_without_context>);
static_assert(!std::convertible_to<executor_without_context, any_io_executor>);
static_assert(std::convertible_to<executor_without_context, any_completion_executor>);
static_assert(std::convertible_to<io_context::executor_type, any_completion_executor>);
static_assert(std::convertible_to<any_io_executor, any_completion_executor>);

TEST(BindExecutor, ExecutorWithoutAContextRunsHandlers) {
    io_context context;
    int count = 0;
    steady_timer timer(context, 0s);
    timer.async_wait(bind_executor(executor_without_context{&count}, [](error_code) {}));
    context.run();
    EXPECT_EQ(count, 1);
}

TEST(BindExecutor, ExecutorWithoutAContextSurvivesErasure) {
    io_context context;
    int count = 0;
    steady_timer timer(make_strand(any_io_executor(context.get_executor())), 0s);
    any_completion_handler<void(error_code)> handler =
        bind_executor(any_completion_executor(executor_without_context{&count}), [](error_code) {});
    timer.async_wait(std::move(handler));
    context.run();
    EXPECT_EQ(count, 1);
}

TEST(AnyCompletionExecutor, WithoutAContextSaysSoOnlyWhenAsked) {
    int count = 0;
    any_completion_executor const e = executor_without_context{&count};
    e.execute([] {});
    EXPECT_EQ(count, 1);
    EXPECT_THROW(e.context(), bad_executor);
    EXPECT_TRUE(e.target<executor_without_context>());
    EXPECT_EQ(e, any_completion_executor(executor_without_context{&count}));
    EXPECT_NE(e, nullptr);
    EXPECT_EQ(any_completion_executor(), nullptr);
    prefer(e, execution::blocking.never).execute([] {});
    EXPECT_EQ(count, 2);
}

TEST(AnyIoExecutor, CanBeSwapped) {
    io_context context;
    any_io_executor a = context.get_executor(), b;
    a.swap(b);
    EXPECT_EQ(a, nullptr);
    EXPECT_EQ(b, context.get_executor());
    a.swap(a);
    EXPECT_EQ(a, nullptr);
    EXPECT_EQ(any_io_executor(std::nothrow, context.get_executor()), b);
}

awaitable<void> wait_bound_to(int& count, cancellation_slot slot) {
    steady_timer timer(co_await this_coro::executor, 0s);
    auto elsewhere = bind_executor(executor_without_context{&count});
    co_await timer.async_wait(elsewhere);
    auto memory = bind_allocator(std::allocator<void>());
    co_await timer.async_wait(memory);
    auto at_once = bind_immediate_executor(executor_without_context{&count});
    co_await timer.async_wait(at_once);
    timer.expires_after(1h);
    auto stoppable = bind_cancellation_slot(slot);
    auto [ec] = co_await timer.async_wait(stoppable(as_tuple));
    EXPECT_EQ(ec, error::operation_aborted);
}

TEST(PartialBinders, BindTheDefaultTokenOrTheOneTheyAreCalledWith) {
    io_context context;
    cancellation_signal signal;
    int count = 0;
    bool done = false;
    co_spawn(context, wait_bound_to(count, signal.slot()), [&](std::exception_ptr e) {
        EXPECT_FALSE(e);
        done = true;
    });
    while (!done && context.run_one_for(10s)) // until only the last wait is left
        post(context, [&] { signal.emit(cancellation_type::terminal); });
    EXPECT_TRUE(done);
    EXPECT_EQ(count, 1);
}

TEST(PartialBinders, CalledWithAHandlerTheyBindIt) {
    io_context context;
    auto const bound = bind_executor(context)([] {});
    EXPECT_EQ(get_associated_executor(bound), context.get_executor());
    auto const with_memory = bind_allocator(std::allocator<int>())([] {});
    static_assert(std::same_as<associated_allocator_t<decltype(with_memory)>, std::allocator<int>>);
    auto const at_once = bind_immediate_executor(context.get_executor())([] {});
    EXPECT_EQ(get_associated_immediate_executor(at_once, inline_executor()), context.get_executor());
}

int length_of(std::string const& s, int more) { return static_cast<int>(s.size()) + more; }

TEST(Binders, PassOnWhatAFunctionSaysOfItself) {
    io_context context;
    using once = decltype(bind_executor(context, &length_of));
    using twice = decltype(bind_allocator(std::allocator<void>(), bind_executor(context, &length_of)));
    static_assert(std::same_as<twice::result_type, int>);
    static_assert(std::same_as<twice::first_argument_type, std::string const&>);
    static_assert(std::same_as<once::second_argument_type, int>);
    EXPECT_EQ(bind_executor(context, &length_of)("ab", 1), 3);
}

TEST(TokensWithValues, CopiesOfNonConstLvaluesAreCopies) {
    auto handler = [](int) {};
    auto appended = append(handler);
    auto appended_too = appended;
    auto consigned = consign(handler, 1);
    auto consigned_too = consigned;
    auto prepended = prepend(handler, 1);
    auto prepended_too = prepended;
    static_assert(std::same_as<decltype(appended_too), decltype(appended)>);
    EXPECT_EQ(std::get<0>(consigned_too.values), 1);
    EXPECT_EQ(std::get<0>(prepended_too.values), 1);
    static_assert(!std::constructible_from<decltype(consigned), int>, "only what becomes the token");
}

TEST(WorkGuard, HandlerNamesTheExecutorOrTheFallbackDoes) {
    io_context context, other;
    {
        auto const named = make_work_guard(bind_executor(context, [] {}));
        auto const fallback = make_work_guard([] {}, other);
        auto const executor_too = make_work_guard([] {}, other.get_executor());
        static_assert(std::same_as<decltype(make_work_guard([] {}).get_executor()), inline_executor>);
        EXPECT_EQ(context.poll(), 0U);
        EXPECT_EQ(other.poll(), 0U);
        EXPECT_FALSE(context.stopped());
        EXPECT_FALSE(other.stopped());
    }
    EXPECT_EQ(context.poll(), 0U);
    EXPECT_TRUE(context.stopped());
    EXPECT_EQ(other.poll(), 0U);
    EXPECT_TRUE(other.stopped());
}

/// A token of a user, who calls the initiation by its name.
struct calls_lvalue {
    int* count;
};

} // namespace

template <class... Args> class async_result<calls_lvalue, void(Args...)> {
public:
    template <class Initiation, class... More>
    static void initiate(Initiation initiation, calls_lvalue token, More&&... more) {
        initiation([count = token.count](Args...) { ++*count; }, std::forward<More>(more)...);
    }
};

namespace {

TEST(Initiations, CanBeCalledAsLvalues) {
    io_context context;
    steady_timer timer(context, 0s);
    int count = 0;
    timer.async_wait(calls_lvalue{&count});
    timer.async_wait(bind_executor(context, calls_lvalue{&count}));
    timer.async_wait(as_tuple(calls_lvalue{&count}));
    calls_lvalue token{&count};
    async_initiate<calls_lvalue, void(int)>([](auto handler, int i) { std::move(handler)(i); }, token, 1);
    context.run();
    EXPECT_EQ(count, 4);
}

} // namespace
} // namespace fairlead
