// The common part of the programs of BM-12 that use several cores.
#pragma once

#include <cstdint>
#include <cstdio>
#include <ctime>
#include <thread>
#include <vector>

namespace cores {

constexpr int pairs = 100;
constexpr int chains = 16;

/// About a microsecond that no compiler can leave out.
inline void work(int microseconds = 1) {
    std::uint64_t x = 1;
    for (int i = 0; i != 1200 * microseconds; ++i) {
        x = x * 6364136223846793005U + 1;
        asm volatile("" : "+r"(x));
    }
}

template <class F> void in_threads(int n, F const& f) {
    std::vector<std::thread> others;
    for (int i = 1; i < n; ++i)
        others.emplace_back(f, i);
    f(0);
    for (auto& t : others)
        t.join();
}

class stopwatch {
public:
    void print(long n) const {
        std::printf("%.4f million/s\n", static_cast<double>(n) * 1000 / static_cast<double>(now() - begun_));
    }

private:
    static std::int64_t now() {
        timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return t.tv_sec * 1'000'000'000L + t.tv_nsec;
    }
    std::int64_t begun_ = now();
};

} // namespace cores
