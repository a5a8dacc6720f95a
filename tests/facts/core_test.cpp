// Facts that users of Asio rely on: initiation and completion, the loop, executors, coroutines.
#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/strand.hpp>
#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/legacy/properties.hpp>
#include <fairlead/legacy/with_properties.hpp>
#include <fairlead/net/local.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/post.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using local_socket = local::stream_protocol::socket;

/// Two sockets that are connected.
struct connected {
    io_context context;
    local_socket a{context}, b{context};
    std::array<char, 64> bytes{};
    connected() { local::connect_pair(a, b); }
};

TEST(Facts, F01_NoHandlerRunsInsideItsInitiatingFunctionNorBeforeRun) {
    connected pair;
    [[maybe_unused]] auto& [context, a, b, bytes] = pair;
    b.write_some(buffer("x", 1));
    int ran = 0;
    bool initiating = true;
    auto const handler = [&](auto&&...) {
        EXPECT_FALSE(initiating);
        ++ran;
    };
    a.async_read_some(buffer(bytes), handler); // ready
    a.async_read_some(buffer(bytes, 0), handler);
    post(context, handler);
    defer(context, handler);
    initiating = false;
    EXPECT_EQ(ran, 0);
    context.run();
    EXPECT_EQ(ran, 4);
}

/// Knows how many of its blocks are out.
template <class T> struct counting_allocator {
    using value_type = T;
    int* out;
    explicit counting_allocator(int* o) noexcept : out(o) {}
    template <class U> counting_allocator(counting_allocator<U> const& other) noexcept : out(other.out) {}
    T* allocate(std::size_t n) {
        ++*out;
        return std::allocator<T>().allocate(n);
    }
    void deallocate(T* p, std::size_t n) noexcept {
        --*out;
        std::allocator<T>().deallocate(p, n);
    }
    template <class U> friend bool operator==(counting_allocator const& x, counting_allocator<U> const& y) noexcept {
        return x.out == y.out;
    }
};

TEST(Facts, F02_MemoryComesFromTheHandlersAllocatorAndIsBackBeforeItRuns) {
    connected pair;
    [[maybe_unused]] auto& [context, a, b, bytes] = pair;
    int out = 0;
    bool called = false;
    a.async_read_some(buffer(bytes), bind_allocator(counting_allocator<char>(&out), [&](error_code, std::size_t) {
                          EXPECT_EQ(out, 0);
                          called = true;
                      }));
    EXPECT_EQ(out, 1);
    b.write_some(buffer("x", 1));
    context.run();
    EXPECT_TRUE(called);
}

TEST(Facts, F04_HandlersAndArgumentsAreMovedAndTheHandlerIsCalledAsAnRvalue) {
    connected pair;
    [[maybe_unused]] auto& [context, a, b, bytes] = pair;
    struct handler {
        std::unique_ptr<int> only_mine = std::make_unique<int>(7);
        int* got;
        void operator()(error_code, std::size_t) && { *got = *only_mine; }
        explicit handler(int* g) : got(g) {}
    };
    int got = 0;
    a.async_read_some(buffer(bytes), handler(&got));
    b.write_some(buffer("x", 1));
    context.run();
    EXPECT_EQ(got, 7);
}

TEST(Facts, F05_HandlersThatWereNeverCalledGoWithTheContext) {
    auto kept = std::make_shared<int>();
    {
        io_context context;
        steady_timer timer(context, 1h);
        timer.async_wait([kept](error_code) { FAIL(); });
        post(context, [kept] { FAIL(); });
        EXPECT_EQ(kept.use_count(), 3);
    }
    EXPECT_EQ(kept.use_count(), 1);
}

