// Commands on hashes, lists and sets.
#include <redis_server/state.hpp>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace fairlead::redis::server_impl::commands {
namespace {

std::string const* find_field(hash_value const* hash, std::string_view field) {
    if (!hash)
        return nullptr;
    auto const at = hash->find(field);
    return at == hash->end() ? nullptr : &at->second;
}

enum class half : unsigned char { fields, values, both };

void list_hash(call& c, half wanted) {
    hash_value* hash = nullptr;
    if (!c.get(c.args[1], hash))
        return;
    std::size_t const n = hash ? hash->size() : 0;
    wanted == half::both ? c.map(n) : c.array(n);
    if (!hash)
        return;
    for (auto const& [field, text] : *hash) {
        if (wanted != half::values)
            c.bulk(field);
        if (wanted != half::fields)
            c.bulk(text);
    }
}

// Sets the pairs from args[2] on; returns how many fields are new, or nothing when it has answered.
bool set_fields(call& c, std::int64_t& added) {
    if (c.args.size() % 2 != 0) {
        c.error("ERR wrong number of arguments for '" + std::string(c.cmd.name) + "' command");
        return false;
    }
    hash_value* hash = nullptr;
    if (!c.get_or_make(c.args[1], hash))
        return false;
    for (std::size_t i = 2; i < c.args.size(); i += 2)
        added += hash->insert_or_assign(std::string(c.args[i]), std::string(c.args[i + 1])).second;
    c.changed(c.args[1]);
    return true;
}

enum class side : unsigned char { left, right };

void push(call& c, side at, bool must_exist) {
    list_value* list = nullptr;
    if (!c.get(c.args[1], list))
        return;
    if (!list && must_exist)
        return c.number(0);
    if (!list)
        list = &c.make_empty<list_value>(c.args[1]);
    for (std::string_view const text : c.args.subspan(2))
        at == side::left ? static_cast<void>(list->emplace_front(text)) : static_cast<void>(list->emplace_back(text));
    c.changed(c.args[1]);
    c.size(list->size());
}

std::string take(list_value& list, side from) {
    std::string text = std::move(from == side::left ? list.front() : list.back());
    from == side::left ? list.pop_front() : list.pop_back();
    return text;
}

void pop(call& c, side from) {
    if (c.args.size() > 3)
        return c.error("ERR wrong number of arguments for '" + std::string(c.cmd.name) + "' command");
    bool const has_count = c.args.size() == 3;
    std::int64_t count = 1;
    if (has_count && (!parse_integer(c.args[2], count) || count < 0))
        return c.error("ERR value is out of range, must be positive");
    list_value* list = nullptr;
    if (!c.get(c.args[1], list))
        return;
    if (!list)
        return has_count ? c.null_array() : c.null();
    auto const n = std::min(static_cast<std::size_t>(count), list->size());
    if (has_count)
        c.array(n);
    for (std::size_t i = 0; i != n; ++i)
        c.bulk(take(*list, from));
    if (n != 0)
        c.changed(c.args[1]);
}

// The elements from `first` to `last`, both included and negative ones counted from the end, as a range [begin, end).
struct bounds {
    std::size_t begin;
    std::size_t end;
};
bounds clamp(std::int64_t first, std::int64_t last, std::size_t size) noexcept {
    auto const n = static_cast<std::int64_t>(size);
    if (first < 0)
        first = std::max<std::int64_t>(first + n, 0);
    if (last < 0)
        last += n;
    last = std::min(last, n - 1);
    if (first > last)
        return {0, 0};
    return {static_cast<std::size_t>(first), static_cast<std::size_t>(last) + 1};
}

std::string* element(list_value& list, std::int64_t index) noexcept {
    auto const n = static_cast<std::int64_t>(list.size());
    if (index < 0)
        index += n;
    return index < 0 || index >= n ? nullptr : &list[static_cast<std::size_t>(index)];
}

} // namespace

void hset(call& c) {
    std::int64_t added = 0;
    if (set_fields(c, added))
        c.number(added);
}

void hmset(call& c) {
    std::int64_t added = 0;
    if (set_fields(c, added))
        c.ok();
}

void hsetnx(call& c) {
    hash_value* hash = nullptr;
    if (!c.get_or_make(c.args[1], hash))
        return;
    bool const is_new = hash->try_emplace(std::string(c.args[2]), c.args[3]).second;
    if (is_new)
        c.changed(c.args[1]);
    c.number(is_new);
}

void hget(call& c) {
    hash_value* hash = nullptr;
    if (c.get(c.args[1], hash))
        c.optional_bulk(find_field(hash, c.args[2]));
}

void hmget(call& c) {
    hash_value* hash = nullptr;
    if (!c.get(c.args[1], hash))
        return;
    c.array(c.args.size() - 2);
    for (std::string_view const field : c.args.subspan(2))
        c.optional_bulk(find_field(hash, field));
}

void hgetall(call& c) { list_hash(c, half::both); }
void hkeys(call& c) { list_hash(c, half::fields); }
void hvals(call& c) { list_hash(c, half::values); }

