// The commands of cmd/keys.hpp as members. Made by tools/redis_members.py --write; not to be edited.
#pragma once

#include <fairlead/redis/cmd/keys.hpp>

namespace fairlead::redis {

/// The functions of cmd/keys.hpp as members of Derived, whose call(command) executes a command.
template <class Derived> class keys_of {
public:
    template <class... Option> decltype(auto) copy(key_view source, key_view target, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::copy(source, target, option...));
    }
    decltype(auto) del(keys_view keys) { return static_cast<Derived&>(*this).call(cmd::del(keys)); }
    template <class... More> decltype(auto) del(key_view first, key_view second, More const&... more) {
        return static_cast<Derived&>(*this).call(cmd::del(first, second, more...));
    }
    decltype(auto) dump(key_view key) { return static_cast<Derived&>(*this).call(cmd::dump(key)); }
    decltype(auto) exists(keys_view keys) { return static_cast<Derived&>(*this).call(cmd::exists(keys)); }
    template <class... More> decltype(auto) exists(key_view first, key_view second, More const&... more) {
        return static_cast<Derived&>(*this).call(cmd::exists(first, second, more...));
    }
    template <class... Option> decltype(auto) expire(key_view key, impl::seconds_view after, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::expire(key, after, option...));
    }
    template <class... Option> decltype(auto) expireat(key_view key, impl::instant_s at, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::expireat(key, at, option...));
    }
    decltype(auto) expiretime(key_view key) { return static_cast<Derived&>(*this).call(cmd::expiretime(key)); }
    decltype(auto) keys(value_view pattern) { return static_cast<Derived&>(*this).call(cmd::keys(pattern)); }
    decltype(auto) move(key_view key, std::int64_t db) { return static_cast<Derived&>(*this).call(cmd::move(key, db)); }
    decltype(auto) object_encoding(key_view key) {
        return static_cast<Derived&>(*this).call(cmd::object_encoding(key));
    }
    decltype(auto) object_freq(key_view key) { return static_cast<Derived&>(*this).call(cmd::object_freq(key)); }
    decltype(auto) object_idletime(key_view key) {
        return static_cast<Derived&>(*this).call(cmd::object_idletime(key));
    }
    decltype(auto) object_refcount(key_view key) {
        return static_cast<Derived&>(*this).call(cmd::object_refcount(key));
    }
    decltype(auto) persist(key_view key) { return static_cast<Derived&>(*this).call(cmd::persist(key)); }
    template <class... Option>
    decltype(auto) pexpire(key_view key, impl::milliseconds_view after, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::pexpire(key, after, option...));
    }
    template <class... Option> decltype(auto) pexpireat(key_view key, impl::instant_ms at, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::pexpireat(key, at, option...));
    }
    decltype(auto) pexpiretime(key_view key) { return static_cast<Derived&>(*this).call(cmd::pexpiretime(key)); }
    decltype(auto) pttl(key_view key) { return static_cast<Derived&>(*this).call(cmd::pttl(key)); }
    decltype(auto) randomkey() { return static_cast<Derived&>(*this).call(cmd::randomkey()); }
    decltype(auto) rename(key_view source, key_view target) {
        return static_cast<Derived&>(*this).call(cmd::rename(source, target));
    }
    decltype(auto) renamenx(key_view source, key_view target) {
        return static_cast<Derived&>(*this).call(cmd::renamenx(source, target));
    }
    template <class... Option>
    decltype(auto) restore(key_view key, impl::milliseconds_view expiry, value_view dumped, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::restore(key, expiry, dumped, option...));
    }
    template <class... Option> decltype(auto) scan(std::uint64_t cursor, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::scan(cursor, option...));
    }
    template <class T = std::string, class... Option> decltype(auto) sort(key_view key, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::sort<T>(key, option...));
    }
    template <class T = std::string, class... Option> decltype(auto) sort_ro(key_view key, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::sort_ro<T>(key, option...));
    }
    template <class... Option> decltype(auto) sort_store(key_view key, key_view target, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::sort_store(key, target, option...));
    }
    decltype(auto) touch(keys_view keys) { return static_cast<Derived&>(*this).call(cmd::touch(keys)); }
    template <class... More> decltype(auto) touch(key_view first, key_view second, More const&... more) {
        return static_cast<Derived&>(*this).call(cmd::touch(first, second, more...));
    }
    decltype(auto) ttl(key_view key) { return static_cast<Derived&>(*this).call(cmd::ttl(key)); }
    decltype(auto) type(key_view key) { return static_cast<Derived&>(*this).call(cmd::type(key)); }
    decltype(auto) unlink(keys_view keys) { return static_cast<Derived&>(*this).call(cmd::unlink(keys)); }
    template <class... More> decltype(auto) unlink(key_view first, key_view second, More const&... more) {
        return static_cast<Derived&>(*this).call(cmd::unlink(first, second, more...));
    }

protected:
    keys_of() = default;
    ~keys_of() = default;
    keys_of(keys_of const&) = default;
    keys_of& operator=(keys_of const&) = default;
};

} // namespace fairlead::redis
