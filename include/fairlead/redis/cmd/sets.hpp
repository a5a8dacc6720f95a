// Commands of sets. A template argument is the type of one member.
#pragma once

#include <fairlead/redis/cmd/results.hpp>
#include <fairlead/redis/options.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fairlead::redis::cmd {

/// SADD: how many of the members are new.
inline command<std::int64_t> sadd(key_view key, values_view members) {
    return impl::make<std::int64_t>("SADD", {key, members});
}
/// SADD of two members and more.
template <class... More>
command<std::int64_t> sadd(key_view key, value_view first, value_view second, More const&... more) {
    return sadd(key, {first, second, value_view(more)...});
}
/// SCARD: how many members there are.
inline command<std::int64_t> scard(key_view key) { return impl::make<std::int64_t>("SCARD", {key}); }
/// SDIFF: the members of the first set that no other one has.
template <class T = std::string> command<std::vector<T>> sdiff(keys_view keys) {
    return impl::make<std::vector<T>>("SDIFF", {keys});
}
/// SDIFF of two sets and more.
template <class T = std::string, class... More>
command<std::vector<T>> sdiff(key_view first, key_view second, More const&... more) {
    return sdiff<T>({first, second, key_view(more)...});
}
/// SDIFFSTORE: how many members the set at `target` then has.
inline command<std::int64_t> sdiffstore(key_view target, keys_view keys) {
    return impl::make<std::int64_t>("SDIFFSTORE", {target, keys});
}
/// SDIFFSTORE of two sets and more.
template <class... More>
command<std::int64_t> sdiffstore(key_view target, key_view first, key_view second, More const&... more) {
    return sdiffstore(target, {first, second, key_view(more)...});
}
/// SINTER: the members that all sets have.
template <class T = std::string> command<std::vector<T>> sinter(keys_view keys) {
    return impl::make<std::vector<T>>("SINTER", {keys});
}
/// SINTER of two sets and more.
template <class T = std::string, class... More>
command<std::vector<T>> sinter(key_view first, key_view second, More const&... more) {
    return sinter<T>({first, second, key_view(more)...});
}
/// SINTERCARD: how many members all sets have; the server counts to `count_max`, and 0 is no limit.
inline command<std::int64_t> sintercard(keys_view keys, std::int64_t count_max = 0) {
    return impl::make<std::int64_t>("SINTERCARD", {value_view(keys.size()), keys, "LIMIT", value_view(count_max)});
}
/// SINTERSTORE: how many members the set at `target` then has.
inline command<std::int64_t> sinterstore(key_view target, keys_view keys) {
    return impl::make<std::int64_t>("SINTERSTORE", {target, keys});
}
/// SINTERSTORE of two sets and more.
template <class... More>
command<std::int64_t> sinterstore(key_view target, key_view first, key_view second, More const&... more) {
    return sinterstore(target, {first, second, key_view(more)...});
}
/// SISMEMBER: whether it is a member.
inline command<bool> sismember(key_view key, value_view member) { return impl::make<bool>("SISMEMBER", {key, member}); }
/// SMEMBERS: all members, in any order.
template <class T = std::string> command<std::vector<T>> smembers(key_view key) {
    return impl::make<std::vector<T>>("SMEMBERS", {key});
}
/// SMISMEMBER: for each whether it is a member.
inline command<std::vector<bool>> smismember(key_view key, values_view members) {
    return impl::make<std::vector<bool>>("SMISMEMBER", {key, members});
}
/// SMISMEMBER of two members and more.
template <class... More>
command<std::vector<bool>> smismember(key_view key, value_view first, value_view second, More const&... more) {
    return smismember(key, {first, second, value_view(more)...});
}
/// SMOVE: whether it was a member, and was moved.
inline command<bool> smove(key_view source, key_view target, value_view member) {
    return impl::make<bool>("SMOVE", {source, target, member});
}
/// SPOP: one of the members, which is removed, or nothing.
template <class T = std::string> command<std::optional<T>> spop(key_view key) {
    return impl::make<std::optional<T>>("SPOP", {key});
}
/// SPOP: up to so many members, which are removed.
template <class T = std::string> command<std::vector<T>> spop(key_view key, std::int64_t count) {
    return impl::make<std::vector<T>>("SPOP", {key, value_view(count)});
}
/// SRANDMEMBER: one of the members, or nothing.
template <class T = std::string> command<std::optional<T>> srandmember(key_view key) {
    return impl::make<std::optional<T>>("SRANDMEMBER", {key});
}
/// SRANDMEMBER: up to so many members; a negative `count` may give one more than once.
template <class T = std::string> command<std::vector<T>> srandmember(key_view key, std::int64_t count) {
    return impl::make<std::vector<T>>("SRANDMEMBER", {key, value_view(count)});
}
/// SREM: how many of them were members.
inline command<std::int64_t> srem(key_view key, values_view members) {
    return impl::make<std::int64_t>("SREM", {key, members});
}
/// SREM of two members and more.
template <class... More>
command<std::int64_t> srem(key_view key, value_view first, value_view second, More const&... more) {
    return srem(key, {first, second, value_view(more)...});
}
/// SSCAN: a page of members, from a cursor on, which is 0 at first. It has the options match and count.
template <class T = std::string, class... Option>
command<scan_page<T>> sscan(key_view key, std::uint64_t cursor, Option const&... option) {
    using known = impl::options_of<options::match, options::count>;
    constexpr bool is_known = known::include<Option...>;
    static_assert(is_known, "SSCAN has the options match and count");
    impl::check_options<Option...>();
    return impl::make<scan_page<T>>("SSCAN", {key, value_view(cursor), impl::part_of(option)...});
}
/// SUNION: the members of all sets together.
template <class T = std::string> command<std::vector<T>> sunion(keys_view keys) {
    return impl::make<std::vector<T>>("SUNION", {keys});
}
/// SUNION of two sets and more.
template <class T = std::string, class... More>
command<std::vector<T>> sunion(key_view first, key_view second, More const&... more) {
    return sunion<T>({first, second, key_view(more)...});
}
/// SUNIONSTORE: how many members the set at `target` then has.
inline command<std::int64_t> sunionstore(key_view target, keys_view keys) {
    return impl::make<std::int64_t>("SUNIONSTORE", {target, keys});
}
/// SUNIONSTORE of two sets and more.
template <class... More>
command<std::int64_t> sunionstore(key_view target, key_view first, key_view second, More const&... more) {
    return sunionstore(target, {first, second, key_view(more)...});
}

} // namespace fairlead::redis::cmd
