// All that must be known about commands that are not answered by one reply alone; no other place has it. A test
// compares it with what a server says of its commands (tests/interop/redis_commands_test.cpp).
#pragma once

#include <fairlead/redis/request.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fairlead::redis::impl {

using fitness = request::fitness;

enum class role : unsigned char {
    plain,
    container,     // its first argument says what it does: looked up as "NAME ARGUMENT"
    confirmed,     // answered by pushes
    opens,         // a transaction, in which answers come with the last command
    closes,        // ... which this is
    precedes,      // concerns whatever command comes next
    blocks,        // the server answers late, and is well
    awaits_writes, // ... until others have what was written on this connection
    reads_stream,  // ... if BLOCK is among the arguments; only then it is unfit
    pauses,        // what comes after it is answered late
    tracks,        // the server tells of changed keys until the connection ends
    marks,         // ... the connection, as long as it lives
};

/// Where a command that blocks says for how long; 0 is for ever there.
enum class timeout : unsigned char { none, first_s, last_s, last_ms, after_subcommand_ms };

struct command_info {
    std::string_view name; // in capitals
    role what;
    fitness fit;
    std::string_view instead{}; // where it is unfit: what to write
    confirmation confirmed_by = confirmation::none;
    timeout wait = timeout::none;
};

namespace advice {

inline constexpr std::string_view own_connection =
    "use redis::client::acquire(), or a connection with config::dedicated";
inline constexpr std::string_view alone = "use redis::client, or a connection with config::dedicated";
inline constexpr std::string_view one_request =
    "put MULTI and its EXEC into one request, or use redis::client::acquire()";
inline constexpr std::string_view with_its_writes =
    "put it into one request, behind the commands whose writes it awaits";
inline constexpr std::string_view outside = "send it outside of the transaction";
inline constexpr std::string_view no_arguments = "leave its arguments out";
inline constexpr std::string_view other_program = "use a program that speaks to the server alone, such as redis-cli";
inline constexpr std::string_view replication = "a client has no use for the stream of a replica";
inline constexpr std::string_view cancel = "end the connection by cancel()";
inline constexpr std::string_view subscription = "use redis::client::subscribe()";
inline constexpr std::string_view tracking =
    "use a redis::connection: async_receive() gives the invalidations, and the end of async_run() is theirs";

} // namespace advice

// Sorted by name.
inline constexpr command_info commands[] = {
    {"ASKING", role::precedes, fitness::dedicated, advice::own_connection},
    {"AUTH", role::plain, fitness::dedicated, "set config::username and config::password"},
    {"BLMOVE", role::blocks, fitness::alone, advice::alone, confirmation::none,
     timeout::last_s}, // all others would wait
    {"BLMPOP", role::blocks, fitness::alone, advice::alone, confirmation::none, timeout::first_s},
    {"BLPOP", role::blocks, fitness::alone, advice::alone, confirmation::none, timeout::last_s},
    {"BRPOP", role::blocks, fitness::alone, advice::alone, confirmation::none, timeout::last_s},
    {"BRPOPLPUSH", role::blocks, fitness::alone, advice::alone, confirmation::none, timeout::last_s},
    {"BZMPOP", role::blocks, fitness::alone, advice::alone, confirmation::none, timeout::first_s},
    {"BZPOPMAX", role::blocks, fitness::alone, advice::alone, confirmation::none, timeout::last_s},
    {"BZPOPMIN", role::blocks, fitness::alone, advice::alone, confirmation::none, timeout::last_s},
    {"CLIENT", role::container, fitness::shared},
    {"CLIENT CACHING", role::precedes, fitness::dedicated, advice::own_connection},
    {"CLIENT CAPA", role::plain, fitness::dedicated, // others would be redirected
     advice::own_connection},
    {"CLIENT IMPORT-SOURCE", role::plain, fitness::dedicated, advice::own_connection},
    {"CLIENT NO-EVICT", role::marks, fitness::shared},
    {"CLIENT NO-TOUCH", role::plain, fitness::dedicated, // others' keys would count as unused
     advice::own_connection},
    {"CLIENT PAUSE", role::pauses, fitness::shared, {}, confirmation::none, timeout::after_subcommand_ms},
    {"CLIENT REPLY", role::plain, fitness::never, "let replies come, and read them into redis::ignore"},
    {"CLIENT SETINFO", role::marks, fitness::shared},
    {"CLIENT SETNAME", role::marks, fitness::shared},
    {"CLIENT TRACKING", role::tracks, fitness::shared}, // not for a client: nobody would get what it brings
    {"CLUSTER", role::container, fitness::shared},
    {"CLUSTER SYNCSLOTS", role::plain, fitness::never, advice::replication},
    {"DISCARD", role::closes, fitness::shared},
    {"EXEC", role::closes, fitness::shared},
    {"FUNCTION", role::container, fitness::shared},
    {"FUNCTION KILL", role::plain, fitness::alone, advice::alone}, // would wait for what it is to end
    {"HELLO", role::plain, fitness::never,                         // changes the protocol under the parser
     "leave the greeting to the connection, which follows its config"},
    {"MONITOR", role::plain, fitness::never, advice::other_program}, // endless replies
    {"MULTI", role::opens, fitness::shared},
    {"PSUBSCRIBE", role::confirmed, fitness::shared, {}, confirmation::psubscribe},
    {"PSYNC", role::plain, fitness::never, advice::replication},
    {"PUNSUBSCRIBE", role::confirmed, fitness::shared, {}, confirmation::punsubscribe},
    {"QUIT", role::plain, fitness::never, advice::cancel},
    {"READONLY", role::plain, fitness::dedicated, advice::own_connection},
    {"READWRITE", role::plain, fitness::dedicated, advice::own_connection},
    {"REPLCONF", role::plain, fitness::never, advice::replication},
    {"RESET", role::plain, fitness::never, // back to RESP2, database 0 and no user
     "end the connection by cancel(), and call async_run again"},
    {"SCRIPT", role::container, fitness::shared},
    {"SCRIPT DEBUG", role::plain, fitness::never, // the debugger answers whoever comes next
     advice::other_program},
    {"SCRIPT KILL", role::plain, fitness::alone, advice::alone}, // as FUNCTION KILL
    {"SELECT", role::plain, fitness::dedicated, "set config::database, or use config::dedicated"},
    {"SHUTDOWN", role::blocks, fitness::dedicated, // waits for replicas; no answer if it succeeds
     advice::own_connection},
    {"SSUBSCRIBE", role::confirmed, fitness::shared, {}, confirmation::ssubscribe},
    {"SUBSCRIBE", role::confirmed, fitness::shared, {}, confirmation::subscribe},
    {"SUNSUBSCRIBE", role::confirmed, fitness::shared, {}, confirmation::sunsubscribe},
    {"SYNC", role::plain, fitness::never, advice::replication},
    {"UNSUBSCRIBE", role::confirmed, fitness::shared, {}, confirmation::unsubscribe},
    {"WAIT", role::awaits_writes, fitness::dedicated, advice::with_its_writes, confirmation::none, timeout::last_ms},
    {"WAITAOF", role::awaits_writes, fitness::dedicated, advice::with_its_writes, confirmation::none, timeout::last_ms},
    {"WATCH", role::plain, fitness::dedicated, advice::own_connection},
    {"XREAD", role::reads_stream, fitness::alone, advice::alone},
    {"XREADGROUP", role::reads_stream, fitness::alone, advice::alone},
};
static_assert(std::ranges::is_sorted(commands, {}, &command_info::name));

