// The table of calls by command: its rows and its buckets.
#include <fairlead/redis/call_statistics.hpp>

#include <redis/call_table.hpp>
#include <redis/command_table.hpp>

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace fairlead::test {
namespace {

using redis::call_outcome;
using redis::impl::bucket_of;
using redis::impl::call_table;

TEST(RedisCallTable, LatencyOfABoundBelongsToItsBucket) {
    for (std::size_t k = 0; k != redis::latency_bounds; ++k) {
        auto const bound = std::chrono::nanoseconds(redis::latency_bound(k)).count();
        EXPECT_EQ(bucket_of(bound), k);
        EXPECT_EQ(bucket_of(bound + 1), k + 1);
    }
    EXPECT_EQ(bucket_of(0), 0U);
    EXPECT_EQ(bucket_of(-5), 0U);
    EXPECT_EQ(bucket_of(INT64_MAX), redis::latency_bounds);
}

TEST(RedisCallTable, CommandsHavePlacesBySpellingAndSubcommand) {
    auto const all = redis::impl::all_command_facts();
    EXPECT_EQ(call_table::place_of("get", ""), call_table::place_of("GET", "key"));
    EXPECT_EQ(all[call_table::place_of("config", "get")].name, "CONFIG GET");
    EXPECT_EQ(all[call_table::place_of("CONFIG", "")].name, "CONFIG");
    EXPECT_EQ(call_table::place_of("NO.SUCH", "get"), all.size());
    EXPECT_EQ(call_table::place_of("CONFIG", "NOSUCH"), all.size());
}

TEST(RedisCallTable, ThreadsThatMeetTheFirstCallOfACommandLoseNone) {
    for (int round = 0; round != 50; ++round) {
        call_table table;
        auto const place = call_table::place_of("GET", "");
        auto const work = [&] {
            for (int i = 0; i != 100; ++i)
                table.count(place,
                            {.outcome = call_outcome::answered, .bytes_sent = 1, .bytes_received = 2, .took_ns = 3});
        };
        std::thread other(work);
        work();
        other.join();
        auto const* const row = table.rows[place].load();
        ASSERT_TRUE(row);
        EXPECT_EQ(row->by_outcome[0], 200U);
        EXPECT_EQ(row->by_latency[0], 200U);
        EXPECT_EQ(row->bytes_received, 400U);
        EXPECT_EQ(row->time_ns, 600U);
    }
}

TEST(RedisCallTable, EachOutcomeHasAName) {
    for (std::size_t i = 0; i != redis::call_outcomes; ++i)
        EXPECT_FALSE(to_string(static_cast<call_outcome>(i)).empty());
    EXPECT_EQ(to_string(call_outcome::other), "other");
    EXPECT_EQ(to_string(call_outcome::maybe_executed), "maybe_executed");
}

} // namespace
} // namespace fairlead::test
