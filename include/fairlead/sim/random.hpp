// Random numbers that are the same everywhere: with every compiler, library and build type.
//
// The generator is xoshiro256** 1.0 (Blackman and Vigna, prng.di.unimi.it), its state filled by splitmix64. The
// standard's distributions differ between libraries, so ranges and chances are made here too, from integers alone.
#pragma once

#include <cstdint>

namespace fairlead::sim {

/// One stream of random numbers. Streams of one seed with different purposes are independent: drawing more from one
/// does not change what another yields.
class random_stream {
public:
    random_stream(std::uint64_t seed, std::uint64_t purpose) noexcept {
        std::uint64_t fill = seed ^ purpose * 0xd1342543de82ef95U;
        for (auto& word : state_)
            word = split_mix(fill);
    }

    std::uint64_t next() noexcept {
        auto const result = rotated(state_[1] * 5, 7) * 9;
        auto const shifted = state_[1] << 17;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= shifted;
        state_[3] = rotated(state_[3], 45);
        return result;
    }
    /// 0 to n - 1, for n > 0. Uneven by less than n / 2^32.
    std::uint32_t below(std::uint32_t n) noexcept { return static_cast<std::uint32_t>((next() >> 32) * n >> 32); }
    /// True in so many of 1024 cases. Draws in any case.
    bool chance(std::uint32_t of_1024) noexcept { return next() >> 54 < of_1024; }

private:
    static std::uint64_t rotated(std::uint64_t v, int by) noexcept { return v << by | v >> (64 - by); }
    static std::uint64_t split_mix(std::uint64_t& state) noexcept {
        auto z = state += 0x9e3779b97f4a7c15U;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
        z = (z ^ z >> 27) * 0x94d049bb133111ebU;
        return z ^ z >> 31;
    }

    std::uint64_t state_[4];
};

} // namespace fairlead::sim
