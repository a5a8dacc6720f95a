#include <fairlead/redis/cmd/hashes.hpp>
#include <fairlead/redis/cmd/pubsub.hpp>
#include <fairlead/redis/cmd/strings.hpp>
#include <fairlead/redis/command.hpp>
#include <support/redis_command.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace fairlead::test {

namespace cmd = redis::cmd;

namespace {

struct price {
    long cents = 0;
};
error_code from_reply(redis::reply_reader& in, price& p) { return in.read(p.cents); }

template <class Result, class Command> constexpr bool gives = std::is_same_v<typename Command::result_type, Result>;

} // namespace

TEST(RedisCommand, KeysAndValuesMayBeOfAnyTypeThatIsText) {
    std::string const text = "a b";
    std::string_view const part(text.data(), 1);
    std::array const bytes{std::byte{'x'}, std::byte{0}, std::byte{'y'}};
    EXPECT_EQ(words_of(cmd::set(text, part)), "SET a b a");
    EXPECT_EQ(words_of(cmd::set("k", -7)), "SET k -7");
    EXPECT_EQ(words_of(cmd::set("k", UINT64_MAX)), "SET k 18446744073709551615");
    EXPECT_EQ(words_of(cmd::set("k", INT64_MIN)), "SET k -9223372036854775808");
    EXPECT_EQ(words_of(cmd::set("k", 0.1)), "SET k 0.1");
    EXPECT_EQ(words_of(cmd::set("k", 0.1F)), "SET k 0.1");
    EXPECT_EQ(words_of(cmd::set("k", 2.5L)), "SET k 2.5");
    EXPECT_EQ(words_of(cmd::set("k", "")), "SET k ");
    EXPECT_EQ(words_of(cmd::set("k", std::span<std::byte const>(bytes))), std::string("SET k x\0y", 9));
    EXPECT_EQ(words_of(cmd::set(std::vector<std::byte>(bytes.begin(), bytes.end()), bytes)),
              std::string("SET x\0y x\0y", 11));
}

TEST(RedisCommand, ListsMayBeInBracesOrAnyRange) {
    EXPECT_EQ(words_of(cmd::mget("a")), "MGET a");
    EXPECT_EQ(words_of(cmd::mget(std::string("a"))), "MGET a");
    EXPECT_EQ(words_of(cmd::mget({"a"})), "MGET a");
    EXPECT_EQ(words_of(cmd::mget({"a", "b"})), "MGET a b");
    EXPECT_EQ(words_of(cmd::mget({std::string("a"), std::string("b"), std::string("c")})), "MGET a b c");
    EXPECT_EQ(words_of(cmd::mget(std::vector<std::string>{"a", "b"})), "MGET a b");
    EXPECT_EQ(words_of(cmd::mget(std::set<std::string>{"b", "a"})), "MGET a b");
    EXPECT_EQ(words_of(cmd::mget(std::vector<std::string>{})), "MGET");
    EXPECT_EQ(words_of(cmd::hdel("k", {1, "two", 3.5})), "HDEL k 1 two 3.5");
    EXPECT_EQ(words_of(cmd::hdel("k", std::vector<int>{1, 2})), "HDEL k 1 2");
    EXPECT_EQ(words_of(cmd::hdel("k", 7)), "HDEL k 7");
}

TEST(RedisCommand, PairsMayBeInBracesOrAMap) {
    EXPECT_EQ(words_of(cmd::mset({{"a", 1}})), "MSET a 1");
    EXPECT_EQ(words_of(cmd::mset({{"a", "b"}})), "MSET a b");
    EXPECT_EQ(words_of(cmd::mset({{"a", 1}, {"b", "x"}})), "MSET a 1 b x");
    EXPECT_EQ(words_of(cmd::mset(std::map<std::string, double>{{"a", 1.5}, {"b", 2}})), "MSET a 1.5 b 2");
    std::vector<std::pair<std::string, std::string>> const pairs{{"b", "1"}, {"a", "2"}};
    EXPECT_EQ(words_of(cmd::mset(pairs)), "MSET b 1 a 2");
}

