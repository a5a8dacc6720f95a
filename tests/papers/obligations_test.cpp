// P0162R0 §4 and §5: what an operation may do with memory, and that the model leaves its author free.
#include "support/one_block.hpp"

#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/append.hpp>
#include <fairlead/token/block.hpp>
#include <fairlead/token/post.hpp>
#include <fairlead/token/use_future.hpp>
#include <support/counting_new.hpp>
#include <support/scale.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace fairlead;
using test::one_block;
using test::one_block_allocator;
using namespace std::chrono_literals;
using fairlead::test::new_counter;
using fairlead::test::scaled;
using local_socket = local::stream_protocol::socket;

/// Counts blocks; serves them from malloc, so that nobody else's count moves.
struct malloc_books {
    int taken = 0;
    int live = 0;
    int live_most = 0;
    std::size_t bytes_most = 0;
};
template <class T> struct malloc_allocator {
    using value_type = T;
    malloc_books* of;
    explicit malloc_allocator(malloc_books* m) noexcept : of(m) {}
    template <class U> malloc_allocator(malloc_allocator<U> const& o) noexcept : of(o.of) {}
    T* allocate(std::size_t n)
        requires(!std::is_void_v<T>)
    {
        ++of->taken;
        of->live_most = std::max(of->live_most, ++of->live);
        of->bytes_most = std::max(of->bytes_most, n * sizeof(T));
        return static_cast<T*>(std::malloc(n * sizeof(T)));
    }
    void deallocate(T* p, std::size_t) noexcept
        requires(!std::is_void_v<T>)
    {
        --of->live;
        std::free(p);
    }
    template <class U> bool operator==(malloc_allocator<U> const& o) const noexcept { return of == o.of; }
};

struct Obligations : testing::Test {
    Obligations() : a(context), b(context), timer(context, 0s) { local::connect_pair(a, b); }
    io_context context;
    local_socket a, b;
    steady_timer timer;
    char bytes[64] = {};
};

// ---- A13: without an allocator of the user's the library's own strategy is no worse

/// Posts itself until `left` is 0.
template <class Allocator> struct posting_chain {
    using allocator_type = Allocator;
    allocator_type allocator;
    io_context* context;
    std::uint64_t* left;
    allocator_type get_allocator() const noexcept { return allocator; }
    void operator()() {
        if (--*left)
            post(*context, posting_chain(*this));
    }
};
/// The same by a handler that names no allocator.
struct plain_chain {
    io_context* context;
    std::uint64_t* left;
    void operator()() {
        if (--*left)
            post(*context, plain_chain(*this));
    }
};

TEST_F(Obligations, A13_DefaultMemoryNeedsNoMoreThanTheUsersOwn) {
    std::uint64_t left = 0;
    auto const from_new_of = [&](auto chain) {
        left = 64;
        post(context, chain); // warms up
        context.restart();
        context.run();
        left = scaled(100'000, 1'000);
        auto const fresh = impl::exec::recycler_count().fresh;
        new_counter const from_new;
        post(context, chain);
        context.restart();
        context.run();
        EXPECT_EQ(left, 0U);
        EXPECT_EQ(impl::exec::recycler_count().fresh, fresh);
        return from_new.calls();
    };
    one_block memory;
    auto const own =
        from_new_of(posting_chain<one_block_allocator<void>>{one_block_allocator<void>(&memory), &context, &left});
    auto const none = from_new_of(plain_chain{&context, &left});
    EXPECT_EQ(own, 0U);
    EXPECT_LE(memory.largest, 256U);
    EXPECT_EQ(none, own);
}

TEST_F(Obligations, A13_DefaultMemoryIsThatOfTheOperationBefore) {
    // The same block for ever: what the hand-written allocator of the paper gives.
    std::vector<void const*> seen;
    struct chain {
        io_context* context;
        std::vector<void const*>* where;
        void operator()() {
            void* const p =
                impl::exec::recycle_allocate(sizeof(impl::operation::handler_op<impl::token::loop_post, chain>));
            where->push_back(p);
            impl::exec::recycle_free(p);
            if (where->size() != 50)
                post(*context, chain(*this));
        }
    };
    post(context, chain{&context, &seen});
    context.run();
    ASSERT_EQ(seen.size(), 50U);
    for (auto const* p : seen)
        EXPECT_EQ(p, seen.front());
}

// ---- A14: a strictly sequential chain, of callbacks or in a coroutine

struct exchange_chain {
    Obligations* test;
    std::uint64_t* left;
    void operator()(error_code = {}, std::size_t = 0) {
        if (--*left == 0)
            return;
        if (*left % 2 == 0)
            async_write(test->b, buffer("xyz", 3), exchange_chain(*this));
        else
            async_read(test->a, buffer(test->bytes, 3), exchange_chain(*this));
    }
};
awaitable<void> exchange(Obligations& test, std::uint64_t n) {
    for (std::uint64_t i = 0; i != n; ++i) {
        co_await async_write(test.b, buffer("xyz", 3));
        co_await async_read(test.a, buffer(test.bytes, 3));
    }
}

