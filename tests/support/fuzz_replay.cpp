// main() of a fuzz target in builds without libFuzzer: every file below the folders given, then random inputs.
#include <support/scale.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

#ifndef FAIRLEAD_FUZZ_ROUNDS
#define FAIRLEAD_FUZZ_ROUNDS 20'000
#endif

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);

namespace {

using bytes = std::vector<std::uint8_t>;

bytes read_file(std::filesystem::path const& path) {
    std::ifstream in(path, std::ios::binary);
    return bytes(std::istreambuf_iterator<char>(in), {});
}

/// Changes a few bytes of a kept input, or makes one up when there is none.
bytes random_input(std::vector<bytes> const& kept, std::mt19937_64& random) {
    bytes input;
    if (!kept.empty())
        input = kept[random() % kept.size()];
    if (input.empty())
        input.resize(random() % 512);
    for (auto changes = random() % 8 + 1; changes > 0 && !input.empty(); --changes) {
        std::size_t const at = random() % input.size();
        input[at] = static_cast<std::uint8_t>(random());
    }
    return input;
}

} // namespace

int main(int argc, char** argv) {
    std::vector<bytes> kept;
    for (int i = 1; i < argc; ++i)
        for (auto const& entry : std::filesystem::recursive_directory_iterator(argv[i]))
            if (entry.is_regular_file())
                kept.push_back(read_file(entry.path()));
    for (auto const& input : kept)
        LLVMFuzzerTestOneInput(input.data(), input.size());

    constexpr std::uint64_t seed = 1; // Always the same: this is a regression test, libFuzzer does the searching.
    std::mt19937_64 random(seed);
    auto const rounds = fairlead::test::scaled(FAIRLEAD_FUZZ_ROUNDS, FAIRLEAD_FUZZ_ROUNDS / 40);
    for (std::uint64_t i = 0; i < rounds; ++i) {
        auto const input = random_input(kept, random);
        LLVMFuzzerTestOneInput(input.data(), input.size());
    }
    std::printf("%zu kept inputs, %llu random ones (seed %llu)\n", kept.size(), static_cast<unsigned long long>(rounds),
                static_cast<unsigned long long>(seed));
}
