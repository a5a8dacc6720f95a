// promise and use_promise: an operation that runs while nobody waits for it.
#include <fairlead/token/use_promise.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/strand.hpp>
#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/operation/async_operation.hpp>
#include <fairlead/sim/world.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/append.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>
#include <fairlead/token/post.hpp>
#include <fairlead/token/use_future.hpp>

#include <support/counting_allocator.hpp>
#include <support/scale.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using experimental::use_promise;

class Promise : public testing::Test {
public:
    std::chrono::seconds passed() const { return std::chrono::floor<std::chrono::seconds>(world.now() - created); }

    sim::world world{1};
    io_context& context = world.context();
    steady_clock::time_point const created = world.now();
    steady_timer timer{context, 2s};
    std::string log;
    std::function<void(error_code)> const noted = [this](error_code ec) { log += ec ? "aborted " : "success "; };
};

TEST_F(Promise, TheOperationRunsAtOnceAndIsWaitedForLater) {
    auto p = timer.async_wait(use_promise);
    static_assert(experimental::is_promise_v<decltype(p)> && is_async_operation<decltype(p)>::value);
    EXPECT_FALSE(p.completed());
    world.run();
    EXPECT_TRUE(p.completed());
    p(noted);
    EXPECT_EQ(log, "") << "a handler ran inside the call";
    context.restart();
    world.run();
    EXPECT_EQ(log, "success ");
    EXPECT_EQ(passed(), 2s);
}

TEST_F(Promise, WhoWaitsHearsOfTheEnd) {
    auto p = timer.async_wait(append(use_promise, 7));
    p([this](error_code ec, int value) { log = (ec ? "aborted " : "success ") + std::to_string(value); });
    world.run();
    EXPECT_EQ(log, "success 7");
}

TEST_F(Promise, AnOperationEndsWithItsPromise) {
    auto p = std::make_optional(timer.async_wait(use_promise));
    (*p)(noted);
    world.at(1s, [&] { p.reset(); });
    world.run();
    EXPECT_EQ(log, "aborted ");
    EXPECT_EQ(passed(), 1s);
}

TEST_F(Promise, IsAskedToEndByItselfOrByASlot) {
    auto p = timer.async_wait(use_promise);
    p(noted);
    world.at(1s, [&] { p.cancel(); });
    world.run();
    EXPECT_EQ(log, "aborted ");
    cancellation_signal signal;
    timer.expires_after(1h);
    auto q = timer.async_wait(use_promise);
    q(bind_cancellation_slot(signal.slot(), noted));
    world.at(2s, [&] { signal.emit(cancellation_type::terminal); });
    context.restart();
    world.run();
    EXPECT_EQ(log, "aborted aborted ");
    EXPECT_EQ(passed(), 2s);
    EXPECT_FALSE(signal.slot().has_handler());
}

TEST_F(Promise, CoroutinesWaitForIt) {
    co_spawn(
        context,
        [this]() -> awaitable<void> {
            steady_timer other(context, 1s);
            auto first = timer.async_wait(use_promise);
            co_await other.async_wait();
            auto second = other.async_wait(use_promise);
            co_await second();
            co_await first();
            log = "done";
        },
        rethrow);
    world.run();
    EXPECT_EQ(log, "done");
    EXPECT_EQ(passed(), 2s);
}

TEST_F(Promise, WhatCannotBeEndedIsWaitedFor) {
    auto p = std::make_optional(post(context, use_promise));
    (*p)([this] { log = "posted"; });
    p.reset();
    world.run();
    EXPECT_EQ(log, "posted");
}

TEST_F(Promise, TheHandlerRunsOnItsExecutorAndItsMemoryIsFreeByThen) {
    test::account books;
    auto const on_strand = make_strand(context);
    for (bool const early : {false, true}) {
        timer.expires_after(1s);
        auto p = timer.async_wait(use_promise);
        auto const wait = [&] {
            p(bind_executor(on_strand, bind_allocator(test::counting_allocator<char>(&books), [&](error_code) {
                                EXPECT_TRUE(on_strand.running_in_this_thread());
                                EXPECT_EQ(books.live, 0);
                                log += "done ";
                            })));
        };
        if (early)
            wait();
        context.restart();
        world.run();
        if (!early) {
            wait();
            context.restart();
            world.run();
        }
    }
    EXPECT_EQ(log, "done done ");
    EXPECT_GT(books.taken, 0);
}

TEST_F(Promise, MemoryOfTheTokensAllocatorServesStateAndOperation) {
    test::account books;
    {
        auto p = timer.async_wait(use_promise.rebind(test::counting_allocator<char>(&books)));
        EXPECT_EQ(books.taken, 2);
        world.run();
        EXPECT_EQ(books.live, 1);
    }
    EXPECT_EQ(books.live, 0);
}

TEST_F(Promise, TheEndOfAContextDropsWhoWaits) {
    auto const held = std::make_shared<int>(0);
    auto own = std::make_unique<io_context>();
    steady_timer there(*own, 1h);
    auto p = there.async_wait(use_promise);
    auto q = there.async_wait(use_promise);
    p([held](error_code) { ++*held; });
    EXPECT_EQ(held.use_count(), 2);
    own.reset();
    EXPECT_EQ(held.use_count(), 1);
    q([held](error_code) { ++*held; });
    EXPECT_EQ(held.use_count(), 1);
    EXPECT_EQ(*held, 0);
    EXPECT_FALSE(p.completed());
}

TEST(PromiseThreads, OperationsEndWhileOthersBeginToWait) {
    thread_pool pool(2);
    for (int round = 0; round != static_cast<int>(test::scaled(2'000, 100)); ++round) {
        auto p = post(pool, use_promise);
        auto done = p(use_future);
        done.get();
        steady_timer t(pool, round % 3 == 0 ? 0s : 3600s);
        auto q = t.async_wait(as_tuple(use_promise));
        auto waited = q(use_future);
        q.cancel();
        auto const [ec] = waited.get();
        EXPECT_TRUE(!ec || ec == error::operation_aborted);
    }
}

} // namespace