TEST(Facts, F07_PendingOperationIsWorkOfBothExecutors) {
    io_context io, handlers;
    steady_timer timer(io, 1h);
    bool called = false;
    timer.async_wait(bind_executor(handlers, [&](error_code) { called = true; }));
    EXPECT_EQ(handlers.poll(), 0U);
    EXPECT_FALSE(handlers.stopped()) << "its work is still to come";
    EXPECT_EQ(io.poll(), 0U);
    EXPECT_FALSE(io.stopped());
    timer.cancel();
    io.run();
    EXPECT_FALSE(called);
    handlers.run();
    EXPECT_TRUE(called);
}

TEST(Facts, F10_ArgumentsByValueMayDieWithTheCall) {
    connected pair;
    [[maybe_unused]] auto& [context, a, b, bytes] = pair;
    std::string const text = "hello";
    int done = 0;
    {
        std::array<const_buffer, 2> const from{buffer(text.data(), 2), buffer(text.data() + 2, 3)};
        a.async_write_some(from, [&](error_code, std::size_t n) { done += n == 5; });
        std::array<mutable_buffer, 3> const into{buffer(bytes.data(), 1), buffer(bytes.data() + 1, 1),
                                                 buffer(bytes.data() + 2, 3)};
        async_read(b, into, [&](error_code, std::size_t n) { done += n == 5; });
    }
    context.run();
    EXPECT_EQ(done, 2);
    EXPECT_EQ(std::string(bytes.data(), 5), text);
}

TEST(Facts, F11_EachBufferIsFilledBeforeTheNext) {
    connected pair;
    [[maybe_unused]] auto& [context, a, b, bytes] = pair;
    b.write_some(buffer("abcdef", 6));
    std::array<char, 2> first{};
    std::array<char, 8> second{};
    std::array<mutable_buffer, 2> const into{buffer(first), buffer(second)};
    EXPECT_EQ(a.read_some(into), 6U);
    EXPECT_EQ(std::string(first.data(), 2) + std::string(second.data(), 4), "abcdef");
}

TEST(Facts, F12_F13_DispatchIsInlineInsideTheContextOnly) {
    io_context context, other;
    std::string order;
    dispatch(context, [&] { order += 'b'; });
    order += 'a';
    context.run();
    EXPECT_EQ(order, "ab");
    context.restart();
    post(context, [&] {
        dispatch(context, [&] { order += 'c'; });
        dispatch(other, [&] { order += 'f'; });
        defer(context, [&] { order += 'e'; });
        order += 'd';
    });
    context.run();
    other.run();
    EXPECT_EQ(order, "abcdef");
}

TEST(Facts, F14_PostGoesThroughItsExecutorFirstAndThenToTheHandlers) {
    io_context first, second;
    bool called = false;
    post(first, bind_executor(second, [&] { called = true; }));
    EXPECT_EQ(second.poll(), 0U);
    EXPECT_EQ(first.run(), 1U);
    EXPECT_FALSE(called);
    second.restart();
    EXPECT_EQ(second.run(), 1U);
    EXPECT_TRUE(called);
}

TEST(Facts, F15_RunCountsHandlersAndStopsWithoutWork) {
    io_context context;
    for (int i = 0; i != 3; ++i)
        post(context, [] {});
    EXPECT_EQ(context.run(), 3U);
    EXPECT_TRUE(context.stopped());
    post(context, [] {});
    EXPECT_EQ(context.run(), 0U);
    context.restart();
    EXPECT_EQ(context.run(), 1U);
}

TEST(Facts, F16_ExceptionLeavesRunAndNothingIsLost) {
    io_context context;
    int ran = 0;
    post(context, [] { throw std::runtime_error("first"); });
    post(context, [&] { ++ran; });
    EXPECT_THROW(context.run(), std::runtime_error);
    EXPECT_EQ(context.run(), 1U) << "without restart()";
    EXPECT_EQ(ran, 1);
}

TEST(Facts, F17_StoppedContextKeepsItsHandlers) {
    io_context context;
    int ran = 0;
    post(context, [&] {
        ++ran;
        context.stop();
    });
    post(context, [&] { ++ran; });
    EXPECT_EQ(context.run(), 1U);
    EXPECT_EQ(context.poll(), 0U);
    EXPECT_EQ(context.run_one(), 0U);
    context.restart();
    EXPECT_EQ(context.run(), 1U);
    EXPECT_EQ(ran, 2);
}

