// The facts that servers tell of each of their commands: its flags, its tips, and where its keys stand. The table
// itself is command_table.inc, which tools/redis_commands.py makes of the answers of servers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace fairlead::redis::impl {

/// Flags of a command, with the names that COMMAND gives them.
namespace flag {

inline constexpr std::uint32_t write = 1U << 0;
inline constexpr std::uint32_t readonly = 1U << 1;
inline constexpr std::uint32_t denyoom = 1U << 2;
inline constexpr std::uint32_t admin = 1U << 3;
inline constexpr std::uint32_t pubsub = 1U << 4;
inline constexpr std::uint32_t noscript = 1U << 5;
inline constexpr std::uint32_t blocking = 1U << 6;
inline constexpr std::uint32_t loading = 1U << 7;
inline constexpr std::uint32_t stale = 1U << 8;
inline constexpr std::uint32_t skip_monitor = 1U << 9;
inline constexpr std::uint32_t skip_slowlog = 1U << 10;
inline constexpr std::uint32_t skip_commandlog = 1U << 11; // Valkey's name of the one above
inline constexpr std::uint32_t asking = 1U << 12;
inline constexpr std::uint32_t fast = 1U << 13;
inline constexpr std::uint32_t no_auth = 1U << 14;
inline constexpr std::uint32_t may_replicate = 1U << 15;
inline constexpr std::uint32_t no_mandatory_keys = 1U << 16;
inline constexpr std::uint32_t no_async_loading = 1U << 17;
inline constexpr std::uint32_t no_multi = 1U << 18;
inline constexpr std::uint32_t movablekeys = 1U << 19;
inline constexpr std::uint32_t allow_busy = 1U << 20;
inline constexpr std::uint32_t module = 1U << 21;
inline constexpr std::uint32_t container = 1U << 22; // no word of servers: they list subcommands

} // namespace flag

/// Tips for clients: the nodes of a cluster that get the command, how their replies become one, and how replies vary.
namespace tip {

inline constexpr std::uint16_t request_all_nodes = 1U << 0;
inline constexpr std::uint16_t request_all_shards = 1U << 1;
inline constexpr std::uint16_t request_multi_shard = 1U << 2;
inline constexpr std::uint16_t request_special = 1U << 3;
inline constexpr std::uint16_t response_one_succeeded = 1U << 4;
inline constexpr std::uint16_t response_all_succeeded = 1U << 5;
inline constexpr std::uint16_t response_agg_logical_and = 1U << 6;
inline constexpr std::uint16_t response_agg_logical_or = 1U << 7;
inline constexpr std::uint16_t response_agg_min = 1U << 8;
inline constexpr std::uint16_t response_agg_max = 1U << 9;
inline constexpr std::uint16_t response_agg_sum = 1U << 10;
inline constexpr std::uint16_t response_special = 1U << 11;
inline constexpr std::uint16_t nondeterministic_output = 1U << 12;
inline constexpr std::uint16_t nondeterministic_output_order = 1U << 13;

} // namespace tip

/// Flags of keys. One of the first four says what happens to the value, which the next four say of its content.
namespace key {

inline constexpr std::uint16_t ro = 1U << 0; // read
inline constexpr std::uint16_t rw = 1U << 1; // read and written
inline constexpr std::uint16_t ow = 1U << 2; // overwritten
inline constexpr std::uint16_t rm = 1U << 3; // removed
inline constexpr std::uint16_t access = 1U << 4;
inline constexpr std::uint16_t update = 1U << 5;
inline constexpr std::uint16_t insert = 1U << 6;
inline constexpr std::uint16_t deletes = 1U << 7; // "delete"
inline constexpr std::uint16_t not_key = 1U << 8; // routed as a key is: the channel of SPUBLISH
inline constexpr std::uint16_t incomplete = 1U << 9;
inline constexpr std::uint16_t variable_flags = 1U << 10;

} // namespace key

/// Words behind which keys stand.
enum class keyword : std::uint8_t { none, KEYS, STORE, STOREDIST, STREAMS };

/// Where keys of one kind stand among the words of a command, the first of which is its name.
struct key_spec {
    enum class begin : std::uint8_t { unknown, index, keyword };
    enum class find : std::uint8_t { unknown, range, keynum };

    begin begin_search = begin::unknown;
    find find_keys = find::unknown;
    impl::keyword word = impl::keyword::none;
    std::int8_t position = 0;     // the index; or the word that is the first to be compared, from the end if negative
    std::int8_t last_key = 0;     // of a range: behind the first; negative: -1 is the last word of the command
    std::int8_t limit = 0;        // of a range that ends with -1: 2 stands for the first half of the words
    std::int8_t keynum_index = 0; // behind the beginning: the word that is the number of keys
    std::int8_t first_key = 0;    // ... and the first of them
    std::uint8_t key_step = 1;
    std::uint16_t flags = 0;

