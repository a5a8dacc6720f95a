// That what counting_new.cpp replaces counts.
#include <support/counting_new.hpp>

#include <gtest/gtest.h>

#include <cstdint>

namespace {

class CountingNew : public testing::Test {
    void SetUp() override {
        if (!fairlead::test::is_new_counted())
            GTEST_SKIP() << "operator new cannot be replaced in this build";
    }
};

TEST_F(CountingNew, CountsCallsAndBytesOfThisThread) {
    fairlead::test::new_counter const counter;
    char* const volatile p = new char[100]; // volatile: a block that nobody looks at need not be asked for
    auto const calls = counter.calls(), bytes = counter.bytes();
    delete[] p;
    EXPECT_EQ(calls, 1U);
    EXPECT_EQ(bytes, 100U);
}

TEST_F(CountingNew, AlignedBlocksAreAligned) {
    struct alignas(128) wide {
        char c[128];
    };
    fairlead::test::new_counter const counter;
    wide* const volatile p = new wide;
    auto const calls = counter.calls();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % 128, 0U);
    delete p;
    EXPECT_EQ(calls, 1U);
}

} // namespace
