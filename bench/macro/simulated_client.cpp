// The speed of the simulator, with a real client in it (see tests/sim/redis_pipelined_client.hpp). There are one
// connection, 500 requests of up to 100 callers, cancels, short reads and writes, resets, reconnects. Every seed is
// checked as in the test. Printed: seeds and events in a second of one core's time, the ratio of simulated to real
// time, and what happened.
//
//   bench_simulated_client [seeds] [first seed]
#include "../../tests/sim/redis_pipelined_client.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>

int main(int argc, char** argv) {
    using namespace fairlead;
    std::uint64_t const seeds = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 2'000;
    std::uint64_t const first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
    test::pipelined_counts all;
    std::uint64_t events = 0, turns = 0, faults = 0, digest = 0;
    double simulated = 0;
    auto const cpu = std::clock();
    for (auto seed = first; seed != first + seeds; ++seed) {
        sim::world w(seed);
        try {
            auto const c = test::run_pipelined_client(w);
            all.replies += c.replies;
            all.not_executed += c.not_executed;
            all.unknown += c.unknown;
            all.cancelled += c.cancelled;
            all.connections += c.connections;
        } catch (std::exception const& e) {
            std::fprintf(stderr, "seed %llu: %s\n", static_cast<unsigned long long>(seed), e.what());
            return 1;
        }
        events += w.counts().events;
        turns += w.counts().turns;
        faults += w.counts().faults;
        simulated += std::chrono::duration<double>(w.elapsed()).count();
        digest = digest * 31 + w.digest();
    }
    auto const seconds = static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;
    auto const each = [&](std::uint64_t n) { return static_cast<double>(n) / static_cast<double>(seeds); };
    std::printf("%llu seeds in %.2f s: %.0f seeds/s, %.2f M events/s, %.2f M requests/s, simulated : real = %.0f : 1\n",
                static_cast<unsigned long long>(seeds), seconds, static_cast<double>(seeds) / seconds,
                static_cast<double>(events) / seconds / 1e6,
                static_cast<double>(all.replies + all.unknown + all.not_executed) / seconds / 1e6, simulated / seconds);
    std::printf("each: %.0f events, %.0f turns, %.0f faults, %.1f replies, %.1f unknown, %.1f not executed, %.1f "
                "cancelled, %.2f connections\n",
                each(events), each(turns), each(faults), each(all.replies), each(all.unknown), each(all.not_executed),
                each(all.cancelled), each(all.connections));
    std::printf("digest of all: %016llx\n", static_cast<unsigned long long>(digest));
}
