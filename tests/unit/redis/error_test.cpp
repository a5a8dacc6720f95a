#include <fairlead/redis/error.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace {

using fairlead::error_code;
using fairlead::redis::condition;
using fairlead::redis::error;

TEST(RedisError, ItsCategoriesAreNamedAfterTheRoom) {
    EXPECT_STREQ(fairlead::redis::get_error_category().name(), "fairlead.redis");
    EXPECT_STREQ(fairlead::redis::get_condition_category().name(), "fairlead.redis.condition");
}

TEST(RedisError, AnUnknownValueStillHasAMessage) {
    EXPECT_EQ(error_code(999, fairlead::redis::get_error_category()).message(), "fairlead.redis error 999");
    EXPECT_EQ(fairlead::redis::get_condition_category().message(999), "fairlead.redis.condition 999");
}

TEST(RedisError, ConditionsHaveSentencesAndNoErrorIsBoth) {
    auto const& category = fairlead::redis::get_condition_category();
    std::set<std::string> sentences;
    for (auto const c : {condition::not_executed, condition::protocol_error})
        sentences.insert(category.message(static_cast<int>(c)));
    EXPECT_EQ(sentences.size(), 2U);
    error_code const executed = error::maybe_executed, unexpected = error::unexpected_reply;
    EXPECT_NE(executed, condition::not_executed);
    EXPECT_NE(executed, condition::protocol_error);
    EXPECT_EQ(unexpected, condition::protocol_error);
    EXPECT_NE(unexpected, condition::not_executed);
    EXPECT_FALSE(category.equivalent(unexpected, 999)) << "no error belongs to a condition that is none";
}

} // namespace
