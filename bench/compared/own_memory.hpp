// The common part of idle.cpp and its limit: many open pairs, and the memory that the process itself keeps.
#pragma once

#include "descriptors.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

/// Exact, which the counters of /proc/self/statm are not.
inline long own_bytes() {
    std::FILE* all = std::fopen("/proc/self/smaps_rollup", "r");
    if (!all)
        std::abort();
    long kib = -1;
    for (char line[256]; kib < 0 && std::fgets(line, sizeof line, all);)
        if (std::strncmp(line, "Anonymous:", 10) == 0)
            kib = std::atol(line + 10);
    std::fclose(all);
    return kib * 1024;
}

struct open_sockets {
    std::vector<int> fds; ///< one end of each pair; the other ends stay open too
    int wanted;
};
inline open_sockets open_pairs(int wanted) {
    auto const limit = raise_descriptor_limit();
    open_sockets result{{}, wanted};
    result.fds.reserve(static_cast<std::size_t>(wanted));
    int constexpr spared = 50; // for what the libraries open
    for (int ends[2]; static_cast<int>(result.fds.size()) != wanted; result.fds.push_back(ends[0]))
        if (2 * result.fds.size() + spared > limit ||
            socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0)
            break;
    return result;
}

/// Ends the program, with all that still waits. The last line is what tools/bench.py takes.
[[noreturn]] inline void print_each(long before, open_sockets const& open) {
    auto const n = open.fds.size();
    if (static_cast<int>(n) != open.wanted)
        std::printf("only %zu connections: this system allows no more descriptors\n", n);
    std::printf("%.1f bytes\n", static_cast<double>(own_bytes() - before) / static_cast<double>(n));
    std::fflush(stdout);
    std::_Exit(0);
}
