#include "support/counting_allocator.hpp"

#include <fairlead/token/use_future.hpp>

#include <fairlead/io/io_context.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/token/append.hpp>
#include <fairlead/token/deferred.hpp>
#include <fairlead/token/post.hpp>

#include <gtest/gtest.h>

#include <concepts>
#include <cstdlib>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>

namespace {

using namespace fairlead;
using test::account;
using test::counting_allocator;
using namespace std::chrono_literals;

// The operations of Asio's tests: they complete with one value, and an error before it or not.
template <class Signature, class... Values> auto operation(io_context& c, Values... values) {
    return [&c, ... v = std::move(values)](auto&& token) mutable {
        return completion_token_transform<Signature>(
            std::forward<decltype(token)>(token), [&c, ... w = std::move(v)](auto handler) mutable {
                post(c, [h = std::move(handler), ... x = std::move(w)]() mutable { std::move(h)(std::move(x)...); });
            });
    };
}

struct UseFuture : testing::Test {
    /// The future's value once the context has run.
    template <class Future> decltype(auto) get(Future future) {
        context.restart();
        context.run();
        return future.get();
    }
    io_context context;
};

struct FactsOfFutures : UseFuture {};

struct alignas(64) over_aligned {
    int n;
};

TEST(FutureMemory, ValueMayBeOverAligned) {
    io_context context;
    auto made = post(context, use_future([] { return over_aligned{7}; }));
    context.run();
    EXPECT_EQ(made.get().n, 7);
}

TEST_F(FactsOfFutures, F49_ErrorsAreThrownAndSeveralValuesAreATuple) {
    EXPECT_EQ(get(operation<void(int)>(context, 42)(use_future)), 42);
    EXPECT_EQ(get(operation<void(error_code, int)>(context, error_code(), 42)(use_future)), 42);
    EXPECT_EQ(get(operation<void(error_code, int, double)>(context, error_code(), 42, 2.0)(use_future)),
              std::tuple(42, 2.0));
    EXPECT_THROW(get(operation<void(error_code, int)>(context, error_code(error::eof), 0)(use_future)), system_error);
    auto const e = std::make_exception_ptr(std::domain_error("blah"));
    EXPECT_THROW(get(operation<void(std::exception_ptr, int)>(context, e, 0)(use_future)), std::domain_error);
    EXPECT_NO_THROW(get(operation<void(std::exception_ptr)>(context, std::exception_ptr())(use_future)));
}

TEST_F(FactsOfFutures, F50_FunctionIsAPackagedTask) {
    auto const or_zero = [](error_code ec, int i) { return ec ? 0 : i; };
    auto future = operation<void(error_code, int)>(context, error_code(), 42)(use_future(or_zero));
    static_assert(std::same_as<decltype(future), std::future<int>>);
    EXPECT_EQ(get(std::move(future)), 42);
    EXPECT_EQ(get(operation<void(error_code, int)>(context, error_code(error::eof), 42)(use_future(or_zero))), 0);
    auto const e = std::make_exception_ptr(std::domain_error("blah"));
    EXPECT_EQ(get(operation<void(std::exception_ptr, int)>(context, e, 42)(
                  use_future([](std::exception_ptr p, int i) { return p ? 0 : i; }))),
              0);
    int calls = 0;
    auto none = operation<void(int)>(context, 1)(use_future([&](int i) { calls += i; }));
    static_assert(std::same_as<decltype(none), std::future<void>>);
    get(std::move(none));
    EXPECT_EQ(calls, 1);
}

TEST_F(FactsOfFutures, F50_ExceptionOfTheFunctionIsThatOfTheFuture) {
    EXPECT_THROW(get(operation<void(int)>(context, 1)(use_future([](int) -> int { throw std::domain_error("x"); }))),
                 std::domain_error);
}

TEST_F(UseFuture, PackagedFunctionMayReturnAReferenceAndBeMoveOnly) {
    int there = 5;
    auto future = operation<void()>(context)(use_future([&]() -> int& { return there; }));
    static_assert(std::same_as<decltype(future), std::future<int&>>);
    EXPECT_EQ(&get(std::move(future)), &there);
    EXPECT_EQ(get(operation<void()>(context)(use_future([p = std::make_unique<int>(6)] { return *p; }))), 6);
}

TEST_F(FactsOfFutures, F51_AbandonedOperationBreaksThePromise) {
    std::future<int> future;
    {
        io_context other;
        future = operation<void(int)>(other, 1)(use_future([](int i) { return i; }));
    }
    try {
        future.get();
        FAIL();
    } catch (std::future_error const& e) {
        EXPECT_EQ(e.code(), std::future_errc::broken_promise);
    }
}

TEST_F(UseFuture, AllocatorServesTheSharedStateAndTheOperation) {
    account count;
    steady_timer timer(context, 0s);
    counting_allocator<void> const allocator(&count);
    {
        auto future = timer.async_wait(use_future[allocator]);
        EXPECT_GE(count.live, 2) << "the state of the future and the operation";
        get(std::move(future));
    }
    EXPECT_EQ(count.live, 0);
    int const before = count.taken;
    static_assert(std::same_as<decltype(use_future.rebind(allocator)), use_future_t<counting_allocator<void>>>);
    EXPECT_EQ(use_future.rebind(allocator).get_allocator(), allocator);
    get(timer.async_wait(use_future.rebind(allocator)([](error_code) { return 1; })));
    EXPECT_GT(count.taken, before);
    EXPECT_EQ(count.live, 0);
}

TEST_F(UseFuture, PackagedFunctionWorksBelowOtherTokens) {
    EXPECT_EQ(get(operation<void(int)>(context, 1)(append(use_future([](int a, int b) { return a + b; }), 2))), 3);
    auto chain = operation<void(int)>(context, 1)(deferred);
    EXPECT_EQ(get(std::move(chain)(use_future([](int i) { return i + 4; }))), 5);
}

} // namespace
