// Awaits of what is usually there: they are tried without a call, and are operations all the same.
#include <fairlead/coro/use_coro.hpp>
#include <fairlead/coro/when_all.hpp>
#include <fairlead/coro/when_any.hpp>
#include <fairlead/exec/strand.hpp>
#include <fairlead/scope/cancel_after.hpp>
#include <fairlead/sender/connected_op.hpp>
#include <fairlead/sync/message_channel.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>
#include <fairlead/token/co_composed.hpp>
#include <fairlead/token/deferred.hpp>
#include <fairlead/token/parallel_group.hpp>

#include <support/counting_new.hpp>
#include <unit/sync/waiting.hpp>

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace {

using namespace waiting;

class DirectAwait : public World {
protected:
    channel_pair<int> ends = make_channel<int>(context, 2);
    channel_sender<int>& tx = ends.first;
    channel_receiver<int>& rx = ends.second;
};

TEST_F(DirectAwait, F01_GivesWayAsOftenAsAnyOther) {
    constexpr int messages = 10'000;
    int got = 0;
    int turns = 0;
    spawn([this, &got]() -> awaitable<void> {
        for (int i = 0; i != messages; ++i) {
            co_await tx.send(i);
            got += co_await rx.next() == i;
        }
    });
    spawn([&got, &turns]() -> awaitable<void> {
        while (got != messages) {
            ++turns;
            co_await this_coro::yield();
        }
    });
    world.run();
    EXPECT_EQ(got, messages);
    EXPECT_GE(turns, 2 * messages / fairness::units_most);
}

TEST_F(DirectAwait, IsAskedToEndAsAnyOther) {
    cancellation_signal signal;
    error_code ended;
    co_spawn(
        context,
        [this]() -> awaitable<void> {
            EXPECT_EQ(co_await rx.next(), 1);
            co_await rx.next();
        },
        bind_cancellation_slot(signal.slot(), [&ended](std::exception_ptr const& e) {
            try {
                std::rethrow_exception(e);
            } catch (system_error const& why) {
                ended = why.code();
            }
        }));
    EXPECT_TRUE(tx.try_send(1));
    world.run_for(1s);
    EXPECT_FALSE(ended);
    signal.emit(cancellation_type::terminal);
    world.run_for(1s);
    EXPECT_EQ(ended, error::operation_aborted);
    EXPECT_TRUE(tx.try_send(2));
    EXPECT_TRUE(rx.ready()) << "nobody waits any more";
}

TEST_F(DirectAwait, DoesNotBeginOnceItsChainIsToEnd) {
    cancellation_signal signal;
    bool has_thrown = false;
    co_spawn(
        context,
        [&]() -> awaitable<void> {
            co_await sleep(1s); // Its record says of this that it went well.
            signal.emit(cancellation_type::terminal);
            try {
                co_await rx.next();
            } catch (system_error const& e) {
                has_thrown = e.code() == error::operation_aborted;
            }
        },
        bind_cancellation_slot(signal.slot(), detached));
    EXPECT_TRUE(tx.try_send(1));
    world.run();
    EXPECT_TRUE(has_thrown);
    EXPECT_EQ(rx.try_next(), 1) << "the message is still there";
}

TEST_F(DirectAwait, IsAnOperationForEverythingElse) {
    using next = decltype(rx.next());
    static_assert(std::is_convertible_v<next, async_op<void(error_code, std::optional<int>)>>);
    static_assert(std::is_convertible_v<decltype(tx.send(1)), async_op<void(error_code)>>);
    static_assert(std::is_same_v<decltype(tx.async_send(1)), async_op<void(error_code)>>);
    static_assert(is_deferred<next>::value && async_operation<next>);
    static_assert(std::is_same_v<decltype(rx.async_next()), async_op<void(error_code, std::optional<int>)>>);
    spawn([this]() -> awaitable<void> {
        auto first = co_await when_any(rx.next(), sleep(1s));
        EXPECT_EQ(first.index(), 1U);
        co_await when_all(tx.send(1), tx.send(2));
        auto [got, sent] = co_await when_all(rx.next(), tx.send(3));
        EXPECT_EQ(got, 1);
        async_op<void(error_code, std::optional<int>)> later = rx.next();
        EXPECT_EQ(co_await std::move(later), 2);
        auto kept = rx.next();
        auto moved = std::move(kept);
        EXPECT_EQ(co_await std::move(moved), 3);
        EXPECT_THROW(co_await cancel_after(1s, rx.next()), system_error);
        log = "coroutine ";
    });
    world.run();
    co_spawn(context, tx.send(4), detached);
    world.run();
    rx.next()([this](error_code, std::optional<int> m) { log += std::to_string(*m) + ' '; });
    world.run();
    EXPECT_TRUE(tx.try_send(5));
    auto doubled = rx.next() | deferred([this](error_code, std::optional<int> m) { return tx.send(2 * *m); });
    std::move(doubled)(detached);
    world.run();
    EXPECT_EQ(rx.try_next(), 10);
    EXPECT_EQ(log, "coroutine 4 ");
}

TEST_F(DirectAwait, ThrowsWithTheNameOfItsOperation) {
    spawn([this]() -> awaitable<void> {
        {
            auto const gone = std::move(rx);
        }
        try {
            co_await tx.send(1);
        } catch (system_error const& e) {
            EXPECT_EQ(e.code(), error::channel_closed);
            EXPECT_EQ(std::string(e.what()).find("send to a channel"), 0U) << e.what();
            log = "thrown";
        }
    });
    world.run();
    EXPECT_EQ(log, "thrown");
}

TEST_F(DirectAwait, IsAnOperationInCoroutinesOfOtherKinds) {
    EXPECT_TRUE(tx.try_send(1));
    auto const composed = [this](auto&& token) {
        return async_initiate<decltype(token), void(std::optional<int>)>(
            co_composed<void(std::optional<int>)>([](auto state, channel_receiver<int>& from) -> void {
                for (;;) { // clang warns of a coroutine that ends otherwise
                    auto m = co_await from.next();
                    co_yield state.complete(m);
                }
            }),
            token, std::ref(rx));
    };
    composed([this](std::optional<int> m) { log += "composed " + std::to_string(*m) + ' '; });
    world.run();
    auto numbers = [](io_context&, channel_receiver<int>& from) -> experimental::coro<int> {
        while (auto m = co_await from.next())
            co_yield *m;
    }(context, rx);
    spawn([&]() -> awaitable<void> {
        co_await when_all(tx.send(2), tx.send(3));
        for (int i = 2; i != 4; ++i)
            EXPECT_EQ(co_await numbers.async_resume(use_await), i);
        awaitable<std::optional<int>> last = rx.next();
        co_await tx.send(4);
        EXPECT_EQ(co_await std::move(last), 4);
        log += "coro";
    });
    world.run();
    EXPECT_EQ(log, "composed 1 coro");
}

TEST_F(DirectAwait, IsAnOperationInAGroupOfHandlers) {
    experimental::make_parallel_group(rx.next(), tx.send(7))
        .async_wait(experimental::wait_for_all(), [this](auto, error_code, std::optional<int> m, error_code sent) {
            EXPECT_FALSE(sent);
            log += std::to_string(*m) + ' ';
        });
    world.run();
    experimental::make_parallel_group(rx.next(), tx.send(8), tx.send(9), tx.send(10))
        .async_wait(experimental::wait_for_one(), [this](auto order, auto&&...) { log += std::to_string(order[0]); });
    world.run();
    EXPECT_EQ(log, "7 0");
}

struct notes_message {
    using receiver_concept = execution::receiver_tag;
    std::string* log;
    void set_value(std::optional<int> m) noexcept { *log += std::to_string(*m); }
    void set_error(error_code const&) noexcept {}
    void set_error(std::exception_ptr const&) noexcept {}
    void set_stopped() noexcept {}
};

TEST_F(DirectAwait, IsASender) {
    auto state = execution::connect(rx.next(), notes_message{&log});
    state.start();
    EXPECT_TRUE(tx.try_send(5));
    world.run();
    EXPECT_EQ(log, "5");
}

/// Waits and is woken on both sides, with messages that own something.
TEST_F(DirectAwait, BringsMessagesThatOwnSomething) {
    auto owning = make_channel<std::unique_ptr<int>>(context, 1);
    auto others = make_channel<std::string>(context);
    spawn([&tx = owning.first, &others = others.first]() -> awaitable<void> {
        for (int i = 0; i != 5; ++i) {
            co_await tx.send(std::make_unique<int>(i));
            co_await others.send(std::string(50, static_cast<char>('a' + i)));
        }
    });
    spawn([this, &rx = owning.second, &others = others.second]() -> awaitable<void> {
        for (int i = 0; i != 5; ++i) {
            auto const m = co_await rx.next();
            EXPECT_EQ(**m, i);
            EXPECT_EQ((co_await others.next())->at(49), 'a' + i);
        }
        log = "all";
    });
    world.run();
    EXPECT_EQ(log, "all");
}

TEST_F(DirectAwait, AllocatesNothing) {
    spawn([this]() -> awaitable<void> {
        for (int i = 0; i != 100; ++i)
            co_await tx.send(i);
    });
    spawn([this]() -> awaitable<void> {
        co_await rx.next();
        test::new_counter const blocks;
        for (int i = 1; i != 100; ++i)
            EXPECT_EQ(co_await rx.next(), i);
        EXPECT_EQ(blocks.calls(), 0U);
        log = "all";
    });
    world.run();
    EXPECT_EQ(log, "all");
}

/// A coroutine may have another home than the channel, and the handles another executor. It goes on at home.
TEST(DirectAwaits, WorkFromEverywhere) {
    io_context context(1), other(1);
    auto ends = make_channel<int>(context, 1);
    auto back = make_channel<long>(context);
    auto on_strand = make_channel<int>(make_strand(context), 1);
    EXPECT_FALSE(on_strand.second.runs_handlers());
    constexpr int rounds = 50;
    int sum = 0;
    int at_home = 0;
    co_spawn(
        other,
        [](auto tx, auto second, auto answers, io_context& home, int& good) -> awaitable<void> {
            for (int i = 0; i != rounds; ++i) {
                co_await tx.send(i);
                good += home.get_executor().running_in_this_thread();
                co_await second.send(1'000);
                good += home.get_executor().running_in_this_thread();
                auto const answer = co_await answers.next();
                good += home.get_executor().running_in_this_thread() && answer == 7L * i;
            }
        }(std::move(ends.first), std::move(on_strand.first), std::move(back.second), other, at_home),
        detached);
    co_spawn(
        context,
        [](auto rx, auto second, auto answers, int& total) -> awaitable<void> {
            for (long i = 0; auto m = co_await rx.next(); ++i) {
                total += *m + *co_await second.next();
                co_await answers.send(7 * i);
            }
        }(std::move(ends.second), std::move(on_strand.second), std::move(back.first), sum),
        detached);
    for (int i = 0; i != 1'000 && at_home != 3 * rounds; ++i) {
        other.restart();
        other.poll();
        EXPECT_EQ(other.stopped(), at_home == 3 * rounds) << "a coroutine that waits is work of its loop";
        context.restart();
        context.poll();
    }
    EXPECT_EQ(sum, rounds * (rounds - 1) / 2 + rounds * 1'000);
    EXPECT_EQ(at_home, 3 * rounds);
}

/// Handlers run on the executor of the handles. A coroutine goes on where it was.
TEST(DirectAwaits, CompleteOnTheRightExecutor) {
    io_context context(1);
    auto const of_handles = make_strand(context);
    auto const of_coroutine = make_strand(context);
    auto ends = make_channel<std::string>(of_handles, 1);
    EXPECT_TRUE(ends.second.get_executor() == any_io_executor(of_handles));
    int good = 0;
    for (int is_there = 0; is_there != 2; ++is_there) {
        if (is_there == 1)
            ends.first.try_send("a message that is longer than a small one");
        ends.second.next()([&](error_code, std::optional<std::string> m) {
            good += of_handles.running_in_this_thread() && m->size() == 41;
        });
        if (is_there == 0)
            ends.first.try_send("a message that is longer than a small one");
        context.restart();
        context.run();
    }
    EXPECT_EQ(good, 2);
    co_spawn(
        of_coroutine,
        [&]() -> awaitable<void> {
            for (int i = 0; i != 100; ++i) {
                auto const m = co_await ends.second.next();
                good += of_coroutine.running_in_this_thread() && *m == std::to_string(i);
            }
        },
        detached);
    co_spawn(
        context,
        [&]() -> awaitable<void> {
            for (int i = 0; i != 100; ++i) {
                co_await ends.first.send(std::to_string(i));
                good += !of_handles.running_in_this_thread() && !of_coroutine.running_in_this_thread();
            }
        },
        detached);
    context.restart();
    context.run();
    EXPECT_EQ(good, 202);
}

} // namespace
