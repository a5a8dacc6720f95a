// Time limits of coroutines, groups and scopes: who is asked when, and that no result is lost.
#include <fairlead/scope/cancel_after.hpp>

#include <fairlead/coro/shield.hpp>
#include <fairlead/coro/when_any.hpp>
#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/scope/task_scope.hpp>
#include <fairlead/token/deferred.hpp>
#include <fairlead/token/post.hpp>
#include <unit/sync/waiting.hpp>

#include <atomic>
#include <memory>
#include <stdexcept>

namespace {

using namespace waiting;

class CancelPartAfter : public World {
public:
    awaitable<int> after(steady_clock::duration d, int value) {
        co_await sleep(d);
        co_return value;
    }
    /// Notes how the part ends.
    template <class A> awaitable<void> expect_cut(A part, std::chrono::seconds at) {
        bool was_cut = false;
        try {
            co_await std::move(part);
        } catch (system_error const& e) {
            was_cut = e.code() == error::operation_aborted;
        }
        EXPECT_TRUE(was_cut);
        EXPECT_EQ(passed(), at);
        log += "cut ";
    }
};

TEST_F(CancelPartAfter, ACoroutineThatTakesLongerIsAskedToEnd) {
    spawn([this]() -> awaitable<void> { co_await expect_cut(cancel_after(2s, after(1h, 7)), 2s); });
    world.run();
    EXPECT_EQ(log, "cut ");
    EXPECT_EQ(passed(), 2s);
}

TEST_F(CancelPartAfter, APartThatIsFasterTakesItsLimitAlong) {
    spawn([this]() -> awaitable<void> {
        EXPECT_EQ(co_await cancel_after(10s, after(1s, 7)), 7);
        EXPECT_EQ(co_await cancel_after(0s, after(0s, 8)), 8) << "it was over before the limit began";
    });
    world.run();
    EXPECT_EQ(passed(), 1s) << "nothing waits for the limit any more";
}

TEST_F(CancelPartAfter, WhatThePartThrowsArrives) {
    spawn([this]() -> awaitable<void> {
        auto fails = [this]() -> awaitable<void> {
            co_await sleep(1s);
            throw std::runtime_error("what it was");
        };
        try {
            co_await cancel_after(2s, fails());
        } catch (std::runtime_error const& e) {
            log += e.what();
        }
    });
    world.run();
    EXPECT_EQ(log, "what it was");
}

TEST_F(CancelPartAfter, AResultThatComesAfterTheLimitArrives) {
    spawn([this]() -> awaitable<void> {
        auto takes_its_time = [this]() -> awaitable<int> {
            co_await shield(sleep(3s));
            co_return 7;
        };
        EXPECT_EQ(co_await cancel_after(1s, takes_its_time()), 7);
        EXPECT_EQ(passed(), 3s);
        log += "end";
    });
    world.run();
    EXPECT_EQ(log, "end");
}

TEST_F(CancelPartAfter, LimitsNestAndTheNearestCounts) {
    spawn([this]() -> awaitable<void> {
        auto limited = [this](std::chrono::seconds inner) -> awaitable<int> {
            co_return co_await cancel_after(inner, after(1h, 7));
        };
        co_await expect_cut(cancel_after(2s, limited(10s)), 2s);
        co_await expect_cut(cancel_after(10s, limited(2s)), 4s);
        co_await expect_cut(cancel_after(10s, cancel_after(3s, cancel_after(1h, after(1h, 7)))), 7s);
    });
    world.run();
    EXPECT_EQ(log, "cut cut cut ");
}

TEST_F(CancelPartAfter, ALimitAroundAnOperationInsideIsNeverLaterThanTheOneOutside) {
    spawn([this]() -> awaitable<void> {
        auto waits = [this]() -> awaitable<void> {
            steady_timer t(context, 1h);
            co_await t.async_wait(cancel_after(10s));
        };
        co_await expect_cut(cancel_after(2s, waits()), 2s);
    });
    world.run();
    EXPECT_EQ(log, "cut ");
}

TEST_F(CancelPartAfter, AGroupIsAskedAsAWhole) {
    spawn([this]() -> awaitable<void> {
        co_await expect_cut(cancel_after(2s, when_all(after(1s, 1), after(1h, 2))), 2s);
        auto const won = co_await cancel_after(2s, when_any(after(1s, 1), after(1h, 2)));
        EXPECT_EQ(won.index(), 0U);
        EXPECT_EQ(won.get<0>().value(), 1);
        auto [first, second] = co_await cancel_after(2s, when_all_settled(after(1s, 1), after(1h, 2)));
        EXPECT_EQ(first.value(), 1) << "it had ended before the limit";
        EXPECT_FALSE(second.has_value());
        EXPECT_EQ(passed(), 5s);
    });
    world.run();
    EXPECT_EQ(log, "cut ");
}

TEST_F(CancelPartAfter, AScopeIsAskedWithItsTasks) {
    int ended = 0;
    spawn([this, &ended]() -> awaitable<void> {
        auto task = [this, &ended]() -> awaitable<void> {
            try {
                co_await sleep(1h);
            } catch (system_error const&) {
                ++ended;
            }
        };
        auto body = [&](task_scope<>& s) -> awaitable<void> {
            for (int i = 0; i != 3; ++i)
                co_await s.spawn(task);
        };
        try {
            co_await cancel_after(2s, with_scope(body));
        } catch (system_error const& e) {
            EXPECT_EQ(e.code(), error::operation_aborted);
        }
        EXPECT_EQ(passed(), 2s);
        EXPECT_EQ(ended, 3);
        log += "end";
    });
    world.run();
    EXPECT_EQ(log, "end");
}

TEST_F(CancelPartAfter, ATimeOfAnyClockIsALimit) {
    spawn([this]() -> awaitable<void> {
        co_await expect_cut(cancel_at(world.now() + 2s, after(1h, 7)), 2s);
        EXPECT_EQ(co_await cancel_at(steady_clock::time_point::max(), after(1s, 7)), 7);
        co_await expect_cut(cancel_at(std::chrono::system_clock::time_point::min(), after(1h, 7)), 3s);
    });
    world.run();
    EXPECT_EQ(log, "cut cut ");
}

TEST_F(CancelPartAfter, ThePartIsAskedForTheTypeThatIsGiven) {
    spawn([this]() -> awaitable<void> {
        auto notes = [this]() -> awaitable<cancellation_type> {
            co_await this_coro::reset_cancellation_state(cancellation_filter<cancellation_type::all>(),
                                                         disable_cancellation());
            co_await this_coro::throw_if_cancelled(false);
            co_await sleep(2s);
            auto const state = co_await this_coro::cancellation_state;
            co_return state.cancelled();
        };
        EXPECT_EQ(co_await cancel_after(1s, notes()), cancellation_type::terminal);
        EXPECT_EQ(co_await cancel_after(1s, cancellation_type::partial, notes()), cancellation_type::partial);
        EXPECT_EQ(co_await cancel_at(world.now() + 1s, cancellation_type::total, notes()), cancellation_type::total);
        log += "end";
    });
    world.run();
    EXPECT_EQ(log, "end");
}

TEST_F(CancelPartAfter, ARequestFromOutsideReachesThePart) {
    cancellation_signal signal;
    std::exception_ptr thrown;
    co_spawn(context, cancel_after(1h, after(1h, 7)),
             bind_cancellation_slot(signal.slot(), [&](std::exception_ptr e, int) {
                 thrown = e;
                 EXPECT_EQ(passed(), 1s);
             }));
    world.at(1s, [&] { signal.emit(cancellation_type::terminal); });
    world.run();
    EXPECT_TRUE(thrown);
    EXPECT_EQ(passed(), 1s) << "the limit has gone, too";
}

TEST_F(CancelPartAfter, AnOperationWithoutATokenTakesALimit) {
    spawn([this]() -> awaitable<void> {
        steady_timer t(context, 1h);
        co_await expect_cut(cancel_after(1s, t.async_wait()), 1s);
        co_await expect_cut(cancel_after(1s, cancellation_type::partial, t.async_wait()), 2s);
        co_await expect_cut(cancel_at(world.now() + 1s, t.async_wait()), 3s);
        co_await expect_cut(cancel_at(world.now() + 1s, cancellation_type::total, t.async_wait()), 4s);
    });
    world.run();
    EXPECT_EQ(log, "cut cut cut cut ");
}

TEST_F(CancelPartAfter, APartMayHaveAnyKindOfResult) {
    int place = 3;
    spawn([&place]() -> awaitable<void> {
        auto gives_reference = [&place]() -> awaitable<int&> { co_return place; };
        auto gives_pointer = []() -> awaitable<std::unique_ptr<int>> { co_return std::make_unique<int>(5); };
        co_await cancel_after(1s, gives_reference()) = 4;
        auto const p = co_await cancel_after(1s, gives_pointer());
        EXPECT_EQ(*p, 5);
    });
    world.run();
    EXPECT_EQ(place, 4);
}

TEST_F(CancelPartAfter, ALimitThatHasNotBegunDestroysItsPartUnstarted) {
    int alive = 0;
    struct counted {
        int& n;
        explicit counted(int& count) : n(count) { ++n; }
        counted(counted const& other) : counted(other.n) {}
        ~counted() { --n; }
    };
    auto part = [](counted) -> awaitable<void> { co_return; };
    {
        auto const limited = cancel_after(1s, part(counted(alive)));
        EXPECT_GT(alive, 0);
    }
    EXPECT_EQ(alive, 0);
}

TEST(CancelPartAfterElsewhere, AThreadPoolHasLimits) {
    thread_pool pool(2);
    std::atomic<int> cut = 0;
    for (int i = 0; i != 100; ++i)
        co_spawn(
            pool,
            [&cut]() -> awaitable<void> {
                auto forever = []() -> awaitable<void> {
                    any_io_executor const& executor = co_await this_coro::executor;
                    for (;;)
                        co_await post(executor, deferred);
                };
                try {
                    co_await cancel_after(1ms, forever());
                } catch (system_error const& e) {
                    cut += e.code() == error::operation_aborted;
                }
            },
            detached);
    pool.join();
    EXPECT_EQ(cut, 100);
}

} // namespace
