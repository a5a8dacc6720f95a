// Where a reply is not about the engine's clock or its limits, it is what redis-server answers to the same line.
#include <unit/redis_server/typist.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>

namespace {

using namespace std::chrono_literals;
using fairlead::test::no_integer;
using fairlead::test::typist;

class ServerKeyspace : public fairlead::test::server_test {};

TEST_F(ServerKeyspace, TypesAreNamed) {
    EXPECT_EQ(run("SET s v"), "+OK\r\n");
    EXPECT_EQ(run("HSET h f v"), ":1\r\n");
    EXPECT_EQ(run("RPUSH l v"), ":1\r\n");
    EXPECT_EQ(run("SADD t v"), ":1\r\n");
    EXPECT_EQ(run("TYPE s"), "+string\r\n");
    EXPECT_EQ(run("TYPE h"), "+hash\r\n");
    EXPECT_EQ(run("TYPE l"), "+list\r\n");
    EXPECT_EQ(run("TYPE t"), "+set\r\n");
    EXPECT_EQ(run("TYPE none"), "+none\r\n");
    EXPECT_EQ(run("EXISTS s s none"), ":2\r\n");
    EXPECT_EQ(run("TOUCH s h"), ":2\r\n");
    EXPECT_EQ(run("UNLINK s none h"), ":2\r\n");
}

TEST_F(ServerKeyspace, PatternsChooseKeys) {
    EXPECT_EQ(run("MSET hello 1 hallo 1 hbllo 1 hxllo 1"), "+OK\r\n");
    EXPECT_EQ(run("KEYS h[e]llo"), "*1\r\n$5\r\nhello\r\n");
    EXPECT_EQ(run("KEYS h[^abx]llo"), "*1\r\n$5\r\nhello\r\n");
    EXPECT_EQ(run("KEYS h[d-g]llo"), "*1\r\n$5\r\nhello\r\n");
    EXPECT_EQ(run("KEYS h[g-d]llo"), "*1\r\n$5\r\nhello\r\n");
    EXPECT_EQ(run("KEYS hel?o"), "*1\r\n$5\r\nhello\r\n");
    EXPECT_EQ(run("KEYS hello?"), "*0\r\n");
    EXPECT_EQ(run("KEYS hello*"), "*1\r\n$5\r\nhello\r\n");
    EXPECT_EQ(run("KEYS *ell*o"), "*1\r\n$5\r\nhello\r\n");
    EXPECT_EQ(run(R"(KEYS he\llo)"), "*1\r\n$5\r\nhello\r\n");
    EXPECT_EQ(run(R"(KEYS h[\e]llo)"), "*1\r\n$5\r\nhello\r\n");
    EXPECT_EQ(run(R"(KEYS h[\a]llo)"), "*1\r\n$5\r\nhallo\r\n");
    EXPECT_EQ(run("KEYS hell[o"), "*1\r\n$5\r\nhello\r\n");
    EXPECT_EQ(run("KEYS hell[^a"), "*1\r\n$5\r\nhello\r\n");
    EXPECT_EQ(run(R"(KEYS hello\)"), "*0\r\n");
    EXPECT_EQ(run(R"(KEYS hell\o)"), "*1\r\n$5\r\nhello\r\n");
    EXPECT_EQ(run(R"(KEYS hell\p)"), "*0\r\n");
    EXPECT_EQ(run("KEYS ["), "*0\r\n");
    EXPECT_EQ(run("KEYS hell[n-"), "*0\r\n");
    EXPECT_EQ(run("KEYS hell[o-"), "*1\r\n$5\r\nhello\r\n");
    EXPECT_EQ(run(R"(KEYS hell[\)"), "*0\r\n");
    EXPECT_EQ(run("KEYS hello["), "*0\r\n");
    EXPECT_EQ(run("KEYS *z"), "*0\r\n");
    EXPECT_EQ(run("KEYS hell"), "*0\r\n");
    EXPECT_EQ(run(R"(KEYS "")"), "*0\r\n");
    EXPECT_EQ(run("DEL hello hallo hbllo hxllo"), ":4\r\n");
    EXPECT_EQ(run("SET a] 1"), "+OK\r\n");
    EXPECT_EQ(run(R"(KEYS a[\]])"), "*1\r\n$2\r\na]\r\n");
    EXPECT_EQ(run("KEYS a[]]"), "*0\r\n");
    EXPECT_EQ(run("SET a- 1"), "+OK\r\n");
    EXPECT_EQ(run("KEYS a[-]"), "*1\r\n$2\r\na-\r\n");
    EXPECT_EQ(run(R"(KEYS a\-)"), "*1\r\n$2\r\na-\r\n");
    EXPECT_EQ(run(R"(SET b\ 1)"), "+OK\r\n");
    EXPECT_EQ(run(R"(KEYS b\)"), "*1\r\n$2\r\nb\\\r\n");
    EXPECT_EQ(run(R"(KEYS b\\)"), "*1\r\n$2\r\nb\\\r\n");
    EXPECT_EQ(run(R"(KEYS b[\)"), "*1\r\n$2\r\nb\\\r\n");
    EXPECT_EQ(run("SET a* 1"), "+OK\r\n");
    EXPECT_EQ(run(R"(KEYS a\*)"), "*1\r\n$2\r\na*\r\n");
    EXPECT_EQ(run(R"(KEYS *\*)"), "*1\r\n$2\r\na*\r\n");
}

TEST_F(ServerKeyspace, ScanGivesEverythingAtOnceUnlessLessIsAskedFor) {
    EXPECT_EQ(run("SET s v"), "+OK\r\n");
    EXPECT_EQ(run("RPUSH l a"), ":1\r\n");
    EXPECT_EQ(run("SCAN 0 MATCH s*"), "*2\r\n$1\r\n0\r\n*1\r\n$1\r\ns\r\n");
    EXPECT_EQ(run("SCAN 0 TYPE list"), "*2\r\n$1\r\n0\r\n*1\r\n$1\r\nl\r\n");
    EXPECT_EQ(run("SCAN 0 TYPE LIST COUNT 100"), "*2\r\n$1\r\n0\r\n*1\r\n$1\r\nl\r\n");
    EXPECT_EQ(run("SCAN 0 TYPE set"), "*2\r\n$1\r\n0\r\n*0\r\n");
    EXPECT_EQ(run("SCAN x"), "-ERR invalid cursor\r\n");
    EXPECT_EQ(run("SCAN 0 MATCH"), "-ERR syntax error\r\n");
    EXPECT_EQ(run("SCAN 0 COUNT 0"), "-ERR syntax error\r\n");
    EXPECT_EQ(run("SCAN 0 COUNT x"), no_integer);
    EXPECT_EQ(run("SCAN 0 FOO 1"), "-ERR syntax error\r\n");
    EXPECT_EQ(run("DEL l"), ":1\r\n");
    EXPECT_EQ(run("RANDOMKEY"), "$1\r\ns\r\n");
    EXPECT_EQ(run("DEL s"), ":1\r\n");
    EXPECT_EQ(run("RANDOMKEY"), "$-1\r\n");
}

TEST_F(ServerKeyspace, RenamingMovesValueAndExpiry) {
    EXPECT_EQ(run("RENAME none k"), "-ERR no such key\r\n");
    EXPECT_EQ(run("SET a 1 EX 100"), "+OK\r\n");
    EXPECT_EQ(run("SET b 2"), "+OK\r\n");
    EXPECT_EQ(run("RENAMENX a b"), ":0\r\n");
    EXPECT_EQ(run("RENAMENX a a"), ":0\r\n");
    EXPECT_EQ(run("RENAME a a"), "+OK\r\n");
    EXPECT_EQ(run("TTL a"), ":100\r\n");
    EXPECT_EQ(run("RENAME a b"), "+OK\r\n");
    EXPECT_EQ(run("GET b"), "$1\r\n1\r\n");
    EXPECT_EQ(run("TTL b"), ":100\r\n");
    EXPECT_EQ(run("EXISTS a"), ":0\r\n");
    EXPECT_EQ(run("RENAMENX b c"), ":1\r\n");
    EXPECT_EQ(run("GET c"), "$1\r\n1\r\n");
    EXPECT_EQ(run("RENAMENX none c"), "-ERR no such key\r\n");
}

TEST_F(ServerKeyspace, FlushingTakesAMode) {
    EXPECT_EQ(run("SET k v"), "+OK\r\n");
    EXPECT_EQ(run("FLUSHDB NOW"), "-ERR syntax error\r\n");
    EXPECT_EQ(run("FLUSHALL NOW"), "-ERR syntax error\r\n");
    EXPECT_EQ(run("FLUSHDB ASYNC NOW"), "-ERR syntax error\r\n");
    EXPECT_EQ(run("FLUSHALL SYNC ASYNC"), "-ERR syntax error\r\n");
    EXPECT_EQ(run("EXISTS k"), ":1\r\n");
    EXPECT_EQ(run("FLUSHDB ASYNC"), "+OK\r\n");
    EXPECT_EQ(run("EXISTS k"), ":0\r\n");
    EXPECT_EQ(run("SET k v"), "+OK\r\n");
    EXPECT_EQ(run("FLUSHALL SYNC"), "+OK\r\n");
    EXPECT_EQ(run("EXISTS k"), ":0\r\n");
}

TEST_F(ServerKeyspace, ExpiryHasConditions) {
    EXPECT_EQ(run("SET k v"), "+OK\r\n");
    EXPECT_EQ(run("EXPIRE k 100 XX"), ":0\r\n");
    EXPECT_EQ(run("EXPIRE k 100 GT"), ":0\r\n");
    EXPECT_EQ(run("EXPIRE k 100 NX"), ":1\r\n");
    EXPECT_EQ(run("EXPIRE k 200 NX"), ":0\r\n");
    EXPECT_EQ(run("EXPIRE k 200 XX"), ":1\r\n");
    EXPECT_EQ(run("EXPIRE k 100 GT"), ":0\r\n");
    EXPECT_EQ(run("EXPIRE k 300 GT"), ":1\r\n");
    EXPECT_EQ(run("EXPIRE k 400 LT"), ":0\r\n");
    EXPECT_EQ(run("EXPIRE k 50 LT"), ":1\r\n");
    EXPECT_EQ(run("TTL k"), ":50\r\n");
    EXPECT_EQ(run("EXPIRE k 100 NX XX"), "-ERR NX and XX, GT or LT options at the same time are not compatible\r\n");
    EXPECT_EQ(run("EXPIRE k 100 NX GT"), "-ERR NX and XX, GT or LT options at the same time are not compatible\r\n");
    EXPECT_EQ(run("EXPIRE k 100 NX LT"), "-ERR NX and XX, GT or LT options at the same time are not compatible\r\n");
    EXPECT_EQ(run("EXPIRE k 100 GT LT"), "-ERR GT and LT options at the same time are not compatible\r\n");
    EXPECT_EQ(run("EXPIRE k 100 FOO"), "-ERR Unsupported option FOO\r\n");
    EXPECT_EQ(run("EXPIRE k soon"), no_integer);
    EXPECT_EQ(run("EXPIRE none 100"), ":0\r\n");
    EXPECT_EQ(run("PERSIST k"), ":1\r\n");
    EXPECT_EQ(run("EXPIRE k 100 LT"), ":1\r\n");
    EXPECT_EQ(run("EXPIRE k 9223372036854775807"), "-ERR invalid expire time in 'expire' command\r\n");
    EXPECT_EQ(run("PEXPIRE k 9223372036854775807"), "-ERR invalid expire time in 'pexpire' command\r\n");
    EXPECT_EQ(run("EXPIREAT k -9223372036854775808"), "-ERR invalid expire time in 'expireat' command\r\n");
    EXPECT_EQ(run("PEXPIRE k 100000"), ":1\r\n");
    EXPECT_EQ(run("TTL k"), ":100\r\n");
    EXPECT_EQ(run("PEXPIREAT k 4102444800123"), ":1\r\n");
    EXPECT_EQ(run("EXPIRETIME k"), ":4102444800\r\n");
    EXPECT_EQ(run("PEXPIRETIME k"), ":4102444800123\r\n");
    EXPECT_EQ(run("EXPIREAT k 4102444800"), ":1\r\n");
    EXPECT_EQ(run("PEXPIRETIME k"), ":4102444800000\r\n");
    EXPECT_EQ(run("PERSIST k"), ":1\r\n");
    EXPECT_EQ(run("PERSIST k"), ":0\r\n");
    EXPECT_EQ(run("PERSIST none"), ":0\r\n");
    EXPECT_EQ(run("EXPIRETIME k"), ":-1\r\n");
    EXPECT_EQ(run("PTTL none"), ":-2\r\n");
    EXPECT_EQ(run("EXPIREAT k 1"), ":1\r\n");
    EXPECT_EQ(run("EXISTS k"), ":0\r\n");
}

TEST_F(ServerKeyspace, ListsLeaveOutWhatHasExpired) {
    run("SET gone 1 PX 10");
    run("SET kept 1 PX 20");
    now_ += 10ms;
    EXPECT_EQ(run("KEYS *"), "*1\r\n$4\r\nkept\r\n");
    EXPECT_EQ(run("DBSIZE"), ":1\r\n");
    EXPECT_EQ(run("EXISTS gone kept"), ":1\r\n");
}

TEST_F(ServerKeyspace, AWatchedKeyThatExpiresWhileKeysAreListedHasChanged) {
    run("SET k v PX 10");
    run("WATCH k");
    now_ += 10ms;
    typist other(engine_);
    EXPECT_EQ(other("KEYS *"), "*0\r\n");
    run("MULTI");
    run("PING");
    EXPECT_EQ(run("EXEC"), "*-1\r\n");
}

TEST_F(ServerKeyspace, TheTimeToLiveIsRoundedToSeconds) {
    run("SET k v PX 1499");
    EXPECT_EQ(run("TTL k"), ":1\r\n");
    run("SET k v PX 1500");
    EXPECT_EQ(run("TTL k"), ":2\r\n");
    EXPECT_EQ(run("PTTL k"), ":1500\r\n");
}

} // namespace
