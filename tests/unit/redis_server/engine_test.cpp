#include <fairlead/redis_server/engine.hpp>

#include <unit/redis_server/typist.hpp>

#include <gtest/gtest.h>

#include <fairlead/resp3/error.hpp>
#include <fairlead/resp3/parser.hpp>
#include <fairlead/resp3/writer.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using fairlead::redis::server_engine;
using fairlead::redis::server_engine_options;
using fairlead::test::typist;
namespace resp3 = fairlead::resp3;

class Server : public fairlead::test::server_test {};

TEST_F(Server, AnswersWhatEveryClientAsksFirst) {
    EXPECT_EQ(run("PING"), "+PONG\r\n");
    EXPECT_EQ(run("ping hello"), "$5\r\nhello\r\n");
    EXPECT_EQ(run("ECHO x"), "$1\r\nx\r\n");
    EXPECT_EQ(run("COMMAND"), "*0\r\n");
    EXPECT_EQ(run("COMMAND DOCS"), "*0\r\n");
    EXPECT_EQ(run("CONFIG GET save"), "*2\r\n$4\r\nsave\r\n$0\r\n\r\n");
    EXPECT_EQ(run("CONFIG GET appendonly"), "*2\r\n$10\r\nappendonly\r\n$2\r\nno\r\n");
    EXPECT_EQ(run("CLIENT SETINFO LIB-NAME x"), "+OK\r\n");
    EXPECT_EQ(run("CLIENT ID"), ":1\r\n");
}

TEST(ServerData, OutlivesTheServerThatFilledIt) {
    server_engine_options options;
    options.data = std::make_shared<fairlead::redis::server_data>();
    options.databases = 2;
    {
        server_engine first(options);
        server_engine::client c(first);
        c.feed("SET k v\r\nSELECT 1\r\nSET other w\r\n");
        EXPECT_EQ(c.output(), "+OK\r\n+OK\r\n+OK\r\n");
        EXPECT_THROW(server_engine second(options), std::logic_error) << "while the first one has them";
    }
    server_engine second(options);
    server_engine::client c(second);
    c.feed("GET k\r\nSELECT 1\r\nGET other\r\n");
    EXPECT_EQ(c.output(), "$1\r\nv\r\n+OK\r\n$1\r\nw\r\n");
}

TEST_F(Server, WordsErrorsAsRedisDoes) {
    EXPECT_EQ(run("GET"), "-ERR wrong number of arguments for 'get' command\r\n");
    EXPECT_EQ(run("foo bar \"b az\""), "-ERR unknown command 'foo', with args beginning with: 'bar' 'b az' \r\n");
    EXPECT_EQ(run(std::string(200, 'x') + " " + std::string(200, 'y') + " z"),
              "-ERR unknown command '" + std::string(128, 'x') + "', with args beginning with: '" +
                  std::string(128, 'y') + "' \r\n")
        << "what it quotes has a limit";
    EXPECT_EQ(run("CLIENT FOO"), "-ERR unknown subcommand 'FOO'. Try CLIENT HELP.\r\n");
    EXPECT_EQ(run("CLIENT SETNAME"), "-ERR wrong number of arguments for 'client|setname' command\r\n");
    EXPECT_EQ(run("SET k v FOO"), "-ERR syntax error\r\n");
    EXPECT_EQ(run("SET k v EX 0"), "-ERR invalid expire time in 'set' command\r\n");
    EXPECT_EQ(run("SELECT 16"), "-ERR DB index is out of range\r\n");
    run("SET k v");
    EXPECT_EQ(run("INCR k"), "-ERR value is not an integer or out of range\r\n");
    EXPECT_EQ(run("LPUSH k x"), "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n");
}

