// Cancelling through slots: rows C02, C03, C11 and C13 of the failure catalogue.
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/cancellation.hpp>
#include <fairlead/token/post.hpp>
#include <support/scale.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using fairlead::test::scaled;
using local_socket = local::stream_protocol::socket;

TEST(Catalogue, C02_SlotForgetsWhatCameBeforeTheStartAndAStateRemembersIt) {
    io_context context;
    cancellation_signal signal;
    signal.emit(cancellation_type::all);
    steady_timer timer(context, 1ms);
    error_code ec = error::not_found;
    timer.async_wait(bind_cancellation_slot(signal.slot(), [&](error_code e) { ec = e; }));
    context.run();
    EXPECT_FALSE(ec) << "a bare slot is as forgetful as with Asio";
    cancellation_state const state(signal.slot());
    signal.emit(cancellation_type::terminal);
    EXPECT_EQ(state.cancelled(), cancellation_type::terminal) << "whoever composes looks here before a step";
}

/// So many threads run the context, another asks; it never knows how far the operation is.
void ask_from_another_thread(int runners) {
    io_context context;
    local_socket a(context), b(context);
    local::connect_pair(a, b);
    auto guard = make_work_guard(context);
    cancellation_signal reading, waiting;
    std::atomic<std::uint64_t> reads{0}, aborted{0}, waits{0}, expired{0}, bytes{0};
    std::atomic<bool> over{false};
    char byte;
    steady_timer timer(context);
    std::function<void()> read = [&] {
        a.async_read_some(buffer(&byte, 1), bind_cancellation_slot(reading.slot(), [&](error_code ec, std::size_t n) {
                              EXPECT_TRUE(!ec || ec == error::operation_aborted) << ec.message();
                              EXPECT_EQ(n, ec ? 0U : 1U);
                              ++reads;
                              aborted += ec == error::operation_aborted;
                              bytes += n;
                              if (!over)
                                  read();
                          }));
    };
    std::function<void()> wait = [&] {
        timer.expires_after(std::chrono::microseconds(waits % 3 * 20));
        timer.async_wait(bind_cancellation_slot(waiting.slot(), [&](error_code ec) {
            ++waits;
            expired += !ec;
            if (!over)
                wait();
        }));
    };
    post(context, [&] {
        read();
        wait();
    });
    std::vector<std::thread> running;
    std::atomic<int> ended{0};
    for (int i = 0; i != runners; ++i)
        running.emplace_back([&] {
            context.run();
            ++ended;
        });
    auto const rounds = scaled(20'000, 1000);
    std::uint64_t sent = 0;
    for (std::uint64_t i = 0; i != rounds; ++i) {
        if (i % 3 == 0) {
            error_code ec;
            sent += b.write_some(buffer("x", 1), ec);
        }
        reading.emit(cancellation_type::total);
        waiting.emit(i % 2 ? cancellation_type::terminal : cancellation_type::partial);
        if (i % 64 == 0)
            std::this_thread::yield();
    }
    while (bytes != sent)
        std::this_thread::yield();
    over = true;
    while (aborted == 0 || waits == 0) // at least one of each, however late the other thread was
        reading.emit(cancellation_type::terminal);
    guard.reset();
    while (ended != runners) { // A handler may be about to start one more, and be seen without a slot meanwhile.
        reading.emit(cancellation_type::terminal);
        waiting.emit(cancellation_type::terminal);
        std::this_thread::yield();
    }
    for (auto& t : running)
        t.join();
    EXPECT_EQ(bytes, sent) << "not a byte lost";
    EXPECT_EQ(reads, bytes + aborted);
    EXPECT_GT(aborted, 0U);
    EXPECT_GE(waits, expired);
    EXPECT_FALSE(reading.slot().has_handler());
    EXPECT_FALSE(waiting.slot().has_handler());
}

TEST(Catalogue, C03_SlotsOfAnotherThreadEndEachOperationOnce) { ask_from_another_thread(1); }
TEST(Catalogue, C03_SlotsOfAnotherThreadEndEachOperationOnceWithSeveralThreadsInRun) { ask_from_another_thread(3); }

TEST(Catalogue, C03_RequestFollowsAnOperationThatIsStillOnItsWay) {
    // Started by another thread than the one that runs the context, and cancelled before the loop has heard of it.
    for (std::uint64_t round = 0; round != scaled(200, 20); ++round) {
        io_context context;
        auto guard = make_work_guard(context);
        std::atomic<int> held{0};
        std::thread runner([&] { context.run(); });
        post(context, [&] {
            held = 1;
            while (held != 2) {
            }
        });
        while (held != 1) {
        }
        steady_timer timer(context, 1h);
        cancellation_signal mine, its;
        std::atomic<int> aborted{0};
        auto const done = [&](error_code ec) { aborted += ec == error::operation_aborted; };
        timer.async_wait(bind_cancellation_slot(mine.slot(), done));
        mine.emit(cancellation_type::terminal); // by this thread
        steady_timer other(context, 1h);
        other.async_wait(bind_cancellation_slot(its.slot(), done));
        post(context, [&] { guard.reset(); });
        // By the loop's own thread, before it has taken the wait in.
        std::atomic<bool> asked{false};
        context.as_loop().post(*impl::exec::function_op<std::function<void()>>::make(std::function<void()>([&] {
            its.emit(cancellation_type::terminal);
            asked = true;
        })));
        held = 2;
        runner.join();
        EXPECT_TRUE(asked);
        EXPECT_EQ(aborted, 2);
    }
}

TEST(Catalogue, C11_EachKindOfRequestReachesWhatHonoursIt) {
    // conformance/CancellingOne.* has the matrix; here what must not be heard.
    io_context context;
    local_socket a(context), b(context);
    local::connect_pair(a, b);
    cancellation_signal signal;
    std::string got(4, ' ');
    error_code ec;
    std::size_t n = 9;
    async_read(a, buffer(got), bind_cancellation_slot(signal.slot(), [&](error_code e, std::size_t k) {
                   ec = e;
                   n = k;
               }));
    context.poll();
    for (auto const type :
         {cancellation_type::none, cancellation_type::total, ~enable_partial_cancellation()(cancellation_type::all)})
        signal.emit(type);
    context.poll();
    EXPECT_EQ(n, 9U);
    signal.emit(cancellation_type::partial);
    context.restart();
    context.run();
    EXPECT_EQ(ec, error::operation_aborted);
    EXPECT_EQ(n, 0U);
}

TEST(Catalogue, C13_SlotIsClearedWhileItsHandlerRuns) {
    // By the handler itself …
    cancellation_signal signal;
    int calls = 0;
    signal.slot().assign([&calls, slot = signal.slot()](cancellation_type) mutable {
        ++calls;
        slot.clear();
    });
    signal.emit(cancellation_type::terminal);
    signal.emit(cancellation_type::terminal);
    EXPECT_EQ(calls, 1);
    // … and by another thread, which waits until the handler has returned.
    for (std::uint64_t round = 0; round != scaled(500, 50); ++round) {
        std::atomic<int> inside{0};
        auto alive = std::make_shared<std::atomic<bool>>(true);
        struct handler {
            std::atomic<int>& inside;
            std::shared_ptr<std::atomic<bool>> alive;
            handler(std::atomic<int>& i, std::shared_ptr<std::atomic<bool>> a) : inside(i), alive(std::move(a)) {}
            handler(handler const&) = delete;
            ~handler() { *alive = false; }
            void operator()(cancellation_type) {
                inside = 1;
                for (int i = 0; i != 200; ++i)
                    EXPECT_TRUE(*alive);
            }
        };
        signal.slot().emplace<handler>(inside, alive);
        std::thread other([&] { signal.emit(cancellation_type::terminal); });
        while (round % 2 && inside == 0) {
        }
        signal.slot().clear();
        EXPECT_FALSE(*alive);
        other.join();
    }
}

} // namespace
