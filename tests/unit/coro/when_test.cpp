// when_all, when_all_settled and when_any: what they complete with, who is asked to end, and that nothing is lost.
#include <fairlead/coro/when_any.hpp>

#include <fairlead/exec/recycler.hpp>
#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/net/ip.hpp>
#include <fairlead/net/local.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/sim/world.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>
#include <fairlead/token/deferred.hpp>
#include <fairlead/token/detached.hpp>
#include <fairlead/token/post.hpp>

#include <catalogue/small_stack.hpp>
#include <support/scale.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using local_socket = local::stream_protocol::socket;

struct some_failure : std::runtime_error {
    some_failure() : std::runtime_error("some failure") {}
};

class When : public testing::Test {
public:
    awaitable<int> after(steady_clock::duration d, int value) {
        ++begun;
        steady_timer t(context, d);
        co_await t.async_wait();
        ++ended;
        co_return value;
    }
    awaitable<int> fail_after(steady_clock::duration d) {
        ++begun;
        steady_timer t(context, d);
        co_await t.async_wait();
        throw some_failure();
    }
    awaitable<void> note(char const* what) {
        log += what;
        co_return;
    }
    template <class F> void run(F f) {
        bool done = false;
        co_spawn(context, std::move(f), bind_cancellation_slot(signal.slot(), [&](std::exception_ptr e) {
                     done = true;
                     thrown = e;
                 }));
        world.run();
        EXPECT_TRUE(done);
    }
    void expect_no_error() {
        if (thrown)
            std::rethrow_exception(thrown);
    }
    /// Whole seconds: in a simulated world what runs takes a little time, too.
    std::chrono::seconds passed() const { return std::chrono::floor<std::chrono::seconds>(world.now() - created); }

    sim::world world{1};
    io_context& context = world.context();
    steady_clock::time_point const created = world.now();
    cancellation_signal signal;
    std::exception_ptr thrown;
    int begun = 0, ended = 0;
    std::string log;
};

TEST_F(When, AllGivesTheValuesInTheirPlaces) {
    run([this]() -> awaitable<void> {
        steady_timer t(context, 2s);
        local_socket near(context), far(context);
        local::connect_pair(near, far);
        char place[4];
        far.write_some(buffer("abc", 3));
        auto [first, nothing, n] =
            co_await when_all(after(3s, 7), t.async_wait(), near.async_read_some(buffer(place, 1)));
        static_assert(std::is_same_v<decltype(nothing), std::monostate>);
        EXPECT_EQ(first, 7);
        EXPECT_EQ(n, 1U);
    });
    expect_no_error();
    EXPECT_EQ(passed(), 3s);
}

TEST_F(When, AllThrowsTheFirstFailureWhenTheOthersHaveEnded) {
    run([this]() -> awaitable<void> {
        steady_timer t(context, 1h);
        try {
            co_await when_all(after(1h, 1), fail_after(2s), t.async_wait(), fail_after(3s));
            ADD_FAILURE() << "nothing was thrown";
        } catch (some_failure const&) {
            log = "failed";
        }
        EXPECT_EQ(t.cancel(), 0U) << "a part is still waiting";
    });
    expect_no_error();
    EXPECT_EQ(log, "failed");
    EXPECT_EQ(passed(), 2s);
    EXPECT_EQ(begun, 3);
    EXPECT_EQ(ended, 0);
}

TEST_F(When, AfterAFailureNothingElseStarts) {
    run([this]() -> awaitable<void> {
        struct coroutine {
            static awaitable<void> fail() {
                throw some_failure();
                co_return;
            }
        };
        EXPECT_THROW(co_await when_all(note("a"), coroutine::fail(), note("b")), some_failure);
    });
    expect_no_error();
    EXPECT_EQ(log, "a");
}

TEST_F(When, SettledTellsHowEachHasEnded) {
    run([this]() -> awaitable<void> {
        steady_timer t(context, 1s);
        auto [value, failure, waited] = co_await when_all_settled(after(3s, 7), fail_after(2s), t.async_wait());
        EXPECT_EQ(value.value(), 7);
        EXPECT_FALSE(failure);
        EXPECT_THROW(failure.value(), some_failure);
        EXPECT_TRUE(waited);
    });
    expect_no_error();
    EXPECT_EQ(passed(), 3s);
}

