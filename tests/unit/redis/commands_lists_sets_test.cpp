#include <fairlead/redis/cmd/lists.hpp>
#include <fairlead/redis/cmd/sets.hpp>
#include <support/redis_command.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace fairlead::test {

namespace cmd = redis::cmd;

TEST(RedisCommandsLists, AreSerialisedAsTheServerHasThem) {
    using namespace redis::options;
    using namespace std::chrono_literals;
    using enum redis::list_end;
    EXPECT_EQ(words_of(cmd::blmove("a", "b", left, right, 500ms)), "BLMOVE a b LEFT RIGHT 0.5");
    EXPECT_EQ(words_of(cmd::blmpop(2s, {"a", "b"}, right, 3)), "BLMPOP 2 2 a b RIGHT COUNT 3");
    EXPECT_EQ(words_of(cmd::blpop({"a", "b"}, 10s)), "BLPOP a b 10");
    EXPECT_EQ(words_of(cmd::brpop("a", for_ever)), "BRPOP a 0");
    EXPECT_EQ(words_of(cmd::lindex("k", -1)), "LINDEX k -1");
    EXPECT_EQ(words_of(cmd::linsert("k", redis::list_place::before, "p", 1)), "LINSERT k BEFORE p 1");
    EXPECT_EQ(words_of(cmd::linsert("k", redis::list_place::after, "p", 1)), "LINSERT k AFTER p 1");
    EXPECT_EQ(words_of(cmd::llen("k")), "LLEN k");
    EXPECT_EQ(words_of(cmd::lmove("a", "b", right, left)), "LMOVE a b RIGHT LEFT");
    EXPECT_EQ(words_of(cmd::lmpop({"a", "b"}, left)), "LMPOP 2 a b LEFT COUNT 1");
    EXPECT_EQ(words_of(cmd::lpop("k")), "LPOP k");
    EXPECT_EQ(words_of(cmd::lpop("k", 2)), "LPOP k 2");
    EXPECT_EQ(words_of(cmd::lpos("k", "e")), "LPOS k e");
    EXPECT_EQ(words_of(cmd::lpos("k", "e", rank(-1), count(0), maxlen(100))), "LPOS k e RANK -1 COUNT 0 MAXLEN 100");
    EXPECT_EQ(words_of(cmd::lpush("k", {1, "b"})), "LPUSH k 1 b");
    EXPECT_EQ(words_of(cmd::lpushx("k", 1)), "LPUSHX k 1");
    EXPECT_EQ(words_of(cmd::lrange("k", 0, -1)), "LRANGE k 0 -1");
    EXPECT_EQ(words_of(cmd::lrem("k", -2, "e")), "LREM k -2 e");
    EXPECT_EQ(words_of(cmd::lset("k", 0, "e")), "LSET k 0 e");
    EXPECT_EQ(words_of(cmd::ltrim("k", 1, 2)), "LTRIM k 1 2");
    EXPECT_EQ(words_of(cmd::rpop("k")), "RPOP k");
    EXPECT_EQ(words_of(cmd::rpop("k", 2)), "RPOP k 2");
    EXPECT_EQ(words_of(cmd::rpush("k", std::vector<int>{1, 2})), "RPUSH k 1 2");
    EXPECT_EQ(words_of(cmd::rpushx("k", 1)), "RPUSHX k 1");
}

TEST(RedisCommandsLists, BlockingOnesNeedAConnectionOfTheirOwn) {
    using namespace std::chrono_literals;
    using enum redis::list_end;
    EXPECT_EQ(cmd::blpop("a", 1s).req().fit(), redis::request::fitness::alone);
    EXPECT_EQ(cmd::blpop("a", 1s).req().late_ms(), 1001U);
    EXPECT_EQ(cmd::brpop("a", redis::options::for_ever).req().late_ms(), redis::request::for_ever_ms);
    EXPECT_EQ(cmd::blmove("a", "b", left, left, 1s).req().refused(), "BLMOVE");
}

TEST(RedisCommandsLists, ElementsComeWithTheNameOfTheirList) {
    using namespace std::chrono_literals;
    using enum redis::list_end;
    EXPECT_EQ((result_of(cmd::blpop<int>({"a", "b"}, 1s), "*2\r\n$1\r\nb\r\n$1\r\n7\r\n")),
              (std::pair<std::string, int>{"b", 7}));
    EXPECT_EQ(result_of(cmd::blpop("a", 1s), "*-1\r\n"), std::nullopt);
    EXPECT_EQ((result_of(cmd::lmpop<int>("a", left, 2), "*2\r\n$1\r\na\r\n*2\r\n$1\r\n1\r\n$1\r\n2\r\n")),
              (std::pair<std::string, std::vector<int>>{"a", {1, 2}}));
    EXPECT_EQ(result_of(cmd::lmpop("a", left), "_\r\n"), std::nullopt);
}

