// Streams: entries in the order of their ids.
#include <redis_server/call.hpp>
#include <redis_server/streams.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::redis::server_impl::streams {
namespace {

constexpr std::uint64_t seq_max = ~std::uint64_t{0};

// The id behind `id`, or before it; false when there is none.
bool step_up(stream_id& id) noexcept {
    if (id == stream_id::max())
        return false;
    if (++id.seq == 0)
        ++id.ms;
    return true;
}

bool step_down(stream_id& id) noexcept {
    if (id == stream_id{})
        return false;
    if (id.seq-- == 0)
        --id.ms;
    return true;
}

// XADD and XTRIM.

enum class trim_by : unsigned char { nothing, length, id };

struct trim_request {
    trim_by what = trim_by::nothing;
    std::int64_t length = 0;
    stream_id id;
};

// MAXLEN or MINID at args[i], which moves behind them. "~" trims as exactly as "=".
bool read_trim(call& c, std::size_t& i, trim_request& trim) {
    if (trim.what != trim_by::nothing) {
        c.error("ERR syntax error, MAXLEN and MINID options at the same time are not compatible");
        return false;
    }
    trim.what = c.is(i, "maxlen") ? trim_by::length : trim_by::id;
    if (++i < c.count() - 1 && (c.args[i] == "~" || c.args[i] == "="))
        ++i;
    if (trim.what == trim_by::id)
        return read_stream_id(c, c.args[i++], 0, trim.id);
    if (!c.integer(c.args[i++], trim.length))
        return false;
    if (trim.length < 0)
        c.error("ERR The MAXLEN argument must be >= 0.");
    return trim.length >= 0;
}

struct add_request {
    trim_request trim;
    bool makes_stream = true;
    bool is_about = false; // "~"
    bool has_limit = false;
    std::size_t at = 0; // of the id, or behind the options
};

// Reads the options from args[2] on, up to the id where there is one.
bool read_options(call& c, bool has_id, add_request& r) {
    std::size_t i = 2;
    while (i < c.count()) {
        bool const has_value = i + 1 < c.count();
        if (has_id && c.args[i] == "*")
            break;
        if ((c.is(i, "maxlen") || c.is(i, "minid")) && has_value) {
            r.is_about = c.args[i + 1] == "~";
            if (!read_trim(c, i, r.trim))
                return false;
        } else if (c.is(i, "limit") && has_value) {
            std::int64_t limit = 0;
            if (!c.integer(c.args[i + 1], limit))
                return false;
            if (limit < 0) {
                c.error("ERR The LIMIT argument must be >= 0.");
                return false;
            }
            r.has_limit = true;
            i += 2;
        } else if (has_id && c.is(i, "nomkstream")) {
            r.makes_stream = false;
            ++i;
        } else if (has_id) {
            break;
        } else {
            c.syntax_error();
            return false;
        }
    }
    if (r.has_limit && (r.trim.what == trim_by::nothing || !r.is_about)) {
        c.error(r.trim.what == trim_by::nothing
                    ? "ERR syntax error, LIMIT cannot be used without specifying a trimming strategy"
                    : "ERR syntax error, LIMIT cannot be used without the special ~ option");
        return false;
    }
    if (!has_id && r.trim.what == trim_by::nothing) {
        c.error("ERR syntax error, XTRIM must be called with MAXLEN or MINID");
        return false;
    }
    r.at = i;
    return true;
}

std::size_t trim(stream_value& stream, trim_request const& how) {
    std::size_t removed = 0;
    auto const goes = [&] {
        if (stream.entries.empty() || how.what == trim_by::nothing)
            return false;
        return how.what == trim_by::length ? stream.entries.size() > static_cast<std::size_t>(how.length)
                                           : stream.entries.begin()->first < how.id;
    };
    for (; goes(); ++removed)
        stream.entries.erase(stream.entries.begin());
    return removed;
}

struct id_request {
    stream_id id;
    bool is_made = false;   // "*"
    bool makes_seq = false; // "5-*"
};

bool read_new_id(call& c, std::string_view text, id_request& r) {
    r.is_made = text == "*";
    r.makes_seq = text.ends_with("-*");
    if (r.is_made)
        return true;
    if (!read_stream_id(c, r.makes_seq ? text.substr(0, text.size() - 2) : text, 0, r.id))
        return false;
    if (!r.makes_seq && r.id == stream_id{}) {
        c.error("ERR The ID specified in XADD must be greater than 0-0");
        return false;
    }
    return true;
}

// The id of a new entry. False: answered.
bool choose_id(call& c, stream_id last, id_request const& r, stream_id& id) {
    id = r.id;
    if (r.is_made) {
        auto const now = static_cast<std::uint64_t>(c.server.now());
        id = {now, 0};
        if (now <= last.ms) {
            id = last;
            step_up(id);
        }
    } else if (r.makes_seq && id.ms == last.ms && last.seq != seq_max) {
        id.seq = last.seq + 1;
    }
    if (id > last)
        return true;
    c.error("ERR The ID specified in XADD is equal or smaller than the target stream top item");
    return false;
}

void xadd(call& c) {
    add_request r;
    id_request wanted;
    if (!read_options(c, true, r))
        return;
    std::size_t const pairs = r.at + 1;
    if (pairs >= c.count() || (c.count() - pairs) % 2 != 0)
        return c.wrong_number();
    if (!read_new_id(c, c.args[r.at], wanted))
        return;
    stream_value* stream = nullptr;
    if (!c.get(c.args[1], stream))
        return;
    if (!stream && !r.makes_stream)
        return c.null();
    stream_id const last = stream ? stream->last_id : stream_id{};
    if (last == stream_id::max())
        return c.error("ERR The stream has exhausted the last possible ID, unable to add more items");
    stream_id id;
    if (!choose_id(c, last, wanted, id))
        return;
    if (!stream)
        stream = &c.make_empty<stream_value>(c.args[1]);
    stream->entries.emplace(
        id, std::vector<std::string>(c.args.begin() + static_cast<std::ptrdiff_t>(pairs), c.args.end()));
    stream->last_id = id;
    ++stream->entries_added;
    trim(*stream, r.trim);
    c.changed(c.args[1]);
    append_stream_id(c, id);
}

void xtrim(call& c) {
    add_request r;
    stream_value* stream = nullptr;
    if (!read_options(c, false, r) || !c.get(c.args[1], stream))
        return;
    std::size_t const removed = stream ? trim(*stream, r.trim) : 0;
    if (removed != 0)
        c.changed(c.args[1]);
    c.size(removed);
}

void xlen(call& c) {
    stream_value* stream = nullptr;
    if (c.get(c.args[1], stream))
        c.size(stream ? stream->entries.size() : 0);
}

void xdel(call& c) {
    stream_value* stream = nullptr;
    if (!c.get(c.args[1], stream))
        return;
    if (!stream)
        return c.number(0);
    std::vector<stream_id> ids;
    for (std::string_view const text : c.args.subspan(2))
        if (!read_stream_id(c, text, 0, ids.emplace_back()))
            return;
    std::int64_t removed = 0;
    for (stream_id const id : ids)
        if (stream->entries.erase(id) != 0) {
            ++removed;
            stream->max_deleted_id = std::max(stream->max_deleted_id, id);
        }
    if (removed != 0)
        c.changed(c.args[1]);
    c.number(removed);
}

void xsetid(call& c) {
    stream_id id, max_deleted;
    std::int64_t added = -1;
    bool has_deleted = false;
    if (!read_stream_id(c, c.args[2], 0, id))
        return;
    for (std::size_t i = 3; i < c.count(); i += 2) {
        bool const has_value = i + 1 < c.count();
        if (has_value && c.is(i, "entriesadded")) {
            if (!c.integer(c.args[i + 1], added))
                return;
            if (added < 0)
                return c.error("ERR entries_added must be positive");
        } else if (has_value && c.is(i, "maxdeletedid")) {
            if (!read_stream_id(c, c.args[i + 1], 0, max_deleted))
                return;
            if (id < max_deleted)
                return c.error("ERR The ID specified in XSETID is smaller than the provided max_deleted_entry_id");
            has_deleted = true;
        } else {
            return c.syntax_error();
        }
    }
    stream_value* stream = nullptr;
    if (!c.get(c.args[1], stream))
        return;
    if (!stream)
        return c.error("ERR no such key");
    if (!stream->entries.empty() && id < std::prev(stream->entries.end())->first)
        return c.error("ERR The ID specified in XSETID is smaller than the target stream top item");
    if (!stream->entries.empty() && added >= 0 && static_cast<std::size_t>(added) < stream->entries.size())
        return c.error("ERR The entries_added specified in XSETID is smaller than the target stream length");
    stream->last_id = id;
    if (added >= 0)
        stream->entries_added = static_cast<std::uint64_t>(added);
    if (has_deleted)
        stream->max_deleted_id = max_deleted;
    c.changed(c.args[1]);
    c.ok();
}

// Ranges.

void list_range(call& c, bool is_reversed) {
    stream_range range;
    if (!read_stream_range(c, c.args[is_reversed ? 3 : 2], c.args[is_reversed ? 2 : 3], range))
        return;
    std::int64_t count = -1;
    if (c.count() > 4) {
        for (std::size_t i = 4; i < c.count(); i += 2) {
            if (i + 1 == c.count() || !c.is(i, "count"))
                return c.syntax_error();
            if (!c.integer(c.args[i + 1], count))
                return;
            count = std::max<std::int64_t>(count, 0);
        }
    }
    stream_value* stream = nullptr;
    if (!c.get(c.args[1], stream))
        return;
    if (!stream)
        return c.array(0);
    if (count == 0)
        return c.null_array();
    std::vector<stream_item const*> found;
    if (range.first <= range.last) {
        auto const begin = stream->entries.lower_bound(range.first), end = stream->entries.upper_bound(range.last);
        for (auto at = begin; at != end; ++at)
            found.push_back(&*at);
    }
    if (is_reversed)
        std::ranges::reverse(found);
    if (count > 0 && found.size() > static_cast<std::size_t>(count))
        found.resize(static_cast<std::size_t>(count));
    c.array(found.size());
    for (auto const* const item : found)
        append_stream_entry(c, *item);
}

void xrange(call& c) { list_range(c, false); }
void xrevrange(call& c) { list_range(c, true); }

// XINFO.

void named(call& c, std::string_view name, std::size_t n) {
    c.bulk(name);
    c.size(n);
}

void named(call& c, std::string_view name, stream_id id) {
    c.bulk(name);
    append_stream_id(c, id);
}

void named_group_progress(call& c, stream_value const& stream, stream_group const& group) {
    c.bulk("entries-read");
    group.entries_read ? c.size(*group.entries_read) : c.null();
    c.bulk("lag");
    std::optional<std::uint64_t> read;
    if (stream.entries_added == 0)
        read = 0;
    else if (group.entries_read && !has_gaps(stream, group.last_delivered))
        read = group.entries_read;
    else
        read = entries_until(stream, group.last_delivered);
    read ? c.size(stream.entries_added - *read) : c.null();
}

// Of a radix tree with nodes of a hundred entries, as the real server has.
std::size_t tree_keys(stream_value const& stream) noexcept { return (stream.entries.size() + 99) / 100; }

void stream_head(call& c, stream_value const& stream) {
    named(c, "length", stream.entries.size());
    named(c, "radix-tree-keys", tree_keys(stream));
    named(c, "radix-tree-nodes", tree_keys(stream) + 1);
    named(c, "last-generated-id", stream.last_id);
    named(c, "max-deleted-entry-id", stream.max_deleted_id);
    named(c, "entries-added", stream.entries_added);
    named(c, "recorded-first-entry-id", stream.entries.empty() ? stream_id{} : stream.entries.begin()->first);
}

void stream_in_full(call& c, stream_value const& stream, std::size_t count_max) {
    auto const limited = [count_max](std::size_t n) { return count_max == 0 ? n : std::min(n, count_max); };
    c.map(9);
    stream_head(c, stream);
    c.bulk("entries");
    std::size_t left = limited(stream.entries.size());
    c.array(left);
    for (auto at = stream.entries.begin(); left != 0; ++at, --left)
        append_stream_entry(c, *at);
    c.bulk("groups");
    c.array(stream.groups.size());
    for (auto const& [name, group] : stream.groups) {
        c.map(7);
        c.bulk("name");
        c.bulk(name);
        named(c, "last-delivered-id", group.last_delivered);
        named_group_progress(c, stream, group);
        named(c, "pel-count", group.pending.size());
        c.bulk("pending");
        left = limited(group.pending.size());
        c.array(left);
        for (auto at = group.pending.begin(); left != 0; ++at, --left) {
            c.array(4);
            append_stream_id(c, at->first);
            c.bulk(at->second.consumer);
            c.number(at->second.delivered_at);
            c.number(at->second.deliveries);
        }
        c.bulk("consumers");
        c.array(group.consumers.size());
        for (auto const& [consumer_name, consumer] : group.consumers) {
            c.map(4);
            c.bulk("name");
            c.bulk(consumer_name);
            c.bulk("seen-time");
            c.number(consumer.seen_at);
            named(c, "pel-count", consumer.pending);
            c.bulk("pending");
            left = limited(consumer.pending);
            c.array(left);
            for (auto at = group.pending.begin(); left != 0; ++at)
                if (at->second.consumer == consumer_name) {
                    c.array(3);
                    append_stream_id(c, at->first);
                    c.number(at->second.delivered_at);
                    c.number(at->second.deliveries);
                    --left;
                }
        }
    }
}

bool find_stream(call& c, stream_value*& stream) {
    if (!c.get(c.args[2], stream))
        return false;
    if (!stream)
        c.error("ERR no such key");
    return stream != nullptr;
}

void info_stream(call& c) {
    std::int64_t count = 10;
    stream_value* stream = nullptr;
    bool const is_full = c.count() > 3;
    if (is_full && (!c.is(3, "full") || c.count() == 5 || c.count() > 6 || (c.count() == 6 && !c.is(4, "count"))))
        return c.wrong_subcommand();
    if (c.count() == 6 && !c.integer(c.args[5], count))
        return;
    if (!find_stream(c, stream))
        return;
    if (is_full)
        return stream_in_full(c, *stream, count < 0 ? 10 : static_cast<std::size_t>(count));
    c.map(10);
    stream_head(c, *stream);
    named(c, "groups", stream->groups.size());
    c.bulk("first-entry");
    stream->entries.empty() ? c.null() : append_stream_entry(c, *stream->entries.begin());
    c.bulk("last-entry");
    stream->entries.empty() ? c.null() : append_stream_entry(c, *std::prev(stream->entries.end()));
}

void info_groups(call& c) {
    stream_value* stream = nullptr;
    if (!find_stream(c, stream))
        return;
    c.array(stream->groups.size());
    for (auto const& [name, group] : stream->groups) {
        c.map(6);
        c.bulk("name");
        c.bulk(name);
        named(c, "consumers", group.consumers.size());
        named(c, "pending", group.pending.size());
        named(c, "last-delivered-id", group.last_delivered);
        named_group_progress(c, *stream, group);
    }
}

void info_consumers(call& c) {
    stream_value* stream = nullptr;
    if (!find_stream(c, stream))
        return;
    auto const at = stream->groups.find(c.args[3]);
    if (at == stream->groups.end())
        return c.error("NOGROUP No such consumer group '" + std::string(c.args[3]) + "' for key name '" +
                       std::string(c.args[2]) + "'");
    c.array(at->second.consumers.size());
    for (auto const& [name, consumer] : at->second.consumers) {
        c.map(3);
        c.bulk("name");
        c.bulk(name);
        named(c, "pending", consumer.pending);
        c.bulk("idle");
        c.number(c.server.now() - consumer.seen_at);
    }
}

void xinfo(call& c) {
    static constexpr subcommand subcommands[] = {
        {"stream", -3, info_stream},
        {"groups", 3, info_groups},
        {"consumers", 4, info_consumers},
    };
    choose(c, subcommands);
}

constexpr command table[] = {
    {"xadd", at_least(5), 0, one_key, of_write | of_stream | of_fast, xadd},
    {"xdel", at_least(3), 0, one_key, of_write | of_stream | of_fast, xdel},
    {"xinfo", at_least(2), has_subcommands, {2, 2, 1}, of_slow, xinfo},
    {"xlen", 2, 0, one_key, of_read | of_stream | of_fast, xlen},
    {"xrange", at_least(4), 0, one_key, of_read | of_stream | of_slow, xrange},
    {"xrevrange", at_least(4), 0, one_key, of_read | of_stream | of_slow, xrevrange},
    {"xsetid", at_least(3), 0, one_key, of_write | of_stream | of_fast, xsetid},
    {"xtrim", at_least(4), 0, one_key, of_write | of_stream | of_slow, xtrim},
};

} // namespace

