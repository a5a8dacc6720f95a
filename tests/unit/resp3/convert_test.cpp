#include <fairlead/resp3/convert.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>

namespace {

using fairlead::error_code;
using fairlead::resp3::error;
using fairlead::resp3::to_boolean;
using fairlead::resp3::to_integer;
using fairlead::resp3::to_real;

template <typename Integer> void expect_integer(std::string_view text, Integer value) {
    error_code ec = error::too_deep;
    EXPECT_EQ(to_integer<Integer>(text, ec), value) << text;
    EXPECT_FALSE(ec) << text;
}
template <typename Integer> void expect_no_integer(std::string_view text, error why) {
    error_code ec;
    EXPECT_EQ(to_integer<Integer>(text, ec), Integer{0}) << text;
    EXPECT_EQ(ec, why) << text;
}

TEST(Resp3Convert, IntegersReachBothEndsOfTheirType) {
    expect_integer<std::int64_t>("9223372036854775807", std::numeric_limits<std::int64_t>::max());
    expect_integer<std::int64_t>("-9223372036854775808", std::numeric_limits<std::int64_t>::min());
    expect_integer<std::uint64_t>("18446744073709551615", std::numeric_limits<std::uint64_t>::max());
    expect_integer<int>("+12", 12);
    expect_integer<signed char>("-128", static_cast<signed char>(-128));
    expect_integer<int>("0", 0);
}

TEST(Resp3Convert, IntegersOneBeyondAreOutOfRange) {
    expect_no_integer<std::int64_t>("9223372036854775808", error::out_of_range);
    expect_no_integer<std::int64_t>("-9223372036854775809", error::out_of_range);
    expect_no_integer<std::uint64_t>("18446744073709551616", error::out_of_range);
    expect_no_integer<unsigned char>("256", error::out_of_range);
    expect_no_integer<int>("99999999999999999999999999999", error::out_of_range);
}

TEST(Resp3Convert, OtherTextIsNoInteger) {
    for (std::string_view const text : {"", "-", "+", "+-1", "--1", " 1", "1 ", "1.0", "0x10", "t", "1\r\n"})
        expect_no_integer<std::int64_t>(text, error::not_an_integer);
    expect_no_integer<unsigned>("-1", error::not_an_integer);
}

TEST(Resp3Convert, RealsAreReadWithTheirSpecialValues) {
    error_code ec;
    EXPECT_EQ(to_real("1.5", ec), 1.5);
    EXPECT_EQ(to_real("-1e-3", ec), -1e-3);
    EXPECT_EQ(to_real("+10", ec), 10);
    EXPECT_EQ(to_real("inf", ec), std::numeric_limits<double>::infinity());
    EXPECT_EQ(to_real("-inf", ec), -std::numeric_limits<double>::infinity());
    EXPECT_TRUE(std::isnan(to_real("nan", ec)));
    EXPECT_TRUE(std::isnan(to_real("-nan", ec)));
    EXPECT_FALSE(ec);
}

TEST(Resp3Convert, RealsThatDoNotFitOrAreNoneSaySo) {
    error_code ec;
    EXPECT_EQ(to_real("1e999", ec), 0);
    EXPECT_EQ(ec, error::out_of_range);
    for (std::string_view const text : {"", "+-1", "1,5", "1e", "one", "1.5 "}) {
        EXPECT_EQ(to_real(text, ec), 0) << text;
        EXPECT_EQ(ec, error::not_a_real) << text;
    }
}

TEST(Resp3Convert, BooleansAreThoseOfBothVersions) {
    error_code ec;
    EXPECT_TRUE(to_boolean("t", ec));
    EXPECT_TRUE(to_boolean("1", ec));
    EXPECT_FALSE(to_boolean("f", ec));
    EXPECT_FALSE(to_boolean("0", ec));
    EXPECT_FALSE(ec);
    for (std::string_view const text : {"", "T", "true", "2", "t "}) {
        EXPECT_FALSE(to_boolean(text, ec)) << text;
        EXPECT_EQ(ec, error::not_a_boolean) << text;
    }
    EXPECT_TRUE(to_boolean("t", ec));
    EXPECT_FALSE(ec); // an old error does not stay
}

} // namespace
