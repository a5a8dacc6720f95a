#include <fairlead/redis/cmd/streams.hpp>
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

namespace {

constexpr std::string_view one_entry = "*1\r\n*2\r\n$3\r\n1-0\r\n*2\r\n$1\r\nf\r\n$1\r\nv\r\n";
redis::stream_entry const entry_of_one{"1-0", {{"f", "v"}}};

} // namespace

TEST(RedisCommandsStreams, AreSerialisedAsTheServerHasThem) {
    using namespace redis::options;
    using namespace std::chrono_literals;
    EXPECT_EQ(words_of(cmd::xack("k", "g", {"1-0", "2-0"})), "XACK k g 1-0 2-0");
    EXPECT_EQ(words_of(cmd::xadd("k", "*", {{"f", 1}, {"g", "x"}})), "XADD k * f 1 g x");
    EXPECT_EQ(words_of(cmd::xadd("k", "1-0", {{"f", 1}}, no_mkstream, maxlen(100))),
              "XADD k NOMKSTREAM MAXLEN 100 1-0 f 1");
    EXPECT_EQ(words_of(cmd::xadd("k", "*", {{"f", 1}}, maxlen_about(100), trim_limit(10))),
              "XADD k MAXLEN ~ 100 LIMIT 10 * f 1");
    EXPECT_EQ(words_of(cmd::xadd("k", "*", {{"f", 1}}, minid("5-0"))), "XADD k MINID 5-0 * f 1");
    EXPECT_EQ(words_of(cmd::xautoclaim("k", "g", "c", 1min, "0-0", count(10), just_id)),
              "XAUTOCLAIM k g c 60000 0-0 COUNT 10 JUSTID");
    EXPECT_EQ(words_of(cmd::xclaim("k", "g", "c", 1s, {"1-0", "2-0"}, idle(5ms), retry_count(2), force, just_id)),
              "XCLAIM k g c 1000 1-0 2-0 IDLE 5 RETRYCOUNT 2 FORCE JUSTID");
    EXPECT_EQ(words_of(cmd::xdel("k", "1-0")), "XDEL k 1-0");
    EXPECT_EQ(words_of(cmd::xgroup_create("k", "g", "$", mkstream, entries_read(3))),
              "XGROUP CREATE k g $ MKSTREAM ENTRIESREAD 3");
    EXPECT_EQ(words_of(cmd::xgroup_createconsumer("k", "g", "c")), "XGROUP CREATECONSUMER k g c");
    EXPECT_EQ(words_of(cmd::xgroup_delconsumer("k", "g", "c")), "XGROUP DELCONSUMER k g c");
    EXPECT_EQ(words_of(cmd::xgroup_destroy("k", "g")), "XGROUP DESTROY k g");
    EXPECT_EQ(words_of(cmd::xgroup_setid("k", "g", 0)), "XGROUP SETID k g 0");
    EXPECT_EQ(words_of(cmd::xinfo_consumers("k", "g")), "XINFO CONSUMERS k g");
    EXPECT_EQ(words_of(cmd::xinfo_groups("k")), "XINFO GROUPS k");
    EXPECT_EQ(words_of(cmd::xinfo_stream("k")), "XINFO STREAM k");
    EXPECT_EQ(words_of(cmd::xlen("k")), "XLEN k");
    EXPECT_EQ(words_of(cmd::xpending("k", "g")), "XPENDING k g");
    EXPECT_EQ(words_of(cmd::xpending("k", "g", "-", "+", 10)), "XPENDING k g - + 10");
    EXPECT_EQ(words_of(cmd::xpending("k", "g", "-", "+", 10, "c", 1s)), "XPENDING k g IDLE 1000 - + 10 c");
    EXPECT_EQ(words_of(cmd::xrange("k", "-", "+", count(5))), "XRANGE k - + COUNT 5");
    EXPECT_EQ(words_of(cmd::xrevrange("k", "+", "-")), "XREVRANGE k + -");
    EXPECT_EQ(words_of(cmd::xread({{"a", "0"}, {"b", "$"}}, count(5), block_for(1s))),
              "XREAD COUNT 5 BLOCK 1000 STREAMS a b 0 $");
    EXPECT_EQ(words_of(cmd::xread(std::map<std::string, std::string>{{"a", "1-0"}, {"b", "2-0"}})),
              "XREAD STREAMS a b 1-0 2-0");
    EXPECT_EQ(words_of(cmd::xreadgroup("g", "c", {{"a", ">"}}, no_ack, count(1))),
              "XREADGROUP GROUP g c NOACK COUNT 1 STREAMS a >");
    EXPECT_EQ(words_of(cmd::xsetid("k", "5-0")), "XSETID k 5-0");
    EXPECT_EQ(words_of(cmd::xtrim("k", minid_about("5-0"), trim_limit(2))), "XTRIM k MINID ~ 5-0 LIMIT 2");
}

