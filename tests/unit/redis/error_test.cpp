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

TEST(RedisErrors, P16_RefusalsHaveKinds) {
    using fairlead::redis::impl::refusal_of;
    EXPECT_EQ(refusal_of("LOADING Redis is loading the dataset in memory"), error::loading);
    EXPECT_EQ(refusal_of("BUSY Redis is busy running a script."), error::busy);
    EXPECT_EQ(refusal_of("MASTERDOWN Link with MASTER is down"), error::master_down);
    EXPECT_EQ(refusal_of("READONLY You can't write against a read only replica."), error::read_only);
    EXPECT_EQ(refusal_of("NOAUTH Authentication required."), error::not_authenticated);
    EXPECT_EQ(refusal_of("OOM command not allowed when used memory > 'maxmemory'."), error::out_of_memory);
    EXPECT_EQ(refusal_of("NOREPLICAS Not enough good replicas to write."), error::too_few_replicas);
    EXPECT_EQ(refusal_of("TRYAGAIN Multiple keys request during rehashing of slot"), error::try_again);
    EXPECT_EQ(refusal_of("CLUSTERDOWN The cluster is down"), error::cluster_down);
    EXPECT_EQ(refusal_of("NOSCRIPT"), error::no_script);
    EXPECT_EQ(refusal_of("WRONGPASS invalid username-password pair or user is disabled."), error::wrong_password);
    for (auto const* const unknown : {"ERR unknown command", "BUSYBODY", "", "loading"})
        EXPECT_EQ(refusal_of(unknown), error::server_error) << unknown;
    for (auto const e : {error::server_error, error::wrong_type, error::wrong_password})
        EXPECT_EQ(error_code(e), condition::refused_by_server);
    EXPECT_NE(error_code(error::no_answer_in_time), condition::refused_by_server);
    EXPECT_NE(error_code(fairlead::error::eof), condition::refused_by_server);
}

} // namespace
