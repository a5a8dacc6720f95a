// The commands of cmd/server.hpp as members. Made by tools/redis_members.py --write; not to be edited.
#pragma once

#include <fairlead/redis/cmd/server.hpp>

namespace fairlead::redis {

/// The functions of cmd/server.hpp as members of Derived, whose call(command) executes a command.
template <class Derived> class server_commands_of {
public:
    decltype(auto) acl_whoami() { return static_cast<Derived&>(*this).call(cmd::acl_whoami()); }
    decltype(auto) bgrewriteaof() { return static_cast<Derived&>(*this).call(cmd::bgrewriteaof()); }
    decltype(auto) bgsave() { return static_cast<Derived&>(*this).call(cmd::bgsave()); }
    decltype(auto) client_getname() { return static_cast<Derived&>(*this).call(cmd::client_getname()); }
    decltype(auto) client_id() { return static_cast<Derived&>(*this).call(cmd::client_id()); }
    decltype(auto) client_info() { return static_cast<Derived&>(*this).call(cmd::client_info()); }
    decltype(auto) client_kill(std::int64_t id) { return static_cast<Derived&>(*this).call(cmd::client_kill(id)); }
    decltype(auto) client_list() { return static_cast<Derived&>(*this).call(cmd::client_list()); }
    decltype(auto) client_setname(value_view name) {
        return static_cast<Derived&>(*this).call(cmd::client_setname(name));
    }
    decltype(auto) client_unblock(std::int64_t id) {
        return static_cast<Derived&>(*this).call(cmd::client_unblock(id));
    }
    decltype(auto) command_count() { return static_cast<Derived&>(*this).call(cmd::command_count()); }
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
    decltype(auto) memory_usage(key_view key) { return static_cast<Derived&>(*this).call(cmd::memory_usage(key)); }
    decltype(auto) ping() { return static_cast<Derived&>(*this).call(cmd::ping()); }
    decltype(auto) ping(value_view message) { return static_cast<Derived&>(*this).call(cmd::ping(message)); }
    decltype(auto) save() { return static_cast<Derived&>(*this).call(cmd::save()); }
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
