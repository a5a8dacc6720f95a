// Commands of sorted sets. A template argument is the type of one member; a score is a double.
#pragma once

#include <fairlead/redis/cmd/results.hpp>
#include <fairlead/redis/options.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace fairlead::redis {

/// A member of a sorted set, and its score.
template <class T = std::string> using scored = std::pair<T, double>;

/// An end of a sorted set: the least scores, or the greatest.
enum class score_end : bool {
    least,
    greatest,
};

namespace impl {

constexpr std::string_view name_of(score_end end) noexcept { return end == score_end::least ? "MIN" : "MAX"; }

/// The member and the score of ZPOPMIN without a count: one after the other, or an empty array.
template <class T> error_code read_first_scored(reply_reader& in, void* value) {
    std::vector<scored<T>> all;
    auto const ec = in.read(all);
    auto& first = *static_cast<std::optional<scored<T>>*>(value);
    first.reset();
    if (!all.empty())
        first.emplace(std::move(all.front()));
    return ec;
}

template <class T, class... Option> using members_or_scored =
    std::conditional_t<has_option<options::with_scores_t, Option...>, std::vector<scored<T>>, std::vector<T>>;
using range_options =
    options_of<options::by_score_t, options::by_lex_t, options::rev_t, options::limit, options::with_scores_t>;
using union_options = options_of<options::weights, options::aggregate>;
using shown_union_options = options_of<options::weights, options::aggregate, options::with_scores_t>;

template <class... Option> consteval void check_range() {
    check_options<Option...>();
    constexpr bool by_lex = has_option<options::by_lex_t, Option...>;
    constexpr bool by_value = by_lex || has_option<options::by_score_t, Option...>;
    constexpr bool is_limited_alike = by_value || !has_option<options::limit, Option...>;
    static_assert(is_limited_alike, "limit goes with by_score or by_lex: bounds of positions are a limit themselves");
    constexpr bool has_scores_to_show = !by_lex || !has_option<options::with_scores_t, Option...>;
    static_assert(has_scores_to_show,
                  "by_lex excludes with_scores: members in the order of their bytes have one score");
}

} // namespace impl