TEST_F(Server, StoresStrings) {
    EXPECT_EQ(run("GET k"), "$-1\r\n");
    EXPECT_EQ(run("SET k v"), "+OK\r\n");
    EXPECT_EQ(run("GET k"), "$1\r\nv\r\n");
    EXPECT_EQ(run("SET k w NX"), "$-1\r\n");
    EXPECT_EQ(run("SET k w XX GET"), "$1\r\nv\r\n");
    EXPECT_EQ(run("APPEND k abc"), ":4\r\n");
    EXPECT_EQ(run("STRLEN k"), ":4\r\n");
    EXPECT_EQ(run("GETRANGE k -3 -2"), "$2\r\nab\r\n");
    EXPECT_EQ(run("SETRANGE k 6 x"), ":7\r\n");
    EXPECT_EQ(run("GETDEL k"), "$7\r\nwabc\0\0x\r\n"s);
    EXPECT_EQ(run("MSET a 1 b 2"), "+OK\r\n");
    EXPECT_EQ(run("MGET a none b"), "*3\r\n$1\r\n1\r\n$-1\r\n$1\r\n2\r\n");
    EXPECT_EQ(run("DEL a b none"), ":2\r\n");
}

TEST_F(Server, CountsWithinSixtyFourBits) {
    EXPECT_EQ(run("INCR n"), ":1\r\n");
    EXPECT_EQ(run("DECRBY n 3"), ":-2\r\n");
    EXPECT_EQ(run("SET n 9223372036854775807"), "+OK\r\n");
    EXPECT_EQ(run("INCR n"), "-ERR increment or decrement would overflow\r\n");
    EXPECT_EQ(run("DECRBY n -9223372036854775808"), "-ERR decrement would overflow\r\n");
    EXPECT_EQ(run("INCRBYFLOAT f 0.5"), "$3\r\n0.5\r\n");
}

TEST_F(Server, ExpiresKeysByTheClockItWasGiven) {
    run("SET k v EX 100");
    EXPECT_EQ(run("TTL k"), ":100\r\n");
    EXPECT_EQ(run("SET k w KEEPTTL"), "+OK\r\n");
    now_ += 99'999ms;
    EXPECT_EQ(run("PTTL k"), ":1\r\n");
    EXPECT_EQ(run("GET k"), "$1\r\nw\r\n");
    now_ += 1ms;
    EXPECT_EQ(run("GET k"), "$-1\r\n");
    EXPECT_EQ(run("TTL k"), ":-2\r\n");
    EXPECT_EQ(run("DBSIZE"), ":0\r\n");
    run("SET k v");
    EXPECT_EQ(run("TTL k"), ":-1\r\n");
    EXPECT_EQ(run("EXPIRE k 10"), ":1\r\n");
    EXPECT_EQ(run("EXPIRE k 5 GT"), ":0\r\n");
    EXPECT_EQ(run("PERSIST k"), ":1\r\n");
    EXPECT_EQ(run("EXPIRE k -1"), ":1\r\n");
    EXPECT_EQ(run("EXISTS k"), ":0\r\n");
}

TEST_F(Server, AnEmptyCollectionIsNoKey) {
    run("HSET h f v");
    run("RPUSH l a");
    run("SADD s a");
    EXPECT_EQ(run("EXISTS h l s"), ":3\r\n");
    EXPECT_EQ(run("HDEL h f"), ":1\r\n");
    EXPECT_EQ(run("LPOP l"), "$1\r\na\r\n");
    EXPECT_EQ(run("SREM s a"), ":1\r\n");
    EXPECT_EQ(run("EXISTS h l s"), ":0\r\n");
}

TEST_F(Server, KeepsHashesListsAndSets) {
    EXPECT_EQ(run("HSET h b 2 a 1"), ":2\r\n");
    EXPECT_EQ(run("HGETALL h"), "*4\r\n$1\r\na\r\n$1\r\n1\r\n$1\r\nb\r\n$1\r\n2\r\n");
    EXPECT_EQ(run("HINCRBY h a 5"), ":6\r\n");
    EXPECT_EQ(run("HMGET h a none"), "*2\r\n$1\r\n6\r\n$-1\r\n");
    EXPECT_EQ(run("RPUSH l a b c"), ":3\r\n");
    EXPECT_EQ(run("LPUSH l z"), ":4\r\n");
    EXPECT_EQ(run("LRANGE l 1 -2"), "*2\r\n$1\r\na\r\n$1\r\nb\r\n");
    EXPECT_EQ(run("RPOP l 2"), "*2\r\n$1\r\nc\r\n$1\r\nb\r\n");
    EXPECT_EQ(run("LREM l -1 z"), ":1\r\n");
    EXPECT_EQ(run("SADD s b a b"), ":2\r\n");
    EXPECT_EQ(run("SMEMBERS s"), "*2\r\n$1\r\na\r\n$1\r\nb\r\n");
    EXPECT_EQ(run("SISMEMBER s a"), ":1\r\n");
}