TEST(RedisCommandsStreams, OnlyReadingThatBlocksNeedsAConnectionOfItsOwn) {
    using namespace redis::options;
    using namespace std::chrono_literals;
    EXPECT_EQ(cmd::xread({{"BLOCK", "0"}}).req().fit(), redis::request::fitness::shared);
    EXPECT_EQ(cmd::xread({{"a", "0"}}, block_for(1s)).req().fit(), redis::request::fitness::alone);
    EXPECT_EQ(cmd::xread({{"a", "0"}}, block_for(for_ever)).req().late_ms(), redis::request::for_ever_ms);
    EXPECT_EQ(cmd::xreadgroup("g", "c", {{"a", ">"}}, block_for(1s)).req().late_ms(), 1001U);
}

TEST(RedisCommandsStreams, EntriesHaveAnIdAndFieldsInTheirOrder) {
    auto const entries = result_of(cmd::xrange("k", "-", "+"), one_entry);
    EXPECT_EQ(entries, std::vector<redis::stream_entry>{entry_of_one});
    EXPECT_EQ(*entries[0].find("f"), "v");
    EXPECT_EQ(entries[0].find("g"), nullptr);
    EXPECT_EQ(result_of(cmd::xrange("k", "-", "+"), "*1\r\n*2\r\n$3\r\n1-0\r\n_\r\n"),
              (std::vector<redis::stream_entry>{{"1-0", {}}}))
        << "deleted, and still pending";
    EXPECT_EQ(error_of_result(cmd::xrange("k", "-", "+"), "*1\r\n*1\r\n$3\r\n1-0\r\n"),
              redis::error::incompatible_type);
}

TEST(RedisCommandsStreams, EntriesOfSeveralStreamsComeInBothProtocols) {
    redis::stream_entries const expected{{"a", {entry_of_one}}};
    auto const read = cmd::xread({{"a", "0"}});
    EXPECT_EQ(result_of(read, std::string("%1\r\n$1\r\na\r\n").append(one_entry)), expected);
    EXPECT_EQ(result_of(read, std::string("*1\r\n*2\r\n$1\r\na\r\n").append(one_entry)), expected);
    EXPECT_EQ(result_of(read, "_\r\n"), redis::stream_entries());
    EXPECT_EQ(result_of(read, "*-1\r\n"), redis::stream_entries());
    EXPECT_EQ(error_of_result(cmd::xreadgroup("g", "c", {{"a", ">"}}), "-NOGROUP no\r\n"), redis::error::no_group);
}

TEST(RedisCommandsStreams, AnEntryThatIsAddedHasAnId) {
    using namespace redis::options;
    EXPECT_EQ(result_of(cmd::xadd("k", "*", {{"f", 1}}), "$3\r\n1-0\r\n"), "1-0");
    EXPECT_EQ(result_of(cmd::xadd("k", "*", {{"f", 1}}, no_mkstream), "_\r\n"), std::nullopt);
}

