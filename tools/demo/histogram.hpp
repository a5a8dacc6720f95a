// Latencies in buckets that are 1/32 of their value wide: any quantile within 3 %, in 16 KiB, without allocating.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace demo {

class histogram {
public:
    void add(std::uint64_t ns) noexcept {
        ++buckets_[index_of(ns)];
        ++count_;
        if (ns > max_)
            max_ = ns;
    }
    std::uint64_t count() const noexcept { return count_; }
    std::uint64_t max() const noexcept { return max_; }
    /// The upper edge of the bucket in which the q-th part of all values ends.
    std::uint64_t quantile(double q) const noexcept {
        auto const wanted = static_cast<std::uint64_t>(q * static_cast<double>(count_) + 0.5);
        std::uint64_t seen = 0;
        for (std::size_t i = 0; i != buckets_.size(); ++i) {
            seen += buckets_[i];
            if (seen >= wanted && seen != 0)
                return upper(i) < max_ ? upper(i) : max_;
        }
        return max_;
    }
    template <class F> void for_each(F f) const {
        for (std::size_t i = 0; i != buckets_.size(); ++i)
            if (buckets_[i])
                f(upper(i), buckets_[i]);
    }

private:
    static constexpr unsigned fine_bits = 5;
    static constexpr std::size_t fine = std::size_t{1} << fine_bits;

    static std::size_t index_of(std::uint64_t v) noexcept {
        if (v < fine)
            return static_cast<std::size_t>(v);
        auto const power = static_cast<unsigned>(std::bit_width(v)) - 1 - fine_bits;
        return fine * (power + 1) + static_cast<std::size_t>((v >> power) - fine);
    }
    static std::uint64_t upper(std::size_t i) noexcept {
        if (i < fine)
            return i;
        auto const power = i / fine - 1;
        return ((fine + i % fine + 1) << power) - 1;
    }

    std::array<std::uint64_t, fine * 60> buckets_{};
    std::uint64_t count_ = 0;
    std::uint64_t max_ = 0;
};

} // namespace demo
