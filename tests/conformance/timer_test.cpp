// Timers: order and lower bounds, never how long something took.
#include "driver_under_test.hpp"

#include <fairlead/net/cancel_after.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/token/adapters.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

namespace fairlead::conformance {
namespace {

using namespace std::chrono_literals;

class Timers : public conformance_test {
protected:
    steady_clock::time_point now() { return context().now(); }

    /// The error of a wait of a millisecond with such a limit.
    template <class Limit> error_code limited(Limit const& limit, steady_timer::duration wait = 1ms) {
        steady_timer timer(context(), wait);
        completion waited;
        timer.async_wait(limit(waited.handler()));
        run();
        EXPECT_EQ(waited.count, 1);
        return waited.ec;
    }
    /// As limited(), for a wait that is not over even if the loop gets no turn for a while.
    template <class Limit> error_code limited_at_once(Limit const& limit) { return limited(limit, 1h); }
    /// Whether a wait of a millisecond is over when `run` has run the context.
    template <class Run> bool is_over_after(Run run) {
        steady_timer timer(context(), 1ms);
        completion waited;
        timer.async_wait(waited.handler());
        context().restart();
        run(context());
        bool const is_over = waited.succeeded();
        timer.cancel();
        context().restart();
        context().run(); // `waited` does not outlive this function.
        return is_over;
    }
};

using real_seconds = std::chrono::duration<double>;
constexpr real_seconds for_ever(std::numeric_limits<double>::infinity());
using seconds_point = std::chrono::time_point<steady_clock::time_point::clock, std::chrono::seconds>;
using wall_clock = std::chrono::system_clock;
constexpr std::chrono::sys_days year(int y) { return std::chrono::year(y) / 1 / 1; }

TEST_P(Timers, NeverExpireEarly) {
    each_world([&] {
        for (auto const d : {0ns, 1ns, 999ns, 1'000ns, 1'000'001ns, 3'999'999ns}) {
            steady_timer timer(context(), d);
            auto const deadline = timer.expiry();
            completion waited;
            timer.async_wait(waited.handler());
            run();
            EXPECT_TRUE(waited.succeeded());
            EXPECT_GE(now(), deadline);
        }
    });
}

TEST_P(Timers, AwaitedTimersNeverExpireEarly) {
    each_world([&] {
        int done = 0;
        for (auto const d : {1ms, 3ms, 2ms})
            spawn([&, d]() -> awaitable<void> {
                steady_timer timer(context());
                for (int i = 0; i != 3; ++i) {
                    auto const begin = steady_clock::now();
                    timer.expires_after(d);
                    co_await timer.async_wait();
                    EXPECT_GE(steady_clock::now() - begin, d);
                }
                ++done;
            });
        run();
        EXPECT_EQ(done, 3);
    });
}

TEST_P(Timers, DeadlinesExpireInTheirOrder) {
    each_world([&] {
        std::vector<std::unique_ptr<steady_timer>> timers;
        std::vector<int> order;
        auto const begin = now();
        for (int const ms : {7, 3, 9, 1, 5, 8, 2, 6, 4}) {
            timers.push_back(std::make_unique<steady_timer>(context(), begin + ms * 1ms));
            timers.back()->async_wait([&, ms](error_code ec) {
                EXPECT_FALSE(ec);
                EXPECT_GE(now(), begin + ms * 1ms);
                order.push_back(ms);
            });
        }
        run();
        if (differs("runnable-in-any-order"))
            std::sort(order.begin(), order.end()); // several may expire in one turn
        EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8, 9}));
    });
}

TEST_P(Timers, EqualDeadlinesExpireInTheOrderOfTheirWaits) {
    each_world([&] {
        auto const at = now() + 1ms;
        steady_timer one(context(), at), two(context(), at);
        std::vector<int> order, expected;
        for (int i = 0; i != 40; ++i) {
            (i % 3 ? one : two).async_wait([&, i](error_code) { order.push_back(i); });
            expected.push_back(i);
        }
        run();
        if (differs("runnable-in-any-order"))
            std::sort(order.begin(), order.end());
        EXPECT_EQ(order, expected);
    });
}

