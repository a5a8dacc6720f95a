// Broadcasts, watches, oneshots and events that several threads use.
#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/sync/broadcast.hpp>
#include <fairlead/sync/event.hpp>
#include <fairlead/sync/oneshot.hpp>
#include <fairlead/sync/watch.hpp>
#include <fairlead/token/use_future.hpp>
#include <support/scale.hpp>

#include <gtest/gtest.h>

#include <future>
#include <thread>
#include <vector>

namespace {

using namespace fairlead;

constexpr int receivers = 4;

awaitable<long> count_all(broadcast_receiver<int> from) {
    long got = 0, last = -1;
    while (auto m = co_await from.next()) {
        EXPECT_EQ(m->value, last + 1 + static_cast<long>(m->lost));
        last = m->value;
        got += 1 + static_cast<long>(m->lost);
    }
    co_return got;
}
TEST(EndsOfAPool, ABroadcastTellsEachReceiverOfAll) {
    auto const n = static_cast<int>(test::scaled(20'000, 1'000));
    thread_pool pool(3);
    std::vector<std::future<long>> all;
    {
        auto ends = make_broadcast<int>(pool, 8);
        for (int i = 1; i != receivers; ++i)
            all.push_back(co_spawn(pool, count_all(ends.second), use_future));
        all.push_back(co_spawn(pool, count_all(std::move(ends.second)), use_future));
        for (int i = 0; i != n; ++i)
            ends.first.send(i);
    }
    for (auto& each : all)
        EXPECT_EQ(each.get(), n);
}

awaitable<int> last_value(watch_receiver<int> from) {
    int last = 0;
    while (auto v = co_await from.next()) {
        EXPECT_GE(*v, last) << "values do not go back";
        EXPECT_LE(*v, from.get());
        last = *v;
    }
    co_return last;
}
TEST(EndsOfAPool, OfAWatchTheLastValueIsSeen) {
    auto const n = static_cast<int>(test::scaled(20'000, 1'000));
    thread_pool pool(3);
    std::vector<std::future<int>> all;
    {
        auto ends = make_watch<int>(pool, 0);
        for (int i = 0; i != receivers; ++i)
            all.push_back(co_spawn(pool, last_value(ends.second), use_future));
        for (int i = 1; i <= n; ++i)
            ends.first.send(i);
    }
    for (auto& each : all)
        EXPECT_EQ(each.get(), n);
}

awaitable<int> answer(oneshot_receiver<int> from) {
    auto const m = co_await from.next();
    co_return m ? *m : -1;
}
TEST(EndsOfAPool, AOneshotBringsItsMessageOrTheEnd) {
    auto const rounds = test::scaled(5'000, 300);
    thread_pool pool(3);
    for (std::uint64_t i = 0; i != rounds; ++i) {
        auto ends = make_oneshot<int>(pool);
        auto result = co_spawn(pool, answer(std::move(ends.second)), use_future);
        {
            auto sender = std::move(ends.first);
            if (i % 2 == 0) {
                EXPECT_TRUE(sender.send(3));
            }
        }
        EXPECT_EQ(result.get(), i % 2 == 0 ? 3 : -1);
    }
}

TEST(EndsOfAPool, AnEventThatIsSetLetsAllGo) {
    auto const rounds = test::scaled(1'000, 100);
    thread_pool pool(3);
    for (std::uint64_t i = 0; i != rounds; ++i) {
        event e(pool);
        auto const wait = [](event& of) -> awaitable<void> { co_await of.async_wait(); };
        std::vector<std::future<void>> all;
        for (int k = 0; k != receivers; ++k)
            all.push_back(co_spawn(pool, wait(e), use_future));
        std::thread other([&] { e.set(); });
        e.set();
        for (auto& each : all)
            EXPECT_NO_THROW(each.get());
        other.join();
    }
}

} // namespace
