// The latencies that the programs of BM-9 collect and print.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <vector>

inline std::int64_t now_ns() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1'000'000'000L + t.tv_nsec;
}

class latencies {
public:
    explicit latencies(long wanted) : wanted_(static_cast<std::size_t>(wanted)) { all_.reserve(wanted_); }
    /// True when there are enough.
    bool add(std::int64_t ns) {
        all_.push_back(ns);
        return all_.size() >= wanted_;
    }
    void print() {
        std::sort(all_.begin(), all_.end());
        auto const us = [this](double part) {
            auto const last = static_cast<double>(all_.size() - 1);
            return static_cast<double>(all_[static_cast<std::size_t>(part * last)]) / 1000;
        };
        std::printf("p50 %.1f us, p99 %.1f us, longest %.1f us\n%.1f us\n", us(0.5), us(0.99), us(1), us(0.999));
    }

private:
    std::size_t wanted_;
    std::vector<std::int64_t> all_;
};
