#include <fairlead/base/in_one_piece.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

namespace {

using fairlead::impl::base::optional_in_one_piece;

struct two_numbers {
    alignas(long) int a;
    int b;
};

#if !FAIRLEAD_COMPILER_CLANG && defined(__GLIBCXX__)

template <class T> std::optional<T> written(T value) {
    optional_in_one_piece<T> place;
    place.put(value);
    return place.get();
}

TEST(InOnePiece, AnOptionalHasItsValue) {
    EXPECT_EQ(written(-7L), -7);
    EXPECT_EQ(written(0.25), 0.25);
    auto const there = written(0L);
    EXPECT_TRUE(there.has_value());
    EXPECT_EQ(*there, 0);
    auto both = written(two_numbers{1, 2});
    EXPECT_EQ(both->a, 1);
    EXPECT_EQ(both->b, 2);
    both.reset();
    EXPECT_FALSE(both.has_value());
    int* nowhere = nullptr;
    EXPECT_EQ(written(nowhere), nullptr);
}

#endif

TEST(InOnePiece, IsForWhatFitsIntoAVectorOnly) {
    using fairlead::impl::base::optional_is_a_vector;
    EXPECT_FALSE(optional_is_a_vector<std::unique_ptr<int>>);
    EXPECT_FALSE(optional_is_a_vector<std::string>);
    EXPECT_FALSE(optional_is_a_vector<char>);
}

} // namespace
