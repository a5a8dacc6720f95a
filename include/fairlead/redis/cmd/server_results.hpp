// The results of commands that concern the server: users, slow commands, latencies, memory, its role and its commands.
#pragma once

#include <fairlead/redis/response.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fairlead::redis {

/// Rights beside those of the user itself, as in `ACL SETUSER ann (+get ~public:*)`.
struct acl_selector {
    std::string commands; ///< As rules: "-@all +get".
    std::string keys;     ///< As patterns: "~public:* %R~news:*".
    std::string channels; ///< As patterns: "&news.*".

    friend bool operator==(acl_selector const&, acl_selector const&) = default;
};
/// Reads a selector of ACL GETUSER; what it does not know it passes over.
FAIRLEAD_EXPORT error_code from_reply(reply_reader& in, acl_selector& selector);

/// A user, as ACL GETUSER describes it.
struct acl_user {
    std::vector<std::string> flags;     ///< "on" or "off", "nopass" and others.
    std::vector<std::string> passwords; ///< Their digests: SHA-256, in hexadecimal digits.
    acl_selector rights;                ///< Those of the user itself.
    std::vector<acl_selector> selectors;

    /// The user may log in.
    FAIRLEAD_EXPORT bool is_on() const noexcept;
};
/// Reads the reply to ACL GETUSER of Redis 7.0 and later; what it does not know it passes over.
FAIRLEAD_EXPORT error_code from_reply(reply_reader& in, acl_user& user);

/// Whether a user may execute a command: ACL DRYRUN.
struct acl_verdict {
    bool is_allowed = false;
    std::string reason; ///< Why not, in the words of the server.

    explicit operator bool() const noexcept { return is_allowed; }
};
/// Reads the reply to ACL DRYRUN.
FAIRLEAD_EXPORT error_code from_reply(reply_reader& in, acl_verdict& verdict);

/// Something that a user was not allowed to do, as ACL LOG lists it.
struct acl_log_entry {
    std::int64_t count = 0;              ///< How often.
    std::string reason;                  ///< "auth", "command", "key" or "channel".
    std::string context;                 ///< "toplevel", "multi", "lua" or "module".
    std::string object;                  ///< The command, key or channel.
    std::string username;                ///< Of the user, or the name of a login that failed.
    std::chrono::duration<double> age{}; ///< Since the last time.
    std::string client;                  ///< The connection, as client_info() shows it.
};
/// Reads an element of the reply to ACL LOG; what it does not know it passes over.
FAIRLEAD_EXPORT error_code from_reply(reply_reader& in, acl_log_entry& entry);

/// A command that took long, as SLOWLOG GET lists it.
struct slow_command {
    std::int64_t id = 0; ///< Of this entry. A later one has a greater id.
    std::chrono::system_clock::time_point at{};
    std::chrono::microseconds duration{}; ///< In the server, without waiting and without the network.
    std::vector<std::string> words;       ///< The command and its arguments. The server shortens long ones.
    std::string address;                  ///< Of the client.
    std::string client_name;
};
/// Reads an element of the reply to SLOWLOG GET.
FAIRLEAD_EXPORT error_code from_reply(reply_reader& in, slow_command& slow);

/// Moments in which the server served nobody, of one cause: LATENCY LATEST.
struct latency_event {
    std::string name; ///< "command", "fork" and others.
    std::chrono::system_clock::time_point at{};
    std::chrono::milliseconds latest{};
    std::chrono::milliseconds greatest{};
};
/// Reads an element of the reply to LATENCY LATEST.
FAIRLEAD_EXPORT error_code from_reply(reply_reader& in, latency_event& event);

/// One of these moments: LATENCY HISTORY.
struct latency_sample {
    std::chrono::system_clock::time_point at{};
    std::chrono::milliseconds latency{};
};
/// Reads an element of the reply to LATENCY HISTORY.
FAIRLEAD_EXPORT error_code from_reply(reply_reader& in, latency_sample& sample);

