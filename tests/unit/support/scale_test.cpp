#include <support/scale.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace {

using fairlead::test::scaled;

/// Sets the variable for one test and gives back what was there.
class Scale : public testing::Test {
protected:
    Scale() {
        if (char const* text = std::getenv(name))
            before_ = text;
    }
    ~Scale() override {
        if (before_.empty())
            ::unsetenv(name);
        else
            ::setenv(name, before_.c_str(), 1);
    }
    static void set(char const* text) { ::setenv(name, text, 1); }

    static constexpr char const* name = "FAIRLEAD_TEST_SCALE";

private:
    std::string before_;
};

TEST_F(Scale, UnsetMeansFull) {
    ::unsetenv(name);
    EXPECT_EQ(scaled(1000, 10), 1000u);
}

TEST_F(Scale, FractionShrinksButNotBelowTheLeast) {
    set("0.05");
    EXPECT_EQ(scaled(1000, 10), 50u);
    EXPECT_EQ(scaled(100, 10), 10u);
}

TEST_F(Scale, AboveOneEnlarges) {
    set("20");
    EXPECT_EQ(scaled(1000, 10), 20'000u);
}

TEST_F(Scale, WhatIsNoPositiveNumberMeansFull) {
    for (char const* text : {"", "0", "-1", "nan", "many"}) {
        set(text);
        EXPECT_EQ(scaled(1000, 10), 1000u) << text;
    }
}

} // namespace
