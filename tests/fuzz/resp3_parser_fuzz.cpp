// Any bytes, cut anywhere, give the same nodes and the same error as in one piece, and the parser keeps its promises.
#include <unit/resp3/parse_in_pieces.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string_view const input(reinterpret_cast<char const*>(data), size);
    std::string const problem = fairlead::test::find_disagreement(input);
    if (!problem.empty()) {
        std::fprintf(stderr, "%s: %s\n", problem.c_str(), fairlead::resp3::printable(input, 4096).c_str());
        std::abort();
    }
    return 0;
}
