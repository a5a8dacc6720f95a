#include <fairlead/io/io_context.hpp>
#include <fairlead/legacy/read_streambuf.hpp>
#include <fairlead/legacy/read_until_streambuf.hpp>
#include <fairlead/legacy/streambuf.hpp>
#include <fairlead/legacy/write_streambuf.hpp>
#include <fairlead/net/local.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/stream/write.hpp>

#include <gtest/gtest.h>

#include <cctype>
#include <istream>
#include <ostream>
#include <string>

namespace fairlead {
namespace {

using socket_type = local::stream_protocol::socket;

/// Two sockets, connected.
class StreamAlgorithms : public testing::Test {
protected:
    StreamAlgorithms() { local::connect_pair(here_, there_); }
    void arrives(std::string_view text) { write(there_, buffer(text)); }
    void arrives_and_ends(std::string_view text) {
        arrives(text);
        there_.close();
    }

    io_context context_;
    socket_type here_{context_};
    socket_type there_{context_};
};

std::string text_in(streambuf const& b) { return {static_cast<char const*>(b.data().data()), b.size()}; }

TEST_F(StreamAlgorithms, LinesAreReadIntoAStreambuf) {
    arrives("one\r\ntwo\r\nrest");
    streambuf b;
    EXPECT_EQ(read_until(here_, b, "\r\n"), 5U);
    std::istream in(&b);
    std::string line;
    std::getline(in, line);
    EXPECT_EQ(line, "one\r");
    std::size_t n = 0;
    async_read_until(here_, b, '\n', [&](error_code ec, std::size_t count) {
        EXPECT_FALSE(ec);
        n = count;
    });
    context_.run();
    EXPECT_EQ(n, 5U);
    EXPECT_EQ(text_in(b), "two\r\nrest");
}

TEST_F(StreamAlgorithms, StreambufIsWrittenAndConsumed) {
    streambuf b;
    std::ostream(&b) << "hello " << 42;
    EXPECT_EQ(write(here_, b), 8U);
    EXPECT_EQ(b.size(), 0U);
    std::ostream(&b) << "again";
    async_write(here_, b, transfer_at_least(5), [](error_code ec, std::size_t n) {
        EXPECT_FALSE(ec);
        EXPECT_EQ(n, 5U);
    });
    context_.run();
    EXPECT_EQ(b.size(), 0U);
    streambuf got;
    error_code ec;
    EXPECT_EQ(read(there_, got, transfer_exactly(13), ec), 13U);
    EXPECT_FALSE(ec);
    EXPECT_EQ(text_in(got), "hello 42again");
}

TEST_F(StreamAlgorithms, ReadingUntilTheEndReportsIt) {
    arrives_and_ends("all of it");
    streambuf b;
    error_code ec;
    EXPECT_EQ(read(here_, b, ec), 9U);
    EXPECT_EQ(ec, error::eof);
    EXPECT_EQ(text_in(b), "all of it");
    EXPECT_THROW(read(here_, b), system_error);
}

TEST_F(StreamAlgorithms, ConditionEndsReadsAndWritesOfBuffers) {
    std::string const text = "abcdef";
    EXPECT_EQ(write(there_, buffer(text), transfer_exactly(4)), 4U);
    std::string into(6, ' ');
    EXPECT_EQ(read(here_, buffer(into), transfer_at_least(2)), 4U);
    EXPECT_EQ(into, "abcd  ");
}

using bytes = buffers_iterator<const_buffer>;

std::pair<bytes, bool> find_digit(bytes begin, bytes end) {
    for (; begin != end; ++begin)
        if (std::isdigit(static_cast<unsigned char>(*begin)))
            return {begin + 1, true};
    return {begin, false};
}

TEST_F(StreamAlgorithms, MatchConditionEndsARead) {
    arrives("no digit yet ");
    arrives("7 there");
    std::string text;
    EXPECT_EQ(read_until(here_, dynamic_buffer(text), find_digit), 14U);
    EXPECT_EQ(text.substr(0, 14), "no digit yet 7");
}

/// Looks for two equal characters, and remembers where it was asked to begin.
struct find_pair {
    std::vector<std::ptrdiff_t>* looked_at;
    std::pair<bytes, bool> operator()(bytes begin, bytes end) const {
        looked_at->push_back(end - begin);
        for (; begin != end; ++begin) {
            if (begin + 1 == end)
                return {begin, false};
            if (begin[0] == begin[1])
                return {begin + 2, true};
        }
        return {begin, false};
    }
};

TEST_F(StreamAlgorithms, MatchConditionIsAskedAgainFromWhereItStopped) {
    streambuf b;
    std::vector<std::ptrdiff_t> looked_at;
    std::size_t n = 0;
    arrives("abc");
    async_read_until(here_, b, find_pair{&looked_at}, [&](error_code ec, std::size_t count) {
        EXPECT_FALSE(ec);
        n = count;
    });
    context_.poll();
    EXPECT_EQ(n, 0U);
    arrives("cd");
    context_.run();
    EXPECT_EQ(n, 4U);
    EXPECT_EQ(looked_at, (std::vector<std::ptrdiff_t>{0, 3, 3}));
}

TEST_F(StreamAlgorithms, FullBufferWithoutAMatchIsNotFound) {
    arrives("abcdef");
    streambuf b(4);
    error_code ec;
    EXPECT_EQ(read_until(here_, b, find_digit, ec), 0U);
    EXPECT_EQ(ec, error::not_found);
    EXPECT_EQ(text_in(b), "abcd");
}

} // namespace
} // namespace fairlead
