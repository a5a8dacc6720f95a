// Commands of lists. A template argument is the type of one element.
#pragma once

#include <fairlead/redis/options.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::redis {

/// An end of a list.
enum class list_end : bool {
    left,
    right,
};
/// A place in a list, beside an element.
enum class list_place : bool {
    before,
    after,
};

namespace impl {

constexpr std::string_view name_of(list_end end) noexcept { return end == list_end::left ? "LEFT" : "RIGHT"; }
constexpr std::string_view name_of(list_place place) noexcept {
    return place == list_place::before ? "BEFORE" : "AFTER";
}

} // namespace impl

namespace cmd {

/// BLMOVE: as lmove(), once there is an element. On a connection of its own.
template <class T = std::string>
command<std::optional<T>> blmove(key_view source, key_view target, list_end from, list_end to, impl::wait_time limit) {
    return impl::make<std::optional<T>>(
        "BLMOVE", {source, target, impl::name_of(from), impl::name_of(to), value_view(limit.seconds())});
}
/// BLMPOP: as lmpop(), once there is an element. On a connection of its own.
template <class T = std::string> command<std::optional<std::pair<std::string, std::vector<T>>>>
blmpop(impl::wait_time limit, keys_view keys, list_end from, std::int64_t count = 1) {
    return impl::make<std::optional<std::pair<std::string, std::vector<T>>>>(
        "BLMPOP",
        {value_view(limit.seconds()), value_view(keys.size()), keys, impl::name_of(from), "COUNT", value_view(count)});
}
/// BLPOP: the first element of one of the lists and the name of that, once there is one; or nothing in time. On a
/// connection of its own.
template <class T = std::string>
command<std::optional<std::pair<std::string, T>>> blpop(keys_view keys, impl::wait_time limit) {
    return impl::make<std::optional<std::pair<std::string, T>>>("BLPOP", {keys, value_view(limit.seconds())});
}
/// BRPOP: as blpop(), from the other end.
template <class T = std::string>
command<std::optional<std::pair<std::string, T>>> brpop(keys_view keys, impl::wait_time limit) {
    return impl::make<std::optional<std::pair<std::string, T>>>("BRPOP", {keys, value_view(limit.seconds())});
}
/// LINDEX: the element at a place, or nothing; a negative index counts from the end.
template <class T = std::string> command<std::optional<T>> lindex(key_view key, std::int64_t index) {
    return impl::make<std::optional<T>>("LINDEX", {key, value_view(index)});
}
/// LINSERT: the length afterwards; -1 when no element is equal to `pivot`, 0 without the key.
inline command<std::int64_t> linsert(key_view key, list_place place, value_view pivot, value_view element) {
    return impl::make<std::int64_t>("LINSERT", {key, impl::name_of(place), pivot, element});
}
/// LLEN: the length.
inline command<std::int64_t> llen(key_view key) { return impl::make<std::int64_t>("LLEN", {key}); }
/// LMOVE: the element that was moved, or nothing.
template <class T = std::string>
command<std::optional<T>> lmove(key_view source, key_view target, list_end from, list_end to) {
    return impl::make<std::optional<T>>("LMOVE", {source, target, impl::name_of(from), impl::name_of(to)});
}
/// LMPOP: up to `count` elements of the first list that has one, and its name.
template <class T = std::string> command<std::optional<std::pair<std::string, std::vector<T>>>>
lmpop(keys_view keys, list_end from, std::int64_t count = 1) {
    return impl::make<std::optional<std::pair<std::string, std::vector<T>>>>(
        "LMPOP", {value_view(keys.size()), keys, impl::name_of(from), "COUNT", value_view(count)});
}
/// LPOP: the first element, or nothing.
template <class T = std::string> command<std::optional<T>> lpop(key_view key) {
    return impl::make<std::optional<T>>("LPOP", {key});
}
/// LPOP: up to so many elements from the beginning.
template <class T = std::string> command<std::vector<T>> lpop(key_view key, std::int64_t count) {
    return impl::make<std::vector<T>>("LPOP", {key, value_view(count)}, &impl::read_list_or_null<std::vector<T>>);
}
/// LPOS: the index of an element that is equal, or nothing. With count: a vector of indexes. Options rank, maxlen.
template <class... Option> auto lpos(key_view key, value_view element, Option const&... option) {
    using known = impl::options_of<options::rank, options::count, options::maxlen>;
    constexpr bool is_known = known::include<Option...>;
    static_assert(is_known, "LPOS has the options rank, count and maxlen");
    impl::check_options<Option...>();
    if constexpr (impl::has_option<options::count, Option...>)
        return impl::make<std::vector<std::int64_t>>("LPOS", {key, element, impl::part_of(option)...});
    else
        return impl::make<std::optional<std::int64_t>>("LPOS", {key, element, impl::part_of(option)...});
}
/// LPUSH: the length afterwards.
inline command<std::int64_t> lpush(key_view key, values_view elements) {
    return impl::make<std::int64_t>("LPUSH", {key, elements});
}
/// LPUSH of two elements and more.
template <class... More>
command<std::int64_t> lpush(key_view key, value_view first, value_view second, More const&... more) {
    return lpush(key, {first, second, value_view(more)...});
}
/// LPUSHX: the length afterwards, 0 without the key.
inline command<std::int64_t> lpushx(key_view key, values_view elements) {
    return impl::make<std::int64_t>("LPUSHX", {key, elements});
}
/// LPUSHX of two elements and more.
template <class... More>
command<std::int64_t> lpushx(key_view key, value_view first, value_view second, More const&... more) {
    return lpushx(key, {first, second, value_view(more)...});
}
/// LRANGE: the elements from first to last, both included; negative ones count from the end.
template <class T = std::string> command<std::vector<T>> lrange(key_view key, std::int64_t first, std::int64_t last) {
    return impl::make<std::vector<T>>("LRANGE", {key, value_view(first), value_view(last)});
}
/// LREM: how many equal elements were removed: all for 0, at most so many, from the end for a negative `count`.
inline command<std::int64_t> lrem(key_view key, std::int64_t count, value_view element) {
    return impl::make<std::int64_t>("LREM", {key, value_view(count), element});
}
/// LSET: an error without such an element.
inline command<ignore_t> lset(key_view key, std::int64_t index, value_view element) {
    return impl::make<ignore_t>("LSET", {key, value_view(index), element});
}
/// LTRIM: keeps the elements from first to last.
inline command<ignore_t> ltrim(key_view key, std::int64_t first, std::int64_t last) {
    return impl::make<ignore_t>("LTRIM", {key, value_view(first), value_view(last)});
}
/// RPOP: the last element, or nothing.
template <class T = std::string> command<std::optional<T>> rpop(key_view key) {
    return impl::make<std::optional<T>>("RPOP", {key});
}
/// RPOP: up to so many elements from the end.
template <class T = std::string> command<std::vector<T>> rpop(key_view key, std::int64_t count) {
    return impl::make<std::vector<T>>("RPOP", {key, value_view(count)}, &impl::read_list_or_null<std::vector<T>>);
}
/// RPUSH: the length afterwards.
inline command<std::int64_t> rpush(key_view key, values_view elements) {
    return impl::make<std::int64_t>("RPUSH", {key, elements});
}
/// RPUSH of two elements and more.
template <class... More>
command<std::int64_t> rpush(key_view key, value_view first, value_view second, More const&... more) {
    return rpush(key, {first, second, value_view(more)...});
}
/// RPUSHX: the length afterwards, 0 without the key.
inline command<std::int64_t> rpushx(key_view key, values_view elements) {
    return impl::make<std::int64_t>("RPUSHX", {key, elements});
}
/// RPUSHX of two elements and more.
template <class... More>
command<std::int64_t> rpushx(key_view key, value_view first, value_view second, More const&... more) {
    return rpushx(key, {first, second, value_view(more)...});
}

} // namespace cmd
} // namespace fairlead::redis
