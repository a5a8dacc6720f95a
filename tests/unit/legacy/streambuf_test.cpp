#include <fairlead/legacy/streambuf.hpp>

#include <gtest/gtest.h>

#include <istream>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <string>

namespace fairlead {
namespace {

static_assert(dynamic_buffer_v1<basic_streambuf_ref<>>);
static_assert(!dynamic_buffer_v1<streambuf>, "operations take it by reference");

std::string text_of(streambuf const& b) { return {static_cast<char const*>(b.data().data()), b.size()}; }

void put(streambuf& b, std::string const& text) {
    buffer_copy(b.prepare(text.size()), buffer(text));
    b.commit(text.size());
}

TEST(Streambuf, StreamReadsWhatWasCommitted) {
    streambuf b;
    put(b, "12 words\nrest");
    std::istream in(&b);
    int number = 0;
    std::string line;
    in >> number;
    std::getline(in, line);
    EXPECT_EQ(number, 12);
    EXPECT_EQ(line, " words");
    EXPECT_EQ(text_of(b), "rest");
    put(b, " more");
    std::getline(in, line);
    EXPECT_EQ(line, "rest more");
    EXPECT_TRUE(in.eof());
}

TEST(Streambuf, DataIsWhatAStreamWrote) {
    streambuf b;
    std::ostream out(&b);
    out << "GET " << 7 << std::string(1000, 'x');
    EXPECT_EQ(text_of(b), "GET 7" + std::string(1000, 'x'));
    b.consume(5);
    EXPECT_EQ(b.size(), 1000U);
    b.consume(2000);
    EXPECT_EQ(b.size(), 0U);
}

TEST(Streambuf, CommitTakesNoMoreThanThereIsRoom) {
    streambuf b(4);
    static_cast<void>(b.prepare(4));
    b.commit(100);
    EXPECT_EQ(b.size(), 4U);
}

TEST(Streambuf, PreparingBeyondTheLimitThrowsAndChangesNothing) {
    streambuf b(6);
    put(b, "abcd");
    EXPECT_THROW(static_cast<void>(b.prepare(3)), std::length_error);
    EXPECT_EQ(text_of(b), "abcd");
    b.consume(1);
    put(b, "efg");
    EXPECT_EQ(text_of(b), "bcdefg");
    EXPECT_EQ(b.max_size(), 6U);
}

TEST(Streambuf, StreamFailsWhenTheLimitIsReached) {
    streambuf b(200);
    std::ostream out(&b);
    out << std::string(200, 'x');
    EXPECT_TRUE(out.good());
    out << 'y';
    EXPECT_TRUE(out.bad());
    EXPECT_EQ(b.size(), 200U);
}

TEST(Streambuf, ConsumedBytesMakeRoomBeforeItGrows) {
    streambuf b(200);
    for (int i = 0; i != 100; ++i) {
        put(b, std::string(150, 'x'));
        b.consume(150);
    }
    EXPECT_EQ(b.size(), 0U);
}

} // namespace
} // namespace fairlead
