// The runner of seeds inside Catch2: a requirement that fails fails the test case, and the report says how to replay
// it.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif

#include <fairlead/sim/seeds.hpp>

TEST_CASE("every seed is good") {
    int n = 0;
    fairlead::sim::for_each_seed(20, [&](fairlead::sim::world&) { ++n; });
    REQUIRE(n == 20);
}

TEST_CASE("the fifth seed is bad", "[.]") {
    fairlead::sim::for_each_seed(20, [](fairlead::sim::world& w) { REQUIRE(w.seed() != 5); });
}