TEST_F(When, AnyEndsTheOthersAndWaitsForThem) {
    run([this]() -> awaitable<void> {
        steady_timer limit(context, 1h);
        auto won = co_await when_any(after(2h, 1), after(1s, 2), limit.async_wait());
        EXPECT_EQ(won.index(), 1U);
        EXPECT_EQ(won.get<1>().value(), 2);
        EXPECT_FALSE(won.get<0>());
        EXPECT_FALSE(won.get<2>());
        EXPECT_THROW(won.get<2>().value(), system_error);
        EXPECT_EQ(won.get<2>().error(), nullptr);
        EXPECT_EQ(limit.cancel(), 0U) << "a part is still waiting";
    });
    expect_no_error();
    EXPECT_EQ(passed(), 1s);
    EXPECT_EQ(ended, 1);
}

TEST_F(When, AnyStartsNothingMoreOnceOneHasEnded) {
    run([this]() -> awaitable<void> {
        local_socket near(context), far(context);
        local::connect_pair(near, far);
        char place[4];
        far.write_some(buffer("abc", 3));
        co_await near.async_wait(local_socket::wait_read);
        auto won = co_await when_any(near.async_read_some(buffer(place)), note("a"));
        EXPECT_EQ(won.index(), 0U);
        EXPECT_GE(won.get<0>().value(), 1U);
        EXPECT_FALSE(won.get<1>());
        auto next = co_await when_any(note("b"), note("c"));
        EXPECT_EQ(next.index(), 0U);
    });
    expect_no_error();
    EXPECT_EQ(log, "b");
    EXPECT_EQ(passed(), 0s);
}

TEST_F(When, AnyThrowsTheFirstFailureIfNobodyHasAValue) {
    run([this]() -> awaitable<void> { EXPECT_THROW(co_await when_any(after(1h, 1), fail_after(2s)), some_failure); });
    expect_no_error();
    EXPECT_EQ(passed(), 2s);
}

TEST_F(When, AFailureDoesNotHideAValueThatCameAllTheSame) {
    struct coroutine {
        static awaitable<int> insistent(io_context& c) {
            co_await this_coro::reset_cancellation_state(disable_cancellation());
            steady_timer t(c, 5s);
            co_await t.async_wait();
            co_return 9;
        }
    };
    run([this]() -> awaitable<void> {
        auto won = co_await when_any(fail_after(2s), coroutine::insistent(context));
        EXPECT_EQ(won.index(), 1U);
        EXPECT_EQ(won.get<1>().value(), 9);
        EXPECT_THROW(won.get<0>().value(), some_failure);
    });
    expect_no_error();
    EXPECT_EQ(passed(), 5s);
}

TEST_F(When, AnySuccessLetsFailuresPass) {
    run([this]() -> awaitable<void> {
        auto won = co_await when_any_success(fail_after(1s), after(3s, 7), after(1h, 8));
        EXPECT_EQ(won.index(), 1U);
        EXPECT_EQ(won.get<1>().value(), 7);
        EXPECT_FALSE(won.get<2>());
        EXPECT_THROW(won.get<0>().value(), some_failure);
        EXPECT_THROW(co_await when_any_success(fail_after(1s), fail_after(2s)), some_failure);
        std::vector<awaitable<int>> parts;
        parts.push_back(fail_after(1s));
        parts.push_back(after(2s, 9));
        auto of_range = co_await when_any_success(std::move(parts));
        EXPECT_EQ(of_range.index(), 1U);
        EXPECT_EQ(of_range.value(), 9);
    });
    expect_no_error();
    EXPECT_EQ(passed(), 7s);
}

TEST_F(When, RangesOfCoroutinesAndOfOperations) {
    run([this]() -> awaitable<void> {
        std::vector<awaitable<int>> parts;
        for (int i = 0; i != 100; ++i)
            parts.push_back(after(1s * (100 - i), i));
        auto const values = co_await when_all(std::move(parts));
        EXPECT_EQ(values.size(), 100U);
        for (int i = 0; i != 100; ++i)
            EXPECT_EQ(values[static_cast<std::size_t>(i)], i);
        EXPECT_EQ(passed(), 100s);

        std::vector<std::unique_ptr<steady_timer>> timers;
        std::vector<decltype(timers[0]->async_wait())> waits;
        for (int i = 0; i != 100; ++i) {
            timers.push_back(std::make_unique<steady_timer>(context, 1s * (1 + (i + 50) % 100)));
            waits.push_back(timers.back()->async_wait());
        }
        auto won = co_await when_any(std::move(waits));
        EXPECT_EQ(won.index(), 50U);
        int values_of_any = 0;
        for (std::size_t i = 0; i != won.size(); ++i)
            values_of_any += won[i].has_value();
        EXPECT_EQ(values_of_any, 1);
        EXPECT_EQ(passed(), 101s);
    });
    expect_no_error();
}

