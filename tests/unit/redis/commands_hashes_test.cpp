#include <fairlead/redis/cmd/hashes.hpp>
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

TEST(RedisCommandsHashes, AreSerialisedAsTheServerHasThem) {
    using namespace redis::options;
    using namespace std::chrono_literals;
    auto const at = std::chrono::system_clock::time_point(1700000000900ms);
    EXPECT_EQ(words_of(cmd::hdel("k", {"f", "g"})), "HDEL k f g");
    EXPECT_EQ(words_of(cmd::hexists("k", "f")), "HEXISTS k f");
    EXPECT_EQ(words_of(cmd::hget("k", "f")), "HGET k f");
    EXPECT_EQ(words_of(cmd::hgetall("k")), "HGETALL k");
    EXPECT_EQ(words_of(cmd::hincrby("k", "f", 2)), "HINCRBY k f 2");
    EXPECT_EQ(words_of(cmd::hincrbyfloat("k", "f", 0.5)), "HINCRBYFLOAT k f 0.5");
    EXPECT_EQ(words_of(cmd::hkeys("k")), "HKEYS k");
    EXPECT_EQ(words_of(cmd::hlen("k")), "HLEN k");
    EXPECT_EQ(words_of(cmd::hmget("k", {"f", "g"})), "HMGET k f g");
    EXPECT_EQ(words_of(cmd::hrandfield("k")), "HRANDFIELD k");
    EXPECT_EQ(words_of(cmd::hrandfield("k", -3)), "HRANDFIELD k -3");
    EXPECT_EQ(words_of(cmd::hrandfield("k", 3, with_values)), "HRANDFIELD k 3 WITHVALUES");
    EXPECT_EQ(words_of(cmd::hscan("k", 0, match("p*"), count(10))), "HSCAN k 0 MATCH p* COUNT 10");
    EXPECT_EQ(words_of(cmd::hset("k", "f", 1)), "HSET k f 1");
    EXPECT_EQ(words_of(cmd::hset("k", {{"f", 1}, {"g", "x"}})), "HSET k f 1 g x");
    EXPECT_EQ(words_of(cmd::hset("k", std::map<std::string, int>{{"f", 1}})), "HSET k f 1");
    EXPECT_EQ(words_of(cmd::hsetnx("k", "f", 1)), "HSETNX k f 1");
    EXPECT_EQ(words_of(cmd::hstrlen("k", "f")), "HSTRLEN k f");
    EXPECT_EQ(words_of(cmd::hvals("k")), "HVALS k");
    EXPECT_EQ(words_of(cmd::hexpire("k", 10s, {"f", "g"}, nx)), "HEXPIRE k 10 NX FIELDS 2 f g");
    EXPECT_EQ(words_of(cmd::hexpireat("k", at, "f")), "HEXPIREAT k 1700000000 FIELDS 1 f");
    EXPECT_EQ(words_of(cmd::hexpiretime("k", "f")), "HEXPIRETIME k FIELDS 1 f");
    EXPECT_EQ(words_of(cmd::hpersist("k", "f")), "HPERSIST k FIELDS 1 f");
    EXPECT_EQ(words_of(cmd::hpexpire("k", 10ms, "f", gt)), "HPEXPIRE k 10 GT FIELDS 1 f");
    EXPECT_EQ(words_of(cmd::hpexpireat("k", at, "f")), "HPEXPIREAT k 1700000000900 FIELDS 1 f");
    EXPECT_EQ(words_of(cmd::hpexpiretime("k", "f")), "HPEXPIRETIME k FIELDS 1 f");
    EXPECT_EQ(words_of(cmd::hpttl("k", "f")), "HPTTL k FIELDS 1 f");
    EXPECT_EQ(words_of(cmd::httl("k", "f")), "HTTL k FIELDS 1 f");
    EXPECT_EQ(words_of(cmd::hgetdel("k", {"f", "g"})), "HGETDEL k FIELDS 2 f g");
    EXPECT_EQ(words_of(cmd::hgetex("k", "f", ex(10s))), "HGETEX k EX 10 FIELDS 1 f");
    EXPECT_EQ(words_of(cmd::hsetex("k", {{"f", 1}, {"g", 2}}, fnx, px(5ms))), "HSETEX k FNX PX 5 FIELDS 2 f 1 g 2");
}

