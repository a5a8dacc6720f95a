// Where a reply is not about the engine's clock or its limits, it is what redis-server answers to the same line.
#include <unit/redis_server/typist.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace {

using fairlead::test::no_integer;
using fairlead::test::typist;
using fairlead::test::wrong_type;

class ServerStrings : public fairlead::test::server_test {};

TEST_F(ServerStrings, SetTakesOneConditionAndOneExpiry) {
    EXPECT_EQ(run("SET k v NX XX"), "-ERR syntax error\r\n");
    EXPECT_EQ(run("SET k v XX NX"), "-ERR syntax error\r\n");
    EXPECT_EQ(run("SET k v XX"), "$-1\r\n");
    EXPECT_EQ(run("EXISTS k"), ":0\r\n");
    EXPECT_EQ(run("SET k v GET"), "$-1\r\n");
    EXPECT_EQ(run("SET k w GET"), "$1\r\nv\r\n");
    EXPECT_EQ(run("SET k v KEEPTTL EX 5"), "-ERR syntax error\r\n");
    EXPECT_EQ(run("SET k v EX 5 KEEPTTL"), "-ERR syntax error\r\n");
    EXPECT_EQ(run("SET k v EX 5 PX 5"), "-ERR syntax error\r\n");
    EXPECT_EQ(run("SET k v EX"), "-ERR syntax error\r\n");
    EXPECT_EQ(run("SET k v EX abc"), no_integer);
    EXPECT_EQ(run("SET k v EX -1"), "-ERR invalid expire time in 'set' command\r\n");
    EXPECT_EQ(run("SET k v EX 9223372036854775807"), "-ERR invalid expire time in 'set' command\r\n");
    EXPECT_EQ(run("SET k v PX 9223372036854775807"), "-ERR invalid expire time in 'set' command\r\n");
    EXPECT_EQ(run("GET k"), "$1\r\nw\r\n");
    EXPECT_EQ(run("RPUSH l a"), ":1\r\n");
    EXPECT_EQ(run("SET l v GET"), wrong_type);
    EXPECT_EQ(run("LLEN l"), ":1\r\n");
    EXPECT_EQ(run("SET l v NX GET"), wrong_type);
    EXPECT_EQ(run("SET new v KEEPTTL"), "+OK\r\n");
    EXPECT_EQ(run("TTL new"), ":-1\r\n");
    EXPECT_EQ(run("SET k x EXAT 4102444800"), "+OK\r\n");
    EXPECT_EQ(run("EXPIRETIME k"), ":4102444800\r\n");
    EXPECT_EQ(run("SET k x PXAT 4102444800123"), "+OK\r\n");
    EXPECT_EQ(run("PEXPIRETIME k"), ":4102444800123\r\n");
    EXPECT_EQ(run("SET k y KEEPTTL"), "+OK\r\n");
    EXPECT_EQ(run("PEXPIRETIME k"), ":4102444800123\r\n");
    EXPECT_EQ(run("SET k z"), "+OK\r\n");
    EXPECT_EQ(run("TTL k"), ":-1\r\n");
}

TEST_F(ServerStrings, SetexRefusesATimeThatIsNone) {
    EXPECT_EQ(run("SETEX k 100 v"), "+OK\r\n");
    EXPECT_EQ(run("TTL k"), ":100\r\n");
    EXPECT_EQ(run("PSETEX k 100000 w"), "+OK\r\n");
    EXPECT_EQ(run("TTL k"), ":100\r\n");
    EXPECT_EQ(run("GET k"), "$1\r\nw\r\n");
    EXPECT_EQ(run("SETEX k 0 x"), "-ERR invalid expire time in 'setex' command\r\n");
    EXPECT_EQ(run("PSETEX k -5 x"), "-ERR invalid expire time in 'psetex' command\r\n");
    EXPECT_EQ(run("SETEX k soon x"), no_integer);
    EXPECT_EQ(run("GET k"), "$1\r\nw\r\n");
}

TEST_F(ServerStrings, SetnxAndGetsetTellWhatWasThere) {
    EXPECT_EQ(run("SETNX k 1"), ":1\r\n");
    EXPECT_EQ(run("SETNX k 2"), ":0\r\n");
    EXPECT_EQ(run("GETSET k 3"), "$1\r\n1\r\n");
    EXPECT_EQ(run("GETSET other 4"), "$-1\r\n");
    EXPECT_EQ(run("GET k"), "$1\r\n3\r\n");
    EXPECT_EQ(run("GET other"), "$1\r\n4\r\n");
    EXPECT_EQ(run("RPUSH l a"), ":1\r\n");
    EXPECT_EQ(run("GETSET l x"), wrong_type);
    EXPECT_EQ(run("GETDEL l"), wrong_type);
    EXPECT_EQ(run("GETDEL none"), "$-1\r\n");
    EXPECT_EQ(run("LLEN l"), ":1\r\n");
}

