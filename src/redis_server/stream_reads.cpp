// XREAD and XREADGROUP: new entries of several streams, now or later.
#include <redis_server/call.hpp>
#include <redis_server/streams.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::redis::server_impl::stream_reads {
namespace {

struct read_request {
    std::int64_t count = 0; // 0: all
    bool waits = false;
    std::optional<std::int64_t> until;
    bool has_group = false, acknowledges = false; // NOACK: delivered is as good as acknowledged
    std::string_view group, consumer;
    std::size_t streams_at = 0; // the first key
    std::size_t streams = 0;
};

bool read_options(call& c, bool is_group, read_request& r) {
    std::size_t i = 1;
    for (; i < c.count() && r.streams_at == 0; ++i) {
        bool const has_value = i + 1 < c.count();
        if (c.is(i, "block") && has_value) {
            if (!c.milliseconds_limit(c.args[++i], r.until))
                return false;
            r.waits = true;
        } else if (c.is(i, "count") && has_value) {
            if (!c.integer(c.args[++i], r.count))
                return false;
            r.count = std::max<std::int64_t>(r.count, 0);
        } else if (c.is(i, "streams") && has_value) {
            r.streams_at = i + 1;
        } else if (c.is(i, "group") && i + 2 < c.count()) {
            if (!is_group) {
                c.error("ERR The GROUP option is only supported by XREADGROUP. You called XREAD instead.");
                return false;
            }
            r.has_group = true;
            r.group = c.args[++i];
            r.consumer = c.args[++i];
        } else if (c.is(i, "noack")) {
            if (!is_group) {
                c.error("ERR The NOACK option is only supported by XREADGROUP. You called XREAD instead.");
                return false;
            }
            r.acknowledges = true;
        } else {
            c.syntax_error();
            return false;
        }
    }
    if (r.streams_at == 0) {
        c.syntax_error();
        return false;
    }
    if ((c.count() - r.streams_at) % 2 != 0) {
        c.error("ERR Unbalanced XREAD list of streams: for each stream key an ID or '$' must be specified.");
        return false;
    }
    if (is_group && !r.has_group) {
        c.error("ERR Missing GROUP option for XREADGROUP");
        return false;
    }
    r.streams = (c.count() - r.streams_at) / 2;
    return true;
}

// One stream of the request.
struct source {
    std::string_view key;
    stream_value* stream = nullptr;
    stream_group* group = nullptr;
    stream_id after;
    bool is_new = false; // ">": what no consumer of the group was given
};

bool read_source(call& c, read_request const& r, std::size_t i, source& s) {
    s.key = c.args[r.streams_at + i];
    std::string_view const id = c.args[r.streams_at + r.streams + i];
    if (!c.get(s.key, s.stream))
        return false;
    if (r.has_group) {
        auto const at = s.stream ? s.stream->groups.find(r.group) : decltype(s.stream->groups.end())();
        if (!s.stream || at == s.stream->groups.end()) {
            c.error("NOGROUP No such key '" + std::string(s.key) + "' or consumer group '" + std::string(r.group) +
                    "' in XREADGROUP with GROUP option");
            return false;
        }
        s.group = &at->second;
    }
    if (id == "$") {
        if (r.has_group) {
            c.error("ERR The $ ID is meaningless in the context of XREADGROUP: you want to read the history of this "
                    "consumer by specifying a proper ID, or use the > ID to get new messages. The $ ID would just "
                    "return an empty result set.");
            return false;
        }
        s.after = s.stream ? s.stream->last_id : stream_id{};
        return true;
    }
    if (id == ">") {
        if (!r.has_group) {
            c.error("ERR The > ID can be specified only when calling XREADGROUP using the GROUP <group> <consumer> "
                    "option.");
            return false;
        }
        s.is_new = true;
        s.after = s.group->last_delivered;
        return true;
    }
    return read_stream_id(c, id, 0, s.after);
}

bool has_entries(source const& s) {
    if (s.group && !s.is_new)
        return true; // The history of a consumer is an answer even when it is empty.
    return s.stream && !s.stream->entries.empty() && std::prev(s.stream->entries.end())->first > s.after;
}

// The entries that the consumer was given and did not acknowledge. Deleted ones are null.
void answer_with_history(call& c, read_request const& r, source const& s) {
    std::vector<std::map<stream_id, pending_entry>::iterator> found;
    for (auto at = s.group->pending.upper_bound(s.after); at != s.group->pending.end(); ++at) {
        if (r.count != 0 && found.size() == static_cast<std::size_t>(r.count))
            break;
        if (at->second.consumer == r.consumer)
            found.push_back(at);
    }
    c.array(found.size());
    for (auto const at : found) {
        auto const entry = s.stream->entries.find(at->first);
        if (entry == s.stream->entries.end()) {
            c.array(2);
            append_stream_id(c, at->first);
            c.null_array();
            continue;
        }
        append_stream_entry(c, *entry);
        at->second.delivered_at = c.server.now();
        ++at->second.deliveries;
    }
}

void deliver(call& c, read_request const& r, source const& s, stream_id id) {
    stream_group& group = *s.group;
    if (id > group.last_delivered) {
        if (group.entries_read && !has_gaps(*s.stream, id))
            ++*group.entries_read;
        else
            group.entries_read = entries_until(*s.stream, id);
        group.last_delivered = id;
    }
    if (r.acknowledges)
        return;
    pending_entry& pending = assign(group, id, r.consumer);
    pending.delivered_at = c.server.now();
    pending.deliveries = 1;
}

void answer_with_entries(call& c, read_request const& r, source const& s) {
    auto const begin = s.stream->entries.upper_bound(s.after);
    auto n = static_cast<std::size_t>(std::distance(begin, s.stream->entries.end()));
    if (r.count != 0)
        n = std::min(n, static_cast<std::size_t>(r.count));
    c.array(n);
    for (auto at = begin; n != 0; ++at, --n) {
        append_stream_entry(c, *at);
        if (s.group)
            deliver(c, r, s, at->first);
    }
}

void answer(call& c, read_request const& r, std::vector<source> const& sources) {
    c.is_resp3() ? c.map(sources.size()) : c.array(sources.size());
    for (auto const& s : sources) {
        if (!c.is_resp3())
            c.array(2);
        c.bulk(s.key);
        if (s.group)
            find_or_make_consumer(*s.group, r.consumer, c.server.now());
        s.group && !s.is_new ? answer_with_history(c, r, s) : answer_with_entries(c, r, s);
        if (s.group)
            c.changed(s.key);
    }
}

// The command waits; "$" is the last entry of now, not of the time at which it runs anew.
void wait_for_entries(call& c, read_request const& r, std::vector<source> const& sources) {
    std::vector<std::string> arguments(c.args.begin(), c.args.end());
    std::vector<std::string_view> keys;
    for (std::size_t i = 0; i != r.streams; ++i) {
        keys.push_back(sources[i].key);
        std::string& id = arguments[r.streams_at + r.streams + i];
        if (id == "$")
            id = sources[i].after.text();
    }
    c.wait(keys, r.until, late_reply::null_array, std::move(arguments));
}

// A waiting command whose stream has changed. True: the change was its end, and it has answered.
bool ends_with_change(call& c, read_request const& r) {
    auto const at = c.find(*c.ready);
    auto* const stream = at == c.db().end() ? nullptr : std::get_if<stream_value>(&at->second.held);
    if (!r.has_group)
        return false;
    if (!stream)
        c.error("UNBLOCKED the stream key no longer exists");
    else if (!stream->groups.contains(r.group))
        c.error("NOGROUP the consumer group this client was blocked on no longer exists");
    return !stream || !stream->groups.contains(r.group);
}

void read_streams(call& c, bool is_group) {
    read_request r;
    if (!read_options(c, is_group, r))
        return;
    if (c.ready && ends_with_change(c, r))
        return;
    std::vector<source> sources, full;
    for (std::size_t i = 0; i != r.streams; ++i) {
        stream_value* stream = nullptr;
        if (!c.get_waiting(c.args[r.streams_at + i], stream))
            return;
        if (c.ready && !stream)
            continue; // Another one has changed, or it is no stream any more.
        if (!read_source(c, r, i, sources.emplace_back()))
            return;
        if (has_entries(sources.back()))
            full.push_back(sources.back());
    }
    if (!full.empty())
        return answer(c, r, full);
    if (!r.waits || !c.may_wait())
        return c.null_array();
    c.ready ? c.wait({}, {}) : wait_for_entries(c, r, sources);
}

void xread(call& c) { read_streams(c, false); }
void xreadgroup(call& c) { read_streams(c, true); }

constexpr command table[] = {
    {"xread", at_least(4), 0, after_streams, of_read | of_stream | of_slow | of_blocking, xread},
    {"xreadgroup", at_least(7), 0, after_streams, of_write | of_stream | of_slow | of_blocking, xreadgroup},
};

} // namespace

std::span<command const> rows() noexcept { return table; }

} // namespace fairlead::redis::server_impl::stream_reads
