// A coroutine that is asked to end: through the slot of its handler, by a time limit, by itself.
#include <fairlead/coro/spawn.hpp>

#include <fairlead/coro/when_all.hpp>
#include <fairlead/exec/recycler.hpp>
#include <fairlead/exec/strand.hpp>
#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/net/ip.hpp>
#include <fairlead/net/local.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/sim/world.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>
#include <fairlead/token/post.hpp>

#include <support/scale.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using local_socket = local::stream_protocol::socket;

std::string text_of(std::exception_ptr const& e) {
    try {
        if (!e)
            return "nothing";
        std::rethrow_exception(e);
    } catch (system_error const& x) {
        return x.code() == error::operation_aborted ? "aborted: " + std::string(x.what()) : x.what();
    }
}

class SpawnCancellation : public testing::Test {
public:
    SpawnCancellation() { local::connect_pair(near, far); }

    /// Runs a coroutine of `function(*this)`, which is asked after a second.
    template <class Function> void ask(Function function, cancellation_type type = cancellation_type::terminal,
                                       std::chrono::nanoseconds after = 1s) {
        co_spawn(context, function(*this), bind_cancellation_slot(signal.slot(), [this](std::exception_ptr e) {
                     ++ended;
                     thrown = text_of(e);
                     at = world.now() - begin;
                 }));
        begin = world.now();
        world.at(begin - created + after, [this, type] { signal.emit(type); });
        world.run();
        EXPECT_EQ(ended, 1);
    }

    sim::world world{1, "reorder=0,not_ready=0,short_read=0,short_write=0,late_cancel=0,spike=0,starve=0"};
    io_context& context = world.context();
    local_socket near{context}, far{context};
    steady_timer hour{context, 1h};
    steady_clock::time_point const created = world.now();
    steady_clock::time_point begin = created;
    std::chrono::nanoseconds at{};
    cancellation_signal signal;
    char byte = ' ';
    int ended = 0;
    std::string thrown;
    std::string log;
};

TEST_F(SpawnCancellation, WhatIsAwaitedEndsHoweverDeep) {
    struct chain {
        static awaitable<void> wait(SpawnCancellation& t, int deep) {
            if (deep != 0)
                co_await wait(t, deep - 1);
            else
                co_await t.hour.async_wait();
        }
    };
    ask([](SpawnCancellation& t) { return chain::wait(t, 1000); });
    EXPECT_EQ(thrown, "aborted: wait: " + error_code(error::operation_aborted).message());
    EXPECT_LT(at - 1s, 1ms) << "a thousand coroutines go on one after the other";
}

TEST_F(SpawnCancellation, EveryKindOfAwaitEnds) {
    auto const each = [this](auto start) {
        ended = 0;
        ask([start](SpawnCancellation& t) -> awaitable<void> { co_await start(t); });
        EXPECT_EQ(thrown.substr(0, 8), "aborted:") << thrown;
        EXPECT_EQ(at, 1s);
    };
    each([](SpawnCancellation& t) { return t.hour.async_wait(); });
    each([](SpawnCancellation& t) { return t.near.async_read_some(buffer(&t.byte, 1)); });
    each([](SpawnCancellation& t) { return t.near.async_read_some(buffer(&t.byte, 1), cancel_after(1h)); });
    each([](SpawnCancellation& t) { return t.hour.async_wait(cancel_after(2h)); });
    each([](SpawnCancellation& t) { return t.near.async_wait(socket_base::wait_read); });
    each([](SpawnCancellation& t) { return async_read(t.near, buffer(&t.byte, 1)); });
    each([](SpawnCancellation& t) { return async_read(t.near, buffer(&t.byte, 1), cancel_after(1h)); });
    each([](SpawnCancellation& t) { return async_read_until(t.near, dynamic_buffer(t.log), '\n'); });
    each([](SpawnCancellation& t) { return t.hour.async_wait(deferred); });
    each([](SpawnCancellation& t) {
        return co_spawn(t.context, [&t]() -> awaitable<void> { co_await t.hour.async_wait(); }, use_await);
    });
}

