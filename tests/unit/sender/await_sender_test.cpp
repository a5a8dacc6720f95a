// Coroutines that await senders: results, errors, requests in both directions, and threads.
#include <fairlead/sender/await_sender.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/coro/when_any.hpp>
#include <fairlead/exec/strand.hpp>
#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>
#include <support/counting_new.hpp>
#include <support/repeat_sender.hpp>
#include <support/scale.hpp>
#include <support/small_senders.hpp>
#include <unit/sender/receivers.hpp>

#include <stdexcept>
#include <thread>

namespace {

using namespace senders;
using test::held_sender;
using test::just;

/// The scheduler of an environment, for those who ask in the words of stdexec.
template <class Query> using scheduler_answer =
    decltype(std::declval<impl::sender::waiting_environment<> const&>().query(std::declval<Query const&>()));
static_assert(std::is_same_v<scheduler_answer<stdexec::get_scheduler_t>, any_io_executor>);
static_assert(std::is_same_v<scheduler_answer<stdexec::get_start_scheduler_t>, any_io_executor>);

class AwaitSender : public SenderWorld {
public:
    template <class F> void spawn(F f) { co_spawn(context, std::move(f), rethrow); }
    /// Awaits the held sender, and notes how it ends.
    awaitable<void> await_held() {
        try {
            int const n = co_await held_sender(held);
            log += "value " + std::to_string(n);
        } catch (system_error const& e) {
            log += e.code() == error::operation_aborted ? "aborted" : "error " + e.code().message();
        } catch (std::exception const& e) {
            log += std::string("exception ") + e.what();
        }
    }
    held_sender::handle held;
};

TEST_F(AwaitSender, NoneOneAndSeveralValuesAreTheResult) {
    spawn([this]() -> awaitable<void> {
        co_await just<>();
        int const one = co_await just<int>(1);
        auto const several = co_await just<int, std::string>(2, "three");
        log = std::to_string(one) + std::to_string(std::get<0>(several)) + std::get<1>(several);
    });
    world.run();
    EXPECT_EQ(log, "12three");
}

TEST_F(AwaitSender, ATaskOfAnotherLibraryReturnsToTheHomeOfTheCoroutine) {
    spawn([this]() -> awaitable<void> { log = co_await test::returning_task() ? "returned" : "has no way back"; });
    world.run();
    EXPECT_EQ(log, "returned");
}

TEST_F(AwaitSender, TheEnvironmentOfTheSenderHasTheExecutorOfTheCoroutine) {
    auto const strand = make_strand(context);
    bool has_it = false;
    co_spawn(
        strand,
        [](any_io_executor ex, bool& has) -> awaitable<void> { has = co_await test::asks_for_schedulers(ex); }(strand,
                                                                                                               has_it),
        rethrow);
    world.run();
    EXPECT_TRUE(has_it);
}

TEST_F(AwaitSender, ASenderNeedNotNameItself) {
    spawn([this]() -> awaitable<void> { log = std::to_string(co_await test::unnamed_sender(7)); });
    world.run();
    EXPECT_EQ(log, "7");
}

TEST_F(AwaitSender, AnEndInsideItsStartDoesNotSuspend) {
    spawn([this]() -> awaitable<void> {
        post(context, [this] { log += " other"; });
        for (int i = 0; i != 10; ++i)
            log += std::to_string(co_await just<int>(std::move(i)));
    });
    world.run();
    EXPECT_EQ(log, "0123456789 other");
}

TEST(AwaitSenderAlone, ManyEndsInsideTheirStartsNeitherNestNorStarveOthers) {
    io_context one_by_one(1);
    test::stack_gauge stack;
    std::uint64_t left = test::scaled(100'000, 10'000), longest = 0;
    co_spawn(
        one_by_one,
        [](std::uint64_t& n, test::stack_gauge& gauge) -> awaitable<void> {
            for (; n != 0; --n) {
                co_await just<>();
                gauge.look();
            }
        }(left, stack),
        rethrow);
    co_spawn(
        one_by_one,
        [](std::uint64_t const& n, std::uint64_t& most) -> awaitable<void> {
            for (auto before = n; before != 0;) {
                co_await this_coro::yield();
                most = std::max(most, before - n);
                before = n;
            }
        }(left, longest),
        rethrow);
    one_by_one.run();
    EXPECT_EQ(left, 0u);
    EXPECT_LE(stack.bytes(), std::uintptr_t(64) << 10);
    EXPECT_LE(longest, static_cast<std::uint64_t>(fairness::units_most) + 1) << "one has ended and waits for its turn";
    EXPECT_GE(longest, static_cast<std::uint64_t>(fairness::units_least));
}

TEST_F(AwaitSender, EachKindOfEndArrives) {
    auto const ends = [this](auto end) {
        log.clear();
        spawn([this]() -> awaitable<void> { co_await await_held(); });
        post(context, [this, end] { end(held); });
        world.run();
        return log;
    };
    // In a simulated world the order of what is ready is by chance, so each end comes with a delay.
    auto const after_start = [this](auto end) {
        return [this, end](held_sender::handle& h) {
            co_spawn(
                context,
                [](io_context& c, held_sender::handle& held_one, auto ends_it) -> awaitable<void> {
                    steady_timer t(c, 1s);
                    co_await t.async_wait();
                    ends_it(held_one);
                }(context, h, end),
                rethrow);
        };
    };
    EXPECT_EQ(ends(after_start([](auto& h) { h.value(7); })), "value 7");
    auto const refused = make_error_code(std::errc::connection_refused);
    EXPECT_EQ(ends(after_start([refused](auto& h) { h.error(refused); })), "error " + refused.message());
    EXPECT_EQ(ends(after_start([](auto& h) { h.exception(std::make_exception_ptr(std::runtime_error("it"))); })),
              "exception it");
    EXPECT_EQ(ends(after_start([](auto& h) { h.stopped(); })), "aborted");
    EXPECT_EQ(held.starts, 4);
}

TEST_F(AwaitSender, ARequestToTheCoroutineStopsTheToken) {
    held.when_asked = [this] {
        log += "asked ";
        held.stopped();
    };
    cancellation_signal signal;
    co_spawn(context, await_held(), bind_cancellation_slot(signal.slot(), rethrow));
    world.run_for(1s);
    signal.emit(cancellation_type::terminal);
    EXPECT_EQ(log, "") << "the token is stopped in a turn of the loop";
    world.run();
    EXPECT_EQ(log, "asked aborted");
}

TEST_F(AwaitSender, ASenderMayTakeNoNoticeOfARequest) {
    cancellation_signal signal;
    co_spawn(context, await_held(), bind_cancellation_slot(signal.slot(), rethrow));
    world.run_for(1s);
    signal.emit(cancellation_type::terminal);
    world.run_for(1s);
    EXPECT_EQ(log, "");
    post(context, [this] { held.value(7); });
    world.run();
    EXPECT_EQ(log, "value 7") << "the result is not lost";
}

TEST_F(AwaitSender, ACoroutineThatWasAskedBeforeStartsNoSender) {
    cancellation_signal signal;
    co_spawn(
        context,
        [](AwaitSender& self, cancellation_signal& s) -> awaitable<void> {
            s.emit(cancellation_type::terminal);
            co_await self.await_held();
        }(*this, signal),
        bind_cancellation_slot(signal.slot(), rethrow));
    world.run();
    EXPECT_EQ(log, "aborted");
    EXPECT_EQ(held.starts, 0);
}

TEST_F(AwaitSender, ASenderInAGroupEndsWithTheOthers) {
    held.when_asked = [this] { held.stopped(); };
    spawn([this]() -> awaitable<void> {
        steady_timer t(context, 2s);
        co_await when_any(await_held(), t.async_wait());
        log += " over";
    });
    world.run();
    EXPECT_EQ(log, "aborted over");
    EXPECT_EQ(passed(), 2s);
}

TEST_F(AwaitSender, AnExecutorsScheduleIsAwaited) {
    spawn([this]() -> awaitable<void> {
        co_await context.get_executor().schedule();
        log = "there";
    });
    world.run();
    EXPECT_EQ(log, "there");
}

TEST(AwaitSenderThreads, ASenderThatEndsElsewhereBringsTheCoroutineHome) {
    io_context context(1);
    thread_pool pool(2);
    auto const rounds = static_cast<int>(test::scaled(20'000, 500));
    int at_home = 0;
    co_spawn(
        context,
        [](thread_pool& p, io_context& c, int n, int& count) -> awaitable<void> {
            for (int i = 0; i != n; ++i) {
                co_await p.get_executor().schedule();
                count += c.get_executor().running_in_this_thread();
            }
        }(pool, context, rounds, at_home),
        rethrow);
    context.run();
    pool.join();
    EXPECT_EQ(at_home, rounds);
}

TEST(AwaitSenderThreads, ARequestOfAnotherThreadMeetsTheEndAtAnyMoment) {
    thread_pool pool(1);
    for (auto rounds = test::scaled(500, 50); rounds != 0; --rounds) {
        io_context context;
        cancellation_signal signal;
        int ends = 0;
        auto const ended = [&ends](std::exception_ptr const& e) {
            ++ends;
            EXPECT_TRUE(!e || impl::operation::is_cancellation(e));
        };
        co_spawn(
            context,
            [](thread_pool& p) -> awaitable<void> {
                for (int i = 0; i != 10; ++i)
                    co_await p.get_executor().schedule();
            }(pool),
            bind_cancellation_slot(signal.slot(), ended));
        std::thread asks([&] { signal.emit(cancellation_type::terminal); });
        context.run();
        asks.join();
        EXPECT_EQ(ends, 1);
    }
    pool.join();
}

TEST(AwaitSenderAlone, NothingIsAllocated) {
    io_context context(1);
    std::uint64_t calls = 1;
    auto const once = [&] {
        co_spawn(
            context,
            [](io_context& c, std::uint64_t& n) -> awaitable<void> {
                co_await just<int>(1); // The frame is there.
                test::new_counter const news;
                co_await just<int>(1);
                co_await c.get_executor().schedule();
                n = news.calls();
            }(context, calls),
            rethrow);
        context.run();
        context.restart();
    };
    once();
    auto const overflows = impl::exec::this_thread.record_overflows;
    once();
    EXPECT_EQ(calls, 0u);
    EXPECT_EQ(impl::exec::this_thread.record_overflows, overflows);
}

} // namespace
