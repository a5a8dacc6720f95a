// Clocks that jump, long pauses, and timers without number: rows T of the failure catalogue, E08, I16, P24, S04, S06.
#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/redis/connection.hpp>
#include <fairlead/sim/world.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/post.hpp>
#include <support/scale.hpp>

#include <catalogue/bent_driver.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <sys/time.h>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using fairlead::test::bend;
using fairlead::test::bent_driver;
using fairlead::test::scaled;
using local_socket = local::stream_protocol::socket;
using ip::tcp;

constexpr std::int64_t hour_ns = 3'600'000'000'000;
constexpr std::int64_t year_ns = 365 * 24 * hour_ns;

struct bent_context {
    bend b;
    io_context context{std::make_unique<bent_driver>(b)};
};

// ---- T: clocks

TEST(Catalogue, T01_WallClockThatJumpsLeavesSteadyTimersAlone) {
    for (std::int64_t const jump : {year_ns, -year_ns}) {
        bent_context w;
        steady_timer soon(w.context, 1ms), late(w.context, 2h);
        int fired = 0, late_fired = 0;
        soon.async_wait([&](error_code ec) { fired += !ec; });
        late.async_wait([&](error_code ec) { late_fired += !ec; });
        w.context.poll();
        w.b.wall_ahead_ns = jump;
        while (!fired)
            w.context.run_one(); // a timer that had moved by a year would end in the test's time-out
        w.context.poll();
        EXPECT_EQ(late_fired, 0);
        late.cancel();
        w.context.run();
    }
}

TEST(Catalogue, T02_AfterALongPauseEachTimerFiresOnceAndInOrder) {
    bent_context w;
    std::vector<int> fired;
    std::vector<std::unique_ptr<steady_timer>> timers;
    for (int i = 0; i != 20; ++i) {
        timers.push_back(std::make_unique<steady_timer>(w.context, (20 - i) * 1s));
        timers.back()->async_wait([&fired, i](error_code ec) {
            EXPECT_FALSE(ec);
            fired.push_back(i);
        });
    }
    w.context.poll();
    EXPECT_TRUE(fired.empty());
    w.b.ahead_ns = hour_ns; // the computer slept
    w.context.run();
    std::vector<int> expected;
    for (int i = 20; i-- != 0;)
        expected.push_back(i);
    EXPECT_EQ(fired, expected);
}

TEST(Catalogue, T02_PeriodicTimerCatchesUpOnceInsteadOfInABurst) {
    bent_context w;
    int ticks = 0;
    steady_timer timer(w.context, 1s);
    std::function<void(error_code)> tick = [&](error_code ec) {
        if (ec)
            return;
        ++ticks;
        timer.expires_after(1s);
        timer.async_wait(tick);
    };
    timer.async_wait(tick);
    w.context.poll();
    w.b.ahead_ns = hour_ns;
    w.context.poll();
    w.context.poll();
    EXPECT_EQ(ticks, 1) << "an hour is 3600 periods";
    timer.cancel();
    w.context.run();
}

TEST(Catalogue, T08_AnyOriginOfTheSteadyClockWillDo) {
    // As after an offset in a time namespace, or just after the computer was started.
    for (std::int64_t const ahead : {-io::make_driver()->host().now_ns() + 1, std::int64_t{0}, 100 * year_ns}) {
        bent_context w;
        w.b.ahead_ns = ahead;
        std::string order;
        steady_timer first(w.context, 1ms), second(w.context, 2ms), past(w.context, -1h);
        second.async_wait([&](error_code ec) { order += ec ? '!' : '2'; });
        first.async_wait([&](error_code ec) { order += ec ? '!' : '1'; });
        past.async_wait([&](error_code ec) { order += ec ? '!' : '0'; });
        auto const begin = w.context.now();
        w.context.run();
        EXPECT_EQ(order, "012");
        EXPECT_GE(w.context.now() - begin, 1ms);
        w.context.restart();
        EXPECT_EQ(w.context.run_for(1ms), 0U);
    }
}

