// Ops that come back from several threads, of which one at a time takes them.
#include <fairlead/operation/returned_ops.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

namespace {

using namespace fairlead;
using impl::operation::returned_ops;

std::vector<op*> taken_from(returned_ops& all) {
    std::vector<op*> taken;
    all.take([&](op& o) { taken.push_back(&o); });
    return taken;
}

TEST(ReturnedOps, AreTakenInTheirOrderByTheOneWhoMadeIt) {
    returned_ops all;
    std::array<op, 3> ops;
    for (auto& o : ops)
        EXPECT_FALSE(all.add(o)) << "whoever made it takes them";
    EXPECT_EQ(taken_from(all), (std::vector<op*>{&ops[0], &ops[1], &ops[2]}));
    EXPECT_TRUE(all.leave());
}

TEST(ReturnedOps, FirstToComeAfterwardsTakes) {
    returned_ops all;
    std::array<op, 3> ops;
    EXPECT_TRUE(all.leave());
    EXPECT_TRUE(all.add(ops[0]));
    EXPECT_FALSE(all.add(ops[1]));
    EXPECT_EQ(taken_from(all), (std::vector<op*>{&ops[0], &ops[1]}));
    EXPECT_FALSE(all.add(ops[2]));
    EXPECT_FALSE(all.leave()) << "one has come";
    EXPECT_EQ(taken_from(all), std::vector<op*>{&ops[2]});
    EXPECT_TRUE(all.leave());
}

TEST(ReturnedOps, OpMayGoWhenItIsTaken) {
    returned_ops all;
    std::vector<op*> const ops{new op, new op};
    for (auto* o : ops)
        all.add(*o);
    all.take([](op& o) { delete &o; });
    EXPECT_TRUE(all.leave());
}

TEST(ReturnedOps, EachIsTakenOnceByOneThreadAtATime) {
    constexpr std::size_t threads = 3, each = 2000;
    returned_ops all;
    EXPECT_TRUE(all.leave());
    std::vector<op> ops(threads * each);
    std::size_t taken = 0; // not atomic: one thread at a time
    std::vector<std::thread> adding;
    for (std::size_t t = 0; t != threads; ++t)
        adding.emplace_back([&, t] {
            for (std::size_t i = 0; i != each; ++i)
                if (all.add(ops[t * each + i]))
                    do
                        all.take([&](op&) { ++taken; });
                    while (!all.leave());
        });
    for (auto& t : adding)
        t.join();
    EXPECT_EQ(taken, threads * each);
}

} // namespace
