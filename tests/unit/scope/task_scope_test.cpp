// task_scope: what it waits for, what the failure of a task does, how many run at once, and how it is drained.
#include <fairlead/scope/task_scope.hpp>

#include <fairlead/coro/when_all.hpp>
#include <fairlead/exec/recycler.hpp>
#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/sync/channel.hpp>
#include <fairlead/token/post.hpp>
#include <fairlead/token/use_future.hpp>
#include <support/scale.hpp>
#include <unit/sync/waiting.hpp>

#include <atomic>
#include <memory>
#include <stdexcept>

namespace {

using namespace waiting;

struct some_failure : std::runtime_error {
    some_failure() : std::runtime_error("some failure") {}
};

class TaskScope : public World {
public:
    awaitable<int> after(steady_clock::duration d, int value) {
        ++running;
        most = std::max(most, running);
        co_await sleep(d);
        --running;
        co_return value;
    }
    awaitable<void> note_after(steady_clock::duration d, char letter) {
        co_await sleep(d);
        log += letter;
    }
    awaitable<void> fail_after(steady_clock::duration d) {
        co_await sleep(d);
        throw some_failure();
    }
    /// Runs `f` as a coroutine that can be asked to end by `signal`.
    template <class F> void run(F f) {
        co_spawn(context, std::move(f), bind_cancellation_slot(signal.slot(), [this](std::exception_ptr e) {
                     is_done = true;
                     thrown = e;
                 }));
        world.run();
        EXPECT_TRUE(is_done);
        try {
            if (thrown)
                std::rethrow_exception(thrown);
        } catch (std::exception const& e) {
            what = e.what();
        }
    }
    template <class E> bool has_thrown() const {
        try {
            if (thrown)
                std::rethrow_exception(thrown);
        } catch (E const&) {
            return true;
        } catch (...) {
        }
        return false;
    }
    bool was_cancelled() const {
        try {
            if (thrown)
                std::rethrow_exception(thrown);
        } catch (system_error const& e) {
            return e.code() == error::operation_aborted;
        } catch (...) {
        }
        return false;
    }

