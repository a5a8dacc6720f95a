#include <fairlead/redis/cmd/bitmaps.hpp>
#include <fairlead/redis/cmd/functions.hpp>
#include <fairlead/redis/cmd/geo.hpp>
#include <fairlead/redis/cmd/hyperloglog.hpp>
#include <fairlead/redis/cmd/pubsub.hpp>
#include <fairlead/redis/cmd/scripting.hpp>
#include <fairlead/redis/cmd/server.hpp>
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

TEST(RedisCommandsScripts, AreSerialisedAsTheServerHasThem) {
    using namespace redis::options;
    EXPECT_EQ(words_of(cmd::eval<long>("return 1")), "EVAL return 1 0");
    EXPECT_EQ(words_of(cmd::eval<long>("s", {"a", "b"}, {1, "x"})), "EVAL s 2 a b 1 x");
    EXPECT_EQ(words_of(cmd::eval_ro<long>("s", "a")), "EVAL_RO s 1 a");
    EXPECT_EQ(words_of(cmd::evalsha<long>("d", "a", 1)), "EVALSHA d 1 a 1");
    EXPECT_EQ(words_of(cmd::evalsha_ro<long>("d", {}, 1)), "EVALSHA_RO d 0 1");
    EXPECT_EQ(words_of(cmd::script_exists({"d", "e"})), "SCRIPT EXISTS d e");
    EXPECT_EQ(words_of(cmd::script_flush(in_background)), "SCRIPT FLUSH ASYNC");
    EXPECT_EQ(words_of(cmd::script_kill()), "SCRIPT KILL");
    EXPECT_EQ(words_of(cmd::script_load("s")), "SCRIPT LOAD s");
    EXPECT_EQ(words_of(cmd::fcall<long>("f", "a", 1)), "FCALL f 1 a 1");
    EXPECT_EQ(words_of(cmd::fcall_ro<long>("f")), "FCALL_RO f 0");
    EXPECT_EQ(words_of(cmd::function_delete("l")), "FUNCTION DELETE l");
    EXPECT_EQ(words_of(cmd::function_dump()), "FUNCTION DUMP");
    EXPECT_EQ(words_of(cmd::function_flush(at_once)), "FUNCTION FLUSH SYNC");
    EXPECT_EQ(words_of(cmd::function_kill()), "FUNCTION KILL");
    EXPECT_EQ(words_of(cmd::function_list()), "FUNCTION LIST LIBRARYNAME *");
    EXPECT_EQ(words_of(cmd::function_load("c", replace)), "FUNCTION LOAD REPLACE c");
    EXPECT_EQ(words_of(cmd::function_restore("d", replace)), "FUNCTION RESTORE d REPLACE");
}

TEST(RedisCommandsScripts, ResultsAreOfTheTypeThatIsAskedFor) {
    EXPECT_EQ((result_of(cmd::eval<std::tuple<long, std::optional<std::string>>>("s"), "*2\r\n:1\r\n_\r\n")),
              (std::tuple<long, std::optional<std::string>>{1, std::nullopt}));
    EXPECT_EQ(result_of(cmd::script_exists("d"), "*1\r\n:1\r\n"), std::vector<bool>{true});
    for (std::string_view wire : {"*1\r\n%3\r\n+library_name\r\n+l\r\n+engine\r\n+LUA\r\n+functions\r\n*1\r\n%2\r\n+"
                                  "name\r\n+f\r\n+flags\r\n~0\r\n",
                                  "*1\r\n*6\r\n+library_name\r\n+l\r\n+engine\r\n+LUA\r\n+functions\r\n*1\r\n*4\r\n+"
                                  "flags\r\n*0\r\n+name\r\n+f\r\n"}) {
        auto const libraries = result_of(cmd::function_list(), wire);
        ASSERT_EQ(libraries.size(), 1U);
        EXPECT_EQ(libraries[0].name, "l");
        EXPECT_EQ(libraries[0].engine, "LUA");
        EXPECT_EQ(libraries[0].functions, std::vector<std::string>{"f"});
    }
}

