// The handles of channels, oneshots, broadcasts and watches under many seeds, beside models of them. Messages are sent
// and received, waits cancelled, handles copied, moved and destroyed at random, from between the turns and from
// handlers.
#include <fairlead/sim/seeds.hpp>
#include <support/scale.hpp>

#include <sim/sync_ends.hpp>
#include <sim/sync_scene.hpp>

#include <gtest/gtest.h>

#include <cstdlib>

namespace {

using namespace fairlead;
using sim::world;
using ends_scene = test::sync_scene<test::message_channel_subject, test::oneshot_subject,
                                    test::broadcast_subject<false>, test::broadcast_subject<true>>;

TEST(CoreEnds, EveryWaitEndsAsTheModelOfItsChannelSays) {
    std::size_t waits = 0;
    sim::for_each_seed(test::scaled(300, 30), [&waits](world& w) {
        ends_scene s(w);
        s.run();
        s.settle();
        EXPECT_EQ(s.account.faults(), "");
        waits += s.waits();
    });
    bool const is_whole = !std::getenv("SIM_SEED") && !std::getenv("SIM_COUNT") && !std::getenv("SIM_JOBS");
    EXPECT_TRUE(waits > 100 || !is_whole);
}

} // namespace
