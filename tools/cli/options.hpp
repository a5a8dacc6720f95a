// The arguments of the program.
#pragma once

#include "reply.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cli {

enum class mode : unsigned char { commands, latency, pipe };

struct options {
    std::string host = "127.0.0.1", port = "6379", unix_path{};
    std::string user{}, password{};
    unsigned database = 0;
    bool wants_resp3 = true;
    bool has_tls = false, is_insecure = false;
    std::string sni{}, ca_file{}, ca_folder{}, certificate{}, key{};
    cli::mode mode = mode::commands;
    std::optional<form> how{};          // else by what standard output is
    std::optional<bool> shows_pushes{}; // else where standard output is a terminal
    bool reads_last_word = false;       // from standard input
    bool fails_with_errors = false;
    bool has_interval = false;
    double interval_s = 0;
    long repeats = 1; // negative: for ever
    double pipe_timeout_s = 30;
    std::vector<std::string> command{};

    std::string address() const { return unix_path.empty() ? host + ':' + port : unix_path; }
};

/// Where the program ends at once: its status, and what it says.
struct early_end {
    int status;
    std::string text;
};

/// Throws early_end for --help, --version, and arguments that are none.
options read_arguments(int argc, char** argv);

} // namespace cli
