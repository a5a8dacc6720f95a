// The commands of cmd/sets.hpp as members. Made by tools/redis_members.py --write; not to be edited.
#pragma once

#include <fairlead/redis/cmd/sets.hpp>

namespace fairlead::redis {

/// The functions of cmd/sets.hpp as members of Derived, whose call(command) executes a command.
template <class Derived> class sets_of {
public:
    decltype(auto) sadd(key_view key, values_view members) {
        return static_cast<Derived&>(*this).call(cmd::sadd(key, members));
    }
    template <class... More>
    decltype(auto) sadd(key_view key, value_view first, value_view second, More const&... more) {
        return static_cast<Derived&>(*this).call(cmd::sadd(key, first, second, more...));
    }
    decltype(auto) scard(key_view key) { return static_cast<Derived&>(*this).call(cmd::scard(key)); }
    template <class T = std::string> decltype(auto) sdiff(keys_view keys) {
        return static_cast<Derived&>(*this).call(cmd::sdiff<T>(keys));
    }
    template <class T = std::string, class... More>
    decltype(auto) sdiff(key_view first, key_view second, More const&... more) {
        return static_cast<Derived&>(*this).call(cmd::sdiff<T>(first, second, more...));
    }
    decltype(auto) sdiffstore(key_view target, keys_view keys) {
        return static_cast<Derived&>(*this).call(cmd::sdiffstore(target, keys));
    }
    template <class... More>
    decltype(auto) sdiffstore(key_view target, key_view first, key_view second, More const&... more) {
        return static_cast<Derived&>(*this).call(cmd::sdiffstore(target, first, second, more...));
    }
    template <class T = std::string> decltype(auto) sinter(keys_view keys) {
        return static_cast<Derived&>(*this).call(cmd::sinter<T>(keys));
    }
    template <class T = std::string, class... More>
    decltype(auto) sinter(key_view first, key_view second, More const&... more) {
        return static_cast<Derived&>(*this).call(cmd::sinter<T>(first, second, more...));
    }
    decltype(auto) sintercard(keys_view keys, std::int64_t count_max = 0) {
        return static_cast<Derived&>(*this).call(cmd::sintercard(keys, count_max));
    }
    decltype(auto) sinterstore(key_view target, keys_view keys) {
        return static_cast<Derived&>(*this).call(cmd::sinterstore(target, keys));
    }
    template <class... More>
    decltype(auto) sinterstore(key_view target, key_view first, key_view second, More const&... more) {
        return static_cast<Derived&>(*this).call(cmd::sinterstore(target, first, second, more...));
    }
    decltype(auto) sismember(key_view key, value_view member) {
        return static_cast<Derived&>(*this).call(cmd::sismember(key, member));
    }
    template <class T = std::string> decltype(auto) smembers(key_view key) {
        return static_cast<Derived&>(*this).call(cmd::smembers<T>(key));
    }
    decltype(auto) smismember(key_view key, values_view members) {
        return static_cast<Derived&>(*this).call(cmd::smismember(key, members));
    }
    template <class... More>
    decltype(auto) smismember(key_view key, value_view first, value_view second, More const&... more) {
        return static_cast<Derived&>(*this).call(cmd::smismember(key, first, second, more...));
    }
    decltype(auto) smove(key_view source, key_view target, value_view member) {
        return static_cast<Derived&>(*this).call(cmd::smove(source, target, member));
    }
    template <class T = std::string> decltype(auto) spop(key_view key) {
        return static_cast<Derived&>(*this).call(cmd::spop<T>(key));
    }
    template <class T = std::string> decltype(auto) spop(key_view key, std::int64_t count) {
        return static_cast<Derived&>(*this).call(cmd::spop<T>(key, count));
    }
    template <class T = std::string> decltype(auto) srandmember(key_view key) {
        return static_cast<Derived&>(*this).call(cmd::srandmember<T>(key));
    }
    template <class T = std::string> decltype(auto) srandmember(key_view key, std::int64_t count) {
        return static_cast<Derived&>(*this).call(cmd::srandmember<T>(key, count));
    }
    decltype(auto) srem(key_view key, values_view members) {
        return static_cast<Derived&>(*this).call(cmd::srem(key, members));
    }
    template <class... More>
    decltype(auto) srem(key_view key, value_view first, value_view second, More const&... more) {
        return static_cast<Derived&>(*this).call(cmd::srem(key, first, second, more...));
    }
    template <class T = std::string, class... Option>
    decltype(auto) sscan(key_view key, std::uint64_t cursor, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::sscan<T>(key, cursor, option...));
    }
    template <class T = std::string> decltype(auto) sunion(keys_view keys) {
        return static_cast<Derived&>(*this).call(cmd::sunion<T>(keys));
    }
    template <class T = std::string, class... More>
    decltype(auto) sunion(key_view first, key_view second, More const&... more) {
        return static_cast<Derived&>(*this).call(cmd::sunion<T>(first, second, more...));
    }
    decltype(auto) sunionstore(key_view target, keys_view keys) {
        return static_cast<Derived&>(*this).call(cmd::sunionstore(target, keys));
    }
    template <class... More>
    decltype(auto) sunionstore(key_view target, key_view first, key_view second, More const&... more) {
        return static_cast<Derived&>(*this).call(cmd::sunionstore(target, first, second, more...));
    }

protected:
    sets_of() = default;
    ~sets_of() = default;
    sets_of(sets_of const&) = default;
    sets_of& operator=(sets_of const&) = default;
};

} // namespace fairlead::redis
