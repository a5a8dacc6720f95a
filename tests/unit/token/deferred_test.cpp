#include <fairlead/token/deferred.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/append.hpp>
#include <fairlead/token/block.hpp>
#include <fairlead/token/post.hpp>
#include <fairlead/token/use_future.hpp>

#include <gtest/gtest.h>

#include <concepts>
#include <cstdlib>
#include <memory>
#include <string>
#include <tuple>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using stream = local::stream_protocol::socket;

struct Deferred : testing::Test {
    Deferred() : a(context), b(context), timer(context, 0s) { local::connect_pair(a, b); }
    template <class F> void spawn(F f) {
        co_spawn(context, std::move(f), [](std::exception_ptr e) {
            if (e)
                std::rethrow_exception(e);
        });
        context.restart();
        context.run();
    }
    void run() {
        context.restart();
        context.run();
    }

    /// As in Asio's examples: two waits in a row, the second only if the first was good.
    template <class Token> auto async_wait_twice(Token&& token) {
        return timer.async_wait(deferred([this](error_code ec) {
            ++waits;
            timer.expires_after(0s);
            return deferred.when(!ec).then(timer.async_wait(deferred)).otherwise(deferred.values(ec));
        }))(std::forward<Token>(token));
    }
    /// Writes, then reads what was written: one operation with the signature of the read.
    auto exchange(const_buffer out, mutable_buffer in) {
        return async_write(b, out, deferred) |
               deferred([this, in](error_code, std::size_t n) { return a.async_read_some(buffer(in, n), deferred); });
    }

    io_context context;
    stream a, b;
    steady_timer timer;
    char bytes[16] = {};
    int waits = 0;
};

struct FactsOfDeferred : Deferred {};

TEST_F(FactsOfDeferred, F61_ChainStartsWhenItIsCalledWithAToken) {
    auto chain = exchange(buffer("xyz", 3), buffer(bytes));
    static_assert(std::same_as<decltype(chain), async_op<void(error_code, std::size_t)>>);
    context.poll();
    EXPECT_EQ(a.available(), 0U) << "not started";
    std::size_t got = 0;
    std::move(chain)([&](error_code ec, std::size_t n) { got = ec ? 99 : n; });
    run();
    EXPECT_EQ(got, 3U);
    EXPECT_EQ(std::string(bytes, 3), "xyz");
}

TEST_F(Deferred, ChainTakesEveryToken) {
    spawn([this]() -> awaitable<void> {
        auto const in = buffer(bytes);
        EXPECT_EQ(co_await exchange(buffer("12", 2), in), 2U);
        EXPECT_EQ(co_await exchange(buffer("12", 2), in)(use_awaitable), 2U);
        auto [ec, n] = co_await exchange(buffer("123", 3), in)(as_tuple);
        EXPECT_FALSE(ec);
        EXPECT_EQ(n, 3U);
        auto [m, seven] = co_await exchange(buffer("1", 1), in)(append(deferred, 7));
        EXPECT_EQ(m, 1U);
        EXPECT_EQ(seven, 7);
    });
    auto future = exchange(buffer("abcd", 4), buffer(bytes))(use_future);
    exchange(buffer("ef", 2), buffer(bytes))(detached);
    run();
    EXPECT_EQ(future.get(), 4U);
    EXPECT_EQ(exchange(buffer("gh", 2), buffer(bytes))(block), 2U);
    EXPECT_EQ(exchange(buffer("gh", 2), buffer(bytes))(as_tuple(block)), std::tuple(error_code(), std::size_t{2}));
}

TEST_F(Deferred, WaitTwiceOfAsiosExamples) {
    int calls = 0;
    async_wait_twice([&](error_code ec) { calls += !ec; });
    run();
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(waits, 1);
    spawn([this]() -> awaitable<void> { co_await async_wait_twice(use_await); });
    auto future = async_wait_twice(use_future);
    run();
    EXPECT_NO_THROW(future.get());
    EXPECT_EQ(waits, 3);
    async_wait_twice(block);
    EXPECT_EQ(waits, 4);
}

TEST_F(Deferred, OtherBranchIsTakenWhenTheConditionFails) {
    timer.expires_after(1h);
    error_code got;
    async_wait_twice([&](error_code ec) { got = ec; });
    post(context, [&] { timer.cancel(); });
    run();
    EXPECT_EQ(got, error::operation_aborted);
    EXPECT_EQ(waits, 1);
}

TEST_F(Deferred, ConditionWithoutAnotherBranchDoesNothing) {
    auto watched = std::make_shared<int>();
    int calls = 0;
    deferred.when(false).then(post(context, deferred))([&, watched] { ++calls; });
    EXPECT_EQ(watched.use_count(), 1);
    deferred.when(true).then(post(context, deferred))([&, watched] { ++calls; });
    run();
    EXPECT_EQ(calls, 1);
}

