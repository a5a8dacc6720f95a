// Every operation that there is, under many seeds. Random scripts start operations in every way, ask them to end, and
// let their peers act. Meanwhile they cancel, close, move and destroy the objects, also from inside handlers. Each
// operation completes once, with the truth about its bytes, datagrams and connections, or goes once with its context.
#include <sim/operation_script.hpp>
#include <support/scale.hpp>

#include <gtest/gtest.h>

#include <fairlead/sim/seeds.hpp>

#include <chrono>
#include <cstdlib>
#include <memory>

namespace {

using namespace fairlead;
using sim::world;
using test::script::operations;
using test::script::outcomes_by_name;

bool is_whole_run() { return !std::getenv("SIM_SEED") && !std::getenv("SIM_COUNT") && !std::getenv("SIM_JOBS"); }

TEST(CoreOperations, EachCompletesOnceWithTheTruthWhateverIsDoneToIt) {
    outcomes_by_name by_name;
    sim::for_each_seed(test::scaled(800, 40), [&by_name](world& w) {
        operations o(w);
        w.run();
        o.settle(by_name);
        EXPECT_EQ(o.account.faults(), "");
    });
    if (is_whole_run() && test::scale() >= 1) {
        EXPECT_EQ(by_name.size(), std::tuple_size_v<test::every_operation::operations>);
        for (auto const& [name, o] : by_name)
            EXPECT_TRUE(o.good > 3 && o.dropped > 0) << name;
    }
}

TEST(CoreOperations, EachGoesOnceWithItsWorld) {
    outcomes_by_name by_name;
    sim::for_each_seed(test::scaled(400, 20), [&by_name](world& outer) {
        auto const until = std::chrono::microseconds(outer.random().below(6000));
        auto w = std::make_unique<world>(outer.seed());
        operations o(*w);
        w->run_for(until);
        o.world_goes();
        o.account.world_goes();
        w.reset();
        o.settle_without_a_world(by_name);
        EXPECT_EQ(o.account.faults(), "");
    });
}

} // namespace
