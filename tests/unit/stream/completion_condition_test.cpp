#include <fairlead/stream/completion_condition.hpp>

#include <fairlead/io/io_context.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/write.hpp>

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

namespace {

using namespace fairlead;
using socket_type = local::stream_protocol::socket;

/// Of the older kind: true is enough.
struct four_or_error {
    bool operator()(error_code const& ec, std::size_t n) const { return ec || n >= 4; }
};

struct CompletionCondition : testing::Test {
    CompletionCondition() { local::connect_pair(near, far); }
    void arrives(std::string_view what) { EXPECT_EQ(write(far, buffer(what)), what.size()); }

    io_context context;
    socket_type near{context}, far{context};
    char bytes[8] = {};
    std::string text;
    error_code ec;
};

TEST_F(CompletionCondition, OfTheOlderKindSaysWhetherItIsEnough) {
    arrives("abcd");
    EXPECT_EQ(read(near, buffer(bytes), four_or_error()), 4U);
    arrives("efgh");
    EXPECT_EQ(read(near, dynamic_buffer(text), four_or_error()), 4U);
    EXPECT_EQ(text, "efgh");
    EXPECT_EQ(write(near, buffer("12345", 5), four_or_error()), 5U);
    far.close();
    char rest[8];
    EXPECT_EQ(read(near, buffer(rest), four_or_error(), ec), 0U);
    EXPECT_TRUE(ec) << "an error is enough, too";
}

TEST_F(CompletionCondition, OfTheOlderKindEndsAsynchronousTransfers) {
    std::size_t moved = 0;
    auto const note = [&](error_code e, std::size_t n) {
        ec = e;
        moved = n;
    };
    auto const run = [&] {
        context.restart();
        context.poll();
    };
    async_read(near, buffer(bytes), four_or_error(), note);
    arrives("ab");
    run();
    EXPECT_EQ(moved, 0U);
    arrives("cd");
    run();
    EXPECT_EQ(moved, 4U);
    EXPECT_EQ(std::string_view(bytes, 4), "abcd");
    async_read(near, dynamic_buffer(text), four_or_error(), note);
    arrives("efghi");
    run();
    EXPECT_EQ(moved, 5U);
    EXPECT_EQ(text, "efghi");
    async_write(near, buffer("1234567", 7), four_or_error(), note);
    run();
    EXPECT_EQ(moved, 7U);
    EXPECT_FALSE(ec);
}

TEST_F(CompletionCondition, ExactlyIsExactAlsoInTheMiddleOfABuffer) {
    arrives("abcdefgh");
    char first[3], second[3], third[3];
    std::array const three{buffer(first), buffer(second), buffer(third)};
    EXPECT_EQ(read(near, three, transfer_exactly(2)), 2U);
    EXPECT_EQ(read(near, three, transfer_exactly(4)), 4U);
    EXPECT_EQ(std::string_view(first, 3), "cde");
    EXPECT_EQ(second[0], 'f');
    EXPECT_EQ(near.available(), 2U);
    std::size_t moved = 0;
    async_write(near, three, transfer_exactly(5), [&](error_code e, std::size_t n) {
        ec = e;
        moved = n;
    });
    context.run();
    EXPECT_FALSE(ec);
    EXPECT_EQ(moved, 5U);
    EXPECT_EQ(far.available(), 5U);
}

TEST_F(CompletionCondition, StepsOfAByteGoThroughAllBuffers) {
    arrives("abcdef");
    char first[2], second[3], third[1];
    std::array const three{buffer(first), mutable_buffer(), buffer(second), buffer(third)};
    auto const one = [](error_code const& e, std::size_t) -> std::size_t { return e ? 0 : 1; };
    EXPECT_EQ(read(near, three, one), 6U);
    EXPECT_EQ(std::string(first, 2) + std::string(second, 3) + third[0], "abcdef");
}

} // namespace
