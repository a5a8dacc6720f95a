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
