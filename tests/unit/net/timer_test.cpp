#include <fairlead/net/timer.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/post.hpp>
#include <support/scale.hpp>
#include <support/users_executor.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;

TEST(SteadyTimer, WaitThatIsPastCompletesWithSuccessButNeverInline) {
    io_context context;
    steady_timer timer(context, -1h);
    bool done = false;
    timer.async_wait([&](error_code ec) {
        EXPECT_FALSE(ec);
        done = true;
    });
    EXPECT_FALSE(done);
    EXPECT_EQ(context.run(), 1U);
    EXPECT_TRUE(done);
}

TEST(SteadyTimer, TakenOverByAnotherTypeOfExecutorCallsItsHandlersThere) {
    using native = io_context::executor_type;
    using users = test::counting_conversion<native>;
    io_context context;
    basic_waitable_timer<steady_clock, wait_traits<steady_clock>, native> first(context, 0s);
    basic_waitable_timer<steady_clock, wait_traits<steady_clock>, users> second(std::move(first));
    users::count = 0;
    second.async_wait([](error_code ec) { EXPECT_FALSE(ec); });
    context.run();
    EXPECT_EQ(users::count, 1);
}

TEST(SteadyTimer, NeverFiresEarly) {
    io_context context;
    for (auto const d : {1us, 50us, 700us, 1500us}) {
        context.restart();
        steady_timer timer(context, d);
        bool late_enough = false;
        timer.async_wait([&](error_code) { late_enough = steady_clock::now() >= timer.expiry(); });
        context.run();
        EXPECT_TRUE(late_enough);
    }
}

TEST(SteadyTimer, DeadlinesExpireInTheirOrder) {
    io_context context;
    auto const start = steady_clock::now();
    std::vector<std::unique_ptr<steady_timer>> timers;
    std::string order;
    for (auto const& [letter, at] : {std::pair{'c', 3us}, {'a', 1us}, {'e', 5us}, {'b', 2us}, {'d', 4us}}) {
        timers.push_back(std::make_unique<steady_timer>(context, start + at));
        timers.back()->async_wait([&order, l = letter](error_code) { order += l; });
    }
    context.run();
    EXPECT_EQ(order, "abcde");
}