namespace cmd {

/// BZMPOP: as zmpop(), once there is a member. On a connection of its own.
template <class T = std::string> command<std::optional<std::pair<std::string, std::vector<scored<T>>>>>
bzmpop(impl::wait_time limit, keys_view keys, score_end from, std::int64_t count = 1) {
    return impl::make<std::optional<std::pair<std::string, std::vector<scored<T>>>>>(
        "BZMPOP",
        {value_view(limit.seconds()), value_view(keys.size()), keys, impl::name_of(from), "COUNT", value_view(count)});
}
/// BZPOPMAX: as bzpopmin(), the member with the greatest score.
template <class T = std::string>
command<std::optional<std::tuple<std::string, T, double>>> bzpopmax(keys_view keys, impl::wait_time limit) {
    return impl::make<std::optional<std::tuple<std::string, T, double>>>("BZPOPMAX",
                                                                         {keys, value_view(limit.seconds())});
}
/// BZPOPMIN: the name of a sorted set, its member with the least score, and that, once there is one; or nothing in
/// time. On a connection of its own.
template <class T = std::string>
command<std::optional<std::tuple<std::string, T, double>>> bzpopmin(keys_view keys, impl::wait_time limit) {
    return impl::make<std::optional<std::tuple<std::string, T, double>>>("BZPOPMIN",
                                                                         {keys, value_view(limit.seconds())});
}
/// ZADD: how many of the members are new; with ch: how many have changed. It has the options nx, xx, gt, lt and ch.
template <class... Option> command<std::int64_t> zadd(key_view key, scores_view members, Option const&... option) {
    using known = impl::options_of<options::nx_t, options::xx_t, options::gt_t, options::lt_t, options::ch_t>;
    constexpr bool is_known = known::include<Option...>;
    static_assert(is_known, "ZADD has the options nx, xx, gt, lt and ch; of INCR see zadd_incr");
    impl::check_conditions<Option...>();
    return impl::make<std::int64_t>("ZADD", {key, impl::part_of(option)..., members});
}
/// ZADD with INCR: the score afterwards, or nothing when the condition was not met. Options nx, xx, gt and lt.
template <class... Option>
command<std::optional<double>> zadd_incr(key_view key, value_view member, double by, Option const&... option) {
    constexpr bool is_known = impl::conditions::include<Option...>;
    static_assert(is_known, "ZADD with INCR has the options nx, xx, gt and lt");
    impl::check_conditions<Option...>();
    return impl::make<std::optional<double>>("ZADD", {key, impl::part_of(option)..., "INCR", value_view(by), member});
}
/// ZCARD: how many members there are.
inline command<std::int64_t> zcard(key_view key) { return impl::make<std::int64_t>("ZCARD", {key}); }
/// ZCOUNT: how many members have scores from min to max: 1.5, "(1.5" without it, "-inf", "+inf".
inline command<std::int64_t> zcount(key_view key, value_view min, value_view max) {
    return impl::make<std::int64_t>("ZCOUNT", {key, min, max});
}
/// ZDIFF: the members of the first set that no other one has. It has the option with_scores.
template <class T = std::string, class... Option> auto zdiff(keys_view keys, Option const&... option) {
    constexpr bool is_known = impl::options_of<options::with_scores_t>::include<Option...>;
    static_assert(is_known, "ZDIFF has the option with_scores");
    impl::check_options<Option...>();
    return impl::make<impl::members_or_scored<T, Option...>>("ZDIFF",
                                                             {value_view(keys.size()), keys, impl::part_of(option)...});
}
/// ZDIFFSTORE: how many members the sorted set at `target` then has.
inline command<std::int64_t> zdiffstore(key_view target, keys_view keys) {
    return impl::make<std::int64_t>("ZDIFFSTORE", {target, value_view(keys.size()), keys});
}
/// ZINCRBY: the score afterwards.
inline command<double> zincrby(key_view key, double by, value_view member) {
    return impl::make<double>("ZINCRBY", {key, value_view(by), member});
}
/// ZINTER: the members that all sets have. It has the options weights, aggregate and with_scores.
template <class T = std::string, class... Option> auto zinter(keys_view keys, Option const&... option) {
    constexpr bool is_known = impl::shown_union_options::include<Option...>;
    static_assert(is_known, "ZINTER has the options weights, aggregate and with_scores");
    impl::check_options<Option...>();
    return impl::make<impl::members_or_scored<T, Option...>>("ZINTER",
                                                             {value_view(keys.size()), keys, impl::part_of(option)...});
}
/// ZINTERCARD: how many members all sets have; the server counts to `count_max`, and 0 is no limit.
inline command<std::int64_t> zintercard(keys_view keys, std::int64_t count_max = 0) {
    return impl::make<std::int64_t>("ZINTERCARD", {value_view(keys.size()), keys, "LIMIT", value_view(count_max)});
}
/// ZINTERSTORE: how many members the sorted set at `target` then has. It has the options weights and aggregate.
template <class... Option> command<std::int64_t> zinterstore(key_view target, keys_view keys, Option const&... option) {
    constexpr bool is_known = impl::union_options::include<Option...>;
    static_assert(is_known, "ZINTERSTORE has the options weights and aggregate");
    impl::check_options<Option...>();
    return impl::make<std::int64_t>("ZINTERSTORE", {target, value_view(keys.size()), keys, impl::part_of(option)...});
}
/// ZLEXCOUNT: how many members lie between two: "[a" with it, "(a" without it, "-", "+".
inline command<std::int64_t> zlexcount(key_view key, value_view min, value_view max) {
    return impl::make<std::int64_t>("ZLEXCOUNT", {key, min, max});
}
/// ZMPOP: up to `count` members of the first sorted set that has one, and its name.
template <class T = std::string> command<std::optional<std::pair<std::string, std::vector<scored<T>>>>>
zmpop(keys_view keys, score_end from, std::int64_t count = 1) {
    return impl::make<std::optional<std::pair<std::string, std::vector<scored<T>>>>>(
        "ZMPOP", {value_view(keys.size()), keys, impl::name_of(from), "COUNT", value_view(count)});
}
/// ZMSCORE: a score or nothing for each member, in their order.
inline command<std::vector<std::optional<double>>> zmscore(key_view key, values_view members) {
    return impl::make<std::vector<std::optional<double>>>("ZMSCORE", {key, members});
}
/// ZMSCORE of two members and more.
template <class... More> command<std::vector<std::optional<double>>> zmscore(key_view key, value_view first,
                                                                             value_view second, More const&... more) {
    return zmscore(key, {first, second, value_view(more)...});
}
/// ZPOPMAX: the member with the greatest score, or nothing.
template <class T = std::string> command<std::optional<scored<T>>> zpopmax(key_view key) {
    return impl::make<std::optional<scored<T>>>("ZPOPMAX", {key}, &impl::read_first_scored<T>);
}
/// ZPOPMAX: up to so many members, the greatest first.
template <class T = std::string> command<std::vector<scored<T>>> zpopmax(key_view key, std::int64_t count) {
    return impl::make<std::vector<scored<T>>>("ZPOPMAX", {key, value_view(count)});
}
/// ZPOPMIN: the member with the least score, or nothing.
template <class T = std::string> command<std::optional<scored<T>>> zpopmin(key_view key) {
    return impl::make<std::optional<scored<T>>>("ZPOPMIN", {key}, &impl::read_first_scored<T>);
}
/// ZPOPMIN: up to so many members, the least first.
template <class T = std::string> command<std::vector<scored<T>>> zpopmin(key_view key, std::int64_t count) {
    return impl::make<std::vector<scored<T>>>("ZPOPMIN", {key, value_view(count)});
}
/// ZRANDMEMBER: one of the members, or nothing.
template <class T = std::string> command<std::optional<T>> zrandmember(key_view key) {
    return impl::make<std::optional<T>>("ZRANDMEMBER", {key});
}
/// ZRANDMEMBER: up to so many members; a negative `count` may give one more than once. It has the option with_scores.
template <class T = std::string, class... Option>
auto zrandmember(key_view key, std::int64_t count, Option const&... option) {
    constexpr bool is_known = impl::options_of<options::with_scores_t>::include<Option...>;
    static_assert(is_known, "ZRANDMEMBER has the option with_scores");
    impl::check_options<Option...>();
    return impl::make<impl::members_or_scored<T, Option...>>("ZRANDMEMBER",
                                                             {key, value_view(count), impl::part_of(option)...});
}
/// ZRANGE: the members from first to last, both included. Bounds are positions, or what by_score and by_lex say. It has
/// the options by_score, by_lex, rev, limit and with_scores.
template <class T = std::string, class... Option>
auto zrange(key_view key, value_view first, value_view last, Option const&... option) {
    constexpr bool is_known = impl::range_options::include<Option...>;
    static_assert(is_known, "ZRANGE has the options by_score, by_lex, rev, limit and with_scores");
    impl::check_range<Option...>();
    return impl::make<impl::members_or_scored<T, Option...>>("ZRANGE", {key, first, last, impl::part_of(option)...});
}
/// ZRANGESTORE: how many members the sorted set at `target` then has. Options by_score, by_lex, rev and limit.
template <class... Option> command<std::int64_t> zrangestore(key_view target, key_view source, value_view first,
                                                             value_view last, Option const&... option) {
    using known = impl::options_of<options::by_score_t, options::by_lex_t, options::rev_t, options::limit>;
    constexpr bool is_known = known::include<Option...>;
    static_assert(is_known, "ZRANGESTORE has the options by_score, by_lex, rev and limit");
    impl::check_range<Option...>();
    return impl::make<std::int64_t>("ZRANGESTORE", {target, source, first, last, impl::part_of(option)...});
}
/// ZRANK: the position of a member, or nothing; with with_score (Redis 7.2) a pair of position and score.
template <class... Option> auto zrank(key_view key, value_view member, Option const&... option) {
    constexpr bool is_known = impl::options_of<options::with_score_t>::include<Option...>;
    static_assert(is_known, "ZRANK has the option with_score");
    impl::check_options<Option...>();
    using position = std::conditional_t<sizeof...(Option) != 0, std::pair<std::int64_t, double>, std::int64_t>;
    return impl::make<std::optional<position>>("ZRANK", {key, member, impl::part_of(option)...});
}
/// ZREM: how many of them were members.
inline command<std::int64_t> zrem(key_view key, values_view members) {
    return impl::make<std::int64_t>("ZREM", {key, members});
}
/// ZREM of two members and more.
template <class... More>
command<std::int64_t> zrem(key_view key, value_view first, value_view second, More const&... more) {
    return zrem(key, {first, second, value_view(more)...});
}
/// ZREMRANGEBYLEX: how many members were removed; bounds as those of zlexcount().
inline command<std::int64_t> zremrangebylex(key_view key, value_view min, value_view max) {
    return impl::make<std::int64_t>("ZREMRANGEBYLEX", {key, min, max});
}
/// ZREMRANGEBYRANK: how many members were removed, by their positions.
inline command<std::int64_t> zremrangebyrank(key_view key, std::int64_t first, std::int64_t last) {
    return impl::make<std::int64_t>("ZREMRANGEBYRANK", {key, value_view(first), value_view(last)});
}
/// ZREMRANGEBYSCORE: how many members were removed; bounds as those of zcount().
inline command<std::int64_t> zremrangebyscore(key_view key, value_view min, value_view max) {
    return impl::make<std::int64_t>("ZREMRANGEBYSCORE", {key, min, max});
}
/// ZREVRANK: as zrank(), from the greatest score on.
template <class... Option> auto zrevrank(key_view key, value_view member, Option const&... option) {
    constexpr bool is_known = impl::options_of<options::with_score_t>::include<Option...>;
    static_assert(is_known, "ZREVRANK has the option with_score");
    impl::check_options<Option...>();
    using position = std::conditional_t<sizeof...(Option) != 0, std::pair<std::int64_t, double>, std::int64_t>;
    return impl::make<std::optional<position>>("ZREVRANK", {key, member, impl::part_of(option)...});
}
/// ZSCAN: a page of members and scores, from a cursor on, which is 0 at first. It has the options match and count.
template <class T = std::string, class... Option>
command<scan_page<scored<T>>> zscan(key_view key, std::uint64_t cursor, Option const&... option) {
    using known = impl::options_of<options::match, options::count>;
    constexpr bool is_known = known::include<Option...>;
    static_assert(is_known, "ZSCAN has the options match and count");
    impl::check_options<Option...>();
    return impl::make<scan_page<scored<T>>>("ZSCAN", {key, value_view(cursor), impl::part_of(option)...});
}
/// ZSCORE: the score, or nothing.
inline command<std::optional<double>> zscore(key_view key, value_view member) {
    return impl::make<std::optional<double>>("ZSCORE", {key, member});
}
/// ZUNION: the members of all sets together. It has the options weights, aggregate and with_scores.
template <class T = std::string, class... Option> auto zunion(keys_view keys, Option const&... option) {
    constexpr bool is_known = impl::shown_union_options::include<Option...>;
    static_assert(is_known, "ZUNION has the options weights, aggregate and with_scores");
    impl::check_options<Option...>();
    return impl::make<impl::members_or_scored<T, Option...>>("ZUNION",
                                                             {value_view(keys.size()), keys, impl::part_of(option)...});
}
/// ZUNIONSTORE: how many members the sorted set at `target` then has. It has the options weights and aggregate.
template <class... Option> command<std::int64_t> zunionstore(key_view target, keys_view keys, Option const&... option) {
    constexpr bool is_known = impl::union_options::include<Option...>;
    static_assert(is_known, "ZUNIONSTORE has the options weights and aggregate");
    impl::check_options<Option...>();
    return impl::make<std::int64_t>("ZUNIONSTORE", {target, value_view(keys.size()), keys, impl::part_of(option)...});
}

} // namespace cmd
} // namespace fairlead::redis