TEST_F(SpawnCancellation, OfARequestBetweenTwoAwaitsTheNextOneKnows) {
    ask([](SpawnCancellation& t) -> awaitable<void> {
        // Nobody can end a post: the request waits for the next await.
        co_await post(t.context, use_await);
        t.signal.emit(cancellation_type::terminal);
        co_await post(t.context, use_await);
        t.log = "went on";
    });
    EXPECT_EQ(thrown, "aborted: co_await of a cancelled coroutine: " + error_code(error::operation_aborted).message());
    EXPECT_EQ(at, 0s);
    EXPECT_EQ(log, "");
}

TEST_F(SpawnCancellation, ARefusedAwaitIsToldOnceAlsoByAnOperationWithoutValues) {
    ask([](SpawnCancellation& t) -> awaitable<void> {
        t.signal.emit(cancellation_type::terminal);
        for (int i = 0; i != 2; ++i) {
            try {
                co_await post(t.context, use_await);
                t.log += "went on ";
            } catch (system_error const&) {
                t.log += "refused ";
            }
            co_await this_coro::throw_if_cancelled(false);
        }
        co_await post(t.context, use_await);
        t.log += "to its end";
    });
    EXPECT_EQ(thrown, "nothing");
    EXPECT_EQ(log, "refused went on to its end");
}

TEST_F(SpawnCancellation, AfterARequestNothingBeginsThoughItIsReady) {
    ask([](SpawnCancellation& t) -> awaitable<void> {
        t.far.write_some(buffer("x", 1));
        co_await t.near.async_wait(socket_base::wait_read); // It can be read at once from here on.
        try {
            co_await t.hour.async_wait();
        } catch (system_error const& e) {
            t.log += text_of(std::current_exception()).substr(0, 8);
        }
        for (int i = 0; i != 3; ++i) {
            try {
                co_await t.near.async_read_some(buffer(&t.byte, 1), as_tuple);
                t.log += "read ";
            } catch (system_error const& e) {
                t.log += text_of(std::current_exception()).substr(0, 8);
            }
        }
    });
    EXPECT_EQ(thrown, "nothing");
    EXPECT_EQ(log, "aborted:aborted:aborted:aborted:");
    EXPECT_EQ(byte, ' ');
    near.non_blocking(true);
    EXPECT_EQ(near.read_some(buffer(&byte, 1)), 1U) << "the byte is there for the next reader";
}

TEST_F(SpawnCancellation, CoroutineThatAsksItselfEndsAtItsNextAwait) {
    ask(
        [](SpawnCancellation& t) -> awaitable<void> {
            t.far.write_some(buffer("xy", 2));
            co_await t.near.async_read_some(buffer(&t.byte, 1));
            t.signal.emit(cancellation_type::terminal);
            co_await t.near.async_read_some(buffer(&t.byte, 1));
        },
        cancellation_type::none, 2s);
    EXPECT_EQ(byte, 'x');
    EXPECT_EQ(thrown.substr(0, 8), "aborted:");
}

TEST_F(SpawnCancellation, LoopsThatAreAlwaysReadyEnd) {
    auto const never_waits = [](SpawnCancellation& t) -> awaitable<void> {
        std::string text = "a line\n";
        for (;;)
            co_await async_read_until(t.near, dynamic_buffer(text), '\n');
    };
    ask(never_waits, cancellation_type::terminal, 0s);
    EXPECT_EQ(thrown.substr(0, 8), "aborted:");
    ended = 0;
    ask(
        [](SpawnCancellation& t) -> awaitable<void> {
            std::string text = "a line\n";
            for (;;) {
                co_await this_coro::yield();
                co_await async_read_until(t.near, dynamic_buffer(text), '\n');
            }
        },
        cancellation_type::terminal, 0s);
    EXPECT_EQ(thrown.substr(0, 8), "aborted:");
}

