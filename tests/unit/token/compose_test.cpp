#include "support/users_executor.hpp"

#include <fairlead/operation/compose.hpp>

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
#include <vector>

namespace {

using namespace fairlead;
using test::account;
using test::counting_allocator;
using test::counting_executor;
using namespace std::chrono_literals;
using local_socket = local::stream_protocol::socket;

/// Completes at once, or after some posts.
struct hops {
    io_context& context;
    int left;
    template <class Self> void operator()(Self& self) {
        if (left-- == 0)
            self.complete(42);
        else
            post(context, std::move(self));
    }
};
template <class Token> decltype(auto) async_hops(io_context& c, int n, Token&& token) {
    return async_compose<Token, void(int)>(hops{c, n}, token, c);
}

TEST(Compose, CompletesOnceAndNotInsideTheInitiatingFunction) {
    io_context context;
    for (int n : {0, 1, 5}) {
        int got = 0, count = 0;
        async_hops(context, n, [&](int v) {
            got = v;
            ++count;
        });
        EXPECT_EQ(count, 0);
        context.restart();
        context.run();
        EXPECT_EQ(got, 42);
        EXPECT_EQ(count, 1);
    }
}

TEST(Compose, EveryToken) {
    io_context context;
    auto future = async_hops(context, 0, use_future);
    auto later = async_hops(context, 2, deferred);
    int deferred_got = 0, awaited = 0, tupled = 0;
    std::move(later)([&](int v) { deferred_got = v; });
    co_spawn(
        context,
        [&]() -> awaitable<void> {
            awaited = co_await async_hops(context, 0, use_await);
            awaited += co_await async_hops(context, 3, use_await);
            auto const token = as_tuple(use_await);
            auto [v] = co_await async_hops(context, 1, token);
            tupled = v;
        },
        detached);
    context.run();
    EXPECT_EQ(future.get(), 42);
    EXPECT_EQ(deferred_got, 42);
    EXPECT_EQ(awaited, 84);
    EXPECT_EQ(tupled, 42);
}

TEST(Compose, HandlerMayBeMoveOnlyAndAnLvalue) {
    io_context context;
    int count = 0;
    auto handler = [&count](int) { ++count; };
    async_hops(context, 1, handler);
    async_hops(context, 1, [p = std::make_unique<int>(1), &count](int) { count += *p; });
    context.run();
    EXPECT_EQ(count, 2);
}

struct echo {
    local_socket& socket;
    mutable_buffer memory;
    enum { starting, reading, writing } state = starting;
    template <class Self> void operator()(Self& self, error_code ec = {}, std::size_t n = 0) {
        switch (state) {
        case starting:
            state = reading;
            socket.async_read_some(memory, std::move(self));
            break;
        case reading:
            if (ec) {
                self.complete(ec, 0);
            } else {
                state = writing;
                async_write(socket, buffer(memory, n), std::move(self));
            }
            break;
        case writing: self.complete(ec, n); break;
        }
    }
};
template <class Token = use_await_t> decltype(auto) async_echo(local_socket& s, mutable_buffer b, Token&& token = {}) {
    return async_compose<Token, void(error_code, std::size_t)>(echo{s, b}, token, s);
}

TEST(Compose, StepsOverASocket) {
    io_context context;
    local_socket a(context), b(context);
    local::connect_pair(a, b);
    char memory[16];
    error_code ec = error::not_found;
    std::size_t n = 0;
    async_echo(b, buffer(memory), [&](error_code e, std::size_t k) {
        ec = e;
        n = k;
    });
    a.write_some(buffer("hello", 5));
    context.run();
    EXPECT_FALSE(ec);
    EXPECT_EQ(n, 5U);
    char back[5];
    EXPECT_EQ(a.read_some(buffer(back)), 5U);
}

TEST(Compose, AssociationsOfTheHandlerAreThoseOfTheSteps) {
    io_context context;
    int through = 0;
    counting_executor<io_context> const ex{&context, &through};
    auto seen = std::make_shared<int>(0);
    auto inspect = [&context, seen, step = 0](auto& self) mutable {
        using self_type = std::decay_t<decltype(self)>;
        static_assert(std::is_same_v<associated_executor_t<self_type>, counting_executor<io_context>>);
        static_assert(std::is_same_v<associated_allocator_t<self_type>, std::allocator<int>>);
        static_assert(std::is_same_v<decltype(self.get_io_executor()), io_context::executor_type>);
        EXPECT_EQ(self.get_executor(), get_associated_executor(self));
        EXPECT_EQ(self.get_io_executor(), context.get_executor());
        ++*seen;
        if (step++ == 2)
            self.complete();
        else
            post(context, std::move(self));
    };
    bool done = false;
    auto handler = bind_executor(ex, bind_allocator(std::allocator<int>(), [&] { done = true; }));
    async_compose<decltype(handler), void()>(inspect, handler, context);
    context.run();
    EXPECT_TRUE(done);
    EXPECT_EQ(*seen, 3);
    EXPECT_EQ(through, 2) << "each step went through the handler's executor";
}

TEST(Compose, WithoutAnExecutorStepsRunOnThatOfTheFirstPart) {
    io_context one, other;
    steady_timer timer(one);
    auto body = [&](auto& self) {
        EXPECT_EQ(self.get_executor(), timer.get_executor());
        EXPECT_EQ(self.get_io_executor(), timer.get_executor());
        self.complete();
    };
    bool done = false;
    auto handler = [&] { done = true; };
    async_compose<decltype(handler), void()>(body, handler, timer, other);
    EXPECT_EQ(other.run(), 0U);
    EXPECT_FALSE(done);
    EXPECT_EQ(one.run(), 1U);
    EXPECT_TRUE(done);
}

TEST(Compose, KeepsWorkOnAllParts) {
    io_context one, other;
    std::function<void()> finish;
    auto body = [&](auto& self) {
        using self_type = std::decay_t<decltype(self)>;
        auto kept = std::make_shared<self_type>(std::move(self));
        finish = [kept] { kept->complete(); };
    };
    int done = 0;
    auto handler = [&] { ++done; };
    async_compose<decltype(handler), void()>(body, handler, one, other);
    EXPECT_TRUE(one.look().promised);
    EXPECT_TRUE(other.look().promised);
    finish();
    finish = nullptr;
    EXPECT_FALSE(other.look().promised);
    one.run();
    EXPECT_EQ(done, 1);
    EXPECT_FALSE(one.look().promised);
}

TEST(Compose, TheLayerNeedsNoBlockOfItsOwn) {
    io_context context;
    account books;
    int live_in_handler = -1;
    async_hops(context, 3, bind_allocator(counting_allocator<int>(&books), [&](int) { live_in_handler = books.live; }));
    EXPECT_EQ(books.live, 1);
    context.run();
    EXPECT_EQ(books.taken, 3) << "one for each step, in turn";
    EXPECT_EQ(live_in_handler, 0);
    EXPECT_EQ(books.live, 0);
}

TEST(Compose, AbandonedWithItsContext) {
    auto const alive = std::make_shared<int>(0);
    {
        io_context context;
        async_hops(context, 2, [alive](int) { ++*alive; });
        EXPECT_EQ(alive.use_count(), 2);
    }
    EXPECT_EQ(alive.use_count(), 1);
    EXPECT_EQ(*alive, 0);
}

TEST(Compose, ExceptionsOfTheImplementationLeaveItsCaller) {
    io_context context;
    auto at_once = [](auto&) { throw 1; };
    auto handler = [] {};
    EXPECT_THROW((async_compose<decltype(handler), void()>(at_once, handler, context)), int);
    auto later = [&, step = 0](auto& self) mutable {
        if (step++ == 1)
            throw 2;
        post(context, std::move(self));
    };
    async_compose<decltype(handler), void()>(later, handler, context);
    EXPECT_THROW(context.run(), int);
}

// ---- cancellation

template <class Filter> struct sleeper {
    steady_timer& timer;
    Filter filter;
    bool waiting = false;
    template <class Self> void operator()(Self& self, error_code ec = {}) {
        if (waiting) {
            self.complete(!ec);
            return;
        }
        if constexpr (!std::is_same_v<Filter, enable_terminal_cancellation>)
            self.reset_cancellation_state(filter);
        waiting = true;
        timer.expires_after(1ms);
        timer.async_wait(std::move(self));
    }
};

template <class Filter> bool ends_for(Filter filter, cancellation_type type) {
    io_context context;
    steady_timer timer(context);
    cancellation_signal signal;
    bool finished = false;
    int count = 0;
    auto handler = bind_cancellation_slot(signal.slot(), [&](bool ok) {
        finished = ok;
        ++count;
        EXPECT_FALSE(signal.slot().has_handler());
    });
    async_compose<decltype(handler), void(bool)>(sleeper<Filter>{timer, filter}, handler, timer);
    signal.emit(type);
    context.run();
    EXPECT_EQ(count, 1);
    return !finished;
}

TEST(Compose, HearsTerminalRequestsUntilTheFilterIsChanged) {
    using c = cancellation_type;
    enable_terminal_cancellation const terminal;
    EXPECT_TRUE(ends_for(terminal, c::terminal));
    EXPECT_FALSE(ends_for(terminal, c::partial));
    EXPECT_FALSE(ends_for(terminal, c::total));
    enable_partial_cancellation const partial;
    EXPECT_TRUE(ends_for(partial, c::terminal));
    EXPECT_TRUE(ends_for(partial, c::partial));
    EXPECT_FALSE(ends_for(partial, c::total));
    enable_total_cancellation const total;
    EXPECT_TRUE(ends_for(total, c::terminal));
    EXPECT_TRUE(ends_for(total, c::partial));
    EXPECT_TRUE(ends_for(total, c::total));
    EXPECT_FALSE(ends_for(disable_cancellation(), c::all));
}

TEST(Compose, RequestBetweenTwoStepsIsRemembered) {
    io_context context;
    cancellation_signal signal;
    std::vector<cancellation_type> seen;
    auto body = [&, step = 0](auto& self) mutable {
        seen.push_back(self.cancelled());
        EXPECT_EQ(self.get_cancellation_state().cancelled(), self.cancelled());
        if (step == 2)
            self.reset_cancellation_state(enable_total_cancellation(), disable_cancellation());
        if (step++ == 4)
            self.complete();
        else
            post(context, std::move(self));
    };
    bool done = false;
    auto handler = bind_cancellation_slot(signal.slot(), [&] { done = true; });
    async_compose<decltype(handler), void()>(body, handler, context);
    context.run_one();
    signal.emit(cancellation_type::all);
    context.run_one();
    context.run_one();
    signal.emit(cancellation_type::total);
    context.run();
    using c = cancellation_type;
    EXPECT_EQ(seen, (std::vector{c::none, c::none, c::terminal, c::none, c::total}));
    EXPECT_TRUE(done);
    EXPECT_FALSE(signal.slot().has_handler());
}

TEST(Compose, WithoutASlotItIsNeverCancelled) {
    io_context context;
    auto body = [](auto& self) {
        EXPECT_EQ(self.cancelled(), cancellation_type::none);
        self.reset_cancellation_state(enable_total_cancellation());
        EXPECT_FALSE(self.get_cancellation_state().slot().is_connected());
        self.complete();
    };
    auto handler = [] {};
    async_compose<decltype(handler), void()>(body, handler, context);
    EXPECT_EQ(context.run(), 1U);
}

TEST(Compose, TimeLimit) {
    io_context context;
    local_socket a(context), b(context);
    local::connect_pair(a, b);
    char memory[16];
    error_code ec;
    async_echo(b, buffer(memory), cancel_after(1ms, [&](error_code e, std::size_t) { ec = e; }));
    context.run();
    EXPECT_EQ(ec, error::operation_aborted);
}

// ---- composed

TEST(Composed, TakesTheArgumentsOfItsInitiation) {
    io_context context;
    int got = 0;
    auto handler = [&](int v) { got = v; };
    async_initiate<decltype(handler), void(int)>(composed<void(int)>(
                                                     [&context, step = 0](auto& self, int v = 0) mutable {
                                                         if (step == 0)
                                                             step = v;
                                                         else
                                                             return self.complete(step);
                                                         post(context, std::move(self));
                                                     },
                                                     context),
                                                 handler, 17);
    context.run();
    EXPECT_EQ(got, 17);
}

TEST(Composed, CompletesWithAnyOfItsSignatures) {
    io_context context;
    int none = 0, one = 0;
    struct handler {
        int* none;
        int* one;
        void operator()() { ++*none; }
        void operator()(int v) { *one += v; }
    };
    auto const start = [&](bool with) {
        composed<void(), void(int)>(
            [with](auto& self) {
                if (with)
                    self.complete(5);
                else
                    self.complete();
            },
            context)(handler{&none, &one});
    };
    start(true);
    start(false);
    EXPECT_EQ(none + one, 0);
    context.run();
    EXPECT_EQ(none, 1);
    EXPECT_EQ(one, 5);
}

} // namespace
