// Commands of streams, and of groups of consumers.
#pragma once

#include <fairlead/redis/cmd/stream_results.hpp>
#include <fairlead/redis/options.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace fairlead::redis {

namespace impl {

/// Names of streams and ids in them; a command has all names first.
class stream_positions {
    using pair = std::pair<key_view, value_view>;

public:
    stream_positions(std::initializer_list<pair> list) noexcept
        : keys_{list.begin(), list.size(), &append_keys<std::span<pair const>>},
          ids_{list.begin(), list.size(), &append_ids<std::span<pair const>>} {}
    template <range_of_pairs Range> stream_positions(Range const& range)
        : keys_{std::addressof(range), static_cast<std::size_t>(std::ranges::distance(range)), &append_keys<Range>},
          ids_{std::addressof(range), keys_.count, &append_ids<Range>} {}

    argument_list const& keys() const noexcept { return keys_; }
    argument_list const& ids() const noexcept { return ids_; }

private:
    template <class Range, class Append> static void for_each(void const* object, std::size_t count, Append append) {
        if constexpr (std::is_same_v<Range, std::span<pair const>>) {
            for (auto const& each : std::span(static_cast<pair const*>(object), count))
                append(each);
        } else {
            for (auto const& each : *static_cast<Range const*>(object))
                append(each);
        }
    }
    template <class Range> static void append_keys(command_text& out, void const* object, std::size_t count) {
        for_each<Range>(object, count, [&](auto const& each) { append_argument(out, key_view(each.first).text()); });
    }
    template <class Range> static void append_ids(command_text& out, void const* object, std::size_t count) {
        for_each<Range>(object, count, [&](auto const& each) { append_argument(out, value_view(each.second).text()); });
    }

    argument_list keys_;
    argument_list ids_;
};

using trimming =
    options_of<options::maxlen, options::maxlen_about, options::minid, options::minid_about, options::trim_limit>;
template <class... Option> inline constexpr bool trims_about =
    has_option<options::maxlen_about, Option...> || has_option<options::minid_about, Option...>;
template <class... Option> consteval void check_trimming() {
    check_options<Option...>();
    constexpr bool is_about = !has_option<options::trim_limit, Option...> || trims_about<Option...>;
    static_assert(is_about, "trim_limit goes with maxlen_about or minid_about");
}

template <class... Option> using entries_or_ids =
    std::conditional_t<has_option<options::just_id_t, Option...>, std::string, stream_entry>;

} // namespace impl

