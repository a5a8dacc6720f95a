#include <fairlead/sync/concurrent_channel.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/inline_executor.hpp>
#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/sync/message_channel.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>
#include <fairlead/token/immediate.hpp>
#include <fairlead/token/post.hpp>
#include <fairlead/token/use_future.hpp>
#include <support/scale.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace {

using namespace fairlead;
using numbers_of_threads = experimental::concurrent_channel<void(error_code, int)>;

TEST(ChannelOfAPool, LosesNothingAmongItsThreads) {
    auto const each = static_cast<int>(test::scaled(5'000, 300));
    thread_pool pool(3);
    for (std::size_t const capacity : {0U, 1U, 16U}) {
        numbers_of_threads ch(pool, capacity);
        std::atomic<long> sum{0};
        std::vector<std::future<void>> all;
        for (int c = 0; c != 3; ++c) {
            all.push_back(co_spawn(
                pool,
                [&ch, each]() -> awaitable<void> {
                    for (int i = 1; i <= each; ++i)
                        co_await ch.async_send(error_code(), i);
                },
                use_future));
            all.push_back(co_spawn(
                pool,
                [&ch, &sum, each]() -> awaitable<void> {
                    for (int i = 0; i != each; ++i)
                        sum += co_await ch.async_receive();
                },
                use_future));
        }
        for (auto& f : all)
            f.get();
        EXPECT_EQ(sum, 3L * each * (each + 1) / 2);
        EXPECT_FALSE(ch.ready());
    }
}

// Messages of one sender stay in their order, from one context to another.
TEST(ChannelOfAPool, KeepsTheOrderBetweenContexts) {
    auto const n = static_cast<int>(test::scaled(20'000, 1'000));
    io_context here, there;
    auto ends = make_channel<int>(here, 4);
    co_spawn(
        here,
        [](channel_receiver<int> from, int all) -> awaitable<void> {
            int expected = 0;
            while (auto m = co_await from.next())
                EXPECT_EQ(*m, expected++);
            EXPECT_EQ(expected, all);
        }(std::move(ends.second), n),
        rethrow);
    co_spawn(
        there,
        [](channel_sender<int> to, int all) -> awaitable<void> {
            for (int i = 0; i != all; ++i)
                co_await to.async_send(i);
        }(std::move(ends.first), n),
        rethrow);
    std::thread other([&] { there.run(); });
    here.run();
    other.join();
}

// A receive is cancelled by one thread while another one sends: the message is received, or it is still there.
TEST(ChannelOfAPool, CancelRacesWithSend) {
    auto const rounds = static_cast<int>(test::scaled(20'000, 1'000));
    thread_pool pool(2);
    numbers_of_threads ch(pool, 1);
    for (int i = 0; i != rounds; ++i) {
        cancellation_signal signal;
        auto received = ch.async_receive(bind_cancellation_slot(signal.slot(), as_tuple(use_future)));
        std::promise<bool> sent;
        post(pool, [&] { sent.set_value(ch.try_send(error_code(), i)); });
        signal.emit(cancellation_type::terminal);
        auto const [ec, n] = received.get();
        EXPECT_TRUE(sent.get_future().get());
        if (ec)
            EXPECT_EQ(ec, error::channel_cancelled);
        else
            EXPECT_EQ(n, i);
        EXPECT_EQ(ch.try_receive([&](error_code, int left) { EXPECT_EQ(left, i); }), static_cast<bool>(ec));
    }
}

// A send is cancelled by one thread while another one receives: the message arrives, or its sender knows better.
TEST(ChannelOfAPool, CancelRacesWithReceive) {
    auto const rounds = static_cast<int>(test::scaled(20'000, 1'000));
    thread_pool pool(2);
    numbers_of_threads ch(pool, 0);
    for (int i = 0; i != rounds; ++i) {
        cancellation_signal signal;
        auto sent = ch.async_send(error_code(), i, bind_cancellation_slot(signal.slot(), as_tuple(use_future)));
        std::promise<bool> received;
        post(pool, [&] { received.set_value(ch.try_receive([&](error_code, int n) { EXPECT_EQ(n, i); })); });
        signal.emit(cancellation_type::terminal);
        auto const [ec] = sent.get();
        EXPECT_EQ(received.get_future().get(), !ec);
        EXPECT_FALSE(ch.ready());
    }
}

// Nobody runs the context of this channel: none of its operations has to wait for it.
TEST(ChannelOfAPool, IsTriedWithoutItsLoop) {
    io_context context;
    numbers_of_threads ch(context, 1);
    int sent = 0, got = 0;
    ch.async_send(error_code(), 7, bind_immediate_executor(inline_executor(), [&](error_code) { ++sent; }));
    EXPECT_EQ(sent, 1);
    ch.async_receive(bind_immediate_executor(inline_executor(), [&](error_code, int n) { got = n; }));
    EXPECT_EQ(got, 7);
    thread_pool pool(1);
    auto there = co_spawn(
        pool,
        [&ch]() -> awaitable<int> {
            co_await ch.async_send(error_code(), 8);
            co_return co_await ch.async_receive();
        },
        use_future);
    EXPECT_EQ(there.get(), 8);
}

} // namespace