TEST(RedisCommandsPubsub, AreSerialisedAsTheServerHasThem) {
    EXPECT_EQ(words_of(cmd::publish("c", "m")), "PUBLISH c m");
    EXPECT_EQ(words_of(cmd::spublish("c", "m")), "SPUBLISH c m");
    EXPECT_EQ(words_of(cmd::subscribe({"a", "b"})), "SUBSCRIBE a b");
    EXPECT_EQ(words_of(cmd::psubscribe("a*")), "PSUBSCRIBE a*");
    EXPECT_EQ(words_of(cmd::ssubscribe("a")), "SSUBSCRIBE a");
    EXPECT_EQ(words_of(cmd::unsubscribe()), "UNSUBSCRIBE");
    EXPECT_EQ(words_of(cmd::unsubscribe("a")), "UNSUBSCRIBE a");
    EXPECT_EQ(words_of(cmd::punsubscribe()), "PUNSUBSCRIBE");
    EXPECT_EQ(words_of(cmd::sunsubscribe({"a", "b"})), "SUNSUBSCRIBE a b");
    EXPECT_EQ(words_of(cmd::pubsub_channels()), "PUBSUB CHANNELS *");
    EXPECT_EQ(words_of(cmd::pubsub_numpat()), "PUBSUB NUMPAT");
    EXPECT_EQ(words_of(cmd::pubsub_numsub({"a", "b"})), "PUBSUB NUMSUB a b");
    EXPECT_EQ(words_of(cmd::pubsub_shardchannels("p*")), "PUBSUB SHARDCHANNELS p*");
    EXPECT_EQ(words_of(cmd::pubsub_shardnumsub("a")), "PUBSUB SHARDNUMSUB a");
    EXPECT_EQ(result_of(cmd::pubsub_numsub({"a", "b"}), "*4\r\n$1\r\na\r\n:1\r\n$1\r\nb\r\n:0\r\n"),
              (std::vector<std::pair<std::string, std::int64_t>>{{"a", 1}, {"b", 0}}));
}

TEST(RedisCommandsGeo, AreSerialisedAsTheServerHasThem) {
    using namespace redis::options;
    using redis::geo_position;
    using redis::geo_shape;
    using enum redis::geo_unit;
    EXPECT_EQ(words_of(cmd::geoadd("k", {{"a", {13.5, 38}}, {"b", {15, 37.25}}}, nx, ch)),
              "GEOADD k NX CH 13.5 38 a 15 37.25 b");
    EXPECT_EQ(words_of(cmd::geodist("k", "a", "b")), "GEODIST k a b m");
    EXPECT_EQ(words_of(cmd::geodist("k", "a", "b", km)), "GEODIST k a b km");
    EXPECT_EQ(words_of(cmd::geohash("k", {"a", "b"})), "GEOHASH k a b");
    EXPECT_EQ(words_of(cmd::geopos("k", "a")), "GEOPOS k a");
    EXPECT_EQ(words_of(cmd::geosearch("k", "a", geo_shape::circle(10, mi))), "GEOSEARCH k FROMMEMBER a BYRADIUS 10 mi");
    EXPECT_EQ(words_of(cmd::geosearch("k", geo_position{15, 37}, geo_shape::box(4, 2.5, ft), asc, count(3), with_dist)),
              "GEOSEARCH k FROMLONLAT 15 37 BYBOX 4 2.5 ft ASC COUNT 3 WITHDIST");
    EXPECT_EQ(words_of(cmd::geosearchstore("t", "k", "a", geo_shape::circle(1, m), count_any(2), store_dist)),
              "GEOSEARCHSTORE t k FROMMEMBER a BYRADIUS 1 m COUNT 2 ANY STOREDIST");
}

