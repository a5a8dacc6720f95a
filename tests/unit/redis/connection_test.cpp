// Calls of a connection while nobody runs its context.
#include <fairlead/redis/connection.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/operation/cancellation_signal.hpp>
#include <fairlead/operation/compose.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/any_completion_handler.hpp>
#include <fairlead/token/append.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>
#include <fairlead/token/post.hpp>

#include <fairlead/redis_server/server.hpp>
#include <support/scale.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace fairlead::test {
namespace {

using namespace std::chrono_literals;
using ip::tcp;

/// How an operation ended, and how often.
struct end {
    error_code ec = error::in_progress;
    int times = 0;
    auto handler() {
        return [this](error_code e, auto...) {
            ec = e;
            ++times;
        };
    }
};

/// A handler with a slot of its own.
struct slot_handler {
    using cancellation_slot_type = cancellation_slot;
    cancellation_slot slot;
    end* ended;
    cancellation_slot_type get_cancellation_slot() const noexcept { return slot; }
    void operator()(error_code ec, std::size_t, int = 0) { ended->handler()(ec); }
};

/// A connection whose server accepts and says nothing.
struct RedisConnection : testing::Test {
    io_context context{1};
    tcp::acceptor listener{context, {ip::address_v4::loopback(), 0}};
    redis::connection connection{context};
    redis::request request;
    redis::generic_response pushes;
    end ran;

    RedisConnection() { request.push("INCR", "n"); }
    redis::config config() {
        redis::config c;
        c.address = "127.0.0.1:" + std::to_string(listener.local_endpoint().port());
        return c;
    }
    /// Runs until there is no more work, which must be soon.
    void run() {
        context.run_for(10s);
        EXPECT_TRUE(context.stopped()) << "there is still work after ten seconds";
    }
};

TEST_F(RedisConnection, X5_HandlerWithASlotIsRefusedAlsoWhereItsTypeIsErased) {
    cancellation_signal signal;
    end never;
    any_completion_handler<void(error_code, std::size_t)> h = bind_cancellation_slot(signal.slot(), never.handler());
    EXPECT_THROW(connection.async_receive(pushes, std::move(h)), system_error);
    EXPECT_TRUE(h);
    EXPECT_EQ(never.times, 0);
}

TEST_F(RedisConnection, X5_DeferredCallRefusesAHandlerWithASlotThatIsConnected) {
    cancellation_signal signal;
    end never, kept;
    EXPECT_THROW(connection.async_receive(pushes, deferred)(slot_handler{signal.slot(), &never}), system_error);
    auto wrapped = connection.async_receive(pushes, append(deferred, 1));
    EXPECT_THROW(std::move(wrapped)(slot_handler{signal.slot(), &never}), system_error);
    connection.async_receive(pushes, deferred)(slot_handler{cancellation_slot(), &kept});
    connection.cancel();
    run();
    EXPECT_EQ(kept.times, 1);
    EXPECT_EQ(never.times, 0);
}

/// A composed operation with a step that cannot be ended early, and one whose author has said so.
struct one_call {
    redis::connection* connection;
    redis::generic_response* pushes;