TEST_F(Deferred, ValuesCompleteWithThemselves) {
    auto op = deferred.values(1, std::string("two"), std::make_unique<int>(3));
    static_assert(std::same_as<decltype(op), async_op<void(int, std::string, std::unique_ptr<int>)>>);
    std::string got;
    std::move(op)([&](int i, std::string s, std::unique_ptr<int> p) {
        got = std::to_string(i);
        got += s;
        got += std::to_string(*p);
    });
    EXPECT_EQ(got, "1two3");
    spawn([]() -> awaitable<void> {
        auto [i, text] = co_await deferred.values(1, std::string("two"));
        EXPECT_EQ(i, 1);
        EXPECT_EQ(text, "two");
        try {
            co_await deferred.values(error_code(error::eof), 5);
            ADD_FAILURE();
        } catch (system_error const& e) {
            EXPECT_EQ(e.code(), error::eof);
        }
    });
    EXPECT_EQ(deferred.values(5)(block), 5);
}

TEST_F(Deferred, ChainOfManySteps) {
    auto const next = [this](int n) { return post(context, append(deferred, n + 1)); };
    auto chain = deferred.values(0) | deferred(next) | deferred(next) | deferred(next) | deferred(next);
    static_assert(std::same_as<decltype(chain), async_op<void(int)>>);
    int got = 0;
    std::move(chain)([&](int n) { got = n; });
    run();
    EXPECT_EQ(got, 4);
    spawn([&]() -> awaitable<void> {
        int n = co_await (deferred.values(10) | deferred(next) | deferred(next));
        EXPECT_EQ(n, 12);
    });
    EXPECT_EQ((deferred.values(10) | deferred(next) | deferred(next))(block), 12);
}

TEST_F(Deferred, PackagedFunctionIsAToken) {
    auto const package = deferred([this](error_code, std::size_t n) { return post(context, append(deferred, n)); });
    static_assert(is_deferred<std::decay_t<decltype(package)>>::value);
    static_assert(std::same_as<std::decay_t<decltype(deferred(package))>, std::decay_t<decltype(package)>>);
    std::size_t sum = 0;
    async_write(b, buffer("xyz", 3), package)([&](std::size_t n) { sum += n; });
    b.async_write_some(buffer("x", 1), package)([&](std::size_t n) { sum += n; });
    run();
    EXPECT_EQ(sum, 4U);
}

TEST_F(Deferred, FunctionMayReturnAnyOperation) {
    // One that takes a token, as the functions of Asio's examples do.
    auto chain = timer.async_wait(deferred([this](error_code) {
        return [this](auto&& token) { return post(context, std::forward<decltype(token)>(token)); };
    }));
    static_assert(std::same_as<decltype(chain), async_op<void()>>);
    int calls = 0;
    std::move(chain)([&] { ++calls; });
    run();
    EXPECT_EQ(calls, 1);
}

TEST_F(Deferred, WhatIsDeferredStaysAsItIs) {
    auto op = deferred(timer.async_wait(deferred));
    static_assert(std::same_as<decltype(op), async_op<void(error_code)>>);
    int calls = 0;
    (std::move(op) | deferred([&](error_code) { return deferred.values(); }))([&] { ++calls; });
    run();
    EXPECT_EQ(calls, 1);
}

TEST_F(FactsOfDeferred, F09_EveryStepRunsWhereTheHandlerWantsToRun) {
    io_context other;
    bool second = false, done = false;
    auto chain = timer.async_wait(deferred) | deferred([&](error_code) {
                     second = other.get_executor().running_in_this_thread();
                     return post(context, deferred);
                 });
    std::move(chain)(bind_executor(other, [&] { done = other.get_executor().running_in_this_thread(); }));
    for (int i = 0; i != 3; ++i) {
        context.restart();
        context.poll();
        other.restart();
        other.poll();
    }
    EXPECT_TRUE(second);
    EXPECT_TRUE(done);
}

TEST_F(Deferred, ChainThatIsAbandonedDestroysWhatItHolds) {
    auto watched = std::make_shared<int>();
    {
        io_context other;
        auto waiting = std::make_shared<steady_timer>(other, 1h);
        auto chain =
            waiting->async_wait(deferred) | deferred([watched, waiting](error_code) { return deferred.values(); });
        std::move(chain)([watched] {});
        EXPECT_EQ(watched.use_count(), 3);
        waiting.reset();
        other.poll();
    }
    EXPECT_EQ(watched.use_count(), 1);
    auto unused = timer.async_wait(deferred) | deferred([watched](error_code) { return deferred.values(); });
    EXPECT_EQ(watched.use_count(), 2);
    {
        auto moved = std::move(unused);
    }
    EXPECT_EQ(watched.use_count(), 1);
}

TEST_F(Deferred, BlockingChainReportsTheErrorOfItsLastStep) {
    b.close();
    auto const read = deferred([this](error_code, std::size_t) { return a.async_read_some(buffer(bytes), deferred); });
    try {
        (a.async_read_some(buffer(bytes), deferred) | read)(block);
        FAIL();
    } catch (system_error const& e) {
        EXPECT_EQ(e.code(), error::eof);
    }
    error_code ec;
    (a.async_read_some(buffer(bytes), deferred) | read)(block[ec]);
    EXPECT_EQ(ec, error::eof);
}

} // namespace
