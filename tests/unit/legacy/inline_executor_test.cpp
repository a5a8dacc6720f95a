#include <fairlead/legacy/inline_or_executor.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/net/local.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/post.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <thread>

namespace {

using namespace fairlead;
namespace ex = fairlead::execution;
using loop_place = io_context::executor_type;
using inline_or_loop = inline_or_executor<loop_place>;

static_assert(query(inline_executor(), ex::blocking) == ex::blocking.always);
static_assert(query(inline_executor(), ex::blocking.never) == ex::blocking.always);
static_assert(query(inline_executor(), ex::mapping) == ex::mapping.thread);
static_assert(query(inline_executor(), ex::relationship) == ex::relationship.fork);
static_assert(query(inline_executor(), ex::outstanding_work) == ex::outstanding_work.untracked);
static_assert(query(inline_executor(), ex::inline_exception_handling) == ex::inline_exception_handling.propagate);
static_assert(query(require(inline_executor(), ex::inline_exception_handling.terminate),
                    ex::inline_exception_handling) == ex::inline_exception_handling.terminate);
static_assert(can_require_v<inline_executor, ex::blocking_t::always_t>);
static_assert(!can_require_v<inline_executor, ex::blocking_t::never_t>);
static_assert(!can_require_v<inline_executor, ex::inline_exception_handling_t::capture_t>);
static_assert(!can_prefer_v<inline_executor, ex::inline_exception_handling_t::capture_t>);
static_assert(ex::inline_exception_handling != ex::inline_exception_handling.propagate, "without a value, none");
static_assert(can_require_v<loop_place, ex::inline_exception_handling_t::propagate_t>);
static_assert(!can_require_v<loop_place, ex::inline_exception_handling_t::terminate_t>);
static_assert(io_executor<inline_or_loop> && !io_executor<inline_or_executor<inline_executor>>);
static_assert(std::is_same_v<require_result_t<inline_or_loop, ex::blocking_t::always_t>, inline_or_loop>);

TEST(InlineExecutor, LetsExceptionsOutUnlessItIsToldToEndTheProcess) {
    int calls = 0;
    inline_executor().execute([&calls] { ++calls; });
    EXPECT_EQ(calls, 1);
    EXPECT_THROW(inline_executor().execute([] { throw std::runtime_error("out"); }), std::runtime_error);
    auto const strict = require(inline_executor(), ex::inline_exception_handling.terminate);
    strict.execute([&calls] { ++calls; });
    EXPECT_EQ(calls, 2);
    EXPECT_DEATH(strict.execute([] { throw std::runtime_error("ends the process"); }), "");
}

TEST(InlineExecutor, HandlersOnTheStrictOneRunAtOnceToo) {
    auto const strict = require(inline_executor(), ex::inline_exception_handling.terminate);
    int calls = 0;
    dispatch(strict, [&calls] { ++calls; });
    post(strict, [&calls] { ++calls; });
    EXPECT_EQ(calls, 2);
    EXPECT_EQ(query(any_completion_executor(strict), ex::blocking), ex::blocking.always);
}

TEST(InlineExecutor, WhatContextsRunInsideTheCallMayThrowOutOfIt) {
    io_context context;
    auto const possibly = require(context.get_executor(), ex::blocking.possibly);
    EXPECT_EQ(query(possibly, ex::inline_exception_handling), ex::inline_exception_handling.propagate);
    bool caught = false;
    post(context, [&] {
        try {
            possibly.execute([] { throw 1; });
        } catch (int) {
            caught = true;
        }
    });
    context.run();
    EXPECT_TRUE(caught);
}

struct InlineOr : testing::Test {
    auto note(char c) {
        return [this, c] { log += c; };
    }
    std::size_t run() {
        context.restart();
        return context.run();
    }
    io_context context;
    inline_or_loop place = inline_or(context);
    std::string log;
};

TEST_F(InlineOr, RunsHereWhatMayRunHereAndQueuesTheRest) {
    place.execute(note('a'));
    require(place, ex::blocking.possibly).execute(note('b'));
    dispatch(place, note('c'));
    EXPECT_EQ(log, "abc");
    post(place, note('d'));
    defer(place, note('e'));
    require(place, ex::blocking.never).execute(note('f'));
    EXPECT_EQ(log, "abc");
    EXPECT_EQ(run(), 3U);
    EXPECT_EQ(log, "abcdef");
}

TEST_F(InlineOr, AnswersForBlockingAndExceptionsAndElseForTheExecutorInside) {
    EXPECT_EQ(&query(place, ex::context), &context);
    EXPECT_EQ(&place.context(), &context);
    EXPECT_EQ(query(place, ex::blocking), ex::blocking.always);
    EXPECT_EQ(query(require(place, ex::blocking.never), ex::blocking), ex::blocking.never);
    EXPECT_EQ(query(place, ex::outstanding_work), ex::outstanding_work.untracked);
    EXPECT_EQ(query(require(place, ex::outstanding_work.tracked), ex::outstanding_work), ex::outstanding_work.tracked);
    EXPECT_EQ(query(prefer(place, ex::relationship.continuation), ex::relationship), ex::relationship.continuation);
    EXPECT_EQ(query(place, ex::mapping), ex::mapping.thread);
    EXPECT_EQ(query(place, ex::allocator), std::allocator<void>());
    auto const strict = require(place, ex::inline_exception_handling.terminate);
    EXPECT_EQ(query(strict, ex::inline_exception_handling), ex::inline_exception_handling.terminate);
    EXPECT_EQ(query(strict, ex::blocking), ex::blocking.always);
    EXPECT_DEATH(strict.execute([] { throw 1; }), "");
    EXPECT_THROW(place.execute([] { throw 1; }), int);

    io_context other;
    EXPECT_TRUE(place == inline_or(context.get_executor()));
    EXPECT_FALSE(place == inline_or(other));
    EXPECT_EQ(place.get_inner_executor(), context.get_executor());
    inline_or_executor<any_io_executor> general(place);
    general = inline_or(other);
    EXPECT_EQ(general.get_inner_executor(), other.get_executor());
}

TEST_F(InlineOr, TrackedItKeepsTheContextRunning) {
    {
        auto const tracked = require(place, ex::outstanding_work.tracked);
        EXPECT_EQ(context.poll(), 0U);
        EXPECT_FALSE(context.stopped());
    }
    context.poll();
    EXPECT_TRUE(context.stopped());
}

TEST_F(InlineOr, HandlersRunInTheThreadThatCompletesTheirOperation) {
    thread_pool pool(1);
    steady_timer timer(context, std::chrono::seconds(0));
    std::thread::id ran;
    timer.async_wait(bind_executor(inline_or(pool), [&ran](error_code) { ran = std::this_thread::get_id(); }));
    context.run();
    EXPECT_EQ(ran, std::this_thread::get_id());
    std::thread::id posted;
    post(inline_or(pool), [&posted] { posted = std::this_thread::get_id(); });
    pool.join();
    EXPECT_NE(posted, std::this_thread::get_id());
    EXPECT_NE(posted, std::thread::id());
}

TEST_F(InlineOr, CarriesIoObjectsAndCoroutines) {
    using stream = basic_stream_socket<local::stream_protocol, inline_or_loop>;
    stream near(place), far(place);
    local::connect_pair(near, far);
    char byte = ' ';
    near.async_read_some(buffer(&byte, 1), [this](error_code ec, std::size_t n) { log += ec || n != 1 ? '!' : 'r'; });
    far.async_write_some(buffer("x", 1), [this](error_code ec, std::size_t) { log += ec ? '!' : 'w'; });
    EXPECT_EQ(log, "");
    run();
    EXPECT_EQ(log.size(), 2U);
    EXPECT_EQ(byte, 'x');

    auto const body = [](stream& a, stream& b, std::string& to) -> awaitable<void> {
        to += 'c';
        co_await post(co_await this_coro::executor);
        to += 'p';
        char in = ' ';
        co_await a.async_write_some(buffer("y", 1));
        co_await b.async_read_some(buffer(&in, 1));
        to += in;
    };
    log.clear();
    co_spawn(place, body(near, far, log), detached);
    run();
    EXPECT_EQ(log, "cpy");
}

TEST_F(InlineOr, BehindAnyExecutorItStillQueuesWhatIsPosted) {
    any_io_executor const any = place;
    any.execute(note('a'));
    EXPECT_EQ(log, "a");
    post(any, note('b'));
    dispatch(any, note('c'));
    EXPECT_EQ(log, "ac");
    run();
    EXPECT_EQ(log, "acb");
}

} // namespace