TEST(RedisCommandsGeo, MatchesHaveWhatWasAskedFor) {
    using namespace redis::options;
    using redis::geo_position;
    auto const circle = redis::geo_shape::circle(10, redis::geo_unit::km);
    EXPECT_EQ(result_of(cmd::geosearch("k", "a", circle), "*1\r\n$1\r\nb\r\n"), std::vector<std::string>{"b"});
    auto const all = result_of(cmd::geosearch("k", "a", circle, with_coord, with_dist, with_hash),
                               "*1\r\n*4\r\n$1\r\nb\r\n$3\r\n1.5\r\n:99\r\n*2\r\n,15\r\n,37\r\n");
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].member, "b");
    EXPECT_EQ(all[0].distance, 1.5);
    EXPECT_EQ(all[0].hash, 99);
    EXPECT_EQ(all[0].position, (geo_position{15, 37}));
    auto const near = result_of(cmd::geosearch("k", "a", circle, with_dist), "*1\r\n*2\r\n$1\r\nb\r\n$3\r\n1.5\r\n");
    EXPECT_EQ(near.at(0).distance, 1.5);
    EXPECT_EQ(near.at(0).hash, std::nullopt);
    EXPECT_EQ(result_of(cmd::geopos("k", {"a", "b"}), "*2\r\n*2\r\n$2\r\n15\r\n$2\r\n37\r\n*-1\r\n"),
              (std::vector<std::optional<geo_position>>{geo_position{15, 37}, std::nullopt}));
    EXPECT_EQ(error_of_result(cmd::geosearch("k", "a", circle, with_dist), "*1\r\n*0\r\n"),
              redis::error::incompatible_type);
}

TEST(RedisCommandsBitmaps, AreSerialisedAsTheServerHasThem) {
    using namespace redis::options;
    using enum redis::bit_operation;
    EXPECT_EQ(words_of(cmd::bitcount("k")), "BITCOUNT k");
    EXPECT_EQ(words_of(cmd::bitcount("k", 0, -1, bit_unit)), "BITCOUNT k 0 -1 BIT");
    EXPECT_EQ(words_of(cmd::bitfield("k", overflow(overflow::to::fail), field_incrby("u2", "#1", 1),
                                     field_set("i8", 0, -5), field_get("u4", 3))),
              "BITFIELD k OVERFLOW FAIL INCRBY u2 #1 1 SET i8 0 -5 GET u4 3");
    EXPECT_EQ(words_of(cmd::bitfield_ro("k", field_get("u4", 3))), "BITFIELD_RO k GET u4 3");
    EXPECT_EQ(words_of(cmd::bitop(all_of, "t", {"a", "b"})), "BITOP AND t a b");
    EXPECT_EQ(words_of(cmd::bitop(any_of, "t", {"a", "b"})), "BITOP OR t a b");
    EXPECT_EQ(words_of(cmd::bitop(one_of, "t", {"a", "b"})), "BITOP XOR t a b");
    EXPECT_EQ(words_of(cmd::bitop(invert, "t", "a")), "BITOP NOT t a");
    EXPECT_EQ(words_of(cmd::bitpos("k", true)), "BITPOS k 1");
    EXPECT_EQ(words_of(cmd::bitpos("k", false, 0, -1, byte_unit)), "BITPOS k 0 0 -1 BYTE");
    EXPECT_EQ(words_of(cmd::getbit("k", 7)), "GETBIT k 7");
    EXPECT_EQ(words_of(cmd::setbit("k", 7, true)), "SETBIT k 7 1");
    EXPECT_EQ(result_of(cmd::bitfield("k", field_get("u4", 3)), "*2\r\n:5\r\n$-1\r\n"),
              (std::vector<std::optional<std::int64_t>>{5, std::nullopt}));
}

TEST(RedisCommandsHyperloglog, AreSerialisedAsTheServerHasThem) {
    EXPECT_EQ(words_of(cmd::pfadd("k", {1, "b"})), "PFADD k 1 b");
    EXPECT_EQ(words_of(cmd::pfadd("k")), "PFADD k");
    EXPECT_EQ(words_of(cmd::pfcount({"a", "b"})), "PFCOUNT a b");
    EXPECT_EQ(words_of(cmd::pfmerge("t", {"a", "b"})), "PFMERGE t a b");
}

