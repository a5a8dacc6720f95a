#include <fairlead/net/cancel_after.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/strand.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/bind_stop_token.hpp>
#include <fairlead/net/ip.hpp>
#include <fairlead/net/local.hpp>
#include <fairlead/net/resolver.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/operation/compose.hpp>
#include <fairlead/sim/world.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/any_completion_handler.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>
#include <fairlead/token/immediate.hpp>
#include <fairlead/token/post.hpp>
#include <fairlead/token/use_future.hpp>

#include <support/counting_allocator.hpp>
#include <support/scale.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace fairlead;
using test::account;
using test::counting_allocator;
using namespace std::chrono_literals;
using local_socket = local::stream_protocol::socket;

struct own_clock {
    using duration = std::chrono::milliseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<own_clock>;
    [[maybe_unused]] static constexpr bool is_steady = true;
    static time_point now() { return time_point(7000ms); }
};

/// A world with a connected pair; its clock is virtual and exact.
class CancelAfter : public testing::Test {
public:
    CancelAfter() { local::connect_pair(near, far); }
    std::chrono::nanoseconds since() const { return world.now() - begin; }
    auto store() {
        return [this](error_code e, auto... rest) {
            ++count;
            ec = e;
            at = since();
            if constexpr (sizeof...(rest) == 1)
                n = (static_cast<std::size_t>(rest), ...);
        };
    }

    sim::world world{1, "reorder=0,not_ready=0,short_read=0,short_write=0,late_cancel=0,spike=0,starve=0"};
    io_context& context = world.context();
    local_socket near{context}, far{context};
    steady_clock::time_point begin = world.now();
    char byte = ' ';
    int count = 0;
    error_code ec;
    std::size_t n = 99;
    std::chrono::nanoseconds at{};
};

TEST_F(CancelAfter, OperationThatTakesLongerEndsExactlyThen) {
    near.async_read_some(buffer(&byte, 1), cancel_after(250ms, store()));
    world.run();
    EXPECT_EQ(count, 1);
    EXPECT_EQ(ec, error::operation_aborted);
    EXPECT_EQ(n, 0U);
    EXPECT_EQ(at, 250ms);
}

TEST_F(CancelAfter, LimitsAnOperationThatWasDeferred) {
    near.async_read_some(buffer(&byte, 1), deferred)(cancel_after(250ms, store()));
    world.run();
    EXPECT_EQ(ec, error::operation_aborted);
    EXPECT_EQ(at, 250ms);

    begin = world.now();
    steady_timer t(context, 1h);
    t.async_wait()(cancel_after(5ms, store()));
    world.run();
    EXPECT_EQ(count, 2);
    EXPECT_EQ(at, 5ms);

    t.async_wait(deferred) | cancel_after(5ms) | store();
    async_write(near, buffer(&byte, 1), deferred)(cancel_after(1h, store()));
    world.run();
    EXPECT_EQ(count, 4);
}

/// A program's own executor around another one: not known to the library, with a context that is.
struct around_context {
    io_context* home;
    execution_context& context() const { return *home; }
    template <class F> void execute(F&& f) const { home->get_executor().execute(std::forward<F>(f)); }
    bool operator==(around_context const&) const = default;
};

TEST_F(CancelAfter, LimitsADeferredOperationOnAnExecutorOfAUser) {
    basic_waitable_timer<steady_clock, wait_traits<steady_clock>, around_context> t(around_context{&context}, 1h);
    auto op = t.async_wait(deferred)(deferred);
    std::move(op)(cancel_after(5ms, store()));
    world.run();
    EXPECT_EQ(count, 1);
    EXPECT_EQ(at, 5ms);
}

TEST_F(CancelAfter, OperationThatIsFasterLeavesNoTimerBehind) {
    near.async_read_some(buffer(&byte, 1), cancel_after(1h, store()));
    far.async_write_some(buffer("x", 1), detached);
    world.run();
    EXPECT_EQ(count, 1);
    EXPECT_FALSE(ec);
    EXPECT_EQ(n, 1U);
    EXPECT_LT(since(), 1s) << "the wait was left armed";
    EXPECT_EQ(context.look().deadline_ns, std::numeric_limits<std::int64_t>::max());
}

TEST_F(CancelAfter, NestedLimitsTheShorterCounts) {
    near.async_read_some(buffer(&byte, 1), cancel_after(5s, cancel_after(100ms, store())));
    world.run();
    EXPECT_EQ(ec, error::operation_aborted);
    EXPECT_EQ(at, 100ms);
    begin = world.now();
    near.async_read_some(buffer(&byte, 1), cancel_after(100ms, cancel_after(5s, store())));
    world.run();
    EXPECT_EQ(at, 100ms);
    EXPECT_EQ(since(), 100ms);
    EXPECT_EQ(count, 2);
}

TEST_F(CancelAfter, AtAPointInTimeOfEachClock) {
    near.async_read_some(buffer(&byte, 1), cancel_at(world.now() + 3s, store()));
    world.run();
    EXPECT_EQ(ec, error::operation_aborted);
    EXPECT_EQ(at, 3s);
    near.async_read_some(buffer(&byte, 1), cancel_at(world.now() - 3s, store()));
    world.run();
    EXPECT_EQ(at, 3s) << "the past is now";
    near.async_read_some(buffer(&byte, 1), cancel_at(own_clock::time_point(7500ms), store()));
    world.run();
    EXPECT_EQ(at, 3500ms);
    EXPECT_EQ(count, 3);
}

