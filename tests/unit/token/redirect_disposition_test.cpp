#include <fairlead/token/redirect_disposition.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/local.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/operation/compose.hpp>
#include <fairlead/token/block.hpp>
#include <fairlead/token/deferred.hpp>
#include <fairlead/token/post.hpp>
#include <fairlead/token/use_future.hpp>

#include <support/user_disposition.hpp>

#include <gtest/gtest.h>

#include <exception>
#include <future>
#include <stdexcept>
#include <string>
#include <utility>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using stream = local::stream_protocol::socket;

error_code code_of(std::exception_ptr const& e) {
    try {
        if (e)
            std::rethrow_exception(e);
    } catch (system_error const& error) {
        return error.code();
    }
    return {};
}

struct RedirectDisposition : testing::Test {
    RedirectDisposition() : near(context), far(context) {
        local::connect_pair(near, far);
        far.write_some(buffer("x", 1));
        far.close();
    }
    auto count() {
        return [this](std::size_t n) {
            ++calls;
            bytes += n;
        };
    }
    void run() {
        context.restart();
        context.run();
    }
    io_context context;
    stream near, far;
    char byte = ' ';
    int calls = 0;
    std::size_t bytes = 0;
};

TEST_F(RedirectDisposition, ErrorCodesAndExceptionsTakeWhatTheOperationSays) {
    error_code ec = error::would_block;
    near.async_read_some(buffer(&byte, 1), redirect_disposition(count(), ec));
    EXPECT_EQ(ec, error::would_block) << "not before the completion";
    run();
    EXPECT_FALSE(ec);
    EXPECT_EQ(bytes, 1U);
    near.async_read_some(buffer(&byte, 1), redirect_disposition(count(), ec));
    run();
    EXPECT_EQ(ec, error::eof);
    std::exception_ptr thrown;
    near.async_read_some(buffer(&byte, 1), redirect_disposition(count(), thrown));
    run();
    EXPECT_EQ(code_of(thrown), error::eof);
    EXPECT_EQ(calls, 3);
    EXPECT_EQ(bytes, 1U);
}

TEST_F(RedirectDisposition, OtherValuesAndOtherDispositionsPass) {
    error_code ec = error::would_block;
    std::string log;
    auto const note = [&log](auto const&... all) { log += std::to_string(sizeof...(all)); };
    async_initiate<void(int)>([](auto h) { std::move(h)(1); }, redirect_disposition(note, ec));
    async_initiate<void(std::exception_ptr, int)>([](auto h) { std::move(h)(nullptr, 1); },
                                                  redirect_disposition(note, ec));
    async_initiate<void()>([](auto h) { std::move(h)(); }, redirect_disposition(note, ec));
    EXPECT_EQ(log, "120");
    EXPECT_EQ(ec, error::would_block);
    std::exception_ptr thrown = std::make_exception_ptr(1);
    async_initiate<void(no_error_t, int)>([](auto h) { std::move(h)(no_error, 1); },
                                          redirect_disposition(note, thrown));
    EXPECT_EQ(log, "1201");
    EXPECT_EQ(thrown, nullptr);
}

TEST_F(RedirectDisposition, EveryTokenCanBeAdapted) {
    error_code ec;
    auto op = near.async_read_some(buffer(&byte, 1), redirect_disposition(deferred, ec));
    static_assert(std::is_same_v<decltype(op), async_op<void(std::size_t)>>);
    std::move(op)(count());
    run();
    EXPECT_EQ(bytes, 1U);

    std::exception_ptr thrown;
    std::future<std::size_t> f = near.async_read_some(buffer(&byte, 1), redirect_disposition(use_future, thrown));
    run();
    EXPECT_EQ(f.get(), 0U) << "the error has gone elsewhere";
    EXPECT_EQ(code_of(thrown), error::eof);

    thrown = nullptr;
    EXPECT_EQ(near.async_read_some(buffer(&byte, 1), redirect_disposition(block, thrown)), 0U);
    EXPECT_EQ(code_of(thrown), error::eof);
    steady_timer timer(context, 1h);
    timer.async_wait(redirect_disposition(ec))([&] { ++calls; });
    timer.cancel();
    run();
    EXPECT_EQ(ec, error::operation_aborted);
    EXPECT_EQ(calls, 2);
}

