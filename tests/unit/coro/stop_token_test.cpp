// this_coro::stop_token: when it is stopped, and how long it listens.
#include <fairlead/coro/stop_token.hpp>

#include <fairlead/coro/offload.hpp>
#include <fairlead/coro/when_any.hpp>
#include <fairlead/exec/thread_pool.hpp>
#include <support/counting_new.hpp>
#include <unit/sync/waiting.hpp>

#include <condition_variable>
#include <latch>
#include <mutex>
#include <optional>
#include <thread>

namespace {

using namespace waiting;

class StopToken : public World {
public:
    template <class F> void start(F f) {
        co_spawn(context, std::move(f), bind_cancellation_slot(signal.slot(), [this](std::exception_ptr e) {
                     log += e ? "aborted" : "ended";
                 }));
    }
    cancellation_signal signal;
};

TEST_F(StopToken, IsStoppedWhenTheCoroutineIsAskedToEnd) {
    std::stop_token token;
    start([&]() -> awaitable<void> {
        token = co_await this_coro::stop_token();
        EXPECT_TRUE(token.stop_possible());
        EXPECT_FALSE(token.stop_requested());
        std::stop_callback const note(token, [this] { log += "callback "; });
        co_await sleep(1h);
    });
    world.at(1s, [this] { signal.emit(cancellation_type::terminal); });
    world.run();
    EXPECT_EQ(log, "callback aborted") << "and what is awaited is asked, too";
    EXPECT_TRUE(token.stop_requested());
    EXPECT_EQ(passed(), 1s);
}

TEST_F(StopToken, TellsOfARequestBeforeIt) {
    start([&]() -> awaitable<void> {
        signal.emit(cancellation_type::terminal);
        EXPECT_TRUE((co_await this_coro::stop_token()).stop_requested());
    });
    world.run();
    EXPECT_EQ(log, "ended");
}

TEST_F(StopToken, HearsWhatTheFiltersLetThrough) {
    start([&]() -> awaitable<void> {
        co_await this_coro::throw_if_cancelled(false);
        auto const terminal = co_await this_coro::stop_token();
        signal.emit(cancellation_type::partial);
        EXPECT_FALSE(terminal.stop_requested());
        co_await this_coro::reset_cancellation_state(enable_partial_cancellation());
        auto const partial = co_await this_coro::stop_token();
        signal.emit(cancellation_type::partial);
        EXPECT_TRUE(partial.stop_requested());
        EXPECT_FALSE(terminal.stop_requested()) << "it listened until the reset";
    });
    world.run();
    EXPECT_EQ(log, "ended");
}

TEST_F(StopToken, TheSecondIsTheFirst) {
    start([&]() -> awaitable<void> {
        auto const first = co_await this_coro::stop_token();
        test::new_counter const allocations;
        for (int i = 0; i != 1000; ++i) {
            auto const again = co_await this_coro::stop_token();
            EXPECT_EQ(again, first);
        }
        EXPECT_EQ(allocations.calls(), 0U);
    });
    world.run();
    EXPECT_EQ(log, "ended");
}

TEST_F(StopToken, OfACoroutineThatNobodyCanAskIsNeverStopped) {
    spawn([this]() -> awaitable<void> {
        EXPECT_FALSE((co_await this_coro::stop_token()).stop_possible());
        log += "end";
    });
    world.run();
    EXPECT_EQ(log, "end");
}

TEST_F(StopToken, APartOfAGroupIsToldByTheGroup) {
    std::stop_token token;
    spawn([&]() -> awaitable<void> {
        auto slow = [&]() -> awaitable<void> {
            token = co_await this_coro::stop_token();
            co_await sleep(1h);
        };
        co_await when_any(slow(), sleep(1s));
        EXPECT_TRUE(token.stop_requested());
        log += "end";
    });
    world.run();
    EXPECT_EQ(log, "end");
    EXPECT_EQ(passed(), 1s);
}

TEST_F(StopToken, MayOutliveItsCoroutine) {
    std::stop_token token;
    start([&]() -> awaitable<void> { token = co_await this_coro::stop_token(); });
    world.run();
    signal.emit(cancellation_type::terminal);
    EXPECT_FALSE(token.stop_requested());
    EXPECT_FALSE(token.stop_possible());
}

TEST(StopTokenOfThreads, EndsAFunctionThatBlocksElsewhere) {
    io_context context;
    thread_pool pool(1);
    cancellation_signal signal;
    std::latch waits(1);
    bool was_stopped = false;
    co_spawn(
        context,
        [&]() -> awaitable<void> {
            auto const token = co_await this_coro::stop_token();
            auto blocks = [&, token] {
                std::mutex m;
                std::condition_variable_any changed;
                std::unique_lock lock(m);
                waits.count_down();
                changed.wait(lock, token, [] { return false; });
                return token.stop_requested();
            };
            co_await this_coro::throw_if_cancelled(false);
            was_stopped = co_await offload(pool, blocks);
        },
        bind_cancellation_slot(signal.slot(), rethrow));
    std::thread asks([&] {
        waits.wait();
        signal.emit(cancellation_type::terminal);
    });
    context.run();
    asks.join();
    EXPECT_TRUE(was_stopped);
}

} // namespace
