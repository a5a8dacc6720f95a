// Commands about keys whatever they hold, expiry, and the patterns that choose keys.
#include <redis_server/state.hpp>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::redis::server_impl {
namespace {

// The class behind a '[' at pattern[p]: whether it has `byte`; p moves behind it. One that is never closed ends with
// the pattern.
bool class_has(std::string_view pattern, std::size_t& p, char byte) noexcept {
    std::size_t i = p + 1;
    bool const is_negated = i < pattern.size() && pattern[i] == '^';
    if (is_negated)
        ++i;
    bool found = false;
    auto const value = [](char b) { return static_cast<unsigned char>(b); };
    for (; i < pattern.size() && pattern[i] != ']'; ++i) {
        if (pattern[i] == '\\' && i + 1 < pattern.size()) {
            found |= pattern[++i] == byte;
        } else if (i + 2 < pattern.size() && pattern[i + 1] == '-') {
            auto const a = value(pattern[i]), b = value(pattern[i + 2]);
            found |= value(byte) >= std::min(a, b) && value(byte) <= std::max(a, b);
            i += 2;
        } else {
            found |= pattern[i] == byte;
        }
    }
    p = i < pattern.size() ? i + 1 : i;
    return found != is_negated;
}

} // namespace

bool glob_match(std::string_view pattern, std::string_view text) noexcept {
    std::size_t p = 0, t = 0;
    // Where to go on when what follows the last star fits nowhere so far: the star takes one byte more. Earlier stars
    // need no second try, since the last one can take whatever they could.
    std::size_t star = std::string_view::npos, star_text = 0;
    while (t < text.size() || p < pattern.size()) {
        bool matches = false;
        if (p < pattern.size()) {
            std::size_t next = p + 1;
            if (pattern[p] == '*') {
                star = p++;
                star_text = t;
                continue;
            }
            if (t < text.size()) {
                if (pattern[p] == '?') {
                    matches = true;
                } else if (pattern[p] == '[') {
                    next = p;
                    matches = class_has(pattern, next, text[t]);
                } else if (pattern[p] == '\\' && p + 1 < pattern.size()) {
                    matches = pattern[p + 1] == text[t];
                    next = p + 2;
                } else {
                    matches = pattern[p] == text[t];
                }
            }
            if (matches) {
                p = next;
                ++t;
                continue;
            }
        }
        if (star == std::string_view::npos || star_text >= text.size())
            return false;
        p = star + 1;
        t = ++star_text;
    }
    return true;
}