TEST_F(When, NoneOfARange) {
    run([this]() -> awaitable<void> {
        auto const none = co_await when_all(std::vector<awaitable<int>>());
        EXPECT_TRUE(none.empty());
        auto const any = co_await when_any(std::vector<awaitable<int>>());
        EXPECT_EQ(any.size(), 0U);
        log = "done";
    });
    expect_no_error();
    EXPECT_EQ(log, "done");
}

TEST_F(When, GroupsAreParts) {
    run([this]() -> awaitable<void> {
        auto won = co_await when_any(when_all(after(1h, 1), after(2h, 2)),
                                     when_all(after(1s, 3), when_any(after(2s, 4), after(1h, 5))));
        EXPECT_EQ(won.index(), 1U);
        auto& [three, four] = won.get<1>().value();
        EXPECT_EQ(three, 3);
        EXPECT_EQ(four.index(), 0U);
        EXPECT_EQ(four.get<0>().value(), 4);
    });
    expect_no_error();
    EXPECT_EQ(passed(), 2s);
    EXPECT_EQ(ended, 2);
}

TEST_F(When, ADeepTreeOfGroupsEndsOnASmallStack) {
    struct coroutine {
        static awaitable<int> grow(When& t, int depth) {
            if (depth == 0)
                co_return co_await t.after(1h, 1);
            steady_timer limit(t.context, 2h);
            auto won = co_await when_any(limit.async_wait(), grow(t, depth - 1));
            co_return won.template get<1>().value();
        }
    };
    fairlead::test::on_small_stack([this] {
        world.at(1s, [this] { signal.emit(cancellation_type::terminal); });
        run([this]() -> awaitable<void> {
            co_await coroutine::grow(*this, static_cast<int>(test::scaled(20'000, 2'000)));
            ADD_FAILURE() << "nobody was asked";
        });
    });
    EXPECT_TRUE(thrown);
    EXPECT_EQ(passed(), 1s);
}

TEST_F(When, ARequestReachesAllParts) {
    world.at(1s, [this] { signal.emit(cancellation_type::terminal); });
    run([this]() -> awaitable<void> {
        steady_timer t(context, 1h);
        auto [a, b] = co_await when_all_settled(after(1h, 1), t.async_wait());
        EXPECT_FALSE(a);
        EXPECT_FALSE(b);
        log = "settled";
    });
    expect_no_error();
    EXPECT_EQ(log, "settled");
    EXPECT_EQ(passed(), 1s);
}

TEST_F(When, WhatALoserHadGotArrives) {
    // The bytes of both are there in the same turn: one wins, and those of the other one arrive, too.
    io_context own;
    co_spawn(
        own,
        [&]() -> awaitable<void> {
            local_socket a(own), b(own), c(own), d(own);
            local::connect_pair(a, b);
            local::connect_pair(c, d);
            post(own, [&] {
                b.write_some(buffer("one", 3));
                d.write_some(buffer("three", 5));
            });
            char first[3], second[5];
            auto won = co_await when_any(a.async_read_some(buffer(first)), c.async_read_some(buffer(second)));
            EXPECT_EQ(won.get<0>().value(), 3U);
            EXPECT_EQ(won.get<1>().value(), 5U);
            log = std::string(first, 3) + std::string(second, 5);
        },
        rethrow);
    own.run();
    EXPECT_EQ(log, "onethree");
}