constexpr int refusals_most = 1'000;

/// Catches what ends it, and goes on until somebody else has had a turn.
template <class Await>
awaitable<void> goes_on_whatever_happens(io_context& context, bool& is_over, int& refused, Await await) {
    while (!is_over && refused != refusals_most) {
        try {
            co_await await();
        } catch (system_error const&) {
            if (++refused == 2)
                post(context, [&is_over] { is_over = true; });
        }
    }
}

TEST_F(SpawnCancellation, OneThatGoesOnAfterEachRefusalStarvesNobody) {
    auto const each = [this](auto await) {
        ended = 0;
        bool is_over = false;
        int refused = 0;
        ask([&](SpawnCancellation& t) { return goes_on_whatever_happens(t.context, is_over, refused, await); });
        EXPECT_GT(refused, 1);
        EXPECT_LT(refused, 10) << "nobody else had a turn";
    };
    each([this] { return hour.async_wait(); });
    each([this] { return near.async_read_some(buffer(&byte, 1)); });
    each([this] { return hour.async_wait(cancel_after(2h)); });
    each([this] { return async_read_until(near, dynamic_buffer(log), '\n'); });
    each([this] { return when_all(hour.async_wait(), near.async_read_some(buffer(&byte, 1))); });
}

TEST_F(SpawnCancellation, RequestBeforeTheStartIsTheEnd) {
    bool began = false;
    co_spawn(
        context,
        [&]() -> awaitable<void> {
            began = true;
            co_return;
        },
        bind_cancellation_slot(signal.slot(), [&](std::exception_ptr e) { thrown = text_of(e); }));
    signal.emit(cancellation_type::all);
    world.run();
    EXPECT_FALSE(began);
    EXPECT_EQ(thrown, "aborted: co_spawn: " + error_code(error::operation_aborted).message());
}

TEST_F(SpawnCancellation, OnlyTerminalRequestsUntilItSaysOtherwise) {
    auto const wait_in_turn = [](SpawnCancellation& t) -> awaitable<void> {
        steady_timer two(t.context, 2s);
        co_await two.async_wait();
        t.log += "waited ";
    };
    ask(wait_in_turn, cancellation_type::partial | cancellation_type::total);
    EXPECT_EQ(log + thrown, "waited nothing");

    auto const takes_partial = [](SpawnCancellation& t) -> awaitable<void> {
        co_await this_coro::reset_cancellation_state(enable_partial_cancellation());
        co_await t.hour.async_wait();
    };
    ended = 0;
    ask(takes_partial, cancellation_type::partial);
    EXPECT_EQ(thrown.substr(0, 8), "aborted:");

    auto const takes_none = [](SpawnCancellation& t) -> awaitable<void> {
        co_await this_coro::reset_cancellation_state(disable_cancellation());
        steady_timer two(t.context, 2s);
        co_await two.async_wait();
        t.log += "shielded ";
    };
    ended = 0;
    ask(takes_none, cancellation_type::all);
    EXPECT_EQ(log + thrown, "waited shielded nothing");

    // Noted, and not passed on to what is awaited.
    auto const notes = [](SpawnCancellation& t) -> awaitable<void> {
        co_await this_coro::reset_cancellation_state(enable_total_cancellation(), disable_cancellation());
        steady_timer two(t.context, 2s);
        co_await two.async_wait();
        auto const state = co_await this_coro::cancellation_state;
        t.log += state.cancelled() == cancellation_type::total ? "noted " : "lost ";
        co_await two.async_wait();
    };
    ended = 0;
    ask(notes, cancellation_type::total);
    EXPECT_EQ(log, "waited shielded noted ");
    EXPECT_EQ(thrown.substr(0, 8), "aborted:");
}