namespace commands {
namespace {

std::vector<std::string_view> sorted_keys(call& c, std::string_view pattern) {
    c.server.expire(c.self.database);
    std::vector<std::string_view> keys;
    for (auto const& [key, item] : c.db())
        if (glob_match(pattern, key))
            keys.push_back(key);
    std::ranges::sort(keys);
    return keys;
}

std::string_view type_name(value const& held) noexcept {
    constexpr std::string_view names[] = {"string", "hash", "list", "set"};
    return names[held.index()];
}

enum class since : bool { now, epoch };

// The four commands that set an expiry: units of `unit_ms`, from now or from the epoch.
void expire_in(call& c, std::int64_t unit_ms, since from) {
    std::int64_t amount = 0;
    if (!c.integer(c.args[2], amount))
        return;
    bool only_without = false, only_with = false, only_later = false, only_earlier = false;
    for (std::size_t i = 3; i < c.args.size(); ++i) {
        if (c.is(i, "nx"))
            only_without = true;
        else if (c.is(i, "xx"))
            only_with = true;
        else if (c.is(i, "gt"))
            only_later = true;
        else if (c.is(i, "lt"))
            only_earlier = true;
        else
            return c.error("ERR Unsupported option " + std::string(c.args[i]));
    }
    if (only_without && (only_with || only_later || only_earlier))
        return c.error("ERR NX and XX, GT or LT options at the same time are not compatible");
    if (only_later && only_earlier)
        return c.error("ERR GT and LT options at the same time are not compatible");
    std::int64_t const base = from == since::now ? c.server.now() : 0;
    std::int64_t at_ms = 0;
    if (__builtin_mul_overflow(amount, unit_ms, &at_ms) || __builtin_add_overflow(at_ms, base, &at_ms))
        return c.error("ERR invalid expire time in '" + std::string(c.cmd.name) + "' command");

    auto const at = c.find(c.args[1]);
    if (at == c.db().end())
        return c.number(0);
    std::int64_t const before = at->second.expires_at; // a key without expiry expires last of all
    bool const has_expiry = before != no_expiry;
    if ((only_without && has_expiry) || (only_with && !has_expiry) || (only_later && at_ms <= before) ||
        (only_earlier && at_ms >= before))
        return c.number(0);
    at->second.expires_at = std::min(at_ms, no_expiry - 1);
    c.touched(c.args[1]);
    c.find(c.args[1]); // removes it at once if that time is past
    c.number(1);
}

// The four that tell it.
void tell_expiry(call& c, std::int64_t unit_ms, since from) {
    auto const at = c.find(c.args[1]);
    if (at == c.db().end())
        return c.number(-2);
    if (at->second.expires_at == no_expiry)
        return c.number(-1);
    std::int64_t const ms = at->second.expires_at - (from == since::now ? c.server.now() : 0);
    c.number(unit_ms == 1 ? ms : (ms + (from == since::now ? 500 : 0)) / unit_ms);
}

void rename_to(call& c, bool may_replace) {
    auto const at = c.find(c.args[1]);
    if (at == c.db().end())
        return c.error("ERR no such key");
    bool const is_same = c.args[1] == c.args[2];
    if (!may_replace && (is_same || c.exists(c.args[2])))
        return c.number(0);
    if (!is_same) {
        entry moved = std::move(at->second);
        c.touched(c.args[1]);
        c.touched(c.args[2]);
        c.db().erase(at);
        c.db().insert_or_assign(std::string(c.args[2]), std::move(moved));
    }
    may_replace ? c.ok() : c.number(1);
}

} // namespace

void del(call& c) {
    std::int64_t removed = 0;
    for (std::string_view const key : c.args.subspan(1))
        removed += c.remove(key);
    c.number(removed);
}

void exists(call& c) {
    c.number(std::ranges::count_if(c.args.subspan(1), [&c](std::string_view key) { return c.exists(key); }));
}

void type(call& c) {
    auto const at = c.find(c.args[1]);
    c.simple(at == c.db().end() ? "none" : type_name(at->second.held));
}

void keys(call& c) {
    auto const found = sorted_keys(c, c.args[1]);
    c.array(found.size());
    for (std::string_view const key : found)
        c.bulk(key);
}

// Gives everything at once: the cursor is 0 from the start. Nothing can be missed or come twice.
void scan(call& c) {
    std::int64_t cursor = 0;
    if (!c.integer(c.args[1], cursor, "ERR invalid cursor"))
        return;
    std::string_view pattern = "*";
    std::string type;
    for (std::size_t i = 2; i < c.args.size(); i += 2) {
        if (i + 1 == c.args.size())
            return c.syntax_error();
        std::int64_t count = 0;
        if (c.is(i, "match")) {
            pattern = c.args[i + 1];
        } else if (c.is(i, "type")) {
            type = to_lower(c.args[i + 1]);
        } else if (c.is(i, "count")) {
            if (!c.integer(c.args[i + 1], count))
                return;
            if (count < 1)
                return c.syntax_error();
        } else {
            return c.syntax_error();
        }
    }
    auto found = sorted_keys(c, pattern);
    if (!type.empty())
        std::erase_if(found, [&](std::string_view key) { return type_name(c.find(key)->second.held) != type; });
    c.array(2);
    c.bulk("0");
    c.array(found.size());
    for (std::string_view const key : found)
        c.bulk(key);
}

void randomkey(call& c) {
    // The first one is as good as any, and the same in every run.
    auto const found = sorted_keys(c, "*");
    found.empty() ? c.null() : c.bulk(found.front());
}

void dbsize(call& c) {
    c.server.expire(c.self.database);
    c.size(c.db().size());
}

namespace {

bool has_flush_mode(call& c) {
    if (c.args.size() == 1 || (c.args.size() == 2 && (c.is(1, "async") || c.is(1, "sync"))))
        return true;
    c.syntax_error();
    return false;
}

} // namespace

void flushdb(call& c) {
    if (!has_flush_mode(c))
        return;
    c.server.clear(c.self.database);
    c.ok();
}

void flushall(call& c) {
    if (!has_flush_mode(c))
        return;
    for (std::size_t i = 0; i != c.server.databases.size(); ++i)
        c.server.clear(i);
    c.ok();
}

void rename(call& c) { rename_to(c, true); }
void renamenx(call& c) { rename_to(c, false); }

void expire(call& c) { expire_in(c, 1000, since::now); }
void expireat(call& c) { expire_in(c, 1000, since::epoch); }
void pexpire(call& c) { expire_in(c, 1, since::now); }
void pexpireat(call& c) { expire_in(c, 1, since::epoch); }

void ttl(call& c) { tell_expiry(c, 1000, since::now); }
void pttl(call& c) { tell_expiry(c, 1, since::now); }
void expiretime(call& c) { tell_expiry(c, 1000, since::epoch); }
void pexpiretime(call& c) { tell_expiry(c, 1, since::epoch); }

void persist(call& c) {
    auto const at = c.find(c.args[1]);
    if (at == c.db().end() || at->second.expires_at == no_expiry)
        return c.number(0);
    at->second.expires_at = no_expiry;
    c.touched(c.args[1]);
    c.number(1);
}

} // namespace commands
} // namespace fairlead::redis::server_impl