TEST(SteadyTimer, EqualDeadlinesExpireInTheOrderOfTheirWaits) {
    io_context context;
    auto const at = steady_clock::now();
    std::vector<std::unique_ptr<steady_timer>> timers;
    std::vector<int> order;
    for (int i = 0; i != 50; ++i)
        timers.push_back(std::make_unique<steady_timer>(context, at));
    post(context, [&] {
        for (int i = 0; i != 50; ++i)
            timers[static_cast<std::size_t>(i * 7 % 50)]->async_wait([&order, i](error_code) { order.push_back(i); });
    });
    context.run();
    for (int i = 0; i != 50; ++i)
        EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

/// Runs `f` inside the context, where operations start at once.
template <class F> void inside(io_context& context, F f) {
    post(context, std::move(f));
    context.run();
    context.restart();
}

TEST(SteadyTimer, CancelAbortsAllWaitsAndSaysHowMany) {
    io_context context;
    steady_timer timer(context, 1h);
    int aborted = 0;
    inside(context, [&] {
        for (int i = 0; i != 3; ++i)
            timer.async_wait([&](error_code ec) { aborted += ec == error::operation_aborted; });
        EXPECT_EQ(timer.cancel(), 3U);
        EXPECT_EQ(timer.cancel(), 0U);
        EXPECT_EQ(aborted, 0) << "not inside cancel()";
    });
    EXPECT_EQ(aborted, 3);
}

TEST(SteadyTimer, CancelOneAbortsInTheOrderOfTheWaits) {
    io_context context;
    steady_timer timer(context, 1h);
    std::string order;
    inside(context, [&] {
        for (char const letter : {'a', 'b', 'c'})
            timer.async_wait([&order, letter](error_code) { order += letter; });
        EXPECT_EQ(timer.cancel_one(), 1U);
        post(context, [&] {
            EXPECT_EQ(order, "a");
            EXPECT_EQ(timer.cancel_one(), 1U);
            EXPECT_EQ(timer.cancel_one(), 1U);
            EXPECT_EQ(timer.cancel_one(), 0U);
        });
    });
    EXPECT_EQ(order, "abc");
}

TEST(SteadyTimer, ChangingTheDeadlineAbortsTheWaitsAndSaysHowMany) {
    io_context context;
    steady_timer timer(context, 1h);
    int aborted = 0;
    inside(context, [&] {
        timer.async_wait([&](error_code ec) { aborted += ec == error::operation_aborted; });
        timer.async_wait([&](error_code ec) { aborted += ec == error::operation_aborted; });
        EXPECT_EQ(timer.expires_after(2h), 2U);
        EXPECT_EQ(timer.expires_at(steady_clock::now()), 0U);
    });
    EXPECT_EQ(aborted, 2);
}

TEST(SteadyTimer, WaitWhoseExpiryIsQueuedCanNoLongerBeCancelled) {
    io_context context;
    auto const at = steady_clock::now() - 1s;
    steady_timer first(context, at), second(context, at);
    std::optional<error_code> got;
    std::size_t cancelled = 99;
    inside(context, [&] {
        first.async_wait([&](error_code) { cancelled = second.cancel(); }); // both have expired in the same turn
        second.async_wait([&](error_code ec) { got = ec; });
    });
    EXPECT_EQ(cancelled, 0U);
    ASSERT_TRUE(got);
    EXPECT_FALSE(*got);
}

TEST(SteadyTimer, HandlerMayRearmItsOwnTimer) {
    io_context context;
    steady_timer timer(context);
    int ticks = 0;
    std::function<void(error_code)> tick = [&](error_code ec) {
        ASSERT_FALSE(ec);
        if (++ticks == 100)
            return;
        timer.expires_at(timer.expiry() + 1ns);
        timer.async_wait(tick);
    };
    timer.expires_after(0s);
    timer.async_wait(tick);
    context.run();
    EXPECT_EQ(ticks, 100);
}

TEST(SteadyTimer, HandlerMayCancelAndDestroyItsOwnTimer) {
    io_context context;
    auto timer = std::make_unique<steady_timer>(context, 0s);
    int other = 0;
    bool destroyed = false;
    timer->async_wait([&](error_code) {
        EXPECT_EQ(timer->cancel(), 0U);
        timer->expires_after(1h);
        timer->async_wait([&](error_code ec) { other += ec == error::operation_aborted; });
        timer.reset();
        destroyed = true;
    });
    context.run();
    EXPECT_TRUE(destroyed);
    EXPECT_EQ(other, 1);
}

TEST(SteadyTimer, DestroyingATimerAbortsItsWaits) {
    io_context context;
    error_code got;
    inside(context, [&] {
        steady_timer timer(context, 1h);
        timer.async_wait([&](error_code ec) { got = ec; });
    });
    EXPECT_EQ(got, error::operation_aborted);
}

TEST(SteadyTimer, MovingATimerKeepsItsWaits) {
    io_context context;
    error_code got;
    bool done = false;
    inside(context, [&] {
        auto first = std::make_unique<steady_timer>(context, 1ms);
        auto const deadline = first->expiry();
        first->async_wait([&](error_code ec) {
            got = ec;
            done = true;
        });
        auto second = std::make_shared<steady_timer>(std::move(*first));
        first.reset();
        EXPECT_EQ(second->expiry(), deadline);
        second->async_wait([second](error_code ec) { EXPECT_FALSE(ec); });
    });
    EXPECT_TRUE(done);
    EXPECT_FALSE(got);
}

TEST(SteadyTimer, MovedTimerStillCancelsWhatWasStartedBefore) {
    io_context context;
    error_code got;
    inside(context, [&] {
        steady_timer first(context, 1h);
        first.async_wait([&](error_code ec) { got = ec; });
        steady_timer second(std::move(first));
        EXPECT_EQ(second.cancel(), 1U);
    });
    EXPECT_EQ(got, error::operation_aborted);
}

TEST(SteadyTimer, MoveAssignmentAbortsTheTargetsOwnWaits) {
    io_context context;
    error_code target, source;
    inside(context, [&] {
        steady_timer a(context, 1h), b(context, -1s);
        a.async_wait([&](error_code ec) { target = ec; });
        b.async_wait([&](error_code ec) { source = ec; });
        a = std::move(b);
        auto& self = a;
        a = std::move(self);
        post(context, [kept = std::make_shared<steady_timer>(std::move(a))] {});
    });
    EXPECT_EQ(target, error::operation_aborted);
}

TEST(SteadyTimer, MovedBeforeRunKeepsItsWaits) {
    io_context context;
    bool done = false;
    auto first = std::make_unique<steady_timer>(context, 1ms);
    first->async_wait([&](error_code ec) { done = !ec; });
    steady_timer const second(std::move(*first));
    first.reset();
    context.run();
    EXPECT_TRUE(done);
}

TEST(SteadyTimer, FarFutureSaturatesInsteadOfFiringAtOnce) {
    io_context context;
    steady_timer timer(context);
    for (auto const d : {steady_clock::duration::max(), steady_clock::duration::max() - 1ns}) {
        timer.expires_after(d);
        EXPECT_GE(timer.expiry(), steady_clock::time_point::max() - 1ns);
        bool fired = false;
        inside(context, [&] {
            timer.async_wait([&](error_code ec) { fired = !ec; });
            post(context, [&] { EXPECT_EQ(timer.cancel(), 1U); });
        });
        EXPECT_FALSE(fired);
    }
}

TEST(SteadyTimer, FarPastSaturatesAndIsDue) {
    io_context context;
    steady_timer timer(context);
    int fired = 0;
    timer.expires_after(steady_clock::duration::min());
    inside(context, [&] { timer.async_wait([&](error_code ec) { fired += !ec; }); });
    timer.expires_at(steady_clock::time_point::min());
    inside(context, [&] { timer.async_wait([&](error_code ec) { fired += !ec; }); });
    EXPECT_EQ(fired, 2);
}

TEST(SteadyTimer, SynchronousWaitReturnsAfterTheDeadline) {
    io_context context;
    steady_timer timer(context, 1ms);
    timer.wait();
    EXPECT_GE(steady_clock::now(), timer.expiry());
    timer.expires_at(steady_clock::time_point::min());
    error_code ec = error::eof;
    timer.wait(ec);
    EXPECT_FALSE(ec);
}

TEST(SteadyTimer, CancelFromAnotherThreadIsPassedOn) {
    io_context context;
    steady_timer timer(context, 1h);
    error_code got;
    std::atomic<bool> armed{false};
    std::thread runner([&] {
        timer.async_wait([&](error_code ec) { got = ec; });
        post(context, [&] { armed = true; });
        context.run();
    });
    while (!armed)
        std::this_thread::yield();
    timer.cancel();
    runner.join();
    EXPECT_EQ(got, error::operation_aborted);
}

TEST(SteadyTimer, RandomOperationsAgreeWithAModel) {
    // Model: which waits are pending, in what order, and what each of them must report in the end.
    constexpr unsigned seed = 4711;
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    io_context context;
    constexpr std::size_t count = 8;
    std::vector<std::unique_ptr<steady_timer>> timers;
    std::vector<std::size_t> pending(count, 0);
    for (std::size_t i = 0; i != count; ++i)
        timers.push_back(std::make_unique<steady_timer>(context, 1h));
    std::uint64_t started = 0, aborted = 0, fired = 0, expected_aborted = 0, expected_fired = 0;
    auto const steps = fairlead::test::scaled(20'000, 1000);
    for (std::uint64_t step = 0; step != steps; ++step) {
        auto const i = random() % count;
        auto const what = random() % 8;
        post(context, [&, i, what] {
            auto& t = *timers[i];
            switch (what) {
            case 0:
                EXPECT_EQ(t.cancel(), pending[i]);
                expected_aborted += std::exchange(pending[i], 0);
                break;
            case 1:
                EXPECT_EQ(t.cancel_one(), pending[i] ? 1U : 0U);
                if (pending[i]) {
                    --pending[i];
                    ++expected_aborted;
                }
                break;
            case 2:
                EXPECT_EQ(t.expires_after(std::chrono::hours(1 + i)), pending[i]);
                expected_aborted += std::exchange(pending[i], 0);
                break;
            case 3: {
                auto moved = std::make_unique<steady_timer>(std::move(t));
                timers[i] = std::move(moved);
                break;
            }
            case 4:
                EXPECT_EQ(t.expires_at(steady_clock::time_point::min()), pending[i]);
                expected_aborted += std::exchange(pending[i], 0);
                ++started;
                ++expected_fired;
                t.async_wait([&](error_code ec) { ++(ec ? aborted : fired); });
                // It is due but not yet queued: another step before the timers are looked at may still cancel it. So
                // the model leaves it alone, by moving the wait to a timer of its own.
                {
                    auto own = std::make_shared<steady_timer>(std::move(t));
                    own->async_wait([own](error_code) {});
                }
                timers[i] = std::make_unique<steady_timer>(context, 1h);
                break;
            default:
                ++started;
                ++pending[i];
                t.async_wait([&](error_code ec) { ++(ec ? aborted : fired); });
            }
        });
        if (step % 16 == 0)
            context.poll();
    }
    context.poll();
    post(context, [&] { timers.clear(); });
    std::uint64_t left = 0;
    context.run();
    for (auto n : pending)
        left += n;
    EXPECT_EQ(aborted, expected_aborted + left);
    EXPECT_EQ(fired, expected_fired);
    EXPECT_EQ(aborted + fired, started);
}

TEST(SteadyTimer, AwaitedWaitThrowsWhenCancelled) {
    io_context context;
    steady_timer timer(context, 1h);
    bool threw = false;
    co_spawn(
        context,
        [](steady_timer& t, bool& out) -> awaitable<void> {
            try {
                co_await t.async_wait();
            } catch (system_error const& e) {
                out = e.code() == error::operation_aborted;
            }
        }(timer, threw),
        detached);
    context.poll(); // A coroutine whose slice is over yields: a function posted here could come before the wait.
    EXPECT_EQ(timer.cancel(), 1U);
    context.run();
    EXPECT_TRUE(threw);
}

TEST(SteadyTimer, TimersOfAnyExecutorAndOfTheContextBothWork) {
    io_context context;
    any_io_executor const e(context.get_executor());
    steady_timer a(e, 0s), b(context, steady_clock::now()), c(e);
    basic_waitable_timer<steady_clock, wait_traits<steady_clock>, io_context::executor_type> d(context.get_executor(),
                                                                                               0s);
    int n = 0;
    a.async_wait([&](error_code) { ++n; });
    b.async_wait([&](error_code) { ++n; });
    c.async_wait([&](error_code) { ++n; });
    d.async_wait([&](error_code) { ++n; });
    EXPECT_EQ(context.run(), 4U);
    EXPECT_EQ(n, 4);
    EXPECT_EQ(a.get_executor(), e);
}

TEST(SteadyTimer, EmptyExecutorIsRefused) { EXPECT_THROW(steady_timer{any_io_executor()}, bad_executor); }

TEST(WaitTraits, DurationsAreThoseOfTheClockAndSaturate) {
    using clock = std::chrono::system_clock;
    using traits = wait_traits<clock>;
    static_assert(std::same_as<system_timer::traits_type, traits>);
    EXPECT_EQ(traits::to_wait_duration(clock::duration(7)), clock::duration(7));
    EXPECT_LT(traits::to_wait_duration(clock::now() - 1h), clock::duration::zero());
    EXPECT_EQ(traits::to_wait_duration(clock::time_point::min()), clock::duration::min());
    EXPECT_GT(traits::to_wait_duration(clock::time_point::max()), clock::duration::zero());
}

TEST(SystemTimer, WaitsUntilATimeOfItsClock) {
    io_context context;
    system_timer t(context);
    auto const at = std::chrono::system_clock::now() + 5ms;
    t.expires_at(at);
    EXPECT_EQ(t.expiry(), at);
    bool expired = false;
    t.async_wait([&](error_code ec) {
        expired = !ec;
        EXPECT_GE(std::chrono::system_clock::now(), at);
    });
    context.run();
    EXPECT_TRUE(expired);
    t.expires_after(-1h);
    t.wait();
    t.expires_at(system_timer::time_point::min()); // further from now than a duration can say
    t.wait();
    t.expires_at(system_timer::time_point::max());
    error_code why;
    t.async_wait([&](error_code ec) { why = ec; });
    EXPECT_EQ(t.cancel(), 1U);
    context.restart();
    context.run();
    EXPECT_EQ(why, error::operation_aborted);
    high_resolution_timer other(context, 1ms);
    other.wait();
}

} // namespace
