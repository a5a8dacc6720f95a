// Commands of strings. A template argument is the type of one value in the result, std::string unless it is given.
#pragma once

#include <fairlead/redis/options.hpp>
#include <fairlead/redis/reply_memory.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace fairlead::redis::cmd {

/// APPEND: the length afterwards.
inline command<std::int64_t> append(key_view key, value_view value) {
    return impl::make<std::int64_t>("APPEND", {key, value});
}
/// DECR: the number afterwards.
inline command<std::int64_t> decr(key_view key) { return impl::make<std::int64_t>("DECR", {key}); }
/// DECRBY: the number afterwards.
inline command<std::int64_t> decrby(key_view key, std::int64_t by) {
    return impl::make<std::int64_t>("DECRBY", {key, value_view(by)});
}
/// GET: the value, or nothing.
template <class T = std::string> command<std::optional<T>> get(key_view key) {
    return impl::make<std::optional<T>>("GET", {key});
}
/// GETDEL: the value, or nothing; the key is deleted.
template <class T = std::string> command<std::optional<T>> getdel(key_view key) {
    return impl::make<std::optional<T>>("GETDEL", {key});
}
/// GETEX: the value, or nothing; the key expires as the option says, which is ex, px, ex_at, px_at or no_expiry.
template <class T = std::string, class... Option>
command<std::optional<T>> getex(key_view key, Option const&... option) {
    using known = impl::options_of<options::ex, options::px, options::ex_at, options::px_at, options::no_expiry_t>;
    constexpr bool is_known = known::include<Option...>;
    static_assert(is_known, "GETEX has the options ex, px, ex_at, px_at and no_expiry");
    impl::check_options<Option...>();
    return impl::make<std::optional<T>>("GETEX", {key, impl::part_of(option)...});
}
/// GET into memory of the caller: the size of the value, or nothing. error::memory_too_small when it does not fit.
inline auto get_into(key_view key, std::span<char> memory) {
    return get_into_command(impl::serialise("GET", {key}), memory);
}
/// GETRANGE: the bytes from first to last, both included; negative ones count from the end.
inline command<std::string> getrange(key_view key, std::int64_t first, std::int64_t last) {
    return impl::make<std::string>("GETRANGE", {key, value_view(first), value_view(last)});
}
/// GETSET: the value that was there before.
template <class T = std::string> command<std::optional<T>> getset(key_view key, value_view value) {
    return impl::make<std::optional<T>>("GETSET", {key, value});
}
/// INCR: the number afterwards.
inline command<std::int64_t> incr(key_view key) { return impl::make<std::int64_t>("INCR", {key}); }
/// INCRBY: the number afterwards.
inline command<std::int64_t> incrby(key_view key, std::int64_t by) {
    return impl::make<std::int64_t>("INCRBY", {key, value_view(by)});
}
/// INCRBYFLOAT: the number afterwards.
inline command<double> incrbyfloat(key_view key, double by) {
    return impl::make<double>("INCRBYFLOAT", {key, value_view(by)});
}
/// LCS: the longest subsequence that two strings share.
inline command<std::string> lcs(key_view first, key_view second) {
    return impl::make<std::string>("LCS", {first, second});
}
/// LCS with LEN: how long that is.
inline command<std::int64_t> lcs_length(key_view first, key_view second) {
    return impl::make<std::int64_t>("LCS", {first, second, "LEN"});
}
/// MGET: a value or nothing for each key, in their order.
template <class T = std::string> command<std::vector<std::optional<T>>> mget(keys_view keys) {
    return impl::make<std::vector<std::optional<T>>>("MGET", {keys});
}
/// MGET of two keys and more.
template <class T = std::string, class... More>
command<std::vector<std::optional<T>>> mget(key_view first, key_view second, More const&... more) {
    return mget<T>({first, second, key_view(more)...});
}
/// MSET.
inline command<ignore_t> mset(fields_view values) { return impl::make<ignore_t>("MSET", {values}); }
/// MSET: `mset("a", 1, "b", "two")`.
template <class... More> command<ignore_t> mset(key_view key, value_view value, More const&... more) {
    impl::check_pairs<More...>();
    return impl::make<ignore_t>("MSET", {values_view{key, value, value_view(more)...}});
}
/// MSETNX: false when one of the keys is there, and nothing was set.
inline command<bool> msetnx(fields_view values) { return impl::make<bool>("MSETNX", {values}); }
/// MSETNX: `msetnx("a", 1, "b", "two")`.
template <class... More> command<bool> msetnx(key_view key, value_view value, More const&... more) {
    impl::check_pairs<More...>();
    return impl::make<bool>("MSETNX", {values_view{key, value, value_view(more)...}});
}
/// PSETEX.
inline command<ignore_t> psetex(key_view key, impl::milliseconds_view expiry, value_view value) {
    return impl::make<ignore_t>("PSETEX", {key, value_view(expiry.count()), value});
}
/// SET: whether the value was set, which nx and xx decide. With get_old: the value that was there before, or nothing.
template <class T = std::string, class... Option> auto set(key_view key, value_view value, Option const&... option) {
    using known = impl::options_of<options::ex, options::px, options::ex_at, options::px_at, options::keep_ttl_t,
                                   options::nx_t, options::xx_t, options::get_old_t>;
    constexpr bool is_known = known::include<Option...>;
    static_assert(is_known,
                  "SET has the options ex, px, ex_at, px_at, keep_ttl, nx, xx and get_old; a time is ex(10s)");
    impl::check_options<Option...>();
    if constexpr (impl::has_option<options::get_old_t, Option...>)
        return impl::make<std::optional<T>>("SET", {key, value, impl::part_of(option)...});
    else
        return impl::make<bool>("SET", {key, value, impl::part_of(option)...}, &impl::read_done);
}
/// SETEX.
inline command<ignore_t> setex(key_view key, impl::seconds_view expiry, value_view value) {
    return impl::make<ignore_t>("SETEX", {key, value_view(expiry.count()), value});
}
/// SETNX: whether the value was set.
inline command<bool> setnx(key_view key, value_view value) { return impl::make<bool>("SETNX", {key, value}); }
/// SETRANGE: the length afterwards.
inline command<std::int64_t> setrange(key_view key, std::int64_t offset, value_view value) {
    return impl::make<std::int64_t>("SETRANGE", {key, value_view(offset), value});
}
/// STRLEN: the length, 0 without the key.
inline command<std::int64_t> strlen(key_view key) { return impl::make<std::int64_t>("STRLEN", {key}); }

} // namespace fairlead::redis::cmd