TEST_F(CancelAfter, FarFuturesAndPasts) {
    using hours = std::chrono::duration<double, std::ratio<3600>>;
    near.async_read_some(buffer(&byte, 1), cancel_after(hours(1e30), store()));
    far.async_write_some(buffer("x", 1), detached);
    world.run();
    EXPECT_EQ(n, 1U);
    near.async_read_some(buffer(&byte, 1), cancel_after(-hours(1e30), store()));
    world.run();
    EXPECT_EQ(ec, error::operation_aborted);
    near.async_read_some(buffer(&byte, 1), cancel_after(0s, store()));
    world.run();
    EXPECT_EQ(ec, error::operation_aborted);
    EXPECT_EQ(count, 3);
}

TEST_F(CancelAfter, TheTypeIsTerminalUnlessTheCallerSaysOtherwise) {
    struct recorder {
        cancellation_type* heard;
        void operator()(cancellation_type t) { *heard = t; }
    };
    auto const start = [](cancellation_type* heard, auto&& token) {
        async_initiate<decltype(token), void(error_code)>(
            [heard](auto handler) { get_associated_cancellation_slot(handler).assign(recorder{heard}); }, token);
    };
    auto heard = cancellation_type::none;
    // The operation drops its handler at once: there is nobody who could complete it.
    start(&heard, cancel_after(1s, bind_executor(context, [](error_code) {})));
    // One that keeps it.
    std::vector<std::function<void()>> kept;
    auto const keep = [&](auto&& token) {
        return async_initiate<decltype(token), void(error_code)>(
            [&](auto handler) {
                auto slot = get_associated_cancellation_slot(handler);
                auto h = std::make_shared<decltype(handler)>(std::move(handler));
                slot.assign([&heard, h](cancellation_type t) {
                    heard = t;
                    (*h)(error::make_error_code(error::operation_aborted));
                });
            },
            token);
    };
    int done = 0;
    keep(cancel_after(1s, bind_executor(context, [&](error_code) { ++done; })));
    world.run();
    EXPECT_EQ(heard, cancellation_type::terminal);
    EXPECT_EQ(done, 1);
    keep(cancel_after(1s, cancellation_type::total, bind_executor(context, [&](error_code) { ++done; })));
    world.run();
    EXPECT_EQ(heard, cancellation_type::total);
    EXPECT_EQ(done, 2);
}

TEST_F(CancelAfter, WhatTheOperationDoesNotHonourDoesNotEndIt) {
    std::string got(2, ' ');
    async_read(near, buffer(got), cancel_after(1s, cancellation_type::total, store()));
    world.at(2s, [&] { far.write_some(buffer("ab", 2)); });
    world.run();
    EXPECT_FALSE(ec);
    EXPECT_EQ(got, "ab");
}

TEST_F(CancelAfter, BytesSoFarAreReported) {
    std::string got(10, ' ');
    async_read(near, buffer(got), cancel_after(1s, store()));
    far.write_some(buffer("abc", 3));
    world.run();
    EXPECT_EQ(ec, error::operation_aborted);
    EXPECT_EQ(n, 3U);
    EXPECT_EQ(at, 1s);
}

TEST_F(CancelAfter, HandlersOwnSlotIsHeardToo) {
    cancellation_signal signal;
    near.async_read_some(buffer(&byte, 1), cancel_after(1h, bind_cancellation_slot(signal.slot(), store())));
    world.at(1s, [&] { signal.emit(cancellation_type::partial); });
    world.run();
    EXPECT_EQ(ec, error::operation_aborted);
    EXPECT_EQ(at, 1s);
    EXPECT_FALSE(signal.slot().has_handler());
    near.async_read_some(buffer(&byte, 1), cancel_after(1s, bind_cancellation_slot(signal.slot(), store())));
    world.run();
    EXPECT_EQ(at, 2s);
    EXPECT_FALSE(signal.slot().has_handler());
    {
        cancellation_signal gone;
        near.async_read_some(buffer(&byte, 1), cancel_after(1s, bind_cancellation_slot(gone.slot(), store())));
    }
    world.run();
    EXPECT_EQ(at, 3s);
    EXPECT_EQ(count, 3);
}

TEST_F(CancelAfter, SlotThatWasGivenAwayMeanwhileIsLeftAlone) {
    auto const limited_by = [&](auto limit, bool composed, bool answered) {
        cancellation_signal signal;
        count = 0;
        auto const begun = since();
        if (composed)
            async_read(
                near, buffer(&byte, 1), [](auto const&, std::size_t read) { return 1 - read; },
                cancel_after(limit, bind_cancellation_slot(signal.slot(), store())));
        else
            near.async_read_some(buffer(&byte, 1), cancel_after(limit, bind_cancellation_slot(signal.slot(), store())));
        steady_timer other(context, 2h), later(context, 10s);
        error_code of_other;
        other.async_wait(bind_cancellation_slot(signal.slot(), [&](error_code e) { of_other = e; }));
        if (answered)
            far.async_write_some(buffer("x", 1), detached);
        later.async_wait([&](error_code) {
            EXPECT_EQ(count, 1) << "the first owner of the slot is done";
            signal.emit(cancellation_type::terminal);
        });
        world.run();
        EXPECT_EQ(of_other, error::operation_aborted) << composed << answered;
        EXPECT_EQ(ec, answered ? error_code() : error::operation_aborted) << composed;
        if (!answered) {
            EXPECT_EQ(at - begun, limit) << "the limit is no slot's affair";
        }
    };
    for (bool composed : {false, true}) {
        limited_by(1h, composed, true);
        limited_by(1s, composed, false);
    }
}

