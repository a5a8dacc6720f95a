#include <tls/lent_memory.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <set>
#include <vector>

namespace {

namespace tls = fairlead::ssl::impl;

/// A block as large as one of a lent_memory.
struct in_between {
    std::vector<std::byte> bytes = std::vector<std::byte>(tls::lent_memory::capacity + 2 * sizeof(std::size_t));
};

TEST(LentMemory, TheThreadKeepsWhatWasGivenBackLast) {
    tls::lent_memory used, unused;
    ASSERT_TRUE(used.borrow());
    auto const* const bytes = used.data();
    used.give_back();
    unused.give_back();     // It has none: a stream gives back the memory of both its directions.
    in_between const other; // Of memory that went back to the heap this would be the place.
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
        in_between const others[tls::spare_memory::most];
        for (auto& each : all) {
            ASSERT_TRUE(each.borrow());
            EXPECT_TRUE(had.contains(each.data())) << "memory that nobody has given back";
        }
    }
}

} // namespace