TEST(Facts, F18_WorkGuardKeepsRunAliveAndRunForReturnsAtOnceWithoutWork) {
    io_context context;
    EXPECT_EQ(context.run_for(1h), 0U);
    context.restart();
    auto guard = make_work_guard(context);
    EXPECT_EQ(context.poll(), 0U);
    EXPECT_FALSE(context.stopped());
    guard.reset();
    EXPECT_EQ(context.run(), 0U);
    EXPECT_TRUE(context.stopped());
}

TEST(Facts, F19_ExpiryAndCancelReturnHowManyWaitsTheyEnded) {
    io_context context;
    steady_timer timer(context, 1h);
    std::string order;
    for (char c : {'a', 'b', 'c'})
        timer.async_wait([&order, c](error_code ec) { order += ec == error::operation_aborted ? c : '!'; });
    EXPECT_EQ(timer.cancel_one(), 1U);
    EXPECT_EQ(timer.expires_after(2h), 2U);
    EXPECT_EQ(timer.cancel(), 0U);
    context.run();
    EXPECT_EQ(order, "abc");
}

TEST(Facts, F40_F41_F42_StrandsNeverOverlapAndKnowThemselves) {
    io_context context;
    auto const s = make_strand(context);
    strand<any_io_executor> const same(s);
    std::atomic<int> inside{0};
    int overlapping = 0, next = 0, wrong = 0;
    for (int i = 0; i != 1'000; ++i)
        post(i % 2 ? any_io_executor(s) : any_io_executor(same), [&, i] {
            overlapping += inside++ != 0;
            wrong += next++ != i;
            bool at_once = false;
            dispatch(s, [&] { at_once = s.running_in_this_thread(); });
            wrong += !at_once;
            --inside;
        });
    std::thread other([&] { context.run(); });
    context.run();
    other.join();
    EXPECT_EQ(overlapping, 0);
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(next, 1'000);
}

TEST(Facts, F45_AnyIoExecutorComparesByTargetAndIsEmptyByDefault) {
    io_context context, other;
    any_io_executor const empty, nothing(nullptr), one(context.get_executor());
    EXPECT_FALSE(empty);
    EXPECT_EQ(empty, nothing);
    EXPECT_NE(empty, one);
    EXPECT_EQ(one, any_io_executor(context.get_executor()));
    EXPECT_NE(one, any_io_executor(other.get_executor()));
    ASSERT_NE(one.target<io_context::executor_type>(), nullptr);
    EXPECT_EQ(one.target<thread_pool::executor_type>(), nullptr);
    EXPECT_EQ(&one.context(), &context);
    EXPECT_THROW(empty.execute([] {}), bad_executor);
}

TEST(Facts, F46_RequireHoldsOrDoesNotCompilePreferIsOptionalAndQueryAnswers) {
    using execution::blocking, execution::outstanding_work, execution::relationship;
    using place = io_context::executor_type;
    static_assert(can_require_v<place, execution::blocking_t::possibly_t>);
    static_assert(!can_require_v<place, execution::blocking_t::always_t>);
    static_assert(can_require_v<thread_pool::executor_type, execution::blocking_t::always_t>);
    static_assert(can_require_v<any_io_executor, execution::blocking_t::never_t>);
    static_assert(!can_require_v<any_io_executor, execution::blocking_t::possibly_t>);
    static_assert(can_prefer_v<any_io_executor, execution::blocking_t::possibly_t>);
    static_assert(!can_prefer_v<place, execution::blocking_t::always_t>);

    io_context context;
    int inside = 0, ran = 0;
    auto const never = require(context.get_executor(), blocking.never);
    auto const possibly = prefer(any_io_executor(never), blocking.possibly, relationship.continuation);
    EXPECT_EQ(query(never, blocking), blocking.never);
    EXPECT_EQ(query(possibly, blocking), blocking.possibly);
    EXPECT_EQ(query(possibly, relationship), relationship.continuation);
    EXPECT_EQ(query(possibly, execution::mapping), execution::mapping.thread);
    EXPECT_EQ(&query(possibly, execution::context), &context);
    {
        auto const work = require(context.get_executor(), outstanding_work.tracked);
        EXPECT_EQ(query(work, outstanding_work), outstanding_work.tracked);
        context.poll();
        EXPECT_FALSE(context.stopped()) << "as a work guard";
    }
    possibly.execute([&] {
        EXPECT_EQ(ran, 0) << "nobody was inside";
        possibly.execute([&] { ++inside; });
        never.execute([&] { ++ran; });
        EXPECT_EQ(inside, 1);
        EXPECT_EQ(ran, 0);
    });
    EXPECT_EQ(context.run(), 2U);
    EXPECT_EQ(ran, 1);

    thread_pool pool(1);
    std::thread::id where;
    require(pool.get_executor(), blocking.always).execute([&] { where = std::this_thread::get_id(); });
    EXPECT_NE(where, std::thread::id());
    EXPECT_NE(where, std::this_thread::get_id());

    int out = 0;
    require(context.get_executor(), execution::allocator(counting_allocator<char>(&out))).execute([&] { ran += out; });
    EXPECT_EQ(out, 1);
    context.restart();
    context.run();
    EXPECT_EQ(ran, 1) << "given back before";
}

TEST(Facts, F47_F48_PoolsWaitForAllTheirWorkOrAbandonIt) {
    std::atomic<int> ran{0};
    {
        thread_pool pool(2);
        post(pool, [&] {
            for (int i = 0; i != 10; ++i)
                post(pool, [&] { ++ran; });
        });
        pool.wait();
        EXPECT_EQ(ran, 10);
    }
    thread_pool pool(1);
    pool.stop();
    post(pool, [&] { ++ran; });
    pool.join();
    EXPECT_EQ(ran, 10);
}

TEST(Facts, F52_SpawnStartsLikeDispatchAndItsHandlerIsNeverInline) {
    io_context context;
    std::string order;
    auto const body = [&]() -> awaitable<void> {
        order += '2';
        co_return;
    };
    co_spawn(context, body, [&](std::exception_ptr) { order += '3'; });
    order += '1';
    context.run();
    EXPECT_EQ(order, "123") << "outside nothing runs before it returns";
    order.clear();
    context.restart();
    post(context, [&] {
        co_spawn(context, body, [&](std::exception_ptr) { order += '4'; });
        order += '3';
    });
    context.run();
    EXPECT_EQ(order, "234") << "inside the body starts at once, the handler does not";
}

TEST(Facts, F53_F74_ErrorsAreThrownIntoTheCoroutineAndOutOfItIntoTheHandler) {
    connected pair;
    [[maybe_unused]] auto& [context, a, b, bytes] = pair;
    std::exception_ptr thrown;
    b.close();
    co_spawn(
        context,
        [&]() -> awaitable<void> {
            auto const [ec, n] = co_await a.async_read_some(buffer(bytes), as_tuple);
            EXPECT_EQ(ec, error::eof);
            error_code also;
            co_await a.async_read_some(buffer(bytes), redirect_error(use_awaitable, also));
            EXPECT_EQ(also, error::eof);
            co_await a.async_read_some(buffer(bytes), use_awaitable);
        },
        [&](std::exception_ptr e) { thrown = e; });
    context.run();
    ASSERT_TRUE(thrown);
    try {
        std::rethrow_exception(thrown);
    } catch (system_error const& e) {
        EXPECT_EQ(e.code(), error::eof);
    }
    co_spawn(context, []() -> awaitable<void> { throw std::runtime_error("nobody hears it"); }, detached);
    context.restart();
    context.run();
}

} // namespace