    void operator()(auto& self) { connection->async_receive(*pushes, std::move(self)); }
    void operator()(auto& self, error_code ec, std::size_t) { self.complete(ec); }
};
struct one_call_without_slot : one_call {
    static constexpr bool is_cancellable = false;
};
template <class Call, class Token> auto async_call(RedisConnection& t, Token&& token) {
    return async_compose<Token, void(error_code)>(Call{{&t.connection, &t.pushes}}, token);
}
template <class Token> auto async_one_call(RedisConnection& t, Token&& token) {
    return async_compose<Token, void(error_code)>(one_call{&t.connection, &t.pushes}, token);
}

TEST_F(RedisConnection, X5_StepOfAComposedOperationRefusesASlotThatIsConnected) {
    cancellation_signal signal;
    end never, plain, nobodys;
    EXPECT_THROW(async_one_call(*this, bind_cancellation_slot(signal.slot(), never.handler())), system_error);
    async_one_call(*this, plain.handler());
    async_one_call(*this, bind_cancellation_slot(cancellation_slot(), nobodys.handler()));
    connection.cancel();
    run();
    EXPECT_EQ(plain.times, 1);
    EXPECT_EQ(nobodys.times, 1);
    EXPECT_EQ(never.times, 0);
}

awaitable<error_code> call_composed(RedisConnection& t) {
    auto [ec] = co_await async_call<one_call_without_slot>(t, as_tuple);
    co_return ec;
}
awaitable<error_code> call_deferred(RedisConnection& t) {
    auto call = t.connection.async_receive(t.pushes, deferred);
    auto [ec, n] = co_await std::move(call)(as_tuple);
    co_return ec;
}
awaitable<void> call_and_wait(RedisConnection& t, awaitable<error_code> call, std::vector<error_code>& results) {
    results.push_back(co_await std::move(call));
    steady_timer timer(t.context, 1h);
    co_await timer.async_wait();
}

TEST_F(RedisConnection, X5_CoroutineThatIsAskedWaitsForWhatCannotBeEndedEarly) {
    for (auto* const call : {&call_composed, &call_deferred}) {
        cancellation_signal signal;
        std::vector<error_code> results;
        int ends = 0;
        auto const end = [&](std::exception_ptr const& e) { ends += e != nullptr; };
        co_spawn(context, call_and_wait(*this, call(*this), results), bind_cancellation_slot(signal.slot(), end));
        context.poll();
        signal.emit(cancellation_type::terminal);
        context.poll();
        EXPECT_TRUE(results.empty());
        EXPECT_EQ(ends, 0);
        connection.cancel();
        run();
        EXPECT_EQ(results, std::vector{make_error_code(error::operation_aborted)});
        EXPECT_EQ(ends, 1) << "the next await does not begin";
        context.restart();
    }
}

TEST_F(RedisConnection, RequestsThroughSlotsAndLimitsEndOneCallEach) {
    cancellation_signal signal;
    end asked, asked_erased, limited, kept;
    connection.async_exec(request, redis::ignore, bind_cancellation_slot(signal.slot(), asked.handler()));
    signal.emit(cancellation_type::total);
    EXPECT_EQ(connection.pending(), 1U) << "whether it has been executed is not known later";
    signal.emit(cancellation_type::partial);
    EXPECT_EQ(connection.pending(), 0U);
    any_completion_handler<void(error_code, std::size_t)> h =
        bind_cancellation_slot(signal.slot(), asked_erased.handler());
    connection.async_exec(request, redis::ignore, std::move(h));
    signal.emit(cancellation_type::terminal);
    connection.async_exec(request, redis::ignore, cancel_after(1ms, limited.handler()));
    connection.async_exec(request, redis::ignore, kept.handler());
    while (limited.times == 0 && context.run_one_for(10s) != 0) {
    }
    for (auto const* const each : {&asked, &asked_erased, &limited}) {
        EXPECT_EQ(each->times, 1);
        EXPECT_EQ(each->ec, error::operation_aborted) << each->ec.message();
    }
    EXPECT_EQ(kept.times, 0);
    connection.cancel();
    run();
    EXPECT_EQ(kept.times, 1);
}

TEST_F(RedisConnection, ALimitThatIsNotOverKeepsNobodyRunning) {
    end asked;
    request.set_timeout(1h);
    connection.async_exec(request, redis::ignore, asked.handler());
    connection.async_run(config(), ran.handler());
    context.run_for(20ms);
    connection.cancel();
    run();
    EXPECT_EQ(asked.times, 1);
    EXPECT_EQ(ran.times, 1);
}

TEST_F(RedisConnection, ALimitOfTheRunEndsTheSessionAndItsRequests) {
    end asked;
    connection.async_run(config(), cancel_after(1ms, ran.handler()));
    connection.async_exec(request, redis::ignore, asked.handler());
    run();
    EXPECT_EQ(ran.ec, error::operation_aborted);
    EXPECT_EQ(asked.ec, error::operation_aborted);
}

/// Requests to end come from a thread of their own while the calls are made, written and answered.
TEST(RedisConnectionOfThreads, RequestsToEndRaceWithCalls) {
    io_context context;
    redis::server server(context);
    redis::connection connection(context);
    connection.async_run({.address = server.address()}, [](error_code) {});
    redis::request ping;
    ping.push("PING");
    std::thread runs([&] { context.run(); });
    int aborted = 0;
    for (auto round = scaled(2'000, 200); round != 0; --round) {
        cancellation_signal signal;
        std::promise<error_code> ended;
        connection.async_exec(
            ping, redis::ignore,
            bind_cancellation_slot(signal.slot(), [&](error_code ec, std::size_t) { ended.set_value(ec); }));
        signal.emit(cancellation_type::terminal);
        auto const ec = ended.get_future().get();
        EXPECT_TRUE(!ec || ec == error::operation_aborted || ec == redis::error::maybe_executed) << ec.message();
        aborted += ec == error::operation_aborted;
    }
    EXPECT_GT(aborted, 0);
    connection.cancel();
    context.stop();
    runs.join();
}

TEST_F(RedisConnection, X6_CancelBeforeTheFirstRunEndsEverything) {
    end asked, received;
    connection.async_run(config(), ran.handler());
    connection.async_exec(request, redis::ignore, asked.handler());
    connection.async_receive(pushes, received.handler());
    connection.cancel();
    EXPECT_EQ(ran.times + asked.times + received.times, 0)
        << "no handler runs inside an initiating function or cancel()";
    run();
    for (auto const* const each : {&ran, &asked, &received}) {
        EXPECT_EQ(each->times, 1);
        EXPECT_EQ(each->ec, error::operation_aborted) << each->ec.message();
    }
    error_code nobody;
    tcp::socket peer(context);
    listener.non_blocking(true);
    listener.accept(peer, nobody);
    EXPECT_EQ(nobody, error::would_block) << "it must not have connected";
}

TEST_F(RedisConnection, X6_CancelOfARequestBeforeTheFirstRunEndsThatOne) {
    redis::request other;
    other.push("PING");
    end given_up, kept;
    connection.async_exec(request, redis::ignore, given_up.handler());
    connection.async_exec(other, redis::ignore, kept.handler());
    EXPECT_EQ(connection.pending(), 2U);
    EXPECT_EQ(connection.cancel(request), 1U);
    EXPECT_EQ(connection.cancel(request), 0U);
    EXPECT_EQ(connection.pending(), 1U);
    context.poll();
    EXPECT_EQ(given_up.times, 1);
    EXPECT_EQ(given_up.ec, error::operation_aborted);
    EXPECT_EQ(kept.times, 0);
    connection.cancel();
    run();
    EXPECT_EQ(kept.ec, error::operation_aborted);
}

TEST_F(RedisConnection, X6_PendingCountsWhatWasStartedBeforeTheFirstRun) {
    std::deque<end> ends;
    for (std::size_t i = 1; i <= 10'000; ++i) {
        connection.async_exec(request, redis::ignore, ends.emplace_back().handler());
        ASSERT_EQ(connection.pending(), i);
    }
    EXPECT_EQ(connection.cancel(request), ends.size());
    run();
    for (auto const& each : ends)
        EXPECT_EQ(each.times, 1);
}

TEST_F(RedisConnection, X6_CancelAfterRunHasReturnedIsNotLostEither) {
    run(); // There is nothing to do.
    context.restart();
    connection.async_run(config(), ran.handler());
    connection.cancel();
    run();
    EXPECT_EQ(ran.times, 1);
    EXPECT_EQ(ran.ec, error::operation_aborted);
}

TEST_F(RedisConnection, X6_SecondRunIsRefusedAtOnce) {
    end second;
    connection.async_run(config(), ran.handler());
    connection.async_run(second.handler());
    context.poll();
    EXPECT_EQ(second.ec, redis::error::already_running);
    connection.cancel();
    run();
    EXPECT_EQ(ran.ec, error::operation_aborted);
}

TEST_F(RedisConnection, Z7_CancelOfTheOnlyRequestWithoutASessionLetsRunEnd) {
    end asked;
    connection.async_exec(request, redis::ignore, asked.handler());
    context.poll();
    EXPECT_FALSE(context.stopped()) << "a pending request is work";
    EXPECT_EQ(connection.cancel(request), 1U);
    run();
    EXPECT_EQ(asked.ec, error::operation_aborted);
    EXPECT_EQ(asked.times, 1);
}

// A request of another context's coroutine that is still on its way to the connection when that goes.
TEST(RedisConnectionOfAnotherContext, X7_RequestThatIsGivenUpKeepsNobodyRunning) {
    io_context home;
    auto other = std::make_unique<io_context>(1);
    redis::connection connection{*other};
    redis::request request;
    request.push("PING");
    std::promise<void> held, asked;
    post(*other, [&] {
        held.set_value();
        asked.get_future().wait(); // Meanwhile the request can only be posted.
        other->stop();
    });
    std::thread runs([&] { other->run(); });
    held.get_future().wait();
    bool resumed = false;
    co_spawn(
        home,
        [](redis::connection& c, redis::request const& r, bool& back) -> awaitable<void> {
            co_await c.async_exec(r, redis::ignore, as_tuple);
            back = true;
        }(connection, request, resumed),
        detached);
    home.poll();
    EXPECT_FALSE(home.stopped());
    asked.set_value();
    runs.join();
    other.reset();
    home.poll();
    EXPECT_TRUE(home.stopped()) << "nothing keeps it: the request is lost, and the frame with it";
    EXPECT_FALSE(resumed);
}

} // namespace
} // namespace fairlead::test
