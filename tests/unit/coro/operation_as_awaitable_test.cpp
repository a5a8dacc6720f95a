#include <fairlead/coro/awaitable.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/append.hpp>
#include <fairlead/token/deferred.hpp>
#include <fairlead/token/post.hpp>
#include <fairlead/token/use_future.hpp>

#include <gtest/gtest.h>

#include <concepts>
#include <exception>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using stream = local::stream_protocol::socket;

struct OperationAsAwaitable : testing::Test {
    OperationAsAwaitable() : a(context), b(context) { local::connect_pair(a, b); }
    io_context context;
    stream a, b;
    char bytes[16] = {};
};

// As in programs for Asio, where use_awaitable returns an awaitable.
awaitable<std::size_t> read_some(stream& s, mutable_buffer into) { return s.async_read_some(into, use_awaitable); }
awaitable<void> pause(steady_timer& t) { return t.async_wait(use_awaitable); }
awaitable<std::tuple<error_code, std::size_t>> read_tuple(stream& s, mutable_buffer into) {
    return s.async_read_some(into, as_tuple(use_awaitable));
}

static_assert(std::convertible_to<async_op<void(error_code, std::size_t)>, awaitable<std::size_t>>);
static_assert(!std::convertible_to<async_op<void(error_code, std::size_t)>, awaitable<int>>);
static_assert(!std::convertible_to<async_op<void(error_code, std::size_t)>, awaitable<void>>);
static_assert(!std::convertible_to<async_op<void(error_code)>&, awaitable<void>>, "it is moved from");

TEST_F(OperationAsAwaitable, FunctionMayReturnAnOperation) {
    co_spawn(
        context,
        [](OperationAsAwaitable& t) -> awaitable<void> {
            steady_timer timer(t.context, 0s);
            co_await pause(timer);
            t.b.write_some(buffer("xyz", 3));
            EXPECT_EQ(co_await read_some(t.a, buffer(t.bytes)), 3U);
            t.b.close();
            auto [ec, n] = co_await read_tuple(t.a, buffer(t.bytes));
            EXPECT_EQ(ec, error::eof);
            EXPECT_EQ(n, 0U);
            try {
                co_await read_some(t.a, buffer(t.bytes));
                ADD_FAILURE();
            } catch (system_error const& e) {
                EXPECT_EQ(e.code(), error::eof);
            }
        }(*this),
        rethrow);
    context.run();
}

TEST_F(OperationAsAwaitable, NothingStartsBeforeItIsAwaited) {
    awaitable<std::size_t> writing = b.async_write_some(buffer("x", 1));
    context.poll();
    EXPECT_EQ(a.available(), 0U);
    EXPECT_TRUE(writing.valid());
    co_spawn(context, std::move(writing), [](std::exception_ptr e, std::size_t n) {
        EXPECT_FALSE(e);
        EXPECT_EQ(n, 1U);
    });
    context.restart();
    context.run();
    EXPECT_EQ(a.available(), 1U);
}

TEST_F(OperationAsAwaitable, LivesInAContainer) {
    std::vector<awaitable<std::size_t>> all;
    for (int i = 0; i != 3; ++i)
        all.emplace_back(b.async_write_some(buffer("xyz", 3)));
    std::size_t sum = 0;
    co_spawn(
        context,
        [](std::vector<awaitable<std::size_t>> v, std::size_t& out) -> awaitable<void> {
            for (auto& each : v)
                out += co_await std::move(each);
        }(std::move(all), sum),
        rethrow);
    context.run();
    EXPECT_EQ(sum, 9U);
}

TEST_F(OperationAsAwaitable, OperationIsSpawned) {
    std::size_t got = 0;
    co_spawn(context, b.async_write_some(buffer("x", 1), use_awaitable), [&](std::exception_ptr e, std::size_t n) {
        rethrow(e);
        got += n;
    });
    co_spawn(
        context.get_executor(), [&] { return b.async_write_some(buffer("xy", 2)); },
        [&](std::exception_ptr e, std::size_t n) {
            rethrow(e);
            got += n;
        });
    auto future = co_spawn(context, post(context, append(deferred, std::string("text"))), use_future);
    co_spawn(context, a.async_read_some(buffer(bytes), use_awaitable), detached);
    context.run();
    EXPECT_EQ(got, 3U);
    EXPECT_EQ(future.get(), "text");
    EXPECT_EQ(bytes[0], 'x');
}

TEST_F(OperationAsAwaitable, ErrorIsTheExceptionOfTheSpawnedOperation) {
    b.close();
    std::exception_ptr got;
    co_spawn(context, a.async_read_some(buffer(bytes)), [&](std::exception_ptr e, std::size_t) { got = e; });
    context.run();
    ASSERT_TRUE(got);
    EXPECT_THROW(std::rethrow_exception(got), system_error);
}

TEST_F(OperationAsAwaitable, DestroyedUnstartedItDestroysTheOperation) {
    auto watched = std::make_shared<int>();
    {
        awaitable<void> const unused = completion_token_transform<void()>(use_await, [watched](auto) {});
        EXPECT_EQ(watched.use_count(), 2);
    }
    EXPECT_EQ(watched.use_count(), 1);
}

} // namespace