TEST(RedisCommand, KeepsNothingOfItsArguments) {
    auto key = std::make_unique<std::string>(100, 'k');
    auto const get = cmd::get(*key);
    key.reset();
    EXPECT_EQ(words_of(get), "GET " + std::string(100, 'k'));
}

TEST(RedisCommand, ReadsItsReplyIntoTheTypeThatIsAskedFor) {
    static_assert(gives<std::optional<std::string>, decltype(cmd::get("k"))>);
    static_assert(gives<std::optional<long>, decltype(cmd::get<long>("k"))>);
    EXPECT_EQ(result_of(cmd::get("k"), "$1\r\nv\r\n"), "v");
    EXPECT_EQ(result_of(cmd::get("k"), "_\r\n"), std::nullopt);
    EXPECT_EQ(result_of(cmd::get("k"), "$-1\r\n"), std::nullopt);
    EXPECT_EQ(result_of(cmd::get<long>("k"), "$2\r\n42\r\n"), 42);
    EXPECT_EQ(result_of(cmd::get<price>("k"), "$2\r\n42\r\n")->cents, 42);
    EXPECT_EQ(error_of_result(cmd::get<long>("k"), "$1\r\nx\r\n"), resp3::error::not_an_integer);
    EXPECT_EQ(error_of_result(cmd::get("k"), "-WRONGTYPE no\r\n"), redis::error::wrong_type);
}

TEST(RedisCommand, ReadsItsReplyIntoAnotherTypeOnRequest) {
    EXPECT_EQ(result_of(cmd::get("k").as<std::string>(), "$1\r\nv\r\n"), "v");
    auto const sorted = cmd::mget({"b", "a"}).as<std::set<std::string>>();
    EXPECT_EQ(words_of(sorted), "MGET b a");
    EXPECT_EQ(result_of(sorted, "*2\r\n$1\r\ny\r\n$1\r\nx\r\n"), (std::set<std::string>{"x", "y"}));
    EXPECT_EQ(result_of(cmd::set("k", 1).as<std::string>(), "+OK\r\n"), "OK");
}

TEST(RedisCommand, AnyOtherCommandHasAResultType) {
    auto const add = redis::make_command<long>("CF.ADD", {"filter", 7});
    EXPECT_EQ(words_of(add), "CF.ADD filter 7");
    EXPECT_EQ(result_of(add, ":1\r\n"), 1);
    EXPECT_EQ(error_of_result(redis::make_command("DEBUG", {"JMAP"}), "-ERR no\r\n"), redis::error::server_error);
}

TEST(RedisCommand, TheRequestKnowsWhatTheCommandDoesToItsConnection) {
    EXPECT_EQ(redis::make_command("MONITOR", {}).req().fit(), redis::request::fitness::never);
    EXPECT_EQ(redis::make_command("client", {"reply", "OFF"}).req().refused(), "CLIENT REPLY");
    EXPECT_EQ(cmd::get("k").req().fit(), redis::request::fitness::shared);
}

TEST(RedisCommand, ASubscriptionHasNoReply) {
    auto const news = cmd::subscribe({"a", "b"});
    EXPECT_EQ(news.req().expected_replies(), 0U);
    EXPECT_TRUE(news.req().has_subscriptions());
    auto response = news.response();
    EXPECT_EQ(redis::impl::refer_to(response).replies, redis::impl::response_ref::any_number);
}

TEST(RedisCommand, APipelineHasAResultOfEachCommand) {
    auto const both = redis::pipeline(cmd::set("a", 1), cmd::get<long>("b"), cmd::incr("c"));
    EXPECT_EQ(words_of(both), "SET a 1; GET b; INCR c");
    auto const [done, value, n] = result_of(both, "+OK\r\n$1\r\n7\r\n-WRONGTYPE it is a list\r\n");
    EXPECT_TRUE(done.value());
    EXPECT_EQ(value.value(), 7);
    EXPECT_EQ(n.error_text(), "WRONGTYPE it is a list");
    EXPECT_EQ(n.code(), redis::error::wrong_type);
    EXPECT_THROW(n.value(), system_error);
}

