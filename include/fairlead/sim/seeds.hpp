// One test body, many worlds. Fits GoogleTest, Catch2 and doctest; include it after the framework's header.
//
//     TEST(Client, SurvivesAnOutage) {
//         sim::for_each_seed(1000, [](sim::world& w) { …; w.run(); EXPECT_EQ(…); });
//     }
//
// The environment decides more:
//
//     SIM_SEED=n       only this one
//     SIM_COUNT=n      so many instead of what the test says
//     SIM_JOBS=n       in so many processes; what the body counts in variables outside is then missing
//     SIM_CHECK=1      each twice: both runs must be the same, event by event
//     SIM_SETTINGS=…   for every world, as world's second argument; what a failure prints to replay it
//     SIM_SHRINK=0     do not look for a smaller failure
#pragma once

#include <fairlead/sim/world.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace fairlead::sim {

/// The sums over all worlds of one for_each_seed().
struct seeds_summary {
    std::uint64_t seeds = 0;
    sim::counters counts{};
    double simulated_seconds = 0;
    double seconds = 0;
};

/// A seed that failed: the whole report as what().
class seed_failure : public std::runtime_error {
public:
    seed_failure(std::uint64_t seed, std::string const& report) : std::runtime_error(report), seed_(seed) {}
    std::uint64_t seed() const noexcept { return seed_; }

private:
    std::uint64_t seed_;
};

namespace impl {

/// The runner's knowledge of a test.
struct seeds_test {
    std::uint64_t count;
    std::uint64_t first;
    void* body;
    void (*call)(void* body, world& w);
    int (*failures)();          ///< of the test so far, as the framework counts them
    std::string (*selection)(); ///< arguments that run this test alone; empty: nobody knows
};
FAIRLEAD_EXPORT seeds_summary run_seeds(seeds_test const& t);

} // namespace impl

namespace { // The rest depends on the framework that the including file uses: every file has its own.

inline int framework_failures() {
    int n = 0;
#if defined(GOOGLETEST_INCLUDE_GTEST_GTEST_H_) || defined(GTEST_INCLUDE_GTEST_GTEST_H_)
    if (auto const* const t = testing::UnitTest::GetInstance()->current_test_info())
        for (int i = 0; i != t->result()->total_part_count(); ++i)
            n += t->result()->GetTestPartResult(i).failed();
#endif
    // Catch2 and doctest: REQUIRE throws. After a CHECK the test goes on, and the framework reports it.
    return n;
}

inline std::string framework_selection() {
#if defined(GOOGLETEST_INCLUDE_GTEST_GTEST_H_) || defined(GTEST_INCLUDE_GTEST_GTEST_H_)
    if (auto const* const t = testing::UnitTest::GetInstance()->current_test_info())
        return std::string("--gtest_filter=") + t->test_suite_name() + '.' + t->name();
#elif defined(CATCH_VERSION_MAJOR)
    return '"' + Catch::getResultCapture().getCurrentTestName() + '"';
#elif defined(DOCTEST_VERSION)
    if (doctest::is_running_in_test)
        return std::string("--test-case=\"") + doctest::getContextOptions()->currentTest->m_name + '"';
#endif
    return {};
}

/// Runs `body(world&)` in so many worlds, with the seeds from `first` on. The test fails with the first of them that
/// fails. The report names its seed, the seed's decisions, the last events, a smaller failure if there is one, and the
/// command that replays it.
/// Throws     seed_failure
template <class F> seeds_summary for_each_seed(std::uint64_t count, F body, std::uint64_t first = 1) {
    return impl::run_seeds({count, first, &body, [](void* b, world& w) { (*static_cast<F*>(b))(w); },
                            &framework_failures, &framework_selection});
}

} // namespace

} // namespace fairlead::sim
