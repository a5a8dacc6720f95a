// Commands that concern the server, or this connection alone.
#pragma once

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
/// CLIENT LIST: a line for each connection.
inline command<std::string> client_list() { return impl::make<std::string>("CLIENT", {"LIST"}); }
/// CLIENT SETNAME.
inline command<ignore_t> client_setname(value_view name) { return impl::make<ignore_t>("CLIENT", {"SETNAME", name}); }
/// CLIENT UNBLOCK: whether the connection waited in a blocking command, which has ended without a result.
inline command<bool> client_unblock(std::int64_t id) { return impl::make<bool>("CLIENT", {"UNBLOCK", value_view(id)}); }
/// COMMAND COUNT: how many commands the server has.
inline command<std::int64_t> command_count() { return impl::make<std::int64_t>("COMMAND", {"COUNT"}); }
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
/// MEMORY USAGE: about how many bytes a key takes, or nothing.
inline command<std::optional<std::int64_t>> memory_usage(key_view key) {
    return impl::make<std::optional<std::int64_t>>("MEMORY", {"USAGE", key});
}
/// PING: "PONG".
inline command<std::string> ping() { return impl::make<std::string>("PING", {}); }
/// PING: the message.
inline command<std::string> ping(value_view message) { return impl::make<std::string>("PING", {message}); }
/// SAVE: the server does nothing else meanwhile. See bgsave().
inline command<ignore_t> save() { return impl::make<ignore_t>("SAVE", {}); }
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