TEST_F(When, OperationsOfAGroupTakeNoBlocks) {
    // Blocks that are in use while the coroutine waits, beside those of its frame.
    auto const held_in_a_wait = [this](bool of_group) {
        std::uint64_t before = 0, during = 0;
        run([&]() -> awaitable<void> {
            local_socket near(context), far(context);
            local::connect_pair(near, far);
            steady_timer limit(context, 1h), other(context, 2s);
            char place[4];
            world.at(passed() + 1s, [&] { during = this_thread_recycler_counters().cached; });
            before = this_thread_recycler_counters().cached;
            if (of_group) {
                auto won =
                    co_await when_any(near.async_read_some(buffer(place)), limit.async_wait(), other.async_wait());
                EXPECT_EQ(won.index(), 2U);
            } else {
                co_await other.async_wait();
            }
        });
        expect_no_error();
        return before - during;
    };
    held_in_a_wait(true); // Warms up.
    EXPECT_EQ(held_in_a_wait(true), held_in_a_wait(false));
}

TEST_F(When, ComposedOperationsAndThoseOfOtherExecutors) {
    thread_pool pool(2);
    io_context own;
    bool done = false;
    co_spawn(
        own,
        [&]() -> awaitable<void> {
            local_socket near(own), far(own);
            local::connect_pair(near, far);
            std::string text;
            auto won = co_await when_any(async_read_until(near, dynamic_buffer(text), "\r\n"),
                                         co_spawn(pool, []() -> awaitable<int> { co_return 5; }, deferred));
            EXPECT_EQ(won.index(), 1U);
            EXPECT_EQ(won.get<1>().value(), 5);
            far.write_some(buffer("a\r\n", 3));
            auto [n, nothing] =
                co_await when_all(async_read_until(near, dynamic_buffer(text), "\r\n"), post(pool, deferred));
            EXPECT_EQ(n, 3U);
            (void)nothing;
            done = true;
        },
        rethrow);
    own.run();
    EXPECT_TRUE(done);
}

TEST_F(When, TheContextsEndDestroysIt) {
    struct counted {
        int& n;
        explicit counted(int& c) : n(c) { ++n; }
        counted(counted const&) = delete;
        ~counted() { --n; }
    };
    int alive = 0;
    {
        io_context own;
        co_spawn(
            own,
            [&]() -> awaitable<void> {
                counted const here(alive);
                local_socket near(own), far(own);
                local::connect_pair(near, far);
                steady_timer t(own, 1h);
                char place[1];
                std::string text;
                co_await when_any(t.async_wait(), near.async_read_some(buffer(place)),
                                  async_read_until(far, dynamic_buffer(text), "\n"),
                                  [](io_context& c, int& alive_too) -> awaitable<void> {
                                      counted const there(alive_too);
                                      steady_timer t2(c, 1h);
                                      co_await t2.async_wait();
                                  }(own, alive));
                ADD_FAILURE() << "a group of a context that has gone went on";
            },
            detached);
        own.poll();
        EXPECT_EQ(alive, 2);
    }
    EXPECT_EQ(alive, 0);
}

TEST_F(When, AGroupThatIsNotAwaitedRunsNothing) {
    auto const held = std::make_shared<int>(0);
    struct coroutine {
        static awaitable<void> hold(std::shared_ptr<int> p) {
            ++*p;
            co_return;
        }
    };
    {
        auto group = when_all(coroutine::hold(held), note("a"));
        auto const moved = std::move(group);
        EXPECT_EQ(held.use_count(), 2);
    }
    EXPECT_EQ(held.use_count(), 1);
    EXPECT_EQ(*held, 0);
    EXPECT_EQ(log, "");
}

TEST(WhenThreads, PartsEndInSeveralThreads) {
    thread_pool pool(3);
    for (int round = 0; round != static_cast<int>(test::scaled(300, 30)); ++round) {
        io_context context;
        struct coroutine {
            static awaitable<int> work(int n) {
                for (int i = 0; i != n; ++i)
                    co_await this_coro::yield();
                co_return n;
            }
            static awaitable<void> run(io_context& c, thread_pool& pool, int& won_by) {
                steady_timer limit(c, 1h);
                auto won = co_await when_any(limit.async_wait(), co_spawn(pool, work(3), deferred),
                                             co_spawn(pool, work(2), deferred), co_spawn(pool, work(4), deferred));
                EXPECT_NE(won.index(), 0U);
                won_by = static_cast<int>(won.index());
            }
        };
        int won_by = 0;
        co_spawn(context, coroutine::run(context, pool, won_by), rethrow);
        context.run();
        EXPECT_NE(won_by, 0);
    }
}

} // namespace
