// Commands of keys, whatever is behind them. A template argument is the type of one value in the result.
#pragma once

#include <fairlead/redis/cmd/results.hpp>
#include <fairlead/redis/options.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fairlead::redis::cmd {

/// COPY: whether it was copied. It has the options db and replace.
template <class... Option> command<bool> copy(key_view source, key_view target, Option const&... option) {
    using known = impl::options_of<options::db, options::replace_t>;
    constexpr bool is_known = known::include<Option...>;
    static_assert(is_known, "COPY has the options db and replace");
    impl::check_options<Option...>();
    return impl::make<bool>("COPY", {source, target, impl::part_of(option)...});
}
/// DEL: how many there were.
inline command<std::int64_t> del(keys_view keys) { return impl::make<std::int64_t>("DEL", {keys}); }
/// DEL of two keys and more.
template <class... More> command<std::int64_t> del(key_view first, key_view second, More const&... more) {
    return del({first, second, key_view(more)...});
}
/// DUMP: the value, serialised for RESTORE, or nothing.
inline command<std::optional<std::string>> dump(key_view key) {
    return impl::make<std::optional<std::string>>("DUMP", {key});
}
/// EXISTS: how many there are; one that is named twice counts twice.
inline command<std::int64_t> exists(keys_view keys) { return impl::make<std::int64_t>("EXISTS", {keys}); }
/// EXISTS of two keys and more.
template <class... More> command<std::int64_t> exists(key_view first, key_view second, More const&... more) {
    return exists({first, second, key_view(more)...});
}
/// EXPIRE: whether it was set. It has the options nx, xx, gt and lt.
template <class... Option> command<bool> expire(key_view key, impl::seconds_view after, Option const&... option) {
    constexpr bool is_known = impl::conditions::include<Option...>;
    static_assert(is_known, "EXPIRE has the options nx, xx, gt and lt");
    impl::check_conditions<Option...>();
    return impl::make<bool>("EXPIRE", {key, value_view(after.count()), impl::part_of(option)...});
}
/// EXPIREAT: whether it was set. It has the options nx, xx, gt and lt.
template <class... Option> command<bool> expireat(key_view key, impl::instant_s at, Option const&... option) {
    constexpr bool is_known = impl::conditions::include<Option...>;
    static_assert(is_known, "EXPIREAT has the options nx, xx, gt and lt");
    impl::check_conditions<Option...>();
    return impl::make<bool>("EXPIREAT", {key, value_view(at.count()), impl::part_of(option)...});
}
/// EXPIRETIME: the time at which the key expires.
inline command<expiry<std::chrono::sys_seconds>> expiretime(key_view key) {
    return impl::make<expiry<std::chrono::sys_seconds>>("EXPIRETIME", {key});
}
/// KEYS: all keys that match; the server does nothing else meanwhile. See scan().
inline command<std::vector<std::string>> keys(value_view pattern) {
    return impl::make<std::vector<std::string>>("KEYS", {pattern});
}
/// MOVE: whether the key was moved to another database.
inline command<bool> move(key_view key, std::int64_t db) { return impl::make<bool>("MOVE", {key, value_view(db)}); }
/// OBJECT ENCODING: how the server stores the value, or nothing.
inline command<std::optional<std::string>> object_encoding(key_view key) {
    return impl::make<std::optional<std::string>>("OBJECT", {"ENCODING", key});
}
/// OBJECT FREQ: how often the key is used, on a logarithmic scale; servers that evict by that only.
inline command<std::optional<std::int64_t>> object_freq(key_view key) {
    return impl::make<std::optional<std::int64_t>>("OBJECT", {"FREQ", key});
}
/// OBJECT IDLETIME: the seconds since the last use.
inline command<std::optional<std::int64_t>> object_idletime(key_view key) {
    return impl::make<std::optional<std::int64_t>>("OBJECT", {"IDLETIME", key});
}
/// OBJECT REFCOUNT: how many references the value has.
inline command<std::optional<std::int64_t>> object_refcount(key_view key) {
    return impl::make<std::optional<std::int64_t>>("OBJECT", {"REFCOUNT", key});
}
/// PERSIST: whether the key had an expiry, which it has no more.
inline command<bool> persist(key_view key) { return impl::make<bool>("PERSIST", {key}); }
/// PEXPIRE: whether it was set. It has the options nx, xx, gt and lt.
template <class... Option> command<bool> pexpire(key_view key, impl::milliseconds_view after, Option const&... option) {
    constexpr bool is_known = impl::conditions::include<Option...>;
    static_assert(is_known, "PEXPIRE has the options nx, xx, gt and lt");
    impl::check_conditions<Option...>();
    return impl::make<bool>("PEXPIRE", {key, value_view(after.count()), impl::part_of(option)...});
}
/// PEXPIREAT: whether it was set. It has the options nx, xx, gt and lt.
template <class... Option> command<bool> pexpireat(key_view key, impl::instant_ms at, Option const&... option) {
    constexpr bool is_known = impl::conditions::include<Option...>;
    static_assert(is_known, "PEXPIREAT has the options nx, xx, gt and lt");
    impl::check_conditions<Option...>();
    return impl::make<bool>("PEXPIREAT", {key, value_view(at.count()), impl::part_of(option)...});
}
/// PEXPIRETIME: the time at which the key expires.
inline command<expiry<std::chrono::sys_time<std::chrono::milliseconds>>> pexpiretime(key_view key) {
    return impl::make<expiry<std::chrono::sys_time<std::chrono::milliseconds>>>("PEXPIRETIME", {key});
}
/// PTTL: how long the key will live.
inline command<expiry<std::chrono::milliseconds>> pttl(key_view key) {
    return impl::make<expiry<std::chrono::milliseconds>>("PTTL", {key});
}
/// RANDOMKEY: one of the keys, or nothing.
inline command<std::optional<std::string>> randomkey() {
    return impl::make<std::optional<std::string>>("RANDOMKEY", {});
}
/// RENAME: over what is there; an error without the first key.
inline command<ignore_t> rename(key_view source, key_view target) {
    return impl::make<ignore_t>("RENAME", {source, target});
}
/// RENAMENX: false when the second key is there.
inline command<bool> renamenx(key_view source, key_view target) {
    return impl::make<bool>("RENAMENX", {source, target});
}
/// RESTORE: a value as dump() gives it; 0ms is no expiry. It has the option replace.
template <class... Option>
command<ignore_t> restore(key_view key, impl::milliseconds_view expiry, value_view dumped, Option const&... option) {
    constexpr bool is_known = impl::options_of<options::replace_t>::include<Option...>;
    static_assert(is_known, "RESTORE has the option replace");
    impl::check_options<Option...>();
    return impl::make<ignore_t>("RESTORE", {key, value_view(expiry.count()), dumped, impl::part_of(option)...});
}
/// SCAN: a page of keys, from a cursor on, which is 0 at first. It has the options match, count and of_type.
template <class... Option> command<scan_page<std::string>> scan(std::uint64_t cursor, Option const&... option) {
    using known = impl::options_of<options::match, options::count, options::of_type>;
    constexpr bool is_known = known::include<Option...>;
    static_assert(is_known, "SCAN has the options match, count and of_type");
    impl::check_options<Option...>();
    return impl::make<scan_page<std::string>>("SCAN", {value_view(cursor), impl::part_of(option)...});
}
/// SORT: the elements of a list, a set or a sorted set in order. It has the options by, limit, asc, desc and alpha.
template <class T = std::string, class... Option> command<std::vector<T>> sort(key_view key, Option const&... option) {
    using known = impl::options_of<options::by, options::limit, options::asc_t, options::desc_t, options::alpha_t>;
    constexpr bool is_known = known::include<Option...>;
    static_assert(is_known, "SORT has the options by, limit, asc, desc and alpha");
    impl::check_options<Option...>();
    return impl::make<std::vector<T>>("SORT", {key, impl::part_of(option)...});
}
/// SORT_RO: as sort(), also for replicas.
template <class T = std::string, class... Option>
command<std::vector<T>> sort_ro(key_view key, Option const&... option) {
    using known = impl::options_of<options::by, options::limit, options::asc_t, options::desc_t, options::alpha_t>;
    constexpr bool is_known = known::include<Option...>;
    static_assert(is_known, "SORT_RO has the options by, limit, asc, desc and alpha");
    impl::check_options<Option...>();
    return impl::make<std::vector<T>>("SORT_RO", {key, impl::part_of(option)...});
}
/// SORT with STORE: how many elements the list at `target` then has. It has the options of sort().
template <class... Option> command<std::int64_t> sort_store(key_view key, key_view target, Option const&... option) {
    using known = impl::options_of<options::by, options::limit, options::asc_t, options::desc_t, options::alpha_t>;
    constexpr bool is_known = known::include<Option...>;
    static_assert(is_known, "SORT has the options by, limit, asc, desc and alpha");
    impl::check_options<Option...>();
    return impl::make<std::int64_t>("SORT", {key, impl::part_of(option)..., "STORE", target});
}
/// TOUCH: how many there are; they count as used.
inline command<std::int64_t> touch(keys_view keys) { return impl::make<std::int64_t>("TOUCH", {keys}); }
/// TOUCH of two keys and more.
template <class... More> command<std::int64_t> touch(key_view first, key_view second, More const&... more) {
    return touch({first, second, key_view(more)...});
}
/// TTL: how long the key will live.
inline command<expiry<std::chrono::seconds>> ttl(key_view key) {
    return impl::make<expiry<std::chrono::seconds>>("TTL", {key});
}
/// TYPE: "string", "hash" and so on; "none" without the key.
inline command<std::string> type(key_view key) { return impl::make<std::string>("TYPE", {key}); }
/// UNLINK: how many there were; their memory is freed in the background.
inline command<std::int64_t> unlink(keys_view keys) { return impl::make<std::int64_t>("UNLINK", {keys}); }
/// UNLINK of two keys and more.
template <class... More> command<std::int64_t> unlink(key_view first, key_view second, More const&... more) {
    return unlink({first, second, key_view(more)...});
}

} // namespace fairlead::redis::cmd
