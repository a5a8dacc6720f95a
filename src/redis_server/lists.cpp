// Commands on lists.
#include <redis_server/call.hpp>
#include <redis_server/several_keys.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::redis::server_impl::lists {
namespace {

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

std::string* element(list_value& list, std::int64_t index) noexcept {
    auto const n = static_cast<std::int64_t>(list.size());
    if (index < 0)
        index += n;
    return index < 0 || index >= n ? nullptr : &list[static_cast<std::size_t>(index)];
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

void linsert(call& c) {
    bool const before = c.is(2, "before");
    if (!before && !c.is(2, "after"))
        return c.syntax_error();
    list_value* list = nullptr;
    if (!c.get(c.args[1], list))
        return;
    if (!list)
        return c.number(0);
    auto const at = std::ranges::find(*list, c.args[3]);
    if (at == list->end())
        return c.number(-1);
    list->insert(before ? at : at + 1, std::string(c.args[4]));
    c.changed(c.args[1]);
    c.size(list->size());
}

// The options of LPOS, which come in pairs.
struct search {
    std::int64_t rank = 1;         // below zero: from the end
    std::int64_t count = 1;        // 0: all
    std::int64_t compared_max = 0; // 0: all
    bool has_count = false;
};

bool read_search(call& c, search& s) {
    for (std::size_t i = 3; i < c.count(); i += 2) {
        bool const has_value = i + 1 < c.count();
        if (has_value && c.is(i, "rank")) {
            if (!c.integer(c.args[i + 1], s.rank))
                return false;
            if (s.rank == 0) {
                c.error("ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use "
                        "negative to start from the end of the list");
                return false;
            }
            if (s.rank == std::numeric_limits<std::int64_t>::min()) {
                c.error("ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807");
                return false;
            }
        } else if (has_value && c.is(i, "count")) {
            s.has_count = true;
            if (!parse_integer(c.args[i + 1], s.count) || s.count < 0) {
                c.error("ERR COUNT can't be negative");
                return false;
            }
        } else if (has_value && c.is(i, "maxlen")) {
            if (!parse_integer(c.args[i + 1], s.compared_max) || s.compared_max < 0) {
                c.error("ERR MAXLEN can't be negative");
                return false;
            }
        } else {
            c.syntax_error();
            return false;
        }
    }
    return true;
}

void lpos(call& c) {
    search s;
    list_value* list = nullptr;
    if (!read_search(c, s) || !c.get(c.args[1], list))
        return;
    std::vector<std::size_t> found;
    std::size_t const n = list ? list->size() : 0;
    std::int64_t skip = (s.rank < 0 ? -s.rank : s.rank) - 1;
    for (std::size_t i = 0; i != n; ++i) {
        if (s.compared_max != 0 && i == static_cast<std::size_t>(s.compared_max))
            break;
        std::size_t const at = s.rank < 0 ? n - 1 - i : i;
        if ((*list)[at] != c.args[2] || skip-- > 0)
            continue;
        found.push_back(at);
        if (s.count != 0 && found.size() == static_cast<std::size_t>(s.count))
            break;
    }
    if (!s.has_count)
        return found.empty() ? c.null() : c.size(found.front());
    c.array(found.size());
    for (std::size_t const at : found)
        c.size(at);
}

bool read_side(call& c, std::size_t i, side& at) {
    at = c.is(i, "left") ? side::left : side::right;
    if (at == side::left || c.is(i, "right"))
        return true;
    c.syntax_error();
    return false;
}

// Moves one element and answers with it; the source has one.
void move_element(call& c, list_value& source, side from, side to) {
    std::string_view const target_key = c.args[2];
    list_value* target = nullptr;
    if (!c.get(target_key, target))
        return;
    std::string text = take(source, from);
    if (!target)
        target = &c.make_empty<list_value>(target_key);
    c.bulk(text);
    to == side::left ? target->push_front(std::move(text)) : target->push_back(std::move(text));
    c.touched(target_key);
    c.changed(c.args[1]);
}

void move(call& c, side from, side to) {
    list_value* source = nullptr;
    if (!c.get(c.args[1], source))
        return;
    source ? move_element(c, *source, from, to) : c.null();
}

void wait_and_move(call& c, side from, side to, std::string_view limit) {
    std::optional<std::int64_t> until;
    list_value* source = nullptr;
    if (!c.seconds_limit(limit, until) || !c.get_waiting(c.args[1], source))
        return;
    if (source)
        return move_element(c, *source, from, to);
    if (!c.may_wait())
        return c.null();
    c.wait({c.args[1]}, until);
}

void lmove(call& c) {
    side from{}, to{};
    if (read_side(c, 3, from) && read_side(c, 4, to))
        move(c, from, to);
}

void blmove(call& c) {
    side from{}, to{};
    if (read_side(c, 3, from) && read_side(c, 4, to))
        wait_and_move(c, from, to, c.args[5]);
}

void rpoplpush(call& c) { move(c, side::right, side::left); }
void brpoplpush(call& c) { wait_and_move(c, side::right, side::left, c.args[3]); }

void wait_and_pop(call& c, side from) {
    std::optional<std::int64_t> until;
    if (!c.seconds_limit(c.args.back(), until))
        return;
    std::vector<std::string_view> const keys(c.args.begin() + 1, c.args.end() - 1);
    for (std::string_view const key : keys) {
        list_value* list = nullptr;
        if (!c.get_waiting(key, list))
            return;
        if (!list)
            continue;
        c.array(2);
        c.bulk(key);
        c.bulk(take(*list, from));
        return c.changed(key);
    }
    may_wait_or_null(c, keys, until);
}

void blpop(call& c) { wait_and_pop(c, side::left); }
void brpop(call& c) { wait_and_pop(c, side::right); }

// LMPOP and BLMPOP from their number of keys on. With `until` the command may wait.
void pop_several(call& c, std::size_t at, std::optional<std::int64_t> const* until) {
    several_keys several;
    if (!read_several_keys(c, at, several))
        return;
    side from{};
    if (!read_side(c, several.behind, from) || !read_several_count(c, several.behind + 1, several))
        return;
    for (std::string_view const key : several.keys) {
        list_value* list = nullptr;
        if (!c.get_waiting(key, list))
            return;
        if (!list)
            continue;
        std::size_t const n = std::min(several.count, list->size());
        c.array(2);
        c.bulk(key);
        c.array(n);
        for (std::size_t i = 0; i != n; ++i)
            c.bulk(take(*list, from));
        return c.changed(key);
    }
    until ? may_wait_or_null(c, several.keys, *until) : c.null_array();
}

void lmpop(call& c) { pop_several(c, 1, nullptr); }

void blmpop(call& c) {
    std::optional<std::int64_t> until;
    if (c.seconds_limit(c.args[1], until))
        pop_several(c, 2, &until);
}

constexpr command table[] = {
    {"blmove", 6, no_script, two_keys, of_write | of_list | of_slow | of_blocking, blmove},
    {"blmpop", at_least(5), 0, counted_at(2), of_write | of_list | of_slow | of_blocking, blmpop},
    {"blpop", at_least(3), no_script, all_but_last, of_write | of_list | of_slow | of_blocking, blpop},
    {"brpop", at_least(3), no_script, all_but_last, of_write | of_list | of_slow | of_blocking, brpop},
    {"brpoplpush", 4, no_script, two_keys, of_write | of_list | of_slow | of_blocking, brpoplpush},
    {"lindex", 3, 0, one_key, of_read | of_list | of_slow, lindex},
    {"linsert", 5, 0, one_key, of_write | of_list | of_slow, linsert},
    {"llen", 2, 0, one_key, of_read | of_list | of_fast, llen},
    {"lmove", 5, 0, two_keys, of_write | of_list | of_slow, lmove},
    {"lmpop", at_least(4), 0, counted_at(1), of_write | of_list | of_slow, lmpop},
    {"lpop", at_least(2), 0, one_key, of_write | of_list | of_fast, lpop},
    {"lpos", at_least(3), 0, one_key, of_read | of_list | of_slow, lpos},
    {"lpush", at_least(3), 0, one_key, of_write | of_list | of_fast, lpush},
    {"lpushx", at_least(3), 0, one_key, of_write | of_list | of_fast, lpushx},
    {"lrange", 4, 0, one_key, of_read | of_list | of_slow, lrange},
    {"lrem", 4, 0, one_key, of_write | of_list | of_slow, lrem},
    {"lset", 4, 0, one_key, of_write | of_list | of_slow, lset},
    {"ltrim", 4, 0, one_key, of_write | of_list | of_slow, ltrim},
    {"rpop", at_least(2), 0, one_key, of_write | of_list | of_fast, rpop},
    {"rpoplpush", 3, 0, two_keys, of_write | of_list | of_slow, rpoplpush},
    {"rpush", at_least(3), 0, one_key, of_write | of_list | of_fast, rpush},
    {"rpushx", at_least(3), 0, one_key, of_write | of_list | of_fast, rpushx},
};

} // namespace

std::span<command const> rows() noexcept { return table; }

} // namespace fairlead::redis::server_impl::lists
