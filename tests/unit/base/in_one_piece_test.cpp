#include <fairlead/base/in_one_piece.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace {

using fairlead::impl::base::optional_in_one_piece;

struct two_numbers {
    int a, b;
};

TEST(InOnePiece, AnOptionalHasItsValue) {
    long n = -7;
    EXPECT_EQ(optional_in_one_piece(std::move(n)), -7);
    double d = 0.25;
    EXPECT_EQ(optional_in_one_piece(std::move(d)), 0.25);
    long zero = 0;
    auto const there = optional_in_one_piece(std::move(zero));
    EXPECT_TRUE(there.has_value());
    EXPECT_EQ(*there, 0);
    auto both = optional_in_one_piece(two_numbers{1, 2});
    EXPECT_EQ(both->a, 1);
    EXPECT_EQ(both->b, 2);
    both.reset();
    EXPECT_FALSE(both.has_value());
    int* nowhere = nullptr;
    EXPECT_EQ(optional_in_one_piece(std::move(nowhere)), nullptr);
    EXPECT_EQ(**optional_in_one_piece(std::make_unique<int>(3)), 3);
    EXPECT_EQ(optional_in_one_piece(std::string("text")), "text");
    EXPECT_EQ(optional_in_one_piece('c'), 'c');
}

} // namespace