TEST(RedisCommand, DurationsAndBytesAreResults) {
    using std::chrono::seconds;
    EXPECT_EQ(result_of(cmd::get<seconds>("a"), "$2\r\n90\r\n"), seconds(90));
    EXPECT_EQ(result_of(redis::make_command<seconds>("TTL", "a"), ":7\r\n"), seconds(7));
    EXPECT_EQ(result_of(cmd::get<std::vector<std::byte>>("a"), "$2\r\n\x01\x02\r\n"),
              (std::vector{std::byte(1), std::byte(2)}));
    auto const two = result_of(cmd::get<std::array<std::byte, 2>>("a"), "$2\r\n\x01\x02\r\n");
    EXPECT_EQ(two, (std::array{std::byte(1), std::byte(2)}));
    EXPECT_EQ(error_of_result(cmd::get<std::array<std::byte, 2>>("a"), "$3\r\nabc\r\n"),
              redis::error::incompatible_type);
}

TEST(RedisCommand, APipelineReadsTheOthersWhenOneDoesNotFit) {
    auto const both = redis::pipeline(cmd::get<long>("a"), cmd::get<long>("b"));
    auto response = both.response();
    EXPECT_EQ(std::get<0>(response.value()).code(), redis::error::no_reply);
    EXPECT_FALSE(deliver_replies(response, "$1\r\nx\r\n$1\r\n2\r\n")) << "the answer of the second would be lost";
    auto const& [unfit, fits] = response.value();
    EXPECT_FALSE(unfit);
    EXPECT_EQ(unfit.code(), resp3::error::not_an_integer);
    EXPECT_FALSE(unfit.has_error());
    try {
        (void)unfit.value();
        ADD_FAILURE() << "it has no value";
    } catch (system_error const& e) {
        EXPECT_EQ(e.code(), resp3::error::not_an_integer);
    }
    EXPECT_FALSE(fits.code());
    EXPECT_EQ(fits.value(), 2);
}

TEST(RedisCommand, AResponseThatIsUsedAgainForgetsTheLastReplies) {
    auto const both = redis::pipeline(cmd::incr("a"), cmd::incr("b"));
    auto response = both.response();
    deliver_replies(response, ":1\r\n:2\r\n");
    redis::impl::refer_to(response);
    EXPECT_FALSE(std::get<0>(response.value()));
    EXPECT_FALSE(std::get<1>(response.value()));
}

TEST(RedisCommand, APipelineKeepsTheEffectsOfItsCommands) {
    auto const both = redis::pipeline(cmd::incr("a"), redis::make_command("SELECT", 3));
    EXPECT_EQ(both.req().fit(), redis::request::fitness::dedicated);
    EXPECT_EQ(both.req().refused(), "SELECT");
    EXPECT_EQ(both.req().expected_replies(), 2U);
}

TEST(RedisCommand, ATransactionStandsBetweenMultiAndExec) {
    auto const both = redis::transaction(cmd::incr("a"), cmd::get("b"));
    EXPECT_EQ(words_of(both), "MULTI; INCR a; GET b; EXEC");
    EXPECT_EQ(both.req().expected_replies(), 4U);
    EXPECT_EQ(both.req().fit(), redis::request::fitness::shared);
}

TEST(RedisCommand, ATransactionHasTheResultsOfExec) {
    auto const both = redis::transaction(cmd::incr("a"), cmd::set("b", 1), cmd::hgetall("c"));
    auto outcome = result_of(both, "+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n"
                                   "*3\r\n:5\r\n+OK\r\n%1\r\n+f\r\n+v\r\n");
    ASSERT_TRUE(outcome);
    auto& [n, done, fields] = *outcome;
    EXPECT_EQ(n.value(), 5);
    EXPECT_TRUE(done.value());
    EXPECT_EQ(fields.value(), (std::map<std::string, std::string>{{"f", "v"}}));
}

