#include "support/users_executor.hpp"

#include <fairlead/token/post_function.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/strand.hpp>
#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/token/deferred.hpp>
#include <fairlead/token/use_future.hpp>

#include <gtest/gtest.h>

#include <coroutine>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

namespace fairlead {
namespace {

using test::executor_without_context;

TEST(PostFunction, ResultGoesToTheHandlersExecutor) {
    thread_pool pool(1);
    io_context context;
    std::thread::id worked, handled;
    std::unique_ptr<int> result;
    post(
        [&worked] {
            worked = std::this_thread::get_id();
            return std::make_unique<int>(7);
        },
        pool, bind_executor(context, [&](std::unique_ptr<int> r) {
            handled = std::this_thread::get_id();
            result = std::move(r);
        }));
    context.run(); // The work of the handler keeps it going.
    ASSERT_TRUE(result);
    EXPECT_EQ(*result, 7);
    EXPECT_EQ(handled, std::this_thread::get_id());
    EXPECT_NE(worked, handled);
}

awaitable<int> sum_of_two(thread_pool& pool) {
    auto const here = std::this_thread::get_id();
    auto three = [] { return 3; };
    auto nothing = [] {};
    int const a = co_await post(three, pool);
    EXPECT_EQ(std::this_thread::get_id(), here);
    co_await dispatch(nothing, pool);
    EXPECT_EQ(std::this_thread::get_id(), here);
    int const b = co_await defer(three, pool.get_executor(), deferred);
    co_return a + b;
}

TEST(PostFunction, CoroutineGoesOnAtHomeWithTheResult) {
    thread_pool pool(1);
    io_context context;
    auto sum = co_spawn(context, sum_of_two(pool), use_future);
    context.run();
    EXPECT_EQ(sum.get(), 6);
}

TEST(PostFunction, DispatchRunsItInsideItsExecutorOnly) {
    io_context context;
    std::string order;
    auto const a = [&] { order += 'a'; };
    auto const done = [&] { order += 'd'; };
    dispatch(a, context, done);
    EXPECT_EQ(order, "");
    post(context, [&] {
        dispatch(a, context, done);
        order += 'e';
        post(a, context, done);
        order += 'p';
    });
    context.run();
    EXPECT_EQ(order, "adadepad");
}

awaitable<void> give_way(std::string& order) {
    order += '1';
    co_await post();
    order += '2';
    co_await dispatch(use_awaitable);
    order += '3';
    co_await defer(deferred);
    order += '4';
}

TEST(PostWithoutExecutor, AwaitingCoroutineGivesWayOnItsOwn) {
    io_context context;
    std::string order;
    co_spawn(context, give_way(order), detached);
    post(context, [&] { order += 'o'; });
    context.run();
    EXPECT_EQ(order, "1o234");
}

awaitable<void> give_way_twice(strand<io_context::executor_type>& on, std::string& order, bool& is_there) {
    order += '1';
    co_await post(deferred);
    order += '2';
    co_await post();
    order += '3';
    is_there = on.running_in_this_thread();
}

TEST(PostWithoutExecutor, AwaitedOnAStrandItGoesThroughTheQueueOfTheStrand) {
    io_context context;
    auto on = make_strand(context);
    std::string order;
    bool is_there = false;
    co_spawn(on, give_way_twice(on, order, is_there), detached);
    post(on, [&] {
        order += 'o';
        post(on, [&] { order += 'p'; });
    });
    context.run();
    EXPECT_EQ(order, "1o2p3");
    EXPECT_TRUE(is_there);
}

/// A coroutine of another library.
struct eager {
    struct promise_type {
        eager get_return_object() const noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::abort(); }
    };
};
eager give_way_elsewhere(std::string& order) {
    order += '1';
    co_await post();
    order += '2';
}

TEST(PostWithoutExecutor, CoroutineOfAnotherLibraryGivesWayWhereThereIsALoop) {
    std::string order;
    give_way_elsewhere(order);
    EXPECT_EQ(order, "12") << "there is no queue to go through";
    io_context context;
    post(context, [&] {
        order.clear();
        give_way_elsewhere(order);
        order += 'o';
    });
    context.run();
    EXPECT_EQ(order, "1o2");
}

TEST(PostWithoutExecutor, DeferredPostRunsWhereItsHandlerSays) {
    io_context context;
    bool ran = false;
    post(deferred)(bind_executor(context, [&] { ran = true; }));
    EXPECT_FALSE(ran);
    context.run();
    EXPECT_TRUE(ran);
}

TEST(PostWithoutContext, ExecutorThatHasNoneRunsFunctions) {
    int count = 0;
    bool ran = false;
    executor_without_context const ex{&count};
    EXPECT_EQ(ex, executor_without_context{&count});
    post(ex, [&] { ran = true; });
    EXPECT_TRUE(ran);
    EXPECT_EQ(count, 1);
}

} // namespace
} // namespace fairlead