TEST_P(Timers, ManyTimersExpireOrAreAbortedEachOnce) {
    each_world([&] {
        constexpr int count = 2'000;
        std::vector<std::unique_ptr<steady_timer>> timers;
        int expired = 0, aborted = 0;
        auto const begin = now();
        for (int i = 0; i != count; ++i) {
            auto const d = std::chrono::microseconds((i * 7919) % 5'000);
            timers.push_back(std::make_unique<steady_timer>(context(), begin + 1ms + d));
            timers.back()->async_wait([&, d](error_code ec) {
                if (ec) {
                    EXPECT_EQ(ec, error::operation_aborted);
                    ++aborted;
                } else {
                    EXPECT_GE(now(), begin + 1ms + d);
                    ++expired;
                }
            });
        }
        std::size_t cancelled = 0;
        for (std::size_t i = 0; i < count; i += 3)
            cancelled += timers[i]->cancel();
        EXPECT_EQ(cancelled, 667U) << "a third, rounded up";
        run();
        EXPECT_EQ(aborted, 667);
        EXPECT_EQ(expired, count - 667);
    });
}

TEST_P(Timers, PastDeadlinesCompleteButNotInsideTheCall) {
    each_world([&] {
        steady_timer timer(context(), now() - 1h);
        completion first, second;
        timer.async_wait(first.handler());
        EXPECT_EQ(first.count, 0);
        run();
        EXPECT_TRUE(first.succeeded());
        timer.async_wait(second.handler()); // a deadline that has expired stays expired
        EXPECT_EQ(second.count, 0);
        run();
        EXPECT_TRUE(second.succeeded());
        steady_timer fresh(context()); // the clock's beginning
        completion third;
        fresh.async_wait(third.handler());
        run();
        EXPECT_TRUE(third.succeeded());
    });
}

TEST_P(Timers, FarFuturesAndPastsSaturate) {
    each_world([&] {
        steady_timer never(context()), always(context());
        never.expires_after(steady_timer::duration::max());
        EXPECT_EQ(never.expiry(), steady_timer::time_point::max());
        always.expires_after(steady_timer::duration::min());
        EXPECT_LT(always.expiry(), now());
        completion late, early;
        never.async_wait(late.handler());
        always.async_wait(early.handler());
        run_until([&] { return early.count != 0; });
        EXPECT_TRUE(early.succeeded());
        settle();
        EXPECT_EQ(late.count, 0);
        never.expires_at(steady_timer::time_point::max());
        run();
        EXPECT_EQ(late.ec, error::operation_aborted);
        always.expires_at(steady_timer::time_point::min());
        completion again;
        always.async_wait(again.handler());
        run();
        EXPECT_TRUE(again.succeeded());
    });
}

TEST_P(Timers, LimitFarAwayIsNoLimit) {
    each_world([&] {
        using namespace std::chrono;
        EXPECT_FALSE(limited(cancel_after(nanoseconds::max())));
        EXPECT_FALSE(limited(cancel_after(hours::max())));
        EXPECT_FALSE(limited(cancel_after(for_ever)));
        EXPECT_FALSE(limited(cancel_at(steady_clock::time_point::max())));
        EXPECT_FALSE(limited(cancel_at(seconds_point::max())));
        EXPECT_FALSE(limited(cancel_at(wall_clock::time_point::max())));
        EXPECT_FALSE(limited(cancel_at(year(2500))));
        EXPECT_FALSE(limited(cancel_at(year(9999))));
        steady_timer own(context());
        EXPECT_FALSE(limited(cancel_after(own, hours::max())));
        EXPECT_FALSE(limited(cancel_after(own, for_ever)));
        EXPECT_FALSE(limited(cancel_at(own, seconds_point::max())));
        system_timer wall(context());
        EXPECT_FALSE(limited(cancel_after(wall, hours::max())));
        EXPECT_FALSE(limited(cancel_at(wall, year(9999))));
    });
}

TEST_P(Timers, LimitFarInThePastEndsAtOnce) {
    each_world([&] {
        using namespace std::chrono;
        EXPECT_EQ(limited_at_once(cancel_after(nanoseconds::min())), error::operation_aborted);
        EXPECT_EQ(limited_at_once(cancel_after(hours::min())), error::operation_aborted);
        EXPECT_EQ(limited_at_once(cancel_after(-for_ever)), error::operation_aborted);
        EXPECT_EQ(limited_at_once(cancel_at(steady_clock::time_point::min())), error::operation_aborted);
        EXPECT_EQ(limited_at_once(cancel_at(seconds_point::min())), error::operation_aborted);
        EXPECT_EQ(limited_at_once(cancel_at(wall_clock::time_point::min())), error::operation_aborted);
        EXPECT_EQ(limited_at_once(cancel_at(year(1066))), error::operation_aborted);
        steady_timer own(context());
        EXPECT_EQ(limited_at_once(cancel_after(own, hours::min())), error::operation_aborted);
        EXPECT_EQ(limited_at_once(cancel_at(own, seconds_point::min())), error::operation_aborted);
        system_timer wall(context());
        EXPECT_EQ(limited_at_once(cancel_at(wall, year(1066))), error::operation_aborted);
    });
}

TEST_P(Timers, RunUntilAFarTimeRunsUntilTheEnd) {
    each_world([&] {
        using namespace std::chrono;
        EXPECT_TRUE(is_over_after([](io_context& c) { c.run_for(nanoseconds::max()); }));
        EXPECT_TRUE(is_over_after([](io_context& c) { c.run_for(hours::max()); }));
        EXPECT_TRUE(is_over_after([](io_context& c) { c.run_for(for_ever); }));
        EXPECT_TRUE(is_over_after([](io_context& c) { c.run_one_for(hours::max()); }));
        EXPECT_TRUE(is_over_after([](io_context& c) { c.run_until(steady_clock::time_point::max()); }));
        EXPECT_TRUE(is_over_after([](io_context& c) { c.run_until(seconds_point::max()); }));
        EXPECT_TRUE(is_over_after([](io_context& c) { c.run_until(wall_clock::time_point::max()); }));
        EXPECT_TRUE(is_over_after([](io_context& c) { c.run_until(year(2500)); }));
        EXPECT_TRUE(is_over_after([](io_context& c) { c.run_one_until(year(9999)); }));
        EXPECT_FALSE(is_over_after([](io_context& c) { c.run_for(hours::min()); }));
        EXPECT_FALSE(is_over_after([](io_context& c) { c.run_for(-for_ever); }));
        EXPECT_FALSE(is_over_after([](io_context& c) { c.run_until(steady_clock::time_point::min()); }));
        EXPECT_FALSE(is_over_after([](io_context& c) { c.run_until(wall_clock::time_point::min()); }));
        EXPECT_FALSE(is_over_after([](io_context& c) { c.run_one_until(seconds_point::min()); }));
    });
}

TEST_P(Timers, TimersTakeFarTimesOfEveryUnit) {
    each_world([&] {
        using namespace std::chrono;
        steady_timer never(context(), hours::max());
        EXPECT_EQ(never.expiry(), steady_clock::time_point::max());
        never.expires_at(steady_clock::time_point());
        never.expires_after(seconds::max());
        EXPECT_EQ(never.expiry(), steady_clock::time_point::max());
        never.expires_at(steady_clock::time_point());
        never.expires_at(seconds_point::max());
        EXPECT_EQ(never.expiry(), steady_clock::time_point::max());
        system_timer wall(context(), hours::max());
        wall.expires_at(year(9999));
        EXPECT_EQ(wall.expiry(), wall_clock::time_point::max());
        completion one, two;
        never.async_wait(one.handler());
        wall.async_wait(two.handler());
        settle();
        EXPECT_EQ(one.count + two.count, 0);
        never.expires_after(hours::min());
        wall.expires_at(year(1066));
        run();
        EXPECT_EQ(one.ec, error::operation_aborted);
        EXPECT_EQ(two.ec, error::operation_aborted);
        completion three, four;
        never.async_wait(three.handler());
        wall.async_wait(four.handler());
        run();
        EXPECT_TRUE(three.succeeded());
        EXPECT_TRUE(four.succeeded());
    });
}

TEST_P(Timers, SeveralWaitsOfOneTimerAllComplete) {
    each_world([&] {
        steady_timer timer(context(), 1ms);
        completion waits[5];
        for (auto& w : waits)
            timer.async_wait(w.handler());
        run();
        for (auto const& w : waits)
            EXPECT_TRUE(w.succeeded());
    });
}

TEST_P(Timers, CancelAbortsAllWaitsAndSaysHowMany) {
    each_world([&] {
        steady_timer timer(context(), 1h);
        completion waits[3];
        for (auto& w : waits)
            timer.async_wait(w.handler());
        EXPECT_EQ(timer.cancel(), 3U);
        EXPECT_EQ(timer.cancel(), 0U);
        for (auto const& w : waits)
            EXPECT_EQ(w.count, 0) << "not inside cancel()";
        run();
        for (auto const& w : waits) {
            EXPECT_EQ(w.count, 1);
            EXPECT_EQ(w.ec, error::operation_aborted);
        }
    });
}

TEST_P(Timers, CancelOneAbortsTheFirst) {
    each_world([&] {
        steady_timer timer(context(), 1h);
        completion waits[3];
        for (auto& w : waits)
            timer.async_wait(w.handler());
        for (int i = 0; i != 3; ++i) {
            EXPECT_EQ(timer.cancel_one(), 1U);
            run_until([&] { return waits[i].count != 0; });
            EXPECT_EQ(waits[i].ec, error::operation_aborted);
            for (int k = i + 1; k != 3; ++k)
                EXPECT_EQ(waits[k].count, 0);
        }
        EXPECT_EQ(timer.cancel_one(), 0U);
    });
}

TEST_P(Timers, ChangingTheDeadlineAbortsTheWaitsAndSaysHowMany) {
    each_world([&] {
        steady_timer timer(context(), 1h);
        completion old[2], fresh;
        for (auto& w : old)
            timer.async_wait(w.handler());
        EXPECT_EQ(timer.expires_after(1ms), 2U);
        auto const deadline = timer.expiry();
        timer.async_wait(fresh.handler());
        run();
        for (auto const& w : old)
            EXPECT_EQ(w.ec, error::operation_aborted);
        EXPECT_TRUE(fresh.succeeded());
        EXPECT_GE(now(), deadline);
        EXPECT_EQ(timer.expires_at(now()), 0U);
    });
}

TEST_P(Timers, WaitThatHasExpiredCanNoLongerBeCancelled) {
    each_world([&] {
        steady_timer first(context(), now() - 2s), second(context(), now() - 1s);
        completion done[2];
        std::size_t cancelled = 99;
        // The one that runs first finds the other one expired.
        first.async_wait([&](error_code ec) {
            done[0].handler()(ec);
            if (done[1].count == 0)
                cancelled = second.cancel();
        });
        second.async_wait([&](error_code ec) {
            done[1].handler()(ec);
            if (done[0].count == 0)
                cancelled = first.cancel();
        });
        run();
        EXPECT_EQ(cancelled, 0U);
        EXPECT_TRUE(done[0].succeeded());
        EXPECT_TRUE(done[1].succeeded());
    });
}

TEST_P(Timers, HandlerMayRearmCancelAndDestroyItsTimer) {
    each_world([&] {
        auto timer = std::make_unique<steady_timer>(context());
        int rounds = 0;
        std::function<void(error_code)> again = [&](error_code ec) {
            EXPECT_FALSE(ec);
            EXPECT_EQ(timer->cancel(), 0U) << "this wait is over";
            if (++rounds == 100) {
                timer.reset();
                return;
            }
            timer->expires_at(timer->expiry() + 10us);
            timer->async_wait([&](error_code e) { again(e); });
        };
        timer->expires_after(10us);
        timer->async_wait([&](error_code e) { again(e); });
        run();
        EXPECT_EQ(rounds, 100);
    });
}

TEST_P(Timers, DestroyingATimerAbortsItsWaits) {
    each_world([&] {
        completion waited;
        {
            steady_timer timer(context(), 1h);
            timer.async_wait(waited.handler());
        }
        EXPECT_EQ(waited.count, 0);
        run();
        EXPECT_EQ(waited.count, 1);
        EXPECT_EQ(waited.ec, error::operation_aborted);
    });
}

TEST_P(Timers, MovedTimerTakesItsWaitsAlong) {
    each_world([&] {
        steady_timer first(context(), 2ms);
        completion waited, victim, aborted;
        first.async_wait(waited.handler());
        auto const deadline = first.expiry();
        steady_timer second(std::move(first));
        EXPECT_EQ(second.expiry(), deadline);
        steady_timer third(context(), 1h);
        third.async_wait(victim.handler());
        third = std::move(second); // its own wait is given up
        run();
        EXPECT_EQ(victim.ec, error::operation_aborted);
        EXPECT_TRUE(waited.succeeded());
        EXPECT_GE(now(), deadline);
        third.expires_after(1h);
        third.async_wait(aborted.handler());
        steady_timer fourth(std::move(third));
        EXPECT_EQ(fourth.cancel(), 1U);
        run();
        EXPECT_EQ(aborted.ec, error::operation_aborted);
    });
}

TEST_P(Timers, WaitInTheCallingThreadReturnsAfterTheDeadline) {
    each_world([&] {
        steady_timer timer(context(), 1ms);
        auto const deadline = timer.expiry();
        error_code ec;
        timer.wait(ec);
        if (differs("nothing-blocks")) {
            EXPECT_EQ(ec, std::errc::operation_not_supported);
        } else {
            EXPECT_FALSE(ec);
            EXPECT_GE(now(), deadline);
        }
    });
}

TEST_P(Timers, RunUntilATimeReturnsNoSoonerAndRunsWhatWasDue) {
    each_world([&] {
        steady_timer soon(context(), 1ms), late(context(), 1h);
        completion first, second;
        soon.async_wait(first.handler());
        late.async_wait(second.handler());
        auto const until = now() + 3ms;
        context().restart();
        context().run_until(until);
        EXPECT_GE(now(), until);
        EXPECT_TRUE(first.succeeded());
        EXPECT_EQ(second.count, 0);
        late.cancel();
        run();
        EXPECT_EQ(second.ec, error::operation_aborted);
    });
}

INSTANTIATE_TEST_SUITE_P(Conformance, Timers, testing::ValuesIn(every_driver()), name_of);

} // namespace
} // namespace fairlead::conformance
