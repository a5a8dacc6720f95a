// Locks, permits, meeting points and events under many seeds, beside models of them. They are waited for, given back,
// cancelled and destroyed at random, from between the turns and from handlers. Sometimes the context ends.
#include <fairlead/sim/seeds.hpp>
#include <support/scale.hpp>

#include <sim/sync_counts.hpp>
#include <sim/sync_events.hpp>
#include <sim/sync_locks.hpp>
#include <sim/sync_scene.hpp>

#include <gtest/gtest.h>

#include <cstdlib>

namespace {

using namespace fairlead;
using sim::world;

template <class Scene> void every_wait_ends_as_the_model_says() {
    std::size_t waits = 0;
    sim::for_each_seed(test::scaled(300, 30), [&waits](world& w) {
        Scene s(w);
        w.run();
        s.settle();
        EXPECT_EQ(s.account.faults(), "");
        waits += s.waits();
    });
    bool const is_whole = !std::getenv("SIM_SEED") && !std::getenv("SIM_COUNT") && !std::getenv("SIM_JOBS");
    EXPECT_TRUE(waits > 100 || !is_whole);
}

TEST(CoreSync, EveryWaitEndsAsTheModelOfItsObjectSays) {
    every_wait_ends_as_the_model_says<
        test::sync_scene<test::mutex_subject, test::shared_mutex_subject, test::semaphore_subject,
                         test::meeting_subject<latch>, test::meeting_subject<barrier>, test::limiter_subject>>();
}

TEST(CoreSync, EveryEventLetsAllGoAndWhatIsDoneOnceIsDoneOnce) {
    every_wait_ends_as_the_model_says<test::sync_scene<test::event_subject, test::once_subject>>();
}

} // namespace