TEST(Catalogue, T07_ManyTimersOfWhichMostAreCancelled) {
    // A million with a list instead of a heap would not end within the test's time.
    auto const n = scaled(1'000'000, 50'000);
    io_context context;
    std::vector<std::unique_ptr<steady_timer>> timers;
    timers.reserve(n);
    std::uint64_t fired = 0, aborted = 0;
    for (std::uint64_t i = 0; i != n; ++i) {
        auto const deadline = std::chrono::nanoseconds((i * 2'654'435'761U) % 1'000'000);
        timers.push_back(std::make_unique<steady_timer>(context, i % 10 == 0 ? deadline : deadline + 1h));
        timers.back()->async_wait([&](error_code ec) { ++(ec ? aborted : fired); });
    }
    for (std::uint64_t i = 0; i != n; ++i)
        if (i % 10 != 0) {
            EXPECT_EQ(timers[i]->cancel(), 1U);
        }
    context.run();
    EXPECT_EQ(fired, n / 10);
    EXPECT_EQ(aborted, n - n / 10);
}

TEST(Catalogue, T06_CancelAtTheInstantOfTheDeadlineCompletesTheWaitOnce) {
    int fired = 0, aborted = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        SCOPED_TRACE(seed);
        sim::world w(seed);
        steady_timer timer(w.context(), 1ms), canceller(w.context(), 1ms);
        int completions = 0;
        timer.async_wait([&](error_code ec) {
            ++completions;
            ++(ec ? aborted : fired);
            EXPECT_TRUE(!ec || ec == error::operation_aborted);
        });
        canceller.async_wait([&](error_code) { timer.cancel(); });
        w.run();
        EXPECT_EQ(completions, 1);
    }
    EXPECT_EQ(fired + aborted, 200);
}

// ---- E08: waiting

TEST(Catalogue, E08_WaitForATimerIsOneLookAtTheWorldAndNeverEarly) {
    for (auto const d : {std::chrono::nanoseconds(300), std::chrono::nanoseconds(50us),
                         std::chrono::nanoseconds(1'400us), std::chrono::nanoseconds(12'345'678)}) {
        bent_context w;
        steady_timer timer(w.context, d);
        auto const before = w.b.polls;
        timer.async_wait([&](error_code ec) {
            EXPECT_FALSE(ec);
            EXPECT_GE(w.context.now(), timer.expiry());
        });
        w.context.run();
        EXPECT_LE(w.b.polls - before, 4U) << "a spin, or a wait that is rounded down";
    }
}

TEST(Catalogue, E08_FarTimerDoesNotWakeALoopThatHasNothingToDo) {
    bent_context w;
    steady_timer timer(w.context, 24h);
    timer.async_wait([](error_code) {});
    w.context.run_for(20ms);
    EXPECT_LE(w.b.polls, 4U);
    timer.cancel();
    w.context.restart();
    w.context.run();
}

// ---- S04: signals all the time

std::atomic<int> alarms{0};

TEST(Catalogue, S04_StormOfSignalsIsSeenByNobody) {
    struct sigaction action{}, old{};
    action.sa_handler = [](int) { ++alarms; };
    action.sa_flags = 0; // no SA_RESTART: whatever can be interrupted is
    ASSERT_EQ(::sigaction(SIGALRM, &action, &old), 0);
    alarms = 0;
    itimerval storm{};
    storm.it_interval.tv_usec = storm.it_value.tv_usec = 300;
    ASSERT_EQ(::setitimer(ITIMER_REAL, &storm, nullptr), 0);
    auto const rounds = scaled(200, 20);
    std::uint64_t done = 0;
    {
        io_context context;
        tcp::acceptor acceptor(context, tcp::endpoint(ip::address_v4::loopback(), 0));
        co_spawn(
            context,
            [](tcp::acceptor& a, std::uint64_t n) -> awaitable<void> {
                for (std::uint64_t i = 0; i != n; ++i) {
                    auto s = co_await a.async_accept();
                    std::string text(100'000, ' ');
                    co_await async_read(s, buffer(text));
                    co_await async_write(s, buffer(text));
                }
            }(acceptor, rounds),
            [](std::exception_ptr e) { EXPECT_FALSE(e); });
        co_spawn(
            context,
            [](io_context& c, tcp::endpoint to, std::uint64_t n, std::uint64_t& count) -> awaitable<void> {
                std::string const sent(100'000, 'q');
                steady_timer pause(c);
                for (; count != n; ++count) {
                    tcp::socket s(c);
                    co_await s.async_connect(to);
                    co_await async_write(s, buffer(sent));
                    std::string got(sent.size(), ' ');
                    co_await async_read(s, buffer(got));
                    EXPECT_EQ(got, sent);
                    pause.expires_after(1ms);
                    co_await pause.async_wait();
                }
            }(context, acceptor.local_endpoint(), rounds, done),
            [](std::exception_ptr e) { EXPECT_FALSE(e); });
        context.run();
        // The calling thread waits too.
        tcp::socket a(context), b(context);
        a.connect(acceptor.local_endpoint());
        acceptor.accept(b);
        steady_timer timer(context, 5ms);
        timer.wait();
        std::thread writer([&b] {
            sigset_t alarm;
            ::sigemptyset(&alarm);
            ::sigaddset(&alarm, SIGALRM);
            ::pthread_sigmask(SIG_BLOCK, &alarm, nullptr); // They are for the one that waits.
            for (int const until = alarms + 10; alarms < until;)
                std::this_thread::yield();
            b.write_some(buffer("x", 1));
        });
        char byte;
        error_code ec;
        EXPECT_EQ(a.read_some(buffer(&byte, 1), ec), 1U) << ec.message();
        writer.join();
    }
    itimerval const off{};
    ::setitimer(ITIMER_REAL, &off, nullptr);
    ::sigaction(SIGALRM, &old, nullptr);
    EXPECT_EQ(done, rounds);
    EXPECT_GT(alarms, 0);
}

// ---- S06: the process was stopped

/// A server that answers everything at once, by hand, so that it is the test that says what is on the wire.
struct hand_server {
    tcp::acceptor acceptor;
    tcp::socket peer;
    explicit hand_server(io_context& c) : acceptor(c, tcp::endpoint(ip::address_v4::loopback(), 0)), peer(c) {}
    std::string read() {
        std::string text(1000, ' ');
        text.resize(peer.read_some(buffer(text)));
        return text;
    }
    void say(std::string_view text) { peer.write_some(buffer(text.data(), text.size())); }
};

/// Connects, greets, and lets an interval pass, so that a PING is under way.
struct pinged_connection {
    bent_context w;
    hand_server server{w.context};
    redis::connection conn{w.context};
    error_code ended;

    pinged_connection() {
        redis::config cfg;
        cfg.address = "127.0.0.1:" + std::to_string(server.acceptor.local_endpoint().port());
        cfg.health_check_interval = 10s;
        conn.async_run(cfg, [this](error_code ec) { ended = ec; });
        server.acceptor.async_accept(
            server.peer, [this](error_code) { server.say("%2\r\n+server\r\n+by hand\r\n+proto\r\n:3\r\n"); });
        while (!conn.is_ready())
            w.context.run_one();
        EXPECT_NE(server.read().find("HELLO"), std::string::npos);
        w.b.ahead_ns += 11'000'000'000;
        settle();
        EXPECT_NE(server.read().find("PING"), std::string::npos);
    }
    void settle() {
        for (int i = 0; i != 5; ++i)
            w.context.poll();
    }
    void end() {
        conn.cancel();
        w.context.restart();
        w.context.run();
    }
};

TEST(Catalogue, I16_X02_SilentServerIsGivenUpAfterTheIntervalAndNoSooner) {
    pinged_connection c;
    c.w.b.ahead_ns += 9'000'000'000;
    c.settle();
    EXPECT_FALSE(c.ended);
    c.w.b.ahead_ns += 2'000'000'000;
    c.settle();
    EXPECT_EQ(c.ended, redis::error::server_silent);
    c.end();
}

TEST(Catalogue, S06_AnswerThatCameDuringAPauseCountsBeforeTheTimeIsJudged) {
    pinged_connection c;
    c.server.say("+PONG\r\n"); // arrives while the process does not run
    c.w.b.ahead_ns += 60'000'000'000;
    c.settle();
    EXPECT_FALSE(c.ended) << "closed although the answer was there: " << c.ended.message();
    EXPECT_TRUE(c.conn.is_ready());
    c.end();
}

TEST(Catalogue, P24_SlowServerIsNotTakenForADeadOneWithinTheInterval) {
    pinged_connection c;
    for (int i = 0; i != 5; ++i) { // a script that takes longer than one interval, but less than two
        c.w.b.ahead_ns += 9'000'000'000;
        c.settle();
        c.server.say("+PONG\r\n");
        c.settle();
        c.w.b.ahead_ns += 11'000'000'000;
        c.settle();
        EXPECT_NE(c.server.read().find("PING"), std::string::npos) << "quiet for a whole interval again";
    }
    EXPECT_FALSE(c.ended);
    c.end();
}

} // namespace
