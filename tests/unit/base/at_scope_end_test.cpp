#include <fairlead/base/at_scope_end.hpp>

#include <gtest/gtest.h>

#include <stdexcept>

namespace {

using fairlead::impl::base::at_scope_end;

TEST(AtScopeEnd, CallsOnceHoweverTheBlockIsLeft) {
    int calls = 0;
    {
        at_scope_end const end([&calls] { ++calls; });
        EXPECT_EQ(calls, 0);
    }
    EXPECT_EQ(calls, 1);
    auto const throws = [&calls] {
        at_scope_end const end([&calls] { ++calls; });
        throw std::runtime_error("leaves it");
    };
    EXPECT_THROW(throws(), std::runtime_error);
    EXPECT_EQ(calls, 2);
}

} // namespace
