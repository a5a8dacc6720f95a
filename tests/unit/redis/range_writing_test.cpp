// Names of keys beside others.
#include <gtest/gtest.h>

#include <redis/range_writing.hpp>

namespace fairlead::redis {
namespace {

TEST(RangeWriting, AKeyBesideIsInTheSlotOfTheKey) {
    using impl::name_beside;
    EXPECT_EQ(name_beside("film", 35), "{film}:being-written:z");
    EXPECT_EQ(name_beside("film", 36), "{film}:being-written:10");
    EXPECT_EQ(name_beside("{user:7}:film", 1), "{user:7}:film:being-written:1");
    EXPECT_EQ(name_beside("a{b}{c}", 1), "a{b}{c}:being-written:1");
    EXPECT_EQ(name_beside("film{", 1), "{film{}:being-written:1") << "the tag ends with the first brace behind it";
}

TEST(RangeWriting, AKeyWithABraceAndWithoutATagHasNoOtherNameInItsSlot) {
    using impl::name_beside;
    EXPECT_EQ(name_beside("{}film", 1), "{}film:being-written:1");
    EXPECT_EQ(name_beside("film}", 1), "film}:being-written:1");
    EXPECT_EQ(name_beside("", 1), ":being-written:1");
}

} // namespace
} // namespace fairlead::redis
