// Groups of consumers, and the entries that they have not acknowledged.
#include <redis_server/call.hpp>
#include <redis_server/streams.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::redis::server_impl::stream_groups {
namespace {

// XGROUP.

bool find_stream(call& c, stream_value*& stream) {
    if (!c.get(c.args[2], stream))
        return false;
    if (!stream)
        c.error("ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the "
                "MKSTREAM option to create an empty stream automatically.");
    return stream != nullptr;
}

bool find_group(call& c, stream_value*& stream, stream_group*& group) {
    if (!find_stream(c, stream))
        return false;
    auto const at = stream->groups.find(c.args[3]);
    if (at == stream->groups.end()) {
        c.error("NOGROUP No such consumer group '" + std::string(c.args[3]) + "' for key name '" +
                std::string(c.args[2]) + "'");
        return false;
    }
    group = &at->second;
    return true;
}

struct position {
    bool makes_stream = false;
    std::optional<std::uint64_t> entries_read;
};

bool read_position(call& c, bool may_make, position& p) {
    for (std::size_t i = 5; i < c.count(); ++i) {
        if (may_make && c.is(i, "mkstream")) {
            p.makes_stream = true;
        } else if (c.is(i, "entriesread") && i + 1 < c.count()) {
            std::int64_t n = 0;
            if (!c.integer(c.args[++i], n))
                return false;
            if (n < -1) {
                c.error("ERR value for ENTRIESREAD must be positive or -1");
                return false;
            }
            if (n >= 0)
                p.entries_read = static_cast<std::uint64_t>(n);
        } else {
            c.wrong_subcommand();
            return false;
        }
    }
    return true;
}

void group_create(call& c) {
    position p;
    if (!read_position(c, true, p))
        return;
    stream_value* stream = nullptr;
    if (!(p.makes_stream ? c.get(c.args[2], stream) : find_stream(c, stream)))
        return;
    stream_id id = stream ? stream->last_id : stream_id{};
    if (c.args[4] != "$" && !read_stream_id(c, c.args[4], 0, id))
        return;
    if (!stream)
        stream = &c.make_empty<stream_value>(c.args[2]);
    auto const [at, is_new] = stream->groups.try_emplace(std::string(c.args[3]));
    if (!is_new)
        return c.error("BUSYGROUP Consumer Group name already exists");
    at->second.last_delivered = id;
    at->second.entries_read = p.entries_read;
    c.changed(c.args[2]);
    c.ok();
}

void group_setid(call& c) {
    position p;
    stream_value* stream = nullptr;
    stream_group* group = nullptr;
    if (!read_position(c, false, p) || !find_group(c, stream, group))
        return;
    stream_id id = stream->last_id;
    if (c.args[4] != "$" && !read_stream_id(c, c.args[4], 0, id))
        return;
    group->last_delivered = id;
    group->entries_read = p.entries_read;
    c.changed(c.args[2]);
    c.ok();
}

void group_destroy(call& c) {
    stream_value* stream = nullptr;
    if (!find_stream(c, stream))
        return;
    auto const at = stream->groups.find(c.args[3]);
    if (at == stream->groups.end())
        return c.number(0);
    stream->groups.erase(at);
    c.changed(c.args[2]);
    c.number(1);
}

void group_createconsumer(call& c) {
    stream_value* stream = nullptr;
    stream_group* group = nullptr;
    if (!find_group(c, stream, group))
        return;
    bool const is_new = group->consumers.try_emplace(std::string(c.args[4]), stream_consumer{c.server.now(), 0}).second;
    if (is_new)
        c.changed(c.args[2]);
    c.number(is_new);
}

void group_delconsumer(call& c) {
    stream_value* stream = nullptr;
    stream_group* group = nullptr;
    if (!find_group(c, stream, group))
        return;
    auto const at = group->consumers.find(c.args[4]);
    if (at == group->consumers.end())
        return c.number(0);
    std::size_t const pending = at->second.pending;
    std::erase_if(group->pending, [&](auto const& item) { return item.second.consumer == c.args[4]; });
    group->consumers.erase(at);
    c.changed(c.args[2]);
    c.size(pending);
}

void xgroup(call& c) {
    static constexpr subcommand subcommands[] = {
        {"create", -5, group_create},          {"setid", -5, group_setid},
        {"destroy", 4, group_destroy},         {"createconsumer", 5, group_createconsumer},
        {"delconsumer", 5, group_delconsumer},
    };
    choose(c, subcommands);
}

// Entries that consumers have and did not acknowledge.

void xack(call& c) {
    stream_value* stream = nullptr;
    if (!c.get(c.args[1], stream))
        return;
    auto const at = stream ? stream->groups.find(c.args[2]) : decltype(stream->groups.end())();
    if (!stream || at == stream->groups.end())
        return c.number(0);
    std::vector<stream_id> ids;
    for (std::string_view const text : c.args.subspan(3))
        if (!read_stream_id(c, text, 0, ids.emplace_back()))
            return;
    std::int64_t acknowledged = 0;
    for (stream_id const id : ids)
        if (auto const pending = at->second.pending.find(id); pending != at->second.pending.end()) {
            forget(at->second, pending);
            ++acknowledged;
        }
    if (acknowledged != 0)
        c.changed(c.args[1]);
    c.number(acknowledged);
}

bool find_pending_group(call& c, stream_value*& stream, stream_group*& group) {
    if (!c.get(c.args[1], stream))
        return false;
    auto const at = stream ? stream->groups.find(c.args[2]) : decltype(stream->groups.end())();
    if (!stream || at == stream->groups.end()) {
        c.error("NOGROUP No such key '" + std::string(c.args[1]) + "' or consumer group '" + std::string(c.args[2]) +
                "'");
        return false;
    }
    group = &at->second;
    return true;
}

void summarize_pending(call& c, stream_group const& group) {
    c.array(4);
    c.size(group.pending.size());
    if (group.pending.empty()) {
        c.null();
        c.null();
        return c.null_array();
    }
    append_stream_id(c, group.pending.begin()->first);
    append_stream_id(c, std::prev(group.pending.end())->first);
    c.array(static_cast<std::size_t>(
        std::ranges::count_if(group.consumers, [](auto const& item) { return item.second.pending != 0; })));
    for (auto const& [name, consumer] : group.consumers)
        if (consumer.pending != 0) {
            c.array(2);
            c.bulk(name);
            c.bulk(std::to_string(consumer.pending));
        }
}

void xpending(call& c) {
    stream_value* stream = nullptr;
    stream_group* group = nullptr;
    if (c.count() == 3) {
        if (find_pending_group(c, stream, group))
            summarize_pending(c, *group);
        return;
    }
    std::int64_t idle_min = 0, count = 0;
    std::size_t at = 3;
    if (c.is(at, "idle")) {
        if (c.count() < 5)
            return c.syntax_error();
        if (!c.integer(c.args[4], idle_min))
            return;
        at = 5;
    }
    if (c.count() != at + 3 && c.count() != at + 4)
        return c.syntax_error();
    stream_range range;
    if (!c.integer(c.args[at + 2], count) || !read_stream_range(c, c.args[at], c.args[at + 1], range) ||
        !find_pending_group(c, stream, group))
        return;
    bool const has_consumer = c.count() == at + 4;
    std::vector<std::map<stream_id, pending_entry>::const_iterator> found;
    for (auto item = group->pending.lower_bound(range.first);
         item != group->pending.end() && item->first <= range.last && static_cast<std::int64_t>(found.size()) < count;
         ++item)
        if ((!has_consumer || item->second.consumer == c.args[at + 3]) &&
            c.server.now() - item->second.delivered_at >= idle_min)
            found.push_back(item);
    c.array(found.size());
    for (auto const item : found) {
        c.array(4);
        append_stream_id(c, item->first);
        c.bulk(item->second.consumer);
        c.number(std::max<std::int64_t>(c.server.now() - item->second.delivered_at, 0));
        c.number(item->second.deliveries);
    }
}

// Claiming.

struct claim_request {
    std::int64_t idle_min = 0;
    std::int64_t delivered_at = 0;
    std::optional<std::int64_t> deliveries;
    bool by_force = false, only_ids = false;
    std::optional<stream_id> last_id;
    std::vector<stream_id> ids;
};

bool read_idle(call& c, claim_request& r) {
    if (!c.integer(c.args[4], r.idle_min, "ERR Invalid min-idle-time argument for " + upper(c.cmd.name)))
        return false;
    r.idle_min = std::max<std::int64_t>(r.idle_min, 0);
    return true;
}

bool read_claim(call& c, claim_request& r) {
    if (!read_idle(c, r))
        return false;
    std::int64_t const now = c.server.now();
    r.delivered_at = now;
    std::size_t i = 5;
    for (stream_id id; i < c.count() && parse_stream_id(c.args[i], 0, false, id); ++i)
        r.ids.push_back(id);
    for (; i < c.count(); ++i) {
        bool const has_value = i + 1 < c.count();
        std::int64_t n = 0;
        if (c.is(i, "force")) {
            r.by_force = true;
        } else if (c.is(i, "justid")) {
            r.only_ids = true;
        } else if (has_value && c.is(i, "idle")) {
            if (!c.integer(c.args[++i], n, "ERR Invalid IDLE option argument for XCLAIM"))
                return false;
            r.delivered_at = now - n;
        } else if (has_value && c.is(i, "time")) {
            if (!c.integer(c.args[++i], r.delivered_at, "ERR Invalid TIME option argument for XCLAIM"))
                return false;
        } else if (has_value && c.is(i, "retrycount")) {
            if (!c.integer(c.args[++i], n, "ERR Invalid RETRYCOUNT option argument for XCLAIM"))
                return false;
            r.deliveries = n;
        } else if (has_value && c.is(i, "lastid")) {
            if (!read_stream_id(c, c.args[++i], 0, r.last_id.emplace()))
                return false;
        } else {
            c.error("ERR Unrecognized XCLAIM option '" + std::string(c.args[i]) + "'");
            return false;
        }
    }
    if (r.delivered_at < 0 || r.delivered_at > now)
        r.delivered_at = now; // As Redis: nothing was delivered in the future.
    return true;
}

void claim(call& c, claim_request const& r, stream_group& group, stream_id id) {
    pending_entry& pending = assign(group, id, c.args[3]);
    pending.delivered_at = r.delivered_at;
    if (r.deliveries)
        pending.deliveries = *r.deliveries;
    else if (!r.only_ids)
        ++pending.deliveries;
}

void list_claimed(call& c, bool only_ids, stream_value const& stream, std::vector<stream_id> const& ids) {
    c.array(ids.size());
    for (stream_id const id : ids)
        only_ids ? append_stream_id(c, id) : append_stream_entry(c, *stream.entries.find(id));
}

void xclaim(call& c) {
    stream_value* stream = nullptr;
    stream_group* group = nullptr;
    claim_request r;
    if (!find_pending_group(c, stream, group) || !read_claim(c, r))
        return;
    if (r.last_id && *r.last_id > group->last_delivered)
        group->last_delivered = *r.last_id;
    std::vector<stream_id> claimed;
    find_or_make_consumer(*group, c.args[3], c.server.now());
    for (stream_id const id : r.ids) {
        auto const at = group->pending.find(id);
        bool const is_pending = at != group->pending.end();
        if (!stream->entries.contains(id)) { // Deleted meanwhile: nobody can process it.
            if (is_pending)
                forget(*group, at);
            continue;
        }
        if (!is_pending && !r.by_force)
            continue;
        if (is_pending && c.server.now() - at->second.delivered_at < r.idle_min)
            continue;
        if (!is_pending)
            assign(*group, id, c.args[3]);
        claim(c, r, *group, id);
        claimed.push_back(id);
    }
    c.changed(c.args[1]);
    list_claimed(c, r.only_ids, *stream, claimed);
}

void xautoclaim(call& c) {
    claim_request r;
    stream_range range{{}, stream_id::max()};
    std::int64_t count = 100;
    if (!read_idle(c, r) || !read_stream_range(c, c.args[5], "+", range))
        return;
    for (std::size_t i = 6; i < c.count(); ++i) {
        if (c.is(i, "justid")) {
            r.only_ids = true;
        } else if (c.is(i, "count") && i + 1 < c.count()) {
            constexpr std::int64_t count_max = std::numeric_limits<std::int64_t>::max() / 16;
            if (!parse_integer(c.args[++i], count) || count < 1 || count > count_max)
                return c.error("ERR COUNT must be > 0");
        } else {
            return c.syntax_error();
        }
    }
    stream_value* stream = nullptr;
    stream_group* group = nullptr;
    if (!find_pending_group(c, stream, group))
        return;
    r.delivered_at = c.server.now();
    find_or_make_consumer(*group, c.args[3], c.server.now());
    std::vector<stream_id> claimed, deleted;
    auto at = group->pending.lower_bound(range.first);
    constexpr std::int64_t looked_at_each = 10; // entries for each one that is wanted
    for (std::int64_t attempts = count * looked_at_each; attempts != 0 && count != 0 && at != group->pending.end();
         --attempts) {
        auto const item = at++;
        if (!stream->entries.contains(item->first)) {
            deleted.push_back(item->first);
            forget(*group, item);
            --count;
            continue;
        }
        if (c.server.now() - item->second.delivered_at < r.idle_min)
            continue;
        claim(c, r, *group, item->first);
        claimed.push_back(item->first);
        --count;
    }
    c.changed(c.args[1]);
    c.array(3);
    append_stream_id(c, at == group->pending.end() ? stream_id{} : at->first);
    list_claimed(c, r.only_ids, *stream, claimed);
    c.array(deleted.size());
    for (stream_id const id : deleted)
        append_stream_id(c, id);
}

constexpr command table[] = {
    {"xack", at_least(4), 0, one_key, of_write | of_stream | of_fast, xack},
    {"xautoclaim", at_least(6), 0, one_key, of_write | of_stream | of_fast, xautoclaim},
    {"xclaim", at_least(6), 0, one_key, of_write | of_stream | of_fast, xclaim},
    {"xgroup", at_least(2), has_subcommands, {2, 2, 1}, of_slow, xgroup},
    {"xpending", at_least(3), 0, one_key, of_read | of_stream | of_slow, xpending},
};

} // namespace

std::span<command const> rows() noexcept { return table; }

} // namespace fairlead::redis::server_impl::stream_groups