TEST_F(Obligations, A14_ChainsOfCallbacksAndCoroutinesTakeTheSame) {
    auto const n = scaled(20'000, 500);
    auto const callbacks = [&] {
        std::uint64_t left = 2 * n + 1;
        exchange_chain{this, &left}();
        context.restart();
        context.run();
        EXPECT_EQ(left, 0U);
    };
    auto const coroutine = [&] {
        co_spawn(context, exchange(*this, n), detached);
        context.restart();
        context.run();
    };
    auto const from_new_of = [](auto const& run) {
        run();
        new_counter const count;
        run();
        return count.calls();
    };
    EXPECT_EQ(from_new_of(callbacks), 0U);
    EXPECT_EQ(from_new_of(coroutine), 0U);
    EXPECT_EQ(a.available(), 0U) << "each write was read before the next";
}

// ---- A16: an operation may allocate as often and as much as it likes, all from its handler

/// Repeats a text n times, a size that only the run knows, with a container for the pieces and one for the result.
template <class Token> auto async_repeat(io_context& c, std::string const& text, std::size_t n, Token&& token) {
    return async_initiate<Token, void(std::size_t)>(
        [&c](auto handler, std::string const& piece, std::size_t times) {
            auto const allocator = get_associated_allocator(handler, recycling_allocator<void>());
            using allocator_type = std::decay_t<decltype(allocator)>;
            using char_allocator = typename std::allocator_traits<allocator_type>::template rebind_alloc<char>;
            using string = std::basic_string<char, std::char_traits<char>, char_allocator>;
            using string_allocator = typename std::allocator_traits<allocator_type>::template rebind_alloc<string>;
            std::size_t size = 0;
            {
                std::vector<string, string_allocator> pieces((string_allocator(allocator)));
                for (std::size_t i = 0; i != times; ++i)
                    pieces.emplace_back(piece.data(), piece.size(), char_allocator(allocator));
                string whole((char_allocator(allocator)));
                for (auto const& p : pieces)
                    whole += p;
                size = whole.size();
            }
            post(c, append(std::move(handler), size));
        },
        token, text, n);
}

TEST_F(Obligations, A16_OperationMayTakeAnyNumberOfBlocksOfAnySize) {
    malloc_books m;
    std::size_t got = 0;
    std::string const text(100, 'x');
    int live_inside = -1;
    new_counter const from_new;
    auto const handler = bind_allocator(malloc_allocator<void>(&m), [&](std::size_t n) {
        got = n;
        live_inside = m.live;
    });
    async_repeat(context, text, 50, handler);
    EXPECT_GT(m.taken, 50);
    EXPECT_GT(m.live_most, 50);
    EXPECT_GE(m.bytes_most, 5000U);
    EXPECT_EQ(m.live, 1) << "the post that is on its way";
    context.run();
    EXPECT_EQ(got, 5000U);
    EXPECT_EQ(live_inside, 0);
    EXPECT_LE(from_new.calls(), 2U) << "the argument that was copied before there was a handler; nothing of the work";
}

TEST_F(Obligations, A16_AlsoWithoutAnAllocatorAndAwaited) {
    auto future = async_repeat(context, "abc", 200, use_future);
    std::size_t got = 0;
    co_spawn(
        context,
        [](io_context& c, std::size_t& out) -> awaitable<void> {
            out = co_await async_repeat(c, "abc", 7, use_await);
        }(context, got),
        detached);
    context.run();
    EXPECT_EQ(future.get(), 600U);
    EXPECT_EQ(got, 21U);
}

// ---- A24: the asynchronous functions mirror the synchronous ones

int a_value() { return 1; }
int b_value() { return 2; }
int c_value(bool x) {
    if (x)
        return a_value();
    else
        return b_value();
}
template <class Token> auto async_a(io_context& c, Token&& token) {
    return post(c, append(std::forward<Token>(token), a_value()));
}
template <class Token> auto async_b(io_context& c, Token&& token) { // another kind of operation altogether
    return completion_token_transform<void(int)>(std::forward<Token>(token), [&c](auto handler) {
        auto timer = std::make_unique<steady_timer>(c, 0s);
        auto& t = *timer;
        t.async_wait([h = std::move(handler), kept = std::move(timer)](error_code) mutable {
            kept.reset();
            std::move(h)(b_value());
        });
    });
}
template <class Token> auto async_c(io_context& c, bool x, Token&& token) {
    if (x)
        return async_a(c, std::forward<Token>(token));
    else
        return async_b(c, std::forward<Token>(token));
}

TEST_F(Obligations, A24_AsynchronousFunctionMirrorsTheSynchronousOne) {
    // Called, chosen and returned in the same way; the result comes as the caller wishes.
    for (bool const x : {false, true}) {
        int by_callback = 0, by_await = 0;
        async_c(context, x, [&](int n) { by_callback = n; });
        auto future = async_c(context, x, use_future);
        co_spawn(
            context,
            [](io_context& c, bool y, int& out) -> awaitable<void> {
                out = co_await async_c(c, y, use_await);
            }(context, x, by_await),
            detached);
        context.restart();
        context.run();
        EXPECT_EQ(by_callback, c_value(x));
        EXPECT_EQ(future.get(), c_value(x));
        EXPECT_EQ(by_await, c_value(x));
    }
}

TEST_F(Obligations, A24_LibrarysAsynchronousFunctionsDoWhatItsSynchronousOnesDo) {
    auto const both = [this](auto synchronous, auto asynchronous) {
        auto const expected = synchronous();
        auto future = asynchronous(use_future);
        context.restart();
        context.run();
        EXPECT_EQ(future.get(), expected);
        EXPECT_EQ(asynchronous(block), expected);
    };
    both([&] { return write(b, buffer("abc", 3)); }, [&](auto t) { return async_write(b, buffer("abc", 3), t); });
    both([&] { return a.read_some(buffer(bytes, 1)); }, [&](auto t) { return a.async_read_some(buffer(bytes, 1), t); });
    both([&] { return read(a, buffer(bytes, 2)); }, [&](auto t) { return async_read(a, buffer(bytes, 2), t); });
}

TEST_F(Obligations, A24_BothSayTheSameOfAStreamThatEnds) {
    using said = std::tuple<error_code, std::size_t, std::string>;
    auto const of = [](auto start) {
        io_context own;
        local_socket in(own), out(own);
        local::connect_pair(in, out);
        write(out, buffer("ab", 2));
        out.close();
        std::string text(4, '.');
        auto [ec, n] = start(own, in, text);
        return said(ec, n, text);
    };
    auto const synchronous = of([](io_context&, local_socket& in, std::string& text) {
        error_code ec;
        auto const n = read(in, buffer(text), ec);
        return std::pair(ec, n);
    });
    auto const asynchronous = of([](io_context& own, local_socket& in, std::string& text) {
        std::pair<error_code, std::size_t> result;
        async_read(in, buffer(text), [&](error_code ec, std::size_t n) { result = {ec, n}; });
        own.run();
        return result;
    });
    EXPECT_EQ(synchronous, asynchronous);
    EXPECT_EQ(synchronous, said(error::eof, 2, "ab.."));
}

// ---- A25: A15 to A17 at once

/// An operation that inherits nothing, allocates at run time, and is a thin layer over another one, itself thin.
template <class Handler> struct checked_write_op {
    using allocator_type = associated_allocator_t<Handler, recycling_allocator<void>>;
    using executor_type = associated_executor_t<Handler>;
    using text = std::vector<char, typename std::allocator_traits<allocator_type>::template rebind_alloc<char>>;
    text kept;
    Handler handler;
    allocator_type get_allocator() const noexcept {
        return get_associated_allocator(handler, recycling_allocator<void>());
    }
    executor_type get_executor() const noexcept { return get_associated_executor(handler); }
    void operator()(error_code ec, std::size_t n) {
        bool const whole = n == kept.size();
        {
            text const given_back(std::move(kept));
        }
        std::move(handler)(ec, whole);
    }
};
template <class Token> auto async_checked_write(local_socket& s, std::string const& text, Token&& token) {
    return async_initiate<Token, void(error_code, bool)>(
        [&s](auto h, std::string const& t) {
            using handler = decltype(h);
            using op = checked_write_op<handler>;
            auto const allocator = get_associated_allocator(h, recycling_allocator<void>());
            typename op::text kept(t.begin(), t.end(), typename op::text::allocator_type(allocator));
            auto const all = buffer(kept);
            async_write(s, all, op{std::move(kept), std::move(h)});
        },
        token, text);
}

TEST_F(Obligations, A25_AuthorsOfOperationsAreFree) {
    malloc_books m;
    int live_inside = -1;
    bool whole = false;
    async_checked_write(b, "hello", bind_allocator(malloc_allocator<void>(&m), [&](error_code, bool w) {
                            whole = w;
                            live_inside = m.live;
                        }));
    EXPECT_EQ(m.live, 2) << "the text and the write; no layer has a block of its own";
    auto future = async_checked_write(b, "world", use_future);
    bool awaited = false;
    co_spawn(
        context,
        [](local_socket& s, bool& out) -> awaitable<void> {
            out = co_await async_checked_write(s, "!", use_await);
        }(b, awaited),
        detached);
    context.run();
    EXPECT_TRUE(whole);
    EXPECT_EQ(live_inside, 0);
    EXPECT_TRUE(future.get());
    EXPECT_TRUE(awaited);
    EXPECT_EQ(a.available(), 11U);
    // Made first and started later, when it no longer knows the type of its handler.
    whole = false;
    live_inside = -1;
    auto later = async_checked_write(b, "later", deferred);
    std::move(later)(bind_allocator(malloc_allocator<void>(&m), [&](error_code, bool w) {
        whole = w;
        live_inside = m.live;
    }));
    EXPECT_EQ(m.live, 3) << "the handler, the text and the write";
    context.restart();
    context.run();
    EXPECT_TRUE(whole);
    EXPECT_EQ(live_inside, 0);
}

} // namespace
