// The runner of many seeds: what it runs, what it reports, how it makes a failure small.
#include <fairlead/net/timer.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <unistd.h>

#include <fairlead/sim/seeds.hpp> // after the framework

GTEST_DECLARE_bool_(death_test_use_fork); // declared in no public header

namespace {

using namespace fairlead;
using namespace std::chrono_literals;

int failures_seen = 0;

/// The runner as a framework's header would call it, with a framework that only counts.
template <class F> sim::seeds_summary run(std::uint64_t count, F body) {
    return sim::impl::run_seeds({count, 1, &body, [](void* b, sim::world& w) { (*static_cast<F*>(b))(w); },
                                 [] { return failures_seen; }, [] { return std::string("--only=this"); }});
}

template <class F> std::string report_of(std::uint64_t count, F body) {
    try {
        run(count, body);
    } catch (sim::seed_failure const& e) {
        return e.what();
    }
    return "nothing failed";
}

bool contains(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

class SimSeeds : public testing::Test {
protected:
    void set(char const* name, char const* value) {
        ::setenv(name, value, 1);
        names_.push_back(name);
    }
    void TearDown() override {
        for (auto const* n : names_)
            ::unsetenv(n);
    }

private:
    std::vector<char const*> names_;
};

TEST_F(SimSeeds, RunEachSeedOnce) {
    std::multiset<std::uint64_t> seen;
    auto const sum = run(50, [&](sim::world& w) { seen.insert(w.seed()); });
    EXPECT_EQ(seen.size(), 50U);
    EXPECT_EQ(*seen.begin(), 1U);
    EXPECT_EQ(*seen.rbegin(), 50U);
    EXPECT_EQ(sum.seeds, 50U);
}

TEST_F(SimSeeds, AddUpWhatHappened) {
    auto const sum = run(3, [](sim::world& w) {
        steady_timer t(w.context(), 10s);
        t.async_wait([](error_code) {});
        w.run();
    });
    EXPECT_EQ(sum.simulated_seconds, 30.0);
    EXPECT_GE(sum.counts.turns, 3U);
    EXPECT_GE(sum.seconds, 0.0);
}

TEST_F(SimSeeds, EnvironmentSaysWhichAndHowMany) {
    std::vector<std::uint64_t> seen;
    auto const note = [&](sim::world& w) { seen.push_back(w.seed()); };
    set("SIM_COUNT", "3");
    run(1000, note);
    EXPECT_EQ(seen, (std::vector<std::uint64_t>{1, 2, 3}));
    seen.clear();
    set("SIM_SEED", "4711");
    run(1000, note);
    EXPECT_EQ(seen, (std::vector<std::uint64_t>{4711}));
    set("SIM_SEED", "many");
    EXPECT_THROW(run(1, note), std::invalid_argument);
}

TEST_F(SimSeeds, SettingsReachTheWorld) {
    set("SIM_SETTINGS", "requests=7,reset=9");
    std::uint64_t requests = 0;
    run(1, [&](sim::world& w) {
        requests = w.choose("requests", 1, 500);
        EXPECT_TRUE(contains(w.description(), "reset=9"));
    });
    EXPECT_EQ(requests, 7U);
}

TEST_F(SimSeeds, FailureNamesSeedDecisionsEventsAndCommand) {
    auto const text = report_of(100, [](sim::world& w) {
        auto const n = w.choose("letters", 1, 100);
        w.note("about to fail");
        if (w.seed() == 17)
            throw std::runtime_error("seventeen letters: " + std::to_string(n));
    });
    EXPECT_TRUE(contains(text, "seed 17 failed, number 17: seventeen letters")) << text;
    EXPECT_TRUE(contains(text, "rules (of 1024):")) << text;
    EXPECT_TRUE(contains(text, "chosen: letters=")) << text;
    EXPECT_TRUE(contains(text, "about to fail")) << text;
    EXPECT_TRUE(contains(text, "it still fails with less")) << text;
    EXPECT_TRUE(contains(text, "SIM_SEED=17 SIM_SETTINGS=letters=0 ")) << text;
    EXPECT_TRUE(contains(text, " --only=this\n")) << text;
}

TEST_F(SimSeeds, FailureOfTheFrameworkCounts) {
    failures_seen = 3; // of tests before
    auto const text = report_of(10, [](sim::world& w) {
        if (w.seed() == 4)
            ++failures_seen;
    });
    EXPECT_TRUE(contains(text, "seed 4 failed")) << text;
    EXPECT_TRUE(contains(text, "expectations")) << text;
}

/// Fails if there are at least three callers and somebody is ever called out of order.
void reordered(sim::world& w) {
    auto const n = w.choose("callers", 1, 40);
    std::vector<std::uint64_t> order;
    for (std::uint64_t i = 0; i != n; ++i)
        post(w.context(), [&order, i] { order.push_back(i); });
    w.run();
    if (n >= 3 && !std::is_sorted(order.begin(), order.end()))
        throw std::runtime_error("out of order");
}

TEST_F(SimSeeds, FailureIsMadeSmall) {
    auto const text = report_of(100, reordered);
    EXPECT_TRUE(contains(text, "faults=1")) << text;
    EXPECT_TRUE(contains(text, "callers=3")) << text;
    // The settings that it prints to replay do fail, and with less they do not.
    set("SIM_SHRINK", "0");
    auto const from = text.find("SIM_SEED=") + 9;
    set("SIM_SEED", std::to_string(std::stoull(text.substr(from))).c_str());
    set("SIM_SETTINGS", "faults=1,callers=3");
    EXPECT_TRUE(contains(report_of(1, reordered), "out of order"));
    set("SIM_SETTINGS", "faults=0,callers=3");
    EXPECT_EQ(report_of(1, reordered), "nothing failed");
    set("SIM_SETTINGS", "faults=1,callers=2");
    EXPECT_EQ(report_of(1, reordered), "nothing failed");
}

TEST_F(SimSeeds, SeveralProcessesFindTheFirstFailure) {
    set("SIM_JOBS", "3");
    EXPECT_EQ(run(100, [](sim::world&) {}).seeds, 100U);
    set("SIM_SHRINK", "0");
    auto const text = report_of(100, [](sim::world& w) {
        if (w.seed() > 40)
            throw std::runtime_error("too large");
    });
    EXPECT_TRUE(contains(text, "seed 41 failed")) << text;
}

TEST_F(SimSeeds, AFailureThatDoesNotRepeatSaysSo) {
    int calls = 0;
    auto const text = report_of(10, [&](sim::world& w) {
        if (w.seed() == 3 && calls++ == 0)
            throw std::runtime_error("once");
    });
    EXPECT_TRUE(contains(text, "seed 3 failed, number 3: once")) << text;
    EXPECT_TRUE(contains(text, "It does not fail again in another process")) << text;
}

TEST_F(SimSeeds, AFailureOfAnotherProcessAloneSaysSo) {
    set("SIM_JOBS", "2");
    auto const here = ::getpid();
    auto const text = report_of(10, [&](sim::world& w) {
        if (w.seed() >= 5 && ::getpid() != here)
            throw std::runtime_error("elsewhere");
    });
    EXPECT_TRUE(contains(text, "seed 5 failed in another process, but not here")) << text;
}

TEST_F(SimSeeds, AProcessThatDiesIsRepeatedWhereItCanBeSeen) {
    set("SIM_JOBS", "2");
    set("SIM_SHRINK", "0");
    auto const here = ::getpid();
    auto const dies_elsewhere = [&](sim::world& w) {
        if (w.seed() == 7 && ::getpid() != here)
            ::_exit(1);
        if (w.seed() == 8)
            throw std::runtime_error("eight");
    };
    EXPECT_GE(run(7, dies_elsewhere).seeds, 7U);
    // The other process has found a failure: that one is reported first.
    EXPECT_TRUE(contains(report_of(8, dies_elsewhere), "seed 8 failed, number 8: eight"));
}

TEST_F(SimSeeds, ASmallerRunMayFailInAnotherWay) {
    auto const here = ::getpid();
    auto const text = report_of(10, [&](sim::world& w) {
        auto const n = w.choose("callers", 1, 9);
        if (::getpid() != here && n < 9)
            ::_exit(1);
        throw std::runtime_error("here");
    });
    EXPECT_TRUE(contains(text, "number 1: here")) << text;
    EXPECT_TRUE(contains(text, "it still fails with less, found in ")) << text;
    EXPECT_TRUE(contains(text, "callers=0\nthen with: it died\n")) << text;
    EXPECT_TRUE(contains(text, "last events of the smaller run:\n")) << text;
}

TEST_F(SimSeeds, AnExceptionOfTheFrameworkStaysWhatItIs) {
    set("SIM_SHRINK", "0");
    struct requirement {};
    testing::internal::CaptureStderr();
    EXPECT_THROW(run(10,
                     [](sim::world& w) {
                         if (w.seed() == 6)
                             throw requirement();
                     }),
                 requirement);
    auto const text = testing::internal::GetCapturedStderr();
    EXPECT_TRUE(contains(text, "simulated world: seed 6 failed, number 6: the test's requirement")) << text;
}

TEST_F(SimSeeds, WithoutASelectionTheArgumentsAreRepeated) {
    set("SIM_SHRINK", "0");
    set("SIM_SETTINGS", "reset=9");
    auto body = [](sim::world&) { throw std::runtime_error("at once"); };
    std::string text;
    try {
        sim::impl::run_seeds({1, 5, &body, [](void* b, sim::world& w) { (*static_cast<decltype(body)*>(b))(w); },
                              [] { return 0; }, [] { return std::string(); }});
    } catch (sim::seed_failure const& e) {
        text = e.what();
    }
    auto const begin = text.find("to replay: ");
    ASSERT_NE(begin, std::string::npos) << text;
    std::string const program = program_invocation_name;
    EXPECT_EQ(text.find("to replay: SIM_SEED=5 SIM_SETTINGS=reset=9 " + program), begin) << text;
    for (auto const& argument : testing::internal::GetArgvs())
        EXPECT_TRUE(contains(text.substr(begin), argument)) << argument << " is not in " << text;
}

TEST_F(SimSeeds, ChecksInSeveralProcessesThatTwoRunsAreTheSame) {
    set("SIM_CHECK", "1");
    set("SIM_JOBS", "2");
    int calls = 0;
    EXPECT_EQ(report_of(10, [](sim::world& w) { w.choose("a", 0, 9); }), "nothing failed");
    auto const text = report_of(10, [&](sim::world& w) {
        if (w.seed() == 4)
            w.note(std::to_string(calls++));
    });
    EXPECT_TRUE(contains(text, "seed 4: two runs differ")) << text;
    EXPECT_TRUE(contains(text, "to replay: SIM_CHECK=1 SIM_SEED=4 ")) << text;
}

TEST_F(SimSeeds, ChecksThatTwoRunsAreTheSame) {
    set("SIM_CHECK", "1");
    int calls = 0;
    EXPECT_EQ(report_of(10, [](sim::world& w) { w.choose("a", 0, 9); }), "nothing failed");
    auto const text = report_of(10, [&](sim::world& w) { w.note(std::to_string(calls++)); });
    EXPECT_TRUE(contains(text, "two runs differ")) << text;
}

TEST_F(SimSeeds, DeathStillSaysWhichSeedItWas) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    // clone(2), GoogleTest's own way, gives the child a stack of two pages: too little in a sanitized build.
    testing::FLAGS_gtest_death_test_use_fork = true;
    EXPECT_DEATH(run(100,
                     [](sim::world& w) {
                         if (w.seed() == 23)
                             std::abort();
                     }),
                 "To replay: SIM_SEED=23 ");
}

TEST_F(SimSeeds, ReportBecomesTheFailureOfTheTest) {
    try {
        sim::for_each_seed(5, [](sim::world& w) {
            if (w.seed() == 2)
                throw std::runtime_error("two");
        });
        ADD_FAILURE() << "nothing was thrown";
    } catch (sim::seed_failure const& e) {
        EXPECT_EQ(e.seed(), 2U);
        EXPECT_TRUE(contains(e.what(), "--gtest_filter=SimSeeds.ReportBecomesTheFailureOfTheTest")) << e.what();
    }
}

} // namespace
