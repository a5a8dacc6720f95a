// Keys, values and pairs one by one, beside lists and ranges of them.
#include <fairlead/redis/cmd.hpp>
#include <support/redis_command.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace fairlead::test {

namespace cmd = redis::cmd;

TEST(RedisCommandsVariadic, KeysStandOneByOne) {
    EXPECT_EQ(words_of(cmd::del("a", std::string("b"))), "DEL a b");
    EXPECT_EQ(words_of(cmd::del("a", "b", std::string_view("c"), "d")), "DEL a b c d");
    EXPECT_EQ(words_of(cmd::exists("a", "b")), "EXISTS a b");
    EXPECT_EQ(words_of(cmd::touch("a", "b")), "TOUCH a b");
    EXPECT_EQ(words_of(cmd::unlink("a", "b", "c")), "UNLINK a b c");
    EXPECT_EQ(words_of(cmd::mget<int>("a", "b", "c")), "MGET a b c");
    EXPECT_EQ(words_of(cmd::pfcount("a", "b")), "PFCOUNT a b");
    EXPECT_EQ(words_of(cmd::sdiff<long>("a", "b")), "SDIFF a b");
    EXPECT_EQ(words_of(cmd::sinter("a", "b")), "SINTER a b");
    EXPECT_EQ(words_of(cmd::sunion("a", "b", "c")), "SUNION a b c");
    EXPECT_EQ(words_of(cmd::sdiffstore("to", "a", "b")), "SDIFFSTORE to a b");
    EXPECT_EQ(words_of(cmd::sinterstore("to", "a", "b")), "SINTERSTORE to a b");
    EXPECT_EQ(words_of(cmd::sunionstore("to", "a", "b")), "SUNIONSTORE to a b");
    EXPECT_EQ(words_of(cmd::pfmerge("to", "a", "b")), "PFMERGE to a b");
    EXPECT_EQ(words_of(cmd::script_exists("1", "2")), "SCRIPT EXISTS 1 2");
}

TEST(RedisCommandsVariadic, ValuesOfAnyTypeStandOneByOne) {
    EXPECT_EQ(words_of(cmd::sadd("k", "a", 2)), "SADD k a 2");
    EXPECT_EQ(words_of(cmd::srem("k", "a", 2, 0.5)), "SREM k a 2 0.5");
    EXPECT_EQ(words_of(cmd::smismember("k", 1, 2)), "SMISMEMBER k 1 2");
    EXPECT_EQ(words_of(cmd::rpush("k", "a", std::string("b"), 3)), "RPUSH k a b 3");
    EXPECT_EQ(words_of(cmd::rpushx("k", 1, 2)), "RPUSHX k 1 2");
    EXPECT_EQ(words_of(cmd::lpush("k", 1, 2)), "LPUSH k 1 2");
    EXPECT_EQ(words_of(cmd::lpushx("k", 1, 2)), "LPUSHX k 1 2");
    EXPECT_EQ(words_of(cmd::hdel("k", "a", "b")), "HDEL k a b");
    EXPECT_EQ(words_of(cmd::hmget<int>("k", "a", "b", "c")), "HMGET k a b c");
    EXPECT_EQ(words_of(cmd::hgetdel("k", "a", "b")), "HGETDEL k FIELDS 2 a b");
    EXPECT_EQ(words_of(cmd::zrem("k", "a", "b")), "ZREM k a b");
    EXPECT_EQ(words_of(cmd::zmscore("k", "a", "b")), "ZMSCORE k a b");
    EXPECT_EQ(words_of(cmd::pfadd("k", "a", "b")), "PFADD k a b");
    EXPECT_EQ(words_of(cmd::geohash("k", "a", "b")), "GEOHASH k a b");
    EXPECT_EQ(words_of(cmd::geopos("k", "a", "b")), "GEOPOS k a b");
    EXPECT_EQ(words_of(cmd::xdel("k", "1-0", "2-0")), "XDEL k 1-0 2-0");
    EXPECT_EQ(words_of(cmd::xack("k", "g", "1-0", "2-0", "3-0")), "XACK k g 1-0 2-0 3-0");
}

TEST(RedisCommandsVariadic, NamesAndValuesStandInTurn) {
    EXPECT_EQ(words_of(cmd::hset("k", "name", "ann", "age", 7)), "HSET k name ann age 7");
    EXPECT_EQ(words_of(cmd::hset("k", "name", "ann")), "HSET k name ann");
    EXPECT_EQ(words_of(cmd::mset("a", 1)), "MSET a 1");
    EXPECT_EQ(words_of(cmd::mset("a", 1, "b", "two")), "MSET a 1 b two");
    EXPECT_EQ(words_of(cmd::msetnx("a", 1, std::string("b"), 2)), "MSETNX a 1 b 2");
}

TEST(RedisCommandsVariadic, OneListsAndRangesMeanWhatTheyMeant) {
    std::vector<std::string> const names{"a", "b"};
    std::set<int> const numbers{1, 2, 3};
    EXPECT_EQ(words_of(cmd::del("a")), "DEL a");
    EXPECT_EQ(words_of(cmd::del({"a", "b"})), "DEL a b");
    EXPECT_EQ(words_of(cmd::del(names)), "DEL a b");
    EXPECT_EQ(words_of(cmd::rpush("k", numbers)), "RPUSH k 1 2 3");
    EXPECT_EQ(words_of(cmd::rpush("k", {1, 2})), "RPUSH k 1 2");
    EXPECT_EQ(words_of(cmd::sunionstore("to", names)), "SUNIONSTORE to a b");
    EXPECT_EQ(words_of(cmd::hset("k", {{"a", 1}})), "HSET k a 1");
    EXPECT_EQ(words_of(cmd::mset({{"a", 1}, {"b", 2}})), "MSET a 1 b 2");
    EXPECT_EQ(words_of(cmd::xack("k", "g", names)), "XACK k g a b");
}

TEST(RedisCommandsVariadic, ResultsAreThoseOfTheListForms) {
    EXPECT_EQ(result_of(cmd::mget<int>("a", "b"), "*2\r\n$1\r\n1\r\n_\r\n"),
              (std::vector<std::optional<int>>{1, std::nullopt}));
    EXPECT_EQ(result_of(cmd::hmget<int>("k", "a", "b"), "*2\r\n$1\r\n1\r\n_\r\n"),
              (std::vector<std::optional<int>>{1, std::nullopt}));
    EXPECT_EQ(result_of(cmd::del("a", "b"), ":2\r\n"), 2);
    EXPECT_TRUE(result_of(cmd::msetnx("a", 1, "b", 2), ":1\r\n"));
}

} // namespace fairlead::test
