// The conclusions of the epoll driver from an attempt. Its rules for datagrams are tested with their sockets.
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/stream_socket.hpp>

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace {

using namespace fairlead;
using local_socket = local::stream_protocol::socket;

struct EpollDriver : testing::Test {
    io_context context;
    local_socket a{context}, b{context};
    char bytes[8] = {};

    EpollDriver() {
        local::connect_pair(a, b);
        // Registered, and drained.
        a.async_read_some(buffer(bytes), [](error_code, std::size_t) {});
        b.write_some(buffer("x", 1));
        run();
    }
    void run() {
        context.restart();
        context.run();
    }
    /// Lets the driver learn of what has been written while nobody waits for it.
    void notice() {
        auto guard = make_work_guard(context);
        context.restart();
        context.poll();
    }
};

TEST_F(EpollDriver, ReadOfNoBytesLeavesWhatIsKnownOfTheOthers) {
    std::vector<mutable_buffer> const none;
    std::array<mutable_buffer, 2> const empty{buffer(bytes, 0), buffer(bytes, 0)};
    std::size_t got = 0;
    for (int round = 0; round != 3; ++round) {
        b.write_some(buffer("abcd", 4));
        notice();
        // Each leaves bytes behind that make no event of their own, and the last one fills its buffer.
        auto const nothing = [](error_code ec, std::size_t n) { EXPECT_TRUE(!ec && n == 0); };
        a.async_read_some(buffer(bytes, 0), nothing);
        a.async_read_some(none, nothing);
        a.async_read_some(empty, nothing);
        run();
        a.async_read_some(buffer(bytes, 2), [&](error_code, std::size_t n) { got += n; });
        run();
        a.async_read_some(buffer(bytes, 0), nothing);
        run();
        a.async_read_some(buffer(bytes, 2), [&](error_code, std::size_t n) { got += n; });
        run(); // a failure shows as the test's time-out
    }
    EXPECT_EQ(got, 12U);
}

} // namespace
