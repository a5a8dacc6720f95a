// That what counting_new.cpp replaces counts.
#include <support/counting_new.hpp>

#include <gtest/gtest.h>

#include <memory>

namespace {

class CountingNew : public testing::Test {
    void SetUp() override {
        if (!fairlead::test::is_new_counted())
            GTEST_SKIP() << "operator new cannot be replaced in this build";
    }
};

TEST_F(CountingNew, CountsCallsAndBytesOfThisThread) {
    fairlead::test::new_counter const counter;
    auto const p = std::make_unique<char[]>(100);
    EXPECT_EQ(counter.calls(), 1U);
    EXPECT_EQ(counter.bytes(), 100U);
    ASSERT_NE(p, nullptr);
}

TEST_F(CountingNew, AlignedBlocksAreAligned) {
    struct alignas(128) wide {
        char c[128];
    };
    fairlead::test::new_counter const counter;
    auto const p = std::make_unique<wide>();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p.get()) % 128, 0U);
    EXPECT_EQ(counter.calls(), 1U);
}

} // namespace