TEST(RedisCommandsServer, AreSerialisedAsTheServerHasThem) {
    using namespace redis::options;
    using namespace std::chrono_literals;
    EXPECT_EQ(words_of(cmd::acl_whoami()), "ACL WHOAMI");
    EXPECT_EQ(words_of(cmd::bgrewriteaof()), "BGREWRITEAOF");
    EXPECT_EQ(words_of(cmd::bgsave()), "BGSAVE");
    EXPECT_EQ(words_of(cmd::client_getname()), "CLIENT GETNAME");
    EXPECT_EQ(words_of(cmd::client_id()), "CLIENT ID");
    EXPECT_EQ(words_of(cmd::client_info()), "CLIENT INFO");
    EXPECT_EQ(words_of(cmd::client_kill(7)), "CLIENT KILL ID 7");
    EXPECT_EQ(words_of(cmd::client_list()), "CLIENT LIST");
    EXPECT_EQ(words_of(cmd::client_setname("n")), "CLIENT SETNAME n");
    EXPECT_EQ(words_of(cmd::client_unblock(7)), "CLIENT UNBLOCK 7");
    EXPECT_EQ(words_of(cmd::command_count()), "COMMAND COUNT");
    EXPECT_EQ(words_of(cmd::config_get({"a*", "b"})), "CONFIG GET a* b");
    EXPECT_EQ(words_of(cmd::config_resetstat()), "CONFIG RESETSTAT");
    EXPECT_EQ(words_of(cmd::config_rewrite()), "CONFIG REWRITE");
    EXPECT_EQ(words_of(cmd::config_set({{"a", 1}})), "CONFIG SET a 1");
    EXPECT_EQ(words_of(cmd::dbsize()), "DBSIZE");
    EXPECT_EQ(words_of(cmd::echo("m")), "ECHO m");
    EXPECT_EQ(words_of(cmd::flushall(in_background)), "FLUSHALL ASYNC");
    EXPECT_EQ(words_of(cmd::flushdb(at_once)), "FLUSHDB SYNC");
    EXPECT_EQ(words_of(cmd::info()), "INFO");
    EXPECT_EQ(words_of(cmd::info({"server", "memory"})), "INFO server memory");
    EXPECT_EQ(words_of(cmd::lastsave()), "LASTSAVE");
    EXPECT_EQ(words_of(cmd::memory_usage("k")), "MEMORY USAGE k");
    EXPECT_EQ(words_of(cmd::ping()), "PING");
    EXPECT_EQ(words_of(cmd::ping("m")), "PING m");
    EXPECT_EQ(words_of(cmd::save()), "SAVE");
    EXPECT_EQ(words_of(cmd::slowlog_len()), "SLOWLOG LEN");
    EXPECT_EQ(words_of(cmd::slowlog_reset()), "SLOWLOG RESET");
    EXPECT_EQ(words_of(cmd::swapdb(0, 1)), "SWAPDB 0 1");
    EXPECT_EQ(words_of(cmd::time()), "TIME");
    EXPECT_EQ(words_of(cmd::wait(1, 100ms)), "WAIT 1 100");
    EXPECT_EQ(words_of(cmd::waitaof(1, 2, 1s)), "WAITAOF 1 2 1000");
    EXPECT_EQ(cmd::wait(1, 1s).req().late_ms(), 1001U);
}

TEST(RedisCommandsServer, UsersAreSerialisedAsTheServerHasThem) {
    EXPECT_EQ(words_of(cmd::acl_cat()), "ACL CAT");
    EXPECT_EQ(words_of(cmd::acl_cat("read")), "ACL CAT read");
    EXPECT_EQ(words_of(cmd::acl_deluser({"ann", "bob"})), "ACL DELUSER ann bob");
    EXPECT_EQ(words_of(cmd::acl_dryrun("ann", {"SET", "k", 1})), "ACL DRYRUN ann SET k 1");
    EXPECT_EQ(words_of(cmd::acl_genpass()), "ACL GENPASS");
    EXPECT_EQ(words_of(cmd::acl_genpass(128)), "ACL GENPASS 128");
    EXPECT_EQ(words_of(cmd::acl_getuser("ann")), "ACL GETUSER ann");
    EXPECT_EQ(words_of(cmd::acl_list()), "ACL LIST");
    EXPECT_EQ(words_of(cmd::acl_load()), "ACL LOAD");
    EXPECT_EQ(words_of(cmd::acl_log()), "ACL LOG");
    EXPECT_EQ(words_of(cmd::acl_log(3)), "ACL LOG 3");
    EXPECT_EQ(words_of(cmd::acl_log_reset()), "ACL LOG RESET");
    EXPECT_EQ(words_of(cmd::acl_save()), "ACL SAVE");
    EXPECT_EQ(words_of(cmd::acl_setuser("ann")), "ACL SETUSER ann");
    EXPECT_EQ(words_of(cmd::acl_setuser("ann", {"on", "+@all"})), "ACL SETUSER ann on +@all");
    EXPECT_EQ(words_of(cmd::acl_users()), "ACL USERS");
}

