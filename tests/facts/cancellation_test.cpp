// Facts 20 to 24, 70 to 72: what cancelling does, and what it does not.
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/net/connect.hpp>
#include <fairlead/net/local.hpp>
#include <fairlead/net/resolver.hpp>
#include <fairlead/net/signal_set.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/operation/compose.hpp>
#include <fairlead/sim/world.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/append.hpp>
#include <fairlead/token/co_composed.hpp>
#include <fairlead/token/consign.hpp>
#include <fairlead/token/post.hpp>

#include <gtest/gtest.h>

#include <csignal>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using local_socket = local::stream_protocol::socket;
using ip::tcp;

struct pair {
    io_context context;
    local_socket near{context}, far{context};
    pair() { local::connect_pair(near, far); }
};

TEST(Facts, F20_WaitWhoseExpiryIsQueuedCanNoLongerBeCancelled) {
    io_context context;
    steady_timer first(context, steady_clock::now() - 1ms), second(context, steady_clock::now() - 1ms);
    cancellation_signal signal;
    error_code ec = error::not_found;
    first.async_wait([&](error_code) {
        EXPECT_EQ(second.cancel(), 0U);
        signal.emit(cancellation_type::all);
    });
    second.async_wait(bind_cancellation_slot(signal.slot(), [&](error_code e) { ec = e; }));
    context.run();
    EXPECT_FALSE(ec);
}

/// Whether `start(handler)` ends with operation_aborted when it is asked for `type`, and before anything else ends it.
template <class Start> bool is_ended_by(io_context& context, cancellation_type type, Start start) {
    cancellation_signal signal;
    int count = 0;
    error_code ec;
    start(bind_cancellation_slot(signal.slot(), [&](error_code e, auto&&...) {
        ec = e;
        ++count;
    }));
    context.restart();
    context.poll();
    signal.emit(type);
    context.restart();
    context.poll();
    bool const ended = count == 1 && ec == error::operation_aborted;
    EXPECT_EQ(count, ended);
    if (!ended) {
        signal.emit(cancellation_type::terminal);
        context.restart();
        context.poll();
        EXPECT_EQ(count, 1);
    }
    return ended;
}

TEST(Facts, F21_SocketsTimersAndSignalSetsHonourEveryType) {
    pair p;
    char byte;
    steady_timer timer(p.context, 1h);
    signal_set signals(p.context, SIGUSR1);
    tcp::acceptor acceptor(p.context, {ip::address_v4::loopback(), 0});
    for (auto const type : {cancellation_type::terminal, cancellation_type::partial, cancellation_type::total}) {
        auto& c = p.context;
        EXPECT_TRUE(is_ended_by(c, type, [&](auto h) { p.near.async_read_some(buffer(&byte, 1), std::move(h)); }));
        EXPECT_TRUE(is_ended_by(c, type, [&](auto h) { p.near.async_receive(buffer(&byte, 1), std::move(h)); }));
        EXPECT_TRUE(is_ended_by(c, type, [&](auto h) { p.near.async_wait(socket_base::wait_read, std::move(h)); }));
        EXPECT_TRUE(is_ended_by(c, type, [&](auto h) { acceptor.async_accept(std::move(h)); }));
        EXPECT_TRUE(is_ended_by(c, type, [&](auto h) { timer.async_wait(std::move(h)); }));
        EXPECT_TRUE(is_ended_by(c, type, [&](auto h) { signals.async_wait(std::move(h)); }));
    }
}

TEST(Facts, F21_WholeOperationsHonourTerminalAndPartial) {
    pair p;
    std::string bytes(100, ' '), held;
    for (auto const type : {cancellation_type::terminal, cancellation_type::partial, cancellation_type::total}) {
        auto& c = p.context;
        bool const heard = type != cancellation_type::total;
        EXPECT_EQ(is_ended_by(c, type, [&](auto h) { async_read(p.near, buffer(bytes), std::move(h)); }), heard);
        EXPECT_EQ(is_ended_by(c, type,
                              [&](auto h) { async_read(p.near, buffer(bytes), transfer_at_least(3), std::move(h)); }),
                  heard);
        EXPECT_EQ(
            is_ended_by(c, type, [&](auto h) { async_read_until(p.near, dynamic_buffer(held), '\n', std::move(h)); }),
            heard);
        EXPECT_EQ(is_ended_by(c, type, [&](auto h) { async_read(p.near, dynamic_buffer(held, 9), std::move(h)); }),
                  heard);
    }
}

TEST(Facts, F21_BytesSoFarAreReportedWithOperationAborted) {
    pair p;
    std::string bytes(100, ' ');
    cancellation_signal signal;
    error_code ec;
    std::size_t n = 0;
    auto const start = [&](auto condition) {
        async_read(p.near, buffer(bytes), condition,
                   bind_cancellation_slot(signal.slot(), [&](error_code e, std::size_t k) {
                       ec = e;
                       n = k;
                   }));
        p.far.write_some(buffer("abc", 3));
        p.context.restart();
        p.context.poll();
        signal.emit(cancellation_type::partial);
        p.context.restart();
        p.context.run();
    };
    start(transfer_all());
    EXPECT_EQ(ec, error::operation_aborted);
    EXPECT_EQ(n, 3U);
    n = 0;
    start(transfer_at_least(50));
    EXPECT_EQ(ec, error::operation_aborted);
    EXPECT_EQ(n, 3U);
}

