// What the system has charged this process for.
#pragma once

#include <sys/resource.h>

namespace demo {

/// User and system time of all threads, in seconds.
inline double cpu_seconds() {
    rusage u{};
    getrusage(RUSAGE_SELF, &u);
    auto s = [](timeval const& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6; };
    return s(u.ru_utime) + s(u.ru_stime);
}

} // namespace demo