TEST_F(Server, ListsKeysInAscendingOrder) {
    for (char const* key : {"k3", "k1", "x", "k2"})
        run("SET "s + key + " v");
    EXPECT_EQ(run("KEYS k*"), "*3\r\n$2\r\nk1\r\n$2\r\nk2\r\n$2\r\nk3\r\n");
    EXPECT_EQ(run("KEYS k[^1-2]"), "*1\r\n$2\r\nk3\r\n");
    EXPECT_EQ(run("SCAN 0 MATCH *"), "*2\r\n$1\r\n0\r\n*4\r\n$2\r\nk1\r\n$2\r\nk2\r\n$2\r\nk3\r\n$1\r\nx\r\n");
}

TEST_F(Server, APatternFullOfStarsTakesNoTime) {
    run("SET " + std::string(5000, 'a') + " v");
    std::string pattern;
    for (int i = 0; i != 50; ++i)
        pattern += "a*";
    EXPECT_EQ(run("KEYS " + pattern + "b"), "*0\r\n");
}

TEST_F(Server, HelloChoosesTheVersion) {
    EXPECT_EQ(run("HELLO 3 SETNAME me"),
              "%7\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$5\r\n7.2.0\r\n$5\r\nproto\r\n:3\r\n"
              "$2\r\nid\r\n:1\r\n$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\nmaster\r\n"
              "$7\r\nmodules\r\n*0\r\n");
    EXPECT_EQ(run("CLIENT GETNAME"), "$2\r\nme\r\n");
    EXPECT_EQ(run("GET none"), "_\r\n");
    run("HSET h a 1");
    EXPECT_EQ(run("HGETALL h"), "%1\r\n$1\r\na\r\n$1\r\n1\r\n");
    EXPECT_EQ(run("HELLO 4"), "-NOPROTO unsupported protocol version\r\n");
    EXPECT_EQ(run("HELLO x"), "-ERR Protocol version is not an integer or out of range\r\n");
    EXPECT_EQ(run("RESET"), "+RESET\r\n");
    EXPECT_EQ(run("GET none"), "$-1\r\n");
    EXPECT_EQ(run("CLIENT GETNAME"), "$-1\r\n");
}

TEST(ServerWithoutHello, IsAsServersBeforeIt) {
    server_engine_options options;
    options.has_hello = false;
    server_engine engine(options);
    typist run(engine);
    EXPECT_EQ(run("HELLO 3"), "-ERR unknown command 'HELLO', with args beginning with: '3' \r\n");
    EXPECT_EQ(run("GET none"), "$-1\r\n") << "RESP2";
    EXPECT_EQ(run("COMMAND INFO hello"), "*1\r\n*-1\r\n");
    EXPECT_EQ(run("COMMAND LIST").find("hello"), std::string::npos);
    server_engine usual;
    typist other(usual);
    auto const number = [](std::string const& reply) { return std::stoi(reply.substr(1)); };
    EXPECT_EQ(number(run("COMMAND COUNT")) + 1, number(other("COMMAND COUNT")));
}

TEST(ServerPassword, IsWantedBeforeAnythingElse) {
    server_engine_options options;
    options.password = "secret";
    server_engine engine(options);
    typist run(engine);
    EXPECT_EQ(run("GET k"), "-NOAUTH Authentication required.\r\n");
    EXPECT_EQ(run("AUTH wrong"), "-WRONGPASS invalid username-password pair or user is disabled.\r\n");
    EXPECT_EQ(run("HELLO 3").substr(0, 12), "-NOAUTH HELL");
    EXPECT_EQ(run("AUTH secret"), "+OK\r\n");
    EXPECT_EQ(run("GET k"), "$-1\r\n");
    typist other(engine);
    EXPECT_EQ(other("HELLO 3 AUTH default secret").substr(0, 2), "%7");
    EXPECT_EQ(other("GET k"), "_\r\n");
    typist third(engine), fourth(engine);
    EXPECT_EQ(third("*11"), "-ERR Protocol error: unauthenticated multibulk length\r\n");
    EXPECT_TRUE(third.client.wants_close());
    EXPECT_EQ(fourth("*2\r\n$16384"), "") << "that much it may send";
    EXPECT_EQ(fourth(std::string(16384, 'x') + "\r\n$16385"), "-ERR Protocol error: unauthenticated bulk length\r\n");
    EXPECT_TRUE(fourth.client.wants_close());
}

