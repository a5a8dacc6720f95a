// Operations of every kind as senders: with limits, with results that move, look-ups, waits for others, coroutines.
#include <fairlead/sender/connected_op.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/net/resolver.hpp>
#include <fairlead/sync/semaphore.hpp>
#include <fairlead/token/deferred.hpp>
#include <unit/sender/receivers.hpp>

#include <optional>
#include <stdexcept>
#include <utility>

namespace {

using namespace senders;

/// Keeps what it gets.
template <class Value> struct keeper : token_recorder {
    std::optional<Value>* kept;
    void set_value(Value v) noexcept { kept->emplace(std::move(v)); }
};

class OperationsAsSenders : public SenderWorld {
public:
    /// Expects that the operation has to wait, and that a stop ends it.
    template <class Op> void expect_stops(Op&& op) {
        log.clear();
        inplace_stop_source asks;
        auto state = connected(std::forward<Op>(op), token_recorder{&log, asks.get_token()});
        execution::start(state);
        world.run_for(1s);
        EXPECT_EQ(log, "");
        asks.request_stop();
        world.run_for(1s);
        EXPECT_EQ(log, "stopped");
    }
};

TEST_F(OperationsAsSenders, ALimitAndAStopBothEndAWait) {
    steady_timer timer(context, 1h);
    expect_stops(timer.async_wait(cancel_after(30min)));
    auto limited = connected(timer.async_wait(cancel_after(3s)), token_recorder{&log, stop.get_token()});
    log.clear();
    auto const before = passed();
    execution::start(limited);
    world.run();
    EXPECT_EQ(log, "stopped");
    EXPECT_EQ(passed() - before, 3s);
}

TEST_F(OperationsAsSenders, AnAcceptedSocketIsMovedToTheReceiver) {
    ip::tcp::acceptor acceptor(context, ip::tcp::endpoint(ip::address_v4::loopback(), 0));
    std::optional<ip::tcp::socket> accepted;
    auto accept = connected(acceptor.async_accept(), keeper<ip::tcp::socket>{{&log, stop.get_token()}, &accepted});
    execution::start(accept);
    ip::tcp::socket client(context);
    auto connect = connected(client.async_connect(acceptor.local_endpoint()), recorder<>{&log});
    execution::start(connect);
    world.run();
    EXPECT_EQ(log, "value");
    ASSERT_TRUE(accepted);
    EXPECT_TRUE(accepted->is_open());
}

TEST_F(OperationsAsSenders, ALookUpSendsItsResults) {
    ip::tcp::resolver resolver(context);
    std::optional<ip::tcp::resolver::results_type> found;
    auto look_up = connected(resolver.async_resolve("localhost", "80"),
                             keeper<ip::tcp::resolver::results_type>{{&log, stop.get_token()}, &found});
    execution::start(look_up);
    world.run();
    EXPECT_EQ(log, "");
    ASSERT_TRUE(found);
    EXPECT_FALSE(found->empty());
}

TEST_F(OperationsAsSenders, WaitsForOthersAreStopped) {
    semaphore permits(context, 0);
    expect_stops(permits.async_acquire());
}

TEST_F(OperationsAsSenders, ACoroutineIsASender) {
    auto body = [](io_context& c) -> awaitable<int> {
        steady_timer t(c, 1s);
        co_await t.async_wait();
        co_return 7;
    };
    auto state = connected(co_spawn(context, body(context), deferred), recorder<>{&log});
    execution::start(state);
    world.run();
    EXPECT_EQ(log, "value 7");

    auto waits = [](io_context& c) -> awaitable<void> {
        steady_timer t(c, 1h);
        co_await t.async_wait();
    };
    expect_stops(co_spawn(context, waits(context), deferred));

    log.clear();
    auto throws = []() -> awaitable<void> {
        throw std::runtime_error("from a coroutine");
        co_return;
    };
    auto failing = connected(co_spawn(context, throws(), deferred), recorder<>{&log});
    execution::start(failing);
    world.run();
    EXPECT_EQ(log, "exception from a coroutine");
}

} // namespace
