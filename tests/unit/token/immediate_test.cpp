#include <fairlead/token/immediate.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/legacy/with_properties.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/append.hpp>
#include <fairlead/token/block.hpp>
#include <fairlead/token/deferred.hpp>
#include <fairlead/token/post.hpp>
#include <fairlead/token/use_future.hpp>

#include <gtest/gtest.h>

#include <exception>
#include <string>

namespace {

using namespace fairlead;

TEST(Facts, F03_HandlerIsQueuedUnlessItHasAnImmediateExecutor) {
    io_context context;
    std::string order;
    auto const ex = context.get_executor();
    post(context, [&] {
        async_immediate(ex, [&] { order += 'c'; });
        async_immediate(any_io_executor(ex), bind_immediate_executor(ex, [&] { order += 'a'; }));
        order += 'b';
    });
    context.run();
    EXPECT_EQ(order, "abc");
}

TEST(Immediate, ImmediateExecutorElsewhereQueuesTheHandlerThere) {
    io_context context, other;
    int there = 0;
    auto const elsewhere = other.get_executor();
    auto const count = [&] { there += elsewhere.running_in_this_thread() ? 1 : 100; };
    async_immediate(context, bind_immediate_executor(elsewhere, count));
    async_immediate(context, deferred)(bind_immediate_executor(any_io_executor(elsewhere), count));
    context.run();
    EXPECT_EQ(there, 0);
    other.run();
    EXPECT_EQ(there, 2);
}

/// Knows no property, and no context.
struct counting {
    int* calls;
    template <class F> void execute(F f) const {
        ++*calls;
        f();
    }
    bool operator==(counting const&) const = default;
};

TEST(Immediate, FallbackOfAHandlerThatNamesNoneDoesNotRunItInsideTheCall) {
    io_context context;
    auto const im = get_associated_immediate_executor([] {}, context);
    static_assert(std::is_same_v<decltype(im), io_context::executor_type const>);
    EXPECT_EQ(query(im, execution::blocking), execution::blocking.never);
    int n = 0;
    im.execute([&] { ++n; });
    EXPECT_EQ(n, 0);
    context.run();
    EXPECT_EQ(n, 1);

    any_io_executor const any = context.get_executor();
    auto const bound = bind_executor(context, [] {});
    EXPECT_EQ(get_associated_immediate_executor(bound, any), any) << "an adapter asks what is inside";
    int calls = 0;
    get_associated_immediate_executor(bound, counting{&calls}).execute([] {});
    EXPECT_EQ(calls, 1) << "who knows no property is taken as it is";
    EXPECT_EQ(get_associated_immediate_executor(bind_immediate_executor(any, bound), context), any);
}

TEST(Immediate, HandlerRunsOnItsOwnExecutor) {
    io_context context, other;
    bool there = false;
    async_immediate(context, bind_executor(other, [&] { there = other.get_executor().running_in_this_thread(); }));
    context.run();
    EXPECT_FALSE(there);
    other.run();
    EXPECT_TRUE(there);
}

TEST(Immediate, AwaitedItGivesWayOnlyWhenTheBudgetIsUsedUp) {
    io_context context;
    int others = 0;
    bool done = false;
    post(context, [&] {
        co_spawn(
            context,
            [](bool& out) -> awaitable<void> {
                auto const ex = co_await this_coro::executor;
                for (int i = 0; i != 1000; ++i)
                    co_await async_immediate(ex);
                int const five = co_await async_immediate(ex, append(use_await, 5));
                EXPECT_EQ(five, 5);
                out = true;
            }(done),
            [](std::exception_ptr e) { EXPECT_FALSE(e); });
        post(context, [&] { others += done ? 100 : 1; });
    });
    EXPECT_LE(context.run(), 1000U / 16 + 5) << "one item for each exhausted budget";
    EXPECT_TRUE(done);
    EXPECT_EQ(others, 1) << "others have their turn before it ends";
}

TEST(Immediate, TakesEveryToken) {
    io_context context;
    auto future = async_immediate(context, use_future);
    async_immediate(context, detached);
    int calls = 0;
    async_immediate(context, deferred)([&] { ++calls; });
    async_immediate(context, as_tuple([&](std::tuple<>) { ++calls; }));
    context.run();
    EXPECT_NO_THROW(future.get());
    EXPECT_EQ(calls, 2);
    async_immediate(context, block);
}

} // namespace
