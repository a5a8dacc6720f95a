// Loop and sockets over a driver for completions: bound to its thread, never ready, and late with what is closed.
#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/local.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/operation/cancellation_signal.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>
#include <fairlead/token/post.hpp>
#include <fairlead/token/use_future.hpp>

#include <gtest/gtest.h>
#include <support/close_each_others.hpp>
#include <support/completions.hpp>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>

#include <fcntl.h>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using unix_socket = local::stream_protocol::socket;

struct Completions : testing::Test {
    fairlead::test::completion_log log;
    io_context context{impl::base::owned<io::driver>(new fairlead::test::completion_driver(log))};
    unix_socket a{context}, b{context};
    char bytes[64] = {};

    Completions() { local::connect_pair(a, b); }

    /// A thread inside run(), for as long as this lives. Calls of other threads for the owner are counted meanwhile.
    class runner {
    public:
        explicit runner(Completions& t) : test_(t), work_(make_work_guard(t.context)) {
            std::promise<void> inside;
            thread_ = std::thread([this, &inside] {
                post(test_.context, [&] {
                    test_.log.runner = std::this_thread::get_id();
                    inside.set_value();
                });
                test_.context.run();
            });
            inside.get_future().wait();
        }
        ~runner() {
            std::promise<void> last;
            post(test_.context, [&] {
                test_.log.runner = std::thread::id();
                last.set_value();
                test_.context.stop();
            });
            last.get_future().wait();
            thread_.join();
            test_.context.restart();
        }

    private:
        Completions& test_;
        executor_work_guard<io_context::executor_type> work_;
        std::thread thread_;
    };
    std::thread::id id_of_runner() {
        return post(context, use_future([] { return std::this_thread::get_id(); })).get();
    }
};

TEST_F(Completions, CallbacksExchangeMessages) {
    std::size_t got = 0;
    async_write(a, buffer("hello", 5), [](error_code ec, std::size_t n) { EXPECT_TRUE(!ec && n == 5); });
    async_read(b, buffer(bytes, 5), [&](error_code ec, std::size_t n) {
        EXPECT_FALSE(ec);
        got = n;
    });
    context.run();
    EXPECT_EQ(got, 5U);
    EXPECT_EQ(std::string_view(bytes, 5), "hello");
    EXPECT_EQ(log.copies, 0U);
}

TEST_F(Completions, CoroutinesExchangeMessages) {
    int rounds = 0;
    auto const echo = [](unix_socket& s) -> awaitable<void> {
        char c[16];
        for (int i = 0; i != 100; ++i) {
            auto const n = co_await s.async_read_some(buffer(c));
            co_await async_write(s, buffer(c, n));
        }
    };
    auto const ask = [](unix_socket& s, int& n) -> awaitable<void> {
        char c[16] = "question";
        for (; n != 100; ++n) {
            co_await async_write(s, buffer(c, 8));
            co_await async_read(s, buffer(c, 8));
        }
    };
    co_spawn(context, echo(a), detached);
    co_spawn(context, ask(b, rounds), detached);
    context.run();
    EXPECT_EQ(rounds, 100);
}

TEST_F(Completions, OperationsOfAClosedSocketCompleteLate) {
    int calls = 0;
    a.async_read_some(buffer(bytes), [&](error_code ec, std::size_t) {
        ++calls;
        EXPECT_EQ(ec, error::operation_aborted);
    });
    post(context, [&] {
        a.close();
        EXPECT_FALSE(a.is_open());
        EXPECT_EQ(log.copies, 1U) << "the kernel is not done with it";
        EXPECT_EQ(context.driver().reactor().pending(), 1U) << "run() does not end before";
    });
    context.run();
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(log.late_aborts, 1U);
    EXPECT_EQ(log.copies, 0U);
}

TEST_F(Completions, ACancelledOperationCompletesOnceAndLate) {
    int calls = 0;
    cancellation_signal signal;
    auto const count = [&](error_code ec, std::size_t) {
        ++calls;
        EXPECT_EQ(ec, error::operation_aborted);
    };
    a.async_read_some(buffer(bytes), bind_cancellation_slot(signal.slot(), count));
    post(context, [&] {
        signal.emit(cancellation_type::terminal);
        signal.emit(cancellation_type::terminal);
        a.cancel();
        EXPECT_EQ(calls, 0);
    });
    context.run();
    EXPECT_EQ(calls, 1);
}

TEST_F(Completions, WhatIsPendingIsStoppedAndGivenUpWithItsContext) {
    auto const there = std::make_shared<int>();
    std::optional<io_context> other(std::in_place,
                                    impl::base::owned<io::driver>(new fairlead::test::completion_driver(log)));
    unix_socket c(*other), d(*other);
    local::connect_pair(c, d);
    c.async_read_some(buffer(bytes), [there](error_code, std::size_t) { ADD_FAILURE() << "called"; });
    d.async_read_some(buffer(bytes), [there](error_code, std::size_t) { ADD_FAILURE() << "called"; });
    d.close(); // Done, and not told of.
    EXPECT_EQ(log.copies, 2U);
    other.reset();
    EXPECT_EQ(there.use_count(), 1);
    EXPECT_EQ(log.copies, 0U);
}