TEST(ServerPassword, IsThatOfTheDefaultUser) {
    server_engine_options options;
    options.password = "secret";
    server_engine engine(options);
    typist run(engine);
    EXPECT_EQ(run("AUTH somebody secret"), "-WRONGPASS invalid username-password pair or user is disabled.\r\n");
    EXPECT_EQ(run("PING"), "-NOAUTH Authentication required.\r\n");
    EXPECT_EQ(run("AUTH default secret"), "+OK\r\n");
    EXPECT_EQ(run("PING"), "+PONG\r\n");
    EXPECT_EQ(run("RESET"), "+RESET\r\n");
    EXPECT_EQ(run("PING"), "-NOAUTH Authentication required.\r\n");
}

TEST_F(Server, SelectSeparatesDatabases) {
    run("SET k v");
    EXPECT_EQ(run("SELECT 1"), "+OK\r\n");
    EXPECT_EQ(run("GET k"), "$-1\r\n");
    run("SET other v");
    EXPECT_EQ(run("FLUSHDB"), "+OK\r\n");
    EXPECT_EQ(run("SELECT 0"), "+OK\r\n");
    EXPECT_EQ(run("DBSIZE"), ":1\r\n");
    EXPECT_EQ(run("FLUSHALL"), "+OK\r\n");
    EXPECT_EQ(run("DBSIZE"), ":0\r\n");
}

TEST_F(Server, QuitAnswersAndCloses) {
    run.client.feed("QUIT\r\nPING\r\n");
    EXPECT_EQ(run.take(), "+OK\r\n");
    EXPECT_TRUE(run.client.wants_close());
    EXPECT_EQ(run("PING"), "");
}

TEST_F(Server, InfoTellsWhatToolsAskFor) {
    run("SET k v");
    std::string const text = run("INFO");
    for (char const* field : {"redis_version:7", "redis_mode:standalone", "process_id:0", "uptime_in_seconds:0",
                              "connected_clients:1", "used_memory:", "role:master", "db0:keys=1,expires=0,avg_ttl=0"})
        EXPECT_NE(text.find(field), std::string::npos) << field;
    EXPECT_EQ(run("INFO replication").find("redis_version"), std::string::npos);
    EXPECT_NE(run("CLIENT LIST").find("id=1 addr=127.0.0.1:1 "), std::string::npos);
}

TEST_F(Server, PublishesToResp2AndResp3Subscribers) {
    typist two(engine_), three(engine_);
    three("HELLO 3");
    int told_two = 0, told_three = 0;
    two.client.on_output([&] { ++told_two; });
    three.client.on_output([&] { ++told_three; });
    EXPECT_EQ(two("SUBSCRIBE news"), "*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n");
    EXPECT_EQ(three("SUBSCRIBE news"), ">3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n");
    EXPECT_EQ(three("PSUBSCRIBE n*"), ">3\r\n$10\r\npsubscribe\r\n$2\r\nn*\r\n:2\r\n");
    EXPECT_EQ(told_two + told_three, 0) << "its own replies are no news to a client";
    EXPECT_EQ(run("PUBLISH news hi"), ":3\r\n");
    EXPECT_EQ(two.take(), "*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$2\r\nhi\r\n");
    EXPECT_EQ(three.take(), ">3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$2\r\nhi\r\n"
                            ">4\r\n$8\r\npmessage\r\n$2\r\nn*\r\n$4\r\nnews\r\n$2\r\nhi\r\n");
    EXPECT_EQ(told_two, 1);
    EXPECT_EQ(told_three, 1);
    run.client.feed("PUBLISH news a\r\nPUBLISH news b\r\n");
    EXPECT_EQ(told_two, 2) << "once for each feed";
    EXPECT_EQ(run("PUBSUB NUMSUB news none"), ":3\r\n:3\r\n*4\r\n$4\r\nnews\r\n:2\r\n$4\r\nnone\r\n:0\r\n");
    three("UNSUBSCRIBE");
    two.take();
    EXPECT_EQ(run("PUBLISH news c"), ":2\r\n");
}

