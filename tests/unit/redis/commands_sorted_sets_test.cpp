#include <fairlead/redis/cmd/sorted_sets.hpp>
#include <support/redis_command.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace fairlead::test {

namespace cmd = redis::cmd;

TEST(RedisCommandsSortedSets, AreSerialisedAsTheServerHasThem) {
    using namespace redis::options;
    using namespace std::chrono_literals;
    using enum redis::score_end;
    EXPECT_EQ(words_of(cmd::bzmpop(500ms, {"a", "b"}, greatest, 2)), "BZMPOP 0.5 2 a b MAX COUNT 2");
    EXPECT_EQ(words_of(cmd::bzpopmax("a", 1s)), "BZPOPMAX a 1");
    EXPECT_EQ(words_of(cmd::bzpopmin({"a", "b"}, for_ever)), "BZPOPMIN a b 0");
    EXPECT_EQ(words_of(cmd::zadd("k", {{"a", 1.5}, {"b", 2}})), "ZADD k 1.5 a 2 b");
    EXPECT_EQ(words_of(cmd::zadd("k", {{"a", 1}}, xx, gt, ch)), "ZADD k XX GT CH 1 a");
    EXPECT_EQ(words_of(cmd::zadd("k", std::map<std::string, double>{{"a", 1}, {"b", 2}}, nx)), "ZADD k NX 1 a 2 b");
    EXPECT_EQ(words_of(cmd::zadd_incr("k", "a", 0.5, xx)), "ZADD k XX INCR 0.5 a");
    EXPECT_EQ(words_of(cmd::zcard("k")), "ZCARD k");
    EXPECT_EQ(words_of(cmd::zcount("k", "(1.5", "+inf")), "ZCOUNT k (1.5 +inf");
    EXPECT_EQ(words_of(cmd::zdiff({"a", "b"}, with_scores)), "ZDIFF 2 a b WITHSCORES");
    EXPECT_EQ(words_of(cmd::zdiffstore("t", {"a", "b"})), "ZDIFFSTORE t 2 a b");
    EXPECT_EQ(words_of(cmd::zincrby("k", 2, "a")), "ZINCRBY k 2 a");
    EXPECT_EQ(words_of(cmd::zinter({"a", "b"}, weights{1, 2.5}, aggregate(aggregate::of::least), with_scores)),
              "ZINTER 2 a b WEIGHTS 1 2.5 AGGREGATE MIN WITHSCORES");
    EXPECT_EQ(words_of(cmd::zintercard({"a", "b"}, 3)), "ZINTERCARD 2 a b LIMIT 3");
    EXPECT_EQ(words_of(cmd::zinterstore("t", {"a", "b"}, aggregate(aggregate::of::greatest))),
              "ZINTERSTORE t 2 a b AGGREGATE MAX");
    EXPECT_EQ(words_of(cmd::zlexcount("k", "[a", "+")), "ZLEXCOUNT k [a +");
    EXPECT_EQ(words_of(cmd::zmpop({"a", "b"}, least, 2)), "ZMPOP 2 a b MIN COUNT 2");
    EXPECT_EQ(words_of(cmd::zmscore("k", {"a", "b"})), "ZMSCORE k a b");
    EXPECT_EQ(words_of(cmd::zpopmax("k")), "ZPOPMAX k");
    EXPECT_EQ(words_of(cmd::zpopmax("k", 2)), "ZPOPMAX k 2");
    EXPECT_EQ(words_of(cmd::zpopmin("k")), "ZPOPMIN k");
    EXPECT_EQ(words_of(cmd::zpopmin("k", 2)), "ZPOPMIN k 2");
    EXPECT_EQ(words_of(cmd::zrandmember("k")), "ZRANDMEMBER k");
    EXPECT_EQ(words_of(cmd::zrandmember("k", 2, with_scores)), "ZRANDMEMBER k 2 WITHSCORES");
    EXPECT_EQ(words_of(cmd::zrange("k", 0, -1)), "ZRANGE k 0 -1");
    EXPECT_EQ(words_of(cmd::zrange("k", 0, -1, with_scores)), "ZRANGE k 0 -1 WITHSCORES");
    EXPECT_EQ(words_of(cmd::zrange("k", "+inf", "(1", by_score, rev, limit(5, 10), with_scores)),
              "ZRANGE k +inf (1 BYSCORE REV LIMIT 5 10 WITHSCORES");
    EXPECT_EQ(words_of(cmd::zrange("k", "[a", "(c", by_lex)), "ZRANGE k [a (c BYLEX");
    EXPECT_EQ(words_of(cmd::zrangestore("t", "k", 0, 9, rev)), "ZRANGESTORE t k 0 9 REV");
    EXPECT_EQ(words_of(cmd::zrank("k", "a")), "ZRANK k a");
    EXPECT_EQ(words_of(cmd::zrank("k", "a", with_score)), "ZRANK k a WITHSCORE");
    EXPECT_EQ(words_of(cmd::zrem("k", {"a", "b"})), "ZREM k a b");
    EXPECT_EQ(words_of(cmd::zremrangebylex("k", "-", "[b")), "ZREMRANGEBYLEX k - [b");
    EXPECT_EQ(words_of(cmd::zremrangebyrank("k", 0, 1)), "ZREMRANGEBYRANK k 0 1");
    EXPECT_EQ(words_of(cmd::zremrangebyscore("k", "-inf", 2.5)), "ZREMRANGEBYSCORE k -inf 2.5");
    EXPECT_EQ(words_of(cmd::zrevrank("k", "a")), "ZREVRANK k a");
    EXPECT_EQ(words_of(cmd::zscan("k", 0, match("p*"), count(5))), "ZSCAN k 0 MATCH p* COUNT 5");
    EXPECT_EQ(words_of(cmd::zscore("k", "a")), "ZSCORE k a");
    EXPECT_EQ(words_of(cmd::zunion({"a", "b"}, aggregate(aggregate::of::sum))), "ZUNION 2 a b AGGREGATE SUM");
    EXPECT_EQ(words_of(cmd::zunionstore("t", {"a", "b"}, weights{2, 1})), "ZUNIONSTORE t 2 a b WEIGHTS 2 1");
}

