#include <fairlead/resp3/node.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string_view>

namespace {

using fairlead::resp3::is_aggregate;
using fairlead::resp3::is_error;
using fairlead::resp3::to_string;
using fairlead::resp3::type;

constexpr std::string_view type_bytes = "+-:$!=_#,(*%~>|?;.";

TEST(Resp3Node, EveryTypeHasANameOfItsOwn) {
    std::set<std::string_view> names;
    for (char const c : type_bytes)
        names.insert(to_string(static_cast<type>(c)));
    EXPECT_EQ(names.size(), type_bytes.size());
    EXPECT_FALSE(names.contains("unknown"));
}

TEST(Resp3Node, AByteThatIsNoTypeIsNamedUnknown) {
    for (int byte = 0; byte != 256; ++byte)
        if (type_bytes.find(static_cast<char>(byte)) == std::string_view::npos) {
            EXPECT_EQ(to_string(static_cast<type>(byte)), "unknown") << byte;
        }
}

TEST(Resp3Node, OnlyKindsWithChildrenAreAggregates) {
    for (char const c : type_bytes)
        EXPECT_EQ(is_aggregate(static_cast<type>(c)), std::string_view("*%~>|?").find(c) != std::string_view::npos)
            << c;
}

TEST(Resp3Node, BothErrorKindsAreErrors) {
    for (char const c : type_bytes)
        EXPECT_EQ(is_error(static_cast<type>(c)), c == '-' || c == '!') << c;
}

} // namespace
