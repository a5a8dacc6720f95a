// The loop of a context that has none: a thread of its own runs it.
#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/sim/world.hpp>
#include <fairlead/token/post.hpp>
#include <fairlead/token/use_future.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <optional>

#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using local_socket = local::stream_protocol::socket;

TEST(BackgroundIo, GoesOnInTheParentOfAFork) {
    thread_pool pool(1);
    local_socket near(pool), far(pool);
    local::connect_pair(near, far);
    char byte = 0;
    auto received = near.async_read_some(buffer(&byte, 1), use_future);
    pool.notify_fork(execution_context::fork_prepare);
    auto const child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0)
        ::_exit(0);
    pool.notify_fork(execution_context::fork_parent);
    ::waitpid(child, nullptr, 0);
    far.write_some(buffer("p", 1));
    EXPECT_EQ(received.get(), 1U);
    EXPECT_EQ(byte, 'p');
}

TEST(BackgroundIo, StandsStillBetweenTheTwoNotices) {
    thread_pool pool(1);
    local_socket near(pool), far(pool);
    local::connect_pair(near, far);
    char byte = 0;
    auto received = near.async_read_some(buffer(&byte, 1), use_future);
    pool.notify_fork(execution_context::fork_prepare);
    far.write_some(buffer("x", 1));
    EXPECT_EQ(received.wait_for(0s), std::future_status::timeout) << "no thread is there to hear of it";
    pool.notify_fork(execution_context::fork_parent);
    EXPECT_EQ(received.get(), 1U);
}

TEST(BackgroundIo, ASimulatedWorldHasNoThreadForIt) {
    thread_pool pool(1);
    sim::world w(1);
    std::optional<error_code> refused;
    post(w.context(), [&] {
        try {
            steady_timer timer(pool, 1s);
        } catch (system_error const& e) {
            refused = e.code();
        }
    });
    w.run();
    ASSERT_TRUE(refused);
    EXPECT_EQ(*refused, error::operation_not_supported);
    EXPECT_NO_THROW(steady_timer(pool, 1s)) << "outside there are threads";
}

} // namespace
