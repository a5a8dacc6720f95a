// <asio/use_awaitable.hpp>: it brings what a coroutine returns, and whatever else it is declared with.
#include <asio/buffer.hpp>
#include <asio/io_context.hpp>
#include <asio/use_awaitable.hpp>

#include <gtest/gtest.h>

namespace {

asio::awaitable<void> waits(asio::any_io_executor executor) { co_await asio::post(executor, asio::use_awaitable); }

TEST(CompatHeaders, UseAwaitableBringsTheCoroutine) {
    using namespace asio::buffer_literals;
    asio::io_context context;
    [[maybe_unused]] asio::awaitable<void> const not_started = waits(context.get_executor());
    EXPECT_EQ(asio::buffer_size("text"_buf), 4U);
}

} // namespace