TEST(RedisCommandsServer, WhatIsAskedOfTheServerIsSerialisedAsTheServerHasIt) {
    using namespace redis::options;
    using namespace std::chrono_literals;
    EXPECT_EQ(words_of(cmd::client_kill_where(of_user("ann"), of_type("pubsub"), from_address("10.0.0.7:5"))),
              "CLIENT KILL USER ann TYPE pubsub ADDR 10.0.0.7:5");
    EXPECT_EQ(words_of(cmd::client_list(of_type("pubsub"))), "CLIENT LIST TYPE pubsub");
    EXPECT_EQ(words_of(cmd::client_pause(2s)), "CLIENT PAUSE 2000");
    EXPECT_EQ(words_of(cmd::client_pause(1ms, only_writes)), "CLIENT PAUSE 1 WRITE");
    EXPECT_EQ(words_of(cmd::client_unpause()), "CLIENT UNPAUSE");
    EXPECT_EQ(words_of(cmd::command_docs()), "COMMAND DOCS");
    EXPECT_EQ(words_of(cmd::command_docs({"get", "set"})), "COMMAND DOCS get set");
    EXPECT_EQ(words_of(cmd::command_getkeys({"SET", "k", 1})), "COMMAND GETKEYS SET k 1");
    EXPECT_EQ(words_of(cmd::command_getkeysandflags({"SET", "k", 1})), "COMMAND GETKEYSANDFLAGS SET k 1");
    EXPECT_EQ(words_of(cmd::command_info({"get"})), "COMMAND INFO get");
    EXPECT_EQ(words_of(cmd::command_list()), "COMMAND LIST");
    EXPECT_EQ(words_of(cmd::command_list(by_pattern("x*"))), "COMMAND LIST FILTERBY PATTERN x*");
    EXPECT_EQ(words_of(cmd::command_list(by_category("read"))), "COMMAND LIST FILTERBY ACLCAT read");
    EXPECT_EQ(words_of(cmd::command_list(by_module("m"))), "COMMAND LIST FILTERBY MODULE m");
    EXPECT_EQ(words_of(cmd::latency_doctor()), "LATENCY DOCTOR");
    EXPECT_EQ(words_of(cmd::latency_graph("command")), "LATENCY GRAPH command");
    EXPECT_EQ(words_of(cmd::latency_histogram({"get", "set"})), "LATENCY HISTOGRAM get set");
    EXPECT_EQ(words_of(cmd::latency_history("command")), "LATENCY HISTORY command");
    EXPECT_EQ(words_of(cmd::latency_latest()), "LATENCY LATEST");
    EXPECT_EQ(words_of(cmd::latency_reset()), "LATENCY RESET");
    EXPECT_EQ(words_of(cmd::latency_reset("command")), "LATENCY RESET command");
    EXPECT_EQ(words_of(cmd::memory_doctor()), "MEMORY DOCTOR");
    EXPECT_EQ(words_of(cmd::memory_malloc_stats()), "MEMORY MALLOC-STATS");
    EXPECT_EQ(words_of(cmd::memory_purge()), "MEMORY PURGE");
    EXPECT_EQ(words_of(cmd::memory_stats()), "MEMORY STATS");
    EXPECT_EQ(words_of(cmd::memory_usage("k", 0)), "MEMORY USAGE k SAMPLES 0");
    EXPECT_EQ(words_of(cmd::role()), "ROLE");
    EXPECT_EQ(words_of(cmd::slowlog_get()), "SLOWLOG GET");
    EXPECT_EQ(words_of(cmd::slowlog_get(-1)), "SLOWLOG GET -1");
}

TEST(RedisCommandsServer, APauseIsKnownToTheConnectionThatItHoldsUp) {
    using namespace std::chrono_literals;
    for (auto const& pause : {cmd::client_pause(2s), cmd::client_pause(2s, redis::options::only_writes)}) {
        EXPECT_TRUE(pause.req().pauses());
        EXPECT_EQ(pause.req().late_ms(), 2001U);
        EXPECT_EQ(pause.req().fit(), redis::request::fitness::shared);
    }
}

