#include <fairlead/resp3/error.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

namespace {

using fairlead::error_code;
using fairlead::resp3::error;
using fairlead::resp3::printable;

TEST(Resp3Error, EveryValueHasASentenceOfItsOwnThatSaysWhatToDo) {
    std::set<std::string> sentences;
    int const last = static_cast<int>(error::out_of_range);
    for (int value = 1; value <= last; ++value) {
        std::string const sentence = error_code(static_cast<error>(value)).message();
        EXPECT_NE(sentence.find(": "), std::string::npos) << sentence;
        sentences.insert(sentence);
    }
    EXPECT_EQ(sentences.size(), static_cast<std::size_t>(last));
}

TEST(Resp3Error, ItsCategoryIsNamedAfterTheRoom) {
    error_code const ec = error::too_deep;
    EXPECT_STREQ(ec.category().name(), "fairlead.resp3");
    EXPECT_EQ(ec, error::too_deep);
    EXPECT_NE(ec, error::bad_length);
}

TEST(Resp3Error, AnUnknownValueStillHasAMessage) {
    EXPECT_EQ(error_code(999, fairlead::resp3::get_error_category()).message(), "fairlead.resp3 error 999");
}

TEST(Resp3Printable, KeepsPrintableTextAndEscapesTheRest) {
    using namespace std::string_view_literals;
    EXPECT_EQ(printable("+OK\r\n"), R"(+OK\r\n)");
    EXPECT_EQ(printable("\x16\x03\x01\0\\\xff\x7f"sv), R"(\x16\x03\x01\x00\\\xff\x7f)");
    EXPECT_EQ(printable(""), "");
}

TEST(Resp3Printable, CutsWhatIsLongerThanTheLimit) {
    EXPECT_EQ(printable("abcd", 4), "abcd");
    EXPECT_EQ(printable("abcde", 4), "abcd...");
    EXPECT_EQ(printable("abc", 0), "...");
    EXPECT_EQ(printable(std::string(1000, '\x01')).size(), 4u * 64 + 3);
}

} // namespace