/// The calls of one command by their time in the server: LATENCY HISTOGRAM.
struct command_latencies {
    std::int64_t calls = 0;
    std::map<std::chrono::microseconds, std::int64_t> at_most; ///< How many calls took at most so long.
};
/// Reads a value of the reply to LATENCY HISTOGRAM; what it does not know it passes over.
FAIRLEAD_EXPORT error_code from_reply(reply_reader& in, command_latencies& latencies);

/// The memory of the server in bytes, as MEMORY STATS describes it.
struct memory_figures {
    std::int64_t peak_allocated = 0;
    std::int64_t total_allocated = 0;
    std::int64_t startup_allocated = 0;
    std::int64_t replication_backlog = 0;
    std::int64_t clients_normal = 0;
    std::int64_t overhead_total = 0; ///< All but the data.
    std::int64_t keys_count = 0;
    std::int64_t keys_bytes_per_key = 0;
    std::int64_t dataset_bytes = 0;
    double dataset_percentage = 0; ///< The share of the data in all that was allocated since the start.
    double peak_percentage = 0;    ///< The share of the peak that is allocated.
    std::int64_t allocator_allocated = 0;
    std::int64_t allocator_active = 0;
    std::int64_t allocator_resident = 0;
    double fragmentation = 0; ///< Memory of the process, in multiples of total_allocated.
};
/// Reads the reply to MEMORY STATS; what it does not know it passes over.
FAIRLEAD_EXPORT error_code from_reply(reply_reader& in, memory_figures& figures);

/// A replica that is connected to the server.
struct connected_replica {
    std::string host;
    int port = 0;
    std::int64_t offset = 0; ///< Bytes of the stream of its master that it has acknowledged.

    friend bool operator==(connected_replica const&, connected_replica const&) = default;
};
/// Reads an element of the reply to ROLE of a master.
FAIRLEAD_EXPORT error_code from_reply(reply_reader& in, connected_replica& replica);

/// The server among others: ROLE.
struct replication_role {
    /// The words of the server; its older one for a replica is "slave".
    enum class kind : unsigned char {
        master,
        replica,
        sentinel,
    };
    kind is = kind::master;
    std::int64_t offset = 0;                 ///< In the stream of writes that a master sends.
    std::vector<connected_replica> replicas; ///< Of a master.
    std::string master_host;                 ///< Of a replica, as the next two.
    int master_port = 0;
    std::string link;                 ///< "connect", "connecting", "sync" or "connected".
    std::vector<std::string> masters; ///< Of a sentinel: their names.
};
/// Reads the reply to ROLE. Another role than these three is error::incompatible_type.
FAIRLEAD_EXPORT error_code from_reply(reply_reader& in, replication_role& role);

/// A command of the server, as COMMAND INFO describes it.
struct command_description {
    std::string name;               ///< In small letters; that of a subcommand is "config|get".
    std::int64_t arity = 0;         ///< How many words it has, with its name. Negative: at least so many.
    std::vector<std::string> flags; ///< "write", "readonly", "fast" and others.
    std::int64_t first_key = 0;     ///< Where its keys stand among its words. 0: it has none.
    std::int64_t last_key = 0;      ///< Negative: counted from the end.
    std::int64_t key_step = 0;
    std::vector<std::string> categories; ///< Those of ACL: "@read".
    std::vector<std::string> tips;       ///< For clients.
    std::vector<command_description> subcommands;
};
/// Reads an element of the reply to COMMAND INFO. The specifications of keys are passed over.
FAIRLEAD_EXPORT error_code from_reply(reply_reader& in, command_description& described);

/// A command in words for people, as COMMAND DOCS has them.
struct command_documentation {
    std::string summary;
    std::string since; ///< The first version that has it.
    std::string group;
    std::string complexity;
    std::optional<std::string> deprecated_since;
    std::optional<std::string> replaced_by;
};
/// Reads a value of the reply to COMMAND DOCS; what it does not know it passes over.
FAIRLEAD_EXPORT error_code from_reply(reply_reader& in, command_documentation& documentation);

} // namespace fairlead::redis