TEST_F(CancelAfter, OuterSlotAndInnerLimitAreOneAndTheSame) {
    // The slot is bound outside the limit: the outermost binder is what the operation sees.
    cancellation_signal signal;
    near.async_read_some(buffer(&byte, 1), bind_cancellation_slot(signal.slot(), cancel_after(1h, store())));
    world.at(1s, [&] { signal.emit(cancellation_type::total); });
    world.run();
    EXPECT_EQ(ec, error::operation_aborted);
    EXPECT_EQ(at, 1s);
}

TEST_F(CancelAfter, AwaitsHearTheirSlotInsideAndOutsideALimit) {
    cancellation_signal signal;
    auto const slot = signal.slot();
    int ends = 0;
    auto const expect_end = [&](auto start, std::chrono::nanoseconds after) {
        auto const begun = since();
        co_spawn(
            context,
            [&]() -> awaitable<void> {
                try {
                    co_await start();
                    ADD_FAILURE() << "it went on";
                } catch (system_error const& e) {
                    ends += e.code() == error::operation_aborted;
                }
                EXPECT_FALSE(slot.has_handler());
            },
            rethrow);
        world.at(begun + 1s, [&] {
            EXPECT_EQ(slot.has_handler(), after == 1s);
            signal.emit(cancellation_type::terminal);
        });
        world.run();
        EXPECT_EQ(since() - begun, std::max(after, std::chrono::nanoseconds(1s)));
    };
    steady_timer hour(context, 10h);
    expect_end([&] { return near.async_read_some(buffer(&byte, 1), bind_cancellation_slot(slot)); }, 1s);
    expect_end([&] { return hour.async_wait(bind_cancellation_slot(slot)); }, 1s);
    expect_end([&] { return async_read(near, buffer(&byte, 1), bind_cancellation_slot(slot)); }, 1s);
    expect_end([&] { return near.async_read_some(buffer(&byte, 1), bind_cancellation_slot(slot, cancel_after(1h))); },
               1s);
    expect_end([&] { return near.async_read_some(buffer(&byte, 1), cancel_after(1h, bind_cancellation_slot(slot))); },
               1s);
    expect_end(
        [&] { return near.async_read_some(buffer(&byte, 1), cancel_after(500ms, bind_cancellation_slot(slot))); },
        500ms);
    expect_end(
        [&] {
            return near.async_read_some(buffer(&byte, 1), bind_cancellation_slot(slot, deferred))(
                bind_cancellation_slot(slot, use_await));
        },
        1s);
    EXPECT_EQ(ends, 7);
}

TEST_F(CancelAfter, AwaitThatIsReadyLeavesItsSlotAlone) {
    cancellation_signal signal;
    int heard = 0;
    signal.slot().assign([&](cancellation_type) { ++heard; });
    far.write_some(buffer("x", 1));
    co_spawn(
        context,
        [&]() -> awaitable<void> {
            co_await near.async_wait(socket_base::wait_read);
            EXPECT_EQ(co_await near.async_read_some(buffer(&byte, 1), bind_cancellation_slot(signal.slot())), 1U);
            signal.emit(cancellation_type::terminal);
        },
        rethrow);
    world.run();
    EXPECT_EQ(heard, 1);
}

TEST_F(CancelAfter, CallersTimer) {
    steady_timer timer(context);
    int before = 0;
    timer.expires_after(1h);
    timer.async_wait([&](error_code e) { before += e == error::operation_aborted; });
    near.async_read_some(buffer(&byte, 1), cancel_after(timer, 2s, store()));
    EXPECT_EQ(timer.expiry() - begin, 2s);
    world.run();
    EXPECT_EQ(before, 1);
    EXPECT_EQ(ec, error::operation_aborted);
    EXPECT_EQ(at, 2s);
    // Cancelled, it limits no more.
    near.async_read_some(buffer(&byte, 1), cancel_at(timer, world.now() + 1s, cancellation_type::total, store()));
    world.at(2500ms, [&] { EXPECT_EQ(timer.cancel(), 1U); });
    world.at(10s, [&] { far.write_some(buffer("x", 1)); });
    world.run();
    EXPECT_FALSE(ec);
    EXPECT_EQ(n, 1U);
    EXPECT_GE(at, 10s);
    // Moved, it goes on limiting; nothing of it is left when the operation was faster.
    near.async_read_some(buffer(&byte, 1), cancel_after(timer, 1s, store()));
    steady_timer moved(std::move(timer));
    far.write_some(buffer("x", 1));
    world.run();
    EXPECT_EQ(n, 1U);
    EXPECT_EQ(moved.cancel(), 0U);
    near.async_read_some(buffer(&byte, 1), cancel_after(moved, 1s, cancellation_type::partial)(store()));
    world.run();
    EXPECT_EQ(ec, error::operation_aborted);
    EXPECT_EQ(count, 4);
}

TEST_F(CancelAfter, CallersTimerOfAnotherClockIsPutOntoTheLoops) {
    basic_waitable_timer<own_clock> limit(context);
    near.async_read_some(buffer(&byte, 1), cancel_after(limit, 250ms, store()));
    world.run();
    EXPECT_EQ(ec, error::operation_aborted);
    EXPECT_EQ(at, 250ms);
    near.async_read_some(buffer(&byte, 1), cancel_at(limit, own_clock::time_point(7500ms), store()));
    world.run();
    EXPECT_EQ(at, 750ms);
    EXPECT_EQ(count, 2);
}

