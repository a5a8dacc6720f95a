// Objects that outlive their context: everything they ask for is refused, and nothing that they start comes to an end.
#include <fairlead/io/driver.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/pipe.hpp>
#include <fairlead/net/resolver.hpp>
#include <fairlead/net/signal_set.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using local_socket = local::stream_protocol::socket;

struct Retired : testing::Test {
    std::optional<io_context> context{std::in_place};
    char bytes[4] = {};

    void context_goes() { context.reset(); }
    /// Alive as long as the handler which holds it.
    auto handler_of(std::weak_ptr<int>& seen) {
        auto const held = std::make_shared<int>();
        seen = held;
        return [held](auto&&...) { ADD_FAILURE() << "nothing comes to an end any more"; };
    }
};

TEST_F(Retired, ASocketIsRefusedEverything) {
    ip::tcp::socket s(*context, ip::tcp::v4());
    context_goes();
    error_code ec;
    auto const refused = [&] { return std::exchange(ec, {}) == error::bad_descriptor; };
    s.bind({ip::address_v4::loopback(), 0}, ec);
    EXPECT_TRUE(refused());
    s.set_option(ip::tcp::no_delay(true), ec);
    EXPECT_TRUE(refused());
    ip::tcp::no_delay option;
    s.get_option(option, ec);
    EXPECT_TRUE(refused());
    s.local_endpoint(ec);
    EXPECT_TRUE(refused());
    s.remote_endpoint(ec);
    EXPECT_TRUE(refused());
    EXPECT_EQ(s.available(ec), 0U);
    EXPECT_TRUE(refused());
    s.shutdown(socket_base::shutdown_both, ec);
    EXPECT_TRUE(refused());
    EXPECT_EQ(s.read_some(buffer(bytes), ec), 0U);
    EXPECT_TRUE(refused());
    EXPECT_EQ(s.write_some(buffer(bytes), ec), 0U);
    EXPECT_TRUE(refused());
    s.wait(socket_base::wait_read, ec);
    EXPECT_TRUE(refused());
    s.cancel(ec);
    EXPECT_TRUE(refused());
    EXPECT_EQ(s.native_handle(), -1);
    s.release(ec);
    EXPECT_TRUE(refused());
}

TEST_F(Retired, ASocketIsClosedWithoutAnErrorAndNotOpenedAgain) {
    ip::tcp::socket s(*context, ip::tcp::v4());
    ip::tcp::acceptor a(*context, {ip::address_v4::loopback(), 0});
    local_socket one(*context), two(*context);
    readable_pipe reads(*context);
    writable_pipe writes(*context);
    context_goes();
    error_code ec;
    a.listen(1, ec);
    EXPECT_EQ(ec, error::bad_descriptor);
    s.close(ec);
    EXPECT_FALSE(ec);
    EXPECT_FALSE(s.is_open());
    s.open(ip::tcp::v4(), ec);
    EXPECT_EQ(ec, error::bad_descriptor);
    EXPECT_FALSE(s.is_open());
    local::connect_pair(one, two, ec);
    EXPECT_EQ(ec, error::bad_descriptor);
    connect_pipe(reads, writes, ec);
    EXPECT_TRUE(ec);
    EXPECT_FALSE(reads.is_open() || writes.is_open());

    int const fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    s.assign(ip::tcp::v4(), fd, ec);
    EXPECT_EQ(ec, error::bad_descriptor);
    EXPECT_EQ(::close(fd), 0) << "it is still its owner's";
}

TEST_F(Retired, DescriptorsAreClosedWithTheContextAndNotWithTheirObjects) {
    local_socket near(*context), far(*context);
    local::connect_pair(near, far);
    io_context other;
    local_socket moved(other);
    moved.assign(local::stream_protocol(), far.release());
    context_goes();
    error_code ec;
    EXPECT_EQ(moved.read_some(buffer(bytes), ec), 0U);
    EXPECT_EQ(ec, error::eof);
    EXPECT_TRUE(near.is_open()) << "as its owner left it";
}

TEST_F(Retired, WhatASocketStartsIsGivenUpWithTheLastObject) {
    std::weak_ptr<int> reading, waiting, looking_up, at_once;
    auto near = std::make_unique<local_socket>(*context), far = std::make_unique<local_socket>(*context);
    local::connect_pair(*near, *far);
    auto timer = std::make_unique<steady_timer>(*context);
    auto resolver = std::make_unique<ip::tcp::resolver>(*context);
    context_goes();
    near->async_read_some(buffer(bytes), handler_of(reading));
    near->async_write_some(buffer("x", 1), handler_of(at_once));
    timer->expires_after(0s);
    timer->async_wait(handler_of(waiting));
    resolver->async_resolve("localhost", "80", handler_of(looking_up));
    resolver->cancel();
    near.reset();
    far.reset();
    timer.reset();
    EXPECT_FALSE(reading.expired() || at_once.expired() || looking_up.expired());
    resolver.reset();
    EXPECT_TRUE(reading.expired() && at_once.expired() && waiting.expired() && looking_up.expired());
}

TEST_F(Retired, ATimerDoesNotSleepAndALookUpFails) {
    steady_timer timer(*context, 1h);
    ip::tcp::resolver resolver(*context);
    context_goes();
    error_code ec;
    timer.wait(ec);
    EXPECT_EQ(ec, error::operation_not_supported);
    EXPECT_TRUE(resolver.resolve("localhost", "80", ec).empty());
    EXPECT_EQ(ec, error::bad_descriptor);
}

TEST_F(Retired, ASetOfSignalsGivesThemBack) {
    std::weak_ptr<int> waiting, never;
    {
        signal_set set(*context, SIGUSR1, SIGUSR2), fresh(*context);
        context_goes();
        error_code ec;
        set.add(SIGWINCH, ec);
        EXPECT_EQ(ec, error::bad_descriptor);
        set.remove(SIGUSR1, ec);
        EXPECT_FALSE(ec);
        struct sigaction action = {};
        ::sigaction(SIGUSR1, nullptr, &action);
        EXPECT_EQ(action.sa_handler, SIG_DFL);
        set.async_wait(handler_of(waiting));
        set.cancel(ec);
        EXPECT_FALSE(ec);
        fresh.add(SIGUSR1, ec);
        EXPECT_EQ(ec, error::bad_descriptor);
        fresh.async_wait(handler_of(never));
        EXPECT_FALSE(waiting.expired() || never.expired());
    }
    EXPECT_TRUE(waiting.expired() && never.expired());
    struct sigaction action = {};
    ::sigaction(SIGUSR2, nullptr, &action);
    EXPECT_EQ(action.sa_handler, SIG_DFL) << "the set has gone";
}

TEST(RetiredDriver, HasNothingAndDoesNothing) {
    auto const driver = io::make_retired_driver({});
    EXPECT_EQ(driver->reactor().pending(), 0U);
    io::io_op op;
    op.kind = io::kind::receive;
    op.size = 1;
    EXPECT_FALSE(driver->reactor().ready({}, io::kind::receive, 1) || driver->reactor().try_now(op) ||
                 driver->reactor().cancel(op));
    EXPECT_FALSE(driver->reactor().cancel(io::handle{}, nullptr));
    EXPECT_EQ(driver->reactor().cancel_all({}), 0U);
    driver->reactor().poll(-1); // does not wait
    driver->reactor().wake();
    op_queue taken;
    driver->reactor().take_pending(taken);
    EXPECT_TRUE(taken.empty());
    EXPECT_GT(driver->host().wall_ns(), 0);
    auto const before = driver->host().now_ns();
    EXPECT_GE(driver->host().now_ns(), before);
}

} // namespace