inline constexpr std::size_t command_name_bytes_max =
    std::ranges::max(commands, {}, [](auto& c) { return c.name.size(); }).name.size();

constexpr char capital(char c) noexcept { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 0x20) : c; }

constexpr bool equals_capitals(std::string_view text, std::string_view capitals) noexcept {
    return std::ranges::equal(text, capitals, {}, capital);
}

/// The entry of a command, or of one of a container's, in any spelling. Null: one reply answers it, and that is all.
constexpr command_info const* find_command(std::string_view name, std::string_view subcommand = {}) noexcept {
    std::size_t const size = name.size() + !subcommand.empty() + subcommand.size();
    if (name.size() > command_name_bytes_max || subcommand.size() > command_name_bytes_max ||
        size > command_name_bytes_max)
        return nullptr;
    char capitals[command_name_bytes_max] = {};
    char* const behind = std::ranges::transform(name, capitals, capital).out;
    if (!subcommand.empty()) {
        *behind = ' ';
        std::ranges::transform(subcommand, behind + 1, capital);
    }
    std::string_view const wanted(capitals, size);
    auto const* const found = std::ranges::lower_bound(commands, wanted, {}, &command_info::name);
    if (found == std::end(commands) || found->name != wanted)
        return nullptr;
    // A space within a word is no space between two.
    return found->name.find(' ') == (subcommand.empty() ? wanted.npos : name.size()) ? found : nullptr;
}

// For each byte: which lengths (as bits) names have that begin with it, or end with it. Rules out nearly all others.
using length_table = std::array<std::uint16_t, 256>;
constexpr length_table lengths_of_names(bool by_last) noexcept {
    length_table table{};
    for (auto const& c : commands)
        if (c.name.find(' ') == c.name.npos) {
            char const key = by_last ? c.name.back() : c.name.front();
            for (char const each : {key, static_cast<char>(key | 0x20)})
                table[static_cast<unsigned char>(each)] |= static_cast<std::uint16_t>(1U << c.name.size());
        }
    return table;
}
inline constexpr length_table lengths_by_first = lengths_of_names(false);
inline constexpr length_table lengths_by_last = lengths_of_names(true);
static_assert(std::ranges::none_of(commands, [](auto& c) { return c.name.substr(0, c.name.find(' ')).size() > 15; }));

/// False: find_command() would find nothing.
constexpr bool may_be_found(std::string_view name) noexcept {
    auto const has = [&name](length_table const& table, char key) {
        return (table[static_cast<unsigned char>(key)] >> name.size() & 1U) != 0;
    };
    return !name.empty() && name.size() < 16 && has(lengths_by_first, name.front()) &&
           has(lengths_by_last, name.back());
}

/// Reads back the arguments of a command that was serialised.
class arguments_of {
public:
    explicit arguments_of(std::string_view command) noexcept : rest_(command), left_(number()) {}

    std::size_t left() const noexcept { return left_; }
    /// The text behind its last argument, once all were read.
    std::string_view rest() const noexcept { return rest_; }
    std::string_view next() noexcept {
        --left_;
        std::size_t const size = number();
        auto const text = rest_.substr(0, size);
        rest_.remove_prefix(std::min(size + 2, rest_.size())); // The bytes of an argument in pieces are not there.
        return text;
    }

private:
    /// After the type byte, up to CRLF.
    std::size_t number() noexcept {
        std::size_t n = 0;
        if (rest_.empty())
            return 0;
        auto const* const begin = rest_.data() + 1;
        auto const* const end = std::from_chars(begin, rest_.data() + rest_.size(), n).ptr;
        rest_.remove_prefix(std::min(static_cast<std::size_t>(end - rest_.data()) + 2, rest_.size()));
        return n;
    }

    std::string_view rest_;
    std::size_t left_;
};

} // namespace fairlead::redis::impl
