#include <tls/lent_memory.hpp>

#include <gtest/gtest.h>

namespace {

namespace tls = fairlead::ssl::impl;

TEST(LentMemory, TheThreadKeepsWhatWasGivenBackLast) {
    tls::lent_memory used, unused;
    ASSERT_TRUE(used.borrow());
    auto const* const bytes = used.data();
    used.give_back();
    unused.give_back(); // It has none: a stream gives back the memory of both its directions.
    EXPECT_EQ(tls::spare.bytes, bytes);
    ASSERT_TRUE(unused.borrow());
    EXPECT_EQ(unused.data(), bytes);
}

} // namespace
