#include <fairlead/redis/cmd/keys.hpp>
#include <support/redis_command.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace fairlead::test {

namespace cmd = redis::cmd;

TEST(RedisCommandsKeys, AreSerialisedAsTheServerHasThem) {
    using namespace redis::options;
    using namespace std::chrono_literals;
    auto const at = std::chrono::system_clock::time_point(1700000000900ms);
    EXPECT_EQ(words_of(cmd::copy("a", "b")), "COPY a b");
    EXPECT_EQ(words_of(cmd::copy("a", "b", db(3), replace)), "COPY a b DB 3 REPLACE");
    EXPECT_EQ(words_of(cmd::del({"a", "b"})), "DEL a b");
    EXPECT_EQ(words_of(cmd::dump("k")), "DUMP k");
    EXPECT_EQ(words_of(cmd::exists("k")), "EXISTS k");
    EXPECT_EQ(words_of(cmd::expire("k", 1min)), "EXPIRE k 60");
    EXPECT_EQ(words_of(cmd::expire("k", 1min, xx, gt)), "EXPIRE k 60 XX GT");
    EXPECT_EQ(words_of(cmd::expireat("k", at, lt)), "EXPIREAT k 1700000000 LT");
    EXPECT_EQ(words_of(cmd::expiretime("k")), "EXPIRETIME k");
    EXPECT_EQ(words_of(cmd::keys("p*")), "KEYS p*");
    EXPECT_EQ(words_of(cmd::move("k", 1)), "MOVE k 1");
    EXPECT_EQ(words_of(cmd::object_encoding("k")), "OBJECT ENCODING k");
    EXPECT_EQ(words_of(cmd::object_freq("k")), "OBJECT FREQ k");
    EXPECT_EQ(words_of(cmd::object_idletime("k")), "OBJECT IDLETIME k");
    EXPECT_EQ(words_of(cmd::object_refcount("k")), "OBJECT REFCOUNT k");
    EXPECT_EQ(words_of(cmd::persist("k")), "PERSIST k");
    EXPECT_EQ(words_of(cmd::pexpire("k", 1s, nx)), "PEXPIRE k 1000 NX");
    EXPECT_EQ(words_of(cmd::pexpireat("k", at)), "PEXPIREAT k 1700000000900");
    EXPECT_EQ(words_of(cmd::pexpiretime("k")), "PEXPIRETIME k");
    EXPECT_EQ(words_of(cmd::pttl("k")), "PTTL k");
    EXPECT_EQ(words_of(cmd::randomkey()), "RANDOMKEY");
    EXPECT_EQ(words_of(cmd::rename("a", "b")), "RENAME a b");
    EXPECT_EQ(words_of(cmd::renamenx("a", "b")), "RENAMENX a b");
    EXPECT_EQ(words_of(cmd::restore("k", 0ms, "dump")), "RESTORE k 0 dump");
    EXPECT_EQ(words_of(cmd::restore("k", 5s, "dump", replace)), "RESTORE k 5000 dump REPLACE");
    EXPECT_EQ(words_of(cmd::scan(0)), "SCAN 0");
    EXPECT_EQ(words_of(cmd::scan(17, match("p*"), count(100), of_type("hash"))),
              "SCAN 17 MATCH p* COUNT 100 TYPE hash");
    EXPECT_EQ(words_of(cmd::sort("k")), "SORT k");
    EXPECT_EQ(words_of(cmd::sort("k", by("w_*"), limit(0, 10), desc, alpha)), "SORT k BY w_* LIMIT 0 10 DESC ALPHA");
    EXPECT_EQ(words_of(cmd::sort_ro("k", asc)), "SORT_RO k ASC");
    EXPECT_EQ(words_of(cmd::sort_store("k", "t", asc)), "SORT k ASC STORE t");
    EXPECT_EQ(words_of(cmd::touch({"a", "b"})), "TOUCH a b");
    EXPECT_EQ(words_of(cmd::ttl("k")), "TTL k");
    EXPECT_EQ(words_of(cmd::type("k")), "TYPE k");
    EXPECT_EQ(words_of(cmd::unlink("k")), "UNLINK k");
}

TEST(RedisCommandsKeys, ExpiriesTellAMissingKeyFromOneThatStays) {
    using namespace std::chrono_literals;
    auto const left = result_of(cmd::ttl("k"), ":10\r\n");
    EXPECT_TRUE(left.exists);
    EXPECT_EQ(left.value, 10s);
    EXPECT_EQ(result_of(cmd::pttl("k"), ":10\r\n").value, 10ms);
    EXPECT_EQ(result_of(cmd::ttl("k"), ":0\r\n").value, 0s);
    auto const stays = result_of(cmd::ttl("k"), ":-1\r\n");
    EXPECT_TRUE(stays.exists);
    EXPECT_EQ(stays.value, std::nullopt);
    auto const missing = result_of(cmd::ttl("k"), ":-2\r\n");
    EXPECT_FALSE(missing.exists);
    EXPECT_EQ(missing.value, std::nullopt);
    EXPECT_EQ(result_of(cmd::expiretime("k"), ":1700000000\r\n").value, std::chrono::sys_seconds(1700000000s));
    EXPECT_EQ(result_of(cmd::pexpiretime("k"), ":1700000000900\r\n").value,
              std::chrono::sys_time<std::chrono::milliseconds>(1700000000900ms));
}

TEST(RedisCommandsKeys, APageOfAScanHasACursorAndItems) {
    auto const page = result_of(cmd::scan(0), "*2\r\n$20\r\n18446744073709551615\r\n*2\r\n$1\r\na\r\n$1\r\nb\r\n");
    EXPECT_EQ(page.cursor, UINT64_MAX);
    EXPECT_FALSE(page.is_last());
    EXPECT_EQ(page.items, (std::vector<std::string>{"a", "b"}));
    auto const last = result_of(cmd::scan(7), "*2\r\n$1\r\n0\r\n*0\r\n");
    EXPECT_TRUE(last.is_last());
    EXPECT_TRUE(last.items.empty());
}

TEST(RedisCommandsKeys, OthersHaveNumbersTruthValuesAndTexts) {
    using namespace std::chrono_literals;
    EXPECT_TRUE(result_of(cmd::expire("k", 1s), ":1\r\n"));
    EXPECT_EQ(result_of(cmd::del("k"), ":1\r\n"), 1);
    EXPECT_EQ(result_of(cmd::type("k"), "+hash\r\n"), "hash");
    EXPECT_EQ(result_of(cmd::object_encoding("k"), "$-1\r\n"), std::nullopt);
    EXPECT_EQ(result_of(cmd::sort<int>("k"), "*2\r\n$1\r\n1\r\n$1\r\n2\r\n"), (std::vector<int>{1, 2}));
}

} // namespace fairlead::test
