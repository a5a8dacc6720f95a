// The commands of cmd/hashes.hpp as members. Made by tools/redis_members.py --write; not to be edited.
#pragma once

#include <fairlead/redis/cmd/hashes.hpp>

namespace fairlead::redis {

/// The functions of cmd/hashes.hpp as members of Derived, whose call(command) executes a command.
template <class Derived> class hashes_of {
public:
    decltype(auto) hdel(key_view key, values_view fields) {
        return static_cast<Derived&>(*this).call(cmd::hdel(key, fields));
    }
    template <class... More>
    decltype(auto) hdel(key_view key, value_view first, value_view second, More const&... more) {
        return static_cast<Derived&>(*this).call(cmd::hdel(key, first, second, more...));
    }
    decltype(auto) hexists(key_view key, value_view field) {
        return static_cast<Derived&>(*this).call(cmd::hexists(key, field));
    }
    template <class T = std::string> decltype(auto) hget(key_view key, value_view field) {
        return static_cast<Derived&>(*this).call(cmd::hget<T>(key, field));
    }
    template <class Map = std::map<std::string, std::string>> decltype(auto) hgetall(key_view key) {
        return static_cast<Derived&>(*this).call(cmd::hgetall<Map>(key));
    }
    decltype(auto) hincrby(key_view key, value_view field, std::int64_t by) {
        return static_cast<Derived&>(*this).call(cmd::hincrby(key, field, by));
    }
    decltype(auto) hincrbyfloat(key_view key, value_view field, double by) {
        return static_cast<Derived&>(*this).call(cmd::hincrbyfloat(key, field, by));
    }
    decltype(auto) hkeys(key_view key) { return static_cast<Derived&>(*this).call(cmd::hkeys(key)); }
    decltype(auto) hlen(key_view key) { return static_cast<Derived&>(*this).call(cmd::hlen(key)); }
    template <class T = std::string> decltype(auto) hmget(key_view key, values_view fields) {
        return static_cast<Derived&>(*this).call(cmd::hmget<T>(key, fields));
    }
    template <class T = std::string, class... More>
    decltype(auto) hmget(key_view key, value_view first, value_view second, More const&... more) {
        return static_cast<Derived&>(*this).call(cmd::hmget<T>(key, first, second, more...));
    }
    template <impl::described_type T> decltype(auto) hmget(key_view key) {
        return static_cast<Derived&>(*this).call(cmd::hmget<T>(key));
    }
    decltype(auto) hrandfield(key_view key) { return static_cast<Derived&>(*this).call(cmd::hrandfield(key)); }
    template <class T = std::string, class... Option>
    decltype(auto) hrandfield(key_view key, std::int64_t n, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::hrandfield<T>(key, n, option...));
    }
    template <class T = std::string, class... Option>
    decltype(auto) hscan(key_view key, std::uint64_t cursor, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::hscan<T>(key, cursor, option...));
    }
    decltype(auto) hset(key_view key, value_view field, value_view value) {
        return static_cast<Derived&>(*this).call(cmd::hset(key, field, value));
    }
    decltype(auto) hset(key_view key, fields_view fields) {
        return static_cast<Derived&>(*this).call(cmd::hset(key, fields));
    }
    template <class... More>
    decltype(auto) hset(key_view key, value_view field, value_view value, More const&... more) {
        return static_cast<Derived&>(*this).call(cmd::hset(key, field, value, more...));
    }
    decltype(auto) hsetnx(key_view key, value_view field, value_view value) {
        return static_cast<Derived&>(*this).call(cmd::hsetnx(key, field, value));
    }
    decltype(auto) hstrlen(key_view key, value_view field) {
        return static_cast<Derived&>(*this).call(cmd::hstrlen(key, field));
    }
    template <class T = std::string> decltype(auto) hvals(key_view key) {
        return static_cast<Derived&>(*this).call(cmd::hvals<T>(key));
    }
    template <class... Option>
    decltype(auto) hexpire(key_view key, impl::seconds_view after, values_view fields, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::hexpire(key, after, fields, option...));
    }
    template <class... Option>
    decltype(auto) hexpireat(key_view key, impl::instant_s at, values_view fields, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::hexpireat(key, at, fields, option...));
    }
    decltype(auto) hexpiretime(key_view key, values_view fields) {
        return static_cast<Derived&>(*this).call(cmd::hexpiretime(key, fields));
    }
    decltype(auto) hpersist(key_view key, values_view fields) {
        return static_cast<Derived&>(*this).call(cmd::hpersist(key, fields));
    }
    template <class... Option>
    decltype(auto) hpexpire(key_view key, impl::milliseconds_view after, values_view fields, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::hpexpire(key, after, fields, option...));
    }
    template <class... Option>
    decltype(auto) hpexpireat(key_view key, impl::instant_ms at, values_view fields, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::hpexpireat(key, at, fields, option...));
    }
    decltype(auto) hpexpiretime(key_view key, values_view fields) {
        return static_cast<Derived&>(*this).call(cmd::hpexpiretime(key, fields));
    }
    decltype(auto) hpttl(key_view key, values_view fields) {
        return static_cast<Derived&>(*this).call(cmd::hpttl(key, fields));
    }
    decltype(auto) httl(key_view key, values_view fields) {
        return static_cast<Derived&>(*this).call(cmd::httl(key, fields));
    }
    template <class T = std::string> decltype(auto) hgetdel(key_view key, values_view fields) {
        return static_cast<Derived&>(*this).call(cmd::hgetdel<T>(key, fields));
    }
    template <class T = std::string, class... More>
    decltype(auto) hgetdel(key_view key, value_view first, value_view second, More const&... more) {
        return static_cast<Derived&>(*this).call(cmd::hgetdel<T>(key, first, second, more...));
    }
    template <class T = std::string, class... Option>
    decltype(auto) hgetex(key_view key, values_view fields, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::hgetex<T>(key, fields, option...));
    }
    template <class... Option> decltype(auto) hsetex(key_view key, fields_view fields, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::hsetex(key, fields, option...));
    }

protected:
    hashes_of() = default;
    ~hashes_of() = default;
    hashes_of(hashes_of const&) = default;
    hashes_of& operator=(hashes_of const&) = default;
};

} // namespace fairlead::redis