TEST_F(ServerStrings, GetexChangesTheExpiryOfWhatItReads) {
    EXPECT_EQ(run("SET k v"), "+OK\r\n");
    EXPECT_EQ(run("GETEX k"), "$1\r\nv\r\n");
    EXPECT_EQ(run("TTL k"), ":-1\r\n");
    EXPECT_EQ(run("GETEX k EX 100"), "$1\r\nv\r\n");
    EXPECT_EQ(run("TTL k"), ":100\r\n");
    EXPECT_EQ(run("GETEX k PERSIST"), "$1\r\nv\r\n");
    EXPECT_EQ(run("TTL k"), ":-1\r\n");
    EXPECT_EQ(run("GETEX k EX 0"), "-ERR invalid expire time in 'getex' command\r\n");
    EXPECT_EQ(run("GETEX k PX soon"), no_integer);
    EXPECT_EQ(run("GETEX k EX"), "-ERR syntax error\r\n");
    EXPECT_EQ(run("GETEX k FOO 10"), "-ERR syntax error\r\n");
    EXPECT_EQ(run("GETEX k EX 10 FOO"), "-ERR syntax error\r\n");
    EXPECT_EQ(run("GETEX k PXAT 4102444800123"), "$1\r\nv\r\n");
    EXPECT_EQ(run("PEXPIRETIME k"), ":4102444800123\r\n");
    EXPECT_EQ(run("GETEX none EX 10"), "$-1\r\n");
    EXPECT_EQ(run("EXISTS none"), ":0\r\n");
    EXPECT_EQ(run("RPUSH l a"), ":1\r\n");
    EXPECT_EQ(run("GETEX l EX 10"), wrong_type);
    EXPECT_EQ(run("TTL l"), ":-1\r\n");
}

TEST_F(ServerStrings, RangesOfAStringAreClamped) {
    EXPECT_EQ(run("SET k hello"), "+OK\r\n");
    EXPECT_EQ(run("GETRANGE k 0 -1"), "$5\r\nhello\r\n");
    EXPECT_EQ(run("GETRANGE k -100 1"), "$2\r\nhe\r\n");
    EXPECT_EQ(run("GETRANGE k 3 100"), "$2\r\nlo\r\n");
    EXPECT_EQ(run("GETRANGE k 3 1"), "$0\r\n\r\n");
    EXPECT_EQ(run("GETRANGE k 5 9"), "$0\r\n\r\n");
    EXPECT_EQ(run("GETRANGE k -2 -100"), "$0\r\n\r\n");
    EXPECT_EQ(run("GETRANGE none 0 -1"), "$0\r\n\r\n");
    EXPECT_EQ(run("GETRANGE k a 1"), no_integer);
    EXPECT_EQ(run("GETRANGE k 0 b"), no_integer);
    EXPECT_EQ(run("SETRANGE k 1 ipp"), ":5\r\n");
    EXPECT_EQ(run("GET k"), "$5\r\nhippo\r\n");
    EXPECT_EQ(run("SETRANGE k -1 x"), "-ERR offset is out of range\r\n");
    EXPECT_EQ(run("SETRANGE k x x"), no_integer);
    EXPECT_EQ(run(R"(SETRANGE k 2 "")"), ":5\r\n");
    EXPECT_EQ(run(R"(SETRANGE none 2 "")"), ":0\r\n");
    EXPECT_EQ(run("EXISTS none"), ":0\r\n");
    EXPECT_EQ(run("SETRANGE new 2 x"), ":3\r\n");
    EXPECT_EQ(run("STRLEN new"), ":3\r\n");
    EXPECT_EQ(run("STRLEN none"), ":0\r\n");
    EXPECT_EQ(run("APPEND fresh ab"), ":2\r\n");
    EXPECT_EQ(run("APPEND fresh cd"), ":4\r\n");
    EXPECT_EQ(run("GET fresh"), "$4\r\nabcd\r\n");
}