TEST_F(CancelAfter, AwaitedInEveryForm) {
    int aborted = 0;
    co_spawn(
        context,
        [&]() -> awaitable<void> {
            try {
                co_await near.async_read_some(buffer(&byte, 1), cancel_after(1s));
            } catch (system_error const& e) {
                aborted += e.code() == error::operation_aborted;
            }
            EXPECT_EQ(since(), 1s);
            auto const inside = cancel_after(1s, as_tuple);
            auto const [one, none] = co_await near.async_read_some(buffer(&byte, 1), inside);
            aborted += one == error::operation_aborted;
            EXPECT_EQ(since(), 2s);
            auto const outside = as_tuple(cancel_after(1s));
            auto const [two, no] = co_await async_read(near, buffer(&byte, 1), outside);
            aborted += two == error::operation_aborted;
            EXPECT_EQ(since(), 3s);
            auto const explicitly = cancel_after(1s, cancellation_type::partial, as_tuple(use_await));
            auto const [three] = co_await near.async_wait(socket_base::wait_read, explicitly);
            aborted += three == error::operation_aborted;
            EXPECT_EQ(since(), 4s);
            error_code redirected;
            co_await near.async_read_some(buffer(&byte, 1), redirect_error(cancel_after(1s), redirected));
            aborted += redirected == error::operation_aborted;
            EXPECT_EQ(since(), 5s);
            auto later = near.async_read_some(buffer(&byte, 1), deferred);
            auto const [four, nil] = co_await std::move(later)(cancel_after(1s, as_tuple));
            aborted += four == error::operation_aborted;
            EXPECT_EQ(since(), 6s);
            far.write_some(buffer("x", 1));
            std::size_t const read = co_await near.async_read_some(buffer(&byte, 1), cancel_after(1s));
            EXPECT_EQ(read, 1U);
            EXPECT_LT(since(), 7s);
        },
        [&](std::exception_ptr e) {
            EXPECT_FALSE(e);
            ++count;
        });
    world.run();
    EXPECT_EQ(aborted, 6);
    EXPECT_EQ(count, 1);
}

TEST_F(CancelAfter, Futures) {
    auto late = near.async_read_some(buffer(&byte, 1), cancel_after(1s, use_future));
    world.run();
    EXPECT_THROW(late.get(), system_error);
    far.write_some(buffer("x", 1));
    auto early = near.async_read_some(buffer(&byte, 1), cancel_after(1s, use_future));
    world.run();
    EXPECT_EQ(early.get(), 1U);
}

TEST_F(CancelAfter, LimitsAWaitOfATimerAndASpawnedCoroutinesChild) {
    steady_timer timer(context, 5s);
    timer.async_wait(cancel_after(1s, store()));
    world.run();
    EXPECT_EQ(ec, error::operation_aborted);
    EXPECT_EQ(at, 1s);
    timer.expires_after(1s);
    timer.async_wait(cancel_after(5s, store()));
    world.run();
    EXPECT_FALSE(ec);
    EXPECT_EQ(at, 2s);
    EXPECT_EQ(since(), 2s);
}

TEST_F(CancelAfter, BothAtOneInstantCompleteOnce) {
    for (int i = 0; i != 20; ++i) {
        count = 0;
        steady_timer timer(context, 1s);
        if (i % 2)
            timer.async_wait(cancel_after(1s, store()));
        else
            timer.async_wait(cancel_at(timer.expiry(), store()));
        world.run();
        EXPECT_EQ(count, 1);
        EXPECT_TRUE(!ec || ec == error::operation_aborted);
    }
}

TEST_F(CancelAfter, Z1_WhatEndsAtItsWaitIsCalledOnItsExecutorAllTheSame) {
    auto const home = make_strand(context);
    any_completion_handler<void(error_code)> pending;
    auto const start = [&](auto&& token) {
        return async_initiate<decltype(token), void(error_code)>([&](auto h) { pending = std::move(h); }, token);
    };
    // Of equal deadlines the first that was armed is the first: the wait of the limit is in the queue behind it.
    steady_timer completes(context, 1s);
    completes.async_wait([&](error_code e) { std::move(pending)(e); });
    steady_timer limit(context);
    bool there = false;
    start(cancel_at(limit, completes.expiry(), bind_executor(home, [&](error_code e) {
                        ec = e;
                        ++count;
                        there = home.running_in_this_thread();
                    })));
    world.run();
    EXPECT_EQ(count, 1);
    EXPECT_FALSE(ec) << ec.message();
    EXPECT_TRUE(there);
}

TEST_F(CancelAfter, AbandonedWithItsContextNothingIsCalledAndEverythingFreed) {
    auto const alive = std::make_shared<int>(0);
    {
        io_context own;
        local_socket a(own), b(own);
        local::connect_pair(a, b);
        steady_timer timer(own);
        a.async_read_some(buffer(&byte, 1), cancel_after(1h, [alive](error_code, std::size_t) { ++*alive; }));
        b.async_read_some(buffer(&byte, 1), cancel_after(timer, 1h, [alive](error_code, std::size_t) { ++*alive; }));
        co_spawn(
            own,
            [](local_socket& s, std::shared_ptr<int> p) -> awaitable<void> {
                char c;
                co_await s.async_read_some(buffer(&c, 1), cancel_after(1h));
                ++*p;
            }(a, alive),
            detached);
        own.poll();
        EXPECT_GT(alive.use_count(), 3);
    }
    EXPECT_EQ(alive.use_count(), 1);
    EXPECT_EQ(*alive, 0);
}