TEST(RedisCommandsHashes, AllFieldsGoIntoAnyMap) {
    using fields = std::map<std::string, std::string>;
    static_assert(std::is_same_v<decltype(cmd::hgetall("k"))::result_type, fields>);
    EXPECT_EQ(result_of(cmd::hgetall("k"), "%1\r\n$1\r\nf\r\n$1\r\n1\r\n"), (fields{{"f", "1"}}));
    EXPECT_EQ(result_of(cmd::hgetall("k"), "*2\r\n$1\r\nf\r\n$1\r\n1\r\n"), (fields{{"f", "1"}}));
    EXPECT_EQ((result_of(cmd::hgetall<std::map<std::string, long>>("k"), "%1\r\n$1\r\nf\r\n$1\r\n1\r\n")),
              (std::map<std::string, long>{{"f", 1}}));
    using pairs = std::vector<std::pair<std::string, long>>;
    EXPECT_EQ(result_of(cmd::hgetall<pairs>("k"), "*4\r\n$1\r\ng\r\n$1\r\n1\r\n$1\r\nf\r\n$1\r\n2\r\n"),
              (pairs{{"g", 1}, {"f", 2}}));
    EXPECT_EQ(result_of(cmd::hgetall<pairs>("k"), "*0\r\n"), pairs());
}

TEST(RedisCommandsHashes, FieldsWithValuesArePairsInBothProtocols) {
    using namespace redis::options;
    using pairs = std::vector<std::pair<std::string, int>>;
    auto const some = cmd::hrandfield<int>("k", 2, with_values);
    EXPECT_EQ(result_of(some, "*2\r\n*2\r\n$1\r\nf\r\n$1\r\n1\r\n*2\r\n$1\r\ng\r\n$1\r\n2\r\n"),
              (pairs{{"f", 1}, {"g", 2}}));
    EXPECT_EQ(result_of(some, "*4\r\n$1\r\nf\r\n$1\r\n1\r\n$1\r\ng\r\n$1\r\n2\r\n"), (pairs{{"f", 1}, {"g", 2}}));
    EXPECT_EQ(result_of(some, "*0\r\n"), pairs());
    EXPECT_EQ(error_of_result(some, "*1\r\n$1\r\nf\r\n"), redis::error::incompatible_type);
    auto const page = result_of(cmd::hscan<int>("k", 0), "*2\r\n$1\r\n0\r\n*2\r\n$1\r\nf\r\n$1\r\n1\r\n");
    EXPECT_TRUE(page.is_last());
    EXPECT_EQ(page.items, (pairs{{"f", 1}}));
    EXPECT_EQ(result_of(cmd::hrandfield("k", 2), "*1\r\n$1\r\nf\r\n"), std::vector<std::string>{"f"});
    EXPECT_EQ(result_of(cmd::hrandfield("k"), "_\r\n"), std::nullopt);
}

TEST(RedisCommandsHashes, ExpiriesOfFieldsComeOneByOne) {
    using namespace std::chrono_literals;
    auto const left = result_of(cmd::httl("k", {"a", "b", "c"}), "*3\r\n:10\r\n:-1\r\n:-2\r\n");
    ASSERT_EQ(left.size(), 3U);
    EXPECT_EQ(left[0].value, 10s);
    EXPECT_TRUE(left[1].exists);
    EXPECT_FALSE(left[2].exists);
    EXPECT_EQ(result_of(cmd::hexpire("k", 1s, "f"), "*1\r\n:1\r\n"), std::vector<int>{1});
    EXPECT_EQ(result_of(cmd::hexpire("k", 1s, "f"), "_\r\n"), std::vector<int>());
    EXPECT_EQ(result_of(cmd::hmget<int>("k", {"f", "g"}), "*2\r\n$1\r\n1\r\n_\r\n"),
              (std::vector<std::optional<int>>{1, std::nullopt}));
}

} // namespace fairlead::test
