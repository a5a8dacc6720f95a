// Operations that a std::stop_token ends.
#include <fairlead/net/bind_stop_token.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/net/ip.hpp>
#include <fairlead/net/local.hpp>
#include <fairlead/net/resolver.hpp>
#include <fairlead/net/signal_set.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/sim/world.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/as_single.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>
#include <fairlead/token/detached.hpp>
#include <fairlead/token/use_future.hpp>

#include <support/scale.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <string>
#include <thread>
#include <tuple>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using local_socket = local::stream_protocol::socket;
using ip::tcp;

class BindStopToken : public testing::Test {
public:
    BindStopToken() { local::connect_pair(near, far); }

    /// Starts `op(token)` with a callback, and requests a stop after a second.
    template <class Op> error_code ends_with(Op op, bool stop_before = false) {
        std::stop_source source;
        if (stop_before)
            source.request_stop();
        error_code seen = error::eof;
        int ended = 0;
        op(bind_stop_token(source.get_token(), [&](error_code ec, auto&&...) {
            seen = ec;
            ++ended;
        }));
        auto const begin = world.now();
        if (!stop_before)
            world.at(begin - created + 1s, [&] { source.request_stop(); });
        world.run();
        EXPECT_EQ(ended, 1);
        took = world.now() - begin;
        return seen;
    }

    sim::world world{1, "reorder=0,not_ready=0,short_read=0,short_write=0,late_cancel=0,spike=0,starve=0"};
    io_context& context = world.context();
    steady_clock::time_point const created = world.now();
    local_socket near{context}, far{context};
    std::chrono::nanoseconds took{};
    std::string text;
    char bytes[8] = {};
};

TEST_F(BindStopToken, EndsOperationsOfEveryKind) {
    tcp::acceptor acceptor(context, tcp::endpoint(ip::address_v4::loopback(), 0));
    tcp::socket peer(context);
    steady_timer timer(context, 1h);
    auto const ends = [this](char const* name, auto op) {
        SCOPED_TRACE(name);
        EXPECT_EQ(ends_with(op), error::operation_aborted);
        EXPECT_EQ(took, 1s);
        EXPECT_EQ(ends_with(op, true), error::operation_aborted);
        EXPECT_EQ(took, 0s);
    };
    ends("read", [&](auto t) { near.async_read_some(buffer(bytes), std::move(t)); });
    ends("read all", [&](auto t) { async_read(near, buffer(bytes), std::move(t)); });
    ends("read until", [&](auto t) { async_read_until(near, dynamic_buffer(text), "\r\n", std::move(t)); });
    ends("wait", [&](auto t) { near.async_wait(socket_base::wait_read, std::move(t)); });
    ends("accept", [&](auto t) { acceptor.async_accept(peer, std::move(t)); });
    ends("accept that makes the socket", [&](auto t) { acceptor.async_accept(std::move(t)); });
    ends("timer", [&](auto t) { timer.async_wait(std::move(t)); });
    ends("a limit of an hour", [&](auto t) { near.async_read_some(buffer(bytes), cancel_after(1h, std::move(t))); });
}

TEST(BindStopTokenOfSignals, EndsAWait) {
    io_context context;
    signal_set signals(context, SIGUSR1);
    std::stop_source source;
    error_code seen;
    signals.async_wait(bind_stop_token(source.get_token(), [&](error_code ec, int) { seen = ec; }));
    context.poll();
    EXPECT_FALSE(seen);
    source.request_stop();
    context.run();
    EXPECT_EQ(seen, error::operation_aborted);
}

TEST_F(BindStopToken, AStopBeforeTheStartLeavesWhatIsThere) {
    far.write_some(buffer("abc", 3));
    EXPECT_EQ(ends_with([this](auto t) { near.async_read_some(buffer(bytes), std::move(t)); }, true),
              error::operation_aborted);
    EXPECT_EQ(near.available(), 3U);
}

TEST(BindStopTokenOfSockets, AStopBeforeTheStartWritesNothing) {
    io_context context;
    local_socket a(context), b(context);
    local::connect_pair(a, b);
    std::stop_source source;
    source.request_stop();
    error_code seen;
    a.async_write_some(buffer("abc", 3), bind_stop_token(source.get_token(), [&](error_code ec, std::size_t n) {
                           seen = ec;
                           EXPECT_EQ(n, 0U);
                       }));
    context.run();
    EXPECT_EQ(seen, error::operation_aborted);
    EXPECT_EQ(b.available(), 0U);
}