TEST(Facts, F22_SlotHoldsOneHandlerAndForgetsWhatNobodyHears) {
    io_context context;
    cancellation_signal signal;
    int first = 0, second = 0;
    signal.slot().assign([&](cancellation_type) { ++first; });
    signal.slot().assign([&](cancellation_type) { ++second; });
    signal.emit(cancellation_type::terminal);
    EXPECT_EQ(first, 0);
    EXPECT_EQ(second, 1);
    signal.slot().clear();
    signal.emit(cancellation_type::terminal); // before the start …
    steady_timer timer(context, 1ms);
    error_code ec = error::not_found;
    timer.async_wait(bind_cancellation_slot(signal.slot(), [&](error_code e) { ec = e; }));
    context.run();
    EXPECT_FALSE(ec);
    signal.emit(cancellation_type::terminal); // … and after the completion
    EXPECT_EQ(context.poll(), 0U);
}

TEST(Facts, F24_TimeLimitsAreTerminalAndEndWithOperationAborted) {
    sim::world w(1);
    auto& context = w.context();
    steady_timer timer(context, 5s);
    std::vector<error_code> ends;
    auto const store = [&](error_code e) { ends.push_back(e); };
    auto const begin = w.now();
    timer.async_wait(cancel_after(1s, store));
    w.run();
    EXPECT_EQ(ends, std::vector{error::make_error_code(error::operation_aborted)}) << "and not timed_out";
    EXPECT_EQ(w.now() - begin, 1s);
    steady_timer limit(context);
    timer.expires_after(5s);
    timer.async_wait(cancel_at(limit, w.now() + 2s, store));
    w.run();
    EXPECT_EQ(ends.back(), error::operation_aborted);
    EXPECT_EQ(w.now() - begin, 3s);
    // Terminal: what honours less than that is not asked for more.
    auto heard = cancellation_type::none;
    auto const listen = [&](auto&& token) {
        return async_initiate<decltype(token), void(error_code)>(
            [&heard](auto handler) {
                auto slot = get_associated_cancellation_slot(handler);
                auto kept = std::make_shared<decltype(handler)>(std::move(handler));
                slot.assign([&heard, kept](cancellation_type t) {
                    heard = t;
                    (*kept)(error::make_error_code(error::operation_aborted));
                });
            },
            token);
    };
    listen(cancel_after(1s, bind_executor(context, store)));
    w.run();
    EXPECT_EQ(heard, cancellation_type::terminal);
    listen(cancel_after(1s, cancellation_type::partial, bind_executor(context, store)));
    w.run();
    EXPECT_EQ(heard, cancellation_type::partial);
    EXPECT_EQ(ends.size(), 4U);
}

TEST(Facts, F70_OneWaitIsCancelledAndTheOthersGoOnWhereverTheTimerMoves) {
    io_context context;
    steady_timer timer(context, 5ms);
    cancellation_signal signal;
    std::vector<error_code> ends(3);
    int count = 0;
    for (std::size_t i = 0; i != 3; ++i) {
        auto store = [&ends, &count, i](error_code e) {
            ends[i] = e;
            ++count;
        };
        if (i == 1)
            timer.async_wait(bind_cancellation_slot(signal.slot(), store));
        else
            timer.async_wait(store);
    }
    steady_timer moved(std::move(timer));
    signal.emit(cancellation_type::total);
    context.run();
    EXPECT_EQ(count, 3);
    EXPECT_FALSE(ends[0]);
    EXPECT_EQ(ends[1], error::operation_aborted);
    EXPECT_FALSE(ends[2]);
    pair p;
    char byte = ' ';
    bool read = false;
    p.near.async_read_some(buffer(&byte, 1), [&](error_code e, std::size_t) { read = !e; });
    local_socket elsewhere(std::move(p.near));
    p.far.write_some(buffer("x", 1));
    p.context.run();
    EXPECT_TRUE(read);
}