std::span<command const> rows() noexcept { return table; }

} // namespace fairlead::redis::server_impl::streams

namespace fairlead::redis::server_impl {

bool parse_stream_id(std::string_view text, std::uint64_t missing_seq, bool has_ends, stream_id& id) noexcept {
    if (has_ends && (text == "-" || text == "+")) {
        id = text == "-" ? stream_id{} : stream_id::max();
        return true;
    }
    auto const read = [](std::string_view digits, std::uint64_t& n) {
        auto const [stop, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
        return ec == std::errc{} && stop == digits.data() + digits.size();
    };
    std::size_t const dash = text.find('-');
    id.seq = missing_seq;
    return read(text.substr(0, dash), id.ms) && (dash == text.npos || read(text.substr(dash + 1), id.seq));
}

bool read_stream_id(call& c, std::string_view text, std::uint64_t missing_seq, stream_id& id) {
    if (parse_stream_id(text, missing_seq, false, id))
        return true;
    c.error("ERR Invalid stream ID specified as stream command argument");
    return false;
}

bool read_stream_range(call& c, std::string_view first, std::string_view last, stream_range& range) {
    auto const read = [&c](std::string_view text, std::uint64_t missing_seq, stream_id& id, bool& is_open) {
        is_open = text.starts_with('(') && text.size() > 1;
        bool const is_good = parse_stream_id(text.substr(is_open), missing_seq, !is_open, id);
        if (!is_good)
            c.error("ERR Invalid stream ID specified as stream command argument");
        return is_good;
    };
    bool first_is_open = false, last_is_open = false;
    if (!read(first, 0, range.first, first_is_open))
        return false;
    if (first_is_open && !streams::step_up(range.first)) {
        c.error("ERR invalid start ID for the interval");
        return false;
    }
    if (!read(last, streams::seq_max, range.last, last_is_open))
        return false;
    if (last_is_open && !streams::step_down(range.last)) {
        c.error("ERR invalid end ID for the interval");
        return false;
    }
    return true;
}

void append_stream_id(call& c, stream_id id) { c.bulk(id.text()); }

void append_stream_entry(call& c, stream_item const& item) {
    c.array(2);
    append_stream_id(c, item.first);
    c.array(item.second.size());
    for (auto const& text : item.second)
        c.bulk(text);
}

bool has_gaps(stream_value const& stream, stream_id after) noexcept {
    return !stream.entries.empty() && stream.max_deleted_id != stream_id{} && after <= stream.max_deleted_id;
}

std::optional<std::uint64_t> entries_until(stream_value const& stream, stream_id id) {
    if (stream.entries_added == 0)
        return 0;
    if ((stream.entries.empty() && id <= stream.last_id) || id == stream.last_id)
        return stream.entries_added;
    if (id > stream.last_id)
        return {};
    stream_id const first = stream.entries.empty() ? stream_id{} : stream.entries.begin()->first;
    if ((stream.max_deleted_id == stream_id{} || stream.max_deleted_id < first) && id <= first)
        return stream.entries_added - stream.entries.size() + (id == first);
    return {};
}

stream_consumer& find_or_make_consumer(stream_group& group, std::string_view name, std::int64_t now) {
    auto& consumer = group.consumers[std::string(name)];
    consumer.seen_at = now;
    return consumer;
}

pending_entry& assign(stream_group& group, stream_id id, std::string_view consumer) {
    auto const [at, is_new] = group.pending.try_emplace(id);
    if (!is_new)
        --group.consumers.find(at->second.consumer)->second.pending;
    at->second.consumer = consumer;
    ++group.consumers.find(consumer)->second.pending;
    return at->second;
}

void forget(stream_group& group, std::map<stream_id, pending_entry>::iterator at) {
    --group.consumers.find(at->second.consumer)->second.pending;
    group.pending.erase(at);
}

} // namespace fairlead::redis::server_impl