namespace cmd {

/// XACK: how many entries were pending, and are no more.
inline command<std::int64_t> xack(key_view key, value_view group, values_view ids) {
    return impl::make<std::int64_t>("XACK", {key, group, ids});
}
/// XACK of two entries and more.
template <class... More>
command<std::int64_t> xack(key_view key, value_view group, value_view first, value_view second, More const&... more) {
    return xack(key, group, {first, second, value_view(more)...});
}
/// XADD: the id of the entry; "*" makes one. With no_mkstream: nothing when there is no stream. It has the options
/// no_mkstream, maxlen, maxlen_about, minid, minid_about and trim_limit.
template <class... Option> auto xadd(key_view key, value_view id, fields_view fields, Option const&... option) {
    using known = impl::options_of<options::no_mkstream_t, options::maxlen, options::maxlen_about, options::minid,
                                   options::minid_about, options::trim_limit>;
    constexpr bool is_known = known::include<Option...>;
    static_assert(is_known,
                  "XADD has the options no_mkstream, maxlen, maxlen_about, minid, minid_about and trim_limit");
    impl::check_trimming<Option...>();
    using made = std::conditional_t<impl::has_option<options::no_mkstream_t, Option...>, std::optional<std::string>,
                                    std::string>;
    return impl::make<made>("XADD", {key, impl::part_of(option)..., id, fields});
}
/// XAUTOCLAIM: a page of entries that have been pending for so long, and now are the consumer's. It begins at an id,
/// "0-0" at first. It has the options count and just_id.
template <class... Option> auto xautoclaim(key_view key, value_view group, value_view consumer,
                                           impl::milliseconds_view idle, value_view start, Option const&... option) {
    using known = impl::options_of<options::count, options::just_id_t>;
    constexpr bool is_known = known::include<Option...>;
    static_assert(is_known, "XAUTOCLAIM has the options count and just_id");
    impl::check_options<Option...>();
    return impl::make<claimed_page<impl::entries_or_ids<Option...>>>(
        "XAUTOCLAIM", {key, group, consumer, value_view(idle.count()), start, impl::part_of(option)...});
}
/// XCLAIM: those of the entries that have been pending for so long, and now are the consumer's. It has the options
/// idle, retry_count, force and just_id.
template <class... Option> auto xclaim(key_view key, value_view group, value_view consumer,
                                       impl::milliseconds_view idle, values_view ids, Option const&... option) {
    using known = impl::options_of<options::idle, options::retry_count, options::force_t, options::just_id_t>;
    constexpr bool is_known = known::include<Option...>;
    static_assert(is_known, "XCLAIM has the options idle, retry_count, force and just_id");
    impl::check_options<Option...>();
    return impl::make<std::vector<impl::entries_or_ids<Option...>>>(
        "XCLAIM", {key, group, consumer, value_view(idle.count()), ids, impl::part_of(option)...});
}
/// XDEL: how many entries there were.
inline command<std::int64_t> xdel(key_view key, values_view ids) {
    return impl::make<std::int64_t>("XDEL", {key, ids});
}
/// XDEL of two entries and more.
template <class... More>
command<std::int64_t> xdel(key_view key, value_view first, value_view second, More const&... more) {
    return xdel(key, {first, second, value_view(more)...});
}
/// XGROUP CREATE: a group that gets the entries behind an id, "$" for new ones. Options mkstream and entries_read.
template <class... Option>
command<ignore_t> xgroup_create(key_view key, value_view group, value_view id, Option const&... option) {
    using known = impl::options_of<options::mkstream_t, options::entries_read>;
    constexpr bool is_known = known::include<Option...>;
    static_assert(is_known, "XGROUP CREATE has the options mkstream and entries_read");
    impl::check_options<Option...>();
    return impl::make<ignore_t>("XGROUP", {"CREATE", key, group, id, impl::part_of(option)...});
}
/// XGROUP CREATECONSUMER: whether the consumer is new.
inline command<bool> xgroup_createconsumer(key_view key, value_view group, value_view consumer) {
    return impl::make<bool>("XGROUP", {"CREATECONSUMER", key, group, consumer});
}
/// XGROUP DELCONSUMER: how many entries were pending for the consumer; nobody can claim them any more.
inline command<std::int64_t> xgroup_delconsumer(key_view key, value_view group, value_view consumer) {
    return impl::make<std::int64_t>("XGROUP", {"DELCONSUMER", key, group, consumer});
}
/// XGROUP DESTROY: whether there was such a group.
inline command<bool> xgroup_destroy(key_view key, value_view group) {
    return impl::make<bool>("XGROUP", {"DESTROY", key, group});
}
/// XGROUP SETID: the group goes on behind an id. It has the option entries_read.
template <class... Option>
command<ignore_t> xgroup_setid(key_view key, value_view group, value_view id, Option const&... option) {
    constexpr bool is_known = impl::options_of<options::entries_read>::include<Option...>;
    static_assert(is_known, "XGROUP SETID has the option entries_read");
    impl::check_options<Option...>();
    return impl::make<ignore_t>("XGROUP", {"SETID", key, group, id, impl::part_of(option)...});
}
/// XINFO CONSUMERS.
inline command<std::vector<stream_consumer>> xinfo_consumers(key_view key, value_view group) {
    return impl::make<std::vector<stream_consumer>>("XINFO", {"CONSUMERS", key, group});
}
/// XINFO GROUPS.
inline command<std::vector<stream_group>> xinfo_groups(key_view key) {
    return impl::make<std::vector<stream_group>>("XINFO", {"GROUPS", key});
}
/// XINFO STREAM.
inline command<stream_info> xinfo_stream(key_view key) { return impl::make<stream_info>("XINFO", {"STREAM", key}); }
/// XLEN: how many entries there are.
inline command<std::int64_t> xlen(key_view key) { return impl::make<std::int64_t>("XLEN", {key}); }
/// XPENDING: what is pending in a group.
inline command<pending_summary> xpending(key_view key, value_view group) {
    return impl::make<pending_summary>("XPENDING", {key, group});
}
/// XPENDING: up to `count` pending entries from first to last, "-" and "+" for all.
inline command<std::vector<pending_entry>> xpending(key_view key, value_view group, value_view first, value_view last,
                                                    std::int64_t count) {
    return impl::make<std::vector<pending_entry>>("XPENDING", {key, group, first, last, value_view(count)});
}
/// XPENDING: those of one consumer, which have been idle for so long; 0ms for all.
inline command<std::vector<pending_entry>> xpending(key_view key, value_view group, value_view first, value_view last,
                                                    std::int64_t count, value_view consumer,
                                                    impl::milliseconds_view idle) {
    return impl::make<std::vector<pending_entry>>(
        "XPENDING", {key, group, "IDLE", value_view(idle.count()), first, last, value_view(count), consumer});
}
/// XRANGE: the entries from first to last, both included: an id, "(" and an id without it, "-", "+". Option count.
template <class... Option>
command<std::vector<stream_entry>> xrange(key_view key, value_view first, value_view last, Option const&... option) {
    constexpr bool is_known = impl::options_of<options::count>::include<Option...>;
    static_assert(is_known, "XRANGE has the option count");
    impl::check_options<Option...>();
    return impl::make<std::vector<stream_entry>>("XRANGE", {key, first, last, impl::part_of(option)...});
}
/// XREAD: the entries of each stream behind an id, "$" for new ones; empty when there are none. It has the options
/// count and block_for, which needs a connection of its own.
template <class... Option> command<stream_entries> xread(impl::stream_positions streams, Option const&... option) {
    using known = impl::options_of<options::count, options::block_for>;
    constexpr bool is_known = known::include<Option...>;
    static_assert(is_known, "XREAD has the options count and block_for");
    impl::check_options<Option...>();
    return impl::make<stream_entries>("XREAD", {impl::part_of(option)..., "STREAMS", streams.keys(), streams.ids()},
                                      &impl::read_list_or_null<stream_entries>);
}
/// XREADGROUP: entries of each stream for a consumer. ">" is for those that nobody has got yet, an id for its pending
/// ones behind it. Empty when there are none. It has the options count, block_for and no_ack.
template <class... Option> command<stream_entries> xreadgroup(value_view group, value_view consumer,
                                                              impl::stream_positions streams, Option const&... option) {
    using known = impl::options_of<options::count, options::block_for, options::no_ack_t>;
    constexpr bool is_known = known::include<Option...>;
    static_assert(is_known, "XREADGROUP has the options count, block_for and no_ack");
    impl::check_options<Option...>();
    return impl::make<stream_entries>(
        "XREADGROUP", {"GROUP", group, consumer, impl::part_of(option)..., "STREAMS", streams.keys(), streams.ids()},
        &impl::read_list_or_null<stream_entries>);
}
/// XREVRANGE: as xrange(), the last one first; `last` comes before `first`.
template <class... Option>
command<std::vector<stream_entry>> xrevrange(key_view key, value_view last, value_view first, Option const&... option) {
    constexpr bool is_known = impl::options_of<options::count>::include<Option...>;
    static_assert(is_known, "XREVRANGE has the option count");
    impl::check_options<Option...>();
    return impl::make<std::vector<stream_entry>>("XREVRANGE", {key, last, first, impl::part_of(option)...});
}
/// XSETID: the greatest id so far.
inline command<ignore_t> xsetid(key_view key, value_view last_id) {
    return impl::make<ignore_t>("XSETID", {key, last_id});
}
/// XTRIM: how many entries were removed. It needs maxlen, maxlen_about, minid or minid_about; and has trim_limit.
template <class... Option> command<std::int64_t> xtrim(key_view key, Option const&... option) {
    constexpr bool is_known = impl::trimming::include<Option...>;
    static_assert(is_known, "XTRIM has the options maxlen, maxlen_about, minid, minid_about and trim_limit");
    impl::check_trimming<Option...>();
    constexpr bool has_bound = impl::trims_about<Option...> || impl::has_option<options::maxlen, Option...> ||
                               impl::has_option<options::minid, Option...>;
    static_assert(has_bound, "XTRIM needs one of maxlen, maxlen_about, minid and minid_about");
    return impl::make<std::int64_t>("XTRIM", {key, impl::part_of(option)...});
}

} // namespace cmd
} // namespace fairlead::redis