TEST_F(Server, AResp2SubscriberMayOnlySubscribe) {
    run("SUBSCRIBE a");
    EXPECT_EQ(run("GET k"),
              "-ERR Can't execute 'get': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are "
              "allowed in this context\r\n");
    EXPECT_EQ(run("PING"), "*2\r\n$4\r\npong\r\n$0\r\n\r\n");
    EXPECT_EQ(run("UNSUBSCRIBE"), "*3\r\n$11\r\nunsubscribe\r\n$1\r\na\r\n:0\r\n");
    EXPECT_EQ(run("GET k"), "$-1\r\n");
    EXPECT_EQ(run("UNSUBSCRIBE"), "*3\r\n$11\r\nunsubscribe\r\n$-1\r\n:0\r\n");
    run("HELLO 3");
    run("SUBSCRIBE a");
    EXPECT_EQ(run("GET k"), "_\r\n");
}

TEST_F(Server, ShardChannelsAreASpaceOfTheirOwn) {
    typist other(engine_);
    EXPECT_EQ(other("SSUBSCRIBE s"), "*3\r\n$10\r\nssubscribe\r\n$1\r\ns\r\n:1\r\n");
    EXPECT_EQ(run("PUBLISH s x"), ":0\r\n");
    EXPECT_EQ(run("SPUBLISH s x"), ":1\r\n");
    EXPECT_EQ(other.take(), "*3\r\n$8\r\nsmessage\r\n$1\r\ns\r\n$1\r\nx\r\n");
}

TEST_F(Server, WhatAClientPublishesToItselfFollowsTheReply) {
    run("HELLO 3");
    run("SUBSCRIBE a");
    EXPECT_EQ(run("PUBLISH a x"), ":1\r\n>3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\nx\r\n");
    run("MULTI");
    run("PUBLISH a x");
    run("PING");
    EXPECT_EQ(run("EXEC"), "*2\r\n:1\r\n+PONG\r\n>3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\nx\r\n");
}

TEST_F(Server, ASubscriberThatDoesNotReadIsClosed) {
    server_engine_options options;
    options.push_backlog_bytes_max = 1000;
    server_engine engine(options);
    typist slow(engine), publisher(engine);
    slow("SUBSCRIBE a");
    int told = 0;
    slow.client.on_output([&] { ++told; });
    for (int i = 0; i != 50; ++i)
        publisher("PUBLISH a 0123456789");
    EXPECT_TRUE(slow.client.wants_close());
    EXPECT_EQ(slow.take(), "");
    EXPECT_FALSE(publisher.client.wants_close());
    EXPECT_LT(told, 50);
}

TEST_F(Server, OwnersMayDestroyClientsWhenTheyAreTold) {
    auto one = std::make_unique<typist>(engine_);
    auto two = std::make_unique<typist>(engine_);
    auto publisher = std::make_unique<typist>(engine_);
    (*one)("SUBSCRIBE a");
    (*two)("SUBSCRIBE a");
    one->client.on_output([&] {
        one.reset();
        two.reset(); // still on the list of those to be told
        publisher.reset();
    });
    publisher->client.feed("PUBLISH a x\r\n");
    EXPECT_EQ(engine_.client_count(), 1u);
    EXPECT_EQ(run("PUBLISH a x"), ":0\r\n");
}

TEST_F(Server, ClientKillClosesAnother) {
    typist other(engine_);
    bool told = false;
    other.client.on_output([&] { told = true; });
    EXPECT_EQ(run("CLIENT KILL ID " + std::to_string(other.client.id())), ":1\r\n");
    EXPECT_TRUE(other.client.wants_close());
    EXPECT_TRUE(told);
    EXPECT_EQ(run("CLIENT KILL ID 999"), ":0\r\n");
}