TEST(RedisCommand, ACommandThatFailsInATransactionHasItsOwnError) {
    auto const both = redis::transaction(cmd::incr("a"), cmd::incr("b"));
    auto outcome = result_of(both, "+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n-WRONGTYPE it is a list\r\n:2\r\n");
    ASSERT_TRUE(outcome.has_value());
    EXPECT_EQ(std::get<0>(*outcome).error_text(), "WRONGTYPE it is a list");
    EXPECT_EQ(std::get<1>(outcome.value()).value(), 2);
}

TEST(RedisCommand, AResultInATransactionThatDoesNotFitLeavesTheOthersAlone) {
    auto const both = redis::transaction(cmd::get<long>("a"), cmd::incr("b"));
    auto response = both.response();
    EXPECT_FALSE(deliver_replies(response, "+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n*2\r\n:1\r\n:2\r\n:3\r\n"));
    ASSERT_TRUE(response.value());
    EXPECT_EQ(std::get<0>(*response.value()).code(), redis::error::incompatible_type);
    EXPECT_EQ(std::get<1>(*response.value()).value(), 3);
}

TEST(RedisCommand, ATransactionIsEmptyWhenAWatchedKeyHadChanged) {
    auto const one = redis::transaction(cmd::incr("a"));
    for (auto const* null : {"_\r\n", "*-1\r\n"}) {
        auto outcome = result_of(one, std::string("+OK\r\n+QUEUED\r\n") + null);
        EXPECT_FALSE(outcome) << null;
        EXPECT_THROW(outcome.value(), system_error);
    }
}

TEST(RedisCommand, ARefusedTransactionIsAnErrorAndNoConflict) {
    auto const both = redis::transaction(cmd::incr("a"), cmd::incr("b"));
    auto response = both.response();
    EXPECT_EQ(deliver_replies(response, "+OK\r\n+QUEUED\r\n-OOM no\r\n-EXECABORT discarded\r\n"),
              redis::error::out_of_memory);
    EXPECT_FALSE(response.value());
    EXPECT_EQ(std::get<1>(*response.value()).error_text(), "OOM no");
    EXPECT_FALSE(std::get<0>(*response.value()).has_error());
    EXPECT_EQ(error_of_result(both, "+OK\r\n+QUEUED\r\n+QUEUED\r\n-MISCONF no\r\n"), redis::error::misconfigured)
        << "EXEC alone was refused";
}

TEST(RedisCommand, ATransactionWithAnotherNumberOfResultsDoesNotFit) {
    EXPECT_EQ(error_of_result(redis::transaction(cmd::incr("a")), "+OK\r\n+QUEUED\r\n*2\r\n:1\r\n:2\r\n"),
              redis::error::incompatible_type);
}

TEST(RedisCommand, ARequestTakesTheCommandsOfAnother) {
    redis::request first;
    first.push("GET", "a");
    redis::request second;
    second.push("SUBSCRIBE", "c", "d");
    second.push("SET", "k", std::string("\r\n$1\r\n"));
    first.append(second);
    first.append(first);
    EXPECT_EQ(first.commands(), 6U);
    EXPECT_EQ(first.expected_replies(), 4U);
    ASSERT_EQ(first.parts().size(), 5U);
    EXPECT_EQ(first.parts()[1].count, 2U);
    EXPECT_EQ(first.parts()[2].count, 2U);
    EXPECT_EQ(words_of(first).substr(0, 26), "GET a; SUBSCRIBE c d; SET ");
    first.append(redis::request());
    EXPECT_EQ(first.commands(), 6U);
}

} // namespace fairlead::test
