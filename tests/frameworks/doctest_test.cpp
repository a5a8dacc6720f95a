// The runner of seeds inside doctest: a requirement that fails fails the test case, and the report says how to replay
// it.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <fairlead/sim/seeds.hpp>

TEST_CASE("every seed is good") {
    int n = 0;
    fairlead::sim::for_each_seed(20, [&](fairlead::sim::world&) { ++n; });
    REQUIRE(n == 20);
}

TEST_CASE("the fifth seed is bad" * doctest::skip()) {
    fairlead::sim::for_each_seed(20, [](fairlead::sim::world& w) { REQUIRE(w.seed() != 5); });
}
