// One io_context, several threads inside run().
#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/net/connect.hpp>
#include <fairlead/net/resolver.hpp>
#include <fairlead/net/signal_set.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/post.hpp>
#include <fairlead/token/use_future.hpp>

#include <catalogue/bent_driver.hpp>
#include <support/close_each_others.hpp>
#include <support/scale.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <functional>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <set>
#include <stdexcept>
#include <string>
#include <sys/single_threaded.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using fairlead::test::scaled;
using local_socket = local::stream_protocol::socket;

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
    // Giving way a hundred times takes a second where others want the processor, too.
    for (std::uint64_t round = 0, rounds = scaled(50, 10); round != rounds; ++round) {
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

TEST(SeveralThreads, ATimeLimitHoldsAlsoForAThreadThatDoesNotGetTheLoop) {
    io_context context;
    auto guard = make_work_guard(context);
    runners sleeper(context, 1);
    std::promise<void> begun;
    post(context, [&] { begun.set_value(); });
    begun.get_future().wait();
    EXPECT_EQ(context.run_for(1ms), 0U);
    EXPECT_EQ(context.run_one_for(1ms), 0U);
    EXPECT_EQ(context.poll(), 0U) << "who sleeps has nothing to run";
    EXPECT_FALSE(context.stopped());
    std::promise<void> done;
    post(context, [&] { done.set_value(); });
    done.get_future().wait();
    guard.reset();
    EXPECT_EQ(sleeper.join(), 2U);
}

TEST(SeveralThreads, PollTakesTheLoopFromAHandlerThatComputes) {
    io_context context;
    std::latch inside(1), out(1);
    post(context, [&] {
        inside.count_down();
        out.wait();
    });
    runners busy(context, 1);
    inside.wait();
    bool ran = false;
    post(context, [&] { ran = true; });
    while (!ran)
        context.poll();
    out.count_down();
    EXPECT_EQ(busy.join(), 1U);
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

// Each thread takes several handlers at a time. Those behind one that blocks are run by the other thread.
TEST(SeveralThreads, HandlersBehindOneThatBlocksAreRunByTheOther) {
    io_context context;
    constexpr int others = 40;
    std::latch inside(2), all(others);
    for (int i = 0; i != 2; ++i)
        post(context, [&] { inside.arrive_and_wait(); }); // From here on two threads share the context.
    post(context, [&] { all.wait(); });
    for (int i = 0; i != others; ++i)
        post(context, [&] { all.count_down(); });
    EXPECT_EQ(runners(context, 2).join(), 3U + others);
}

TEST(SeveralThreads, HandlerWaitsForWhatItHasPosted) {
    for (int round = 0; round != 100; ++round) {
        io_context context;
        std::latch inside(2);
        std::atomic<int> ran{0};
        for (int i = 0; i != 2; ++i)
            post(context, [&] {
                inside.arrive_and_wait();
                if (ran.fetch_add(1) != 0)
                    return; // One of the two waits, the other one becomes idle.
                post(context, [&] {
                    std::latch over(3);
                    for (int each = 0; each != 3; ++each)
                        post(context, [&] { over.count_down(); });
                    over.wait();
                });
            });
        EXPECT_EQ(runners(context, 2).join(), 6U);
    }
}

// Many short handlers: one thread keeps the context to itself, until a handler waits for the other thread.
TEST(SeveralThreads, HandlerThatWaitsAfterManyShortOnesIsHelped) {
    io_context context;
    std::latch inside(2), over(2);
    int left = 200'000;
    std::function<void()> again = [&] {
        if (--left > 0)
            return post(context, again);
        post(context, [&] { over.count_down(); });
        over.arrive_and_wait();
    };
    std::atomic<int> ran{0};
    for (int i = 0; i != 2; ++i)
        post(context, [&] {
            inside.arrive_and_wait(); // From here on two threads share the context.
            if (ran.fetch_add(1) == 0)
                again();
        });
    runners(context, 2).join();
    EXPECT_EQ(left, 0);
}

// Handlers that take no time and post nothing: a thread takes many at a time as soon as it knows that.
TEST(SeveralThreads, TakeManyShortHandlersAtATime) {
    test::bend b;
    b.stands = true;
    io_context context(std::make_unique<test::bent_driver>(b));
    constexpr std::size_t short_ones = 10'000;
    std::latch inside(2);
    for (int i = 0; i != 2; ++i)
        post(context, [&] { inside.arrive_and_wait(); }); // From here on two threads share the context.
    for (std::size_t i = 0; i != short_ones; ++i)
        post(context, [] {});
    EXPECT_EQ(runners(context, 2).join(), 2 + short_ones);
    EXPECT_LT(context.counters().turns, short_ones / 2);
}

// A handler of a microsecond that posts the next one, and nothing else: its thread need not come back for each.
TEST(SeveralThreads, ComeBackSeldomWhileNothingElseIsQueued) {
    test::bend b;
    b.stands = true;
    io_context context(std::make_unique<test::bent_driver>(b));
    constexpr std::size_t length = 10'000;
    std::latch inside(2);
    std::size_t left = length;
    std::function<void()> again = [&] {
        b.ahead_ns += 1'000;
        if (--left != 0)
            post(context, again);
    };
    for (int i = 0; i != 2; ++i)
        post(context, [&] { inside.arrive_and_wait(); }); // From here on two threads share the context.
    post(context, again);
    EXPECT_EQ(runners(context, 2).join(), 2 + length);
    EXPECT_LT(context.counters().turns, length / 2);
}

// Later, with a second thread about, that would take some milliseconds.
TEST(SeveralThreads, AreMadeReadyForByAContextThatIsToHaveThem) {
    if (impl::exec::shares::are_prepared())
        GTEST_SKIP() << "another test was here before";
    io_context for_one(1);
    EXPECT_FALSE(impl::exec::shares::are_prepared());
    io_context for_two(2);
    if (!__libc_single_threaded)
        GTEST_SKIP() << "the process has other threads already";
    EXPECT_TRUE(impl::exec::shares::are_prepared());
}

TEST(SeveralThreads, NestedRunRunsWhatStandsBehindItsHandler) {
    io_context context;
    std::latch inside(2);
    std::atomic<int> ran{0};
    for (int i = 0; i != 2; ++i)
        post(context, [&] {
            inside.arrive_and_wait();
            for (int each = 0; each != 5; ++each)
                post(context, [&] { ++ran; });
            while (ran != 10)
                context.poll();
        });
    runners(context, 2).join();
    EXPECT_EQ(ran, 10);
}

// The messages of a driver to itself are no handlers: neither for run(), which counts them, nor for run_one().
TEST(SeveralThreads, OnlyHandlersCount) {
    io_context context;
    std::atomic<std::size_t> handlers{0};
    constexpr int pairs = 6;
    int const messages = static_cast<int>(scaled(500, 50));
    struct session {
        local_socket socket;
        int left;
        std::atomic<std::size_t>& handlers;
        std::array<char, 16> bytes{};
        void read() {
            socket.async_read_some(buffer(bytes), [this](error_code ec, std::size_t) {
                ++handlers;
                if (!ec)
                    write();
            });
        }
        void write() {
            async_write(socket, buffer(bytes), [this](error_code ec, std::size_t) {
                ++handlers;
                if (!ec && --left > 0)
                    read();
            });
        }
    };
    std::vector<std::unique_ptr<session>> all;
    for (int i = 0; i != pairs; ++i) {
        auto a = std::make_unique<session>(session{local_socket(context), messages, handlers});
        auto b = std::make_unique<session>(session{local_socket(context), messages, handlers});
        local::connect_pair(a->socket, b->socket);
        a->write();
        b->read();
        all.push_back(std::move(a));
        all.push_back(std::move(b));
    }
    std::atomic<std::size_t> counted{0};
    std::thread one([&] {
        while (std::size_t const n = context.run_one()) {
            EXPECT_EQ(n, 1U);
            counted += n;
        }
    });
    counted += runners(context, 2).join();
    one.join();
    EXPECT_EQ(counted, handlers.load());
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

// The thread sanitizer holds a signal back for as long as its thread waits in a way that it does not know.
TEST(SeveralThreads, SignalIsHandledInWhicheverThreadItArrives) {
    io_context context;
    auto guard = make_work_guard(context);
    thread_pool pool(1);
    std::promise<pthread_t> worker;
    post(pool, [&] { worker.set_value(::pthread_self()); });
    std::vector<std::thread> threads;
    std::vector<pthread_t> targets{worker.get_future().get()};
    for (int i = 0; i != 2; ++i) { // One sleeps in the driver, the other one waits for the loop.
        threads.emplace_back([&] { context.run(); });
        targets.push_back(threads.back().native_handle());
    }
    {
        signal_set set(context, SIGUSR1);
        for (auto target : targets) {
            auto const heard = std::make_shared<std::promise<int>>();
            set.async_wait([heard](error_code, int number) { heard->set_value(number); });
            ::pthread_kill(target, SIGUSR1);
            auto answer = heard->get_future();
            if (answer.wait_for(30s) != std::future_status::ready) {
                ADD_FAILURE() << "waited 30 s for the handler of a signal that one of the threads was sent";
                context.stop();
                break;
            }
            EXPECT_EQ(answer.get(), SIGUSR1);
        }
    }
    guard.reset();
    for (auto& t : threads)
        t.join();
}

/// Calls f() in another thread while the one that owns the loop is inside a handler, and then lets that one go on.
template <class F> void while_the_owner_is_busy(io_context& context, F f) {
    std::promise<void> busy, done;
    auto const is_done = done.get_future().share();
    post(context, [&busy, is_done] {
        busy.set_value();
        is_done.wait_for(10s); // Where the loop cannot be taken from a handler, f() waits for the end of this one.
    });
    std::thread owner([&] { context.run(); });
    busy.get_future().wait();
    f();
    done.set_value();
    owner.join();
}

TEST(SeveralThreads, TwoLoopsMayCloseEachOthersSockets) {
    io_context a, b;
    fairlead::test::close_each_others(a, b);
}

TEST(SeveralThreads, OperationStartedAndClosedWhileTheOwnerIsBusyWasAborted) {
    io_context context;
    local_socket a(context), b(context), c(context), d(context);
    local::connect_pair(a, b);
    local::connect_pair(c, d);
    std::string log;
    char byte;
    while_the_owner_is_busy(context, [&] {
        a.async_read_some(buffer(&byte, 1), [&](error_code ec, std::size_t n) {
            EXPECT_EQ(ec, error::operation_aborted) << ec.message();
            EXPECT_EQ(n, 0U);
            log += 'r';
        });
        post(context, [&] { log += 'p'; });
        a.close();
        EXPECT_FALSE(a.is_open());
        c.async_wait(local_socket::wait_read, [&](error_code ec) {
            EXPECT_EQ(ec, error::operation_aborted) << ec.message();
            log += 'w';
        });
        ::close(c.release());
    });
    EXPECT_EQ(log.size(), 3U);
    EXPECT_LT(log.find('p'), log.find('r')) << "what is posted first is queued first";
}

TEST(SeveralThreads, TimerSetAndCancelledWhileTheOwnerIsBusyWasAborted) {
    io_context context;
    steady_timer cancelled(context, 1h), moved(context, 1h);
    int ended = 0;
    auto const aborted = [&](error_code ec) {
        EXPECT_EQ(ec, error::operation_aborted) << ec.message();
        ++ended;
    };
    while_the_owner_is_busy(context, [&] {
        cancelled.async_wait(aborted);
        EXPECT_EQ(cancelled.cancel(), 1U);
        moved.async_wait(aborted);
        EXPECT_EQ(moved.expires_after(2h), 1U);
        steady_timer gone(context, 1h);
        gone.async_wait(aborted);
    });
    EXPECT_EQ(ended, 3);
}

TEST(SeveralThreads, PostAfterARunThatWasStoppedComesBehindWhatCameDuringIt) {
    io_context context;
    std::string order;
    while_the_owner_is_busy(context, [&] {
        post(context, [&] { order += 'a'; });
        context.stop();
    });
    post(context, [&] { order += 'b'; });
    context.restart();
    context.run();
    EXPECT_EQ(order, "ab");
}

TEST(SeveralThreads, HandlerWhoseLoopWasTakenMayThrow) {
    io_context context;
    std::promise<void> helped;
    std::atomic<bool> waiting{false};
    post(context, [&] {
        post(context, [&] { helped.set_value(); });
        waiting = true;
        helped.get_future().wait();
        throw std::runtime_error("with the loop in other hands");
    });
    std::thread first([&] { EXPECT_THROW(context.run(), std::runtime_error); });
    while (!waiting)
        std::this_thread::yield();
    std::thread second([&] { context.run_for(20s); });
    first.join();
    second.join();
    EXPECT_TRUE(context.stopped()) << "waited 20 s for work that had ended with an exception";
}

// Time is what the handlers add to it. They and the threads go on for ever, so the queue never ends. A thread that has
// taken an item may lose the processor while the other one goes on: most of the times count.
TEST(SeveralThreads, X9_TimersAndSocketsHaveTheirTurnBesideHandlersThatCompute) {
    test::bend b;
    b.stands = true;
    io_context context(std::make_unique<test::bent_driver>(b));
    constexpr std::int64_t ms = 1'000'000;
    constexpr int busy = 20, ticks = 20;
    std::function<void()> again = [&] {
        b.ahead_ns += ms;
        if (!context.stopped())
            post(context, again);
    };
    for (int i = 0; i != busy; ++i)
        post(context, again);
    local_socket x(context), y(context);
    local::connect_pair(x, y);
    std::vector<std::int64_t> late;
    co_spawn(
        context,
        [](io_context& c, local_socket& out, local_socket& in, std::vector<std::int64_t>& all) -> awaitable<void> {
            steady_timer timer(c);
            for (int i = 0; i != ticks; ++i) {
                timer.expires_after(5ms);
                co_await timer.async_wait();
                all.push_back((steady_clock::now() - timer.expiry()) / 1ns);
                char byte = 0;
                auto const before = steady_clock::now();
                co_await async_write(out, buffer(&byte, 1));
                co_await in.async_read_some(buffer(&byte, 1));
                all.push_back((steady_clock::now() - before) / 1ns);
            }
            c.stop();
        }(context, x, y, late),
        detached);
    runners(context, 2).join();
    ASSERT_EQ(late.size(), 2U * ticks);
    std::sort(late.begin(), late.end());
    // Before its turn come the items that are queued already, and those that both threads are in the middle of. An item
    // more for each of the three steps of a round.
    EXPECT_LE(late[late.size() * 3 / 4], 4 * (busy + 2) * ms);
}

// As above, most ticks count.
TEST(SeveralThreads, X9_LongQueuesMakeTimersNoLater) {
    test::bend b;
    b.stands = true;
    io_context context(std::make_unique<test::bent_driver>(b));
    constexpr std::int64_t length = 50'000;
    constexpr int busy = 2'000, ticks = 21;
    std::function<void()> again = [&] {
        b.ahead_ns += length;
        if (!context.stopped())
            post(context, again);
    };
    for (int i = 0; i != busy; ++i)
        post(context, again);
    std::vector<std::int64_t> late;
    co_spawn(
        context,
        [](io_context& c, std::vector<std::int64_t>& all) -> awaitable<void> {
            steady_timer timer(c);
            for (int i = 0; i != ticks; ++i) {
                timer.expires_after(5ms);
                co_await timer.async_wait();
                all.push_back((steady_clock::now() - timer.expiry()) / 1ns);
            }
            c.stop();
        }(context, late),
        detached);
    runners(context, 2).join();
    ASSERT_EQ(late.size(), static_cast<std::size_t>(ticks));
    std::sort(late.begin(), late.end());
    // The item that each thread runs when the slice ends, and the one that it takes while the other one looks around.
    EXPECT_LE(late[ticks / 2], fairness::slice_ns + 8 * length);
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
