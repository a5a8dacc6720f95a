// The common state of the embedded server's parts: databases, sessions, and what connects them.
#pragma once

#include <fairlead/redis_server/engine.hpp>
#include <fairlead/redis_server/script.hpp>
#include <fairlead/resp3/node.hpp>
#include <fairlead/resp3/writer.hpp>

#include <redis_server/access.hpp>
#include <redis_server/command.hpp>
#include <redis_server/values.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead::redis::server_impl {

struct server_state;
struct server_session;

// The three kinds of subscriptions. Shard channels are a space of their own.
enum class subscription : unsigned char { channel, pattern, shard };
inline constexpr std::size_t subscription_kinds = 3;

struct by_id {
    bool operator()(server_session const* a, server_session const* b) const noexcept;
};
using subscribers = std::map<std::string, std::set<server_session*, by_id>, std::less<>>;

struct queued_command {
    command const* cmd;
    std::vector<std::string> arguments;
};

using watched_key = std::pair<std::size_t, std::string>; // database and key

enum class reply_mode : unsigned char { on, off, skip_this, skip_next };

/// The reply to a client whose time limit has passed.
enum class late_reply : unsigned char { null_array, zero };

/// A command that waits until one of its keys has what it needs.
struct waiting_command {
    command const* cmd = nullptr;
    std::vector<std::string> arguments; // as they are run anew
    std::vector<watched_key> keys;
    std::optional<std::int64_t> until; // milliseconds of the engine's clock
    std::uint64_t order = 0;           // of two that wait for a key the lower one is served first
    late_reply when_late = late_reply::null_array;
};

/// A script of the program. EVALSHA finds it once EVAL or SCRIPT LOAD has named its text.
struct known_script {
    server_script run;
    bool is_loaded = false;
};

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
    std::string user;
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
    bool may_wait = true;       // not within EXEC and scripts
    std::string pushes_to_self; // by that command; they follow its reply
    std::optional<waiting_command> waits;

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

struct kept_databases {
    std::vector<database> all;
    bool is_in_use = false;
};

struct server_state {
    /// `kept` outlives this.
    server_state(server_engine_options o, kept_databases& kept) : options(std::move(o)), databases(kept.all) {}

    server_engine_options options;
    std::vector<database>& databases;
    std::array<subscribers, subscription_kinds> subscriptions;
    std::map<std::uint64_t, server_session*> sessions;
    std::deque<server_session*> dirty; // got output from others; told at the end of feed()
    std::uint64_t last_id = 0;
    std::uint64_t commands_run = 0;
    std::map<watched_key, std::set<server_session*, by_id>> watchers;
    std::int64_t started_at = 0;
    acl_users users;
    std::map<std::string, known_script, std::less<>> scripts; // by SHA-1
    std::map<std::string, server_script, std::less<>> functions;

    // Clients whose command waits; see waiting.cpp.
    std::map<watched_key, std::map<std::uint64_t, server_session*>> waiters;       // by their order
    std::map<std::pair<std::int64_t, std::uint64_t>, server_session*> time_limits; // by time and order
    std::uint64_t last_order = 0;
    std::vector<watched_key> ready;      // changed, and somebody waits for them
    std::deque<server_session*> resumed; // wait no more; their later requests have not been read yet

    bool knows(command const& cmd) const noexcept { return options.has_hello || cmd.name != "hello"; }
    std::int64_t now() const { return options.clock ? options.clock().count() : 0; }

    /// The entry at `key` unless it has expired, which removes it.
    database::iterator find(std::size_t in, std::string_view key);
    /// Removes what has expired, for commands that look at all keys. O(keys).
    void expire(std::size_t in);
    void clear(std::size_t in);
    /// A key was made, changed or removed: those who watch it or wait for it have to learn.
    void touch(std::size_t in, std::string_view key);
    /// Gives output to a session which is not the one whose command runs, or to that one behind its reply.
    void push(server_session& to, std::string_view bytes);
    void close(server_session& who);
    void signal(server_session& who);
    void unwatch(server_session& who);
    void unsubscribe_all(server_session& who);

    /// Lets the session's command wait.
    void wait(server_session& who, waiting_command command);
    /// The session is out of all queues; its reply has been written, or it is going.
    void stop_waiting(server_session& who);
    /// Ends the wait with a reply; `error` is the reply unless it is empty.
    void end_wait(server_session& who, std::string_view error);
    /// Runs the waiting commands whose keys have changed, in the order of the changes and of the queues.
    void serve_waiting();
    /// Ends the waits whose time limit has passed.
    void end_late_waits();
};

inline bool by_id::operator()(server_session const* a, server_session const* b) const noexcept { return a->id < b->id; }

/// How the connection's state is at its start; RESET.
void reset_session(server_session& who);

/// One request: the reply, whether it is wanted at all, then what the command published to its own client.
void serve(server_session& self, std::span<std::string_view const> args);
/// Runs a command that nothing stands against.
void run(server_session& self, command const& cmd, std::span<std::string_view const> args);
/// The end of a reply that began at `before`: is it wanted, and what follows it?
void finish_reply(server_session& self, command const* cmd, std::size_t before);
/// Leaves the transaction, and watches nothing any more.
void end_transaction(server_session& self);

/// Serves the requests that `bytes` complete, together with those that were left over.
void consume(server_session& self, std::string_view bytes);

} // namespace fairlead::redis::server_impl
