// A program's own function of that name, next to headers that do not bring Asio's.
#include <asio/bind_executor.hpp>
#include <asio/io_context.hpp>
#include <asio/io_context_strand.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>
#include <asio/strand.hpp>
#include <asio/thread_pool.hpp>
#include <asio/write.hpp>

#include <gtest/gtest.h>

void throw_exception() { throw 1; }

namespace {

using namespace asio;

TEST(CompatHeaders, W2_AFunctionCalledThrowExceptionIsTheProgramsOwn) {
    io_context context;
    post(context, throw_exception);
    post(context, &throw_exception);
    EXPECT_THROW(context.run(), int);
    EXPECT_THROW(context.run(), int);
}

} // namespace