TEST_F(CancelAfter, OneBlockOfTheHandlersAllocatorWhichIsFreeAgainInTheHandler) {
    account books;
    near.async_read_some(buffer(&byte, 1),
                         cancel_after(1s, bind_allocator(counting_allocator<int>(&books), [&](error_code, std::size_t) {
                                          ++count;
                                          EXPECT_EQ(books.live, 0);
                                      })));
    EXPECT_EQ(books.taken, 1) << "the limit lies beside the operation";
    world.run();
    EXPECT_EQ(books.taken, 1);
    EXPECT_EQ(count, 1);
}

TEST_F(CancelAfter, TheLimitOfAnAcceptOrALookUpLiesBesideItToo) {
    ip::tcp::acceptor acceptor(context, ip::tcp::endpoint(ip::address_v4::loopback(), 0));
    ip::tcp::resolver resolver(context);
    account books;
    auto const handler = [&] {
        return cancel_after(
            1s, bind_allocator(counting_allocator<int>(&books), [&](error_code, auto const&...) { ++count; }));
    };
    acceptor.async_accept(handler());
    EXPECT_EQ(books.taken, 1);
    resolver.async_resolve("a.name.that.nobody.has", "80", handler());
    EXPECT_EQ(books.taken, 2);
    world.run();
    EXPECT_EQ(count, 2);
    EXPECT_EQ(books.taken, 2);
}

TEST_F(CancelAfter, AwaitsWithALimitASlotOrAStopTokenStayInTheirRecord) {
    struct coroutine {
        static awaitable<void> run(CancelAfter& t, cancellation_slot slot, std::stop_token stop) {
            auto const aborted = [&t](error_code ec) { t.count += ec == error::operation_aborted; };
            auto const quiet = as_tuple(use_await);
            ip::tcp::acceptor acceptor(t.context, ip::tcp::endpoint(ip::address_v4::loopback(), 0));
            ip::tcp::resolver resolver(t.context);
            auto const before = impl::exec::this_thread.record_overflows;
            for (int i = 0; i != 20; ++i) {
                aborted(std::get<0>(co_await t.near.async_read_some(buffer(&t.byte, 1), cancel_after(1ms, quiet))));
                aborted(std::get<0>(co_await acceptor.async_accept(cancel_after(1ms, quiet))));
                co_await resolver.async_resolve("a.name.that.nobody.has", "80", cancel_after(1ms, quiet));
                co_await async_write(t.far, buffer(&t.byte, 1));
                co_await t.near.async_read_some(buffer(&t.byte, 1), bind_cancellation_slot(slot));
                co_await async_write(t.far, buffer(&t.byte, 1));
                co_await t.near.async_read_some(buffer(&t.byte, 1), bind_stop_token(stop));
            }
            EXPECT_EQ(impl::exec::this_thread.record_overflows, before);
        }
    };
    cancellation_signal signal;
    std::stop_source source;
    co_spawn(context, coroutine::run(*this, signal.slot(), source.get_token()), rethrow);
    world.run();
    EXPECT_EQ(count, 40);
}

template <class Token> awaitable<std::uint64_t> blocks_of_a_read(CancelAfter& t, Token token) {
    co_await async_write(t.far, buffer(&t.byte, 1));
    impl::exec::recycler_trim();
    auto const before = this_thread_recycler_counters().fresh;
    auto const n = co_await t.near.async_read_some(buffer(&t.byte, 1), token);
    EXPECT_EQ(n, 1U);
    co_return this_thread_recycler_counters().fresh - before;
}

TEST_F(CancelAfter, ReadsWithALimitASlotOrAStopTokenTakeNoBlock) {
    struct coroutine {
        static awaitable<void> run(CancelAfter& t, cancellation_slot slot, std::stop_token stop) {
            EXPECT_EQ(co_await blocks_of_a_read(t, cancel_after(1h)), 0U);
            EXPECT_EQ(co_await blocks_of_a_read(t, cancel_after(1h, use_awaitable)), 0U);
            co_await blocks_of_a_read(t, bind_cancellation_slot(slot)); // The signal takes its own, and keeps it.
            EXPECT_EQ(co_await blocks_of_a_read(t, bind_cancellation_slot(slot)), 0U);
            EXPECT_EQ(co_await blocks_of_a_read(t, bind_stop_token(stop)), 0U);
            EXPECT_EQ(co_await blocks_of_a_read(t, cancel_after(1h, bind_cancellation_slot(slot))), 0U);
            EXPECT_EQ(co_await blocks_of_a_read(t, bind_cancellation_slot(slot, cancel_after(1h))), 0U);
        }
    };
    cancellation_signal signal;
    std::stop_source source;
    co_spawn(context, coroutine::run(*this, signal.slot(), source.get_token()), rethrow);
    world.run();
}

