// Where a reply is not about the engine's clock or its limits, it is what redis-server answers to the same line.
#include <unit/redis_server/typist.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace {

using fairlead::test::no_integer;
using fairlead::test::typist;
using fairlead::test::wrong_type;

class ServerCollections : public fairlead::test::server_test {};

TEST_F(ServerCollections, HashesAnswerForWhatIsNotThere) {
    EXPECT_EQ(run("HSET h a"), "-ERR wrong number of arguments for 'hset' command\r\n");
    EXPECT_EQ(run("HSET h a 1 b"), "-ERR wrong number of arguments for 'hset' command\r\n");
    EXPECT_EQ(run("HMSET h a 1 b"), "-ERR wrong number of arguments for 'hmset' command\r\n");
    EXPECT_EQ(run("EXISTS h"), ":0\r\n");
    EXPECT_EQ(run("HMSET h a 1 b 22"), "+OK\r\n");
    EXPECT_EQ(run("HSET h a 2 c 3"), ":1\r\n");
    EXPECT_EQ(run("HSETNX h a 9"), ":0\r\n");
    EXPECT_EQ(run("HSETNX h d 4"), ":1\r\n");
    EXPECT_EQ(run("HGET h a"), "$1\r\n2\r\n");
    EXPECT_EQ(run("HGET h none"), "$-1\r\n");
    EXPECT_EQ(run("HGET none a"), "$-1\r\n");
    EXPECT_EQ(run("HMGET none a b"), "*2\r\n$-1\r\n$-1\r\n");
    EXPECT_EQ(run("HKEYS none"), "*0\r\n");
    EXPECT_EQ(run("HVALS none"), "*0\r\n");
    EXPECT_EQ(run("HGETALL none"), "*0\r\n");
    EXPECT_EQ(run("HLEN h"), ":4\r\n");
    EXPECT_EQ(run("HLEN none"), ":0\r\n");
    EXPECT_EQ(run("HEXISTS h a"), ":1\r\n");
    EXPECT_EQ(run("HEXISTS h none"), ":0\r\n");
    EXPECT_EQ(run("HEXISTS none a"), ":0\r\n");
    EXPECT_EQ(run("HSTRLEN h b"), ":2\r\n");
    EXPECT_EQ(run("HSTRLEN h none"), ":0\r\n");
    EXPECT_EQ(run("HSTRLEN none a"), ":0\r\n");
    EXPECT_EQ(run("HDEL h none"), ":0\r\n");
    EXPECT_EQ(run("HDEL none a"), ":0\r\n");
    EXPECT_EQ(run("HDEL h d c none"), ":2\r\n");
    EXPECT_EQ(run("HLEN h"), ":2\r\n");
    EXPECT_EQ(run("HINCRBY h n 5"), ":5\r\n");
    EXPECT_EQ(run("HINCRBY new n -2"), ":-2\r\n");
    EXPECT_EQ(run("HINCRBY h n x"), no_integer);
    EXPECT_EQ(run("HSET h word x"), ":1\r\n");
    EXPECT_EQ(run("HINCRBY h word 1"), "-ERR hash value is not an integer\r\n");
    EXPECT_EQ(run("HSET h n 9223372036854775807"), ":0\r\n");
    EXPECT_EQ(run("HINCRBY h n 1"), "-ERR increment or decrement would overflow\r\n");
    EXPECT_EQ(run("HDEL new n"), ":1\r\n");
    EXPECT_EQ(run("EXISTS new"), ":0\r\n");
    EXPECT_EQ(run("HSET one f v"), ":1\r\n");
    EXPECT_EQ(run("HKEYS one"), "*1\r\n$1\r\nf\r\n");
    EXPECT_EQ(run("HVALS one"), "*1\r\n$1\r\nv\r\n");
}