TEST(RedisCommandsSortedSets, MembersWithScoresArePairsInBothProtocols) {
    using namespace redis::options;
    using pairs = std::vector<std::pair<std::string, double>>;
    auto const all = cmd::zrange("k", 0, -1, with_scores);
    static_assert(std::is_same_v<decltype(all)::result_type, pairs>);
    EXPECT_EQ(result_of(all, "*2\r\n*2\r\n$1\r\na\r\n,1.5\r\n*2\r\n$1\r\nb\r\n,inf\r\n"),
              (pairs{{"a", 1.5}, {"b", HUGE_VAL}}));
    EXPECT_EQ(result_of(all, "*4\r\n$1\r\na\r\n$3\r\n1.5\r\n$1\r\nb\r\n$3\r\ninf\r\n"),
              (pairs{{"a", 1.5}, {"b", HUGE_VAL}}));
    EXPECT_EQ(result_of(all, "*0\r\n"), pairs());
    EXPECT_EQ(result_of(cmd::zrange<int>("k", 0, -1), "*2\r\n$1\r\n1\r\n$1\r\n2\r\n"), (std::vector<int>{1, 2}));
    EXPECT_EQ(result_of(cmd::zpopmin("k", 2), "*2\r\n$1\r\na\r\n$1\r\n1\r\n"), (pairs{{"a", 1}}));
    EXPECT_EQ(result_of(cmd::zscan("k", 0), "*2\r\n$1\r\n0\r\n*2\r\n$1\r\na\r\n$1\r\n1\r\n").items, (pairs{{"a", 1}}));
}

TEST(RedisCommandsSortedSets, OneMemberWithItsScoreIsOptional) {
    using namespace std::chrono_literals;
    EXPECT_EQ((result_of(cmd::zpopmin("k"), "*2\r\n$1\r\na\r\n,1.5\r\n")), (std::pair<std::string, double>{"a", 1.5}));
    EXPECT_EQ((result_of(cmd::zpopmax<int>("k"), "*2\r\n$1\r\n7\r\n$3\r\n1.5\r\n")), (std::pair<int, double>{7, 1.5}));
    EXPECT_EQ(result_of(cmd::zpopmin("k"), "*0\r\n"), std::nullopt);
    EXPECT_EQ((result_of(cmd::bzpopmin("k", 1s), "*3\r\n$1\r\nk\r\n$1\r\na\r\n$1\r\n2\r\n")),
              (std::tuple<std::string, std::string, double>{"k", "a", 2}));
    EXPECT_EQ(result_of(cmd::bzpopmin("k", 1s), "*-1\r\n"), std::nullopt);
}

TEST(RedisCommandsSortedSets, MembersOfOneOfSeveralComeWithItsName) {
    using pairs = std::vector<std::pair<std::string, double>>;
    auto const some = cmd::zmpop({"a", "b"}, redis::score_end::least, 2);
    EXPECT_EQ((result_of(some, "*2\r\n$1\r\nb\r\n*1\r\n*2\r\n$1\r\nm\r\n,1\r\n")),
              (std::pair<std::string, pairs>{"b", {{"m", 1}}}));
    EXPECT_EQ(result_of(some, "_\r\n"), std::nullopt);
}

TEST(RedisCommandsSortedSets, ScoresAndPositionsMayBeMissing) {
    using namespace redis::options;
    EXPECT_EQ(result_of(cmd::zscore("k", "a"), ",2.5\r\n"), 2.5);
    EXPECT_EQ(result_of(cmd::zscore("k", "a"), "$-1\r\n"), std::nullopt);
    EXPECT_EQ(result_of(cmd::zadd_incr("k", "a", 1, xx), "_\r\n"), std::nullopt);
    EXPECT_EQ(result_of(cmd::zmscore("k", {"a", "b"}), "*2\r\n$1\r\n1\r\n$-1\r\n"),
              (std::vector<std::optional<double>>{1, std::nullopt}));
    EXPECT_EQ(result_of(cmd::zrank("k", "a"), ":3\r\n"), 3);
    EXPECT_EQ(result_of(cmd::zrank("k", "a"), "_\r\n"), std::nullopt);
    EXPECT_EQ((result_of(cmd::zrevrank("k", "a", with_score), "*2\r\n:3\r\n,1.5\r\n")),
              (std::pair<std::int64_t, double>{3, 1.5}));
}

} // namespace fairlead::test