void hlen(call& c) {
    hash_value* hash = nullptr;
    if (c.get(c.args[1], hash))
        c.size(hash ? hash->size() : 0);
}

void hexists(call& c) {
    hash_value* hash = nullptr;
    if (c.get(c.args[1], hash))
        c.number(find_field(hash, c.args[2]) != nullptr);
}

void hstrlen(call& c) {
    hash_value* hash = nullptr;
    if (!c.get(c.args[1], hash))
        return;
    std::string const* const text = find_field(hash, c.args[2]);
    c.size(text ? text->size() : 0);
}

void hdel(call& c) {
    hash_value* hash = nullptr;
    if (!c.get(c.args[1], hash))
        return;
    std::int64_t removed = 0;
    if (hash)
        for (std::string_view const field : c.args.subspan(2))
            if (auto const at = hash->find(field); at != hash->end()) {
                hash->erase(at);
                ++removed;
            }
    if (removed != 0)
        c.changed(c.args[1]);
    c.number(removed);
}

void hincrby(call& c) {
    std::int64_t amount = 0;
    hash_value* hash = nullptr;
    if (!c.integer(c.args[3], amount) || !c.get(c.args[1], hash))
        return;
    std::int64_t n = 0;
    std::string const* const text = find_field(hash, c.args[2]);
    if (text && !c.integer(*text, n, "ERR hash value is not an integer"))
        return;
    if (__builtin_add_overflow(n, amount, &n))
        return c.error("ERR increment or decrement would overflow");
    if (!hash)
        hash = &c.make_empty<hash_value>(c.args[1]);
    hash->insert_or_assign(std::string(c.args[2]), std::to_string(n));
    c.changed(c.args[1]);
    c.number(n);
}

void lpush(call& c) { push(c, side::left, false); }
void rpush(call& c) { push(c, side::right, false); }
void lpushx(call& c) { push(c, side::left, true); }
void rpushx(call& c) { push(c, side::right, true); }
void lpop(call& c) { pop(c, side::left); }
void rpop(call& c) { pop(c, side::right); }

void llen(call& c) {
    list_value* list = nullptr;
    if (c.get(c.args[1], list))
        c.size(list ? list->size() : 0);
}

void lrange(call& c) {
    std::int64_t first = 0, last = 0;
    list_value* list = nullptr;
    if (!c.integer(c.args[2], first) || !c.integer(c.args[3], last) || !c.get(c.args[1], list))
        return;
    bounds const range = clamp(first, last, list ? list->size() : 0);
    c.array(range.end - range.begin);
    for (std::size_t i = range.begin; i != range.end; ++i)
        c.bulk((*list)[i]);
}

void ltrim(call& c) {
    std::int64_t first = 0, last = 0;
    list_value* list = nullptr;
    if (!c.integer(c.args[2], first) || !c.integer(c.args[3], last) || !c.get(c.args[1], list))
        return;
    if (list) {
        bounds const range = clamp(first, last, list->size());
        list->erase(list->begin() + static_cast<std::ptrdiff_t>(range.end), list->end());
        list->erase(list->begin(), list->begin() + static_cast<std::ptrdiff_t>(range.begin));
        c.changed(c.args[1]);
    }
    c.ok();
}

void lindex(call& c) {
    std::int64_t index = 0;
    list_value* list = nullptr;
    if (c.integer(c.args[2], index) && c.get(c.args[1], list))
        c.optional_bulk(list ? element(*list, index) : nullptr);
}

void lset(call& c) {
    std::int64_t index = 0;
    list_value* list = nullptr;
    if (!c.integer(c.args[2], index) || !c.get(c.args[1], list))
        return;
    if (!list)
        return c.error("ERR no such key");
    std::string* const text = element(*list, index);
    if (!text)
        return c.error("ERR index out of range");
    *text = c.args[3];
    c.changed(c.args[1]);
    c.ok();
}

void lrem(call& c) {
    std::int64_t count = 0;
    list_value* list = nullptr;
    if (!c.integer(c.args[2], count) || !c.get(c.args[1], list))
        return;
    if (!list)
        return c.number(0);
    // At most |count| equal elements, from the end when it is negative, all when it is 0.
    bool const from_end = count < 0;
    std::uint64_t left = from_end ? 0 - static_cast<std::uint64_t>(count) : static_cast<std::uint64_t>(count);
    if (count == 0)
        left = list->size();
    std::size_t const before = list->size();
    auto const goes = [&](std::string const& text) { return left != 0 && text == c.args[3] && left--; };
    if (from_end) {
        auto const kept = std::remove_if(list->rbegin(), list->rend(), goes);
        list->erase(list->begin(), kept.base());
    } else {
        list->erase(std::remove_if(list->begin(), list->end(), goes), list->end());
    }
    std::size_t const removed = before - list->size();
    if (removed != 0)
        c.changed(c.args[1]);
    c.size(removed);
}

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

} // namespace fairlead::redis::server_impl::commands
