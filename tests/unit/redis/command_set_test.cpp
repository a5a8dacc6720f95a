#include <fairlead/redis/command_set.hpp>
#include <support/redis_command.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace fairlead::test {

namespace {

/// Executes nothing: returns the command, and counts.
struct recorder : redis::command_set<recorder> {
    int calls = 0;
    template <class Result> redis::command<Result> call(redis::command<Result>&& command) {
        ++calls;
        return std::move(command);
    }
};

/// With two groups only, and a call that returns something else.
class strings_alone : public redis::strings_of<strings_alone>, public redis::keys_of<strings_alone> {
public:
    template <class Command> std::string call(Command const& command) { return words_of(command); }
};

} // namespace

TEST(RedisCommandSet, EachMemberCallsWithTheCommandOfItsName) {
    using namespace redis::options;
    using namespace std::chrono_literals;
    recorder r;
    static_assert(std::is_same_v<decltype(r.get<long>("k")), redis::command<std::optional<long>>>);
    EXPECT_EQ(words_of(r.get("k")), "GET k");
    EXPECT_EQ(words_of(r.set("k", 1, ex(10s), nx)), "SET k 1 EX 10 NX");
    EXPECT_EQ(words_of(r.set<int>("k", 1, get_old)), "SET k 1 GET");
    EXPECT_EQ(words_of(r.del({"a", "b"})), "DEL a b");
    EXPECT_EQ(words_of(r.hset("k", {{"f", 1}})), "HSET k f 1");
    EXPECT_EQ(words_of(r.hset("k", "f", 1)), "HSET k f 1");
    EXPECT_EQ(words_of(r.zadd("k", {{"m", 1.5}}, xx)), "ZADD k XX 1.5 m");
    EXPECT_EQ(words_of(r.xread({{"s", "$"}}, count(2))), "XREAD COUNT 2 STREAMS s $");
    EXPECT_EQ(words_of(r.eval<long>("s", "k", {1, 2})), "EVAL s 1 k 1 2");
    EXPECT_EQ(words_of(r.fcall<long>("f")), "FCALL f 0");
    EXPECT_EQ(words_of(r.unsubscribe()), "UNSUBSCRIBE");
    EXPECT_EQ(words_of(r.geosearch("k", "m", redis::geo_shape::circle(1, redis::geo_unit::km), with_dist)),
              "GEOSEARCH k FROMMEMBER m BYRADIUS 1 km WITHDIST");
    EXPECT_EQ(words_of(r.setbit("k", 7, true)), "SETBIT k 7 1");
    EXPECT_EQ(words_of(r.pfcount("k")), "PFCOUNT k");
    EXPECT_EQ(words_of(r.sismember("k", 1)), "SISMEMBER k 1");
    EXPECT_EQ(words_of(r.blpop("k", for_ever)), "BLPOP k 0");
    EXPECT_EQ(words_of(r.ping()), "PING");
    EXPECT_EQ(r.calls, 17);
}

TEST(RedisCommandSet, AClassMayHaveAFewGroups) {
    strings_alone s;
    EXPECT_EQ(s.incr("k"), "INCR k");
    EXPECT_EQ(s.ttl("k"), "TTL k");
}

} // namespace fairlead::test