TEST(Facts, F71_CompositionsHearTerminalRequestsUntilTheyAreReset) {
    io_context context;
    for (bool const coroutine : {false, true})
        for (auto const type : {cancellation_type::terminal, cancellation_type::partial, cancellation_type::total})
            for (bool const widened : {false, true}) {
                steady_timer timer(context);
                bool const heard = widened || type == cancellation_type::terminal;
                auto const start = [&](auto handler) {
                    using token = decltype(handler);
                    timer.expires_after(1h);
                    if (coroutine)
                        async_initiate<token, void(error_code)>(co_composed<void(error_code)>(
                                                                    [](auto state, steady_timer& t, bool wide) -> void {
                                                                        if (wide)
                                                                            state.reset_cancellation_state(
                                                                                enable_total_cancellation());
                                                                        auto const as = as_tuple(deferred);
                                                                        auto const [ec] = co_await t.async_wait(as);
                                                                        EXPECT_FALSE(!state.cancelled());
                                                                        co_return {ec};
                                                                    },
                                                                    timer),
                                                                handler, std::ref(timer), widened);
                    else
                        async_compose<token, void(error_code)>(
                            [&timer, widened, begun = false](auto& self, error_code ec = {}) mutable {
                                if (std::exchange(begun, true)) {
                                    EXPECT_FALSE(!self.cancelled());
                                    EXPECT_EQ(self.get_cancellation_state().cancelled(), self.cancelled());
                                    return self.complete(ec);
                                }
                                if (widened)
                                    self.reset_cancellation_state(enable_total_cancellation());
                                timer.async_wait(std::move(self));
                            },
                            handler, timer);
                };
                EXPECT_EQ(is_ended_by(context, type, start), heard);
            }
}

TEST(Facts, F72_LookUpsHaveNoSlotAndTakeAsLongAsTheyTake) {
    sim::world w(1, "look_up_delay=1024");
    auto& context = w.context();
    w.add_name("somewhere", "10.0.0.9");
    tcp::resolver resolver(context);
    int found = 0;
    auto const begin = w.now();
    resolver.async_resolve("somewhere", "80", [&](error_code ec, auto results) { found += !ec && !results.empty(); });
    w.run();
    EXPECT_EQ(found, 1);
    EXPECT_GE(w.now() - begin, 5s);
    resolver.async_resolve("elsewhere", "80", [&](error_code ec, auto) { found += ec == error::operation_aborted; });
    resolver.cancel();
    w.run();
    EXPECT_EQ(found, 2);
}

// ---- 8 and 9, as far as slots and compositions are concerned

TEST(Facts, F08_EveryStepGoesThroughTheExecutorOfTheHandler) {
    io_context steps, handlers;
    steady_timer timer(steps);
    std::vector<bool> inside;
    auto handler = bind_executor(handlers.get_executor(), [&] { inside.push_back(true); });
    async_compose<decltype(handler), void()>(
        [&, left = 3](auto& self, error_code = {}) mutable {
            if (left != 3)
                inside.push_back(handlers.get_executor().running_in_this_thread());
            if (left-- == 0)
                return self.complete();
            timer.expires_after(0ms);
            timer.async_wait(std::move(self));
        },
        handler, timer);
    while (inside.size() != 4) {
        steps.restart();
        steps.poll();
        handlers.restart();
        handlers.poll();
    }
    EXPECT_EQ(inside, std::vector<bool>(4, true));
}

TEST(Facts, F09_SlotReachesTheOperationThroughEveryAdapter) {
    pair p;
    cancellation_signal signal;
    char byte;
    error_code redirected;
    int count = 0;
    auto const slot = signal.slot();
    auto const ended = [&](auto start) {
        redirected = {};
        start();
        signal.emit(cancellation_type::terminal);
        p.context.restart();
        p.context.run();
        return std::exchange(count, 0) == 1;
    };
    auto const plain = [&](error_code ec, std::size_t) { count += ec == error::operation_aborted; };
    auto const tuple = [&](std::tuple<error_code, std::size_t> v) {
        count += std::get<0>(v) == error::operation_aborted;
    };
    auto const more = [&](error_code ec, std::size_t, int) { count += ec == error::operation_aborted; };
    auto const rest = [&](std::size_t) { count += redirected == error::operation_aborted; };
    auto const read = [&](auto const& token) {
        return [&, token] { p.near.async_read_some(buffer(&byte, 1), token); };
    };
    EXPECT_TRUE(ended(read(bind_cancellation_slot(slot, plain))));
    EXPECT_TRUE(ended(read(as_tuple(bind_cancellation_slot(slot, tuple)))));
    EXPECT_TRUE(ended(read(bind_cancellation_slot(slot, as_tuple(tuple)))));
    EXPECT_TRUE(ended(read(append(bind_cancellation_slot(slot, more), 7))));
    EXPECT_TRUE(ended(read(consign(bind_cancellation_slot(slot, plain), std::make_shared<int>()))));
    EXPECT_TRUE(ended(read(redirect_error(bind_cancellation_slot(slot, rest), redirected))));
    EXPECT_TRUE(ended(read(bind_executor(p.context, bind_cancellation_slot(slot, plain)))));
    EXPECT_TRUE(ended(read(cancel_after(1h, bind_cancellation_slot(slot, plain)))));
    EXPECT_TRUE(ended([&] {
        auto later = p.near.async_read_some(buffer(&byte, 1), deferred);
        std::move(later)(as_tuple(bind_cancellation_slot(slot, tuple)));
    }));
    cancellation_signal inner;
    EXPECT_TRUE(ended(read(bind_cancellation_slot(slot, bind_cancellation_slot(inner.slot(), plain)))))
        << "the outermost binder counts";
}

} // namespace
