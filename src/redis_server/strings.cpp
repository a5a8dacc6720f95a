// Commands on strings and counters.
#include <redis_server/call.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::redis::server_impl::strings {
namespace {

// Replaces whatever is at `key`.
void store(call& c, std::string_view key, std::string_view text, std::int64_t expires_at = no_expiry) {
    auto const at = c.find(key);
    entry& item = at == c.db().end() ? c.make(key) : at->second;
    if (auto* const held = std::get_if<std::string>(&item.held))
        *held = text; // keeps the memory it has
    else
        item.held = std::string(text);
    item.expires_at = expires_at;
    c.touched(key);
}

// An expiry argument of SET and GETEX, made absolute. False: answered.
bool read_expiry(call& c, std::string_view text, std::int64_t unit_ms, bool from_now, std::int64_t& at_ms) {
    std::int64_t amount = 0;
    if (!c.integer(text, amount))
        return false;
    std::int64_t const base = from_now ? c.server.now() : 0;
    if (amount <= 0 || __builtin_mul_overflow(amount, unit_ms, &at_ms) || __builtin_add_overflow(at_ms, base, &at_ms) ||
        at_ms == no_expiry) {
        c.error("ERR invalid expire time in '" + std::string(c.cmd.name) + "' command");
        return false;
    }
    return true;
}

// EX, PX, EXAT or PXAT at args[i] and the number behind it. Nothing when args[i] is none of them.
struct expiry_word {
    std::string_view name;
    std::int64_t unit_ms;
    bool from_now;
};
constexpr expiry_word expiry_words[] = {{"ex", 1000, true}, {"px", 1, true}, {"exat", 1000, false}, {"pxat", 1, false}};

expiry_word const* find_expiry_word(call const& c, std::size_t i) noexcept {
    auto const* const at = std::ranges::find_if(expiry_words, [&](auto const& word) { return c.is(i, word.name); });
    return at == std::end(expiry_words) ? nullptr : at;
}

void add(call& c, std::int64_t amount) {
    std::string* text = nullptr;
    if (!c.get(c.args[1], text))
        return;
    std::int64_t n = 0;
    if (text && !c.integer(*text, n))
        return;
    if (__builtin_add_overflow(n, amount, &n))
        return c.error("ERR increment or decrement would overflow");
    if (text) {
        *text = std::to_string(n);
        c.changed(c.args[1]);
    } else {
        c.make(c.args[1]).held = std::to_string(n);
        c.touched(c.args[1]);
    }
    c.number(n);
}

bool fits_string(call& c, std::size_t bytes) {
    if (bytes <= c.server.options.bulk_bytes_max)
        return true;
    c.error("ERR string exceeds maximum allowed size (proto-max-bulk-len)");
    return false;
}

void set_with_expiry(call& c, std::int64_t unit_ms) {
    std::int64_t expires_at = 0;
    if (!read_expiry(c, c.args[2], unit_ms, true, expires_at))
        return;
    store(c, c.args[1], c.args[3], expires_at);
    c.ok();
}

void get(call& c) {
    std::string* text = nullptr;
    if (c.get(c.args[1], text))
        c.optional_bulk(text);
}

void set(call& c) {
    if (c.args.size() == 3) {
        store(c, c.args[1], c.args[2]);
        return c.ok();
    }
    bool only_new = false, only_existing = false, wants_old = false, keeps_expiry = false, has_expiry = false;
    std::int64_t expires_at = no_expiry;
    for (std::size_t i = 3; i < c.args.size(); ++i) {
        if (c.is(i, "nx") && !only_existing) {
            only_new = true;
        } else if (c.is(i, "xx") && !only_new) {
            only_existing = true;
        } else if (c.is(i, "get")) {
            wants_old = true;
        } else if (c.is(i, "keepttl") && !has_expiry) {
            keeps_expiry = true;
        } else if (auto const* const word = find_expiry_word(c, i);
                   word && !has_expiry && !keeps_expiry && i + 1 < c.args.size()) {
            has_expiry = true;
            if (!read_expiry(c, c.args[++i], word->unit_ms, word->from_now, expires_at))
                return;
        } else {
            return c.syntax_error();
        }
    }
    auto const at = c.find(c.args[1]);
    bool const is_there = at != c.db().end();
    if (wants_old) {
        std::string* old = nullptr;
        if (!c.get(c.args[1], old))
            return;
        c.optional_bulk(old);
    }
    if ((only_new && is_there) || (only_existing && !is_there))
        return wants_old ? void() : c.null();
    if (keeps_expiry && is_there)
        expires_at = at->second.expires_at;
    store(c, c.args[1], c.args[2], expires_at);
    if (!wants_old)
        c.ok();
}

void setex(call& c) { set_with_expiry(c, 1000); }
void psetex(call& c) { set_with_expiry(c, 1); }

void setnx(call& c) {
    bool const is_there = c.exists(c.args[1]);
    if (!is_there)
        store(c, c.args[1], c.args[2]);
    c.number(!is_there);
}

void getset(call& c) {
    std::string* old = nullptr;
    if (!c.get(c.args[1], old))
        return;
    c.optional_bulk(old);
    store(c, c.args[1], c.args[2]);
}

void getdel(call& c) {
    std::string* old = nullptr;
    if (!c.get(c.args[1], old))
        return;
    c.optional_bulk(old);
    c.remove(c.args[1]);
}

void getex(call& c) {
    std::string* text = nullptr;
    if (!c.get(c.args[1], text))
        return;
    std::optional<std::int64_t> expires_at;
    if (c.args.size() == 3 && c.is(2, "persist")) {
        expires_at = no_expiry;
    } else if (c.args.size() == 4 && find_expiry_word(c, 2)) {
        auto const* const word = find_expiry_word(c, 2);
        std::int64_t at_ms = 0;
        if (!read_expiry(c, c.args[3], word->unit_ms, word->from_now, at_ms))
            return;
        expires_at = at_ms;
    } else if (c.args.size() != 2) {
        return c.syntax_error();
    }
    c.optional_bulk(text);
    if (text && expires_at) {
        auto const at = c.find(c.args[1]);
        at->second.expires_at = *expires_at;
        c.touched(c.args[1]);
    }
}

void append(call& c) {
    std::string* text = nullptr;
    if (!c.get(c.args[1], text) || !fits_string(c, (text ? text->size() : 0) + c.args[2].size()))
        return;
    if (!text)
        text = &c.make_empty<std::string>(c.args[1]);
    text->append(c.args[2]);
    c.changed(c.args[1]);
    c.size(text->size());
}

void strlen(call& c) {
    std::string* text = nullptr;
    if (c.get(c.args[1], text))
        c.size(text ? text->size() : 0);
}

void getrange(call& c) {
    std::int64_t first = 0, last = 0;
    std::string* text = nullptr;
    if (!c.integer(c.args[2], first) || !c.integer(c.args[3], last) || !c.get(c.args[1], text))
        return;
    auto const size = static_cast<std::int64_t>(text ? text->size() : 0);
    if (first < 0)
        first = std::max<std::int64_t>(first + size, 0);
    if (last < 0)
        last = std::max<std::int64_t>(last + size, 0);
    last = std::min(last, size - 1);
    if (size == 0 || first > last)
        return c.bulk("");
    c.bulk(std::string_view(*text).substr(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first + 1)));
}

