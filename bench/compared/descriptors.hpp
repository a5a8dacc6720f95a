// As many descriptors as the system lets the process have.
#pragma once

#include <sys/resource.h>

/// Returns how many that is.
inline rlim_t raise_descriptor_limit() {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur;
}
