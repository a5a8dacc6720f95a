// The common state of the embedded server's parts: values, databases, sessions, the command table, and the call that
// each command's function gets.
#pragma once

#include <fairlead/redis_server/engine.hpp>
#include <fairlead/resp3/node.hpp>
#include <fairlead/resp3/writer.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace fairlead::redis::server_impl {

struct server_state;
struct server_session;
struct call;

// Values. Sorted containers, so that listing them never depends on a hash.
using hash_value = std::map<std::string, std::string, std::less<>>;
using list_value = std::deque<std::string>;
using set_value = std::set<std::string, std::less<>>;
using value = std::variant<std::string, hash_value, list_value, set_value>;

inline constexpr std::int64_t no_expiry = std::numeric_limits<std::int64_t>::max();

struct entry {
    value held;
    std::int64_t expires_at = no_expiry; // milliseconds of the engine's clock
};

struct text_hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
};
using database = std::unordered_map<std::string, entry, text_hash, std::equal_to<>>;

// The three kinds of subscriptions. Shard channels are a space of their own.
enum class subscription : unsigned char { channel, pattern, shard };
inline constexpr std::size_t subscription_kinds = 3;

struct by_id {
    bool operator()(server_session const* a, server_session const* b) const noexcept;
};
using subscribers = std::map<std::string, std::set<server_session*, by_id>, std::less<>>;

// When a command may run, and for which clients; see dispatch().
enum command_flag : unsigned {
    no_auth = 1,         // before AUTH
    in_subscription = 2, // by a RESP2 client that has subscriptions
    unqueued = 4,        // runs at once between MULTI and EXEC
    replies_by_push = 8, // its replies are pushes in RESP3, which CLIENT REPLY OFF does not silence
};

struct command {
    std::string_view name; // lower case
    int arity;             // number of arguments with the name; -n: at least n
    unsigned flags;
    void (*run)(call&);
};

/// The command of that name in any case, or null.
command const* find_command(std::string_view name) noexcept;
std::span<command const> all_commands() noexcept;

struct queued_command {
    command const* cmd;
    std::vector<std::string> arguments;
};

using watched_key = std::pair<std::size_t, std::string>; // database and key

enum class reply_mode : unsigned char { on, off, skip_this, skip_next };

struct server_session {
    explicit server_session(server_state& s) : server(s) {}

    server_state& server;
    std::uint64_t id = 0;
    std::string address;
    std::string output;
    std::function<void()> on_output;
    bool closing = false;
    bool is_dirty = false; // is in server.dirty

    // Connection state, which RESET sets back.
    resp3::version protocol = resp3::version::resp2;
    bool authenticated = true;
    std::size_t database = 0;
    std::string name;
    reply_mode replies = reply_mode::on;
    std::array<std::set<std::string, std::less<>>, subscription_kinds> subscribed;
    bool in_transaction = false;
    bool transaction_failed = false;
    std::size_t queued_bytes = 0;
    std::vector<queued_command> queue;
    std::vector<watched_key> watched;
    bool watch_broken = false; // one of them was changed

    std::string library_name;
    std::string library_version;
    std::string_view last_command = "NULL"; // as CLIENT LIST shows it before the first one
    std::int64_t created_at = 0;

    bool is_running = false;    // one of its commands is
    std::string pushes_to_self; // by that command; they follow its reply

    // The request under way. Positions in `input`, or in the bytes being fed when nothing was left over.
    struct piece {
        std::size_t at;
        std::size_t size;
    };
    std::string input;
    std::size_t read_at = 0;            // everything before belongs to the request under way
    std::size_t searched = 0;           // behind it: so many bytes hold no line end
    std::int64_t arguments_missing = 0; // of a request whose header was read
    std::int64_t bulk_bytes = -1;       // of the argument whose header was read
    std::vector<piece> pieces;
    std::vector<std::string_view> arguments;

