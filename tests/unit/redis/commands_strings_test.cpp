#include <fairlead/redis/cmd/strings.hpp>
#include <support/redis_command.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace fairlead::test {

namespace cmd = redis::cmd;

TEST(RedisCommandsStrings, AreSerialisedAsTheServerHasThem) {
    using namespace redis::options;
    using namespace std::chrono_literals;
    EXPECT_EQ(words_of(cmd::append("k", "v")), "APPEND k v");
    EXPECT_EQ(words_of(cmd::decr("k")), "DECR k");
    EXPECT_EQ(words_of(cmd::decrby("k", 2)), "DECRBY k 2");
    EXPECT_EQ(words_of(cmd::get("k")), "GET k");
    EXPECT_EQ(words_of(cmd::getdel("k")), "GETDEL k");
    EXPECT_EQ(words_of(cmd::getex("k")), "GETEX k");
    EXPECT_EQ(words_of(cmd::getex("k", ex(10s))), "GETEX k EX 10");
    EXPECT_EQ(words_of(cmd::getex("k", no_expiry)), "GETEX k PERSIST");
    EXPECT_EQ(words_of(cmd::getrange("k", 0, -1)), "GETRANGE k 0 -1");
    EXPECT_EQ(words_of(cmd::getset("k", 1)), "GETSET k 1");
    EXPECT_EQ(words_of(cmd::incr("k")), "INCR k");
    EXPECT_EQ(words_of(cmd::incrby("k", -2)), "INCRBY k -2");
    EXPECT_EQ(words_of(cmd::incrbyfloat("k", 0.5)), "INCRBYFLOAT k 0.5");
    EXPECT_EQ(words_of(cmd::lcs("a", "b")), "LCS a b");
    EXPECT_EQ(words_of(cmd::lcs_length("a", "b")), "LCS a b LEN");
    EXPECT_EQ(words_of(cmd::mget({"a", "b"})), "MGET a b");
    EXPECT_EQ(words_of(cmd::mset({{"a", 1}, {"b", 2}})), "MSET a 1 b 2");
    EXPECT_EQ(words_of(cmd::msetnx({{"a", 1}})), "MSETNX a 1");
    EXPECT_EQ(words_of(cmd::psetex("k", 10ms, "v")), "PSETEX k 10 v");
    EXPECT_EQ(words_of(cmd::setex("k", 2min, "v")), "SETEX k 120 v");
    EXPECT_EQ(words_of(cmd::setnx("k", "v")), "SETNX k v");
    EXPECT_EQ(words_of(cmd::setrange("k", 3, "v")), "SETRANGE k 3 v");
    EXPECT_EQ(words_of(cmd::strlen("k")), "STRLEN k");
}

TEST(RedisCommandsStrings, SetHasItsOptionsInTheOrderInWhichTheyAreGiven) {
    using namespace redis::options;
    using namespace std::chrono_literals;
    auto const at = std::chrono::system_clock::time_point(1700000000900ms);
    EXPECT_EQ(words_of(cmd::set("k", "v")), "SET k v");
    EXPECT_EQ(words_of(cmd::set("k", "v", ex(10s), nx)), "SET k v EX 10 NX");
    EXPECT_EQ(words_of(cmd::set("k", "v", nx, ex(1h))), "SET k v NX EX 3600");
    EXPECT_EQ(words_of(cmd::set("k", "v", px(10ms), xx)), "SET k v PX 10 XX");
    EXPECT_EQ(words_of(cmd::set("k", "v", px(10s))), "SET k v PX 10000");
    EXPECT_EQ(words_of(cmd::set("k", "v", ex_at(at))), "SET k v EXAT 1700000000");
    EXPECT_EQ(words_of(cmd::set("k", "v", px_at(at))), "SET k v PXAT 1700000000900");
    EXPECT_EQ(words_of(cmd::set("k", "v", keep_ttl, get_old)), "SET k v KEEPTTL GET");
}

TEST(RedisCommandsStrings, SetSaysWhetherItsConditionWasMet) {
    using namespace redis::options;
    EXPECT_TRUE(result_of(cmd::set("k", 1, nx), "+OK\r\n"));
    EXPECT_FALSE(result_of(cmd::set("k", 1, nx), "_\r\n"));
    EXPECT_FALSE(result_of(cmd::set("k", 1, nx), "$-1\r\n"));
    EXPECT_EQ(error_of_result(cmd::set("k", 1), "-OOM no\r\n"), redis::error::out_of_memory);
    EXPECT_EQ(error_of_result(cmd::set("k", 1), ":1\r\n"), redis::error::incompatible_type);
}

TEST(RedisCommandsStrings, SetWithGetOldHasTheOldValue) {
    using namespace redis::options;
    auto const set = cmd::set<int>("k", 1, get_old);
    static_assert(std::is_same_v<decltype(set)::result_type, std::optional<int>>);
    EXPECT_EQ(result_of(set, "$1\r\n7\r\n"), 7);
    EXPECT_EQ(result_of(set, "_\r\n"), std::nullopt);
    EXPECT_EQ(result_of(cmd::set("k", 1, get_old, xx), "$1\r\nv\r\n"), "v");
}

TEST(RedisCommandsStrings, OthersHaveNumbersTruthValuesAndTexts) {
    EXPECT_EQ(result_of(cmd::incr("k"), ":7\r\n"), 7);
    EXPECT_EQ(result_of(cmd::incrbyfloat("k", 1), "$3\r\n1.5\r\n"), 1.5);
    EXPECT_EQ(result_of(cmd::getrange("k", 0, 1), "$2\r\nab\r\n"), "ab");
    EXPECT_TRUE(result_of(cmd::setnx("k", 1), ":1\r\n"));
    EXPECT_FALSE(result_of(cmd::msetnx({{"k", 1}}), ":0\r\n"));
    EXPECT_EQ(result_of(cmd::mget<int>({"a", "b"}), "*2\r\n$1\r\n1\r\n$-1\r\n"),
              (std::vector<std::optional<int>>{1, std::nullopt}));
    EXPECT_EQ(error_of_result(cmd::mset({{"k", 1}}), "+OK\r\n"), error_code());
    EXPECT_EQ(error_of_result(cmd::mset({{"k", 1}}), "-OOM no\r\n"), redis::error::out_of_memory);
}

} // namespace fairlead::test