TEST_F(CancelAfter, AnOperationWithALimitBecomesOneOfTheCommonType) {
    using common = async_op<void(error_code, std::size_t)>;
    struct coroutine {
        static common read(CancelAfter& t, bool limited) {
            auto const into = buffer(&t.byte, 1);
            return limited ? t.near.async_read_some(into, cancel_after(1s)) : t.near.async_read_some(into);
        }
        static awaitable<void> run(CancelAfter& t) {
            co_await async_write(t.far, buffer("x", 1));
            EXPECT_EQ(co_await read(t, true), 1U);
            auto const begun = t.since();
            auto [ec, n] = co_await read(t, true)(as_tuple);
            EXPECT_EQ(ec, error::operation_aborted);
            EXPECT_EQ(t.since() - begun, 1s);
            auto kept = t.near.async_read_some(buffer(&t.byte, 1), cancel_after(1s));
            common moved = std::move(kept);
            try {
                co_await std::move(moved);
                ADD_FAILURE();
            } catch (system_error const& e) {
                EXPECT_EQ(e.code(), error::operation_aborted);
            }
            EXPECT_EQ(t.since() - begun, 2s);
            co_await async_write(t.far, buffer("x", 1));
            EXPECT_EQ(co_await read(t, false), 1U);
        }
    };
    co_spawn(context, coroutine::run(*this), rethrow);
    co_spawn(context, far.async_read_some(buffer(&byte, 1), cancel_after(3s)),
             [this](std::exception_ptr e, std::size_t) {
                 EXPECT_TRUE(e);
                 at = since();
             });
    world.run();
    EXPECT_EQ(at, 3s);
}

/// A user's initiation.
struct stores {
    std::string storage;
    void operator()(auto handler) { std::move(handler)(storage.size()); }
};

TEST(AsyncOp, AnInitiationMayHaveAMemberOfAnyName) {
    auto const type_of = [](auto token) {
        return std::type_identity<decltype(async_initiate<use_await_t const, void(std::size_t)>(stores{"four"},
                                                                                                token))>();
    };
    static_assert(std::same_as<decltype(type_of(use_await))::type, async_op<void(std::size_t)>>);
}

TEST_F(CancelAfter, ComposedOperationThatIsReadyTakesNoLimit) {
    struct coroutine {
        static awaitable<void> run(CancelAfter& t) {
            std::string text = "a line\na line\n";
            steady_timer own(t.context, 5h);
            std::stop_source source;
            impl::exec::recycler_trim();
            auto const before = this_thread_recycler_counters().fresh;
            EXPECT_EQ(co_await async_read_until(t.near, dynamic_buffer(text), '\n', cancel_after(1h)), 7U);
            EXPECT_EQ(
                co_await async_read_until(t.near, dynamic_buffer(text), '\n', bind_stop_token(source.get_token())), 7U);
            EXPECT_EQ(this_thread_recycler_counters().fresh, before)
                << "there is no block for a limit that is not made";
            EXPECT_EQ(co_await async_read_until(t.near, dynamic_buffer(text), '\n', cancel_after(own, 1h)), 7U);
            EXPECT_EQ(own.expiry() - t.world.now(), 1h) << "the caller's timer is set all the same";
            text.clear();
            auto const [ec, n] =
                co_await async_read_until(t.near, dynamic_buffer(text), '\n', cancel_after(1s, as_tuple));
            EXPECT_EQ(ec, error::operation_aborted);
            ++t.count;
        }
    };
    co_spawn(context, coroutine::run(*this), rethrow);
    world.run();
    EXPECT_EQ(count, 1);
}

TEST_F(CancelAfter, ComposedOperationTakesABlockForItsLimitToo) {
    account books;
    async_read(
        near, buffer(&byte, 1), [](auto const&...) { return 1U; },
        cancel_after(1s, bind_allocator(counting_allocator<int>(&books), [&](error_code, std::size_t) {
                         ++count;
                         EXPECT_EQ(books.live, 0);
                     })));
    EXPECT_EQ(books.taken, 2) << "one for the limit, one for the operation";
    world.run();
    EXPECT_EQ(books.taken, 2);
    EXPECT_EQ(count, 1);
}

TEST_F(CancelAfter, TakesNoFreshMemoryOnceItIsWarm) {
    auto const round = [&] {
        near.async_read_some(buffer(&byte, 1), cancel_after(1s, store()));
        world.run();
    };
    round();
    auto const before = this_thread_recycler_counters().fresh;
    round();
    EXPECT_EQ(this_thread_recycler_counters().fresh, before);
}

void limit_what_another_thread_starts(int runners) {
    io_context context;
    auto guard = make_work_guard(context);
    std::vector<std::thread> running;
    for (int i = 0; i != runners; ++i)
        running.emplace_back([&] { context.run(); });
    {
        std::vector<steady_timer> timers;
        std::vector<std::future<void>> late, early;
        timers.reserve(2000);
        for (int i = 0; i != 1000; ++i) { // often the time is over before the operation has begun
            timers.emplace_back(context, 1h);
            late.push_back(timers.back().async_wait(cancel_after(std::chrono::microseconds(i % 4), use_future)));
            timers.emplace_back(context, std::chrono::microseconds(i % 4));
            early.push_back(timers.back().async_wait(cancel_after(1h, use_future)));
        }
        for (auto& f : late)
            EXPECT_THROW(f.get(), system_error);
        for (auto& f : early)
            EXPECT_NO_THROW(f.get());
    }
    guard.reset();
    for (auto& t : running)
        t.join();
}
TEST(CancelAfterThreads, LimitsWhatAnotherThreadStarts) { limit_what_another_thread_starts(1); }
TEST(CancelAfterThreads, LimitsWithSeveralThreadsInRun) { limit_what_another_thread_starts(3); }

