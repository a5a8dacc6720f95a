#include <fairlead/sender/repeat.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/sender/await_sender.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/sync/message_channel.hpp>
#include <fairlead/token/detached.hpp>

#include <support/repeat_sender.hpp>

#include "receivers.hpp"

#include <gtest/gtest.h>

#include <coroutine>
#include <exception>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace senders {
namespace {

/// A pair of sockets, and a text that always has a line.
struct Repeat : testing::Test {
    io_context context{1};
    local::stream_protocol::socket one{context}, other{context};
    std::string text = "a line\n";
    std::string log;

    Repeat() { local::connect_pair(one, other); }
    auto read_line() { return async_read_until(one, dynamic_buffer(text), '\n'); }
    /// Starts it in the loop.
    template <class Sender, class Receiver> void run(Sender s, Receiver r) {
        auto state = connected(std::move(s), r);
        post(context, [&] { state.start(); });
        context.restart();
        context.run();
    }
};

TEST_F(Repeat, EndsWhenDoneSaysSo) {
    int rounds = 0;
    run(execution::repeat_until([&] { return read_line(); },
                                [&](std::size_t n) {
                                    EXPECT_EQ(n, 7U);
                                    return ++rounds == 3;
                                }),
        recorder<>{&log});
    EXPECT_EQ(rounds, 3);
    EXPECT_EQ(log, "value");
}

TEST_F(Repeat, DoneMayIgnoreTheValues) {
    int rounds = 0;
    run(execution::repeat_until([&] { return read_line(); }, [&] { return ++rounds == 1; }), recorder<>{&log});
    EXPECT_EQ(rounds, 1);
    EXPECT_EQ(log, "value");
}

TEST_F(Repeat, RoundsThatSucceedAtOnceTakeNoStack) {
    test::stack_gauge stack;
    long rounds = 0;
    run(execution::repeat_until(
            [&] {
                stack.look();
                return read_line();
            },
            [&] { return ++rounds == 1'000'000; }),
        recorder<>{&log});
    EXPECT_EQ(rounds, 1'000'000);
    EXPECT_LT(stack.bytes(), 16'384U);
}

TEST_F(Repeat, RoundsThatSucceedAtOnceGiveWay) {
    long rounds = 0;
    long seen = 0;
    auto state = connected(execution::repeat_until([&] { return read_line(); }, [&] { return ++rounds == 100'000; }),
                           recorder<>{&log});
    post(context, [&] {
        state.start();
        EXPECT_LE(rounds, fairness::units_most + 1);
    });
    post(context, [&] { seen = rounds; });
    context.run();
    EXPECT_EQ(rounds, 100'000);
    EXPECT_LE(seen, fairness::units_most + 1);
}

TEST_F(Repeat, RoundsMayWait) {
    std::string got;
    char byte = 0;
    write(other, buffer("abcdef", 6));
    other.close();
    run(execution::repeat_until([&] { return one.async_read_some(buffer(&byte, 1)); },
                                [&](std::size_t n) {
                                    got += byte;
                                    return n == 0;
                                }),
        recorder<>{&log});
    EXPECT_EQ(got, "abcdef");
    EXPECT_EQ(log, "error " + make_error_code(error::eof).message());
}

TEST_F(Repeat, ARoundThatHasWaitedIsFollowedByOthers) {
    steady_timer late(context, 1h);
    int rounds = 0;
    run(execution::repeat_until(
            [&] {
                late.expires_after(rounds % 3 == 0 ? 1ms : 0ms);
                return late.async_wait();
            },
            [&] { return ++rounds == 30; }),
        recorder<>{&log});
    EXPECT_EQ(rounds, 30);
    EXPECT_EQ(log, "value");
}

TEST_F(Repeat, ValuesOfAnyKindArrive) {
    auto [tx, rx] = make_channel<std::string>(context, 10);
    for (char const* s : {"first", "second", "third"})
        tx.try_send(s);
    std::string all;
    run(execution::repeat_until([&] { return rx.next(); },
                                [&](std::optional<std::string> s) {
                                    all += *s + " ";
                                    return *s == "third";
                                }),
        recorder<>{&log});
    EXPECT_EQ(all, "first second third ");
    EXPECT_EQ(log, "value");
}

TEST_F(Repeat, WhatMakeThrowsIsAnError) {
    int rounds = 0;
    run(execution::repeat_until(
            [&] {
                if (++rounds == 3)
                    throw std::runtime_error("no more");
                return read_line();
            },
            [] { return false; }),
        recorder<>{&log});
    EXPECT_EQ(log, "exception no more");
    log.clear();
    run(execution::repeat_until(
            [&] {
                throw std::runtime_error("none");
                return read_line();
            },
            [] { return false; }),
        recorder<>{&log});
    EXPECT_EQ(log, "exception none");
}

TEST_F(Repeat, WhatDoneThrowsIsAnError) {
    for (int const at : {1, 2}) {
        log.clear();
        int rounds = 0;
        run(execution::repeat_until([&] { return read_line(); },
                                    [&]() -> bool {
                                        if (++rounds == at)
                                            throw std::runtime_error("enough");
                                        return false;
                                    }),
            recorder<>{&log});
        EXPECT_EQ(log, "exception enough");
    }
}

TEST_F(Repeat, AStopEndsRoundsThatSucceedAtOnce) {
    inplace_stop_source stop;
    int rounds = 0;
    run(execution::repeat_until([&] { return read_line(); },
                                [&] {
                                    if (++rounds == 5)
                                        stop.request_stop();
                                    return false;
                                }),
        token_recorder{&log, stop.get_token()});
    EXPECT_EQ(rounds, 5);
    EXPECT_EQ(log, "stopped");
}

TEST_F(Repeat, AStopEndsARoundThatWaits) {
    inplace_stop_source stop;
    char byte = 0;
    int rounds = 0;
    write(other, buffer("ab", 2));
    auto state = connected(execution::repeat_until([&] { return one.async_read_some(buffer(&byte, 1)); },
                                                   [&] {
                                                       if (++rounds == 2)
                                                           post(context, [&] { stop.request_stop(); });
                                                       return false;
                                                   }),
                           token_recorder{&log, stop.get_token()});
    post(context, [&] { state.start(); });
    context.run();
    EXPECT_EQ(rounds, 2);
    EXPECT_EQ(log, "stopped");
}

TEST_F(Repeat, ARoundThatListenedIsFollowedByOthers) {
    inplace_stop_source stop;
    std::string got;
    char byte = 0;
    auto state = connected(execution::repeat_until([&] { return one.async_read_some(buffer(&byte, 1)); },
                                                   [&] {
                                                       got += byte;
                                                       if (got.size() < 6)
                                                           post(context, [&] { write(other, buffer("xy", 2)); });
                                                       return got.size() == 6;
                                                   }),
                           token_recorder{&log, stop.get_token()});
    post(context, [&] { state.start(); });
    post(context, [&] { write(other, buffer("w", 1)); });
    context.run();
    EXPECT_EQ(got.size(), 6U);
    EXPECT_EQ(log, "value");
}

TEST_F(Repeat, IsAwaitedInACoroutine) {
    int rounds = 0;
    co_spawn(
        context,
        [](Repeat& of, int& n) -> awaitable<void> {
            co_await execution::repeat_until([&of] { return of.read_line(); }, [&n] { return ++n == 4; });
            of.log = "resumed";
        }(*this, rounds),
        detached);
    context.run();
    EXPECT_EQ(rounds, 4);
    EXPECT_EQ(log, "resumed");
}

/// A coroutine that knows nothing of this library.
struct plain_task {
    struct promise_type {
        static plain_task get_return_object() noexcept { return {}; }
        static std::suspend_never initial_suspend() noexcept { return {}; }
        static std::suspend_never final_suspend() noexcept { return {}; }
        static void return_void() noexcept {}
        static void unhandled_exception() { std::terminate(); }
    };
};
plain_task await_plainly(local::stream_protocol::socket& from, std::string& log) {
    char byte = 0;
    try {
        co_await execution::repeat_until([&] { return from.async_read_some(buffer(&byte, 1)); },
                                         [&](std::size_t) {
                                             log += byte;
                                             return byte == '.';
                                         });
        log += " ended, ";
        co_await execution::repeat_until([&] { return from.async_read_some(buffer(&byte, 1)); }, [] { return false; });
    } catch (system_error const& e) {
        log += e.code() == error::eof ? "failed" : e.what();
    }
}

TEST_F(Repeat, IsAwaitedInACoroutineOfAnotherLibrary) {
    write(other, buffer("ab.", 3));
    post(context, [&] {
        await_plainly(one, log);
        post(context, [&] { other.close(); });
    });
    context.run();
    EXPECT_EQ(log, "ab. ended, failed");
}

TEST_F(Repeat, TheStateMayGoInTheReceiver) {
    struct owner {
        using receiver_concept = execution::receiver_tag;
        std::function<void()>* end;
        void set_value() noexcept { (*end)(); }
        void set_error(error_code const&) noexcept { (*end)(); }
        void set_error(std::exception_ptr const&) noexcept { (*end)(); }
        void set_stopped() noexcept { (*end)(); }
    };
    int rounds = 0;
    auto sender = execution::repeat_until([&] { return read_line(); }, [&] { return ++rounds == 3; });
    using state_type = execution::connect_result_t<decltype(sender), owner>;
    std::function<void()> end;
    std::optional<state_type> state;
    end = [&] {
        state.reset();
        log = "gone";
    };
    state.emplace(test::made_by{[&] { return connected(std::move(sender), owner{&end}); }});
    post(context, [&] { state->start(); });
    context.run();
    EXPECT_EQ(rounds, 3);
    EXPECT_EQ(log, "gone");
}

struct make_wait {
    steady_timer* timer;
    auto operator()() const { return timer->async_wait(); }
};
struct never {
    bool operator()() const { return false; }
};
using repeated_waits = decltype(execution::repeat_until(make_wait(), never()));
static_assert(execution::sender_in<repeated_waits>);
static_assert(
    std::is_same_v<
        execution::completion_signatures_of_t<repeated_waits>,
        execution::completion_signatures<execution::set_value_t(), execution::set_error_t(error_code),
                                         execution::set_error_t(std::exception_ptr), execution::set_stopped_t()>>);

} // namespace
} // namespace senders