void setrange(call& c) {
    std::int64_t offset = 0;
    std::string* text = nullptr;
    if (!c.integer(c.args[2], offset))
        return;
    if (offset < 0)
        return c.error("ERR offset is out of range");
    if (!c.get(c.args[1], text))
        return;
    std::string_view const part = c.args[3];
    if (part.empty())
        return c.size(text ? text->size() : 0);
    auto const limit = static_cast<std::int64_t>(c.server.options.bulk_bytes_max);
    auto const start = static_cast<std::size_t>(std::min(offset, limit));
    if (!fits_string(c, start + part.size()))
        return;
    if (!text)
        text = &c.make_empty<std::string>(c.args[1]);
    text->resize(std::max(text->size(), start + part.size()));
    text->replace(start, part.size(), part);
    c.changed(c.args[1]);
    c.size(text->size());
}

void incr(call& c) { add(c, 1); }
void decr(call& c) { add(c, -1); }

void incrby(call& c) {
    std::int64_t amount = 0;
    if (c.integer(c.args[2], amount))
        add(c, amount);
}

void decrby(call& c) {
    std::int64_t amount = 0;
    if (!c.integer(c.args[2], amount))
        return;
    if (amount == std::numeric_limits<std::int64_t>::min())
        return c.error("ERR decrement would overflow");
    add(c, -amount);
}

