// The rows of the embedded server's command table. Each group of commands has a file with its own rows; table.cpp finds
// commands in all of them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::redis::server_impl {

struct call;

/// When a command may run, and for which clients; see dispatch.cpp.
enum command_flag : unsigned {
    no_auth = 1,         // before AUTH
    in_subscription = 2, // by a RESP2 client that has subscriptions
    unqueued = 4,        // runs at once between MULTI and EXEC
    replies_by_push = 8, // its replies are pushes in RESP3, which CLIENT REPLY OFF does not silence
    no_script = 16,      // not from a script
    has_subcommands = 32,
};

/// The categories of access control, with the names that Redis has for them.
enum command_category : unsigned {
    of_keyspace = 1U << 0,
    of_read = 1U << 1,
    of_write = 1U << 2,
    of_set = 1U << 3,
    of_sorted_set = 1U << 4,
    of_list = 1U << 5,
    of_hash = 1U << 6,
    of_string = 1U << 7,
    of_bitmap = 1U << 8,
    of_hyperloglog = 1U << 9,
    of_geo = 1U << 10,
    of_stream = 1U << 11,
    of_pubsub = 1U << 12,
    of_admin = 1U << 13,
    of_fast = 1U << 14,
    of_slow = 1U << 15,
    of_blocking = 1U << 16,
    of_dangerous = 1U << 17,
    of_connection = 1U << 18,
    of_transaction = 1U << 19,
    of_scripting = 1U << 20,
};

/// The category's name, in the order of the bits.
inline constexpr std::string_view category_names[] = {
    "keyspace", "read",   "write",       "set",       "sortedset",  "list",        "hash",
    "string",   "bitmap", "hyperloglog", "geo",       "stream",     "pubsub",      "admin",
    "fast",     "slow",   "blocking",    "dangerous", "connection", "transaction", "scripting"};

/// Where a command's keys stand among its arguments: `first` to `last` in steps of `step`, a `last` below zero counted
/// from the end. With `count_at`, as many as that argument says follow it. With `step` below zero, half of those
/// behind STREAMS.
struct key_place {
    int first = 0;
    int last = 0;
    int step = 0;
    int count_at = 0;
};
inline constexpr key_place no_keys{};
inline constexpr key_place one_key{1, 1, 1};
inline constexpr key_place two_keys{1, 2, 1};
inline constexpr key_place all_keys{1, -1, 1};
inline constexpr key_place all_but_last{1, -2, 1};
inline constexpr key_place after_streams{0, 0, -1};
constexpr key_place every(int step) noexcept { return {1, -1, step}; }
/// With a key at `first`, too, unless it is 0.
constexpr key_place counted_at(int argument, int first = 0) noexcept { return {first, first, first, argument}; }

constexpr int at_least(int n) noexcept { return -n; }

struct command {
    std::string_view name; // lower case
    int arity;             // number of arguments with the name; -n: at least n
    unsigned flags;
    key_place keys;
    unsigned categories;
    void (*run)(call&);
};

/// The command of that name in any case, or null.
command const* find_command(std::string_view name) noexcept;
/// All commands, sorted by name.
std::span<command const* const> all_commands() noexcept;
bool has_arity(command const& cmd, std::size_t arguments) noexcept;
/// The keys among a command's arguments.
std::vector<std::string_view> keys_of(command const& cmd, std::span<std::string_view const> args);

// The rows of each group.
namespace access {
std::span<command const> rows() noexcept;
}
namespace bitmaps {
std::span<command const> rows() noexcept;
}
namespace connections {
std::span<command const> rows() noexcept;
}
namespace hashes {
std::span<command const> rows() noexcept;
}
namespace hyperloglogs {
std::span<command const> rows() noexcept;
}
namespace keyspace {
std::span<command const> rows() noexcept;
}
namespace lists {
std::span<command const> rows() noexcept;
}
namespace pubsub {
std::span<command const> rows() noexcept;
}
namespace scripts {
std::span<command const> rows() noexcept;
}
namespace sets {
std::span<command const> rows() noexcept;
}
namespace sorted_sets {
std::span<command const> rows() noexcept;
}
namespace sorting {
std::span<command const> rows() noexcept;
}
namespace stream_groups {
std::span<command const> rows() noexcept;
}
namespace stream_reads {
std::span<command const> rows() noexcept;
}
namespace streams {
std::span<command const> rows() noexcept;
}
namespace strings {
std::span<command const> rows() noexcept;
}
namespace transactions {
std::span<command const> rows() noexcept;
}

} // namespace fairlead::redis::server_impl