TEST(RedisCommandsLists, SeveralElementsOfNoListAreNone) {
    EXPECT_EQ(result_of(cmd::lpop<int>("k", 2), "*2\r\n$1\r\n1\r\n$1\r\n2\r\n"), (std::vector<int>{1, 2}));
    EXPECT_EQ(result_of(cmd::lpop("k", 2), "_\r\n"), std::vector<std::string>());
    EXPECT_EQ(result_of(cmd::rpop("k", 2), "*-1\r\n"), std::vector<std::string>());
    EXPECT_EQ(result_of(cmd::lpop("k"), "$-1\r\n"), std::nullopt);
    EXPECT_EQ(error_of_result(cmd::lpop("k", 2), "-WRONGTYPE no\r\n"), redis::error::wrong_type);
}

TEST(RedisCommandsLists, PlacesAreOneOrSeveral) {
    using namespace redis::options;
    EXPECT_EQ(result_of(cmd::lpos("k", "e"), ":3\r\n"), 3);
    EXPECT_EQ(result_of(cmd::lpos("k", "e"), "_\r\n"), std::nullopt);
    EXPECT_EQ(result_of(cmd::lpos("k", "e", count(0)), "*2\r\n:1\r\n:3\r\n"), (std::vector<std::int64_t>{1, 3}));
}

TEST(RedisCommandsSets, AreSerialisedAsTheServerHasThem) {
    using namespace redis::options;
    EXPECT_EQ(words_of(cmd::sadd("k", {"a", "b"})), "SADD k a b");
    EXPECT_EQ(words_of(cmd::scard("k")), "SCARD k");
    EXPECT_EQ(words_of(cmd::sdiff({"a", "b"})), "SDIFF a b");
    EXPECT_EQ(words_of(cmd::sdiffstore("t", {"a", "b"})), "SDIFFSTORE t a b");
    EXPECT_EQ(words_of(cmd::sinter({"a", "b"})), "SINTER a b");
    EXPECT_EQ(words_of(cmd::sintercard({"a", "b"})), "SINTERCARD 2 a b LIMIT 0");
    EXPECT_EQ(words_of(cmd::sintercard({"a", "b"}, 5)), "SINTERCARD 2 a b LIMIT 5");
    EXPECT_EQ(words_of(cmd::sinterstore("t", {"a", "b"})), "SINTERSTORE t a b");
    EXPECT_EQ(words_of(cmd::sismember("k", 1)), "SISMEMBER k 1");
    EXPECT_EQ(words_of(cmd::smembers("k")), "SMEMBERS k");
    EXPECT_EQ(words_of(cmd::smismember("k", {1, 2})), "SMISMEMBER k 1 2");
    EXPECT_EQ(words_of(cmd::smove("a", "b", 1)), "SMOVE a b 1");
    EXPECT_EQ(words_of(cmd::spop("k")), "SPOP k");
    EXPECT_EQ(words_of(cmd::spop("k", 2)), "SPOP k 2");
    EXPECT_EQ(words_of(cmd::srandmember("k")), "SRANDMEMBER k");
    EXPECT_EQ(words_of(cmd::srandmember("k", -2)), "SRANDMEMBER k -2");
    EXPECT_EQ(words_of(cmd::srem("k", "a")), "SREM k a");
    EXPECT_EQ(words_of(cmd::sscan("k", 0, match("p*"), count(5))), "SSCAN k 0 MATCH p* COUNT 5");
    EXPECT_EQ(words_of(cmd::sunion({"a", "b"})), "SUNION a b");
    EXPECT_EQ(words_of(cmd::sunionstore("t", {"a", "b"})), "SUNIONSTORE t a b");
}

TEST(RedisCommandsSets, MembersComeAsSetsOrAsArrays) {
    EXPECT_EQ(result_of(cmd::smembers<int>("k"), "~2\r\n$1\r\n1\r\n$1\r\n2\r\n"), (std::vector<int>{1, 2}));
    EXPECT_EQ(result_of(cmd::smembers("k"), "*1\r\n$1\r\na\r\n"), std::vector<std::string>{"a"});
    EXPECT_EQ(result_of(cmd::smismember("k", {1, 2}), "*2\r\n:1\r\n:0\r\n"), (std::vector<bool>{true, false}));
    EXPECT_EQ(result_of(cmd::spop("k"), "_\r\n"), std::nullopt);
    EXPECT_EQ(result_of(cmd::sscan<int>("k", 0), "*2\r\n$1\r\n5\r\n*1\r\n$1\r\n1\r\n").cursor, 5U);
}

} // namespace fairlead::test