void incrbyfloat(call& c) {
    auto const read = [&c](std::string_view text, long double& n) {
        bool const is_good = parse_real(text, n);
        if (!is_good)
            c.error("ERR value is not a valid float");
        return is_good;
    };
    std::string* text = nullptr;
    long double n = 0, amount = 0;
    if (!c.get(c.args[1], text) || (text && !read(*text, n)) || !read(c.args[2], amount))
        return;
    n += amount;
    if (!std::isfinite(n))
        return c.error("ERR increment would produce NaN or Infinity");
    if (!text)
        text = &c.make_empty<std::string>(c.args[1]);
    *text = fixed_text(n);
    c.changed(c.args[1]);
    c.bulk(*text);
}

void mget(call& c) {
    c.array(c.args.size() - 1);
    for (std::string_view const key : c.args.subspan(1)) {
        auto const at = c.find(key);
        c.optional_bulk(at == c.db().end() ? nullptr : std::get_if<std::string>(&at->second.held));
    }
}

void mset(call& c) {
    if (c.args.size() % 2 == 0)
        return c.error("ERR wrong number of arguments for 'mset' command");
    for (std::size_t i = 1; i < c.args.size(); i += 2)
        store(c, c.args[i], c.args[i + 1]);
    c.ok();
}

void msetnx(call& c) {
    if (c.args.size() % 2 == 0)
        return c.error("ERR wrong number of arguments for 'msetnx' command");
    for (std::size_t i = 1; i < c.args.size(); i += 2)
        if (c.exists(c.args[i]))
            return c.number(0);
    for (std::size_t i = 1; i < c.args.size(); i += 2)
        store(c, c.args[i], c.args[i + 1]);
    c.number(1);
}

// LCS.

struct lcs_options {
    bool wants_length = false, wants_matches = false, with_lengths = false;
    std::int64_t match_min = 0;
};

bool read_lcs_options(call& c, lcs_options& o) {
    for (std::size_t i = 3; i < c.count(); ++i) {
        if (c.is(i, "idx")) {
            o.wants_matches = true;
        } else if (c.is(i, "len")) {
            o.wants_length = true;
        } else if (c.is(i, "withmatchlen")) {
            o.with_lengths = true;
        } else if (c.is(i, "minmatchlen") && i + 1 < c.count()) {
            if (!c.integer(c.args[++i], o.match_min))
                return false;
        } else {
            c.syntax_error();
            return false;
        }
    }
    if (o.wants_length && o.wants_matches) {
        c.error("ERR If you want both the length and indexes, please just use IDX.");
        return false;
    }
    return true;
}

struct lcs_match {
    std::size_t a, b, size; // where it begins in each text
};

struct lcs_result {
    std::string text;
    std::vector<lcs_match> matches; // the last one first
};

// O(bytes of a * bytes of b), in time and memory.
lcs_result longest_common_subsequence(std::string const& a, std::string const& b) {
    std::size_t const width = b.size() + 1;
    std::vector<std::uint32_t> lengths((a.size() + 1) * width);
    for (std::size_t i = 1; i <= a.size(); ++i)
        for (std::size_t j = 1; j <= b.size(); ++j)
            lengths[i * width + j] = a[i - 1] == b[j - 1]
                                         ? lengths[(i - 1) * width + j - 1] + 1
                                         : std::max(lengths[(i - 1) * width + j], lengths[i * width + j - 1]);
    lcs_result result;
    bool is_open = false;
    for (std::size_t i = a.size(), j = b.size(); i > 0 && j > 0;) {
        if (a[i - 1] == b[j - 1]) {
            --i;
            --j;
            result.text += a[i];
            if (is_open)
                result.matches.back() = {i, j, result.matches.back().size + 1};
            else
                result.matches.push_back({i, j, 1});
            is_open = true;
            continue;
        }
        is_open = false;
        lengths[(i - 1) * width + j] > lengths[i * width + j - 1] ? --i : --j;
    }
    std::ranges::reverse(result.text);
    return result;
}

