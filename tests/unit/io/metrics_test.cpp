#include <fairlead/io/metrics.hpp>

#include <fairlead/io/io_context.hpp>
#include <fairlead/net/local.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/token/post.hpp>

#include <gtest/gtest.h>

#include <thread>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;

TEST(Metrics, CountWhatHasRun) {
    io_context context;
    for (int i = 0; i != 3; ++i)
        post(context, [] {});
    context.run();
    auto const m = context.metrics();
    EXPECT_EQ(m.items, 3U);
    EXPECT_GE(m.turns, 1U);
    EXPECT_EQ(m.yields_budget + m.yields_deadline + m.yields_remote, 0U);
    EXPECT_EQ(m.operations_pending, 0U);
    EXPECT_EQ(m.timers_pending, 0U);
}

TEST(Metrics, ShowWhatIsPendingNow) {
    io_context context;
    local::stream_protocol::socket one(context);
    local::stream_protocol::socket other(context);
    local::connect_pair(one, other);
    steady_timer timer(context, 1h);
    char byte = 0;
    io_metrics during{};
    one.async_read_some(buffer(&byte, 1), [](error_code, std::size_t) {});
    timer.async_wait([](error_code) {});
    timer.async_wait([](error_code) {});
    post(context, [&] {
        during = context.metrics();
        one.cancel();
        timer.cancel();
    });
    context.run();
    EXPECT_EQ(during.operations_pending, 1U);
    EXPECT_EQ(during.timers_pending, 2U);
    auto const after = context.metrics();
    EXPECT_EQ(after.operations_pending, 0U);
    EXPECT_EQ(after.timers_pending, 0U);
    EXPECT_GT(after.system_calls, 0U);
}

TEST(Metrics, CountTimersThatWereDueAndNoOthers) {
    io_context context;
    steady_timer due(context, 0ms), also_due(context, 0ms), cancelled(context, 1h);
    due.async_wait([](error_code) {});
    also_due.async_wait([&](error_code) { cancelled.cancel(); });
    cancelled.async_wait([](error_code) {});
    context.run();
    EXPECT_EQ(context.metrics().timers_expired, 2U);
}

TEST(Metrics, CountWhatOtherThreadsHandIn) {
    io_context context;
    post(context, [&] {
        std::thread([&] {
            for (int i = 0; i != 5; ++i)
                post(context, [] {});
        }).join();
        post(context, [] {});
    });
    context.run();
    EXPECT_EQ(context.metrics().posts_remote, 5U);
}

TEST(Metrics, TellTheCausesOfYieldsApart) {
    io_context context;
    post(context, [&] {
        while (impl::exec::spend()) { // Time may be over before the units are.
        }
    });
    context.run();
    auto const m = context.metrics();
    auto const y = context.yields();
    auto const c = context.counters();
    EXPECT_EQ(m.yields_budget + m.yields_deadline + m.yields_remote, 1U);
    EXPECT_EQ(m.yields_budget, y.budget);
    EXPECT_EQ(m.yields_deadline, y.deadline);
    EXPECT_EQ(m.yields_remote, y.remote);
    EXPECT_EQ(m.polls, c.polls);
    EXPECT_EQ(m.sleeps, c.sleeps);
    EXPECT_EQ(m.spins, c.spins);
    EXPECT_EQ(m.spins_in_vain, c.spins_in_vain);
    EXPECT_EQ(m.verifications, c.verifications);
}

} // namespace
