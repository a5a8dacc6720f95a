#include <fairlead/base/buffer_literals.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <type_traits>

namespace {

using namespace fairlead::buffer_literals;
using fairlead::const_buffer;
using namespace std::string_view_literals;

std::string_view bytes_of(const_buffer b) { return {static_cast<char const*>(b.data()), b.size()}; }

TEST(BufferLiterals, OfTextHaveNoFinalNul) {
    EXPECT_EQ(bytes_of(""_buf), "");
    EXPECT_EQ(bytes_of("hello"_buf), "hello");
    EXPECT_EQ(bytes_of("a\0b"_buf), "a\0b"sv);
    static_assert(std::is_same_v<decltype("x"_buf), const_buffer>);
}

TEST(BufferLiterals, OfDigitsHaveTheFirstOnesFirst) {
    EXPECT_EQ(bytes_of(0x00_buf), "\0"sv);
    EXPECT_EQ(bytes_of(0XaBcD_buf), "\xab\xcd");
    EXPECT_EQ(bytes_of(0x0123456789abcdefABCDEF0123456789deadbeef_buf),
              "\x01\x23\x45\x67\x89\xab\xcd\xef\xAB\xCD\xEF\x01\x23\x45\x67\x89\xde\xad\xbe\xef");
    EXPECT_EQ(bytes_of(0b0000'0001_buf), "\x01");
    EXPECT_EQ(bytes_of(0B1111000000001111_buf), "\xF0\x0F");
    EXPECT_EQ(bytes_of(0xde'ad_buf), "\xde\xad");
    EXPECT_EQ(bytes_of(0xbb_buf), "\xbb") << "where b is a digit";
    static_assert((0xdead_buf).size() == 2);
}

TEST(BufferLiterals, OfTheSameDigitsAreTheSameMemory) { EXPECT_EQ((0xbeef_buf).data(), (0xbeef_buf).data()); }

} // namespace