TEST_F(Server, AClientThatKillsItselfStillGetsItsReply) {
    bool told = false;
    run.client.on_output([&] { told = true; });
    EXPECT_EQ(run("CLIENT KILL ID " + std::to_string(run.client.id())), ":1\r\n");
    EXPECT_TRUE(run.client.wants_close());
    EXPECT_FALSE(told) << "its owner looks after feed() anyway";
}

TEST_F(Server, ClientReplyOffAndSkipSilenceReplies) {
    EXPECT_EQ(run("CLIENT REPLY OFF"), "");
    EXPECT_EQ(run("SET k v"), "");
    EXPECT_EQ(run("CLIENT REPLY ON"), "+OK\r\n");
    EXPECT_EQ(run("GET k"), "$1\r\nv\r\n");
    EXPECT_EQ(run("CLIENT REPLY SKIP"), "");
    EXPECT_EQ(run("PING"), "");
    EXPECT_EQ(run("PING"), "+PONG\r\n");
    EXPECT_EQ(run("CLIENT REPLY SKIP"), "");
    EXPECT_EQ(run("CLIENT REPLY SKIP"), "");
    EXPECT_EQ(run("PING"), "");
    EXPECT_EQ(run("PING"), "+PONG\r\n");
}

TEST_F(Server, TransactionsRunTogetherOrNotAtAll) {
    EXPECT_EQ(run("MULTI"), "+OK\r\n");
    EXPECT_EQ(run("SET k 1"), "+QUEUED\r\n");
    EXPECT_EQ(run("LPUSH k x"), "+QUEUED\r\n");
    EXPECT_EQ(run("INCR k"), "+QUEUED\r\n");
    EXPECT_EQ(run("EXEC"), "*3\r\n+OK\r\n-WRONGTYPE Operation against a key holding the wrong kind of value\r\n:2\r\n");
    run("MULTI");
    EXPECT_EQ(run("GET"), "-ERR wrong number of arguments for 'get' command\r\n");
    run("SET k 9");
    EXPECT_EQ(run("EXEC"), "-EXECABORT Transaction discarded because of previous errors.\r\n");
    EXPECT_EQ(run("GET k"), "$1\r\n2\r\n");
    run("MULTI");
    run("SET k 9");
    EXPECT_EQ(run("DISCARD"), "+OK\r\n");
    EXPECT_EQ(run("GET k"), "$1\r\n2\r\n");
    EXPECT_EQ(run("EXEC"), "-ERR EXEC without MULTI\r\n");
    EXPECT_EQ(run("DISCARD"), "-ERR DISCARD without MULTI\r\n");
}

TEST_F(Server, AWatchedKeyThatChangedMakesExecNull) {
    typist other(engine_);
    for (std::string const& change :
         {"SET k 1"s, "DEL k"s, "RPUSH k a"s, "LPOP k"s, "EXPIRE f 10"s, "FLUSHALL"s, "APPEND g x"s}) {
        run("SET f 1");
        EXPECT_EQ(run("WATCH k f g"), "+OK\r\n");
        other(change);
        run("MULTI");
        run("PING");
        EXPECT_EQ(run("EXEC"), "*-1\r\n") << change;
    }
    run("WATCH k");
    other("GET k");
    other("SET unrelated 1");
    run("MULTI");
    run("PING");
    EXPECT_EQ(run("EXEC"), "*1\r\n+PONG\r\n");
    run("SET e v PX 10");
    run("WATCH e");
    now_ += 10ms;
    run("MULTI");
    EXPECT_EQ(run("EXEC"), "*-1\r\n");
}

TEST_F(Server, WatchingAKeyTwiceIsWatchingItOnce) {
    typist other(engine_), third(engine_);
    run("WATCH k k");
    other("WATCH k");
    EXPECT_EQ(other("UNWATCH"), "+OK\r\n");
    third("SET k 1");
    run("MULTI");
    run("PING");
    EXPECT_EQ(run("EXEC"), "*-1\r\n") << "another client that stops watching changes nothing";
    EXPECT_EQ(run("WATCH k"), "+OK\r\n");
    run("MULTI");
    EXPECT_EQ(run("MULTI"), "-ERR MULTI calls can not be nested\r\n");
    EXPECT_EQ(run("WATCH other"), "-ERR WATCH inside MULTI is not allowed\r\n");
    EXPECT_EQ(run("EXEC"), "*0\r\n");
}

