// Commands on strings and counters.
#include <redis_server/state.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

namespace fairlead::redis::server_impl::commands {
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

} // namespace

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
    auto const read = [&c](std::string_view text, double& n) {
        auto const [stop, ec] = std::from_chars(text.data(), text.data() + text.size(), n);
        bool const is_good = ec == std::errc{} && stop == text.data() + text.size() && !std::isnan(n);
        if (!is_good)
            c.error("ERR value is not a valid float");
        return is_good;
    };
    std::string* text = nullptr;
    double n = 0, amount = 0;
    if (!c.get(c.args[1], text) || (text && !read(*text, n)) || !read(c.args[2], amount))
        return;
    n += amount;
    if (!std::isfinite(n))
        return c.error("ERR increment would produce NaN or Infinity");
    if (!text)
        text = &c.make_empty<std::string>(c.args[1]);
    char digits[400]; // of the largest double without exponent
    text->assign(digits, std::to_chars(digits, digits + sizeof digits, n, std::chars_format::fixed).ptr);
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

} // namespace fairlead::redis::server_impl::commands