TEST_F(RedirectDisposition, AwaitedWithoutAToken) {
    error_code ec;
    std::exception_ptr thrown;
    auto const body = [](stream& s, char* b, error_code& e, std::exception_ptr& t) -> awaitable<std::size_t> {
        std::size_t n = co_await s.async_read_some(buffer(b, 1), redirect_disposition(e));
        n += 10 * co_await s.async_read_some(buffer(b, 1), redirect_disposition(e));
        co_await s.async_read_some(buffer(b, 1), redirect_disposition(t));
        co_return n;
    };
    std::size_t n = 99;
    co_spawn(context, body(near, &byte, ec, thrown), [&n](std::exception_ptr, std::size_t all) { n = all; });
    run();
    EXPECT_EQ(n, 1U);
    EXPECT_EQ(ec, error::eof);
    EXPECT_EQ(code_of(thrown), error::eof);
}

/// Buys things, while there are any: an operation with a disposition of the user's own.
template <class Token> auto async_buy(io_context& c, int price, int& money, Token&& token) {
    return async_compose<Token, void(shop::outcome, int)>(
        [price, &money, begun = false](auto& self) mutable {
            if (!std::exchange(begun, true))
                return post(std::move(self));
            bool const good = price <= money;
            money -= good ? price : 0;
            self.complete(good ? shop::outcome::good : shop::outcome::sold_out, money);
        },
        token, c);
}

TEST_F(RedirectDisposition, AUsersDispositionIsRedirectedOrThrown) {
    int money = 5;
    shop::outcome how = shop::outcome::sold_out;
    async_buy(context, 2, money, redirect_disposition([](int) {}, how));
    run();
    EXPECT_EQ(how, shop::outcome::good);
    std::future<int> good = async_buy(context, 2, money, use_future), bad = async_buy(context, 2, money, use_future);
    run();
    EXPECT_EQ(good.get(), 1);
    EXPECT_THROW(bad.get(), std::runtime_error);

    auto const body = [](io_context& c, int& purse) -> awaitable<int> {
        int const left = co_await async_buy(c, 1, purse, use_await);
        try {
            co_await async_buy(c, 1, purse, use_await);
        } catch (std::runtime_error const&) {
            co_return left;
        }
        co_return -1;
    };
    int left = -2;
    co_spawn(context, body(context, money), [&left](std::exception_ptr, int n) { left = n; });
    run();
    EXPECT_EQ(left, 0);
}

TEST_F(RedirectDisposition, AssociationsAreThoseOfTheHandlerAndSeveralSignaturesAreAdaptedEach) {
    io_context other;
    error_code ec;
    near.async_read_some(buffer(&byte, 1), redirect_disposition(bind_executor(other, count()), ec));
    run();
    EXPECT_EQ(calls, 0);
    other.run();
    EXPECT_EQ(calls, 1);

    std::string log;
    auto const note = [&log](auto const&... all) { log += std::to_string(sizeof...(all)); };
    auto const fail = [](auto h) { std::move(h)(error_code(error::eof)); };
    auto const say = [](auto h) { std::move(h)(error_code(), 1, 2); };
    async_initiate<void(error_code), void(error_code, int, int)>(fail, redirect_disposition(note, ec));
    EXPECT_EQ(ec, error::eof);
    async_initiate<void(error_code), void(error_code, int, int)>(say, redirect_disposition(ec))(note);
    EXPECT_FALSE(ec);
    EXPECT_EQ(log, "02");
}

} // namespace
