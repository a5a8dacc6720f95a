#include <fairlead/token/as_single.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/token/post.hpp>

#include <gtest/gtest.h>

namespace fairlead {
namespace {

using token_type = as_single_t<use_awaitable_t<>>;
using socket_type = token_type::as_default_on_t<local::stream_protocol::socket>;

awaitable<void> use_all(io_context& context) {
    socket_type a(context), b(context);
    local::connect_pair(a, b);
    auto [ec, n] = co_await a.async_write_some(buffer("x", 1));
    EXPECT_FALSE(ec);
    EXPECT_EQ(n, 1U);
    a.close();
    char into[2];
    std::tie(ec, n) = co_await b.async_read_some(buffer(into));
    EXPECT_FALSE(ec);
    std::tie(ec, n) = co_await b.async_read_some(buffer(into));
    EXPECT_EQ(ec, error::eof);
    auto none = as_single(use_await);
    co_await post(context, none);
}

TEST(AsSingle, SeveralArgumentsBecomeATupleAndFewerStayAsTheyAre) {
    io_context context;
    bool done = false;
    co_spawn(context, use_all(context), [&](std::exception_ptr e) {
        EXPECT_FALSE(e);
        done = true;
    });
    steady_timer timer(context, steady_clock::duration::zero());
    int calls = 0;
    timer.async_wait(as_single([&](error_code ec) {
        EXPECT_FALSE(ec);
        ++calls;
    }));
    context.run();
    EXPECT_TRUE(done);
    EXPECT_EQ(calls, 1);
}

} // namespace
} // namespace fairlead