TEST_F(ServerCollections, ListsCountFromBothEnds) {
    EXPECT_EQ(run("LPUSHX l a"), ":0\r\n");
    EXPECT_EQ(run("RPUSHX l a"), ":0\r\n");
    EXPECT_EQ(run("EXISTS l"), ":0\r\n");
    EXPECT_EQ(run("RPUSH l a b c d"), ":4\r\n");
    EXPECT_EQ(run("LPUSHX l z y"), ":6\r\n");
    EXPECT_EQ(run("RPUSHX l e"), ":7\r\n");
    EXPECT_EQ(run("LLEN l"), ":7\r\n");
    EXPECT_EQ(run("LLEN none"), ":0\r\n");
    EXPECT_EQ(run("LRANGE l 0 -1"),
              "*7\r\n$1\r\ny\r\n$1\r\nz\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n$1\r\nd\r\n$1\r\ne\r\n");
    EXPECT_EQ(run("LRANGE l -2 100"), "*2\r\n$1\r\nd\r\n$1\r\ne\r\n");
    EXPECT_EQ(run("LRANGE l 3 1"), "*0\r\n");
    EXPECT_EQ(run("LRANGE l 100 200"), "*0\r\n");
    EXPECT_EQ(run("LRANGE l -100 0"), "*1\r\n$1\r\ny\r\n");
    EXPECT_EQ(run("LRANGE none 0 -1"), "*0\r\n");
    EXPECT_EQ(run("LRANGE l x 1"), no_integer);
    EXPECT_EQ(run("LRANGE l 1 x"), no_integer);
    EXPECT_EQ(run("LINDEX l 0"), "$1\r\ny\r\n");
    EXPECT_EQ(run("LINDEX l -1"), "$1\r\ne\r\n");
    EXPECT_EQ(run("LINDEX l 7"), "$-1\r\n");
    EXPECT_EQ(run("LINDEX l -8"), "$-1\r\n");
    EXPECT_EQ(run("LINDEX none 0"), "$-1\r\n");
    EXPECT_EQ(run("LINDEX l x"), no_integer);
    EXPECT_EQ(run("LSET l 0 Y"), "+OK\r\n");
    EXPECT_EQ(run("LSET l -1 E"), "+OK\r\n");
    EXPECT_EQ(run("LSET l 7 x"), "-ERR index out of range\r\n");
    EXPECT_EQ(run("LSET none 0 x"), "-ERR no such key\r\n");
    EXPECT_EQ(run("LSET l x x"), no_integer);
    EXPECT_EQ(run("LTRIM l 1 -2"), "+OK\r\n");
    EXPECT_EQ(run("LRANGE l 0 -1"), "*5\r\n$1\r\nz\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n$1\r\nd\r\n");
    EXPECT_EQ(run("LTRIM l x 1"), no_integer);
    EXPECT_EQ(run("LTRIM l 1 x"), no_integer);
    EXPECT_EQ(run("LTRIM none 0 1"), "+OK\r\n");
    EXPECT_EQ(run("LTRIM l 9 1"), "+OK\r\n");
    EXPECT_EQ(run("EXISTS l"), ":0\r\n");
}

TEST_F(ServerCollections, PoppingTakesACount) {
    EXPECT_EQ(run("RPUSH l a b c d e"), ":5\r\n");
    EXPECT_EQ(run("LPOP l 2"), "*2\r\n$1\r\na\r\n$1\r\nb\r\n");
    EXPECT_EQ(run("RPOP l 0"), "*0\r\n");
    EXPECT_EQ(run("LPOP l -1"), "-ERR value is out of range, must be positive\r\n");
    EXPECT_EQ(run("LPOP l x"), "-ERR value is out of range, must be positive\r\n");
    EXPECT_EQ(run("LPOP l 1 1"), "-ERR wrong number of arguments for 'lpop' command\r\n");
    EXPECT_EQ(run("RPOP l 1 1"), "-ERR wrong number of arguments for 'rpop' command\r\n");
    EXPECT_EQ(run("LPOP none"), "$-1\r\n");
    EXPECT_EQ(run("LPOP none 2"), "*-1\r\n");
    EXPECT_EQ(run("RPOP none"), "$-1\r\n");
    EXPECT_EQ(run("RPOP none 2"), "*-1\r\n");
    EXPECT_EQ(run("RPOP l"), "$1\r\ne\r\n");
    EXPECT_EQ(run("LPOP l 100"), "*2\r\n$1\r\nc\r\n$1\r\nd\r\n");
    EXPECT_EQ(run("EXISTS l"), ":0\r\n");
    EXPECT_EQ(run("SADD t only"), ":1\r\n");
    EXPECT_EQ(run("SPOP t 0"), "*0\r\n");
    EXPECT_EQ(run("SPOP t -1"), "-ERR value is out of range, must be positive\r\n");
    EXPECT_EQ(run("SPOP t x"), "-ERR value is out of range, must be positive\r\n");
    EXPECT_EQ(run("SPOP t 1 1"), "-ERR syntax error\r\n");
    EXPECT_EQ(run("SPOP t"), "$4\r\nonly\r\n");
    EXPECT_EQ(run("EXISTS t"), ":0\r\n");
    EXPECT_EQ(run("SPOP t"), "$-1\r\n");
    EXPECT_EQ(run("SPOP t 2"), "*0\r\n");
    EXPECT_EQ(run("SADD t only"), ":1\r\n");
    EXPECT_EQ(run("SPOP t 5"), "*1\r\n$4\r\nonly\r\n");
    EXPECT_EQ(run("EXISTS t"), ":0\r\n");
}