TEST_F(ServerStrings, CountersSayWhyTheyDoNotCount) {
    EXPECT_EQ(run("INCRBY n 5"), ":5\r\n");
    EXPECT_EQ(run("DECR n"), ":4\r\n");
    EXPECT_EQ(run("INCRBY n x"), no_integer);
    EXPECT_EQ(run("DECRBY n x"), no_integer);
    EXPECT_EQ(run("SET n 007"), "+OK\r\n");
    EXPECT_EQ(run("INCR n"), no_integer);
    EXPECT_EQ(run("SET n -0"), "+OK\r\n");
    EXPECT_EQ(run("INCR n"), no_integer);
    EXPECT_EQ(run(R"(SET n "")"), "+OK\r\n");
    EXPECT_EQ(run("INCR n"), no_integer);
    EXPECT_EQ(run("SET n 0"), "+OK\r\n");
    EXPECT_EQ(run("DECRBY n 1"), ":-1\r\n");
    EXPECT_EQ(run("INCRBY n -9223372036854775808"), "-ERR increment or decrement would overflow\r\n");
    EXPECT_EQ(run("RPUSH l a"), ":1\r\n");
    EXPECT_EQ(run("INCR l"), wrong_type);
    EXPECT_EQ(run("INCRBYFLOAT l 1"), wrong_type);
    EXPECT_EQ(run("SET f 10.5"), "+OK\r\n");
    EXPECT_EQ(run("INCRBYFLOAT f -0.5"), "$2\r\n10\r\n");
    EXPECT_EQ(run("INCRBYFLOAT f x"), "-ERR value is not a valid float\r\n");
    EXPECT_EQ(run("INCRBYFLOAT f 1.5x"), "-ERR value is not a valid float\r\n");
    EXPECT_EQ(run("INCRBYFLOAT f nan"), "-ERR value is not a valid float\r\n");
    EXPECT_EQ(run("SET f x"), "+OK\r\n");
    EXPECT_EQ(run("INCRBYFLOAT f 1"), "-ERR value is not a valid float\r\n");
    EXPECT_EQ(run("SET f 5.0e3"), "+OK\r\n");
    EXPECT_EQ(run("INCRBYFLOAT f 200"), "$4\r\n5200\r\n");
}

TEST_F(ServerStrings, SeveralStringsAreSetTogetherOrNotAtAll) {
    EXPECT_EQ(run("MSETNX a 1 b 2"), ":1\r\n");
    EXPECT_EQ(run("MSETNX c 3 b 4"), ":0\r\n");
    EXPECT_EQ(run("EXISTS c"), ":0\r\n");
    EXPECT_EQ(run("MSETNX a"), "-ERR wrong number of arguments for 'msetnx' command\r\n");
    EXPECT_EQ(run("MSETNX a 1 b"), "-ERR wrong number of arguments for 'msetnx' command\r\n");
    EXPECT_EQ(run("MSET a 1 b"), "-ERR wrong number of arguments for 'mset' command\r\n");
    EXPECT_EQ(run("MSET a"), "-ERR wrong number of arguments for 'mset' command\r\n");
    EXPECT_EQ(run("MGET a b c"), "*3\r\n$1\r\n1\r\n$1\r\n2\r\n$-1\r\n");
    EXPECT_EQ(run("RPUSH l x"), ":1\r\n");
    EXPECT_EQ(run("MGET a l"), "*2\r\n$1\r\n1\r\n$-1\r\n");
    EXPECT_EQ(run("SETNX l v"), ":0\r\n");
    EXPECT_EQ(run("MSET l v a 3"), "+OK\r\n");
    EXPECT_EQ(run("MGET l a"), "*2\r\n$1\r\nv\r\n$1\r\n3\r\n");
}

TEST_F(ServerStrings, CommandsOnStringsLeaveOtherKindsAlone) {
    run("RPUSH l a");
    for (char const* command : {"GET l", "GETEX l", "GETDEL l", "GETSET l x", "SET l x GET", "APPEND l x", "STRLEN l",
                                "GETRANGE l 0 1", "SETRANGE l 0 x", "INCR l", "DECRBY l 2", "INCRBYFLOAT l 1"})
        EXPECT_EQ(run(command), wrong_type) << command;
    EXPECT_EQ(run("LRANGE l 0 -1"), "*1\r\n$1\r\na\r\n");
}

TEST(ServerStringsLimits, AStringGrowsNoLongerThanAnArgumentMayBe) {
    fairlead::redis::server_engine_options options;
    options.bulk_bytes_max = 10;
    fairlead::redis::server_engine engine(options);
    typist run(engine);
    constexpr std::string_view too_long = "-ERR string exceeds maximum allowed size (proto-max-bulk-len)\r\n";
    EXPECT_EQ(run("APPEND k 0123456789"), ":10\r\n");
    EXPECT_EQ(run("APPEND k x"), too_long);
    EXPECT_EQ(run("SETRANGE k 9 x"), ":10\r\n");
    EXPECT_EQ(run("SETRANGE k 9 xy"), too_long);
    EXPECT_EQ(run("SETRANGE k 9223372036854775807 x"), too_long);
    EXPECT_EQ(run("GET k"), "$10\r\n012345678x\r\n");
}

TEST_F(ServerStrings, AFloatThatLeavesItsRangeIsRefused) {
    run("SET f 1.1e4932");
    EXPECT_EQ(run("INCRBYFLOAT f 1.1e4932"), "-ERR increment would produce NaN or Infinity\r\n");
    EXPECT_EQ(run("GET f"), "$8\r\n1.1e4932\r\n");
}

TEST_F(ServerStrings, TheLastMomentOfAllIsNoExpiry) {
    // It stands for keys that never expire.
    EXPECT_EQ(run("SET k v PXAT 9223372036854775807"), "-ERR invalid expire time in 'set' command\r\n");
    EXPECT_EQ(run("EXISTS k"), ":0\r\n");
}

} // namespace
