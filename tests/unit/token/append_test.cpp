#include "support/counting_allocator.hpp"

#include <fairlead/token/append.hpp>
#include <fairlead/token/consign.hpp>
#include <fairlead/token/prepend.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/block.hpp>
#include <fairlead/token/post.hpp>
#include <fairlead/token/use_future.hpp>

#include <gtest/gtest.h>

#include <concepts>
#include <cstdlib>
#include <memory>
#include <string>
#include <tuple>

namespace {

using namespace fairlead;
using test::account;
using test::counting_allocator;
using namespace std::chrono_literals;
using stream = local::stream_protocol::socket;

struct MoreValues : testing::Test {
    MoreValues() : a(context), b(context), timer(context, 0s) { local::connect_pair(a, b); }
    template <class F> void spawn(F f) {
        co_spawn(context, std::move(f), [](std::exception_ptr e) {
            if (e)
                std::rethrow_exception(e);
        });
        context.run();
    }
    io_context context;
    stream a, b;
    steady_timer timer;
};

// ---- fact 62

struct FactsOfValues : MoreValues {};

TEST_F(FactsOfValues, F62_AppendGoesAfterTheOperationsOwn) {
    std::tuple<error_code, std::size_t, int, std::string> got;
    b.async_write_some(buffer("x", 1), append([&](error_code ec, std::size_t n, int i,
                                                  std::string s) { got = {ec, n, i, std::move(s)}; },
                                              7, std::string("seven")));
    context.run();
    EXPECT_EQ(got, std::tuple(error_code(), std::size_t{1}, 7, std::string("seven")));
}

TEST_F(FactsOfValues, F62_PrependGoesBeforeThem) {
    std::tuple<int, char, error_code, std::size_t> got;
    b.async_write_some(buffer("x", 1),
                       prepend([&](int i, char c, error_code ec, std::size_t n) { got = {i, c, ec, n}; }, 7, 'c'));
    context.run();
    EXPECT_EQ(got, std::tuple(7, 'c', error_code(), std::size_t{1}));
}

TEST_F(MoreValues, ValuesMayBeMoveOnly) {
    int sum = 0;
    post(context, append([&](std::unique_ptr<int> p) { sum += *p; }, std::make_unique<int>(1)));
    post(context, prepend([&](std::unique_ptr<int> p) { sum += *p; }, std::make_unique<int>(2)));
    post(context, deferred)(append([&](std::unique_ptr<int> p) { sum += *p; }, std::make_unique<int>(4)));
    timer.async_wait(deferred)(
        prepend([&](std::unique_ptr<int> p, error_code) { sum += *p; }, std::make_unique<int>(8)));
    context.run();
    EXPECT_EQ(sum, 15);
}

TEST_F(MoreValues, AwaitedTheyComeWithTheResult) {
    spawn([this]() -> awaitable<void> {
        int const seven = co_await timer.async_wait(append(use_await, 7));
        EXPECT_EQ(seven, 7);
        auto [n, text] = co_await b.async_write_some(buffer("x", 1), append(use_awaitable, std::string("text")));
        EXPECT_EQ(n, 1U);
        EXPECT_EQ(text, "text");
        int const eight = co_await post(context, prepend(deferred, 8));
        EXPECT_EQ(eight, 8);
        auto [c, ec] = co_await timer.async_wait(prepend(as_tuple, 'c'));
        EXPECT_EQ(c, 'c');
        EXPECT_FALSE(ec);
        auto [i, j] = co_await post(context, append(prepend(as_tuple(use_await), 1), 2));
        EXPECT_EQ(i, 1);
        EXPECT_EQ(j, 2);
    });
}

TEST_F(MoreValues, PrependedErrorIsTheOneThatIsThrown) {
    spawn([this]() -> awaitable<void> {
        try {
            co_await post(context, prepend(use_await, error_code(error::eof)));
            ADD_FAILURE();
        } catch (system_error const& e) {
            EXPECT_EQ(e.code(), error::eof);
        }
    });
}

TEST_F(MoreValues, WorkWithFuturesAndBlock) {
    auto appended = b.async_write_some(buffer("x", 1), append(use_future, 7));
    static_assert(std::same_as<decltype(appended), std::future<std::tuple<std::size_t, int>>>);
    auto prepended = timer.async_wait(as_tuple(prepend(use_future, 8)));
    context.run();
    EXPECT_EQ(appended.get(), std::tuple(std::size_t{1}, 7));
    auto const [eight, values] = prepended.get();
    EXPECT_EQ(eight, 8);
    EXPECT_EQ(values, std::tuple(error_code()));
    EXPECT_EQ(b.async_write_some(buffer("x", 1), append(block, 7)), std::tuple(std::size_t{1}, 7));
    EXPECT_EQ(timer.async_wait(prepend(as_tuple(block), 7)), std::tuple(7, error_code()));
    EXPECT_EQ(b.async_write_some(buffer("x", 1), deferred)(append(block, 7)), std::tuple(std::size_t{1}, 7));
    EXPECT_EQ(b.async_write_some(buffer("x", 1), consign(append(consign(block, 1), 7), 2)),
              std::tuple(std::size_t{1}, 7));
    error_code ec = error::eof;
    EXPECT_EQ(b.async_write_some(buffer("x", 1), append(redirect_error(block, ec), 7)), std::tuple(std::size_t{1}, 7));
    EXPECT_FALSE(ec);
}

// ---- fact 63

TEST_F(FactsOfValues, F63_ConsignKeepsObjectsUntilTheHandlerHasRun) {
    auto kept = std::make_shared<int>(1);
    std::weak_ptr<int> const watched = kept;
    bool alive = false;
    timer.async_wait(consign([&](error_code) { alive = !watched.expired(); }, std::move(kept)));
    EXPECT_FALSE(watched.expired());
    context.run();
    EXPECT_TRUE(alive) << "while the handler runs";
    EXPECT_TRUE(watched.expired()) << "afterwards";
}

TEST_F(FactsOfValues, F63_ConsignKeepsWhatAnAwaitedOperationWorksOn) {
    spawn([this]() -> awaitable<void> {
        auto text = std::make_unique<std::string>("xyz");
        auto const b1 = buffer(*text);
        EXPECT_EQ(co_await async_write(b, b1, consign(use_await, std::move(text))), 3U);
    });
    EXPECT_EQ(a.available(), 3U);
}

TEST_F(MoreValues, ConsignedObjectsGoWithAnAbandonedOperation) {
    auto kept = std::make_shared<int>(1);
    {
        io_context other;
        auto waits = std::make_shared<steady_timer>(other, 1h);
        waits->async_wait(consign([](error_code) {}, kept, waits));
        waits.reset();
        EXPECT_EQ(kept.use_count(), 2);
    }
    EXPECT_EQ(kept.use_count(), 1);
}

TEST_F(MoreValues, ConsignWorksWithDetachedAndFutures) {
    auto kept = std::make_shared<int>(1);
    timer.async_wait(consign(detached, kept));
    auto future = timer.async_wait(consign(use_future, kept));
    EXPECT_EQ(kept.use_count(), 3);
    context.run();
    EXPECT_EQ(kept.use_count(), 1);
    EXPECT_NO_THROW(future.get());
}

// ---- fact 9: all pass on what the handler inside brings along

TEST_F(FactsOfValues, F09_AssociationsReachThroughAll) {
    io_context other;
    account books;
    bool ran = false;
    auto handler =
        bind_executor(other, bind_allocator(counting_allocator<void>(&books), [&](int, error_code, std::size_t, int) {
                          ran = other.get_executor().running_in_this_thread();
                      }));
    b.async_write_some(buffer("x", 1), consign(append(prepend(std::move(handler), 1), 2), 3));
    EXPECT_EQ(books.taken, 1);
    context.run();
    EXPECT_FALSE(ran);
    other.run();
    EXPECT_TRUE(ran);
    EXPECT_EQ(books.taken, 2) << "on its way to the other executor";
}

TEST_F(MoreValues, HandlerMayBeRvalueOnlyBelowAll) {
    struct rvalue_only {
        int* sum;
        void operator()(int i, error_code, std::size_t, int j) && { *sum += i + j; }
    };
    int sum = 0;
    b.async_write_some(buffer("x", 1), consign(append(prepend(rvalue_only{&sum}, 1), 2), 3));
    context.run();
    EXPECT_EQ(sum, 3);
}

} // namespace
