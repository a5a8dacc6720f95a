// The commands of cmd/server.hpp as members. Made by tools/redis_members.py --write; not to be edited.
#pragma once

#include <fairlead/redis/cmd/server.hpp>

namespace fairlead::redis {

/// The functions of cmd/server.hpp as members of Derived, whose call(command) executes a command.
template <class Derived> class server_commands_of {
public:
    decltype(auto) acl_cat() { return static_cast<Derived&>(*this).call(cmd::acl_cat()); }
    decltype(auto) acl_cat(value_view category) { return static_cast<Derived&>(*this).call(cmd::acl_cat(category)); }
    decltype(auto) acl_deluser(values_view users) { return static_cast<Derived&>(*this).call(cmd::acl_deluser(users)); }
    decltype(auto) acl_dryrun(value_view user, values_view words) {
        return static_cast<Derived&>(*this).call(cmd::acl_dryrun(user, words));
    }
    decltype(auto) acl_genpass() { return static_cast<Derived&>(*this).call(cmd::acl_genpass()); }
    decltype(auto) acl_genpass(std::int64_t bits) { return static_cast<Derived&>(*this).call(cmd::acl_genpass(bits)); }
    decltype(auto) acl_getuser(value_view user) { return static_cast<Derived&>(*this).call(cmd::acl_getuser(user)); }
    decltype(auto) acl_list() { return static_cast<Derived&>(*this).call(cmd::acl_list()); }
    decltype(auto) acl_load() { return static_cast<Derived&>(*this).call(cmd::acl_load()); }
    decltype(auto) acl_log() { return static_cast<Derived&>(*this).call(cmd::acl_log()); }
    decltype(auto) acl_log(std::int64_t count) { return static_cast<Derived&>(*this).call(cmd::acl_log(count)); }
    decltype(auto) acl_log_reset() { return static_cast<Derived&>(*this).call(cmd::acl_log_reset()); }
    decltype(auto) acl_save() { return static_cast<Derived&>(*this).call(cmd::acl_save()); }
    decltype(auto) acl_setuser(value_view user, values_view rules = {}) {
        return static_cast<Derived&>(*this).call(cmd::acl_setuser(user, rules));
    }
    decltype(auto) acl_users() { return static_cast<Derived&>(*this).call(cmd::acl_users()); }
    decltype(auto) acl_whoami() { return static_cast<Derived&>(*this).call(cmd::acl_whoami()); }
    decltype(auto) bgrewriteaof() { return static_cast<Derived&>(*this).call(cmd::bgrewriteaof()); }
    decltype(auto) bgsave() { return static_cast<Derived&>(*this).call(cmd::bgsave()); }
    decltype(auto) client_getname() { return static_cast<Derived&>(*this).call(cmd::client_getname()); }
    decltype(auto) client_id() { return static_cast<Derived&>(*this).call(cmd::client_id()); }
    decltype(auto) client_info() { return static_cast<Derived&>(*this).call(cmd::client_info()); }
    decltype(auto) client_kill(std::int64_t id) { return static_cast<Derived&>(*this).call(cmd::client_kill(id)); }
    template <class... Option> decltype(auto) client_kill_where(Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::client_kill_where(option...));
    }
    template <class... Option> decltype(auto) client_list(Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::client_list(option...));
    }
    template <class... Option> decltype(auto) client_pause(impl::milliseconds_view time, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::client_pause(time, option...));
    }
    decltype(auto) client_setname(value_view name) {
        return static_cast<Derived&>(*this).call(cmd::client_setname(name));
    }
    decltype(auto) client_unblock(std::int64_t id) {
        return static_cast<Derived&>(*this).call(cmd::client_unblock(id));
    }
    decltype(auto) client_unpause() { return static_cast<Derived&>(*this).call(cmd::client_unpause()); }
    decltype(auto) command_count() { return static_cast<Derived&>(*this).call(cmd::command_count()); }
    decltype(auto) command_docs(values_view names = {}) {
        return static_cast<Derived&>(*this).call(cmd::command_docs(names));
    }
    decltype(auto) command_getkeys(values_view words) {
        return static_cast<Derived&>(*this).call(cmd::command_getkeys(words));
    }
    decltype(auto) command_getkeysandflags(values_view words) {
        return static_cast<Derived&>(*this).call(cmd::command_getkeysandflags(words));
    }
    decltype(auto) command_info(values_view names = {}) {
        return static_cast<Derived&>(*this).call(cmd::command_info(names));
    }
    template <class... Option> decltype(auto) command_list(Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::command_list(option...));
    }
    template <class Map = std::map<std::string, std::string>> decltype(auto) config_get(values_view patterns) {
        return static_cast<Derived&>(*this).call(cmd::config_get<Map>(patterns));
    }
    decltype(auto) config_resetstat() { return static_cast<Derived&>(*this).call(cmd::config_resetstat()); }
    decltype(auto) config_rewrite() { return static_cast<Derived&>(*this).call(cmd::config_rewrite()); }
    decltype(auto) config_set(fields_view settings) {
        return static_cast<Derived&>(*this).call(cmd::config_set(settings));
    }
    decltype(auto) dbsize() { return static_cast<Derived&>(*this).call(cmd::dbsize()); }
    decltype(auto) echo(value_view message) { return static_cast<Derived&>(*this).call(cmd::echo(message)); }
    template <class... Option> decltype(auto) flushall(Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::flushall(option...));
    }
    template <class... Option> decltype(auto) flushdb(Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::flushdb(option...));
    }
    decltype(auto) info(values_view sections = {}) { return static_cast<Derived&>(*this).call(cmd::info(sections)); }
    decltype(auto) lastsave() { return static_cast<Derived&>(*this).call(cmd::lastsave()); }
    decltype(auto) latency_doctor() { return static_cast<Derived&>(*this).call(cmd::latency_doctor()); }
    decltype(auto) latency_graph(value_view event) {
        return static_cast<Derived&>(*this).call(cmd::latency_graph(event));
    }
    decltype(auto) latency_histogram(values_view commands = {}) {
        return static_cast<Derived&>(*this).call(cmd::latency_histogram(commands));
    }
    decltype(auto) latency_history(value_view event) {
        return static_cast<Derived&>(*this).call(cmd::latency_history(event));
    }
    decltype(auto) latency_latest() { return static_cast<Derived&>(*this).call(cmd::latency_latest()); }
    decltype(auto) latency_reset(values_view events = {}) {
        return static_cast<Derived&>(*this).call(cmd::latency_reset(events));
    }
    decltype(auto) memory_doctor() { return static_cast<Derived&>(*this).call(cmd::memory_doctor()); }
    decltype(auto) memory_malloc_stats() { return static_cast<Derived&>(*this).call(cmd::memory_malloc_stats()); }
    decltype(auto) memory_purge() { return static_cast<Derived&>(*this).call(cmd::memory_purge()); }
    decltype(auto) memory_stats() { return static_cast<Derived&>(*this).call(cmd::memory_stats()); }
    decltype(auto) memory_usage(key_view key) { return static_cast<Derived&>(*this).call(cmd::memory_usage(key)); }
    decltype(auto) memory_usage(key_view key, std::int64_t samples) {
        return static_cast<Derived&>(*this).call(cmd::memory_usage(key, samples));
    }
    decltype(auto) ping() { return static_cast<Derived&>(*this).call(cmd::ping()); }
    decltype(auto) ping(value_view message) { return static_cast<Derived&>(*this).call(cmd::ping(message)); }
    decltype(auto) role() { return static_cast<Derived&>(*this).call(cmd::role()); }
    decltype(auto) save() { return static_cast<Derived&>(*this).call(cmd::save()); }
    decltype(auto) slowlog_get() { return static_cast<Derived&>(*this).call(cmd::slowlog_get()); }
    decltype(auto) slowlog_get(std::int64_t count) {
        return static_cast<Derived&>(*this).call(cmd::slowlog_get(count));
    }
    decltype(auto) slowlog_len() { return static_cast<Derived&>(*this).call(cmd::slowlog_len()); }
    decltype(auto) slowlog_reset() { return static_cast<Derived&>(*this).call(cmd::slowlog_reset()); }
    decltype(auto) swapdb(std::int64_t first, std::int64_t second) {
        return static_cast<Derived&>(*this).call(cmd::swapdb(first, second));
    }
    decltype(auto) time() { return static_cast<Derived&>(*this).call(cmd::time()); }
    decltype(auto) wait(std::int64_t replicas, impl::milliseconds_view limit) {
        return static_cast<Derived&>(*this).call(cmd::wait(replicas, limit));
    }
    decltype(auto) waitaof(std::int64_t own, std::int64_t replicas, impl::milliseconds_view limit) {
        return static_cast<Derived&>(*this).call(cmd::waitaof(own, replicas, limit));
    }

protected:
    server_commands_of() = default;
    ~server_commands_of() = default;
    server_commands_of(server_commands_of const&) = default;
    server_commands_of& operator=(server_commands_of const&) = default;
};

} // namespace fairlead::redis
