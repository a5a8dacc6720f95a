// 500 pipelined requests of many callers over a connection that breaks, in many worlds.
#include <gtest/gtest.h>

#include <sim/redis_pipelined_client.hpp>

#include <fairlead/sim/seeds.hpp>
#include <support/scale.hpp>

namespace fairlead::test {
namespace {

TEST(PipelinedClient, EveryCallerGetsItsOwnReplyOrLearnsThatItIsLost) {
    pipelined_counts all;
    auto const sum = sim::for_each_seed(scaled(2'000, 60), [&](sim::world& w) {
        auto const c = run_pipelined_client(w);
        all.replies += c.replies;
        all.not_executed += c.not_executed;
        all.unknown += c.unknown;
        all.cancelled += c.cancelled;
        all.connections += c.connections;
    });
    if (sum.seeds < 50 || all.replies == 0) // one seed, or other processes counted
        return;
    EXPECT_GT(all.replies, sum.seeds * 200);
    EXPECT_GT(all.cancelled, sum.seeds * 10);
    EXPECT_GT(all.unknown, sum.seeds * 5);
    EXPECT_GT(all.not_executed, sum.seeds);
    EXPECT_GT(all.connections, sum.seeds * 3 / 2);
    EXPECT_GT(sum.counts.of(sim::rule::short_read), sum.seeds * 10);
}

} // namespace
} // namespace fairlead::test