    cancellation_signal signal;
    std::exception_ptr thrown;
    std::string what;
    bool is_done = false;
    int running = 0, most = 0;
};

TEST_F(TaskScope, ASpawnIsPartOfAGroupAndAnAwaitable) {
    auto body = [this](task_scope<int>& s) -> awaitable<void> {
        bool was_cut = false;
        co_await s.spawn([this] { return after(1h, 1); });
        try { // There is no room for an hour.
            co_await cancel_after(1s, s.spawn([this] { return after(1h, 2); }));
        } catch (system_error const& e) {
            was_cut = e.code() == error::operation_aborted;
        }
        EXPECT_TRUE(was_cut);
        EXPECT_EQ(passed(), 1s);
        s.cancel();
    };
    run([&]() -> awaitable<void> { co_await with_scope<int>({.at_most = 1}, body); });
    EXPECT_FALSE(thrown);
    EXPECT_EQ(most, 1) << "the second task has not begun";
    running = most = 0; // The first was cut.
    auto two = [this](task_scope<int>& s) -> awaitable<void> {
        co_await when_all(s.spawn([this] { return after(1s, 1); }), s.spawn([this] { return after(1s, 2); }));
        awaitable<void> third = s.spawn([this] { return after(1s, 3); });
        EXPECT_EQ(s.running(), 2U);
        co_await std::move(third);
        EXPECT_EQ(s.running(), 3U);
    };
    run([&]() -> awaitable<void> { co_await with_scope<int>({.failures = on_failure::is_kept}, two); });
    EXPECT_FALSE(thrown);
    EXPECT_EQ(most, 3);
}

TEST_F(TaskScope, SpawningWhatEndsAtOnceIsFairToTheOthers) {
    constexpr int most_spawns = 10'000;
    int spawned = 0;
    bool stop = false;
    auto body = [&](task_scope<>& s) -> awaitable<void> {
        auto nothing = []() -> awaitable<void> { co_return; };
        post(context, [&stop] { stop = true; });
        for (; !stop && spawned != most_spawns; ++spawned)
            co_await s.spawn(nothing);
    };
    run([&]() -> awaitable<void> { co_await with_scope(body); });
    EXPECT_TRUE(stop);
    EXPECT_LT(spawned, most_spawns);
}

TEST_F(TaskScope, IsLeftWhenTheBodyAndAllTasksHaveEnded) {
    run([this]() -> awaitable<void> {
        int const n = co_await with_scope([this](task_scope<>& s) -> awaitable<int> {
            co_await s.spawn(&TaskScope::note_after, this, 3s, 'c');
            co_await s.spawn(&TaskScope::note_after, this, 1s, 'a');
            co_await s.spawn([this, &s]() -> awaitable<void> { // A task spawns, too.
                co_await sleep(2s);
                co_await s.spawn(&TaskScope::note_after, this, 2s, 'd');
                log += 'b';
            });
            EXPECT_EQ(s.running(), 3U);
            co_return 7;
        });
        EXPECT_EQ(n, 7);
        EXPECT_EQ(log, "abcd");
        EXPECT_EQ(passed(), 4s);
    });
    EXPECT_FALSE(thrown) << what;
}

TEST_F(TaskScope, KeepsTheFunctionAndItsArguments) {
    auto const witness = std::make_shared<int>(5);
    run([&]() -> awaitable<void> {
        int total = 0;
        co_await with_scope([&, this](task_scope<>& s) -> awaitable<void> {
            auto adds = [this, kept = witness](std::string const& text, std::unique_ptr<int> n,
                                               int& sum) -> awaitable<void> {
                co_await sleep(1s); // The temporaries of the call have gone.
                sum += *kept + *n + static_cast<int>(text.size());
            };
            co_await s.spawn(std::move(adds), std::string(100, 'x'), std::make_unique<int>(7), std::ref(total));
        });
        EXPECT_EQ(total, 112);
    });
    EXPECT_FALSE(thrown) << what;
    EXPECT_EQ(witness.use_count(), 1);
}

TEST_F(TaskScope, TheFirstFailureEndsTheOthersAndIsThrown) {
    run([this]() -> awaitable<void> {
        co_await with_scope([this](task_scope<>& s) -> awaitable<void> {
            co_await s.spawn(&TaskScope::note_after, this, 1h, 'x');
            co_await s.spawn(&TaskScope::fail_after, this, 2s);
            co_await sleep(1h);
            log += "body";
        });
    });
    EXPECT_TRUE(has_thrown<some_failure>());
    EXPECT_EQ(passed(), 2s);
    EXPECT_EQ(log, "");
}

TEST_F(TaskScope, TheFailureOfTheBodyEndsTheTasks) {
    run([this]() -> awaitable<void> {
        co_await with_scope([this](task_scope<>& s) -> awaitable<void> {
            co_await s.spawn(&TaskScope::note_after, this, 1h, 'x');
            co_await sleep(1s);
            throw some_failure();
        });
    });
    EXPECT_TRUE(has_thrown<some_failure>());
    EXPECT_EQ(passed(), 1s);
}

TEST_F(TaskScope, FailuresAreKeptUntilAllHaveEnded) {
    scope_options const keeps{.failures = on_failure::is_kept};
    run([&]() -> awaitable<void> {
        co_await with_scope(keeps, [this](task_scope<>& s) -> awaitable<void> {
            co_await s.spawn(&TaskScope::fail_after, this, 1s);
            co_await s.spawn(&TaskScope::note_after, this, 3s, 'x');
        });
    });
    EXPECT_TRUE(has_thrown<some_failure>());
    EXPECT_EQ(log, "x");
    EXPECT_EQ(passed(), 3s);
    is_done = false;
    run([&]() -> awaitable<void> {
        co_await with_scope(keeps, [this](task_scope<>& s) -> awaitable<void> {
            for (int i = 0; i != 3; ++i)
                co_await s.spawn(&TaskScope::fail_after, this, 1s);
        });
    });
    EXPECT_TRUE(has_thrown<multiple_exceptions>());
}

TEST_F(TaskScope, FailuresThatConcernNobodyAreDropped) {
    run([this]() -> awaitable<void> {
        co_await with_scope({.failures = on_failure::is_dropped}, [this](task_scope<>& s) -> awaitable<void> {
            co_await s.spawn(&TaskScope::fail_after, this, 1s);
            co_await s.spawn(&TaskScope::note_after, this, 2s, 'x');
        });
        log += 'y';
    });
    EXPECT_FALSE(thrown) << what;
    EXPECT_EQ(log, "xy");
}

TEST_F(TaskScope, NoMoreRunAtOnceThanTheLimit) {
    run([this]() -> awaitable<void> {
        co_await with_scope<int>({.at_most = 3}, [this](task_scope<int>& s) -> awaitable<void> {
            for (int i = 0; i != 9; ++i)
                co_await s.spawn(&TaskScope::after, this, 1s, i);
            EXPECT_FALSE(s.try_spawn(&TaskScope::after, this, 1s, 0));
            EXPECT_EQ(passed(), 2s) << "it did not wait for room";
            co_await s.join();
            EXPECT_TRUE(s.try_spawn(&TaskScope::after, this, 1s, 0));
        });
    });
    EXPECT_FALSE(thrown) << what;
    EXPECT_EQ(most, 3);
    EXPECT_EQ(running, 0);
}

TEST_F(TaskScope, ResultsComeInTheOrderOfCompletion) {
    run([this]() -> awaitable<void> {
        co_await with_scope<int>([this](task_scope<int>& s) -> awaitable<void> {
            EXPECT_FALSE(co_await s.next()) << "no task runs";
            for (int i = 3; i != 0; --i)
                co_await s.spawn(&TaskScope::after, this, std::chrono::seconds(i), i);
            while (auto const result = co_await s.next())
                log += static_cast<char>('0' + result->value());
            co_await s.spawn(&TaskScope::after, this, 1s, 8); // Nobody takes this one.
        });
    });
    EXPECT_FALSE(thrown) << what;
    EXPECT_EQ(log, "123");
}

TEST_F(TaskScope, KeptFailuresAreResultsToo) {
    run([this]() -> awaitable<void> {
        try {
            co_await with_scope<int>({.failures = on_failure::is_kept}, [this](task_scope<int>& s) -> awaitable<void> {
                co_await s.spawn([]() -> awaitable<int> {
                    throw some_failure();
                    co_return 0;
                });
                auto const result = co_await s.next();
                EXPECT_TRUE(result && !result->has_value() && result->error());
                log = "seen";
            });
        } catch (some_failure const&) {
            log += " and thrown";
        }
    });
    EXPECT_EQ(log, "seen and thrown");
}

TEST_F(TaskScope, DrainCutsWhatIsLate) {
    run([this]() -> awaitable<void> {
        std::size_t const cut = co_await with_scope([this](task_scope<>& s) -> awaitable<std::size_t> {
            co_await s.spawn(&TaskScope::note_after, this, 2s, 'a');
            for (int i = 0; i != 100; ++i) // More than are asked in one turn.
                co_await s.spawn(&TaskScope::note_after, this, 1h, 'x');
            auto const n = co_await s.drain(5s);
            EXPECT_EQ(s.running(), 0U);
            EXPECT_FALSE(s.try_spawn(&TaskScope::note_after, this, 1s, 'y'));
            co_await sleep(1s); // The body is not asked to end.
            co_return n;
        });
        EXPECT_EQ(cut, 100U);
        EXPECT_EQ(passed(), 6s);
    });
    EXPECT_FALSE(thrown) << what;
    EXPECT_EQ(log, "a");
}

TEST_F(TaskScope, ATaskThatWaitsForAChannelIsCutWithoutAFailure) {
    experimental::channel<void(error_code, int)> nobody_sends(context);
    run([&]() -> awaitable<void> {
        co_await with_scope([&](task_scope<>& s) -> awaitable<void> {
            auto const receive = [](auto* from) -> awaitable<void> { co_await from->async_receive(); };
            co_await s.spawn(receive, &nobody_sends);
            EXPECT_EQ(co_await s.drain(1s), 1U);
        });
        log = "left";
    });
    EXPECT_FALSE(thrown) << what;
    EXPECT_EQ(log, "left");
}

TEST_F(TaskScope, JoinWaitsAndTheScopeTakesMore) {
    run([this]() -> awaitable<void> {
        co_await with_scope([this](task_scope<>& s) -> awaitable<void> {
            co_await s.join();
            EXPECT_EQ(passed(), 0s);
            for (char const letter : {'a', 'b'}) {
                co_await s.spawn([this, letter] { return note_after(2s, letter); });
                co_await s.spawn([this] { return note_after(1s, '-'); });
                co_await s.join();
                log += '|';
            }
        });
    });
    EXPECT_EQ(log, "-a|-b|");
    EXPECT_EQ(passed(), 4s);
}

TEST_F(TaskScope, DrainWaitsNoLongerThanItHasTo) {
    run([this]() -> awaitable<void> {
        co_await with_scope([this](task_scope<>& s) -> awaitable<void> {
            co_await s.spawn(&TaskScope::note_after, this, 2s, 'a');
            EXPECT_EQ(co_await s.drain(1h), 0U);
            EXPECT_EQ(passed(), 2s);
        });
    });
    EXPECT_FALSE(thrown) << what;
}

TEST_F(TaskScope, ClosedItEndsASpawnThatWaits) {
    run([this]() -> awaitable<void> {
        co_await with_scope({.at_most = 1}, [this](task_scope<>& s) -> awaitable<void> {
            co_await s.spawn(&TaskScope::note_after, this, 2s, 'a');
            co_spawn(context, sleep(1s), [&s](std::exception_ptr) { s.close(); });
            try {
                co_await s.spawn(&TaskScope::note_after, this, 1s, 'b');
                ADD_FAILURE();
            } catch (system_error const& e) {
                EXPECT_EQ(e.code(), error::operation_aborted);
            }
            EXPECT_EQ(passed(), 1s);
        });
        EXPECT_EQ(passed(), 2s);
    });
    EXPECT_FALSE(thrown) << what;
    EXPECT_EQ(log, "a");
}

TEST_F(TaskScope, CancelAsksTheTasksAndNotTheBody) {
    run([this]() -> awaitable<void> {
        co_await with_scope([this](task_scope<>& s) -> awaitable<void> {
            for (int i = 0; i != 3; ++i)
                co_await s.spawn(&TaskScope::note_after, this, 1h, 'x');
            s.cancel();
            co_await s.join();
            co_await sleep(1s);
            log += "body";
        });
        EXPECT_EQ(passed(), 1s);
    });
    EXPECT_FALSE(thrown) << what;
    EXPECT_EQ(log, "body");
}

// A request to whoever awaits the scope reaches everything in it, also after the scope has been cancelled.
TEST_F(TaskScope, IsAskedAsAWhole) {
    co_spawn(context, sleep(2s), [this](std::exception_ptr) { signal.emit(cancellation_type::terminal); });
    run([this]() -> awaitable<void> {
        co_await with_scope([this](task_scope<>& s) -> awaitable<void> {
            co_await s.spawn(&TaskScope::note_after, this, 1h, 'x');
            s.cancel();
            co_await with_scope([this](task_scope<>& inner) -> awaitable<void> {
                co_await inner.spawn(&TaskScope::note_after, this, 1h, 'y');
            });
            log += "body";
        });
    });
    EXPECT_TRUE(was_cancelled());
    EXPECT_EQ(log, "");
    EXPECT_EQ(passed(), 2s);
}

// Once it has been asked nothing starts.
TEST_F(TaskScope, NothingStartsInAScopeThatEnds) {
    run([this]() -> awaitable<void> {
        co_await with_scope([this](task_scope<>& s) -> awaitable<void> {
            co_await this_coro::throw_if_cancelled(false);
            co_await s.spawn(&TaskScope::fail_after, this, 1s);
            co_await s.join();
            bool started = false;
            auto const starts = [&started]() -> awaitable<void> {
                started = true;
                co_return;
            };
            EXPECT_FALSE(s.try_spawn(starts));
            EXPECT_FALSE(started);
        });
    });
    EXPECT_TRUE(has_thrown<some_failure>());
}

TEST_F(TaskScope, GoesWithItsContext) {
    auto const witness = std::make_shared<int>();
    {
        io_context c;
        co_spawn(
            c,
            [kept = witness]() -> awaitable<void> {
                // With a name: g++ 12 destroys closures twice that are made inside the expression of a co_await.
                auto body = [kept](task_scope<int>& s) -> awaitable<void> {
                    auto const waits = [](std::shared_ptr<int> kept_too) -> awaitable<int> {
                        steady_timer t(co_await this_coro::executor, 1h);
                        co_await t.async_wait();
                        co_return *kept_too;
                    };
                    for (int i = 0; i != 3; ++i)
                        co_await s.spawn(waits, kept);
                    co_await s.spawn([]() -> awaitable<int> { co_return 1; });
                    co_await s.join();
                };
                co_await with_scope<int>(std::move(body));
            },
            rethrow);
        c.poll();
        EXPECT_GT(witness.use_count(), 4);
    }
    EXPECT_EQ(witness.use_count(), 1);
}

using TaskScopeDeathTest = TaskScope;
TEST_F(TaskScopeDeathTest, ATaskCannotWaitForItself) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(run([this]() -> awaitable<void> {
                     co_await with_scope([](task_scope<>& s) -> awaitable<void> {
                         co_await s.spawn([&s]() -> awaitable<void> { co_await s.join(); });
                     });
                     log += "left";
                 }),
                 "a task waits for the end of all tasks of its scope");
}

