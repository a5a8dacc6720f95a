// The commands of cmd/strings.hpp as members. Made by tools/redis_members.py --write; not to be edited.
#pragma once

#include <fairlead/redis/cmd/strings.hpp>

namespace fairlead::redis {

/// The functions of cmd/strings.hpp as members of Derived, whose call(command) executes a command.
template <class Derived> class strings_of {
public:
    decltype(auto) append(key_view key, value_view value) {
        return static_cast<Derived&>(*this).call(cmd::append(key, value));
    }
    decltype(auto) decr(key_view key) { return static_cast<Derived&>(*this).call(cmd::decr(key)); }
    decltype(auto) decrby(key_view key, std::int64_t by) {
        return static_cast<Derived&>(*this).call(cmd::decrby(key, by));
    }
    template <class T = std::string> decltype(auto) get(key_view key) {
        return static_cast<Derived&>(*this).call(cmd::get<T>(key));
    }
    template <class T = std::string> decltype(auto) getdel(key_view key) {
        return static_cast<Derived&>(*this).call(cmd::getdel<T>(key));
    }
    template <class T = std::string, class... Option> decltype(auto) getex(key_view key, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::getex<T>(key, option...));
    }
    decltype(auto) get_into(key_view key, std::span<char> memory) {
        return static_cast<Derived&>(*this).call(cmd::get_into(key, memory));
    }
    decltype(auto) getrange(key_view key, std::int64_t first, std::int64_t last) {
        return static_cast<Derived&>(*this).call(cmd::getrange(key, first, last));
    }
    template <class T = std::string> decltype(auto) getset(key_view key, value_view value) {
        return static_cast<Derived&>(*this).call(cmd::getset<T>(key, value));
    }
    decltype(auto) incr(key_view key) { return static_cast<Derived&>(*this).call(cmd::incr(key)); }
    decltype(auto) incrby(key_view key, std::int64_t by) {
        return static_cast<Derived&>(*this).call(cmd::incrby(key, by));
    }
    decltype(auto) incrbyfloat(key_view key, double by) {
        return static_cast<Derived&>(*this).call(cmd::incrbyfloat(key, by));
    }
    decltype(auto) lcs(key_view first, key_view second) {
        return static_cast<Derived&>(*this).call(cmd::lcs(first, second));
    }
    decltype(auto) lcs_length(key_view first, key_view second) {
        return static_cast<Derived&>(*this).call(cmd::lcs_length(first, second));
    }
    template <class T = std::string> decltype(auto) mget(keys_view keys) {
        return static_cast<Derived&>(*this).call(cmd::mget<T>(keys));
    }
    template <class T = std::string, class... More>
    decltype(auto) mget(key_view first, key_view second, More const&... more) {
        return static_cast<Derived&>(*this).call(cmd::mget<T>(first, second, more...));
    }
    decltype(auto) mset(fields_view values) { return static_cast<Derived&>(*this).call(cmd::mset(values)); }
    template <class... More> decltype(auto) mset(key_view key, value_view value, More const&... more) {
        return static_cast<Derived&>(*this).call(cmd::mset(key, value, more...));
    }
    decltype(auto) msetnx(fields_view values) { return static_cast<Derived&>(*this).call(cmd::msetnx(values)); }
    template <class... More> decltype(auto) msetnx(key_view key, value_view value, More const&... more) {
        return static_cast<Derived&>(*this).call(cmd::msetnx(key, value, more...));
    }
    decltype(auto) psetex(key_view key, impl::milliseconds_view expiry, value_view value) {
        return static_cast<Derived&>(*this).call(cmd::psetex(key, expiry, value));
    }
    template <class T = std::string, class... Option>
    decltype(auto) set(key_view key, value_view value, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::set<T>(key, value, option...));
    }
    decltype(auto) setex(key_view key, impl::seconds_view expiry, value_view value) {
        return static_cast<Derived&>(*this).call(cmd::setex(key, expiry, value));
    }
    decltype(auto) setnx(key_view key, value_view value) {
        return static_cast<Derived&>(*this).call(cmd::setnx(key, value));
    }
    decltype(auto) setrange(key_view key, std::int64_t offset, value_view value) {
        return static_cast<Derived&>(*this).call(cmd::setrange(key, offset, value));
    }
    decltype(auto) strlen(key_view key) { return static_cast<Derived&>(*this).call(cmd::strlen(key)); }

protected:
    strings_of() = default;
    ~strings_of() = default;
    strings_of(strings_of const&) = default;
    strings_of& operator=(strings_of const&) = default;
};

} // namespace fairlead::redis