TEST_F(SpawnCancellation, WhatHasBeenAskedForIsSeenAndForgotten) {
    ask([](SpawnCancellation& t) -> awaitable<void> {
        EXPECT_TRUE(co_await this_coro::throw_if_cancelled());
        EXPECT_FALSE(!!(co_await this_coro::cancellation_state).cancelled());
        auto const [ec] = co_await t.hour.async_wait(as_tuple);
        EXPECT_EQ(ec, error::operation_aborted) << "the operation had begun";
        EXPECT_EQ((co_await this_coro::cancellation_state).cancelled(), cancellation_type::terminal);
        co_await this_coro::throw_if_cancelled(false);
        EXPECT_FALSE(co_await this_coro::throw_if_cancelled());
        steady_timer soon(t.context, 1s);
        co_await soon.async_wait(); // for a clean-up
        t.log = "cleaned up";
        co_await this_coro::throw_if_cancelled(true);
        try {
            co_await soon.async_wait();
            t.log = "lost";
        } catch (system_error const&) {
        }
        co_await this_coro::reset_cancellation_state();
        co_await soon.async_wait();
    });
    EXPECT_EQ(log, "cleaned up");
    EXPECT_EQ(thrown, "nothing");
    EXPECT_LT(at - 2s, 1ms);
}

TEST_F(SpawnCancellation, CoroutineThatNobodyCanAskKnowsTheWordsToo) {
    co_spawn(
        context,
        []() -> awaitable<void> {
            EXPECT_FALSE(!!(co_await this_coro::cancellation_state).cancelled());
            co_await this_coro::reset_cancellation_state(enable_total_cancellation());
            co_await this_coro::throw_if_cancelled(false);
            EXPECT_FALSE(co_await this_coro::throw_if_cancelled());
        },
        [&](std::exception_ptr e) { thrown = text_of(e); });
    world.run();
    EXPECT_EQ(thrown, "nothing");
}

TEST_F(SpawnCancellation, TimeLimitAroundACoroutine) {
    co_spawn(
        context,
        [&]() -> awaitable<int> {
            co_await hour.async_wait();
            co_return 1;
        },
        cancel_after(250ms, [&](std::exception_ptr e, int) {
            thrown = text_of(e);
            at = world.now() - begin;
        }));
    world.run();
    EXPECT_EQ(thrown.substr(0, 8), "aborted:");
    EXPECT_EQ(at, 250ms);
    // Its own limits are shorter or not.
    for (auto const inner : {100ms, 900ms}) {
        begin = world.now();
        hour.expires_after(1h);
        co_spawn(
            context, [&]() -> awaitable<void> { co_await hour.async_wait(cancel_after(inner)); },
            cancel_after(250ms, [&](std::exception_ptr) { at = world.now() - begin; }));
        world.run();
        EXPECT_EQ(at, std::min<std::chrono::nanoseconds>(inner, 250ms));
    }
}

TEST_F(SpawnCancellation, ResultThatIsThereIsDelivered) {
    int value = 0;
    co_spawn(
        context,
        [&]() -> awaitable<int> {
            auto const [ec] = co_await hour.async_wait(as_tuple);
            co_return ec == error::operation_aborted ? 7 : 8;
        },
        bind_cancellation_slot(signal.slot(), [&](std::exception_ptr e, int v) {
            EXPECT_FALSE(e);
            value = v;
        }));
    world.at(1s, [&] { signal.emit(cancellation_type::terminal); });
    world.run();
    EXPECT_EQ(value, 7);
}

TEST_F(SpawnCancellation, SlotIsFreeAgainWhenTheHandlerRuns) {
    bool empty = false;
    error_code of_other;
    co_spawn(
        context, []() -> awaitable<void> { co_return; }, bind_cancellation_slot(signal.slot(), [&](std::exception_ptr) {
            empty = !signal.slot().has_handler();
            hour.async_wait(bind_cancellation_slot(signal.slot(), [&](error_code ec) { of_other = ec; }));
        }));
    world.at(1s, [&] { signal.emit(cancellation_type::total); });
    world.run();
    EXPECT_TRUE(empty);
    EXPECT_EQ(of_other, error::operation_aborted);
}