void list_matches(call& c, lcs_result const& found, lcs_options const& o) {
    auto const is_long = [&o](lcs_match const& m) { return static_cast<std::int64_t>(m.size) >= o.match_min; };
    c.map(2);
    c.bulk("matches");
    c.array(static_cast<std::size_t>(std::ranges::count_if(found.matches, is_long)));
    for (auto const& match : found.matches) {
        if (!is_long(match))
            continue;
        c.array(o.with_lengths ? 3 : 2);
        for (std::size_t const begin : {match.a, match.b}) {
            c.array(2);
            c.size(begin);
            c.size(begin + match.size - 1);
        }
        if (o.with_lengths)
            c.size(match.size);
    }
    c.bulk("len");
    c.size(found.text.size());
}

void lcs(call& c) {
    std::string texts[2];
    for (std::size_t i = 0; i != 2; ++i)
        if (auto const at = c.find(c.args[i + 1]); at != c.db().end()) {
            auto const* const text = std::get_if<std::string>(&at->second.held);
            if (!text)
                return c.error("ERR The specified keys must contain string values");
            texts[i] = *text;
        }
    lcs_options options;
    if (!read_lcs_options(c, options))
        return;
    lcs_result const found = longest_common_subsequence(texts[0], texts[1]);
    if (options.wants_matches)
        return list_matches(c, found, options);
    options.wants_length ? c.size(found.text.size()) : c.bulk(found.text);
}

constexpr command table[] = {
    {"append", 3, 0, one_key, of_write | of_string | of_fast, append},
    {"decr", 2, 0, one_key, of_write | of_string | of_fast, decr},
    {"decrby", 3, 0, one_key, of_write | of_string | of_fast, decrby},
    {"get", 2, 0, one_key, of_read | of_string | of_fast, get},
    {"getdel", 2, 0, one_key, of_write | of_string | of_fast, getdel},
    {"getex", at_least(2), 0, one_key, of_write | of_string | of_fast, getex},
    {"getrange", 4, 0, one_key, of_read | of_string | of_slow, getrange},
    {"getset", 3, 0, one_key, of_write | of_string | of_fast, getset},
    {"incr", 2, 0, one_key, of_write | of_string | of_fast, incr},
    {"incrby", 3, 0, one_key, of_write | of_string | of_fast, incrby},
    {"incrbyfloat", 3, 0, one_key, of_write | of_string | of_fast, incrbyfloat},
    {"lcs", at_least(3), 0, two_keys, of_read | of_string | of_slow, lcs},
    {"mget", at_least(2), 0, all_keys, of_read | of_string | of_fast, mget},
    {"mset", at_least(3), 0, every(2), of_write | of_string | of_slow, mset},
    {"msetnx", at_least(3), 0, every(2), of_write | of_string | of_slow, msetnx},
    {"psetex", 4, 0, one_key, of_write | of_string | of_slow, psetex},
    {"set", at_least(3), 0, one_key, of_write | of_string | of_slow, set},
    {"setex", 4, 0, one_key, of_write | of_string | of_slow, setex},
    {"setnx", 3, 0, one_key, of_write | of_string | of_fast, setnx},
    {"setrange", 4, 0, one_key, of_write | of_string | of_slow, setrange},
    {"strlen", 2, 0, one_key, of_read | of_string | of_fast, strlen},
    {"substr", 4, 0, one_key, of_read | of_string | of_slow, getrange},
};

} // namespace

std::span<command const> rows() noexcept { return table; }

} // namespace fairlead::redis::server_impl::strings
