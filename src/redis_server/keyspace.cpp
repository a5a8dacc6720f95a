// Commands about keys whatever they hold, and expiry.
#include <redis_server/call.hpp>
#include <redis_server/scan.hpp>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace fairlead::redis::server_impl::keyspace {
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

void scan(call& c) {
    scan_options options;
    if (!read_scan_options(c, 1, true, options))
        return;
    auto const keys = sorted_keys(c, "*");
    scan_step const step = choose_step(keys, options);
    std::vector<std::string_view> found;
    for (std::size_t const i : step.chosen)
        if (glob_match(options.pattern, keys[i]) &&
            (options.type.empty() || type_name(c.find(keys[i])->second.held) == options.type))
            found.push_back(keys[i]);
    begin_scan_reply(c, step, found.size());
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

bool has_flush_mode(call& c) {
    if (c.args.size() == 1 || (c.args.size() == 2 && (c.is(1, "async") || c.is(1, "sync"))))
        return true;
    c.syntax_error();
    return false;
}

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

bool read_database(call& c, std::string_view text, std::size_t& index,
                   std::string_view complaint = "ERR value is not an integer or out of range") {
    std::int64_t n = 0;
    if (!c.integer(text, n, complaint))
        return false;
    if (n < 0 || n >= static_cast<std::int64_t>(c.server.databases.size())) {
        c.error("ERR DB index is out of range");
        return false;
    }
    index = static_cast<std::size_t>(n);
    return true;
}

void copy(call& c) {
    std::size_t target = c.self.database;
    bool replaces = false;
    for (std::size_t i = 3; i < c.count(); ++i) {
        if (c.is(i, "replace")) {
            replaces = true;
        } else if (c.is(i, "db") && i + 1 < c.count()) {
            if (!read_database(c, c.args[++i], target))
                return;
        } else {
            return c.syntax_error();
        }
    }
    if (target == c.self.database && c.args[1] == c.args[2])
        return c.error("ERR source and destination objects are the same");
    auto const from = c.find(c.args[1]);
    bool const is_free = c.server.find(target, c.args[2]) == c.server.databases[target].end();
    if (from == c.db().end() || (!is_free && !replaces))
        return c.number(0);
    entry copied = from->second;
    c.server.databases[target].insert_or_assign(std::string(c.args[2]), std::move(copied));
    c.server.touch(target, c.args[2]);
    c.number(1);
}

void move(call& c) {
    std::size_t target = 0;
    if (!read_database(c, c.args[2], target))
        return;
    if (target == c.self.database)
        return c.error("ERR source and destination objects are the same");
    auto const from = c.find(c.args[1]);
    if (from == c.db().end() || c.server.find(target, c.args[1]) != c.server.databases[target].end())
        return c.number(0);
    c.server.databases[target].emplace(from->first, std::move(from->second));
    c.server.touch(target, c.args[1]);
    c.remove(c.args[1]);
    c.number(1);
}

void swapdb(call& c) {
    std::size_t a = 0, b = 0;
    if (!read_database(c, c.args[1], a, "ERR invalid first DB index") ||
        !read_database(c, c.args[2], b, "ERR invalid second DB index"))
        return;
    auto const touch_all = [&c](std::size_t in, std::size_t keys_of) {
        for (auto const& [key, item] : c.server.databases[keys_of])
            c.server.touch(in, key);
    };
    for (std::size_t const in : {a, b}) { // A watched key has changed if it is in either one.
        touch_all(in, a);
        touch_all(in, b);
    }
    std::swap(c.server.databases[a], c.server.databases[b]);
    c.ok();
}

// OBJECT. A guess from the value alone: the real server also remembers how the value came to be.

std::string_view encoding(std::string const& text) {
    constexpr std::size_t integer_digits_max = 20, embedded_bytes_max = 44;
    std::int64_t ignored = 0;
    if (text.size() <= integer_digits_max && parse_integer(text, ignored))
        return "int";
    return text.size() <= embedded_bytes_max ? "embstr" : "raw";
}

constexpr std::size_t packed_bytes_max = 64; // of one element

std::string_view encoding(hash_value const& hash) {
    bool const is_small = hash.size() <= 512 && std::ranges::all_of(hash, [](auto const& item) {
                              return item.first.size() <= packed_bytes_max && item.second.size() <= packed_bytes_max;
                          });
    return is_small ? "listpack" : "hashtable";
}

std::string_view encoding(list_value const&) { return "quicklist"; }

std::string_view encoding(set_value const& members) {
    std::int64_t ignored = 0;
    bool const has_integers = members.size() <= 512 && std::ranges::all_of(members, [&](std::string const& member) {
                                  return parse_integer(member, ignored);
                              });
    return has_integers ? "intset" : "hashtable";
}

std::string_view encoding(sorted_set_value const& set) {
    bool const is_small = set.size() <= 128 && std::ranges::all_of(set.scores(), [](auto const& item) {
                              return item.first.size() <= packed_bytes_max;
                          });
    return is_small ? "listpack" : "skiplist";
}

std::string_view encoding(stream_value const&) { return "stream"; }
std::string_view encoding(counted_value const&) { return "raw"; }

template <typename Tell> void tell_of_object(call& c, Tell tell) {
    auto const at = c.find(c.args[2]);
    at == c.db().end() ? c.null() : tell(at->second);
}

void object(call& c) {
    static constexpr subcommand subcommands[] = {
        {"encoding", 3,
         [](call& k) {
             tell_of_object(k, [&k](entry const& item) {
                 k.bulk(std::visit([](auto const& held) { return encoding(held); }, item.held));
             });
         }},
        {"freq", 3,
         [](call& k) {
             k.error("ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that when "
                     "switching between policies at runtime LRU and LFU data will take some time to adjust.");
         }},
        {"idletime", 3, [](call& k) { tell_of_object(k, [&k](entry const&) { k.number(0); }); }},
        {"refcount", 3, [](call& k) { tell_of_object(k, [&k](entry const&) { k.number(1); }); }},
    };
    choose(c, subcommands);
}

constexpr command table[] = {
    {"copy", at_least(3), 0, two_keys, of_keyspace | of_write | of_slow, copy},
    {"dbsize", 1, 0, no_keys, of_keyspace | of_read | of_fast, dbsize},
    {"del", at_least(2), 0, all_keys, of_keyspace | of_write | of_slow, del},
    {"exists", at_least(2), 0, all_keys, of_keyspace | of_read | of_fast, exists},
    {"expire", at_least(3), 0, one_key, of_keyspace | of_write | of_fast, expire},
    {"expireat", at_least(3), 0, one_key, of_keyspace | of_write | of_fast, expireat},
    {"expiretime", 2, 0, one_key, of_keyspace | of_read | of_fast, expiretime},
    {"flushall", at_least(1), 0, no_keys, of_keyspace | of_write | of_slow | of_dangerous, flushall},
    {"flushdb", at_least(1), 0, no_keys, of_keyspace | of_write | of_slow | of_dangerous, flushdb},
    {"keys", 2, 0, no_keys, of_keyspace | of_read | of_slow | of_dangerous, keys},
    {"move", 3, 0, one_key, of_keyspace | of_write | of_fast, move},
    {"object", at_least(2), has_subcommands, {2, 2, 1}, of_slow, object},
    {"persist", 2, 0, one_key, of_keyspace | of_write | of_fast, persist},
    {"pexpire", at_least(3), 0, one_key, of_keyspace | of_write | of_fast, pexpire},
    {"pexpireat", at_least(3), 0, one_key, of_keyspace | of_write | of_fast, pexpireat},
    {"pexpiretime", 2, 0, one_key, of_keyspace | of_read | of_fast, pexpiretime},
    {"pttl", 2, 0, one_key, of_keyspace | of_read | of_fast, pttl},
    {"randomkey", 1, 0, no_keys, of_keyspace | of_read | of_slow, randomkey},
    {"rename", 3, 0, two_keys, of_keyspace | of_write | of_slow, rename},
    {"renamenx", 3, 0, two_keys, of_keyspace | of_write | of_fast, renamenx},
    {"scan", at_least(2), 0, no_keys, of_keyspace | of_read | of_slow, scan},
    {"swapdb", 3, 0, no_keys, of_keyspace | of_write | of_fast | of_dangerous, swapdb},
    {"touch", at_least(2), 0, all_keys, of_keyspace | of_read | of_fast, exists},
    {"ttl", 2, 0, one_key, of_keyspace | of_read | of_fast, ttl},
    {"type", 2, 0, one_key, of_keyspace | of_read | of_fast, type},
    {"unlink", at_least(2), 0, all_keys, of_keyspace | of_write | of_fast, del},
};

} // namespace

std::span<command const> rows() noexcept { return table; }

} // namespace fairlead::redis::server_impl::keyspace
