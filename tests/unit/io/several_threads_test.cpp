// One io_context, several threads inside run().
#include <fairlead/coro/spawn.hpp>
#include <fairlead/net/connect.hpp>
#include <fairlead/net/resolver.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/post.hpp>
#include <fairlead/token/use_future.hpp>

#include <support/scale.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

using namespace fairlead;
using namespace std::chrono_literals;
using fairlead::test::scaled;
using local_socket = local::stream_protocol::socket;

namespace {

/// Threads inside run(), joined at the end.
class runners {
public:
    runners(io_context& c, int n) {
        for (int i = 0; i != n; ++i)
            threads_.emplace_back([&] { handlers_ += c.run(); });
    }
    ~runners() { join(); }
    std::size_t join() {
        for (auto& t : threads_)
            t.join();
        threads_.clear();
        return handlers_;
    }

private:
    std::atomic<std::size_t> handlers_{0};
    std::vector<std::thread> threads_;
};

TEST(SeveralThreads, RunHandlersAtTheSameTime) {
    io_context context;
    std::latch together(3); // Only if all three are inside their handlers does anybody get out.
    for (int i = 0; i != 3; ++i)
        post(context, [&] { together.arrive_and_wait(); });
    runners threads(context, 3);
    EXPECT_EQ(threads.join(), 3U);
    EXPECT_TRUE(context.stopped());
}

TEST(SeveralThreads, OneThatComesLaterHelpsAHandlerThatWaitsForIt) {
    io_context context;
    std::promise<void> helped;
    std::atomic<bool> waiting{false};
    post(context, [&] {
        post(context, [&] { helped.set_value(); });
        waiting = true;
        helped.get_future().wait();
    });
    std::thread first([&] { context.run(); });
    while (!waiting)
        std::this_thread::yield();
    std::thread second([&] { context.run(); }); // The first one will not give the context away by itself.
    first.join();
    second.join();
}

// The second thread takes the loop from a handler, finds nothing, and must not think that this was all.
TEST(SeveralThreads, HandlerWhoseLoopWasTakenIsStillWork) {
    for (int round = 0; round != 200; ++round) {
        io_context context;
        std::atomic<bool> has_begun{false}, has_returned{false};
        std::latch over(1);
        std::thread second;
        post(context, [&] {
            second = std::thread([&] {
                has_begun = true;
                context.run();
                has_returned = true;
            });
            while (!has_begun)
                std::this_thread::yield();
            for (int i = 0; i != 100 && !has_returned; ++i)
                std::this_thread::yield(); // for it to come to the wrong conclusion
            post(context, [&] { over.count_down(); });
            while (!over.try_wait() && !has_returned)
                std::this_thread::yield(); // Nobody else can run what was posted.
        });
        context.run();
        second.join();
        ASSERT_TRUE(over.try_wait()) << "run() returned with a handler under way, round " << round;
    }
}

TEST(SeveralThreads, NestedRunsEndWithoutWaitingForTheirHandler) {
    for (int round = 0; round != 200; ++round) {
        io_context context;
        std::atomic<int> inner{0};
        for (int i = 0; i != 4; ++i)
            post(context, [&] {
                post(context, [&] { ++inner; });
                context.poll();
            });
        runners(context, 2).join();
        EXPECT_EQ(inner, 4);
    }
}

TEST(SeveralThreads, EveryHandlerRunsOnce) {
    io_context context;
    constexpr int posters = 3;
    int const each = static_cast<int>(scaled(20'000, 500));
    std::atomic<int> ran{0};
    std::atomic<std::size_t> counted{0};
    {
        auto guard = std::make_unique<decltype(make_work_guard(context))>(make_work_guard(context));
        runners threads(context, 3);
        std::vector<std::thread> outside;
        for (int p = 0; p != posters; ++p)
            outside.emplace_back([&] {
                for (int i = 0; i != each; ++i)
                    post(context, [&] {
                        if (ran.fetch_add(1) % 2 == 0)
                            post(context, [&] { ++ran; });
                    });
            });
        for (auto& t : outside)
            t.join();
        guard.reset();
        counted = threads.join();
    }
    EXPECT_EQ(counted, static_cast<std::size_t>(ran.load()));
    EXPECT_GE(ran, posters * each);
}

TEST(SeveralThreads, StopEndsAllAndTheyCanComeBack) {
    io_context context;
    auto guard = make_work_guard(context);
    for (int round = 0; round != 20; ++round) {
        std::atomic<int> inside{0};
        for (int i = 0; i != 3; ++i)
            post(context, [&] { ++inside; });
        runners threads(context, 3);
        while (inside != 3)
            std::this_thread::yield();
        context.stop();
        threads.join();
        EXPECT_TRUE(context.stopped());
        context.restart();
    }
}

TEST(SeveralThreads, ExceptionLeavesTheRunOfItsThreadOnly) {
    io_context context;
    std::latch inside(2);
    std::atomic<int> threw{0}, went_on{0};
    post(context, [&] {
        inside.arrive_and_wait();
        throw std::runtime_error("mine");
    });
    post(context, [&] {
        inside.arrive_and_wait();
        post(context, [&] { ++went_on; });
    });
    auto const run = [&] {
        try {
            context.run();
        } catch (std::runtime_error const&) {
            ++threw;
            context.run();
        }
    };
    std::thread a(run), b(run);
    a.join();
    b.join();
    EXPECT_EQ(threw, 1);
    EXPECT_EQ(went_on, 1);
}

TEST(SeveralThreads, TimersExpireOnceAndCanBeCancelledFromAnyOfThem) {
    io_context context;
    std::atomic<int> expired{0}, aborted{0};
    int const rounds = static_cast<int>(scaled(2'000, 100));
    constexpr int chains = 6;
    struct chain {
        steady_timer timer;
        int left;
    };
    std::vector<std::unique_ptr<chain>> all;
    std::function<void(chain&)> next = [&](chain& c) {
        if (c.left-- == 0)
            return;
        bool const is_late = c.left % 3 == 0; // Once it waits, another thread may have it.
        c.timer.expires_after(is_late ? 1h : 0ns);
        c.timer.async_wait([&, at = &c](error_code ec) {
            ++(ec ? aborted : expired);
            next(*at);
        });
        if (is_late) {
            EXPECT_EQ(c.timer.cancel(), 1U);
        }
    };
    for (int i = 0; i != chains; ++i) {
        all.push_back(std::make_unique<chain>(chain{steady_timer(context), rounds}));
        post(context, [&, c = all.back().get()] { next(*c); });
    }
    runners(context, 3).join();
    EXPECT_EQ(expired + aborted, chains * rounds);
    EXPECT_EQ(aborted, chains * ((rounds + 2) / 3));
}

awaitable<void> echo(local_socket s) {
    std::array<char, 64> bytes;
    for (;;) {
        auto const [ec, n] = co_await s.async_read_some(buffer(bytes), as_tuple);
        if (ec)
            co_return;
        co_await async_write(s, buffer(bytes, n));
    }
}
awaitable<void> talk(local_socket s, int messages, std::atomic<int>& right) {
    std::array<char, 64> out{}, in{};
    for (int i = 0; i != messages; ++i) {
        out[0] = static_cast<char>(i);
        co_await async_write(s, buffer(out));
        co_await async_read(s, buffer(in));
        right += in == out;
    }
}

TEST(SeveralThreads, CoroutinesTalkOverSockets) {
    io_context context;
    int const messages = static_cast<int>(scaled(2'000, 50));
    constexpr int pairs = 8;
    std::atomic<int> right{0};
    for (int i = 0; i != pairs; ++i) {
        local_socket a(context), b(context);
        local::connect_pair(a, b);
        co_spawn(context, echo(std::move(a)), detached);
        co_spawn(context, talk(std::move(b), messages, right), detached);
    }
    runners(context, 3).join();
    EXPECT_EQ(right, pairs * messages);
}

TEST(SeveralThreads, ReadsThatCloseAndCancelEndCompleteOnce) {
    io_context context;
    int const rounds = static_cast<int>(scaled(500, 50));
    std::atomic<int> ended{0}, started{0};
    std::function<void(int)> round = [&](int left) {
        if (left == 0)
            return;
        struct pair {
            local_socket a, b;
            std::array<char, 8> bytes;
        };
        auto p = std::make_shared<pair>(pair{local_socket(context), local_socket(context), {}});
        local::connect_pair(p->a, p->b);
        ++started;
        p->a.async_read_some(buffer(p->bytes), [&, p, left](error_code ec, std::size_t) {
            EXPECT_TRUE(ec);
            ++ended;
            round(left - 1);
        });
        if (left % 3 == 0)
            p->a.cancel();
        else if (left % 3 == 1)
            p->a.close();
        else
            p->b.close();
    };
    for (int i = 0; i != 4; ++i)
        post(context, [&] { round(rounds); });
    runners(context, 3).join();
    EXPECT_EQ(started, 4 * rounds);
    EXPECT_EQ(ended, started);
}

TEST(SeveralThreads, LookUpsAreAnsweredAndGivenUp) {
    io_context context;
    std::atomic<int> ended{0};
    std::vector<std::unique_ptr<ip::tcp::resolver>> all;
    for (int i = 0; i != 20; ++i) {
        all.push_back(std::make_unique<ip::tcp::resolver>(context));
        post(context, [&, i, r = all.back().get()] {
            r->async_resolve("127.0.0.1", "80", [&](error_code, auto) { ++ended; });
            if (i % 2)
                r->cancel();
        });
    }
    runners(context, 3).join();
    EXPECT_EQ(ended, 20);
}

TEST(SeveralThreads, PollAndRunOneTakeTheirPart) {
    io_context context;
    int const count = static_cast<int>(scaled(5'000, 200));
    std::atomic<int> ran{0};
    for (int i = 0; i != count; ++i)
        post(context, [&] { ++ran; });
    std::thread one([&] {
        while (context.run_one() != 0) {
        }
    });
    std::thread all([&] {
        while (context.poll() != 0) {
        }
    });
    std::thread limited([&] { context.run_for(10s); });
    one.join();
    all.join();
    limited.join();
    EXPECT_EQ(ran, count);
}

TEST(SeveralThreads, FuturesOfOneAreSetByTheOthers) {
    io_context context;
    auto guard = make_work_guard(context);
    runners threads(context, 2);
    for (int i = 0; i != 50; ++i) {
        steady_timer t(context, 0ns);
        t.async_wait(use_future).get();
    }
    guard.reset();
}

} // namespace