/// Waits, and completes with nothing, or with an error and how late it is.
template <class Token> decltype(auto) async_doze(steady_timer& t, bool quietly, Token&& token) {
    return async_compose<Token, void(), void(error_code, int)>(
        [&t, quietly, waiting = false](auto& self, error_code ec = {}) mutable {
            if (!std::exchange(waiting, true))
                t.async_wait(std::move(self));
            else if (quietly && !ec)
                self.complete();
            else
                self.complete(ec, 7);
        },
        token, t);
}

struct doze_log {
    std::string* log;
    void operator()() const { *log += "done "; }
    void operator()(error_code ec, int n) const {
        *log += (ec == error::operation_aborted ? "limited " : "late ") + std::to_string(n) + " ";
    }
};

TEST_F(CancelAfter, LimitsAnOperationWithSeveralSignatures) {
    steady_timer timer(context, 1s);
    std::string log;
    async_doze(timer, true, cancel_after(2s, doze_log{&log}));
    world.run();
    EXPECT_EQ(since(), 1s) << "the wait was left armed";
    EXPECT_EQ(log, "done ");
    async_doze(timer, false, cancel_after(2s, doze_log{&log}));
    world.run();
    EXPECT_EQ(log, "done late 7 ");

    timer.expires_after(10s);
    auto op = async_doze(timer, true, cancel_after(2s)); // The default token of several signatures: deferred.
    std::move(op)(doze_log{&log});
    world.run();
    EXPECT_EQ(log, "done late 7 limited 7 ");
    EXPECT_EQ(since(), 3s);
}

TEST_F(CancelAfter, SeveralSignaturesThatCompleteInsideTheStartAreQueued) {
    std::string log;
    auto const start = [](auto handler) { std::move(handler)(); };
    async_initiate<void(), void(error_code, int)>(start, cancel_after(2s, bind_executor(context, doze_log{&log})));
    EXPECT_EQ(log, "");
    world.run();
    EXPECT_EQ(log, "done ");
    EXPECT_EQ(since(), 0s);
}

TEST_F(CancelAfter, OperationThatCannotBeginLeavesNothingBehind) {
    auto const alive = std::make_shared<int>(0);
    auto const start = [](auto&& token) {
        return async_initiate<decltype(token), void(error_code)>([](auto) { throw 1; }, token);
    };
    EXPECT_THROW(start(cancel_after(1s, bind_executor(context, [alive](error_code) { ++*alive; }))), int);
    EXPECT_EQ(alive.use_count(), 1);
    EXPECT_EQ(context.look().deadline_ns, std::numeric_limits<std::int64_t>::max());
}

TEST_F(CancelAfter, OperationThatCompletesInsideItsStartIsQueued) {
    int done = 0;
    auto const start = [](auto&& token) {
        return async_initiate<decltype(token), void(error_code)>([](auto h) { std::move(h)(error_code()); }, token);
    };
    start(cancel_after(1s, bind_executor(context, [&](error_code e) { done += !e; })));
    EXPECT_EQ(done, 0);
    world.run();
    EXPECT_EQ(done, 1);
    EXPECT_LT(since(), 1s);
}

/// Bytes to and fro between coroutines, under limits that are over now and then while a byte arrives.
awaitable<void> answer(local_socket& s) {
    char c;
    for (;;) {
        auto const [ec, n] = co_await s.async_read_some(buffer(&c, 1), as_tuple);
        if (ec)
            co_return;
        co_await async_write(s, buffer(&c, 1));
    }
}
awaitable<void> ask_with_limits(local_socket& s, int rounds, int& answered) {
    for (int i = 0; i != rounds; ++i) {
        char c = static_cast<char>(i), d = 0;
        co_await async_write(s, buffer(&c, 1));
        for (bool there = false; !there;) {
            auto const limit = std::chrono::microseconds(i % 50);
            auto const [ec, n] = co_await s.async_read_some(buffer(&d, 1), cancel_after(limit, as_tuple));
            EXPECT_TRUE(!ec || ec == error::operation_aborted) << ec.message();
            EXPECT_EQ(n, ec ? 0U : 1U) << "a byte that was taken is delivered";
            there = !ec;
        }
        EXPECT_EQ(d, c);
        ++answered;
    }
    s.shutdown(socket_base::shutdown_send);
}
void await_with_limits(int runners, bool elsewhere) {
    int const rounds = static_cast<int>(test::scaled(400, 40));
    io_context context(runners), other;
    local_socket near(context), far(context);
    local::connect_pair(near, far);
    auto guard = make_work_guard(context);
    int answered = 0;
    bool ended = false;
    // One at a time: a strand, or the one thread of another context.
    auto const home = elsewhere ? any_io_executor(other.get_executor()) : any_io_executor(make_strand(context));
    co_spawn(context, answer(far), detached);
    co_spawn(home, ask_with_limits(near, rounds, answered), [&](std::exception_ptr e) {
        EXPECT_FALSE(e);
        ended = true;
        guard.reset();
    });
    std::vector<std::thread> running;
    for (int i = 0; i != runners; ++i)
        running.emplace_back([&] { context.run(); });
    other.run();
    for (auto& t : running)
        t.join();
    EXPECT_TRUE(ended);
    EXPECT_EQ(answered, rounds);
}
TEST(CancelAfterThreads, AwaitedWithOneThreadInRun) { await_with_limits(1, false); }
TEST(CancelAfterThreads, AwaitedWithSeveralThreadsInRun) { await_with_limits(3, false); }
TEST(CancelAfterThreads, AwaitedByACoroutineOfAnotherContext) { await_with_limits(2, true); }

