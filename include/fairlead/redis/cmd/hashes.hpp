// Commands of hashes. A template argument is the type of one value; of hgetall() it is the container.
#pragma once

#include <fairlead/redis/cmd/results.hpp>
#include <fairlead/redis/options.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::redis::impl {

template <described_type T> error_code read_row(reply_reader& in, void* value);

} // namespace fairlead::redis::impl

namespace fairlead::redis::cmd {

/// HDEL: how many fields there were.
inline command<std::int64_t> hdel(key_view key, values_view fields) {
    return impl::make<std::int64_t>("HDEL", {key, fields});
}
/// HDEL of two fields and more.
template <class... More>
command<std::int64_t> hdel(key_view key, value_view first, value_view second, More const&... more) {
    return hdel(key, {first, second, value_view(more)...});
}
/// HEXISTS: whether the field is there.
inline command<bool> hexists(key_view key, value_view field) { return impl::make<bool>("HEXISTS", {key, field}); }
/// HGET: the value, or nothing.
template <class T = std::string> command<std::optional<T>> hget(key_view key, value_view field) {
    return impl::make<std::optional<T>>("HGET", {key, field});
}
/// HGETALL: all fields and their values, in any map, sequence of pairs, or type of your own. Empty without the key.
template <class Map = std::map<std::string, std::string>> command<Map> hgetall(key_view key) {
    return impl::make<Map>("HGETALL", {key});
}
/// HINCRBY: the number afterwards.
inline command<std::int64_t> hincrby(key_view key, value_view field, std::int64_t by) {
    return impl::make<std::int64_t>("HINCRBY", {key, field, value_view(by)});
}
/// HINCRBYFLOAT: the number afterwards.
inline command<double> hincrbyfloat(key_view key, value_view field, double by) {
    return impl::make<double>("HINCRBYFLOAT", {key, field, value_view(by)});
}
/// HKEYS: the names of all fields.
inline command<std::vector<std::string>> hkeys(key_view key) {
    return impl::make<std::vector<std::string>>("HKEYS", {key});
}
/// HLEN: how many fields there are.
inline command<std::int64_t> hlen(key_view key) { return impl::make<std::int64_t>("HLEN", {key}); }
/// HMGET: a value or nothing for each field, in their order.
template <class T = std::string> command<std::vector<std::optional<T>>> hmget(key_view key, values_view fields) {
    return impl::make<std::vector<std::optional<T>>>("HMGET", {key, fields});
}
/// HMGET of two fields and more.
template <class T = std::string, class... More>
command<std::vector<std::optional<T>>> hmget(key_view key, value_view first, value_view second, More const&... more) {
    return hmget<T>(key, {first, second, value_view(more)...});
}
/// HMGET of the fields of a described struct (redis/described.hpp): nothing when none of them is there.
template <impl::described_type T> command<std::optional<T>> hmget(key_view key) {
    impl::argument_list const names{nullptr, impl::count_field_names<T>(), &impl::append_field_names<T>};
    return impl::make<std::optional<T>>("HMGET", {key, names}, &impl::read_row<T>);
}
/// HRANDFIELD: the name of one of the fields, or nothing.
inline command<std::optional<std::string>> hrandfield(key_view key) {
    return impl::make<std::optional<std::string>>("HRANDFIELD", {key});
}
/// HRANDFIELD: the names of several fields. A negative n may give one more than once. With with_values: pairs.
template <class T = std::string, class... Option>
auto hrandfield(key_view key, std::int64_t n, Option const&... option) {
    constexpr bool is_known = impl::options_of<options::with_values_t>::include<Option...>;
    static_assert(is_known, "HRANDFIELD has the option with_values");
    impl::check_options<Option...>();
    if constexpr (sizeof...(Option) != 0)
        return impl::make<std::vector<std::pair<std::string, T>>>("HRANDFIELD",
                                                                  {key, value_view(n), impl::part_of(option)...});
    else
        return impl::make<std::vector<std::string>>("HRANDFIELD", {key, value_view(n)});
}
/// HSCAN: a page of fields and values, from a cursor on, which is 0 at first. It has the options match and count.
template <class T = std::string, class... Option>
command<scan_page<std::pair<std::string, T>>> hscan(key_view key, std::uint64_t cursor, Option const&... option) {
    using known = impl::options_of<options::match, options::count>;
    constexpr bool is_known = known::include<Option...>;
    static_assert(is_known, "HSCAN has the options match and count");
    impl::check_options<Option...>();
    return impl::make<scan_page<std::pair<std::string, T>>>("HSCAN",
                                                            {key, value_view(cursor), impl::part_of(option)...});
}
/// HSET: how many of the fields are new.
inline command<std::int64_t> hset(key_view key, value_view field, value_view value) {
    return impl::make<std::int64_t>("HSET", {key, field, value});
}
/// HSET: how many of the fields are new.
inline command<std::int64_t> hset(key_view key, fields_view fields) {
    return impl::make<std::int64_t>("HSET", {key, fields});
}
/// HSET: `hset("user:1", "name", "ann", "age", 7)`.
template <class... More>
command<std::int64_t> hset(key_view key, value_view field, value_view value, More const&... more) {
    impl::check_pairs<More...>();
    return impl::make<std::int64_t>("HSET", {key, values_view{field, value, value_view(more)...}});
}
/// HSETNX: false when the field is there.
inline command<bool> hsetnx(key_view key, value_view field, value_view value) {
    return impl::make<bool>("HSETNX", {key, field, value});
}
/// HSTRLEN: the length of a value, 0 without the field.
inline command<std::int64_t> hstrlen(key_view key, value_view field) {
    return impl::make<std::int64_t>("HSTRLEN", {key, field});
}
/// HVALS: the values of all fields.
template <class T = std::string> command<std::vector<T>> hvals(key_view key) {
    return impl::make<std::vector<T>>("HVALS", {key});
}

// Fields that expire: Redis 7.4, Valkey 9.

/// HEXPIRE: for each field -2 not there, 0 the condition was not met, 1 set, 2 deleted. Options nx, xx, gt and lt.
template <class... Option>
command<std::vector<int>> hexpire(key_view key, impl::seconds_view after, values_view fields, Option const&... option) {
    constexpr bool is_known = impl::conditions::include<Option...>;
    static_assert(is_known, "HEXPIRE has the options nx, xx, gt and lt");
    impl::check_conditions<Option...>();
    return impl::make<std::vector<int>>(
        "HEXPIRE",
        {key, value_view(after.count()), impl::part_of(option)..., "FIELDS", value_view(fields.size()), fields},
        &impl::read_list_or_null<std::vector<int>>);
}
/// HEXPIREAT: as hexpire(), at a time.
template <class... Option>
command<std::vector<int>> hexpireat(key_view key, impl::instant_s at, values_view fields, Option const&... option) {
    constexpr bool is_known = impl::conditions::include<Option...>;
    static_assert(is_known, "HEXPIREAT has the options nx, xx, gt and lt");
    impl::check_conditions<Option...>();
    return impl::make<std::vector<int>>(
        "HEXPIREAT",
        {key, value_view(at.count()), impl::part_of(option)..., "FIELDS", value_view(fields.size()), fields},
        &impl::read_list_or_null<std::vector<int>>);
}
/// HEXPIRETIME: for each field the time at which it expires.
inline command<std::vector<expiry<std::chrono::sys_seconds>>> hexpiretime(key_view key, values_view fields) {
    using list = std::vector<expiry<std::chrono::sys_seconds>>;
    return impl::make<list>("HEXPIRETIME", {key, "FIELDS", value_view(fields.size()), fields},
                            &impl::read_list_or_null<list>);
}
/// HPERSIST: for each field -2 not there, -1 it had no expiry, 1 it has none any more.
inline command<std::vector<int>> hpersist(key_view key, values_view fields) {
    return impl::make<std::vector<int>>("HPERSIST", {key, "FIELDS", value_view(fields.size()), fields},
                                        &impl::read_list_or_null<std::vector<int>>);
}
/// HPEXPIRE: as hexpire(), in milliseconds.
template <class... Option> command<std::vector<int>> hpexpire(key_view key, impl::milliseconds_view after,
                                                              values_view fields, Option const&... option) {
    constexpr bool is_known = impl::conditions::include<Option...>;
    static_assert(is_known, "HPEXPIRE has the options nx, xx, gt and lt");
    impl::check_conditions<Option...>();
    return impl::make<std::vector<int>>(
        "HPEXPIRE",
        {key, value_view(after.count()), impl::part_of(option)..., "FIELDS", value_view(fields.size()), fields},
        &impl::read_list_or_null<std::vector<int>>);
}
/// HPEXPIREAT: as hexpire(), at a time in milliseconds.
template <class... Option>
command<std::vector<int>> hpexpireat(key_view key, impl::instant_ms at, values_view fields, Option const&... option) {
    constexpr bool is_known = impl::conditions::include<Option...>;
    static_assert(is_known, "HPEXPIREAT has the options nx, xx, gt and lt");
    impl::check_conditions<Option...>();
    return impl::make<std::vector<int>>(
        "HPEXPIREAT",
        {key, value_view(at.count()), impl::part_of(option)..., "FIELDS", value_view(fields.size()), fields},
        &impl::read_list_or_null<std::vector<int>>);
}
/// HPEXPIRETIME: for each field the time at which it expires.
inline command<std::vector<expiry<std::chrono::sys_time<std::chrono::milliseconds>>>> hpexpiretime(key_view key,
                                                                                                   values_view fields) {
    using list = std::vector<expiry<std::chrono::sys_time<std::chrono::milliseconds>>>;
    return impl::make<list>("HPEXPIRETIME", {key, "FIELDS", value_view(fields.size()), fields},
                            &impl::read_list_or_null<list>);
}
/// HPTTL: how long each field will live.
inline command<std::vector<expiry<std::chrono::milliseconds>>> hpttl(key_view key, values_view fields) {
    using list = std::vector<expiry<std::chrono::milliseconds>>;
    return impl::make<list>("HPTTL", {key, "FIELDS", value_view(fields.size()), fields},
                            &impl::read_list_or_null<list>);
}
/// HTTL: how long each field will live.
inline command<std::vector<expiry<std::chrono::seconds>>> httl(key_view key, values_view fields) {
    using list = std::vector<expiry<std::chrono::seconds>>;
    return impl::make<list>("HTTL", {key, "FIELDS", value_view(fields.size()), fields}, &impl::read_list_or_null<list>);
}

// Redis 8.

/// HGETDEL: a value or nothing for each field, which are deleted.
template <class T = std::string> command<std::vector<std::optional<T>>> hgetdel(key_view key, values_view fields) {
    return impl::make<std::vector<std::optional<T>>>("HGETDEL", {key, "FIELDS", value_view(fields.size()), fields});
}
/// HGETDEL of two fields and more.
template <class T = std::string, class... More>
command<std::vector<std::optional<T>>> hgetdel(key_view key, value_view first, value_view second, More const&... more) {
    return hgetdel<T>(key, {first, second, value_view(more)...});
}
/// HGETEX: a value or nothing for each field. Options ex, px, ex_at, px_at and no_expiry.
template <class T = std::string, class... Option>
command<std::vector<std::optional<T>>> hgetex(key_view key, values_view fields, Option const&... option) {
    using known = impl::options_of<options::ex, options::px, options::ex_at, options::px_at, options::no_expiry_t>;
    constexpr bool is_known = known::include<Option...>;
    static_assert(is_known, "HGETEX has the options ex, px, ex_at, px_at and no_expiry");
    impl::check_options<Option...>();
    return impl::make<std::vector<std::optional<T>>>(
        "HGETEX", {key, impl::part_of(option)..., "FIELDS", value_view(fields.size()), fields});
}
/// HSETEX: whether the fields were set. It has the options fnx, fxx, ex, px, ex_at, px_at and keep_ttl.
template <class... Option> command<bool> hsetex(key_view key, fields_view fields, Option const&... option) {
    using known = impl::options_of<options::fnx_t, options::fxx_t, options::ex, options::px, options::ex_at,
                                   options::px_at, options::keep_ttl_t>;
    constexpr bool is_known = known::include<Option...>;
    static_assert(is_known, "HSETEX has the options fnx, fxx, ex, px, ex_at, px_at and keep_ttl");
    impl::check_options<Option...>();
    return impl::make<bool>("HSETEX", {key, impl::part_of(option)..., "FIELDS", value_view(fields.size() / 2), fields});
}

} // namespace fairlead::redis::cmd
