#include "support/users_executor.hpp"

#include <fairlead/operation/default_token.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/connect.hpp>
#include <fairlead/net/datagram_socket.hpp>
#include <fairlead/net/resolver.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/post.hpp>
#include <fairlead/token/use_future.hpp>

#include <gtest/gtest.h>

#include <array>
#include <concepts>
#include <exception>
#include <string>
#include <tuple>

namespace {

using namespace fairlead;
using test::counting_executor;
using namespace std::chrono_literals;
using ip::tcp;
using ip::udp;

void rethrow(std::exception_ptr e) {
    if (e)
        std::rethrow_exception(e);
}

TEST(DefaultToken, IsUseAwaitUnlessTheExecutorNamesAnother) {
    static_assert(std::same_as<default_completion_token_t<any_io_executor>, use_await_t>);
    static_assert(std::same_as<default_completion_token_t<io_context::executor_type>, use_await_t>);
    using named = detached_t::executor_with_default<any_io_executor>;
    static_assert(std::same_as<default_completion_token_t<named>, detached_t>);
    static_assert(io_executor<named>);
    static_assert(sizeof(named) == sizeof(any_io_executor));
    static_assert(std::same_as<default_completion_token<named>::type, detached_t>);
}

TEST(DefaultToken, BothSpellingsOfUseAwaitableAreOneToken) {
    io_context context;
    steady_timer timer(context, 0s);
    static_assert(std::same_as<decltype(use_awaitable), use_awaitable_t<> const>);
    using operation = async_op<void(error_code)>;
    static_assert(std::same_as<decltype(timer.async_wait(use_awaitable)), operation>);
    static_assert(std::same_as<decltype(timer.async_wait(use_awaitable_t<>())), operation>);
    static_assert(std::same_as<decltype(timer.async_wait(use_awaitable_t<io_context::executor_type>())), operation>);
    static_assert(noexcept(timer.async_wait(use_awaitable)));
    bool done = false;
    co_spawn(
        context,
        [](steady_timer& t, bool& out) -> awaitable<void> {
            co_await t.async_wait(use_awaitable);
            auto [ec] = co_await t.async_wait(as_tuple(use_awaitable_t<any_io_executor>()));
            out = !ec;
        }(timer, done),
        &rethrow);
    context.run();
    EXPECT_TRUE(done);
}

// ---- the two spellings of Asio's examples

using default_token = as_tuple_t<use_awaitable_t<>>;
using tcp_acceptor = default_token::as_default_on_t<tcp::acceptor>;
using tcp_socket = default_token::as_default_on_t<tcp::socket>;
using timer_type = default_token::as_default_on_t<steady_timer>;

awaitable<void> echo_with_defaults(tcp_socket socket) {
    char data[64];
    for (;;) {
        auto [e1, nread] = co_await socket.async_read_some(buffer(data));
        if (nread == 0)
            break;
        auto [e2, nwritten] = co_await async_write(socket, buffer(data, nread));
        if (nwritten != nread)
            break;
    }
}

awaitable<void> listener(tcp_acceptor& acceptor) {
    for (;;)
        if (auto [e, socket] = co_await acceptor.async_accept(); socket.is_open())
            co_spawn(socket.get_executor(), echo_with_defaults(std::move(socket)), detached);
        else
            break;
}

awaitable<void> client(tcp::endpoint to, tcp_acceptor& acceptor, std::string& got) {
    auto const executor = co_await this_coro::executor;
    tcp_socket socket(executor);
    auto [refused] = co_await socket.async_connect(to);
    EXPECT_FALSE(refused);
    co_await async_write(socket, buffer("hello\n", 6));
    auto [ec, n] = co_await async_read_until(socket, dynamic_buffer(got), '\n');
    EXPECT_EQ(n, 6U);
    char rest[4];
    co_await async_write(socket, buffer("more", 4));
    auto [read_ec, read_n] = co_await async_read(socket, buffer(rest));
    EXPECT_EQ(read_n, 4U);
    timer_type timer(executor, 0s);
    auto [timer_ec] = co_await timer.async_wait();
    EXPECT_FALSE(timer_ec);
    acceptor.close();
}

TEST(DefaultToken, EchoServerOfAsiosExamplesGetsTuples) {
    io_context context;
    tcp_acceptor acceptor(context, {ip::address_v4::loopback(), 0});
    std::string got;
    co_spawn(context, listener(acceptor), &rethrow);
    co_spawn(context, client(acceptor.local_endpoint(), acceptor, got), &rethrow);
    context.run();
    EXPECT_EQ(got, "hello\n");
}

TEST(DefaultToken, EveryObjectCanBeMadeOfAnotherOne) {
    io_context context;
    auto acceptor = use_awaitable_t<>::as_default_on(tcp::acceptor(context, {ip::address_v4::loopback(), 0}));
    auto const where = acceptor.local_endpoint();
    auto socket = use_future_t<>::as_default_on(tcp::socket(context));
    auto connected = socket.async_connect(where);
    static_assert(std::same_as<decltype(connected), std::future<void>>);
    auto accepted = acceptor.async_accept();
    static_assert(
        std::same_as<decltype(accepted), async_op<void(error_code, use_awaitable_t<>::as_default_on_t<tcp::socket>)>>);
    std::size_t open = 0;
    std::move(accepted)([&](error_code ec, auto peer) { open += !ec && peer.is_open(); });
    auto timer = as_tuple(use_future).as_default_on(steady_timer(context, 0s));
    auto waited = timer.async_wait();
    auto resolver = use_future_t<>::as_default_on(tcp::resolver(context));
    auto found = resolver.async_resolve("127.0.0.1", "80");
    auto datagrams = detached.as_default_on(udp::socket(context, {ip::address_v4::loopback(), 0}));
    static_assert(std::is_void_v<decltype(datagrams.async_send_to(buffer("x", 1), datagrams.local_endpoint()))>);
    datagrams.async_send_to(buffer("x", 1), datagrams.local_endpoint());
    context.run();
    EXPECT_EQ(open, 1U);
    EXPECT_NO_THROW(connected.get());
    EXPECT_EQ(waited.get(), std::tuple(error_code()));
    EXPECT_EQ(found.get().size(), 1U);
    EXPECT_EQ(datagrams.available(), 1U);
    tcp::socket back(std::move(socket));
    EXPECT_TRUE(back.is_open());
    EXPECT_FALSE(socket.is_open()); // NOLINT(bugprone-use-after-move): it was given away
}

TEST(DefaultToken, TimerMovedToAnotherExecutorTypeTakesItsWaitsAlong) {
    io_context context;
    steady_timer plain(context, 1h);
    error_code got;
    plain.async_wait([&](error_code ec) { got = ec; });
    auto moved = deferred.as_default_on(std::move(plain));
    static_assert(std::same_as<decltype(moved.async_wait()), async_op<void(error_code)>>);
    EXPECT_EQ(moved.cancel(), 1U);
    context.run();
    EXPECT_EQ(got, error::operation_aborted);
}

TEST(DefaultToken, PostTakesThatOfItsExecutor) {
    io_context context;
    deferred_t::executor_with_default<io_context::executor_type> const deferring = context.get_executor();
    static_assert(std::same_as<decltype(post(deferring)), async_op<void()>>);
    use_future_t<>::executor_with_default<any_io_executor> const promising = any_io_executor(context.get_executor());
    auto done = post(promising);
    static_assert(std::same_as<decltype(done), std::future<void>>);
    context.run();
    EXPECT_NO_THROW(done.get());
}

TEST(DefaultToken, SpawnTakesThatOfItsExecutor) {
    io_context context;
    use_future_t<>::executor_with_default<any_io_executor> const promising = any_io_executor(context.get_executor());
    auto done = co_spawn(promising, []() -> awaitable<int> { co_return 3; });
    static_assert(std::same_as<decltype(done), std::future<int>>);
    context.run();
    EXPECT_EQ(done.get(), 3);
}

TEST(DefaultToken, RangeConnectTakesThatOfTheSocket) {
    io_context context;
    tcp::acceptor const acceptor(context, {ip::address_v4::loopback(), 0});
    std::array<tcp::endpoint, 1> const range{acceptor.local_endpoint()};
    use_future_t<>::as_default_on_t<tcp::socket> socket(context);
    auto connected = async_connect(socket, range);
    context.run();
    EXPECT_EQ(connected.get(), range[0]);
}

TEST(DefaultToken, NamingExecutorTurnsBackIntoItsExecutor) {
    io_context context;
    int executed = 0;
    detached_t::executor_with_default<any_io_executor> const naming =
        any_io_executor(counting_executor<io_context>{&context, &executed});
    any_io_executor const plain = naming;
    EXPECT_NE(plain.target<counting_executor<io_context>>(), nullptr)
        << "what is inside, not the executor that names a token";
    EXPECT_EQ(plain, naming);
    post(naming, [] {});
    context.run();
    EXPECT_EQ(executed, 1) << "it is not taken for a loop's";
}

} // namespace
