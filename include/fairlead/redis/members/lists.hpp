// The commands of cmd/lists.hpp as members. Made by tools/redis_members.py --write; not to be edited.
#pragma once

#include <fairlead/redis/cmd/lists.hpp>

namespace fairlead::redis {

/// The functions of cmd/lists.hpp as members of Derived, whose call(command) executes a command.
template <class Derived> class lists_of {
public:
    template <class T = std::string>
    decltype(auto) blmove(key_view source, key_view target, list_end from, list_end to, impl::wait_time limit) {
        return static_cast<Derived&>(*this).call(cmd::blmove<T>(source, target, from, to, limit));
    }
    template <class T = std::string>
    decltype(auto) blmpop(impl::wait_time limit, keys_view keys, list_end from, std::int64_t count = 1) {
        return static_cast<Derived&>(*this).call(cmd::blmpop<T>(limit, keys, from, count));
    }
    template <class T = std::string> decltype(auto) blpop(keys_view keys, impl::wait_time limit) {
        return static_cast<Derived&>(*this).call(cmd::blpop<T>(keys, limit));
    }
    template <class T = std::string> decltype(auto) brpop(keys_view keys, impl::wait_time limit) {
        return static_cast<Derived&>(*this).call(cmd::brpop<T>(keys, limit));
    }
    template <class T = std::string> decltype(auto) lindex(key_view key, std::int64_t index) {
        return static_cast<Derived&>(*this).call(cmd::lindex<T>(key, index));
    }
    decltype(auto) linsert(key_view key, list_place place, value_view pivot, value_view element) {
        return static_cast<Derived&>(*this).call(cmd::linsert(key, place, pivot, element));
    }
    decltype(auto) llen(key_view key) { return static_cast<Derived&>(*this).call(cmd::llen(key)); }
    template <class T = std::string>
    decltype(auto) lmove(key_view source, key_view target, list_end from, list_end to) {
        return static_cast<Derived&>(*this).call(cmd::lmove<T>(source, target, from, to));
    }
    template <class T = std::string> decltype(auto) lmpop(keys_view keys, list_end from, std::int64_t count = 1) {
        return static_cast<Derived&>(*this).call(cmd::lmpop<T>(keys, from, count));
    }
    template <class T = std::string> decltype(auto) lpop(key_view key) {
        return static_cast<Derived&>(*this).call(cmd::lpop<T>(key));
    }
    template <class T = std::string> decltype(auto) lpop(key_view key, std::int64_t count) {
        return static_cast<Derived&>(*this).call(cmd::lpop<T>(key, count));
    }
    template <class... Option> decltype(auto) lpos(key_view key, value_view element, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::lpos(key, element, option...));
    }
    decltype(auto) lpush(key_view key, values_view elements) {
        return static_cast<Derived&>(*this).call(cmd::lpush(key, elements));
    }
    template <class... More>
    decltype(auto) lpush(key_view key, value_view first, value_view second, More const&... more) {
        return static_cast<Derived&>(*this).call(cmd::lpush(key, first, second, more...));
    }
    decltype(auto) lpushx(key_view key, values_view elements) {
        return static_cast<Derived&>(*this).call(cmd::lpushx(key, elements));
    }
    template <class... More>
    decltype(auto) lpushx(key_view key, value_view first, value_view second, More const&... more) {
        return static_cast<Derived&>(*this).call(cmd::lpushx(key, first, second, more...));
    }
    template <class T = std::string> decltype(auto) lrange(key_view key, std::int64_t first, std::int64_t last) {
        return static_cast<Derived&>(*this).call(cmd::lrange<T>(key, first, last));
    }
    decltype(auto) lrem(key_view key, std::int64_t count, value_view element) {
        return static_cast<Derived&>(*this).call(cmd::lrem(key, count, element));
    }
    decltype(auto) lset(key_view key, std::int64_t index, value_view element) {
        return static_cast<Derived&>(*this).call(cmd::lset(key, index, element));
    }
    decltype(auto) ltrim(key_view key, std::int64_t first, std::int64_t last) {
        return static_cast<Derived&>(*this).call(cmd::ltrim(key, first, last));
    }
    template <class T = std::string> decltype(auto) rpop(key_view key) {
        return static_cast<Derived&>(*this).call(cmd::rpop<T>(key));
    }
    template <class T = std::string> decltype(auto) rpop(key_view key, std::int64_t count) {
        return static_cast<Derived&>(*this).call(cmd::rpop<T>(key, count));
    }
    decltype(auto) rpush(key_view key, values_view elements) {
        return static_cast<Derived&>(*this).call(cmd::rpush(key, elements));
    }
    template <class... More>
    decltype(auto) rpush(key_view key, value_view first, value_view second, More const&... more) {
        return static_cast<Derived&>(*this).call(cmd::rpush(key, first, second, more...));
    }
    decltype(auto) rpushx(key_view key, values_view elements) {
        return static_cast<Derived&>(*this).call(cmd::rpushx(key, elements));
    }
    template <class... More>
    decltype(auto) rpushx(key_view key, value_view first, value_view second, More const&... more) {
        return static_cast<Derived&>(*this).call(cmd::rpushx(key, first, second, more...));
    }

protected:
    lists_of() = default;
    ~lists_of() = default;
    lists_of(lists_of const&) = default;
    lists_of& operator=(lists_of const&) = default;
};

} // namespace fairlead::redis
