// Commands on hashes.
#include <redis_server/call.hpp>
#include <redis_server/scan.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace fairlead::redis::server_impl::hashes {
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

void hincrbyfloat(call& c) {
    long double n = 0, amount = 0;
    hash_value* hash = nullptr;
    if (!parse_real(c.args[3], amount))
        return c.error("ERR value is not a valid float");
    if (!c.get(c.args[1], hash))
        return;
    std::string const* const text = find_field(hash, c.args[2]);
    if (text && !parse_real(*text, n))
        return c.error("ERR hash value is not a float");
    n += amount;
    if (!std::isfinite(n))
        return c.error("ERR increment would produce NaN or Infinity");
    if (!hash)
        hash = &c.make_empty<hash_value>(c.args[1]);
    std::string const digits = fixed_text(n);
    hash->insert_or_assign(std::string(c.args[2]), digits);
    c.changed(c.args[1]);
    c.bulk(digits);
}

// Any field may be chosen; the first ones make runs repeatable. A count below zero allows repetitions.
void hrandfield(call& c) {
    std::int64_t count = 1;
    bool const has_count = c.count() > 2, with_values = c.count() == 4;
    if (has_count && !c.integer(c.args[2], count))
        return;
    if (c.count() > 4 || (with_values && !c.is(3, "withvalues")))
        return c.syntax_error();
    if (with_values && (count < -(no_expiry / 2) || count > no_expiry / 2))
        return c.error("ERR value is out of range");
    hash_value* hash = nullptr;
    if (!c.get(c.args[1], hash))
        return;
    if (!hash)
        return has_count ? c.array(0) : c.null();
    if (!has_count)
        return c.bulk(hash->begin()->first);
    std::size_t const n = chosen_count(count, hash->size());
    c.array(with_values && !c.is_resp3() ? 2 * n : n);
    auto at = hash->begin();
    for (std::size_t i = 0; i != n; ++i) {
        if (with_values && c.is_resp3())
            c.array(2);
        c.bulk(at->first);
        if (with_values)
            c.bulk(at->second);
        if (++at == hash->end())
            at = hash->begin();
    }
}

void hscan(call& c) {
    scan_options options;
    hash_value* hash = nullptr;
    if (!read_scan_options(c, 2, false, options) || !c.get(c.args[1], hash))
        return;
    std::vector<std::string_view> fields;
    if (hash)
        for (auto const& [field, text] : *hash)
            fields.push_back(field);
    scan_step step = choose_step(fields, options);
    std::erase_if(step.chosen, [&](std::size_t i) { return !glob_match(options.pattern, fields[i]); });
    begin_scan_reply(c, step, 2 * step.chosen.size());
    for (std::size_t const i : step.chosen) {
        c.bulk(fields[i]);
        c.bulk(*find_field(hash, fields[i]));
    }
}

constexpr command table[] = {
    {"hdel", at_least(3), 0, one_key, of_write | of_hash | of_fast, hdel},
    {"hexists", 3, 0, one_key, of_read | of_hash | of_fast, hexists},
    {"hget", 3, 0, one_key, of_read | of_hash | of_fast, hget},
    {"hgetall", 2, 0, one_key, of_read | of_hash | of_slow, hgetall},
    {"hincrby", 4, 0, one_key, of_write | of_hash | of_fast, hincrby},
    {"hincrbyfloat", 4, 0, one_key, of_write | of_hash | of_fast, hincrbyfloat},
    {"hkeys", 2, 0, one_key, of_read | of_hash | of_slow, hkeys},
    {"hlen", 2, 0, one_key, of_read | of_hash | of_fast, hlen},
    {"hmget", at_least(3), 0, one_key, of_read | of_hash | of_fast, hmget},
    {"hmset", at_least(4), 0, one_key, of_write | of_hash | of_fast, hmset},
    {"hrandfield", at_least(2), 0, one_key, of_read | of_hash | of_slow, hrandfield},
    {"hscan", at_least(3), 0, one_key, of_read | of_hash | of_slow, hscan},
    {"hset", at_least(4), 0, one_key, of_write | of_hash | of_fast, hset},
    {"hsetnx", 4, 0, one_key, of_write | of_hash | of_fast, hsetnx},
    {"hstrlen", 3, 0, one_key, of_read | of_hash | of_fast, hstrlen},
    {"hvals", 2, 0, one_key, of_read | of_hash | of_slow, hvals},
};

} // namespace

std::span<command const> rows() noexcept { return table; }

} // namespace fairlead::redis::server_impl::hashes
