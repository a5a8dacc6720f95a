// The times that the small calls of the Redis benchmark take.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

namespace workload {

class latencies {
    using clock = std::chrono::steady_clock;

public:
    explicit latencies(long n) { all_us_.reserve(static_cast<std::size_t>(n)); }

    void begin() { began_ = clock::now(); }
    void end() { all_us_.push_back(std::chrono::duration<double, std::micro>(clock::now() - began_).count()); }
    bool is_full() const { return all_us_.size() == all_us_.capacity(); }
    /// The 99th percentile is the figure.
    void print() {
        std::sort(all_us_.begin(), all_us_.end());
        auto const at = [&](double part) {
            return all_us_[static_cast<std::size_t>(part * static_cast<double>(all_us_.size() - 1))];
        };
        std::printf("p50 %.1f us, p99 %.1f us, longest %.1f us\n%.1f us\n", at(0.5), at(0.99), at(1), at(0.99));
    }

private:
    std::vector<double> all_us_;
    clock::time_point began_{};
};

/// The times that the large ones beside them take.
class large_calls {
public:
    using clock = std::chrono::steady_clock;

    void took(clock::duration d) { all_ms_.push_back(std::chrono::duration<double, std::milli>(d).count()); }
    /// Nothing without any.
    void print() {
        if (all_ms_.empty())
            return;
        std::sort(all_ms_.begin(), all_ms_.end());
        std::printf("the large ones %.1f ms each, the median of %zu\n", all_ms_[all_ms_.size() / 2], all_ms_.size());
    }

private:
    std::vector<double> all_ms_;
};

} // namespace workload
