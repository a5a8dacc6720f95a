#include <fairlead/base/assert.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace fairlead::impl::base {

void assertion_failed(char const* fact, char const* file, int line) noexcept {
    std::fprintf(stderr, "fairlead: assertion failed: %s (%s:%d)\n", fact, file, line);
    std::abort();
}

void system_call_refused(char const* call, int error) noexcept {
    std::fprintf(stderr,
                 "fairlead: %s failed: %s. No loop can go on without it: let the process make this call (profile of "
                 "seccomp), and leave descriptors open that are not its own.\n",
                 call, std::strerror(error));
    std::abort();
}

} // namespace fairlead::impl::base