TEST(CancelAfterThreads, LimitThatIsOverBeforeTheOperationHasBegun) {
    io_context context;
    auto guard = make_work_guard(context);
    std::thread runner([&] { context.run(); });
    {
        steady_timer limit(context), timer(context, 1h);
        auto const start = [&](auto&& token) {
            return async_initiate<decltype(token), void(error_code)>(
                [&](auto handler) {
                    limit.async_wait(use_future).get(); // behind the wait of the limit
                    timer.async_wait(std::move(handler));
                },
                token);
        };
        EXPECT_THROW(start(cancel_after(limit, 1us, use_future)).get(), system_error);
    }
    guard.reset();
    runner.join();
}

TEST(CancelAfterThreads, HandlerOnAnotherContext) {
    io_context one, other;
    auto guard = make_work_guard(one);
    std::thread runner([&] { one.run(); });
    int called = 0;
    {
        steady_timer timer(one, 1h), soon(one, std::chrono::microseconds(1));
        auto const here = std::this_thread::get_id();
        timer.async_wait(bind_executor(other, cancel_after(1ms, bind_executor(other, [&](error_code ec) {
                                                               EXPECT_EQ(ec, error::operation_aborted);
                                                               EXPECT_EQ(std::this_thread::get_id(), here);
                                                               ++called;
                                                           }))));
        soon.async_wait(cancel_after(1h, bind_executor(other, [&](error_code ec) {
                                         EXPECT_FALSE(ec);
                                         EXPECT_EQ(std::this_thread::get_id(), here);
                                         ++called;
                                     })));
        other.run();
    }
    EXPECT_EQ(called, 2);
    guard.reset();
    runner.join();
}

/// It waits, and says that nobody can end it early.
struct waits_to_its_end {
    static constexpr bool is_cancellable = false;
    steady_timer* timer;
    template <class Self> void operator()(Self& self) {
        timer->expires_after(1h);
        timer->async_wait(std::move(self));
    }
    template <class Self> void operator()(Self& self, error_code) { self.complete(); }
};

TEST_F(CancelAfter, DeferredOperationThatCannotBeEndedEarlyTakesNoLimitAndNoSlot) {
    steady_timer timer(context);
    auto const wait = [&](auto token) {
        return async_compose<decltype(token), void()>(waits_to_its_end{&timer}, token, timer);
    };
    cancellation_signal signal;
    auto const refused = [](auto start) {
        try {
            start();
        } catch (system_error const& e) {
            return e.code() == error::operation_not_supported;
        }
        return false;
    };
    auto const handler = [](auto const&...) { FAIL() << "it was started"; };
    EXPECT_TRUE(refused([&] { wait(deferred)(cancel_after(1s, handler)); }));
    EXPECT_TRUE(refused([&] { wait(deferred)(bind_cancellation_slot(signal.slot(), handler)); }));
    world.run();
    near.async_read_some(buffer(&byte, 1), deferred)(cancel_after(1s, store()));
    world.run();
    EXPECT_EQ(count, 1) << "what can be ended early still takes a limit";
    EXPECT_EQ(ec, error::operation_aborted);
    EXPECT_EQ(at, 1s);
}

TEST_F(CancelAfter, OperationThatOnlyQueuesCompletesInItsTurnWhateverTheLimit) {
    cancellation_signal signal;
    std::stop_source stop;
    stop.request_stop();
    steady_timer own(context);
    std::string called;
    auto const says = [&](char c) { return [&called, c] { called += c; }; };
    post(context, says('a'));
    post(context, cancel_after(0s, says('b')));
    post(context, cancel_at(steady_clock::time_point::min(), says('c')));
    post(context, bind_stop_token(stop.get_token(), says('d')));
    post(context, bind_cancellation_slot(signal.slot(), says('e')));
    post(context, cancel_after(own, 0s, says('f')));
    post(context, deferred)(cancel_after(0s, says('g')));
    post(context, deferred)(bind_stop_token(stop.get_token(), says('h')));
    post(context, deferred)(bind_cancellation_slot(signal.slot(), says('i')));
    post(any_io_executor(make_strand(context)), cancel_after(0s, says('j')));
    defer(context, cancel_after(0s)(says('k')));
    async_immediate(context, cancel_after(0s, says('l')));
    signal.emit(cancellation_type::terminal);
    EXPECT_EQ(called, "") << "a post never completes inside its call";
    dispatch(context, cancel_after(0s, says('m')));
    world.run();
    std::sort(called.begin(), called.end());
    EXPECT_EQ(called, "abcdefghijklm");
    EXPECT_EQ(since(), 0s) << "nothing is left of a limit";
}

TEST_F(CancelAfter, AwaitedThroughAQueueItGoesOnWhateverTheLimit) {
    auto const passes = [](io_context& c, int& steps) -> awaitable<void> {
        co_await post(c, cancel_after(0s));
        ++steps;
        auto op = post(c, deferred);
        co_await cancel_after(0s, std::move(op));
        ++steps;
        auto tupled = post(c, cancel_at(steady_clock::time_point::min(), as_tuple));
        co_await std::move(tupled);
        ++steps;
    };
    int steps = 0;
    co_spawn(context, passes(context, steps), rethrow);
    world.run();
    EXPECT_EQ(steps, 3);
    EXPECT_EQ(since(), 0s);
}

} // namespace