    bool has_subscriptions() const noexcept {
        return !subscribed[0].empty() || !subscribed[1].empty() || !subscribed[2].empty();
    }
};

struct server_state {
    server_engine_options options;
    std::vector<database> databases;
    std::array<subscribers, subscription_kinds> subscriptions;
    std::map<std::uint64_t, server_session*> sessions;
    std::deque<server_session*> dirty; // got output from others; told at the end of feed()
    std::uint64_t last_id = 0;
    std::uint64_t commands_run = 0;
    std::map<watched_key, std::set<server_session*, by_id>> watchers;
    std::int64_t started_at = 0;

    std::int64_t now() const { return options.clock ? options.clock().count() : 0; }

    /// The entry at `key` unless it has expired, which removes it.
    database::iterator find(std::size_t in, std::string_view key);
    /// Removes what has expired, for commands that look at all keys. O(keys).
    void expire(std::size_t in);
    void clear(std::size_t in);
    /// A key was made, changed or removed: whoever watches it has to learn.
    void touch(std::size_t in, std::string_view key);
    /// Gives output to a session which is not the one whose command runs, or to that one behind its reply.
    void push(server_session& to, std::string_view bytes);
    void close(server_session& who);
    void signal(server_session& who);
    void unwatch(server_session& who);
    void unsubscribe_all(server_session& who);
};

/// How the connection's state is at its start; RESET.
void reset_session(server_session& who);

inline bool by_id::operator()(server_session const* a, server_session const* b) const noexcept { return a->id < b->id; }

/// One run of one command: its arguments, its replies, and the look-ups that nearly every command needs. Look-ups that
/// return false have answered with an error, and the command is over.
struct call {
    server_state& server;
    server_session& self;
    command const& cmd;
    std::span<std::string_view const> args; // args[0] is the name as it came

    std::string& out() const noexcept { return self.output; }
    resp3::version protocol() const noexcept { return self.protocol; }
    database& db() const noexcept { return server.databases[self.database]; }

    void ok() const { out() += "+OK\r\n"; }
    void error(std::string_view text) const { resp3::append_simple_error(out(), text); }
    void number(std::int64_t n) const { resp3::append_number(out(), n); }
    void size(std::size_t n) const { resp3::append_number(out(), static_cast<std::int64_t>(n)); }
    void simple(std::string_view text) const { resp3::append_simple_string(out(), text); }
    void bulk(std::string_view text) const { resp3::append_blob_string(out(), text); }
    void null() const { resp3::append_null(out(), protocol()); }
    void null_array() const { resp3::append_null_array(out(), protocol()); }
    void array(std::size_t n) const { resp3::append_array_header(out(), n); }
    void map(std::size_t pairs) const { resp3::append_map_header(out(), pairs, protocol()); }
    void set(std::size_t n) const { resp3::append_set_header(out(), n, protocol()); }
    void verbatim(std::string_view text) const { resp3::append_verbatim_string(out(), "txt", text, protocol()); }
    void optional_bulk(std::string const* text) const { text ? bulk(*text) : null(); }

    void syntax_error() const { error("ERR syntax error"); }
    void wrong_type() const { error("WRONGTYPE Operation against a key holding the wrong kind of value"); }
    void wrong_arity() const; // of a subcommand
    void unknown_subcommand() const;

    /// Argument i is `word`, in any case.
    bool is(std::size_t i, std::string_view word) const noexcept;

    bool integer(std::string_view text, std::int64_t& n,
                 std::string_view complaint = "ERR value is not an integer or out of range") const;

    database::iterator find(std::string_view key) const { return server.find(self.database, key); }
    bool exists(std::string_view key) const { return find(key) != db().end(); }

