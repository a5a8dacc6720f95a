// Row D8: a channel is tried before its asynchronous operations, as Boost.Redis does between its reader and its
// callers.
#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/sync/channel.hpp>
#include <fairlead/sync/concurrent_channel.hpp>
#include <fairlead/token/post.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <exception>
#include <vector>

namespace {

using namespace fairlead;

/// The essay's way: an asynchronous operation is begun only if it would have to wait.
template <class Channel> struct tried_first {
    io_context& context;
    Channel ch;
    std::vector<int> got;
    int sends_waited = 0, receives_waited = 0;

    tried_first(io_context& c, std::size_t capacity) : context(c), ch(c, capacity) {}
    awaitable<void> send(int n) {
        if (ch.try_send(error_code(), n))
            co_return;
        ++sends_waited;
        co_await ch.async_send(error_code(), n, use_await);
    }
    awaitable<void> receive() {
        if (ch.try_receive([this](error_code, int n) { got.push_back(n); }))
            co_return;
        ++receives_waited;
        auto const n = co_await ch.async_receive(use_await);
        got.push_back(n);
    }
};

using experimental::channel;
using experimental::concurrent_channel;

template <class Channel> void send_and_receive_by_turns() {
    io_context context;
    tried_first<Channel> t(context, 8);
    constexpr int messages = 10'000; // Far more than an item may complete: a try is no operation, and takes no unit.
    bool another_ran = false, is_done = false;
    co_spawn(
        context,
        [](tried_first<Channel>& of, bool& another, bool& done) -> awaitable<void> {
            post(of.context, [&another] { another = true; });
            for (int i = 0; i != messages; ++i) {
                if (!of.ch.try_send(error_code(), i))
                    co_await of.send(i);
                if (!of.ch.try_receive([&of](error_code, int n) { of.got.push_back(n); }))
                    co_await of.receive();
            }
            EXPECT_FALSE(another) << "the coroutine has given way";
            done = true;
        }(t, another_ran, is_done),
        [](std::exception_ptr e) { EXPECT_FALSE(e); });
    context.run();
    EXPECT_TRUE(is_done && another_ran);
    EXPECT_EQ(t.sends_waited + t.receives_waited, 0);
    ASSERT_EQ(t.got.size(), std::size_t{messages});
    for (int i = 0; i != messages; ++i)
        ASSERT_EQ(t.got[static_cast<std::size_t>(i)], i);
}
TEST(Papers, D08_TryingFirstTakesNoTripThroughTheQueue) {
    send_and_receive_by_turns<channel<void(error_code, int)>>();
    send_and_receive_by_turns<concurrent_channel<void(error_code, int)>>();
}

template <class Channel> void send_to_a_slow_receiver() {
    io_context context;
    tried_first<Channel> t(context, 2);
    constexpr int messages = 100;
    auto const no_failure = [](std::exception_ptr e) { EXPECT_FALSE(e); };
    co_spawn(
        context,
        [](tried_first<Channel>& of) -> awaitable<void> {
            for (int i = 0; i != messages; ++i)
                co_await of.receive();
        }(t),
        no_failure);
    co_spawn(
        context,
        [](tried_first<Channel>& of) -> awaitable<void> {
            for (int i = 0; i != messages; ++i)
                co_await of.send(i);
        }(t),
        no_failure);
    context.run();
    EXPECT_GT(t.sends_waited, 0) << "the buffer has two places";
    EXPECT_GT(t.receives_waited, 0) << "the receiver comes first";
    ASSERT_EQ(t.got.size(), std::size_t{messages});
    for (int i = 0; i != messages; ++i)
        ASSERT_EQ(t.got[static_cast<std::size_t>(i)], i) << "a message that waited was overtaken, or is lost";
}
TEST(Papers, D08_WhatCannotBeTriedIsAwaited) {
    send_to_a_slow_receiver<channel<void(error_code, int)>>();
    send_to_a_slow_receiver<concurrent_channel<void(error_code, int)>>();
}

template <class Channel> void send_via_dispatch() {
    io_context context;
    Channel ch(context);
    std::vector<int> got;
    auto const receive = [&] { ch.async_receive([&](error_code, int n) { got.push_back(n); }); };
    bool is_done = false;
    post(context, [&] {
        receive();
        EXPECT_TRUE(ch.try_send(error_code(), 1));
        EXPECT_TRUE(got.empty()) << "try_send goes through the queue";
        post(context, [&] {
            EXPECT_EQ(got, (std::vector{1}));
            receive();
            EXPECT_TRUE(ch.try_send_via_dispatch(error_code(), 2));
            EXPECT_EQ(got, (std::vector{1, 2})) << "and the more aggressive form does not";
            EXPECT_FALSE(ch.try_send_via_dispatch(error_code(), 3)) << "nobody receives, and there is no buffer";
            is_done = true;
        });
    });
    context.run();
    EXPECT_TRUE(is_done);
    EXPECT_EQ(got, (std::vector{1, 2}));
}
TEST(Papers, D08_SendingViaDispatchCallsAReceiverThatWaitsInsideTheCall) {
    send_via_dispatch<channel<void(error_code, int)>>();
    send_via_dispatch<concurrent_channel<void(error_code, int)>>();
}

} // namespace
