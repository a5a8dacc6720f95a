#include <tls/lent_memory.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <set>

namespace {

namespace tls = fairlead::ssl::impl;

TEST(LentMemory, TheThreadKeepsWhatWasGivenBackLast) {
    tls::lent_memory used, unused;
    ASSERT_TRUE(used.borrow());
    auto const* const bytes = used.data();
    used.give_back();
    unused.give_back(); // It has none: a stream gives back the memory of both its directions.
    ASSERT_TRUE(unused.borrow());
    EXPECT_EQ(unused.data(), bytes);
}

TEST(LentMemory, TheThreadKeepsAsManyAsTwoStreamsHaveAtOnce) {
    tls::lent_memory all[tls::spare_memory::most];
    std::set<std::byte const*> had;
    for (auto& each : all) {
        ASSERT_TRUE(each.borrow());
        had.insert(each.data());
    }
    for (int round = 0; round != 2; ++round) {
        for (auto& each : all)
            each.give_back();
        for (auto& each : all) {
            ASSERT_TRUE(each.borrow());
            EXPECT_TRUE(had.contains(each.data())) << "memory that nobody has given back";
        }
    }
}

} // namespace