    /// The value at `key` if it is a T; null if there is none.
    template <typename T> bool get(std::string_view key, T*& found) const {
        auto const at = find(key);
        found = nullptr;
        if (at == db().end())
            return true;
        found = std::get_if<T>(&at->second.held);
        if (!found)
            wrong_type();
        return found != nullptr;
    }
    /// As get(), but an empty T is made if there is none. Follow up with changed().
    template <typename T> bool get_or_make(std::string_view key, T*& found) const {
        if (!get(key, found))
            return false;
        if (!found)
            found = &make_empty<T>(key);
        return true;
    }
    /// A new entry at `key`, which has none.
    entry& make(std::string_view key) const { return db().emplace(std::string(key), entry{}).first->second; }
    /// An empty T at `key`, which has nothing. Follow up with changed().
    template <typename T> T& make_empty(std::string_view key) const { return make(key).held.emplace<T>(); }
    /// Tells those who watch the key, and removes a collection that became empty: such keys do not exist.
    void changed(std::string_view key) const;
    void touched(std::string_view key) const { server.touch(self.database, key); }
    bool remove(std::string_view key) const;
};

bool equals_any_case(std::string_view text, std::string_view lower) noexcept;
std::string to_lower(std::string_view text);

/// Decimal without plus, blanks or leading zeros, as Redis reads integers.
bool parse_integer(std::string_view text, std::int64_t& n) noexcept;

/// Redis's patterns: ? * [a-z] [^a] and \ before any of them. O(text * pattern), without recursion.
bool glob_match(std::string_view pattern, std::string_view text) noexcept;

// The commands, by theme. Every function is in the table of server_engine.cpp.
namespace commands {
// server_connection.cpp
void auth(call&);
void client(call&);
void command_(call&);
void config(call&);
void debug(call&);
void echo(call&);
void hello(call&);
void info(call&);
void ping(call&);
void quit(call&);
void reset(call&);
void select(call&);
void time(call&);
// server_keys.cpp
void dbsize(call&);
void del(call&);
void exists(call&);
void expire(call&);
void expireat(call&);
void expiretime(call&);
void flushall(call&);
void flushdb(call&);
void keys(call&);
void persist(call&);
void pexpire(call&);
void pexpireat(call&);
void pexpiretime(call&);
void pttl(call&);
void randomkey(call&);
void rename(call&);
void renamenx(call&);
void scan(call&);
void ttl(call&);
void type(call&);
// server_strings.cpp
void append(call&);
void decr(call&);
void decrby(call&);
void get(call&);
void getdel(call&);
void getex(call&);
void getrange(call&);
void getset(call&);
void incr(call&);
void incrby(call&);
void incrbyfloat(call&);
void mget(call&);
void mset(call&);
void msetnx(call&);
void psetex(call&);
void set(call&);
void setex(call&);
void setnx(call&);
void setrange(call&);
void strlen(call&);
// server_collections.cpp
void hdel(call&);
void hexists(call&);
void hget(call&);
void hgetall(call&);
void hincrby(call&);
void hkeys(call&);
void hlen(call&);
void hmget(call&);
void hmset(call&);
void hset(call&);
void hsetnx(call&);
void hstrlen(call&);
void hvals(call&);
void lindex(call&);
void llen(call&);
void lpop(call&);
void lpush(call&);
void lpushx(call&);
void lrange(call&);
void lrem(call&);
void lset(call&);
void ltrim(call&);
void rpop(call&);
void rpush(call&);
void rpushx(call&);
void sadd(call&);
void scard(call&);
void sismember(call&);
void smembers(call&);
void smismember(call&);
void spop(call&);
void srem(call&);
// server_pubsub.cpp
void psubscribe(call&);
void publish(call&);
void pubsub(call&);
void punsubscribe(call&);
void spublish(call&);
void ssubscribe(call&);
void subscribe(call&);
void sunsubscribe(call&);
void unsubscribe(call&);
// server_engine.cpp
void discard(call&);
void exec(call&);
void multi(call&);
void unwatch(call&);
void watch(call&);
} // namespace commands

} // namespace fairlead::redis::server_impl
