// Requests of a thread that has no memory (C15). They are made with locks that the owner of the loop may want: they do
// not wait for it.
#include <alloc/failing_new.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/recycler.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/bind_stop_token.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>
#include <fairlead/token/post.hpp>

#include <support/completions.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <future>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

namespace fairlead::test {
namespace {

using namespace std::chrono_literals;
using request_socket = local::stream_protocol::socket;

/// A descriptor for each operation, and counts of how they end.
struct asked_operations {
    explicit asked_operations(io_context& c) : context(c) {
        for (int i = 0; i != 8; i += 2)
            local::connect_pair(sockets[i], sockets[i + 1]);
    }
    auto count() {
        return [this](error_code ec, auto&&...) { ended += ec == error::operation_aborted; };
    }

    io_context& context;
    request_socket sockets[8]{request_socket(context), request_socket(context), request_socket(context),
                              request_socket(context), request_socket(context), request_socket(context),
                              request_socket(context), request_socket(context)};
    steady_timer hour{context, 1h};
    steady_timer another_hour{context, 1h};
    cancellation_signal signals[6];
    std::stop_source stop;
    std::string line;
    char byte = 0;
    int ended = 0;
};

awaitable<void> reads_a_byte(asked_operations& o) {
    auto const [ec, n] = co_await o.sockets[1].async_read_some(buffer(&o.byte, 1), as_tuple);
    o.ended += ec == error::operation_aborted;
}
awaitable<void> waits_an_hour(asked_operations& o) {
    auto const [ec] = co_await o.another_hour.async_wait(as_tuple);
    o.ended += ec == error::operation_aborted;
}

/// Asks while the owner of the loop is inside a handler. `ask` is called in another thread, and makes so many requests
/// without memory, each in `without_memory`. Returns whether that was over before the handler was.
template <class Ask> bool ask_busy_owner(io_context& context, Ask ask, unsigned requests) {
    std::promise<void> busy, asked;
    auto const is_over = asked.get_future().share();
    bool in_time = false;
    post(context, [&] {
        post(context, [&] {
            busy.set_value();
            in_time = is_over.wait_for(10s) == std::future_status::ready;
        });
        context.run_one(); // Nobody takes the loop from a handler inside another run().
    });
    std::thread asker([&] {
        impl::exec::recycler_trim(); // Its cache may be that of a thread that has ended.
        busy.get_future().wait();
        unsigned failed = 0;
        ask([&](auto request) {
            auto const failing = failing_new::from(1);
            request();
            failed += failing.failed() != 0;
        });
        EXPECT_EQ(failed, requests) << "a message would have been the shorter way";
        asked.set_value();
    });
    context.run_for(10s);
    asker.join();
    return in_time;
}

void ask_operations_of_each_kind(io_context& context) {
    asked_operations o(context);
    o.sockets[0].async_read_some(buffer(&o.byte, 1), bind_cancellation_slot(o.signals[0].slot(), o.count()));
    co_spawn(context, reads_a_byte(o), bind_cancellation_slot(o.signals[1].slot(), detached));
    async_read_until(o.sockets[2], dynamic_buffer(o.line), '\n',
                     bind_cancellation_slot(o.signals[2].slot(), o.count()));
    o.hour.async_wait(bind_cancellation_slot(o.signals[3].slot(), o.count()));
    co_spawn(context, waits_an_hour(o), bind_cancellation_slot(o.signals[4].slot(), detached));
    o.sockets[3].async_read_some(buffer(&o.byte, 1), bind_stop_token(o.stop.get_token(), o.count()));
    // Those that nobody asks go on.
    char other = 0;
    int others = 0;
    auto const is_read = [&](error_code ec, std::size_t n) { others += !ec && n == 1; };
    o.sockets[4].async_read_some(buffer(&other, 1), is_read);
    o.sockets[6].async_read_some(buffer(&other, 1), bind_cancellation_slot(o.signals[5].slot(), is_read));
    steady_timer soon(context, 1ms);
    soon.async_wait([&](error_code ec) {
        EXPECT_FALSE(ec);
        o.sockets[5].write_some(buffer("x", 1));
        o.sockets[7].write_some(buffer("x", 1));
    });
    context.poll();
    auto const ask = [&](auto without_memory) {
        for (int i = 0; i != 5; ++i)
            without_memory([&] { o.signals[i].emit(cancellation_type::terminal); });
        without_memory([&] { o.stop.request_stop(); });
    };
    EXPECT_TRUE(ask_busy_owner(context, ask, 6)) << "a request has waited for the end of the handler";
    EXPECT_EQ(o.ended, 6);
    EXPECT_EQ(others, 2);
}

TEST(Catalogue, C15_R05_RequestsWithoutMemoryDoNotWaitForTheOwner) {
    if (!new_is_replaced())
        GTEST_SKIP() << "the sanitizer of this compiler keeps its own operator new";
    io_context context;
    ask_operations_of_each_kind(context);
}

TEST(Catalogue, C15_R05_RequestsWithoutMemoryDoNotWaitForTheThreadOfABoundLoop) {
    if (!new_is_replaced())
        GTEST_SKIP() << "the sanitizer of this compiler keeps its own operator new";
    completion_log log;
    io_context context{impl::base::owned<io::driver>(new completion_driver(log))};
    ask_operations_of_each_kind(context);
}

TEST(Catalogue, C15_R05_RequestsWithoutMemoryFindOperationsThatStandBehindAnotherOne) {
    if (!new_is_replaced())
        GTEST_SKIP() << "the sanitizer of this compiler keeps its own operator new";
    io_context context;
    asked_operations o(context);
    o.sockets[0].async_read_some(buffer(&o.byte, 1), bind_cancellation_slot(o.signals[0].slot(), o.count()));
    context.poll();
    auto const ask = [&](auto without_memory) {
        without_memory([&] { o.signals[0].emit(cancellation_type::terminal); });
        o.sockets[1].async_read_some(buffer(&o.byte, 1), bind_cancellation_slot(o.signals[1].slot(), o.count()));
        o.hour.async_wait(bind_cancellation_slot(o.signals[2].slot(), o.count()));
        without_memory([&] { o.signals[1].emit(cancellation_type::terminal); });
        without_memory([&] { o.signals[2].emit(cancellation_type::terminal); });
    };
    EXPECT_TRUE(ask_busy_owner(context, ask, 3));
    EXPECT_EQ(o.ended, 3);
}

// The filter of the chain is called by the asking thread, which has the signal by then.
awaitable<void> reads_and_tells_when_it_is_asked(asked_operations& o, std::atomic<bool>& is_asked) {
    auto const tell = [&is_asked](cancellation_type type) {
        if (type == cancellation_type::terminal)
            is_asked = true;
        return type;
    };
    co_await this_coro::reset_cancellation_state(tell);
    co_await reads_a_byte(o);
}
TEST(Catalogue, C15_R05_OwnerMayWantTheSignalOfARequestWithoutMemory) {
    if (!new_is_replaced())
        GTEST_SKIP() << "the sanitizer of this compiler keeps its own operator new";
    io_context context;
    asked_operations o(context);
    std::promise<void> is_busy;
    std::atomic<bool> is_asked{false};
    co_spawn(context, reads_and_tells_when_it_is_asked(o, is_asked),
             bind_cancellation_slot(o.signals[0].slot(), detached));
    context.poll();
    post(context, [&] {
        post(context, [&] {
            is_busy.set_value();
            while (!is_asked)
                std::this_thread::yield();
            o.signals[0].emit(cancellation_type::none);
        });
        context.run_one();
    });
    std::size_t failed = 0;
    std::thread asker([&] {
        is_busy.get_future().wait();
        auto const failing = failing_new::from(1);
        o.signals[0].emit(cancellation_type::terminal);
        failed = failing.failed();
    });
    context.run_for(10s);
    asker.join();
    EXPECT_NE(failed, 0U) << "a message would have been the shorter way";
    EXPECT_EQ(o.ended, 1);
}

struct large_condition {
    char bytes[100] = {};
    std::size_t operator()(error_code const& ec, std::size_t n) const { return ec || n != 0 ? 0 : 1; }
};
/// An operation that does not fit into an async_op.
auto large_read(asked_operations& o) noexcept {
    static_assert(noexcept(async_read(o.sockets[1], buffer(&o.byte, 1), large_condition())));
    return async_read(o.sockets[1], buffer(&o.byte, 1), large_condition());
}

awaitable<void> fails_where_it_is_awaited(asked_operations& o, bool& failed) {
    try {
        auto op = [&] {
            impl::exec::recycler_trim();
            auto const failing = failing_new::only(1);
            return large_read(o);
        }();
        ++o.ended; // It has not failed yet.
        co_await std::move(op);
    } catch (std::bad_alloc const&) {
        failed = true;
    }
}

TEST(Papers, B08_WithoutMemoryAnOperationFailsWhereItIsAwaited) {
    if (!new_is_replaced())
        GTEST_SKIP() << "a sanitizer keeps its own operator new";
    io_context context(1);
    asked_operations o(context);
    bool failed = false;
    co_spawn(context, fails_where_it_is_awaited(o, failed), rethrow);
    context.run();
    EXPECT_EQ(o.ended, 1);
    EXPECT_TRUE(failed);
}

/// Each of its arguments is copied into a block of its own.
template <class Token> auto read_into_many(asked_operations& o, Token token) noexcept {
    std::array<mutable_buffer, 9> many{};
    many[8] = buffer(&o.byte, 1);
    static_assert(noexcept(o.sockets[1].async_read_some(many, token)));
    return o.sockets[1].async_read_some(many, token);
}
template <class Token> auto read_into_many_by_steps(asked_operations& o, Token token) noexcept {
    std::array<mutable_buffer, 2> two{buffer(&o.byte, 1), buffer(&o.byte, 1)};
    static_assert(noexcept(async_read(o.sockets[1], two, transfer_at_least(1), token)));
    return async_read(o.sockets[1], two, transfer_at_least(1), token);
}
template <class Token> auto read_until_long(asked_operations& o, Token token) noexcept {
    return async_read_until(o.sockets[1], dynamic_buffer(o.line), std::string_view("a long delimiter"), token);
}

template <class Start>
awaitable<void> fails_where_that_is_awaited(asked_operations& o, std::size_t failing_call, Start start) {
    auto op = [&] {
        impl::exec::recycler_trim();
        auto const failing = failing_new::only(failing_call);
        return start(o, use_await);
    }();
    ++o.ended;
    try {
        co_await std::move(op);
    } catch (std::bad_alloc const&) {
        o.ended += 10;
    }
}
template <class Start> void expect_failure_at_the_start(std::size_t failing_call, Start start) {
    io_context context(1);
    asked_operations o(context);
    co_spawn(context, fails_where_that_is_awaited(o, failing_call, start), rethrow);
    context.run();
    EXPECT_EQ(o.ended, 11);
    context.restart();
    impl::exec::recycler_trim();
    auto op = [&] {
        auto const failing = failing_new::only(failing_call);
        return start(o, deferred);
    }();
    EXPECT_THROW(std::move(op)(o.count()), std::bad_alloc);
    context.run();
    EXPECT_EQ(o.ended, 11);
}

TEST(Papers, B08_WithoutMemoryForArgumentsAnOperationFailsWhereItStarts) {
    if (!new_is_replaced())
        GTEST_SKIP() << "a sanitizer keeps its own operator new";
    constexpr auto many = [](auto& o, auto token) { return read_into_many(o, token); };
    expect_failure_at_the_start(1, many);
    expect_failure_at_the_start(2, many); // The list has a block, the operation has none; or the other way round.
    expect_failure_at_the_start(1, [](auto& o, auto token) { return read_into_many_by_steps(o, token); });
    expect_failure_at_the_start(1, [](auto& o, auto token) { return read_until_long(o, token); });
}

TEST(Papers, B08_WithoutMemoryADeferredOperationFailsWhenItIsStarted) {
    if (!new_is_replaced())
        GTEST_SKIP() << "a sanitizer keeps its own operator new";
    io_context context(1);
    asked_operations o(context);
    impl::exec::recycler_trim();
    auto op = [&] {
        auto const failing = failing_new::only(1);
        return large_read(o);
    }();
    EXPECT_THROW(std::move(op)(o.count()), std::bad_alloc);
    context.run();
    EXPECT_EQ(o.ended, 0);
}

} // namespace
} // namespace fairlead::test
