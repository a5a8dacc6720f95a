#include "support/counting_allocator.hpp"

#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/block.hpp>
#include <fairlead/token/post.hpp>
#include <fairlead/token/use_future.hpp>

#include <gtest/gtest.h>

#include <concepts>
#include <memory>
#include <string>
#include <thread>
#include <tuple>

namespace {

using namespace fairlead;
using test::account;
using test::counting_allocator;
using namespace std::chrono_literals;
using stream = local::stream_protocol::socket;

struct Tokens : testing::Test {
    Tokens() : a(context), b(context) { local::connect_pair(a, b); }
    template <class F> void spawn(F f) {
        co_spawn(context, std::move(f), [](std::exception_ptr e) {
            if (e)
                std::rethrow_exception(e);
        });
    }
    io_context context;
    stream a, b;
    char bytes[16] = {};
};

// ---- callbacks

TEST_F(Tokens, CallbackMayBeMoveOnly) {
    std::size_t got = 0;
    a.async_read_some(buffer(bytes),
                      [&got, p = std::make_unique<std::size_t>(1U)](error_code, std::size_t n) { got = n + *p; });
    b.write_some(buffer("xyz", 3));
    context.run();
    EXPECT_EQ(got, 4U);
}

TEST_F(Tokens, CallbackMayBeRvalueOnlyBelowEveryAdapter) {
    struct rvalue_only {
        int* calls;
        void operator()(error_code, std::size_t) && { ++*calls; }
    };
    int calls = 0;
    b.async_write_some(buffer("x", 1), rvalue_only{&calls});
    async_write(b, buffer("y", 1), rvalue_only{&calls});
    context.run();
    EXPECT_EQ(calls, 2);
}

TEST_F(Tokens, BoundCallbackMayBeRvalueOnly) {
    struct rvalue_only {
        int* calls;
        void operator()(error_code, std::size_t) && { ++*calls; }
    };
    using bound = executor_binder<rvalue_only, any_io_executor>;
    constexpr bool allowed = std::is_invocable_v<bound, error_code, std::size_t>;
    EXPECT_TRUE(allowed);
}

TEST_F(Tokens, HandlersThatCompleteAtOnceStillRunAfterTheInitiatingFunction) {
    std::string order;
    post(context, [&] {
        b.async_write_some(buffer("x", 1), [&](error_code, std::size_t) { order += 'b'; });
        order += 'a';
    });
    context.run();
    EXPECT_EQ(order, "ab");
}

// ---- use_await

TEST_F(Tokens, AwaitedOperationYieldsItsValueAndThrowsItsError) {
    spawn([this]() -> awaitable<void> {
        EXPECT_EQ(co_await b.async_write_some(buffer("xyz", 3)), 3U);
        EXPECT_EQ(co_await a.async_read_some(buffer(bytes)), 3U);
        b.close();
        try {
            co_await a.async_read_some(buffer(bytes), use_awaitable);
            ADD_FAILURE();
        } catch (system_error const& e) {
            EXPECT_EQ(e.code(), error::eof);
        }
    });
    context.run();
}

TEST_F(Tokens, ErrorOnlySignatureYieldsNothing) {
    spawn([this]() -> awaitable<void> {
        steady_timer timer(context, 0s);
        static_assert(
            std::is_void_v<decltype(std::declval<impl::operation::op_awaiter<void(error_code),
                                                                             impl::operation::initiation_storage>>()
                                        .await_resume())>);
        co_await timer.async_wait();
    });
    context.run();
}

TEST_F(Tokens, SeveralValuesYieldATuple) {
    auto const make = [this]() {
        return completion_token_transform<void(error_code, int, std::string)>(
            use_await, [ex = context.get_executor()](auto&& handler) {
                post(ex, [h = std::move(handler)]() mutable { std::move(h)(error_code(), 1, std::string("two")); });
            });
    };
    spawn([&]() -> awaitable<void> {
        auto [n, text] = co_await make();
        EXPECT_EQ(n, 1);
        EXPECT_EQ(text, "two");
    });
    context.run();
}

TEST_F(Tokens, ResultThatDoesNotFitIntoTheRecordArrivesWhole) {
    struct big {
        std::array<char, 300> text;
    };
    spawn([this]() -> awaitable<void> {
        auto const ex = context.get_executor();
        auto const r = co_await completion_token_transform<void(error_code, big)>(use_await, [ex](auto&& handler) {
            post(ex, [h = std::move(handler)]() mutable {
                big v;
                v.text.fill('q');
                std::move(h)(error_code(), v);
            });
        });
        EXPECT_EQ(r.text[0], 'q');
        EXPECT_EQ(r.text[299], 'q');
    });
    context.run();
}

TEST_F(Tokens, OperationThatCompletesInsideItsInitiationDoesNotSuspend) {
    spawn([]() -> awaitable<void> {
        for (int i = 0; i != 1000; ++i) {
            int const n = co_await completion_token_transform<void(int)>(
                use_await, [i](auto&& handler) { std::forward<decltype(handler)>(handler)(i); });
            EXPECT_EQ(n, i);
        }
    });
    EXPECT_LE(context.run(), 1000U / 16 + 2) << "one item for each exhausted budget, not for each completion";
}

TEST_F(Tokens, OperationThatDropsItsHandlerDestroysTheWaitingCoroutine) {
    auto watched = std::make_shared<int>();
    co_spawn(
        context,
        [](std::shared_ptr<int>) -> awaitable<void> {
            co_await completion_token_transform<void()>(use_await, [](auto&&) {});
            ADD_FAILURE();
        }(watched),
        detached);
    context.run();
    EXPECT_EQ(watched.use_count(), 1);
}

TEST_F(Tokens, InitiationThatThrowsThrowsOutOfTheAwait) {
    bool caught = false;
    spawn([&]() -> awaitable<void> {
        try {
            co_await completion_token_transform<void()>(use_await, [](auto&&) { throw std::runtime_error("start"); });
        } catch (std::runtime_error const&) {
            caught = true;
        }
    });
    context.run();
    EXPECT_TRUE(caught);
}

// ---- deferred

TEST_F(Tokens, DeferredOperationStartsWhenCalledWithAToken) {
    auto op = a.async_read_some(buffer(bytes), deferred);
    static_assert(std::same_as<decltype(op), async_op<void(error_code, std::size_t)>>);
    b.write_some(buffer("xy", 2));
    context.poll();
    context.restart();
    EXPECT_EQ(bytes[0], 0) << "not started";
    std::size_t got = 0;
    std::move(op)([&](error_code, std::size_t n) { got = n; });
    context.run();
    EXPECT_EQ(got, 2U);
}

TEST_F(Tokens, DeferredOperationIsAwaitableAndTakesEveryOtherToken) {
    b.write_some(buffer("abcdef", 6));
    auto const one = buffer(bytes, 1);
    spawn([&]() -> awaitable<void> {
        EXPECT_EQ(co_await a.async_read_some(one, deferred), 1U);
        EXPECT_EQ(co_await a.async_read_some(one, deferred)(use_await), 1U);
        EXPECT_EQ(co_await a.async_read_some(one, deferred)(deferred), 1U);
        auto [ec, n] = co_await a.async_read_some(one, deferred)(as_tuple);
        EXPECT_FALSE(ec);
        EXPECT_EQ(n, 1U);
    });
    context.run();
    auto future = a.async_read_some(one, deferred)(use_future);
    context.restart();
    context.run();
    EXPECT_EQ(future.get(), 1U);
    EXPECT_EQ(a.async_read_some(one, deferred)(block), 1U);
}

struct witness {
    static inline int alive = 0;
    witness() { ++alive; }
    witness(witness const&) { ++alive; }
    witness(witness&&) noexcept { ++alive; }
    ~witness() { --alive; }
};

TEST_F(Tokens, HandlerOfADeferredOperationIsDestroyedOnce) {
    witness::alive = 0;
    a.async_read_some(buffer(bytes), deferred)([w = witness()](error_code, std::size_t) {});
    async_read_until(a, dynamic_buffer(*std::make_unique<std::string>("x\n")), '\n',
                     deferred)([w = witness()](error_code, std::size_t) {});
    EXPECT_EQ(witness::alive, 2);
    b.close();
    context.run();
    EXPECT_EQ(witness::alive, 0);
}

TEST_F(Tokens, OperationMovedAboutBeforeItsStartIsStartedOnce) {
    b.write_some(buffer("x", 1));
    auto one = a.async_read_some(buffer(bytes));
    auto two = std::move(one);
    auto three = std::make_unique<decltype(two)>(std::move(two));
    spawn([op = std::move(three)]() -> awaitable<void> { EXPECT_EQ(co_await std::move(*op), 1U); });
    context.run();
}

// ---- detached

TEST_F(Tokens, DetachedOperationRunsUnheard) {
    b.async_write_some(buffer("x", 1), detached);
    context.run();
    EXPECT_EQ(a.available(), 1U);
}

// ---- use_future

TEST_F(Tokens, FutureHasTheValueOrThrowsTheError) {
    std::future<std::size_t> good = b.async_write_some(buffer("x", 1), use_future);
    context.run();
    EXPECT_EQ(good.get(), 1U);
    b.close();
    a.read_some(buffer(bytes));
    auto bad = a.async_read_some(buffer(bytes), use_future);
    context.restart();
    context.run();
    try {
        bad.get();
        FAIL();
    } catch (system_error const& e) {
        EXPECT_EQ(e.code(), error::eof);
    }
}

TEST_F(Tokens, FutureOfSeveralValuesIsATuple) {
    auto future = completion_token_transform<void(error_code, int, char)>(
        use_future, [](auto&& handler) { std::forward<decltype(handler)>(handler)(error_code(), 1, 'b'); });
    EXPECT_EQ(future.get(), (std::tuple<int, char>(1, 'b')));
}

TEST_F(Tokens, FutureRethrowsAnExceptionPointer) {
    auto future = completion_token_transform<void(std::exception_ptr, int)>(use_future, [](auto&& handler) {
        std::forward<decltype(handler)>(handler)(std::make_exception_ptr(std::domain_error("x")), 0);
    });
    EXPECT_THROW(future.get(), std::domain_error);
}

TEST_F(Tokens, FutureOfAnAbandonedOperationIsABrokenPromise) {
    std::future<void> future;
    {
        io_context other;
        auto timer = std::make_shared<steady_timer>(other, 1h);
        future = timer->async_wait(use_future);
        post(other, [timer] {}); // destroyed by the context
    }
    try {
        future.get();
        FAIL();
    } catch (std::future_error const& e) {
        EXPECT_EQ(e.code(), std::future_errc::broken_promise);
    } catch (system_error const& e) {
        FAIL() << "aborted, not abandoned: " << e.what();
    }
}

TEST_F(Tokens, FutureIsFulfilledByTheThreadThatRunsTheContext) {
    auto guard = make_work_guard(context);
    std::thread runner([&] { context.run(); });
    for (int i = 0; i != 200; ++i) {
        auto written = b.async_write_some(buffer("x", 1), use_future);
        EXPECT_EQ(written.get(), 1U);
        auto read = a.async_read_some(buffer(bytes), use_future);
        EXPECT_EQ(read.get(), 1U);
    }
    guard.reset();
    runner.join();
}

// ---- block

TEST_F(Tokens, BlockPerformsWithoutALoop) {
    EXPECT_EQ(b.async_write_some(buffer("xyz", 3), block), 3U);
    EXPECT_EQ(a.async_read_some(buffer(bytes), block), 3U);
    EXPECT_EQ(async_write(b, buffer("four", 4), block), 4U);
    EXPECT_EQ(async_read(a, buffer(bytes, 4), block), 4U);
    std::string text = "line\nrest";
    EXPECT_EQ(async_read_until(a, dynamic_buffer(text), '\n', block), 5U);
    steady_timer timer(context, 1us);
    timer.async_wait(block);
    EXPECT_GE(steady_clock::now(), timer.expiry());
    EXPECT_EQ(context.poll(), 0U);
}

TEST_F(Tokens, BlockWaitsForTheOtherSide) {
    std::thread writer([&] { b.write_some(buffer("late", 4)); });
    EXPECT_EQ(async_read(a, buffer(bytes, 4), block), 4U);
    writer.join();
}

TEST_F(Tokens, BlockThrowsAndBlockWithErrorReports) {
    b.close();
    EXPECT_THROW(a.async_read_some(buffer(bytes), block), system_error);
    error_code ec;
    EXPECT_EQ(a.async_read_some(buffer(bytes), block[ec]), 0U);
    EXPECT_EQ(ec, error::eof);
    stream c(context), d(context);
    local::connect_pair(c, d);
    c.async_write_some(buffer("x", 1), block[ec]);
    EXPECT_FALSE(ec) << "cleared on success";
}

TEST_F(Tokens, BlockInsideALoopIsRefusedInsteadOfDeadlocking) {
    int refused = 0;
    post(context, [&] {
        try {
            a.async_read_some(buffer(bytes), block);
        } catch (system_error const& e) {
            refused += e.code() == std::errc::resource_deadlock_would_occur;
        }
        error_code ec;
        a.async_read_some(buffer(bytes), block[ec]);
        refused += ec == std::errc::resource_deadlock_would_occur;
    });
    context.run();
    EXPECT_EQ(refused, 2);
}

// ---- as_tuple, redirect_error

TEST_F(Tokens, AsTupleDeliversErrorsInsteadOfThrowing) {
    spawn([this]() -> awaitable<void> {
        b.write_some(buffer("x", 1));
        auto [ec, n] = co_await a.async_read_some(buffer(bytes), as_tuple);
        EXPECT_FALSE(ec);
        EXPECT_EQ(n, 1U);
        b.close();
        auto [ec2, n2] = co_await a.async_read_some(buffer(bytes), as_tuple(use_await));
        EXPECT_EQ(ec2, error::eof);
        EXPECT_EQ(n2, 0U);
    });
    context.run();
}

TEST_F(Tokens, AsTupleWrapsCallbacksFuturesAndBlock) {
    using values = std::tuple<error_code, std::size_t>;
    values got;
    b.async_write_some(buffer("x", 1), as_tuple([&](values v) { got = v; }));
    auto future = b.async_write_some(buffer("y", 1), as_tuple(use_future));
    static_assert(std::same_as<decltype(future), std::future<values>>);
    context.run();
    EXPECT_EQ(got, values(error_code(), 1));
    EXPECT_EQ(future.get(), values(error_code(), 1));
    EXPECT_EQ(b.async_write_some(buffer("z", 1), as_tuple(block)), values(error_code(), 1));
}

TEST_F(Tokens, RedirectErrorPutsTheErrorAside) {
    spawn([this]() -> awaitable<void> {
        error_code ec = error::not_found;
        b.write_some(buffer("x", 1));
        EXPECT_EQ(co_await a.async_read_some(buffer(bytes), redirect_error(ec)), 1U);
        EXPECT_FALSE(ec) << "cleared on success";
        b.close();
        EXPECT_EQ(co_await a.async_read_some(buffer(bytes), redirect_error(use_await, ec)), 0U);
        EXPECT_EQ(ec, error::eof);
    });
    context.run();
}

TEST_F(Tokens, RedirectErrorWrapsCallbacksFuturesAndBlock) {
    error_code ec, future_ec, block_ec;
    std::size_t got = 0;
    b.async_write_some(buffer("x", 1), redirect_error([&](std::size_t n) { got = n; }, ec));
    auto future = b.async_write_some(buffer("y", 1), redirect_error(use_future, future_ec));
    context.run();
    EXPECT_EQ(got, 1U);
    EXPECT_EQ(future.get(), 1U);
    EXPECT_EQ(b.async_write_some(buffer("z", 1), redirect_error(block, block_ec)), 1U);
    a.close();
    EXPECT_EQ(b.async_write_some(buffer("z", 1), redirect_error(block, block_ec)), 0U);
    EXPECT_EQ(block_ec, error::broken_pipe);
}

TEST_F(Tokens, AdaptersNest) {
    error_code ec;
    spawn([&]() -> awaitable<void> {
        b.write_some(buffer("xy", 2));
        auto [n] = co_await a.async_read_some(buffer(bytes, 1), redirect_error(as_tuple(use_await), ec));
        EXPECT_EQ(n, 1U);
        auto [t] = co_await a.async_read_some(buffer(bytes, 1), as_tuple(as_tuple(use_await)));
        EXPECT_EQ(std::get<1>(t), 1U);
    });
    context.run();
}

// ---- binders

TEST_F(Tokens, BoundExecutorIsWhereTheHandlerRuns) {
    io_context other;
    bool ran = false;
    b.async_write_some(buffer("x", 1), bind_executor(other.get_executor(), [&](error_code, std::size_t) {
                           EXPECT_TRUE(other.get_executor().running_in_this_thread());
                           ran = true;
                       }));
    context.run();
    EXPECT_FALSE(ran);
    other.run();
    EXPECT_TRUE(ran);
}

TEST_F(Tokens, OutermostBoundExecutorWins) {
    io_context inner, outer;
    bool ran = false;
    auto handler = bind_executor(outer, bind_executor(inner, [&](error_code, std::size_t) { ran = true; }));
    EXPECT_EQ(get_associated_executor(handler), outer.get_executor());
    b.async_write_some(buffer("x", 1), std::move(handler));
    context.run();
    inner.run();
    EXPECT_FALSE(ran);
    outer.run();
    EXPECT_TRUE(ran);
}

TEST_F(Tokens, BoundExecutorWorksWithTokens) {
    io_context other;
    auto future = b.async_write_some(buffer("x", 1), bind_executor(other, use_future));
    context.run();
    EXPECT_EQ(future.wait_for(0s), std::future_status::timeout);
    other.run();
    EXPECT_EQ(future.get(), 1U);
}

TEST_F(Tokens, ComposedOperationsRunEveryStepOnTheBoundExecutor) {
    io_context other;
    std::string text;
    bool done = false;
    async_read_until(a, dynamic_buffer(text), '\n', bind_executor(other, [&](error_code ec, std::size_t n) {
                         EXPECT_FALSE(ec);
                         EXPECT_EQ(n, 5U);
                         done = true;
                     }));
    b.write_some(buffer("ab", 2));
    context.poll();
    b.write_some(buffer("cd\n", 3));
    context.poll();
    EXPECT_EQ(a.available(), 3U) << "the next read is started by the step on the other executor";
    other.poll();
    context.restart();
    context.poll();
    EXPECT_FALSE(done);
    other.restart();
    other.poll();
    EXPECT_TRUE(done);
}

TEST_F(Tokens, BoundAllocatorServesTheOperationAndIsPaidBackBeforeTheHandlerRuns) {
    account books;
    int live_in_handler = -1;
    counting_allocator<void> const allocator(&books);
    b.async_write_some(buffer("x", 1),
                       bind_allocator(allocator, [&](error_code, std::size_t) { live_in_handler = books.live; }));
    EXPECT_EQ(books.live, 1);
    context.run();
    EXPECT_EQ(live_in_handler, 0);
    EXPECT_EQ(books.taken, 1);
}

TEST_F(Tokens, AllocatorIsFoundBelowExecutorBindersAndAdapters) {
    account books;
    counting_allocator<void> const allocator(&books);
    auto handler = bind_executor(context, as_tuple(bind_allocator(allocator, [](auto) {})));
    b.async_write_some(buffer("x", 1), std::move(handler));
    EXPECT_EQ(books.live, 1);
    context.run();
    EXPECT_EQ(books.live, 0);
    EXPECT_EQ(books.taken, 1);
}

TEST_F(Tokens, BoundAllocatorWorksWithTokens) {
    account books;
    counting_allocator<void> const allocator(&books);
    auto future = b.async_write_some(buffer("x", 1), bind_allocator(allocator, use_future));
    EXPECT_EQ(books.live, 1);
    context.run();
    EXPECT_EQ(books.live, 0);
    EXPECT_EQ(future.get(), 1U);
}

TEST_F(Tokens, AbandonedOperationPaysItsAllocatorBack) {
    account books;
    {
        io_context other;
        auto timer = std::make_shared<steady_timer>(other, 1h);
        timer->async_wait(bind_allocator(counting_allocator<void>(&books), [timer](error_code) {}));
        timer.reset();
        other.poll();
        EXPECT_EQ(books.live, 1);
    }
    EXPECT_EQ(books.live, 0);
}

} // namespace