TEST_F(SpawnCancellation, SignalMayGoBeforeTheCoroutine) {
    auto own = std::make_unique<cancellation_signal>();
    co_spawn(
        context,
        [&]() -> awaitable<void> {
            steady_timer soon(context, 1s);
            co_await soon.async_wait();
            co_await soon.async_wait();
        },
        bind_cancellation_slot(own->slot(), [&](std::exception_ptr e) { thrown = text_of(e); }));
    world.at(500ms, [&] { own.reset(); });
    world.run();
    EXPECT_EQ(thrown, "nothing");
}

TEST_F(SpawnCancellation, AbandonedWithItsContextEverythingIsFreed) {
    auto const alive = std::make_shared<int>(0);
    {
        io_context own;
        steady_timer timer(own, 1h);
        local_socket a(own), b(own);
        local::connect_pair(a, b);
        auto const wait = [](auto& what, std::shared_ptr<int> p) -> awaitable<void> {
            char c;
            if constexpr (requires { what.async_read_some(buffer(&c, 1)); })
                co_await async_read(what, buffer(&c, 1));
            else
                co_await what.async_wait();
            ++*p;
        };
        auto const handler = [alive](std::exception_ptr) { ++*alive; };
        co_spawn(own, wait(timer, alive), bind_cancellation_slot(signal.slot(), handler));
        cancellation_signal another;
        co_spawn(own, wait(a, alive), bind_cancellation_slot(another.slot(), handler));
        own.poll();
    }
    EXPECT_FALSE(signal.slot().has_handler());
    EXPECT_EQ(alive.use_count(), 1);
    EXPECT_EQ(*alive, 0);
}

TEST_F(SpawnCancellation, AwaitsThatCanBeEndedTakeNoFreshMemoryOnceTheyAreWarm) {
    auto const exchange = [&](local_socket& s, bool begins) -> awaitable<void> {
        for (int i = 0; i != 100; ++i) {
            if (begins)
                s.write_some(buffer("x", 1));
            co_await s.async_read_some(buffer(&byte, 1));
            if (!begins)
                s.write_some(buffer("x", 1));
        }
    };
    cancellation_signal another;
    auto const round = [&] {
        co_spawn(context, exchange(near, true), bind_cancellation_slot(signal.slot(), detached));
        co_spawn(context, exchange(far, false), bind_cancellation_slot(another.slot(), detached));
        world.run();
    };
    round();
    auto const before = this_thread_recycler_counters().fresh;
    auto const overflows = impl::exec::this_thread.record_overflows;
    round();
    EXPECT_EQ(this_thread_recycler_counters().fresh, before);
    EXPECT_EQ(impl::exec::this_thread.record_overflows, overflows) << "the op of a read lies in the await record";
}

TEST_F(SpawnCancellation, AwaitsOfPrimitivesThatCanBeEndedTakeNoBlocks) {
    auto const in_use = [] {
        auto const counters = this_thread_recycler_counters();
        return counters.fresh - counters.cached;
    };
    std::uint64_t before = 0;
    int reads_begun = 0;
    auto const reads = [&]() -> awaitable<void> {
        co_await near.async_read_some(buffer(&byte, 1)); // Blocks that are allocated once have been.
        before = in_use();
        ++reads_begun;
        co_await near.async_read_some(buffer(&byte, 1));
    };
    auto const writes = [&]() -> awaitable<void> {
        far.write_some(buffer("x", 1));
        while (reads_begun == 0)
            co_await hour.async_wait(cancel_after(1ms, as_tuple));
        co_await this_coro::yield(); // The other one waits.
        EXPECT_EQ(in_use(), before);
        far.write_some(buffer("x", 1));
    };
    co_spawn(context, reads(), bind_cancellation_slot(signal.slot(), rethrow));
    co_spawn(context, writes(), rethrow);
    world.run();
    EXPECT_EQ(reads_begun, 1);
}