TEST(RedisCommandsServer, ARoleIsOneOfThree) {
    using kind = redis::replication_role::kind;
    auto const master = result_of(cmd::role(), "*3\r\n$6\r\nmaster\r\n:42\r\n*1\r\n*3\r\n$9\r\n127.0.0.1\r\n$4\r\n"
                                               "6380\r\n$2\r\n40\r\n");
    EXPECT_EQ(master.is, kind::master);
    EXPECT_EQ(master.offset, 42);
    EXPECT_EQ(master.replicas, (std::vector<redis::connected_replica>{{"127.0.0.1", 6380, 40}}));
    auto const replica =
        result_of(cmd::role(), "*5\r\n$5\r\nslave\r\n$9\r\nlocalhost\r\n:6379\r\n$9\r\nconnected\r\n:42\r\n");
    EXPECT_EQ(replica.is, kind::replica);
    EXPECT_EQ(replica.master_host, "localhost");
    EXPECT_EQ(replica.master_port, 6379);
    EXPECT_EQ(replica.link, "connected");
    EXPECT_EQ(replica.offset, 42);
    auto const sentinel = result_of(cmd::role(), "*2\r\n$8\r\nsentinel\r\n*2\r\n$1\r\na\r\n$1\r\nb\r\n");
    EXPECT_EQ(sentinel.is, kind::sentinel);
    EXPECT_EQ(sentinel.masters, (std::vector<std::string>{"a", "b"}));
    for (auto const* const other : {"*1\r\n$7\r\nunknown\r\n", "*1\r\n$6\r\nmaster\r\n", "*0\r\n", "+master\r\n"})
        EXPECT_EQ(error_of_result(cmd::role(), other), redis::error::incompatible_type) << other;
}

/// As servers that are newer, or a cluster, add them.
TEST(RedisCommandsServer, FieldsThatAreNotKnownArePassedOver) {
    using namespace std::chrono_literals;
    using clock = std::chrono::system_clock;
    auto const events = result_of(cmd::latency_latest(), "*2\r\n*6\r\n$4\r\nfork\r\n:1700000000\r\n:7\r\n:9\r\n:16\r\n"
                                                         ":2\r\n*4\r\n$3\r\naof\r\n:1700000001\r\n:1\r\n:2\r\n");
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(events[0].name, "fork");
    EXPECT_EQ(events[0].at, clock::time_point(1700000000s));
    EXPECT_EQ(events[0].latest, 7ms);
    EXPECT_EQ(events[0].greatest, 9ms);
    EXPECT_EQ(events[1].name, "aof");
    EXPECT_EQ(events[1].greatest, 2ms);
    EXPECT_EQ(error_of_result(cmd::latency_latest(), "*1\r\n*3\r\n$4\r\nfork\r\n:1700000000\r\n:7\r\n"),
              redis::error::incompatible_type);
    auto const figures = result_of(cmd::memory_stats(), "*6\r\n$4\r\ndb.0\r\n*2\r\n$4\r\nmain\r\n:5\r\n$13\r\n"
                                                        "fragmentation\r\n$3\r\n1.5\r\n$10\r\nkeys.count\r\n:3\r\n");
    EXPECT_EQ(figures.fragmentation, 1.5);
    EXPECT_EQ(figures.keys_count, 3);
    auto const user =
        result_of(cmd::acl_getuser("ann"), "%3\r\n+new\r\n%1\r\n+a\r\n*1\r\n+b\r\n+flags\r\n~1\r\n+off\r\n"
                                           "+keys\r\n+~*\r\n");
    ASSERT_TRUE(user);
    EXPECT_FALSE(user->is_on());
    EXPECT_EQ(user->rights.keys, "~*");
}

TEST(RedisCommandsServer, TimesArePointsInTime) {
    using namespace std::chrono_literals;
    using clock = std::chrono::system_clock;
    EXPECT_EQ(result_of(cmd::time(), "*2\r\n$10\r\n1700000000\r\n$6\r\n250000\r\n"),
              clock::time_point(1700000000250ms));
    EXPECT_EQ(result_of(cmd::lastsave(), ":1700000000\r\n"), clock::time_point(1700000000s));
    EXPECT_EQ(error_of_result(cmd::time(), "+OK\r\n"), redis::error::incompatible_type);
    EXPECT_EQ(result_of(cmd::config_get("a"), "%1\r\n+a\r\n+1\r\n"), (std::map<std::string, std::string>{{"a", "1"}}));
}

} // namespace fairlead::test
