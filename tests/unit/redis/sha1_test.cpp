#include <redis/sha1.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace fairlead::test {
namespace {

std::string sha1_text(std::string_view text) {
    auto const digits = redis::impl::sha1_of(text);
    return {digits.begin(), digits.end()};
}

} // namespace

TEST(Sha1, DigestsAreThoseOfRfc3174) {
    EXPECT_EQ(sha1_text("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
    EXPECT_EQ(sha1_text("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
    EXPECT_EQ(sha1_text(std::string(1'000'000, 'a')), "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
    std::string often;
    for (int i = 0; i != 10; ++i)
        often += "0123456701234567012345670123456701234567012345670123456701234567";
    EXPECT_EQ(sha1_text(often), "dea356a2cddd90c7a7ecedc5ebb563934f460452");
}

TEST(Sha1, TextsAroundTheEndOfABlockHaveTheirDigests) {
    EXPECT_EQ(sha1_text(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    EXPECT_EQ(sha1_text(std::string(55, 'a')), "c1c8bbdc22796e28c0e15163d20899b65621d65a");
    EXPECT_EQ(sha1_text(std::string(56, 'a')), "c2db330f6083854c99d4b5bfb6e8f29f201be699");
    EXPECT_EQ(sha1_text(std::string(63, 'a')), "03f09f5b158a7a8cdad920bddc29b81c18a551f5");
    EXPECT_EQ(sha1_text(std::string(64, 'a')), "0098ba824b5c16427bd7a1122a5a442a25ec644d");
    EXPECT_EQ(sha1_text(std::string(119, 'a')), "ee971065aaa017e0632a8ca6c77bb3bf8b1dfc56");
}

} // namespace fairlead::test