TEST(RedisCommandsStreams, ClaimedEntriesComeInPages) {
    using namespace redis::options;
    using namespace std::chrono_literals;
    auto const page = result_of(cmd::xautoclaim("k", "g", "c", 0ms, "0-0"),
                                std::string("*3\r\n$3\r\n2-0\r\n").append(one_entry).append("*1\r\n$3\r\n1-5\r\n"));
    EXPECT_EQ(page.next, "2-0");
    EXPECT_FALSE(page.is_last());
    EXPECT_EQ(page.entries, std::vector<redis::stream_entry>{entry_of_one});
    EXPECT_EQ(page.deleted, std::vector<std::string>{"1-5"});
    auto const ids =
        result_of(cmd::xautoclaim("k", "g", "c", 0ms, "0-0", just_id), "*2\r\n$3\r\n0-0\r\n*1\r\n$3\r\n1-0\r\n");
    EXPECT_TRUE(ids.is_last());
    EXPECT_EQ(ids.entries, std::vector<std::string>{"1-0"});
    EXPECT_EQ(result_of(cmd::xclaim("k", "g", "c", 0ms, "1-0"), one_entry),
              std::vector<redis::stream_entry>{entry_of_one});
    EXPECT_EQ(result_of(cmd::xclaim("k", "g", "c", 0ms, "1-0", just_id), "*1\r\n$3\r\n1-0\r\n"),
              std::vector<std::string>{"1-0"});
    EXPECT_EQ(error_of_result(cmd::xautoclaim("k", "g", "c", 0ms, "0-0"), "*1\r\n$3\r\n0-0\r\n"),
              redis::error::incompatible_type);
}

TEST(RedisCommandsStreams, PendingEntriesAreSummedUpOrListed) {
    using namespace std::chrono_literals;
    auto const all = result_of(cmd::xpending("k", "g"), "*4\r\n:2\r\n$3\r\n1-0\r\n$3\r\n2-0\r\n"
                                                        "*1\r\n*2\r\n$1\r\nc\r\n$1\r\n2\r\n");
    EXPECT_EQ(all.entries, 2);
    EXPECT_EQ(all.first_id, "1-0");
    EXPECT_EQ(all.last_id, "2-0");
    EXPECT_EQ(all.consumers, (std::vector<std::pair<std::string, std::int64_t>>{{"c", 2}}));
    auto const none = result_of(cmd::xpending("k", "g"), "*4\r\n:0\r\n$-1\r\n$-1\r\n*-1\r\n");
    EXPECT_EQ(none.first_id, std::nullopt);
    EXPECT_TRUE(none.consumers.empty());
    EXPECT_EQ(result_of(cmd::xpending("k", "g", "-", "+", 10), "*1\r\n*4\r\n$3\r\n1-0\r\n$1\r\nc\r\n:1500\r\n:3\r\n"),
              (std::vector<redis::pending_entry>{{"1-0", "c", 1500ms, 3}}));
}

TEST(RedisCommandsStreams, DescriptionsPassOverWhatTheyDoNotKnow) {
    using namespace std::chrono_literals;
    auto const info = result_of(cmd::xinfo_stream("k"), "%6\r\n+length\r\n:1\r\n+new\r\n*1\r\n:7\r\n+groups\r\n:2\r\n"
                                                        "+last-generated-id\r\n+1-0\r\n+first-entry\r\n"
                                                        "*2\r\n$3\r\n1-0\r\n*2\r\n$1\r\nf\r\n$1\r\nv\r\n"
                                                        "+last-entry\r\n_\r\n");
    EXPECT_EQ(info.length, 1);
    EXPECT_EQ(info.groups, 2);
    EXPECT_EQ(info.last_id, "1-0");
    EXPECT_EQ(info.first, entry_of_one);
    EXPECT_EQ(info.last, std::nullopt);
    auto const groups = result_of(cmd::xinfo_groups("k"), "*1\r\n*10\r\n+name\r\n+g\r\n+consumers\r\n:1\r\n+pending\r\n"
                                                          ":2\r\n+last-delivered-id\r\n+1-0\r\n+lag\r\n$-1\r\n");
    ASSERT_EQ(groups.size(), 1U);
    EXPECT_EQ(groups[0].name, "g");
    EXPECT_EQ(groups[0].pending, 2);
    EXPECT_EQ(groups[0].last_delivered_id, "1-0");
    EXPECT_EQ(groups[0].lag, std::nullopt);
    auto const consumers =
        result_of(cmd::xinfo_consumers("k", "g"), "*1\r\n%3\r\n+name\r\n+c\r\n+pending\r\n:2\r\n+idle\r\n:1500\r\n");
    ASSERT_EQ(consumers.size(), 1U);
    EXPECT_EQ(consumers[0].name, "c");
    EXPECT_EQ(consumers[0].pending, 2);
    EXPECT_EQ(consumers[0].idle, 1500ms);
    EXPECT_EQ(error_of_result(cmd::xinfo_stream("k"), "%1\r\n+length\r\n*0\r\n"), redis::error::incompatible_type);
}

} // namespace fairlead::test