    constexpr bool has(std::uint16_t all) const noexcept { return (flags & all) == all; }
    friend constexpr bool operator==(key_spec const&, key_spec const&) noexcept = default;
};

struct command_version {
    std::uint8_t major = 0, minor = 0, patch = 0; // 0.0.0: not said
    friend constexpr auto operator<=>(command_version const&, command_version const&) noexcept = default;
};

enum class command_group : std::uint8_t {
    bitmap,
    cluster,
    connection,
    generic,
    geo,
    hash,
    hyperloglog,
    list,
    module,
    pubsub,
    scripting,
    server,
    set,
    sorted_set,
    stream,
    string,
    transactions,
};

/// The servers of which the table is made.
namespace servers {

inline constexpr std::uint8_t redis_7_0 = 1U << 0;
inline constexpr std::uint8_t redis_8_0 = 1U << 1;
inline constexpr std::uint8_t valkey_8_1 = 1U << 2;
inline constexpr std::uint8_t each = redis_7_0 | redis_8_0 | valkey_8_1;

} // namespace servers

inline constexpr std::size_t key_specs_max = 3;

/// A command, or one of a container's. Where servers differ these are the facts of all of them together
/// (docs/decisions/039-table-of-commands.md).
struct command_facts {
    std::string_view name; // in capitals: "GET", "CONFIG GET"
    std::uint32_t flags = 0;
    std::uint16_t tips = 0;
    std::int8_t arity = 0; // how many words, with the name; negative: at least so many
    command_group group{};
    command_version since{}; // of Redis; of Valkey where Redis does not have it
    std::uint8_t servers = 0;
    std::uint8_t key_count = 0;
    key_spec key_specs[key_specs_max] = {};

    constexpr bool has(std::uint32_t all) const noexcept { return (flags & all) == all; }
    constexpr bool advises(std::uint16_t all) const noexcept { return (tips & all) == all; }
    constexpr std::span<key_spec const> keys() const noexcept { return {key_specs, key_count}; }
};

/// Null: no server of the table has such a command. In any spelling; the name of a container alone finds the container.
command_facts const* facts_of(std::string_view name, std::string_view subcommand = {}) noexcept;
/// Looks up a command by its words: that of a container by the first two.
command_facts const* facts_of_words(std::span<std::string_view const> words) noexcept;
/// All of them, sorted by name.
std::span<command_facts const> all_command_facts() noexcept;

/// It changes nothing, so it may be sent again, or to a replica.
constexpr bool is_read_only(command_facts const& c) noexcept { return c.has(flag::readonly); }
/// It may change keys. A script may, too, and is neither a write nor read-only here.
constexpr bool is_write(command_facts const& c) noexcept { return c.has(flag::write); }
/// With some arguments, at least.
constexpr bool may_block(command_facts const& c) noexcept { return c.has(flag::blocking); }
constexpr bool is_container(command_facts const& c) noexcept { return c.has(flag::container); }

enum class known_keys : std::uint8_t {
    all,
    some,      // there may be others, and arguments may have been taken for keys
    malformed, // the server refuses the command
};

enum class key_places : std::uint8_t {
    keys,
    routed, // also words that are no keys, and lead to a node of a cluster as keys do
};

/// Finds the keys of one command, one after the other. Refers to its arguments.
class key_walk {
public:
    key_walk(command_facts const& command, std::span<std::string_view const> words,
             key_places places = key_places::keys) noexcept;

    /// The index of the next key among the words; 0 behind the last one.
    std::size_t next() noexcept;
    /// The specification of the key found last.
    key_spec const& spec() const noexcept { return specs_.front(); }
    /// Holds once next() has returned 0.
    known_keys known() const noexcept { return known_; }

private:
    void begin(key_spec const& spec) noexcept;
    std::size_t beginning_of(key_spec const& spec) const noexcept;
    void take_range(key_spec const& spec, std::size_t first) noexcept;
    void take_counted(key_spec const& spec, std::size_t from) noexcept;
    void refuse() noexcept;

    std::span<std::string_view const> words_;
    std::span<key_spec const> specs_; // the one whose keys are taken, and those behind it
    std::size_t next_ = 0;
    std::size_t left_ = 0; // keys of this specification
    key_places places_;
    known_keys known_ = known_keys::all;
    bool has_begun_ = false;
};

/// Calls `f(index, spec)` for each key of a command whose words are given, its name first.
template <class F> known_keys for_each_key(command_facts const& command, std::span<std::string_view const> words, F f,
                                           key_places places = key_places::keys) {
    key_walk walk(command, words, places);
    while (std::size_t const index = walk.next())
        f(index, walk.spec());
    return walk.known();
}

} // namespace fairlead::redis::impl
