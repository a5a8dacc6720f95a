#include <fairlead/sim/world.hpp>
#include <fairlead/token/post.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;

bool includes(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

TEST(SimWorld, DescriptionNamesTheWaysThatAreNotAsUsual) {
    sim::world w(1);
    auto& a = w.add_host("a");
    auto& b = w.add_host("b");
    EXPECT_FALSE(includes(w.description(), "a to b"));
    w.set_link_one_way(a, b, {.latency = 2ms, .jitter = 1ms, .bytes_per_second = 1000});
    EXPECT_TRUE(includes(w.description(), "; a to b: 2000 to 3000 us, 1000 bytes/s")) << w.description();
    EXPECT_FALSE(includes(w.description(), "b to a"));
    w.partition_one_way(b, a);
    EXPECT_TRUE(includes(w.description(), ", cut")) << w.description();
    w.heal();
    EXPECT_FALSE(includes(w.description(), "b to a"));
}

TEST(SimWorld, AProgramThatIsBusyForEverEndsWithTheLimitOfSteps) {
    sim::world w(1);
    w.step_limit(1000);
    std::function<void()> again = [&] { post(w.context(), again); };
    again();
    try {
        w.run();
        ADD_FAILURE() << "it ended";
    } catch (std::runtime_error const& e) {
        EXPECT_TRUE(includes(e.what(), "steps")) << e.what();
    }
}

TEST(SimWorld, EventsAreToldAsWhatHappenedToTheHosts) {
    sim::world w(1);
    auto& a = w.add_host("a");
    auto& b = w.add_host("b");
    w.partition(a, b);
    w.heal(a, b);
    a.pause();
    a.resume();
    b.crash();
    b.restart();
    a.kill();
    w.note("all of it");
    auto const text = w.last_events();
    for (char const* part :
         {"a  cannot reach any more, host ", "b  cannot reach any more, host ", "a  reaches again, host ",
          "a  was paused\n", "a  was resumed\n", "b  crashed\n", "a  was killed\n", "  all of it\n"})
        EXPECT_TRUE(includes(text, part)) << part << " is not in\n" << text;
}

} // namespace
