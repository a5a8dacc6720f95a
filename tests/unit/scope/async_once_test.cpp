#include <fairlead/scope/async_once.hpp>

#include <fairlead/coro/when_all.hpp>
#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/token/use_future.hpp>
#include <support/scale.hpp>
#include <unit/sync/waiting.hpp>

#include <memory>
#include <stdexcept>

namespace {

class AsyncOnce : public waiting::World {
public:
    using duration = std::chrono::seconds;

    /// The function takes `d`, and then writes its name or throws.
    fairlead::awaitable<void> work(char name, duration d, bool succeeds) {
        co_await sleep(d);
        log += name;
        if (!succeeds)
            throw std::runtime_error("not this time");
    }
    void start(char name, duration d, bool succeeds = true) {
        spawn([this, name, d, succeeds]() -> fairlead::awaitable<void> {
            auto const f = [this, name, d, succeeds] { return work(name, d, succeeds); };
            try {
                co_await once.call(f);
                EXPECT_TRUE(once.is_done());
                log += '+';
            } catch (std::runtime_error const&) {
                log += '-';
            }
        });
        EXPECT_FALSE(world.run_for(duration(1)));
    }

    fairlead::async_once once{context};
};

TEST_F(AsyncOnce, TheFirstRunsItAndTheOthersWait) {
    start('a', duration(5));
    start('b', duration(5));
    start('c', duration(5));
    EXPECT_EQ(log, "");
    world.run();
    EXPECT_EQ(log, "a+++");
    EXPECT_EQ(passed(), duration(5));
    spawn([this]() -> fairlead::awaitable<void> {
        auto const f = [this] { return work('d', duration(5), true); };
        co_await once.call(f);
        log += '+';
    });
    world.run();
    EXPECT_EQ(log, "a++++");
}

TEST_F(AsyncOnce, WhenItFailsTheNextOneTries) {
    start('a', duration(5), false);
    start('b', duration(5), false);
    start('c', duration(5));
    start('d', duration(5));
    EXPECT_FALSE(once.is_done());
    world.run();
    EXPECT_EQ(log, "a-b-c++");
    EXPECT_EQ(passed(), duration(15));
}

TEST_F(AsyncOnce, WhenItIsCancelledTheNextOneTries) {
    fairlead::cancellation_signal signal;
    auto const f = [this] { return work('a', duration(9), true); };
    auto ended = [this](std::exception_ptr e) { log += e ? "!" : "?"; };
    co_spawn(context, once.call(f), fairlead::bind_cancellation_slot(signal.slot(), ended));
    start('b', duration(2));
    signal.emit(fairlead::cancellation_type::terminal);
    world.run();
    EXPECT_EQ(log, "!b+");
}

TEST_F(AsyncOnce, OneThatIsCancelledWhileItWaitsChangesNothing) {
    start('a', duration(5));
    fairlead::cancellation_signal signal;
    auto const f = [this] { return work('b', duration(5), true); };
    auto ended = [this](std::exception_ptr e) { log += e ? "!" : "?"; };
    co_spawn(context, once.call(f), fairlead::bind_cancellation_slot(signal.slot(), ended));
    EXPECT_FALSE(world.run_for(duration(1)));
    signal.emit(fairlead::cancellation_type::terminal);
    EXPECT_FALSE(world.run_for(duration(1)));
    EXPECT_EQ(log, "!");
    EXPECT_EQ(once.cancel(), 0U);
    world.run();
    EXPECT_EQ(log, "!a+");
}

TEST_F(AsyncOnce, TakesAnOperationForItsFunction) {
    fairlead::steady_timer t(context, duration(3));
    spawn([&]() -> fairlead::awaitable<void> {
        auto const f = [&t] { return t.async_wait(); };
        co_await once.call(f);
        EXPECT_EQ(passed(), duration(3));
        log += 'x';
    });
    world.run();
    EXPECT_EQ(log, "x");
}

TEST(AsyncOnceOfAPool, RunsOnceAmongThreads) {
    auto const rounds = static_cast<int>(fairlead::test::scaled(2'000, 100));
    fairlead::thread_pool pool(2);
    for (int i = 0; i != rounds; ++i) {
        fairlead::async_once once(pool);
        int calls = 0;
        auto const count = [&]() -> fairlead::awaitable<void> {
            ++calls;
            co_return;
        };
        auto const need = [&]() -> fairlead::awaitable<void> {
            co_await once.call(count);
            EXPECT_EQ(calls, 1);
        };
        auto first = co_spawn(pool, need, fairlead::use_future), second = co_spawn(pool, need, fairlead::use_future);
        first.get();
        second.get();
    }
}

TEST_F(AsyncOnce, IsAPartOfAGroup) {
    spawn([this]() -> fairlead::awaitable<void> {
        auto const f = [this] { return work('a', duration(5), true); };
        auto both = fairlead::when_all(once.call(f), once.call(f));
        co_await std::move(both);
        fairlead::awaitable<void> later = once.call(f);
        co_await std::move(later);
        log += '+';
    });
    world.run();
    EXPECT_EQ(log, "a+");
}

TEST_F(AsyncOnce, IsAwaitedWithoutAFrameOnceItIsDone) {
    spawn([this]() -> fairlead::awaitable<void> {
        auto const f = [this] { return work('a', duration(1), true); };
        co_await once.call(f);
        auto const cached = fairlead::this_thread_recycler_counters().cached;
        auto const items = context.counters().items;
        for (int i = 0; i != 10; ++i) {
            auto call = once.call(f);
            EXPECT_TRUE(call.await_ready());
            co_await std::move(call);
        }
        EXPECT_EQ(fairlead::this_thread_recycler_counters().cached, cached);
        EXPECT_EQ(context.counters().items, items);
        log += '+';
    });
    world.run();
    EXPECT_EQ(log, "a+");
}

} // namespace
