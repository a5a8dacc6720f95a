// Nobody starves and no stack grows: rows D15, D16, D20, D21 of the papers, F and D of the failure catalogue.
// Everything is counted in units and items; no time is measured.
#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/inline_executor.hpp>
#include <fairlead/exec/strand.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/sync/event.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/immediate.hpp>
#include <fairlead/token/post.hpp>
#include <support/scale.hpp>

#include <catalogue/bent_driver.hpp>
#include <catalogue/small_stack.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using fairlead::test::on_small_stack;
using fairlead::test::optimised;
using fairlead::test::scaled;
using local_socket = local::stream_protocol::socket;

/// How many immediate completions a chain makes: a hundred million where that is quick.
std::uint64_t many() { return optimised ? scaled(100'000'000, 1'000'000) : scaled(1'000'000, 100'000); }

struct busy_context {
    busy_context() : a(context), b(context) { local::connect_pair(a, b); }
    io_context context;
    local_socket a, b;
    std::string text = "always there\r\n";
    std::uint64_t done = 0;
};

awaitable<void> read_for_ever(busy_context& w, std::uint64_t n) {
    for (; w.done != n; ++w.done)
        co_await async_read_until(w.a, dynamic_buffer(w.text), "\r\n");
}

TEST(Catalogue, D01_ImmediateCompletionsOfACoroutineKeepA64KiBStack) {
    on_small_stack([] {
        busy_context w;
        co_spawn(w.context, read_for_ever(w, many()), [](std::exception_ptr e) { EXPECT_FALSE(e); });
        w.context.run();
        EXPECT_EQ(w.done, many());
    });
}

struct callback_reader {
    busy_context* w;
    std::uint64_t n;
    void operator()(error_code, std::size_t) {
        if (++w->done != n)
            async_read_until(w->a, dynamic_buffer(w->text), "\r\n", callback_reader(*this));
    }
};

TEST(Catalogue, D01_D03_ImmediateCompletionsOfACallbackKeepA64KiBStack) {
    on_small_stack([] {
        auto const n = many() / 4;
        busy_context w;
        async_read_until(w.a, dynamic_buffer(w.text), "\r\n", callback_reader{&w, n});
        w.context.run();
        EXPECT_EQ(w.done, n);
    });
}

awaitable<int> immediate_child() { co_return 1; }

TEST(Catalogue, D01_ImmediateChildrenKeepA64KiBStack) {
    on_small_stack([] {
        auto const n = many() / 10;
        io_context context;
        std::uint64_t sum = 0;
        co_spawn(
            context,
            [](std::uint64_t end, std::uint64_t& s) -> awaitable<void> {
                for (std::uint64_t i = 0; i != end; ++i)
                    s += static_cast<std::uint64_t>(co_await immediate_child());
            }(n, sum),
            detached);
        context.run();
        EXPECT_EQ(sum, n);
    });
}

awaitable<std::uint64_t> deep(std::uint64_t n) {
    if (n == 0)
        co_return 0;
    co_return co_await deep(n - 1) + 1;
}

TEST(Catalogue, D02_DeepChainsOfAwaitsKeepA64KiBStack) {
    on_small_stack([] {
        auto const n = scaled(200'000, 50'000);
        io_context context;
        std::uint64_t got = 0;
        co_spawn(context, deep(n), [&](std::exception_ptr, std::uint64_t d) { got = d; });
        context.run();
        EXPECT_EQ(got, n);
    });
}

TEST(Catalogue, D03_UserOperationsThatCompleteAtOnceKeepA64KiBStack) {
    on_small_stack([] {
        auto const n = many() / 10;
        io_context context;
        std::uint64_t done = 0;
        co_spawn(
            context,
            [](std::uint64_t end, std::uint64_t& d) -> awaitable<void> {
                for (; d != end; ++d)
                    co_await completion_token_transform<void()>(use_await,
                                                                [](auto&& h) { std::forward<decltype(h)>(h)(); });
            }(n, done),
            detached);
        context.run();
        EXPECT_EQ(done, n);
    });
}

TEST(Catalogue, D04_LongQueuesAreDestroyedWithoutTheStack) {
    on_small_stack([] {
        io_context context;
        for (std::uint64_t i = 0; i != scaled(1'000'000, 100'000); ++i)
            post(context, [] {});
        auto chained = std::make_unique<io_context>();
        struct link {
            io_context* c;
            std::uint64_t* left;
            link(io_context* context_, std::uint64_t* l) noexcept : c(context_), left(l) {}
            link(link&& o) noexcept : c(std::exchange(o.c, nullptr)), left(o.left) {}
            void operator()() {}
            ~link() {
                if (c && --*left)
                    post(*c, link(c, left)); // each that is destroyed queues one more
            }
        };
        std::uint64_t left = scaled(100'000, 10'000);
        post(*chained, link(chained.get(), &left));
        chained.reset();
        EXPECT_EQ(left, 0U);
    });
}

// ---- F: fairness in units

/// Measures the most units that somebody else makes between two of its own turns.
struct turn_watch {
    std::uint64_t const& units;
    std::uint64_t before;
    std::uint64_t most = 0;
    std::uint64_t turns = 0;
    explicit turn_watch(std::uint64_t const& u) : units(u), before(u) {}
    void turn() {
        most = std::max(most, units - before);
        before = units;
        ++turns;
    }
};

static_assert(fairness::units_most == 128 && fairness::units_least == 16 && fairness::batch_items == 64 &&
                  fairness::batches_per_poll == 61,
              "published figures: the documentation names them");

TEST(Catalogue, F01_ItemGetsNoMoreThanThePublishedUnits) {
    busy_context w;
    auto const n = scaled(1'000'000, 50'000);
    std::uint64_t items = 0, most = 0;
    co_spawn(w.context, read_for_ever(w, n), detached);
    for (std::uint64_t before = 0; !w.context.stopped(); before = w.done) {
        items += w.context.poll_one();
        most = std::max(most, w.done - before);
    }
    EXPECT_EQ(w.done, n);
    EXPECT_LE(most, static_cast<std::uint64_t>(fairness::units_most));
    EXPECT_GE(items, n / static_cast<std::uint64_t>(fairness::units_most));
    auto const y = w.context.yields();
    EXPECT_GE(y.budget + y.deadline + y.remote + 2, items);
    EXPECT_GE(n / items, static_cast<std::uint64_t>(fairness::units_least)) << "nor fewer than the least";
}

/// At the worst the driver is looked at after so many batches of so many items, and a busy coroutine is one item of
/// each.
constexpr std::uint64_t units_between_looks = std::uint64_t{fairness::batches_per_poll + 1} * fairness::batch_items *
                                              static_cast<std::uint64_t>(fairness::units_most);
/// The rounds of a busy coroutine where somebody waits for a look at the driver: enough, at every scale, to go beyond
/// that.
constexpr std::uint64_t units_of_a_busy_one = 4 * units_between_looks;

TEST(Papers, D20_D21_QuietSocketIsServedWhileABusyOneNeverWaits) {
    busy_context w;
    local_socket quiet(w.context), peer(w.context);
    local::connect_pair(quiet, peer);
    turn_watch watch(w.done);
    co_spawn(w.context, read_for_ever(w, units_of_a_busy_one), detached);
    co_spawn(
        w.context,
        [](local_socket& in, local_socket& out, turn_watch& t, std::uint64_t const& done) -> awaitable<void> {
            char c[1];
            while (done != units_of_a_busy_one) {
                co_await async_write(out, buffer("x", 1));
                co_await in.async_read_some(buffer(c)); // needs the driver to be looked at each time
                t.turn();
            }
        }(quiet, peer, watch, w.done),
        detached);
    w.context.run();
    EXPECT_GE(watch.turns, 4U);
    EXPECT_LE(watch.most, units_between_looks);
}

/// Two ends that send a byte to and fro: each look at the driver finds something.
struct shuttle {
    io_context& context;
    local_socket a{context}, b{context};
    char byte = 'x';
    std::uint64_t crossings = 0;

    void cross(local_socket& from, local_socket& to) {
        write(from, buffer(&byte, 1));
        to.async_read_some(buffer(&byte, 1), [&](error_code ec, std::size_t) {
            ++crossings;
            if (!ec && !context.stopped())
                cross(to, from);
        });
    }
};

TEST(Catalogue, F01_RestOfABurstIsReadWhileAnotherSocketAlwaysHasNews) {
    io_context context;
    shuttle busy{context};
    local::connect_pair(busy.a, busy.b);
    local_socket quiet(context), peer(context);
    local::connect_pair(quiet, peer);
    std::string got;
    co_spawn(
        context,
        [](local_socket& in, std::string& text, io_context& c) -> awaitable<void> {
            char byte;
            while (text.size() != 4) { // Each read fills its buffer, and one edge announced them all.
                co_await in.async_read_some(buffer(&byte, 1));
                text += byte;
            }
            c.stop();
        }(quiet, got, context),
        detached);
    context.poll();
    write(peer, buffer("rest", 4));
    busy.cross(busy.a, busy.b);
    auto const most = std::uint64_t{1000};
    while (!context.stopped() && busy.crossings < most)
        context.run_one();
    EXPECT_EQ(got, "rest");
    EXPECT_LT(busy.crossings, 100U);
}

// Once a late look has found that there was more, the next reads need none.
TEST(Catalogue, F01_BacklogOfFullReadsIsReadWithoutALateLookForEach) {
    io_context context;
    shuttle busy{context};
    local::connect_pair(busy.a, busy.b);
    local_socket quiet(context), peer(context);
    local::connect_pair(quiet, peer);
    std::string got, text(400, 'x');
    co_spawn(
        context,
        [](local_socket& in, std::string& to, std::size_t all, io_context& c) -> awaitable<void> {
            char byte;
            while (to.size() != all) {
                co_await in.async_read_some(buffer(&byte, 1));
                to += byte;
            }
            c.stop();
        }(quiet, got, text.size(), context),
        detached);
    context.poll();
    write(peer, buffer(text));
    busy.cross(busy.a, busy.b);
    while (!context.stopped() && busy.crossings < 1000)
        context.run_one();
    EXPECT_EQ(got, text);
    EXPECT_LT(busy.crossings, 100U);
    EXPECT_LE(context.counters().verifications, 2U);
}

awaitable<void> answer(local_socket& with, std::size_t rounds, test::bend& b) {
    char byte;
    for (; rounds != 0; --rounds) {
        co_await with.async_read_some(buffer(&byte, 1));
        b.ahead_ns += 3'000; // what a read and a write take; the driver is looked at by time
        co_await with.async_write_some(buffer(&byte, 1));
    }
}

// Of many sockets in turn each waits for longer than it takes to be doubted, and nothing is behind what it has read.
TEST(Catalogue, F01_LateLooksInVainAreFewAmongManySockets) {
    constexpr std::size_t pairs = 400, rounds = 20;
    test::bend clock;
    clock.stands = true;
    io_context context(std::make_unique<test::bent_driver>(clock));
    std::vector<local_socket> all;
    for (std::size_t i = 0; i != pairs; ++i) {
        local_socket a(context), b(context);
        local::connect_pair(a, b);
        all.push_back(std::move(a));
        all.push_back(std::move(b));
    }
    for (auto& each : all)
        co_spawn(context, answer(each, rounds, clock), detached);
    for (std::size_t i = 0; i != pairs; ++i)
        write(all[2 * i], buffer("x", 1));
    context.run();
    EXPECT_LT(context.counters().verifications, 2 * pairs * rounds / 8);
}

TEST(Catalogue, F01_TimerIsServedWhileABusySocketNeverWaits) {
    busy_context w;
    turn_watch watch(w.done);
    co_spawn(w.context, read_for_ever(w, units_of_a_busy_one), detached);
    co_spawn(
        w.context,
        [](io_context& c, turn_watch& t, std::uint64_t const& done) -> awaitable<void> {
            steady_timer timer(c);
            while (done != units_of_a_busy_one) {
                timer.expires_after(0s);
                co_await timer.async_wait();
                t.turn();
            }
        }(w.context, watch, w.done),
        detached);
    w.context.run();
    EXPECT_GE(watch.turns, 4U);
    EXPECT_LE(watch.most, units_between_looks);
}

TEST(Catalogue, F01_PostOfAnotherThreadCutsABusyItemShort) {
    busy_context w;
    auto const n = scaled(3'000'000, 300'000);
    co_spawn(w.context, read_for_ever(w, n), detached);
    std::atomic<bool> stop{false};
    std::uint64_t served = 0;
    std::atomic<int> open{0};
    std::thread poster([&] {
        while (!stop) {
            if (open.load() < 8) {
                ++open;
                post(w.context, [&] {
                    ++served;
                    --open;
                });
            }
            std::this_thread::yield();
        }
    });
    while (w.done != n)
        w.context.run_one();
    stop = true;
    poster.join();
    w.context.run();
    EXPECT_GE(served, 1U);
}

TEST(Catalogue, F02_HandlerThatPostsItselfForEverStarvesNobody) {
    io_context context;
    local_socket a(context), b(context);
    local::connect_pair(a, b);
    steady_timer timer(context);
    std::uint64_t handlers = 0;
    turn_watch io(handlers), timers(handlers);
    int busy = 2;
    std::function<void()> again = [&] {
        ++handlers;
        if (busy)
            post(context, again);
    };
    post(context, again);
    co_spawn(
        context,
        [](local_socket& in, local_socket& out, turn_watch& t, int& left) -> awaitable<void> {
            char c[1];
            for (int i = 0; i != 200; ++i) {
                co_await async_write(out, buffer("x", 1));
                co_await in.async_read_some(buffer(c));
                t.turn();
            }
            --left;
        }(a, b, io, busy),
        detached);
    co_spawn(
        context,
        [](steady_timer& t, turn_watch& ticks, int& left) -> awaitable<void> {
            for (int i = 0; i != 200; ++i) {
                t.expires_after(0s);
                co_await t.async_wait();
                ticks.turn();
            }
            --left;
        }(timer, timers, busy),
        detached);
    context.run();
    EXPECT_EQ(io.turns, 200U);
    constexpr std::uint64_t bound = std::uint64_t{fairness::batches_per_poll + 1} * fairness::batch_items;
    EXPECT_LE(io.most, bound) << "handlers between two looks at the driver";
    EXPECT_LE(timers.most, bound);
}

// ---- time is part of every bound: handlers that compute move a clock that nothing else moves

struct computing_context {
    computing_context() { b.stands = true; }
    test::bend b{};
    io_context context{std::make_unique<test::bent_driver>(b)};
    bool over = false;
    std::int64_t worst = 0; ///< lateness of a timer

    void compute(std::int64_t ns) { b.ahead_ns += ns; }
    static awaitable<void> tick(computing_context& self, int ticks) {
        steady_timer timer(self.context);
        for (; ticks != 0; --ticks) {
            timer.expires_after(5ms);
            co_await timer.async_wait();
            self.worst = std::max<std::int64_t>(self.worst, (steady_clock::now() - timer.expiry()) / 1ns);
        }
        self.over = true;
    }
    /// The worst lateness of some timers, one after the other. They are expired after a slice and one handler at most.
    /// Then they wait for the item that is queued before them: a handler, or one of many parts, which has a slice, too.
    std::int64_t lateness() {
        co_spawn(context, tick(*this, 20), detached);
        context.run();
        return worst;
    }
};

constexpr std::int64_t lengths[] = {500, 10'000, 60'000, 150'000, 200'000, 1'000'000};

TEST(Catalogue, F02_X9_TimersAreLateByASliceAndOneHandlerAtMost) {
    for (auto const length : lengths) {
        computing_context c;
        std::function<void()> again = [&] {
            c.compute(length);
            if (!c.over)
                post(c.context, again);
        };
        post(c.context, again);
        EXPECT_LE(c.lateness(), fairness::slice_ns + 2 * length) << length;
    }
}

TEST(Catalogue, F01_ItemThatFindsItsSliceOverCompletesOneOperationAllTheSame) {
    computing_context c;
    event always(c.context);
    always.set();
    struct item {
        int operations = 0;
        bool has_given_way = false;
    } items[8];
    auto const work = [&](item& i) -> awaitable<void> {
        co_await this_coro::yield();
        c.compute(2 * fairness::slice_ns);
        post(c.context, [&i] { i.has_given_way = true; });
        for (; !i.has_given_way; ++i.operations)
            co_await always.async_wait();
    };
    for (item& i : items)
        co_spawn(c.context, work(i), detached);
    c.context.run();
    for (item const& i : std::span(items).subspan(1)) // The first one comes unforeseen, after short items.
        EXPECT_EQ(i.operations, 2) << "the second operation has to give way";
}

TEST(Catalogue, F02_X9_LongQueuesMakeTimersNoLater) {
    constexpr int handlers = 2'000;
    constexpr std::int64_t length = 50'000;
    computing_context c;
    std::function<void()> again = [&] {
        c.compute(length);
        if (!c.over)
            post(c.context, again);
    };
    for (int i = 0; i != handlers; ++i)
        post(c.context, again);
    EXPECT_LE(c.lateness(), fairness::slice_ns + 2 * length);
}

// Timers go ahead of the queue, which has as many turns all the same.
TEST(Catalogue, F06_TimersThatAreAlwaysDueLeaveOthersTheirTurn) {
    for (int const n : {1, 10, 200}) {
        computing_context c;
        std::vector<std::unique_ptr<steady_timer>> timers;
        std::uint64_t fired = 0, others = 0;
        constexpr std::uint64_t turns = 2'000;
        std::function<void(int)> wait = [&](int i) {
            timers[static_cast<std::size_t>(i)]->expires_after(0ns);
            timers[static_cast<std::size_t>(i)]->async_wait([&, i](error_code) {
                c.compute(100'000);
                c.over = c.over || ++fired > 4 * turns;
                if (!c.over)
                    wait(i);
            });
        };
        for (int i = 0; i != n; ++i) {
            timers.push_back(std::make_unique<steady_timer>(c.context));
            wait(i);
        }
        std::function<void()> again = [&] {
            c.compute(100'000);
            c.over = c.over || ++others == turns;
            if (!c.over)
                post(c.context, again);
        };
        for (int i = 0; i != 2 * n; ++i) // as many as the timers, at any time
            post(c.context, again);
        c.context.run();
        EXPECT_EQ(others, turns) << n << " timers, which fired " << fired << " times";
        EXPECT_GE(fired, turns / 4) << n;
    }
}

TEST(Catalogue, T05_TimerThatComesDueGoesAheadOfNoneThatWasDueBefore) {
    computing_context c;
    std::string order;
    std::vector<std::unique_ptr<steady_timer>> timers;
    auto const set = [&](std::chrono::milliseconds due, char name) {
        timers.push_back(std::make_unique<steady_timer>(c.context, due));
        timers.back()->async_wait([&, name](error_code) {
            order += name;
            c.compute(1'000'000);
        });
    };
    for (char name = 'a'; name != 'k'; ++name)
        set(5ms, name);
    set(6ms, 'z'); // due while those before it compute
    post(c.context, [&] { c.compute(5'000'000); });
    c.context.run();
    EXPECT_EQ(order, "abcdefghijz");
}

TEST(Catalogue, F02_X9_LongHandlersAmongShortOnesMakeTimersNoLater) {
    for (int const every : {2, 7, 10, 31, 64, 100}) {
        computing_context c;
        int n = 0;
        std::function<void()> again = [&] {
            c.compute(++n % every == 0 ? 1'000'000 : 100);
            if (!c.over)
                post(c.context, again);
        };
        post(c.context, again);
        EXPECT_LE(c.lateness(), fairness::slice_ns + 2'000'000) << "one of " << every;
    }
}

TEST(Catalogue, F03_X9_FunctionsOfStrandsMakeTimersNoLater) {
    for (auto const length : lengths) {
        computing_context c;
        auto const inner = make_strand(c.context);
        auto const outer = make_strand(inner);
        std::function<void()> again = [&] {
            c.compute(length);
            if (!c.over)
                post(outer, again);
        };
        std::function<void()> below = [&] {
            c.compute(length);
            if (!c.over)
                post(inner, below);
        };
        for (int i = 0; i != 40; ++i) { // more than a turn of the strand
            post(outer, again);
            post(inner, below);
        }
        EXPECT_LE(c.lateness(), 2 * (fairness::slice_ns + length)) << length;
    }
}

awaitable<void> compute_and_post(computing_context& c, std::int64_t length) {
    while (!c.over) {
        c.compute(length);
        co_await post(use_await);
    }
}

TEST(Catalogue, F01_X9_CoroutinesThatPostThemselvesMakeTimersNoLater) {
    for (auto const length : lengths) {
        computing_context direct, on_strand;
        co_spawn(direct.context, compute_and_post(direct, length), detached);
        EXPECT_LE(direct.lateness(), fairness::slice_ns + 2 * length) << length;
        co_spawn(make_strand(on_strand.context), compute_and_post(on_strand, length), detached);
        EXPECT_LE(on_strand.lateness(), 2 * (fairness::slice_ns + length)) << length;
    }
}

awaitable<void> compute_in_a_child(computing_context& c, std::int64_t length) {
    c.compute(length);
    co_return;
}
awaitable<void> compute_between_immediate_completions(computing_context& c, std::int64_t length) {
    while (!c.over)
        co_await compute_in_a_child(c, length); // Both the call and the return go through the trampoline.
}

TEST(Catalogue, F01_X9_CoroutinesThatNeverWaitMakeTimersNoLater) {
    for (auto const length : lengths) {
        computing_context c;
        co_spawn(c.context, compute_between_immediate_completions(c, length), detached);
        EXPECT_LE(c.lateness(), 2 * (fairness::slice_ns + length)) << length;
    }
}

/// Each computes, and starts the next one, which runs inside it as long as that may be.
void compute_inside_one_another(computing_context& c, std::int64_t length) {
    c.compute(length);
    if (!c.over)
        async_immediate(c.context, bind_immediate_executor(inline_executor(),
                                                           [&c, length] { compute_inside_one_another(c, length); }));
}

TEST(Catalogue, F01_X9_HandlersInsideOneAnotherMakeTimersNoLater) {
    for (auto const length : lengths) {
        computing_context c;
        post(c.context, [&c, length] { compute_inside_one_another(c, length); });
        EXPECT_LE(c.lateness(), 2 * (fairness::slice_ns + 2 * length)) << length;
    }
}

TEST(Catalogue, F02_X9_TurnsThatDrainTheQueueCountTimeToo) {
    computing_context c;
    // Each of many timers computes when it is due, and all are due at the same times. So a turn has all of them, and
    // the next one comes when they are through.
    constexpr std::int64_t length = 1'000'000;
    std::vector<std::unique_ptr<steady_timer>> timers;
    std::function<void(steady_timer&)> go = [&](steady_timer& t) {
        t.expires_after(2ms);
        t.async_wait([&](error_code) {
            c.compute(length);
            if (!c.over)
                go(t);
        });
    };
    for (int i = 0; i != 40; ++i)
        go(*timers.emplace_back(std::make_unique<steady_timer>(c.context)));
    c.b.poll = [&](std::int64_t until) { // Nobody sleeps: the clock goes on instead.
        if (until > 0)
            c.compute(10'000);
        return until > 0;
    };
    // The timers that are due at the same time stand in the queue, before the tick or behind it.
    EXPECT_LE(c.lateness(), fairness::slice_ns + 41 * length);
    auto const polls = c.context.counters().polls, items = c.context.counters().items;
    EXPECT_GE(polls + 100, items) << "after each long handler the driver has its turn";
}

TEST(Catalogue, F01_ANestedRunDoesNotFillTheBudget) {
    busy_context w;
    io_context inner;
    co_spawn(
        w.context,
        [](busy_context& b, io_context& other) -> awaitable<void> {
            for (; b.done != 1'000; ++b.done) {
                co_await async_read_until(b.a, dynamic_buffer(b.text), "\r\n");
                if (b.done % 10 == 0) {
                    post(other, [] {});
                    other.restart();
                    other.poll();
                }
            }
        }(w, inner),
        detached);
    std::uint64_t before = 0;
    post(w.context, [&] { before = w.done; });
    w.context.run();
    EXPECT_LE(before, static_cast<std::uint64_t>(fairness::units_most));
}

TEST(Catalogue, F05_StormOfConnectionsLeavesTheEstablishedOnesTheirTurn) {
    io_context context;
    ip::tcp::acceptor acceptor(context, ip::tcp::endpoint(ip::address_v4::loopback(), 0));
    local_socket a(context), b(context);
    local::connect_pair(a, b);
    std::uint64_t accepted = 0;
    constexpr std::uint64_t storm = 500;
    std::vector<ip::tcp::socket> clients;
    for (std::uint64_t i = 0; i != storm; ++i) {
        clients.emplace_back(context);
        clients.back().connect(acceptor.local_endpoint());
    }
    turn_watch watch(accepted);
    co_spawn(
        context,
        [](ip::tcp::acceptor& from, std::uint64_t& n) -> awaitable<void> {
            co_await from.async_accept(); // The driver completes it, not the budget.
            ++n;
            co_await this_coro::yield(); // Here begins an item of its own.
            for (; n != storm; ++n)
                co_await from.async_accept();
        }(acceptor, accepted),
        detached);
    co_spawn(
        context,
        [](turn_watch& t, std::uint64_t const& n) -> awaitable<void> {
            while (n != storm) {
                co_await this_coro::yield();
                t.turn();
            }
        }(watch, accepted),
        detached);
    context.run();
    EXPECT_LE(watch.most, static_cast<std::uint64_t>(fairness::units_most));
}

TEST(Catalogue, F06_ManyTimersDueAtOnceLeaveOthersTheirTurn) {
    io_context context;
    auto const n = scaled(100'000, 10'000);
    std::vector<std::unique_ptr<steady_timer>> timers;
    std::uint64_t fired = 0;
    for (std::uint64_t i = 0; i != n; ++i) {
        timers.push_back(std::make_unique<steady_timer>(context, -1s));
        timers.back()->async_wait([&](error_code) { ++fired; });
    }
    context.run();
    EXPECT_EQ(fired, n);
    timers.clear();
}

TEST(Catalogue, F07_StopReturnsWithinOneItemWhateverRuns) {
    busy_context w;
    co_spawn(w.context, read_for_ever(w, ~std::uint64_t{0}), detached);
    std::uint64_t posts = 0;
    std::function<void()> again = [&] {
        ++posts;
        post(w.context, again);
    };
    post(w.context, again);
    std::uint64_t at_stop = 0, posts_at_stop = 0;
    steady_timer timer(w.context, 100us);
    timer.async_wait([&](error_code) {
        at_stop = w.done;
        posts_at_stop = posts;
        w.context.stop();
    });
    w.context.run();
    EXPECT_EQ(w.done, at_stop);
    EXPECT_EQ(posts, posts_at_stop);
}

TEST(Catalogue, F07_StopFromAnotherThreadEndsABusyLoop) {
    busy_context w;
    co_spawn(w.context, read_for_ever(w, ~std::uint64_t{0}), detached);
    std::atomic<bool> running{false};
    post(w.context, [&] { running = true; });
    std::thread other([&] {
        while (!running)
            std::this_thread::yield();
        w.context.stop();
    });
    w.context.run(); // a failure shows as the test's time-out
    other.join();
    EXPECT_TRUE(w.context.stopped());
}

TEST(Papers, D15_NoMonopolyOfSixteenTurnsForCallbacksEither) {
    // A callback is queued for each completion: nobody's turn is longer than one.
    busy_context w;
    turn_watch watch(w.done);
    auto const n = scaled(100'000, 10'000);
    async_read_until(w.a, dynamic_buffer(w.text), "\r\n", callback_reader{&w, n});
    co_spawn(
        w.context,
        [](turn_watch& t, std::uint64_t const& done, std::uint64_t end) -> awaitable<void> {
            t.before = done;
            while (done != end) {
                co_await this_coro::yield();
                t.turn();
            }
        }(watch, w.done, n),
        detached);
    w.context.run();
    EXPECT_LE(watch.most, 1U);
}

} // namespace
