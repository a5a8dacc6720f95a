// The throughput of a stream, for the thread that sends or receives it.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>

/// Measures the thread that made it.
class stopwatch {
public:
    /// `figure` is wall or cpu. The last line is what tools/bench.py takes.
    void print(char const* figure, std::uint64_t bytes) const {
        bool const by_clock = std::strcmp(figure, "wall") == 0;
        auto const ns = by_clock ? now(CLOCK_MONOTONIC) - wall_ : now(CLOCK_THREAD_CPUTIME_ID) - cpu_;
        std::printf("%.3f GB/s\n", static_cast<double>(bytes) / static_cast<double>(ns));
    }

private:
    static std::int64_t now(clockid_t clock) {
        timespec t;
        clock_gettime(clock, &t);
        return t.tv_sec * 1'000'000'000L + t.tv_nsec;
    }
    std::int64_t wall_ = now(CLOCK_MONOTONIC);
    std::int64_t cpu_ = now(CLOCK_THREAD_CPUTIME_ID);
};