TEST_F(Server, ATransactionGoesOnAfterItHasSubscribed) {
    run("MULTI");
    run("SUBSCRIBE a");
    run("GET k");
    EXPECT_EQ(run("EXEC"), "*2\r\n*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n$-1\r\n");
    EXPECT_EQ(run("GET k").substr(0, 24), "-ERR Can't execute 'get'");
}

TEST_F(Server, ATransactionHasALimit) {
    server_engine_options options;
    options.transaction_bytes_max = 1000;
    server_engine engine(options);
    typist client(engine);
    client("MULTI");
    std::string reply = "+QUEUED\r\n";
    int queued = 0;
    for (; reply == "+QUEUED\r\n" && queued != 100; ++queued)
        reply = client("SET key value");
    EXPECT_LT(queued, 20);
    EXPECT_EQ(client("EXEC"), "-EXECABORT Transaction discarded because of previous errors.\r\n");
}

TEST_F(Server, LinesMayQuoteTheirWords) {
    EXPECT_EQ(run(R"(SET "a\x41\n\"" 'it\'s')"), "+OK\r\n");
    std::string wire;
    resp3::append_command(wire, "GET", "aA\n\"");
    run.client.feed(wire);
    EXPECT_EQ(run.take(), "$4\r\nit's\r\n");
    EXPECT_EQ(run(""), "");
    EXPECT_EQ(run("  PING  "), "+PONG\r\n");
    EXPECT_EQ(run("GET \"a"), "-ERR Protocol error: unbalanced quotes in request\r\n");
    EXPECT_TRUE(run.client.wants_close());
}

TEST_F(Server, DoubleQuotesKnowEscapesAndSingleOnesDoNot) {
    EXPECT_EQ(run(R"(ECHO "\r\t\b\a\\\q")"), "$6\r\n\r\t\b\a\\q\r\n");
    EXPECT_EQ(run(R"(ECHO "\x4g\x7")"), "$5\r\nx4gx7\r\n");
    EXPECT_EQ(run(R"(ECHO "\x7A\x7a")"), "$2\r\nzz\r\n");
    EXPECT_EQ(run(R"(ECHO 'a\nb')"), "$4\r\na\\nb\r\n");
}

TEST_F(Server, MalformedRequestsAreToldAndClosed) {
    std::pair<std::string, std::string> const rows[] = {
        {"*abc\r\n", "invalid multibulk length"},
        {"*1048577\r\n", "invalid multibulk length"},
        {"*1\r\n+PING\r\n", "expected '$', got '+'"},
        {"*1\r\n$-1\r\n", "invalid bulk length"},
        {"*1\r\n$536870913\r\n", "invalid bulk length"},
        {"*1\r\n$x\r\n", "invalid bulk length"},
        {"*" + std::string(70'000, '1'), "too big mbulk count string"},
        {"*1\r\n$" + std::string(70'000, '1'), "too big bulk count string"},
        {std::string(70'000, 'x'), "too big inline request"},
    };
    for (auto const& [request, why] : rows) {
        typist client(engine_);
        client.client.feed(request);
        EXPECT_EQ(client.take(), "-ERR Protocol error: " + why + "\r\n");
        EXPECT_TRUE(client.client.wants_close());
        client.client.feed("PING\r\n");
        EXPECT_EQ(client.take(), "");
    }
}

TEST_F(Server, ErrorsThatQuoteAClientCannotSmuggleALine) {
    std::string wire;
    resp3::append_command(wire, "x\r\n+OK\r\n", "\r\n:1\r\n");
    run.client.feed(wire);
    std::string const reply = run.take();
    EXPECT_EQ(reply.find('\n'), reply.size() - 1) << resp3::printable(reply);
}

/// Many commands as one stream of bytes.
std::string long_conversation() {
    std::string wire;
    resp3::append_command(wire, "HELLO", 3);
    resp3::append_command(wire, "SET", "k", std::string(300, 'v'));
    wire += "PING inline\r\n*0\r\n*-1\r\n\r\n";
    resp3::append_command(wire, "MSET", "a", 1, "b", "\r\n");
    resp3::append_command(wire, "MGET", "a", "b", "k");
    resp3::append_command(wire, "SUBSCRIBE", "x");
    resp3::append_command(wire, "PUBLISH", "x", "self");
    resp3::append_command(wire, "MULTI");
    resp3::append_command(wire, "INCR", "n");
    wire += "GET \"k\"\r\n";
    resp3::append_command(wire, "EXEC");
    resp3::append_command(wire, "NOSUCH");
    resp3::append_command(wire, "HSET", "h", "", "", "f", 1.5);
    resp3::append_command(wire, "HGETALL", "h");
    resp3::append_command(wire, "QUIT");
    return wire;
}

std::string replies_to(std::string_view wire, std::size_t first, std::size_t step) {
    server_engine engine;
    typist client(engine);
    client.client.feed(wire.substr(0, first));
    for (std::size_t at = first; at < wire.size(); at += step)
        client.client.feed(wire.substr(at, step));
    return client.take();
}

TEST(ServerRequests, AnyCutGivesTheSameReplies) {
    std::string const wire = long_conversation();
    std::string const whole = replies_to(wire, wire.size(), 1);
    EXPECT_TRUE(whole.ends_with("+OK\r\n"));
    for (std::size_t split = 0; split != wire.size(); ++split)
        ASSERT_EQ(replies_to(wire, split, wire.size()), whole) << split;
    for (std::size_t step : {1u, 2u, 3u, 7u, 50u})
        ASSERT_EQ(replies_to(wire, 0, step), whole) << step;
}

TEST(ServerRequests, ChangedBytesNeverBreakTheReplies) {
    // The output is RESP, whatever comes in.
    std::string const good = long_conversation();
    std::uint64_t state = 5;
    for (int round = 0; round != 3000; ++round) {
        std::string wire = good;
        for (int change = 0; change != 3; ++change) {
            state = state * 6364136223846793005 + 1442695040888963407;
            wire[(state >> 33) % wire.size()] = static_cast<char>(state >> 25);
        }
        std::string const replies = replies_to(wire, wire.size() / 2, 100);
        resp3::parser parser;
        auto const parsed = parser.parse(replies, [](resp3::node const&) {});
        ASSERT_FALSE(parsed.ec) << resp3::printable(wire, 2000) << " -> " << resp3::printable(replies, 2000);
        ASSERT_TRUE(parser.is_idle());
    }
}

TEST_F(Server, DebugProtocolShowsEveryKindOfReply) {
    run("HELLO 3");
    EXPECT_EQ(run("DEBUG PROTOCOL attrib"), "|1\r\n$14\r\nkey-popularity\r\n*2\r\n$7\r\nkey:123\r\n:90\r\n"
                                            "$39\r\nSome real reply following the attribute\r\n");
    EXPECT_EQ(run("DEBUG PROTOCOL push"), ">2\r\n$16\r\nserver-cpu-usage\r\n:42\r\n"
                                          "$40\r\nSome real reply following the push reply\r\n");
    for (char const* kind :
         {"string", "integer", "double", "null", "array", "set", "map", "verbatim", "true", "false", "bignum"}) {
        std::string const reply = run("DEBUG PROTOCOL "s + kind);
        resp3::parser parser;
        EXPECT_FALSE(parser.parse(reply, [](resp3::node const&) {}).ec) << kind;
        EXPECT_TRUE(parser.is_idle()) << kind;
    }
}

TEST(ServerEngine, CountsItsClientsAndCommands) {
    server_engine engine;
    EXPECT_EQ(engine.client_count(), 0u);
    {
        typist a(engine), b(engine);
        EXPECT_EQ(engine.client_count(), 2u);
        EXPECT_NE(a.client.id(), b.client.id());
        a("PING");
        a("NOSUCH");
    }
    EXPECT_EQ(engine.client_count(), 0u);
    EXPECT_EQ(engine.commands_run(), 1u);
}

} // namespace
