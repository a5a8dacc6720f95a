// Rows L04, L10, C04, M11: operations of TLS under many seeds. Scripts start them in every way, ask them to end, and
// move, close and destroy their streams. A relay between the two ends delays bytes, cuts them to pieces and spoils
// them. The bytes that arrive are the first of those that were written, and each operation completes once, with a
// reason.
#include <sim/tls_chance.hpp>
#include <sim/tls_script.hpp>
#include <support/scale.hpp>

#include <gtest/gtest.h>

#include <fairlead/sim/seeds.hpp>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <utility>

namespace {

using namespace fairlead;
namespace scripted = test::tls_script;

template <class Below> void run_tls_script(sim::world& w, scripted::tls_tally& all) {
    scripted::openssl_chance const chance(w.seed());
    scripted::tls_script<Below> s(w);
    w.run();
    auto const& t = s.settle();
    all.read += t.read;
    all.resumed += t.resumed;
    all.spoiled += t.spoiled;
    all.cut += t.cut;
    all.clean += t.clean;
    all.refused += t.refused;
    all.aborted_writes += t.aborted_writes;
    all.updates += t.updates;
    EXPECT_EQ(s.account.faults(), "");
}
void expect_much(scripted::tls_tally const& t) {
    if (std::getenv("SIM_SEED") || std::getenv("SIM_COUNT") || std::getenv("SIM_JOBS") || test::scale() < 1)
        return;
    for (auto const& [what, n] :
         {std::pair("read", t.read), std::pair("resumed", t.resumed), std::pair("spoiled", t.spoiled),
          std::pair("cut", t.cut), std::pair("clean", t.clean), std::pair("refused", t.refused),
          std::pair("aborted writes", t.aborted_writes), std::pair("updates", t.updates)})
        EXPECT_GT(n, 5U) << what;
}

TEST(TlsOperations, EachOverASocketCompletesOnceWithTheTruth) {
    scripted::tls_tally all;
    sim::for_each_seed(test::scaled(400, 20),
                       [&all](sim::world& w) { run_tls_script<scripted::local_socket>(w, all); });
    expect_much(all);
}

TEST(TlsOperations, EachOverAUsersStreamCompletesOnceWithTheTruth) {
    scripted::tls_tally all;
    sim::for_each_seed(test::scaled(400, 20),
                       [&all](sim::world& w) { run_tls_script<scripted::plain_stream>(w, all); });
    expect_much(all);
}

TEST(TlsOperations, EachGoesOnceWithItsWorld) {
    sim::for_each_seed(test::scaled(60, 10), [](sim::world& outer) {
        scripted::openssl_chance const chance(outer.seed());
        auto const until = std::chrono::microseconds(outer.random().below(20'000));
        auto w = std::make_unique<sim::world>(outer.seed());
        scripted::tls_script<scripted::local_socket> s(*w);
        w->run_for(until);
        s.world_goes();
        w.reset();
        EXPECT_EQ(s.account.faults(), "");
    });
}

TEST(TlsOperations, SameSeedIsTheSameRun) {
    auto const run = [](std::uint64_t seed) {
        scripted::tls_tally all;
        sim::world w(seed);
        run_tls_script<scripted::local_socket>(w, all);
        return w.digest();
    };
    for (std::uint64_t seed = 1; seed <= 10; ++seed)
        EXPECT_EQ(run(seed), run(seed)) << "seed " << seed;
}

} // namespace
