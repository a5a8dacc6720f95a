// Commands that concern the server, or this connection alone.
#pragma once

#include <fairlead/redis/cmd/server_results.hpp>
#include <fairlead/redis/options.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::redis {

namespace impl {

/// Seconds, and microseconds as a second number.
FAIRLEAD_EXPORT error_code read_time(reply_reader& in, void* value);
FAIRLEAD_EXPORT error_code read_seconds(reply_reader& in, void* value);

} // namespace impl

namespace cmd {

/// ACL CAT: the categories of commands.
inline command<std::vector<std::string>> acl_cat() { return impl::make<std::vector<std::string>>("ACL", {"CAT"}); }
/// ACL CAT: the commands of a category.
inline command<std::vector<std::string>> acl_cat(value_view category) {
    return impl::make<std::vector<std::string>>("ACL", {"CAT", category});
}
/// ACL DELUSER: how many there were. The server closes their connections.
inline command<std::int64_t> acl_deluser(values_view users) {
    return impl::make<std::int64_t>("ACL", {"DELUSER", users});
}
/// ACL DRYRUN: whether the user may execute a command, `{"GET", "key"}` for example. It is not executed.
inline command<acl_verdict> acl_dryrun(value_view user, values_view words) {
    return impl::make<acl_verdict>("ACL", {"DRYRUN", user, words});
}
/// ACL GENPASS: a password of 256 random bits, in hexadecimal digits.
inline command<std::string> acl_genpass() { return impl::make<std::string>("ACL", {"GENPASS"}); }
/// ACL GENPASS of so many bits, 1 to 4096. They are rounded up to a multiple of four.
inline command<std::string> acl_genpass(std::int64_t bits) {
    return impl::make<std::string>("ACL", {"GENPASS", value_view(bits)});
}
/// ACL GETUSER: the rights of a user, or nothing.
inline command<std::optional<acl_user>> acl_getuser(value_view user) {
    return impl::make<std::optional<acl_user>>("ACL", {"GETUSER", user});
}
/// ACL LIST: all users with their rights, as the rules of a file.
inline command<std::vector<std::string>> acl_list() { return impl::make<std::vector<std::string>>("ACL", {"LIST"}); }
/// ACL LOAD: the users of the file that the server is configured with. If it has a mistake, none changes.
inline command<ignore_t> acl_load() { return impl::make<ignore_t>("ACL", {"LOAD"}); }
/// ACL LOG: what users were not allowed to do, the last time first. The server says ten unless `count` is given.
inline command<std::vector<acl_log_entry>> acl_log() { return impl::make<std::vector<acl_log_entry>>("ACL", {"LOG"}); }
/// ACL LOG: at most so many.
inline command<std::vector<acl_log_entry>> acl_log(std::int64_t count) {
    return impl::make<std::vector<acl_log_entry>>("ACL", {"LOG", value_view(count)});
}
/// ACL LOG RESET: empties the list.
inline command<ignore_t> acl_log_reset() { return impl::make<ignore_t>("ACL", {"LOG", "RESET"}); }
/// ACL SAVE: writes the users to the file that the server is configured with.
inline command<ignore_t> acl_save() { return impl::make<ignore_t>("ACL", {"SAVE"}); }
/// ACL SETUSER: adds rules to a user, `{"on", ">password", "~app:*", "+@all"}` for example. Makes the user, without
/// any rights, if there is none.
inline command<ignore_t> acl_setuser(value_view user, values_view rules = {}) {
    return impl::make<ignore_t>("ACL", {"SETUSER", user, rules});
}
/// ACL USERS: the names of all users.
inline command<std::vector<std::string>> acl_users() { return impl::make<std::vector<std::string>>("ACL", {"USERS"}); }
/// ACL WHOAMI: the name of this connection's user.
inline command<std::string> acl_whoami() { return impl::make<std::string>("ACL", {"WHOAMI"}); }
/// BGREWRITEAOF.
inline command<ignore_t> bgrewriteaof() { return impl::make<ignore_t>("BGREWRITEAOF", {}); }
/// BGSAVE.
inline command<ignore_t> bgsave() { return impl::make<ignore_t>("BGSAVE", {}); }
/// CLIENT GETNAME: the name of this connection, or nothing.
inline command<std::optional<std::string>> client_getname() {
    return impl::make<std::optional<std::string>>("CLIENT", {"GETNAME"});
}
/// CLIENT ID: the number of this connection.
inline command<std::int64_t> client_id() { return impl::make<std::int64_t>("CLIENT", {"ID"}); }
/// CLIENT INFO: this connection, as client_list() shows it.
inline command<std::string> client_info() { return impl::make<std::string>("CLIENT", {"INFO"}); }
/// CLIENT KILL ID: whether there was such a connection, which has been closed.
inline command<bool> client_kill(std::int64_t id) { return impl::make<bool>("CLIENT", {"KILL", "ID", value_view(id)}); }
/// CLIENT KILL: how many connections were closed, of those that all options describe. This one is left out. It has the
/// options from_address, of_type and of_user, one at least.
template <class... Option> command<std::int64_t> client_kill_where(Option const&... option) {
    using known = impl::options_of<options::from_address, options::of_type, options::of_user>;
    constexpr bool is_known = sizeof...(Option) != 0 && known::include<Option...>;
    static_assert(is_known,
                  "CLIENT KILL has the options from_address, of_type and of_user: write one of them at least");
    impl::check_options<Option...>();
    return impl::make<std::int64_t>("CLIENT", {"KILL", impl::part_of(option)...});
}
/// CLIENT LIST: a line for each connection. It has the option of_type.
template <class... Option> command<std::string> client_list(Option const&... option) {
    constexpr bool is_known = impl::options_of<options::of_type>::include<Option...>;
    static_assert(is_known, "CLIENT LIST has the option of_type");
    impl::check_options<Option...>();
    return impl::make<std::string>("CLIENT", {"LIST", impl::part_of(option)...});
}
/// CLIENT PAUSE: the server executes no command of any client for so long, this client's included. With only_writes:
/// none that may write. It has the option only_writes.
template <class... Option> command<ignore_t> client_pause(impl::milliseconds_view time, Option const&... option) {
    constexpr bool is_known = impl::options_of<options::only_writes_t>::include<Option...>;
    static_assert(is_known, "CLIENT PAUSE has the option only_writes");
    impl::check_options<Option...>();
    return impl::make<ignore_t>("CLIENT", {"PAUSE", value_view(time.count()), impl::part_of(option)...});
}
/// CLIENT SETNAME.
inline command<ignore_t> client_setname(value_view name) { return impl::make<ignore_t>("CLIENT", {"SETNAME", name}); }
/// CLIENT UNBLOCK: whether the connection waited in a blocking command, which has ended without a result.
inline command<bool> client_unblock(std::int64_t id) { return impl::make<bool>("CLIENT", {"UNBLOCK", value_view(id)}); }
/// CLIENT UNPAUSE: ends a pause of writes. During a pause of all commands it waits as well.
inline command<ignore_t> client_unpause() { return impl::make<ignore_t>("CLIENT", {"UNPAUSE"}); }
/// COMMAND COUNT: how many commands the server has.
inline command<std::int64_t> command_count() { return impl::make<std::int64_t>("COMMAND", {"COUNT"}); }
/// COMMAND DOCS: what the server says of some commands, or of all, by their names in small letters.
inline command<std::map<std::string, command_documentation>> command_docs(values_view names = {}) {
    return impl::make<std::map<std::string, command_documentation>>("COMMAND", {"DOCS", names});
}
/// COMMAND GETKEYS: the keys among the words of a command, `{"SET", "key", "value"}` for example. An error without
/// keys.
inline command<std::vector<std::string>> command_getkeys(values_view words) {
    return impl::make<std::vector<std::string>>("COMMAND", {"GETKEYS", words});
}
/// COMMAND GETKEYSANDFLAGS: as command_getkeys(), each with what the command does with it: "RW", "update" and others.
inline command<std::vector<std::pair<std::string, std::vector<std::string>>>>
command_getkeysandflags(values_view words) {
    return impl::make<std::vector<std::pair<std::string, std::vector<std::string>>>>("COMMAND",
                                                                                     {"GETKEYSANDFLAGS", words});
}
/// COMMAND INFO: what some commands are, each nothing where the server does not have it; without names of all.
inline command<std::vector<std::optional<command_description>>> command_info(values_view names = {}) {
    return impl::make<std::vector<std::optional<command_description>>>("COMMAND", {"INFO", names});
}
/// COMMAND LIST: the names of all commands and subcommands. It has the options by_pattern, by_category and by_module.
template <class... Option> command<std::vector<std::string>> command_list(Option const&... option) {
    using known = impl::options_of<options::by_pattern, options::by_category, options::by_module>;
    constexpr bool is_known = known::include<Option...>;
    static_assert(is_known,
                  "COMMAND LIST has the options by_pattern, by_category and by_module, of which it takes one");
    impl::check_options<Option...>();
    return impl::make<std::vector<std::string>>("COMMAND", {"LIST", impl::part_of(option)...});
}
/// CONFIG GET: the settings whose names match.
template <class Map = std::map<std::string, std::string>> command<Map> config_get(values_view patterns) {
    return impl::make<Map>("CONFIG", {"GET", patterns});
}
/// CONFIG RESETSTAT.
inline command<ignore_t> config_resetstat() { return impl::make<ignore_t>("CONFIG", {"RESETSTAT"}); }
/// CONFIG REWRITE.
inline command<ignore_t> config_rewrite() { return impl::make<ignore_t>("CONFIG", {"REWRITE"}); }
/// CONFIG SET: all of the settings, or none.
inline command<ignore_t> config_set(fields_view settings) { return impl::make<ignore_t>("CONFIG", {"SET", settings}); }
/// DBSIZE: how many keys there are.
inline command<std::int64_t> dbsize() { return impl::make<std::int64_t>("DBSIZE", {}); }
/// ECHO: the message.
inline command<std::string> echo(value_view message) { return impl::make<std::string>("ECHO", {message}); }
/// FLUSHALL: deletes all keys of all databases. It has the options in_background and at_once.
template <class... Option> command<ignore_t> flushall(Option const&... option) {
    using known = impl::options_of<options::in_background_t, options::at_once_t>;
    constexpr bool is_known = known::include<Option...>;
    static_assert(is_known, "FLUSHALL has the options in_background and at_once");
    impl::check_options<Option...>();
    return impl::make<ignore_t>("FLUSHALL", {impl::part_of(option)...});
}
/// FLUSHDB: deletes all keys of the database. It has the options in_background and at_once.
template <class... Option> command<ignore_t> flushdb(Option const&... option) {
    using known = impl::options_of<options::in_background_t, options::at_once_t>;
    constexpr bool is_known = known::include<Option...>;
    static_assert(is_known, "FLUSHDB has the options in_background and at_once");
    impl::check_options<Option...>();
    return impl::make<ignore_t>("FLUSHDB", {impl::part_of(option)...});
}
/// INFO: figures of the server, in lines; of some sections, or of the usual ones.
inline command<std::string> info(values_view sections = {}) { return impl::make<std::string>("INFO", {sections}); }
/// LASTSAVE: when the data was last saved.
inline command<std::chrono::system_clock::time_point> lastsave() {
    return impl::make<std::chrono::system_clock::time_point>("LASTSAVE", {}, &impl::read_seconds);
}
/// LATENCY DOCTOR: advice, as a text for people.
inline command<std::string> latency_doctor() { return impl::make<std::string>("LATENCY", {"DOCTOR"}); }
/// LATENCY GRAPH: the moments of a cause, drawn with letters.
inline command<std::string> latency_graph(value_view event) {
    return impl::make<std::string>("LATENCY", {"GRAPH", event});
}
/// LATENCY HISTOGRAM: how long calls of some commands took, or of all that were called, by their names in small
/// letters.
inline command<std::map<std::string, command_latencies>> latency_histogram(values_view commands = {}) {
    return impl::make<std::map<std::string, command_latencies>>("LATENCY", {"HISTOGRAM", commands});
}
/// LATENCY HISTORY: the last moments of a cause, at most 160.
inline command<std::vector<latency_sample>> latency_history(value_view event) {
    return impl::make<std::vector<latency_sample>>("LATENCY", {"HISTORY", event});
}
/// LATENCY LATEST: the last moment of each cause. The server notes those of `latency-monitor-threshold`, by default
/// none.
inline command<std::vector<latency_event>> latency_latest() {
    return impl::make<std::vector<latency_event>>("LATENCY", {"LATEST"});
}
/// LATENCY RESET: how many causes had moments, of some causes or of all; these are forgotten.
inline command<std::int64_t> latency_reset(values_view events = {}) {
    return impl::make<std::int64_t>("LATENCY", {"RESET", events});
}
/// MEMORY DOCTOR: advice, as a text for people.
inline command<std::string> memory_doctor() { return impl::make<std::string>("MEMORY", {"DOCTOR"}); }
/// MEMORY MALLOC-STATS: figures of the allocator, as a text.
inline command<std::string> memory_malloc_stats() { return impl::make<std::string>("MEMORY", {"MALLOC-STATS"}); }
/// MEMORY PURGE: asks the allocator to give memory back to the system.
inline command<ignore_t> memory_purge() { return impl::make<ignore_t>("MEMORY", {"PURGE"}); }
/// MEMORY STATS: figures of the server's memory.
inline command<memory_figures> memory_stats() { return impl::make<memory_figures>("MEMORY", {"STATS"}); }
/// MEMORY USAGE: about how many bytes a key takes, or nothing.
inline command<std::optional<std::int64_t>> memory_usage(key_view key) {
    return impl::make<std::optional<std::int64_t>>("MEMORY", {"USAGE", key});
}
/// MEMORY USAGE, by so many elements of a container; 0 looks at all of them.
inline command<std::optional<std::int64_t>> memory_usage(key_view key, std::int64_t samples) {
    return impl::make<std::optional<std::int64_t>>("MEMORY", {"USAGE", key, "SAMPLES", value_view(samples)});
}
/// PING: "PONG".
inline command<std::string> ping() { return impl::make<std::string>("PING", {}); }
/// PING: the message.
inline command<std::string> ping(value_view message) { return impl::make<std::string>("PING", {message}); }
/// ROLE: whether the server is a master, a replica or a sentinel, and of whom.
inline command<replication_role> role() { return impl::make<replication_role>("ROLE", {}); }
/// SAVE: the server does nothing else meanwhile. See bgsave().
inline command<ignore_t> save() { return impl::make<ignore_t>("SAVE", {}); }
/// SLOWLOG GET: slow commands, the last one first. The server says ten unless `count` is given. It notes those
/// that took longer than its setting `slowlog-log-slower-than`.
inline command<std::vector<slow_command>> slowlog_get() {
    return impl::make<std::vector<slow_command>>("SLOWLOG", {"GET"});
}
/// SLOWLOG GET: at most so many; -1 is all.
inline command<std::vector<slow_command>> slowlog_get(std::int64_t count) {
    return impl::make<std::vector<slow_command>>("SLOWLOG", {"GET", value_view(count)});
}
/// SLOWLOG LEN: how many slow commands are listed.
inline command<std::int64_t> slowlog_len() { return impl::make<std::int64_t>("SLOWLOG", {"LEN"}); }
/// SLOWLOG RESET: empties the list.
inline command<ignore_t> slowlog_reset() { return impl::make<ignore_t>("SLOWLOG", {"RESET"}); }
/// SWAPDB: each of two databases gets the number of the other.
inline command<ignore_t> swapdb(std::int64_t first, std::int64_t second) {
    return impl::make<ignore_t>("SWAPDB", {value_view(first), value_view(second)});
}
/// TIME: the clock of the server.
inline command<std::chrono::system_clock::time_point> time() {
    return impl::make<std::chrono::system_clock::time_point>("TIME", {}, &impl::read_time);
}
/// WAIT: how many replicas have what this connection wrote, once there are `replicas` or the time is over. On a
/// connection of its own.
inline command<std::int64_t> wait(std::int64_t replicas, impl::milliseconds_view limit) {
    return impl::make<std::int64_t>("WAIT", {value_view(replicas), value_view(limit.count())});
}
/// WAITAOF: on how many servers of its own, 0 or 1, and replicas that is on the disk (Redis 7.2). On a connection of
/// its own.
inline command<std::pair<std::int64_t, std::int64_t>> waitaof(std::int64_t own, std::int64_t replicas,
                                                              impl::milliseconds_view limit) {
    return impl::make<std::pair<std::int64_t, std::int64_t>>(
        "WAITAOF", {value_view(own), value_view(replicas), value_view(limit.count())});
}

} // namespace cmd
} // namespace fairlead::redis