TEST_F(ServerCollections, LremRemovesFromTheSideThatItsSignNames) {
    EXPECT_EQ(run("RPUSH l a b a b a"), ":5\r\n");
    EXPECT_EQ(run("LREM l 1 a"), ":1\r\n");
    EXPECT_EQ(run("LRANGE l 0 -1"), "*4\r\n$1\r\nb\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\na\r\n");
    EXPECT_EQ(run("LREM l -1 a"), ":1\r\n");
    EXPECT_EQ(run("LRANGE l 0 -1"), "*3\r\n$1\r\nb\r\n$1\r\na\r\n$1\r\nb\r\n");
    EXPECT_EQ(run("LREM l 0 b"), ":2\r\n");
    EXPECT_EQ(run("LRANGE l 0 -1"), "*1\r\n$1\r\na\r\n");
    EXPECT_EQ(run("LREM l 0 none"), ":0\r\n");
    EXPECT_EQ(run("LREM none 0 a"), ":0\r\n");
    EXPECT_EQ(run("LREM l x a"), no_integer);
    EXPECT_EQ(run("LREM l -5 a"), ":1\r\n");
    EXPECT_EQ(run("EXISTS l"), ":0\r\n");
}

TEST_F(ServerCollections, SetsTellWhatIsNew) {
    EXPECT_EQ(run("SADD t a a"), ":1\r\n");
    EXPECT_EQ(run("SADD t a"), ":0\r\n");
    EXPECT_EQ(run("SCARD t"), ":1\r\n");
    EXPECT_EQ(run("SCARD none"), ":0\r\n");
    EXPECT_EQ(run("SISMEMBER t none"), ":0\r\n");
    EXPECT_EQ(run("SISMEMBER none a"), ":0\r\n");
    EXPECT_EQ(run("SMISMEMBER t a none"), "*2\r\n:1\r\n:0\r\n");
    EXPECT_EQ(run("SMISMEMBER none a b"), "*2\r\n:0\r\n:0\r\n");
    EXPECT_EQ(run("SMEMBERS none"), "*0\r\n");
    EXPECT_EQ(run("SREM t none"), ":0\r\n");
    EXPECT_EQ(run("SREM none a"), ":0\r\n");
    EXPECT_EQ(run("SREM t a none"), ":1\r\n");
    EXPECT_EQ(run("EXISTS t"), ":0\r\n");
}

TEST_F(ServerCollections, CommandsOnCollectionsLeaveOtherKindsAlone) {
    run("SET s v");
    for (char const* command :
         {"HSET s f v",    "HMSET s f v", "HSETNX s f v",  "HGET s f",       "HMGET s f",   "HGETALL s",
          "HKEYS s",       "HVALS s",     "HLEN s",        "HEXISTS s f",    "HSTRLEN s f", "HDEL s f",
          "HINCRBY s f 1", "LPUSH s a",   "RPUSHX s a",    "LPOP s",         "RPOP s 2",    "LLEN s",
          "LRANGE s 0 1",  "LTRIM s 0 1", "LINDEX s 0",    "LSET s 0 a",     "LREM s 0 a",  "SADD s a",
          "SREM s a",      "SMEMBERS s",  "SISMEMBER s a", "SMISMEMBER s a", "SCARD s",     "SPOP s"})
        EXPECT_EQ(run(command), wrong_type) << command;
    EXPECT_EQ(run("GET s"), "$1\r\nv\r\n");
}

TEST_F(ServerCollections, ReadingChangesNothingThatIsWatched) {
    run("RPUSH l a");
    run("SADD t a");
    run("HSET h f v");
    typist other(engine_);
    run("WATCH l t h none");
    for (char const* command : {"LPOP l 0", "LREM l 0 x", "SPOP t 0", "SREM t x", "SADD t a", "HDEL h x",
                                "HSETNX h f x", "LTRIM none 0 1", "LPUSHX none a", "DEL none", "PERSIST l"})
        other(command);
    run("MULTI");
    run("PING");
    EXPECT_EQ(run("EXEC"), "*1\r\n+PONG\r\n");
}

} // namespace
