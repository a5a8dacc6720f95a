#include <fairlead/token/co_composed.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/net/local.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/post.hpp>
#include <fairlead/token/use_future.hpp>

#include <support/counting_allocator.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>

namespace {

using namespace fairlead;
using test::account;
using test::counting_allocator;
using namespace std::chrono_literals;
using local_socket = local::stream_protocol::socket;

/// An operation whose start throws.
template <class Token> auto async_throw(Token&& token) {
    return async_initiate<Token, void()>([](auto) { throw 42; }, token);
}

TEST(CoComposed, ExceptionInItsFirstRunLeavesTheInitiatingFunction) {
    auto const alive = std::make_shared<int>(0);
    auto const start = [](auto&& token) {
        return async_initiate<decltype(token), void()>(co_composed([](auto state) -> void {
                                                           throw 42;
                                                           co_yield state.complete();
                                                       }),
                                                       token);
    };
    EXPECT_THROW(start([alive] { ++*alive; }), int);
    auto const suspended = [](auto&& token) {
        return async_initiate<decltype(token), void()>(co_composed([](auto state) -> void {
                                                           co_await async_throw(deferred);
                                                           co_yield state.complete();
                                                       }),
                                                       token);
    };
    EXPECT_THROW(suspended([alive] { ++*alive; }), int);
    EXPECT_EQ(*alive, 0);
    EXPECT_EQ(alive.use_count(), 1);
}

TEST(CoComposed, ExceptionLaterLeavesRun) {
    auto const alive = std::make_shared<int>(0);
    for (bool in_start : {false, true}) {
        io_context context;
        auto const start = [&](auto&& token) {
            return async_initiate<decltype(token), void()>(co_composed(
                                                               [](auto state, io_context& c, bool inside) -> void {
                                                                   co_await post(c, deferred);
                                                                   if (inside)
                                                                       co_await async_throw(deferred);
                                                                   throw 42;
                                                                   co_yield state.complete();
                                                               },
                                                               context),
                                                           token, std::ref(context), in_start);
        };
        start([alive] { ++*alive; });
        EXPECT_EQ(alive.use_count(), 2);
        EXPECT_THROW(context.run(), int);
        EXPECT_EQ(alive.use_count(), 1);
    }
    EXPECT_EQ(*alive, 0);
}

template <class Token> auto async_posts(io_context& c, int n, Token&& token) {
    return async_initiate<Token, void(int)>(co_composed(
                                                [](auto state, io_context& context, int most) -> void {
                                                    int i = 0;
                                                    for (; i != most; ++i)
                                                        co_await post(context, deferred);
                                                    co_yield state.complete(i);
                                                },
                                                c),
                                            token, std::ref(c), n);
}

TEST(CoComposed, CompletesOnceAndNotInsideTheInitiatingFunction) {
    io_context context;
    for (int n : {0, 1, 100}) {
        int got = -1, count = 0;
        async_posts(context, n, [&](int i) {
            got = i;
            ++count;
        });
        EXPECT_EQ(count, 0);
        context.restart();
        context.run();
        EXPECT_EQ(got, n);
        EXPECT_EQ(count, 1);
    }
}

TEST(CoComposed, EveryToken) {
    io_context context;
    auto future = async_posts(context, 3, use_future);
    auto later = async_posts(context, 4, deferred);
    int got = 0, awaited = 0;
    std::move(later)([&](int i) { got = i; });
    co_spawn(
        context,
        [&]() -> awaitable<void> {
            awaited += co_await async_posts(context, 0, use_await);
            awaited += co_await async_posts(context, 5, use_await);
            auto const token = as_tuple(use_await);
            auto [v] = co_await async_posts(context, 6, token);
            awaited += v;
        },
        detached);
    context.run();
    EXPECT_EQ(future.get(), 3);
    EXPECT_EQ(got, 4);
    EXPECT_EQ(awaited, 11);
}

TEST(CoComposed, Nests) {
    io_context context;
    auto const start = [&](auto&& token) {
        return async_initiate<decltype(token), void(int)>(co_composed(
                                                              [](auto state, io_context& c) -> void {
                                                                  int sum = 0;
                                                                  for (int i = 0; i != 100; ++i)
                                                                      sum += co_await async_posts(c, i % 3, deferred);
                                                                  co_yield state.complete(sum);
                                                              },
                                                              context),
                                                          token, std::ref(context));
    };
    int got = 0;
    start([&](int i) { got = i; });
    context.run();
    EXPECT_EQ(got, 99);
}

TEST(CoComposed, ReturnsItsValues) {
    io_context context;
    bool none = false;
    std::string got;
    auto first = [&] { none = true; };
    async_initiate<decltype(first), void()>(co_composed<void()>(
                                                [](auto, io_context& c) -> void {
                                                    co_await post(c, deferred);
                                                    co_return {};
                                                },
                                                context),
                                            first, std::ref(context));
    auto second = [&](int i, std::string s) { got = s + std::to_string(i); };
    async_initiate<decltype(second), void(int, std::string)>(co_composed<void(int, std::string)>(
                                                                 [](auto, io_context& c) -> void {
                                                                     co_await post(c, deferred);
                                                                     co_return {7, "seven "};
                                                                 },
                                                                 context),
                                                             second, std::ref(context));
    context.run();
    EXPECT_TRUE(none);
    EXPECT_EQ(got, "seven 7");
}

TEST(CoComposed, WithoutSignatureItEndsWithoutItsHandler) {
    io_context context;
    auto const alive = std::make_shared<int>(0);
    auto handler = [alive] { ++*alive; };
    int steps = 0;
    async_initiate<decltype(handler), void()>(co_composed(
                                                  [](auto, io_context& c, int& n) -> void {
                                                      ++n;
                                                      co_await post(c, deferred);
                                                      ++n;
                                                  },
                                                  context),
                                              handler, std::ref(context), std::ref(steps));
    EXPECT_EQ(steps, 1);
    EXPECT_EQ(alive.use_count(), 3);
    context.run();
    EXPECT_EQ(steps, 2);
    EXPECT_EQ(alive.use_count(), 2);
    EXPECT_EQ(*alive, 0);
}

struct echo_twice {
    template <class State> void operator()(State state, local_socket& s, std::size_t& total) const {
        char data[16];
        for (int i = 0; i != 2; ++i) {
            auto const n = co_await s.async_read_some(buffer(data), deferred);
            auto const token = as_tuple(deferred);
            auto const [ec, written] = co_await async_write(s, buffer(data, n), token);
            if (ec)
                co_yield state.complete(ec);
            total += written;
        }
        co_return {error_code()};
    }
};
template <class Token> auto async_echo_twice(local_socket& s, std::size_t& total, Token&& token) {
    return async_initiate<Token, void(error_code)>(co_composed<void(error_code)>(echo_twice{}, s), token, std::ref(s),
                                                   std::ref(total));
}

TEST(CoComposed, StepsOverASocketAndErrorsAreThrown) {
    io_context context;
    local_socket a(context), b(context);
    local::connect_pair(a, b);
    std::size_t total = 0;
    error_code ec = error::not_found;
    async_echo_twice(b, total, [&](error_code e) { ec = e; });
    a.write_some(buffer("abc", 3));
    context.run_one();
    context.run_one();
    a.write_some(buffer("de", 2));
    context.run();
    EXPECT_FALSE(ec);
    EXPECT_EQ(total, 5U);
    async_echo_twice(b, total, [&](error_code) { ADD_FAILURE(); });
    a.shutdown(socket_base::shutdown_send);
    context.restart();
    try {
        context.run();
        ADD_FAILURE() << "the end of the stream is thrown, and nobody catches it";
    } catch (system_error const& e) {
        EXPECT_EQ(e.code(), error::eof);
    }
}

// ---- cancellation

struct outcome {
    error_code ec;
    int value = -1;
    int count = 0;
};
enum class way { by_default, with_values, by_exception, not_at_all };

outcome cancelled(way w, cancellation_type type, bool with_slot = true) {
    io_context context;
    cancellation_signal signal;
    outcome o;
    auto store = [&](error_code ec, int v) {
        o.ec = ec;
        o.value = v;
        ++o.count;
        EXPECT_FALSE(signal.slot().has_handler());
    };
    auto const start = [&](auto handler) {
        async_initiate<decltype(handler), void(error_code, int)>(
            co_composed<void(error_code, int)>(
                [](auto state, io_context& c, way how) -> void {
                    if (how == way::with_values)
                        state.on_cancellation_complete_with(error::invalid_argument, 42);
                    state.throw_if_cancelled(how == way::by_exception);
                    if (how == way::not_at_all)
                        state.complete_if_cancelled(false);
                    int i = 0;
                    bool thrown = false;
                    try {
                        for (; i != 10; ++i)
                            co_await post(c, deferred);
                    } catch (system_error const& e) {
                        EXPECT_EQ(e.code(), error::operation_aborted);
                        thrown = true;
                    }
                    if (thrown)
                        co_return {error::not_found, i};
                    co_return {error::eof, i};
                },
                context),
            handler, std::ref(context), w);
    };
    if (with_slot)
        start(bind_cancellation_slot(signal.slot(), store));
    else
        start(store);
    context.run_one();
    signal.emit(type);
    context.run();
    EXPECT_EQ(o.count, 1);
    return o;
}

TEST(CoComposed, OnceCancelledItCompletesInsteadOfTheNextStep) {
    auto o = cancelled(way::by_default, cancellation_type::all);
    EXPECT_EQ(o.ec, error::operation_aborted);
    EXPECT_EQ(o.value, 0);
    o = cancelled(way::with_values, cancellation_type::all);
    EXPECT_EQ(o.ec, error::invalid_argument);
    EXPECT_EQ(o.value, 42);
    o = cancelled(way::by_exception, cancellation_type::terminal);
    EXPECT_EQ(o.ec, error::not_found);
    EXPECT_EQ(o.value, 2);
    for (auto const type : {cancellation_type::partial, cancellation_type::total}) {
        o = cancelled(way::by_default, type);
        EXPECT_EQ(o.ec, error::eof) << "terminal only";
        EXPECT_EQ(o.value, 10);
    }
    EXPECT_EQ(cancelled(way::not_at_all, cancellation_type::all).ec, error::eof);
    EXPECT_EQ(cancelled(way::by_default, cancellation_type::all, false).ec, error::eof);
}

TEST(CoComposed, StepHearsTheRequest) {
    io_context context;
    steady_timer timer(context, 1h);
    cancellation_signal signal;
    error_code ec;
    auto handler = bind_cancellation_slot(signal.slot(), [&](error_code e) { ec = e; });
    auto const body = [](auto state, steady_timer& t) -> void {
        state.reset_cancellation_state(enable_total_cancellation());
        auto const token = as_tuple(deferred);
        auto const [e] = co_await t.async_wait(token);
        EXPECT_EQ(state.cancelled(), cancellation_type::total);
        state.reset_cancellation_state();
        EXPECT_EQ(state.cancelled(), cancellation_type::none);
        co_return {e};
    };
    async_initiate<decltype(handler), void(error_code)>(co_composed<void(error_code)>(body, timer), handler,
                                                        std::ref(timer));
    context.poll();
    signal.emit(cancellation_type::total);
    context.restart();
    context.run();
    EXPECT_EQ(ec, error::operation_aborted);
    EXPECT_FALSE(signal.slot().has_handler());
    std::size_t total = 0;
    local_socket a(context), b(context);
    local::connect_pair(a, b);
    ec = {};
    auto limited = cancel_after(1ms, [&](error_code) { ADD_FAILURE(); });
    async_echo_twice(b, total, limited);
    context.restart();
    EXPECT_THROW(context.run(), system_error) << "the read throws what it was ended with";
}

// ---- associations and memory

TEST(CoComposed, FrameAndStepsLiveInTheHandlersAllocatorAndAreGoneInTheHandler) {
    io_context context;
    account books;
    int live_in_handler = -1;
    async_posts(context, 3,
                bind_allocator(counting_allocator<int>(&books), [&](int) { live_in_handler = books.live; }));
    EXPECT_EQ(books.live, 2);
    context.run();
    EXPECT_EQ(books.taken, 4) << "the frame, and one for each step in turn";
    EXPECT_EQ(live_in_handler, 0);
    EXPECT_EQ(books.live, 0);
}

TEST(CoComposed, StepsRunWhereTheHandlerWantsToBe) {
    io_context one, other;
    auto guard = make_work_guard(one);
    std::thread runner([&] { one.run(); });
    auto const here = std::this_thread::get_id();
    bool done = false;
    auto handler = bind_executor(other, [&](bool in_step) {
        EXPECT_TRUE(in_step);
        EXPECT_EQ(std::this_thread::get_id(), here);
        done = true;
    });
    auto const body = [](auto, io_context& c, std::thread::id wanted) -> void {
        bool all = true;
        for (int i = 0; i != 5; ++i) {
            co_await post(c, deferred);
            all = all && std::this_thread::get_id() == wanted;
        }
        co_return {all};
    };
    async_initiate<decltype(handler), void(bool)>(co_composed<void(bool)>(body, one, other), handler, std::ref(one),
                                                  here);
    other.run();
    EXPECT_TRUE(done);
    guard.reset();
    runner.join();
}

TEST(CoComposed, AbandonedWithItsContext) {
    auto const alive = std::make_shared<int>(0);
    {
        io_context context;
        async_posts(context, 5, [alive](int) { ++*alive; });
        context.run_one();
        EXPECT_EQ(alive.use_count(), 2);
    }
    EXPECT_EQ(alive.use_count(), 1);
    EXPECT_EQ(*alive, 0);
}

TEST(CoComposed, KeepsWorkOnItsParts) {
    io_context one, other;
    bool done = false;
    auto handler = [&](int) { done = true; };
    auto const body = [](auto, io_context& c) -> void {
        co_await post(c, deferred);
        co_return {1};
    };
    async_initiate<decltype(handler), void(int)>(co_composed<void(int)>(body, one, other), handler, std::ref(one));
    EXPECT_TRUE(other.look().promised);
    one.run();
    EXPECT_TRUE(done);
    EXPECT_FALSE(other.look().promised);
}

} // namespace