TEST_F(Completions, OtherThreadsStartAndCloseThroughTheOwner) {
    runner const here(*this);
    auto const reading = a.async_read_some(buffer(bytes), use_future);
    b.async_write_some(buffer("x", 1), use_future).get();
    auto waits = a.async_read_some(buffer(bytes), use_future);
    a.close();
    EXPECT_FALSE(a.is_open());
    EXPECT_THROW(waits.get(), system_error);
    steady_timer timer(context, 1h);
    auto expires = timer.async_wait(use_future);
    EXPECT_EQ(timer.cancel(), 1U);
    EXPECT_THROW(expires.get(), system_error);
    EXPECT_EQ(log.calls_of_others, 0U);
}

TEST_F(Completions, ACloseOfAnotherThreadIsDoneWhenItReturns) {
    runner const here(*this);
    for (int i = 0; i != 200; ++i) {
        unix_socket c(context), d(context);
        local::connect_pair(c, d);
        auto read = c.async_read_some(buffer(bytes), use_future);
        int const fd = c.native_handle();
        c.close();
        EXPECT_EQ(::fcntl(fd, F_GETFD), -1);
        EXPECT_THROW(read.get(), system_error);
    }
    EXPECT_EQ(log.calls_of_others, 0U);
}

TEST_F(Completions, ACallForTheOwnerIsMadeByTheOwner) {
    runner const here(*this);
    auto const id = context.as_loop().as_owner([]() noexcept { return std::this_thread::get_id(); });
    EXPECT_EQ(id, id_of_runner());
}

TEST_F(Completions, ASecondRunWaitsForTheEndOfTheFirst) {
    std::atomic<bool> is_first_inside{false}, has_second_returned{false};
    std::promise<void> go_on, second_is_on_its_way;
    std::thread first([&] {
        post(context, [&] {
            is_first_inside = true;
            go_on.get_future().wait();
            EXPECT_FALSE(has_second_returned);
            context.stop();
        });
        post(context, [] { ADD_FAILURE() << "run by the other one"; });
        context.run();
        is_first_inside = false;
    });
    while (!is_first_inside)
        std::this_thread::yield();
    std::thread second([&] {
        second_is_on_its_way.set_value();
        EXPECT_EQ(context.run(), 0U) << "stopped before it was inside";
        has_second_returned = true;
    });
    second_is_on_its_way.get_future().wait();
    EXPECT_EQ(context.poll(), 0U) << "which does not wait";
    EXPECT_EQ(context.run_for(1ns), 0U);
    go_on.set_value();
    first.join();
    second.join();
    EXPECT_TRUE(has_second_returned);
    context.abandon_all();
}

TEST_F(Completions, TheLoopIsNotTakenFromAHandlerThatComputes) {
    runner const here(*this);
    auto const id = id_of_runner();
    std::atomic<int> handlers{0};
    std::promise<void> begun, end;
    post(context, [&] {
        begun.set_value();
        end.get_future().wait();
        EXPECT_EQ(handlers, 0);
    });
    begun.get_future().wait();
    for (int i = 0; i != 10; ++i)
        post(context, [&] {
            ++handlers;
            EXPECT_EQ(std::this_thread::get_id(), id);
        });
    EXPECT_EQ(context.poll(), 0U);
    end.set_value();
    id_of_runner();
    EXPECT_EQ(handlers, 10);
    EXPECT_EQ(log.calls_of_others, 0U);
}

TEST_F(Completions, BetweenTwoRunsAnyThreadMayHaveTheLoop) {
    std::size_t got = 0;
    std::thread([&] {
        b.async_read_some(buffer(bytes), [&](error_code ec, std::size_t n) {
            EXPECT_FALSE(ec);
            got += n;
        });
    }).join();
    a.write_some(buffer("abc", 3));
    std::thread([&] { context.run(); }).join();
    EXPECT_EQ(got, 3U);
    b.async_read_some(buffer(bytes), [&](error_code ec, std::size_t) { EXPECT_EQ(ec, error::operation_aborted); });
    std::thread([&] { b.close(); }).join();
    context.restart();
    EXPECT_EQ(context.run(), 1U);
}

TEST_F(Completions, TwoLoopsMayCloseEachOthersSockets) {
    io_context other(impl::base::owned<io::driver>(new fairlead::test::completion_driver(log)));
    fairlead::test::close_each_others(context, other);
    io_context of_epoll;
    fairlead::test::close_each_others(context, of_epoll);
}

TEST_F(Completions, AThreadThatAsksWhenTheRunnerLeavesIsAnswered) {
    for (int i = 0; i != 200; ++i) {
        unix_socket c(context), d(context);
        local::connect_pair(c, d);
        std::thread leaves([&] {
            post(context, [] {});
            context.run();
        });
        c.close();
        leaves.join();
        context.restart();
    }
}

} // namespace