TEST_F(BindStopToken, AnAwaitUnderAStopTriesNothing) {
    struct coroutine {
        static awaitable<void> run(BindStopToken& t, error_code& seen) {
            std::stop_source source;
            source.request_stop();
            auto const [ec, n] = co_await t.near.async_read_some(
                buffer(t.bytes), bind_stop_token(source.get_token(), as_tuple(use_await)));
            seen = ec;
        }
    };
    error_code seen;
    far.write_some(buffer("abc", 3));
    world.run();
    co_spawn(context, coroutine::run(*this, seen), rethrow);
    world.run();
    EXPECT_EQ(seen, error::operation_aborted);
    EXPECT_EQ(near.available(), 3U);
}

TEST_F(BindStopToken, AStopAfterTheEndFindsNobody) {
    std::stop_source source;
    int ended = 0;
    near.async_read_some(buffer(bytes), bind_stop_token(source.get_token(), [&](error_code ec, std::size_t) {
                             EXPECT_FALSE(ec);
                             ++ended;
                         }));
    far.write_some(buffer("abc", 3));
    world.run();
    // The next op lies where the first one lay.
    near.async_read_some(buffer(bytes), [&](error_code ec, std::size_t) {
        EXPECT_FALSE(ec);
        ++ended;
    });
    context.poll();
    source.request_stop();
    far.write_some(buffer("abc", 3));
    world.run();
    EXPECT_EQ(ended, 2);
}

TEST_F(BindStopToken, WhatIsFasterHasItsResult) {
    world.at(500ms, [this] { far.write_some(buffer("abc", 3)); });
    EXPECT_EQ(ends_with([this](auto t) { near.async_read_some(buffer(bytes), std::move(t)); }), error_code());
    world.at(world.now() - created + 500ms, [this] { far.write_some(buffer("abc\r\n", 5)); });
    EXPECT_EQ(ends_with([this](auto t) { async_read_until(near, dynamic_buffer(text), "\r\n", std::move(t)); }),
              error_code());
    EXPECT_EQ(text, "abc\r\n");
}

TEST_F(BindStopToken, AwaitsThrowAndTheLimitIsHeardBeside) {
    struct coroutine {
        static awaitable<void> run(BindStopToken& t, std::stop_token stop, std::string& log) {
            auto const read = [&](auto token) { return t.near.async_read_some(buffer(t.bytes), std::move(token)); };
            auto const [limited, n] = co_await read(cancel_after(100ms, bind_stop_token(stop, as_tuple(use_await))));
            log += limited == error::operation_aborted && t.world.now() - t.created == 100ms ? "limit " : "?";
            auto const [stopped, m] = co_await read(bind_stop_token(stop, cancel_after(1h, as_tuple(use_await))));
            log += stopped == error::operation_aborted && t.world.now() - t.created == 1s ? "stop " : "?";
            try {
                co_await read(bind_stop_token(stop));
            } catch (system_error const& e) {
                log += e.code() == error::operation_aborted ? "thrown " : "?";
            }
            co_await async_write(t.near, buffer("x", 1), bind_stop_token(std::stop_token()));
            log += "sent";
        }
    };
    std::stop_source source;
    std::string log;
    co_spawn(context, coroutine::run(*this, source.get_token(), log), rethrow);
    world.at(1s, [&] { source.request_stop(); });
    world.run();
    EXPECT_EQ(log, "limit stop thrown sent");
    EXPECT_EQ(far.available(), 1U);
}

TEST_F(BindStopToken, TheHandlersSlotIsHeardToo) {
    for (bool const composed : {false, true}) {
        std::stop_source never;
        cancellation_signal signal;
        error_code seen;
        auto token = bind_stop_token(
            never.get_token(), bind_cancellation_slot(signal.slot(), [&](error_code ec, std::size_t) { seen = ec; }));
        if (composed)
            async_read_until(near, dynamic_buffer(text), "\r\n", std::move(token));
        else
            near.async_wait(socket_base::wait_read,
                            bind_stop_token(never.get_token(),
                                            bind_cancellation_slot(signal.slot(), [&](error_code ec) { seen = ec; })));
        context.poll();
        signal.emit(cancellation_type::terminal);
        world.run();
        EXPECT_EQ(seen, error::operation_aborted) << composed;
    }
}

