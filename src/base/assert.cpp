#include <fairlead/base/assert.hpp>

#include <cstdio>
#include <cstdlib>

namespace fairlead::detail {

void assertion_failed(char const* fact, char const* file, int line) noexcept {
    std::fprintf(stderr, "fairlead: assertion failed: %s (%s:%d)\n", fact, file, line);
    std::abort();
}

} // namespace fairlead::detail
