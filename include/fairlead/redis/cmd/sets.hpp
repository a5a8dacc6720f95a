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
/// SCARD: how many members there are.
inline command<std::int64_t> scard(key_view key) { return impl::make<std::int64_t>("SCARD", {key}); }
/// SDIFF: the members of the first set that no other one has.
template <class T = std::string> command<std::vector<T>> sdiff(keys_view keys) {
    return impl::make<std::vector<T>>("SDIFF", {keys});
}
/// SDIFFSTORE: how many members the set at `target` then has.
inline command<std::int64_t> sdiffstore(key_view target, keys_view keys) {
    return impl::make<std::int64_t>("SDIFFSTORE", {target, keys});
}
/// SINTER: the members that all sets have.
template <class T = std::string> command<std::vector<T>> sinter(keys_view keys) {
    return impl::make<std::vector<T>>("SINTER", {keys});
}
/// SINTERCARD: how many members all sets have; the server counts to `count_max`, and 0 is no limit.
inline command<std::int64_t> sintercard(keys_view keys, std::int64_t count_max = 0) {
    return impl::make<std::int64_t>("SINTERCARD", {value_view(keys.size()), keys, "LIMIT", value_view(count_max)});
}
/// SINTERSTORE: how many members the set at `target` then has.
inline command<std::int64_t> sinterstore(key_view target, keys_view keys) {
    return impl::make<std::int64_t>("SINTERSTORE", {target, keys});
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
/// SUNIONSTORE: how many members the set at `target` then has.
inline command<std::int64_t> sunionstore(key_view target, keys_view keys) {
    return impl::make<std::int64_t>("SUNIONSTORE", {target, keys});
}

} // namespace fairlead::redis::cmd