TEST_F(BindStopToken, ACoroutineThatIsAskedHearsThatToo) {
    struct coroutine {
        static awaitable<void> run(BindStopToken& t, std::stop_token stop) {
            co_await t.near.async_read_some(buffer(t.bytes), bind_stop_token(stop));
        }
    };
    for (bool const by_its_slot : {true, false}) {
        std::stop_source source;
        cancellation_signal signal;
        int ended = 0;
        co_spawn(context, coroutine::run(*this, source.get_token()),
                 bind_cancellation_slot(signal.slot(), [&](std::exception_ptr e) { ended += e != nullptr; }));
        world.at(world.now() - created + 1s, [&] {
            if (by_its_slot)
                signal.emit(cancellation_type::terminal);
            else
                source.request_stop();
        });
        world.run();
        EXPECT_EQ(ended, 1) << by_its_slot;
    }
}

TEST_F(BindStopToken, ACoroutineOfCoSpawnIsAskedToEnd) {
    struct coroutine {
        static awaitable<int> run(BindStopToken& t) {
            co_await t.near.async_read_some(buffer(t.bytes));
            co_return 1;
        }
    };
    std::stop_source source;
    bool aborted = false;
    co_spawn(context, coroutine::run(*this), bind_stop_token(source.get_token(), [&](std::exception_ptr e, int) {
                 try {
                     std::rethrow_exception(e);
                 } catch (system_error const& x) {
                     aborted = x.code() == error::operation_aborted;
                 }
             }));
    world.at(1s, [&] { source.request_stop(); });
    world.run();
    EXPECT_TRUE(aborted);
}

TEST_F(BindStopToken, TheEndOfTheContextTakesTheCallbackAway) {
    std::stop_source source;
    bool called = false;
    auto const handler = [&](error_code, std::size_t) { called = true; };
    {
        io_context own;
        local_socket a(own), b(own);
        local::connect_pair(a, b);
        a.async_read_some(buffer(bytes), bind_stop_token(source.get_token(), handler));
        async_read_until(b, dynamic_buffer(text), "\r\n", bind_stop_token(source.get_token(), handler));
        own.poll();
    }
    source.request_stop();
    EXPECT_FALSE(called);
}

TEST(BindStopTokenThreads, EveryOperationEndsWheneverTheStopIsRequested) {
    struct coroutine {
        static awaitable<void> read(local_socket& s, std::stop_token stop, int& ended) {
            char byte;
            auto const [ec, n] =
                co_await s.async_read_some(buffer(&byte, 1), bind_stop_token(stop, as_tuple(use_await)));
            EXPECT_EQ(ec, error::operation_aborted);
            ++ended;
        }
        static awaitable<void> line(local_socket& s, std::stop_token stop, int& ended) {
            std::string text;
            auto const [ec, n] =
                co_await async_read_until(s, dynamic_buffer(text), "\r\n", bind_stop_token(stop, as_tuple(use_await)));
            EXPECT_EQ(ec, error::operation_aborted);
            ++ended;
        }
    };
    for (std::uint64_t round = 0; round != test::scaled(2'000, 200); ++round) {
        io_context context;
        local_socket a(context), b(context);
        local::connect_pair(a, b);
        std::stop_source source;
        std::atomic<bool> go{false};
        std::thread stopper([&] {
            while (!go)
                std::this_thread::yield();
            for (std::uint64_t i = 0; i != round % 64; ++i)
                std::atomic_signal_fence(std::memory_order_seq_cst);
            source.request_stop();
        });
        int ended = 0;
        co_spawn(context, coroutine::read(a, source.get_token(), ended), rethrow);
        co_spawn(context, coroutine::line(b, source.get_token(), ended), rethrow);
        go = true;
        context.run();
        stopper.join();
        EXPECT_EQ(ended, 2);
    }
}

} // namespace
