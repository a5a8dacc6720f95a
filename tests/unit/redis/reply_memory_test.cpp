#include <fairlead/redis/cmd/strings.hpp>
#include <fairlead/redis/reply_memory.hpp>
#include <support/redis_command.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <string>

namespace fairlead::test {

namespace cmd = redis::cmd;

TEST(RedisReplyMemory, HoldsATextThatFitsExactlyAndNoLongerOne) {
    char space[5] = {};
    redis::reply_memory value(space);
    EXPECT_FALSE(value.has_value());
    EXPECT_EQ(deliver_replies(value, "$5\r\nhello\r\n"), error_code());
    EXPECT_TRUE(value.has_value());
    EXPECT_EQ(value.text(), "hello");
    EXPECT_EQ(value.text().data(), space);

    EXPECT_EQ(deliver_replies(value, "$6\r\nhello!\r\n"), redis::error::memory_too_small);
    EXPECT_FALSE(value.has_value());
    EXPECT_EQ(value.size(), 6U);
    EXPECT_EQ(value.text(), "");
    EXPECT_EQ(std::string(space, 5), "hello") << "nothing was written";

    EXPECT_EQ(deliver_replies(value, "$0\r\n\r\n"), error_code());
    EXPECT_TRUE(value.has_value());
    EXPECT_EQ(deliver_replies(value, "_\r\n"), error_code());
    EXPECT_FALSE(value.has_value());
    EXPECT_EQ(value.size(), 0U);
    EXPECT_EQ(deliver_replies(value, "*0\r\n"), redis::error::incompatible_type);
    EXPECT_EQ(deliver_replies(value, "-WRONGTYPE no\r\n"), redis::error::wrong_type);
}

TEST(RedisReplyMemory, TakesBytes) {
    std::array<std::byte, 2> space{};
    redis::reply_memory value(std::span<std::byte>{space});
    EXPECT_EQ(deliver_replies(value, "$2\r\nAB\r\n"), error_code());
    EXPECT_EQ(space[1], std::byte{'B'});
}

TEST(RedisReplyMemory, GetIntoGivesTheSizeOfTheValue) {
    char space[5];
    auto const get = cmd::get_into("k", space);
    EXPECT_EQ(words_of(get), "GET k");
    EXPECT_EQ(result_of(get, "$2\r\nhi\r\n"), 2U);
    EXPECT_EQ(std::string_view(space, 2), "hi");
    EXPECT_EQ(result_of(get, "$-1\r\n"), std::nullopt);
    EXPECT_EQ(error_of_result(get, "$6\r\nhello!\r\n"), redis::error::memory_too_small);
}

} // namespace fairlead::test
