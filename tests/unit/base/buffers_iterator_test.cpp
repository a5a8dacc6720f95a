#include <fairlead/base/buffers_iterator.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace fairlead {
namespace {

static_assert(std::random_access_iterator<buffers_iterator<const_buffer>>);
static_assert(std::same_as<buffers_iterator<mutable_buffer>::reference, char&>);
static_assert(std::same_as<buffers_iterator<const_buffer, unsigned char>::reference, unsigned char const&>);

TEST(BuffersIterator, BytesOfSeveralBuffersFollowOneAnother) {
    std::string const a = "ab", b, c = "cde";
    std::array<const_buffer, 3> const all{buffer(a), buffer(b), buffer(c)};
    EXPECT_EQ(std::string(buffers_begin(all), buffers_end(all)), "abcde");
    EXPECT_EQ(buffers_end(all) - buffers_begin(all), 5);
}

TEST(BuffersIterator, StepsAndJumpsAgreeInBothDirections) {
    std::string const a = "ab", b = "c", c, d = "def";
    std::vector<const_buffer> const all{buffer(c), buffer(a), buffer(b), buffer(c), buffer(d), buffer(c)};
    std::string const text = "abcdef";
    auto const begin = buffers_begin(all);
    auto forward = begin;
    for (std::ptrdiff_t i = 0; i != 6; ++i, ++forward) {
        EXPECT_EQ(*forward, text[static_cast<std::size_t>(i)]);
        EXPECT_EQ(forward, begin + i);
        EXPECT_EQ(begin[i], text[static_cast<std::size_t>(i)]);
        for (std::ptrdiff_t j = 0; j != 6; ++j)
            EXPECT_EQ(*(forward + (j - i)), text[static_cast<std::size_t>(j)]) << i << " to " << j;
    }
    EXPECT_EQ(forward, buffers_end(all));
    for (auto i = text.size(); i-- != 0;)
        EXPECT_EQ(*--forward, text[i]);
    EXPECT_EQ(forward, begin);
}

TEST(BuffersIterator, BytesOfAMutableBufferCanBeWritten) {
    std::string text = "abc";
    mutable_buffer const b = buffer(text);
    std::reverse(buffers_begin(b), buffers_end(b));
    EXPECT_EQ(text, "cba");
}

TEST(BuffersIterator, IteratorsOfASingleBufferHoldIt) {
    std::string const text = "abc";
    auto const begin = buffers_begin(const_buffer(buffer(text)));
    auto const end = buffers_end(const_buffer(buffer(text)));
    EXPECT_EQ(std::string(begin, end), "abc");
    EXPECT_LT(begin, end);
}

TEST(BuffersIterator, EmptySequenceHasNoBytes) {
    std::vector<const_buffer> const none;
    EXPECT_EQ(buffers_begin(none), buffers_end(none));
    EXPECT_EQ(buffers_begin(const_buffer()), buffers_end(const_buffer()));
}

} // namespace
} // namespace fairlead