TEST(TaskScopeOfAPool, TasksEndInSeveralThreads) {
    auto const tasks = static_cast<int>(test::scaled(5'000, 500));
    thread_pool pool(2);
    std::atomic<int> ran{0};
    int const sum =
        co_spawn(
            pool,
            [&]() -> awaitable<int> {
                co_return co_await with_scope<int>({.at_most = 20}, [&](task_scope<int>& s) -> awaitable<int> {
                    auto const one = [&](int i) -> awaitable<int> {
                        co_await this_coro::yield();
                        ++ran;
                        co_return i % 2;
                    };
                    int odd = 0;
                    for (int i = 0; i != tasks; ++i)
                        co_await s.spawn(one, i);
                    while (auto const result = co_await s.next())
                        odd += result->value();
                    co_return odd;
                });
            },
            use_future)
            .get();
    EXPECT_EQ(sum, tasks / 2);
    EXPECT_EQ(ran, tasks);
}

/// A result is taken while its task still ends in another thread.
TEST(TaskScopeOfAPool, EveryResultIsTaken) {
    auto const rounds = static_cast<int>(test::scaled(5'000, 500));
    thread_pool pool(2);
    auto done = co_spawn(
        pool,
        [&]() -> awaitable<int> {
            int taken = 0;
            for (int i = 0; i != rounds; ++i)
                taken += co_await with_scope<int>([](task_scope<int>& s) -> awaitable<int> {
                    auto const one = []() -> awaitable<int> {
                        co_await this_coro::yield();
                        co_return 1;
                    };
                    for (int n = 0; n != 3; ++n)
                        co_await s.spawn(one);
                    int sum = 0;
                    while (auto const result = co_await s.next())
                        sum += result->value();
                    co_return sum;
                });
            co_return taken;
        },
        use_future);
    EXPECT_EQ(done.get(), 3 * rounds);
}

/// The scope is cancelled by one thread while tasks end and start in another.
TEST(TaskScopeOfAPool, CancelRacesWithTheEndOfTasks) {
    auto const rounds = static_cast<int>(test::scaled(2'000, 200));
    thread_pool pool(2);
    for (int i = 0; i != rounds; ++i) {
        auto done = co_spawn(
            pool,
            []() -> awaitable<void> {
                co_await with_scope([](task_scope<>& s) -> awaitable<void> {
                    auto const one = []() -> awaitable<void> { co_await this_coro::yield(); };
                    for (int n = 0; n != 10; ++n)
                        co_await s.spawn(one);
                    s.cancel();
                    for (int n = 0; n != 3; ++n)
                        s.try_spawn(one);
                    co_await s.join();
                });
            },
            use_future);
        done.get();
    }
}

} // namespace
