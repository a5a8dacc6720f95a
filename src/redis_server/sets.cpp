// Commands on sets.
#include <redis_server/call.hpp>
#include <redis_server/scan.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::redis::server_impl::sets {
namespace {

void sadd(call& c) {
    set_value* members = nullptr;
    if (!c.get_or_make(c.args[1], members))
        return;
    std::int64_t added = 0;
    for (std::string_view const member : c.args.subspan(2))
        added += members->emplace(member).second;
    if (added != 0)
        c.changed(c.args[1]);
    c.number(added);
}

void srem(call& c) {
    set_value* members = nullptr;
    if (!c.get(c.args[1], members))
        return;
    std::int64_t removed = 0;
    if (members)
        for (std::string_view const member : c.args.subspan(2))
            if (auto const at = members->find(member); at != members->end()) {
                members->erase(at);
                ++removed;
            }
    if (removed != 0)
        c.changed(c.args[1]);
    c.number(removed);
}

void smembers(call& c) {
    set_value* members = nullptr;
    if (!c.get(c.args[1], members))
        return;
    c.set(members ? members->size() : 0);
    if (members)
        for (auto const& member : *members)
            c.bulk(member);
}

void sismember(call& c) {
    set_value* members = nullptr;
    if (c.get(c.args[1], members))
        c.number(members && members->contains(c.args[2]));
}

void smismember(call& c) {
    set_value* members = nullptr;
    if (!c.get(c.args[1], members))
        return;
    c.array(c.args.size() - 2);
    for (std::string_view const member : c.args.subspan(2))
        c.number(members && members->contains(member));
}

void scard(call& c) {
    set_value* members = nullptr;
    if (c.get(c.args[1], members))
        c.size(members ? members->size() : 0);
}

// Any member may go; the first one makes runs repeatable.
void spop(call& c) {
    if (c.args.size() > 3)
        return c.syntax_error();
    bool const has_count = c.args.size() == 3;
    std::int64_t count = 1;
    if (has_count && (!parse_integer(c.args[2], count) || count < 0))
        return c.error("ERR value is out of range, must be positive");
    set_value* members = nullptr;
    if (!c.get(c.args[1], members))
        return;
    if (!members)
        return has_count ? c.set(0) : c.null();
    auto const n = std::min(static_cast<std::size_t>(count), members->size());
    if (has_count)
        c.set(n);
    for (std::size_t i = 0; i != n; ++i) {
        c.bulk(*members->begin());
        members->erase(members->begin());
    }
    if (n != 0)
        c.changed(c.args[1]);
}

enum class combination : unsigned char { all, common, first_alone };

// The set that the keys have together. False: answered.
bool combine(call& c, std::span<std::string_view const> keys, combination how, set_value& result) {
    bool is_first = true;
    for (std::string_view const key : keys) {
        set_value* members = nullptr;
        if (!c.get(key, members))
            return false;
        static set_value const nothing;
        set_value const& other = members ? *members : nothing;
        if (is_first)
            result = other;
        else if (how == combination::all)
            result.insert(other.begin(), other.end());
        else
            std::erase_if(result, [&](std::string const& member) {
                return other.contains(member) == (how == combination::first_alone);
            });
        is_first = false;
    }
    return true;
}

void list_combined(call& c, combination how) {
    set_value result;
    if (!combine(c, c.args.subspan(1), how, result))
        return;
    c.set(result.size());
    for (auto const& member : result)
        c.bulk(member);
}

void store_combined(call& c, combination how) {
    set_value result;
    if (!combine(c, c.args.subspan(2), how, result))
        return;
    c.size(result.size());
    c.replace(c.args[1], std::move(result));
}

void sunion(call& c) { list_combined(c, combination::all); }
void sinter(call& c) { list_combined(c, combination::common); }
void sdiff(call& c) { list_combined(c, combination::first_alone); }
void sunionstore(call& c) { store_combined(c, combination::all); }
void sinterstore(call& c) { store_combined(c, combination::common); }
void sdiffstore(call& c) { store_combined(c, combination::first_alone); }

void sintercard(call& c) {
    std::int64_t keys = 0, limit = 0;
    if (!parse_integer(c.args[1], keys) || keys < 1)
        return c.error("ERR numkeys should be greater than 0");
    if (static_cast<std::uint64_t>(keys) > c.count() - 2)
        return c.error("ERR Number of keys can't be greater than number of args");
    std::size_t const behind = 2 + static_cast<std::size_t>(keys);
    for (std::size_t i = behind; i < c.count(); i += 2) {
        if (!c.is(i, "limit") || i + 1 == c.count())
            return c.syntax_error();
        if (!parse_integer(c.args[i + 1], limit) || limit < 0)
            return c.error("ERR LIMIT can't be negative");
    }
    set_value result;
    if (!combine(c, c.args.subspan(2, behind - 2), combination::common, result))
        return;
    c.size(limit == 0 ? result.size() : std::min(result.size(), static_cast<std::size_t>(limit)));
}

void smove(call& c) {
    set_value *from = nullptr, *to = nullptr;
    if (!c.get(c.args[1], from))
        return;
    if (!from)
        return c.number(0);
    if (!c.get(c.args[2], to))
        return;
    auto const at = from->find(c.args[3]);
    if (at == from->end())
        return c.number(0);
    if (c.args[1] != c.args[2]) {
        from->erase(at);
        c.changed(c.args[1]);
        if (!to)
            to = &c.make_empty<set_value>(c.args[2]);
        to->emplace(c.args[3]);
        c.changed(c.args[2]);
    }
    c.number(1);
}

// Any member may be chosen; the first ones make runs repeatable. A count below zero allows repetitions.
void srandmember(call& c) {
    std::int64_t count = 1;
    if (c.count() > 3)
        return c.syntax_error();
    bool const has_count = c.count() == 3;
    if (has_count && !c.integer(c.args[2], count))
        return;
    set_value* members = nullptr;
    if (!c.get(c.args[1], members))
        return;
    if (!members)
        return has_count ? c.array(0) : c.null();
    if (!has_count)
        return c.bulk(*members->begin());
    std::size_t const n = chosen_count(count, members->size());
    c.array(n);
    auto at = members->begin();
    for (std::size_t i = 0; i != n; ++i) {
        c.bulk(*at);
        if (++at == members->end())
            at = members->begin();
    }
}

void sscan(call& c) {
    scan_options options;
    set_value* members = nullptr;
    if (!read_scan_options(c, 2, false, options) || !c.get(c.args[1], members))
        return;
    std::vector<std::string_view> names;
    if (members)
        names.assign(members->begin(), members->end());
    scan_step step = choose_step(names, options);
    std::erase_if(step.chosen, [&](std::size_t k) { return !glob_match(options.pattern, names[k]); });
    begin_scan_reply(c, step, step.chosen.size());
    for (std::size_t const k : step.chosen)
        c.bulk(names[k]);
}

constexpr command table[] = {
    {"sadd", at_least(3), 0, one_key, of_write | of_set | of_fast, sadd},
    {"scard", 2, 0, one_key, of_read | of_set | of_fast, scard},
    {"sdiff", at_least(2), 0, all_keys, of_read | of_set | of_slow, sdiff},
    {"sdiffstore", at_least(3), 0, all_keys, of_write | of_set | of_slow, sdiffstore},
    {"sinter", at_least(2), 0, all_keys, of_read | of_set | of_slow, sinter},
    {"sintercard", at_least(3), 0, counted_at(1), of_read | of_set | of_slow, sintercard},
    {"sinterstore", at_least(3), 0, all_keys, of_write | of_set | of_slow, sinterstore},
    {"sismember", 3, 0, one_key, of_read | of_set | of_fast, sismember},
    {"smembers", 2, 0, one_key, of_read | of_set | of_slow, smembers},
    {"smismember", at_least(3), 0, one_key, of_read | of_set | of_fast, smismember},
    {"smove", 4, 0, two_keys, of_write | of_set | of_fast, smove},
    {"spop", at_least(2), 0, one_key, of_write | of_set | of_fast, spop},
    {"srandmember", at_least(2), 0, one_key, of_read | of_set | of_slow, srandmember},
    {"srem", at_least(3), 0, one_key, of_write | of_set | of_fast, srem},
    {"sscan", at_least(3), 0, one_key, of_read | of_set | of_slow, sscan},
    {"sunion", at_least(2), 0, all_keys, of_read | of_set | of_slow, sunion},
    {"sunionstore", at_least(3), 0, all_keys, of_write | of_set | of_slow, sunionstore},
};

} // namespace

std::span<command const> rows() noexcept { return table; }

} // namespace fairlead::redis::server_impl::sets
