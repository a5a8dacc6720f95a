// Part of builds that measure coverage. gcov writes what it counted when a process exits; here also when it is ended by
// an assertion or, as processes that a test forks, by _exit().
#include <signal.h>
#include <stdlib.h>

extern "C" {
void __gcov_dump();
[[noreturn]] void __real__exit(int status);

[[noreturn]] void __wrap__exit(int status) {
    __gcov_dump();
    __real__exit(status);
}
}

namespace fairlead::test {
namespace {

void count(int) {
    __gcov_dump();
    ::signal(SIGABRT, SIG_DFL); // abort() raises the signal again once this returns.
}

[[maybe_unused]] bool const counts = ::signal(SIGABRT, count) != SIG_ERR;

} // namespace
} // namespace fairlead::test