/// A request comes while the op is on its way to its driver.
struct asked_on_its_way : impl::operation::around_primitive<asked_on_its_way, impl::net::transfer> {
    using signature = impl::net::transfer::signature;
    using plain_result = void;
    cancellation_signal* signal;
    asked_on_its_way(impl::net::transfer&& t, cancellation_signal* s) : around_primitive(std::move(t)), signal(s) {}
    bool attempt(record&) const noexcept { return false; }
    void submit(record& o) const noexcept {
        signal->emit(cancellation_type::terminal);
        inner.submit(o);
    }
    static auto take(record& o) noexcept { return impl::net::transfer::take(o); }
};
TEST_F(SpawnCancellation, RequestThatComesBeforeItsDriverHasTheOpEndsIt) {
    int ends = 0;
    auto const reads = [&](bool goes_on) -> awaitable<void> {
        co_await this_coro::throw_if_cancelled(!goes_on);
        for (int i = 0; i != (goes_on ? 2 : 1); ++i) { // The second request is no news to the state.
            impl::net::transfer read(near.core(), io::kind::receive, &byte, 1);
            try {
                co_await async_op<void(error_code, std::size_t)>(asked_on_its_way(std::move(read), &signal));
            } catch (system_error const& e) {
                ends += e.code() == error::operation_aborted;
            }
        }
    };
    co_spawn(context, reads(false), bind_cancellation_slot(signal.slot(), detached));
    world.run_for(1s);
    EXPECT_EQ(ends, 1);
    co_spawn(context, reads(true), bind_cancellation_slot(signal.slot(), detached));
    world.run_for(1s);
    EXPECT_EQ(ends, 3);
}

TEST_F(SpawnCancellation, AcceptThatFailsInACoroutineThatCanBeAskedNamesItsEndpoint) {
    ip::tcp::acceptor acceptor(context, ip::tcp::endpoint(ip::address_v4::any(), 7000));
    ask([&](SpawnCancellation&) -> awaitable<void> { co_await acceptor.async_accept(); });
    EXPECT_NE(thrown.find("7000"), std::string::npos) << thrown;
}

// ---- several threads

awaitable<void> waits_again_and_again(io_context& context, std::atomic<int>& waits) {
    steady_timer timer(context);
    for (;;) {
        timer.expires_after(std::chrono::microseconds(waits % 3));
        ++waits;
        co_await timer.async_wait();
    }
}
/// Another thread asks at any moment: between two awaits, inside a start, while one completes.
template <class Executor> void ask_from_another_thread(io_context& context, Executor const& home, int runners) {
    int const rounds = static_cast<int>(test::scaled(100, 20));
    auto guard = make_work_guard(context);
    std::vector<std::thread> running;
    for (int i = 0; i != runners; ++i)
        running.emplace_back([&] { context.run(); });
    for (int i = 0; i != rounds; ++i) {
        cancellation_signal signal;
        std::atomic<int> waits{0};
        std::atomic<bool> ended{false};
        std::string thrown;
        co_spawn(home, waits_again_and_again(context, waits),
                 bind_cancellation_slot(signal.slot(), [&](std::exception_ptr e) {
                     thrown = text_of(e);
                     ended = true;
                     ended.notify_one();
                 }));
        while (waits < i % 7)
            std::this_thread::yield();
        signal.emit(cancellation_type::terminal);
        ended.wait(false);
        EXPECT_EQ(thrown.substr(0, 8), "aborted:");
    }
    guard.reset();
    for (auto& t : running)
        t.join();
}
TEST(SpawnCancellationThreads, AskedWhileOneThreadRuns) {
    io_context context;
    ask_from_another_thread(context, context.get_executor(), 1);
}
TEST(SpawnCancellationThreads, AskedWhileSeveralThreadsRun) {
    io_context context;
    ask_from_another_thread(context, make_strand(context), 3);
}
TEST(SpawnCancellationThreads, AskedInAThreadPool) {
    io_context context;
    thread_pool pool(2);
    ask_from_another_thread(context, make_strand(pool), 1);
}

} // namespace
