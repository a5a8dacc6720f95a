// The common part of the programs of this folder: ten flows of control that start operations, and so many triggers.
#pragma once

#include <cstdlib>
#include <cstring>

inline constexpr int flows = 10;

/// From the command line: PROGRAM ROW endless|counted N. P0162's flows never end; P0055's count what they do.
struct task {
    char const* row;
    bool is_counted;
    long triggers;

    task(int argc, char** argv) {
        if (argc != 4)
            std::exit(2);
        row = argv[1];
        is_counted = std::strcmp(argv[2], "counted") == 0;
        triggers = std::atol(argv[3]) / flows * flows;
    }
    bool is(char const* name) const { return std::strcmp(row, name) == 0; }
    long each() const { return triggers / flows; }
};
