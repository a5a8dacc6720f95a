// Commands on sorted sets.
#include <redis_server/call.hpp>
#include <redis_server/scan.hpp>
#include <redis_server/several_keys.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::redis::server_impl::sorted_sets {
namespace {

using member_list = std::vector<std::pair<double, std::string>>;

constexpr std::string_view no_number = "ERR resulting score is not a number (NaN)";

// Members with their scores, flat in RESP2 and as pairs in RESP3.
void list_scored(call& c, member_list const& members, bool with_scores) {
    c.array(with_scores && !c.is_resp3() ? 2 * members.size() : members.size());
    for (auto const& [score, member] : members) {
        if (with_scores && c.is_resp3())
            c.array(2);
        c.bulk(member);
        if (with_scores)
            c.real(score);
    }
}

void list_pairs(call& c, member_list const& members) {
    c.array(members.size());
    for (auto const& [score, member] : members) {
        c.array(2);
        c.bulk(member);
        c.real(score);
    }
}

// ZADD.

struct add_options {
    bool only_new = false, only_existing = false, only_greater = false, only_less = false;
    bool counts_changes = false, increments = false;
};

// Returns the index of the first score, or 0 when it has answered.
std::size_t read_add_options(call& c, add_options& o) {
    std::size_t i = 2;
    for (; i < c.count(); ++i)
        if (c.is(i, "nx"))
            o.only_new = true;
        else if (c.is(i, "xx"))
            o.only_existing = true;
        else if (c.is(i, "gt"))
            o.only_greater = true;
        else if (c.is(i, "lt"))
            o.only_less = true;
        else if (c.is(i, "ch"))
            o.counts_changes = true;
        else if (c.is(i, "incr"))
            o.increments = true;
        else
            break;
    std::size_t const elements = c.count() - i;
    if (elements == 0 || elements % 2 != 0)
        return c.syntax_error(), 0;
    if (o.only_new && o.only_existing)
        return c.error("ERR XX and NX options at the same time are not compatible"), 0;
    if ((o.only_greater && o.only_new) || (o.only_less && o.only_new) || (o.only_greater && o.only_less))
        return c.error("ERR GT, LT, and/or NX options at the same time are not compatible"), 0;
    if (o.increments && elements > 2)
        return c.error("ERR INCR option supports a single increment-element pair"), 0;
    return i;
}

// Adds the pairs from args[first] on.
void add_members(call& c, std::size_t first, add_options const& o) {
    std::vector<double> scores;
    for (std::size_t i = first; i < c.count(); i += 2)
        if (!c.floating(c.args[i], scores.emplace_back()))
            return;
    sorted_set_value* set = nullptr;
    if (!c.get(c.args[1], set))
        return;
    if (!set && o.only_existing)
        return o.increments ? c.null() : c.number(0);
    if (!set)
        set = &c.make_empty<sorted_set_value>(c.args[1]);
    std::int64_t added = 0, updated = 0;
    bool was_kept_out = false;
    double score = 0;
    for (std::size_t i = first; i < c.count(); i += 2) {
        double const* const before = set->score(c.args[i + 1]);
        score = scores[(i - first) / 2] + (o.increments && before ? *before : 0);
        if (std::isnan(score)) {
            c.changed(c.args[1]);
            return c.error(no_number);
        }
        was_kept_out = before ? o.only_new || (o.only_greater && score <= *before) || (o.only_less && score >= *before)
                              : o.only_existing;
        if (was_kept_out)
            continue;
        updated += before && *before != score;
        added += set->set(c.args[i + 1], score);
    }
    if (added != 0 || updated != 0 || set->empty())
        c.changed(c.args[1]);
    if (!o.increments)
        return c.number(o.counts_changes ? added + updated : added);
    was_kept_out ? c.null() : c.real(score);
}

void zadd(call& c) {
    add_options options;
    if (std::size_t const first = read_add_options(c, options))
        add_members(c, first, options);
}

void zincrby(call& c) {
    add_options options;
    options.increments = true;
    add_members(c, 2, options);
}

void zcard(call& c) {
    sorted_set_value* set = nullptr;
    if (c.get(c.args[1], set))
        c.size(set ? set->size() : 0);
}

void zscore(call& c) {
    sorted_set_value* set = nullptr;
    if (!c.get(c.args[1], set))
        return;
    double const* const score = set ? set->score(c.args[2]) : nullptr;
    score ? c.real(*score) : c.null();
}

void zmscore(call& c) {
    sorted_set_value* set = nullptr;
    if (!c.get(c.args[1], set))
        return;
    c.array(c.count() - 2);
    for (std::string_view const member : c.args.subspan(2)) {
        double const* const score = set ? set->score(member) : nullptr;
        score ? c.real(*score) : c.null();
    }
}

void zrem(call& c) {
    sorted_set_value* set = nullptr;
    if (!c.get(c.args[1], set))
        return;
    std::int64_t removed = 0;
    if (set)
        for (std::string_view const member : c.args.subspan(2))
            removed += set->erase(member);
    if (removed != 0)
        c.changed(c.args[1]);
    c.number(removed);
}

void rank(call& c, bool is_reversed) {
    sorted_set_value* set = nullptr;
    if (!c.get(c.args[1], set))
        return;
    double const* const score = set ? set->score(c.args[2]) : nullptr;
    if (!score)
        return c.null();
    auto const at = set->ranked().find({*score, std::string(c.args[2])});
    auto const before = static_cast<std::size_t>(std::distance(set->ranked().begin(), at));
    c.size(is_reversed ? set->size() - 1 - before : before);
}

void zrank(call& c) { rank(c, false); }
void zrevrank(call& c) { rank(c, true); }

// Ranges, of ranks, scores or members.

enum class range_kind : unsigned char { rank, score, lex };

struct range_request {
    range_kind kind = range_kind::rank;
    bool is_reversed = false;
    bool with_scores = false;
    std::string_view first, last; // the lower one first, but for ranks that are reversed
    std::int64_t offset = 0;
    std::int64_t count = -1; // below zero: all
};

struct score_bound {
    double value = 0;
    bool is_open = false;
};

bool read_score(std::string_view text, score_bound& bound) {
    bound.is_open = text.starts_with('(');
    return parse_real(text.substr(bound.is_open), bound.value);
}

struct lex_bound {
    int end = 0; // -1 before all, 1 behind all
    std::string_view text;
    bool is_open = false;
};

bool read_lex(std::string_view text, lex_bound& bound) {
    if (text == "-" || text == "+") {
        bound.end = text == "-" ? -1 : 1;
        return true;
    }
    bound.is_open = text.starts_with('(');
    bound.text = text.substr(text.empty() ? 0 : 1);
    return bound.is_open || text.starts_with('[');
}

// Where `member` is beside a bound: below, at it, or above.
int compare(std::string_view member, lex_bound const& bound) noexcept {
    if (bound.end != 0)
        return -bound.end;
    int const order = member.compare(bound.text);
    return order < 0 ? -1 : order > 0;
}

bool skip_and_limit(range_request const& r, member_list& found) {
    if (r.is_reversed)
        std::ranges::reverse(found);
    if (r.offset < 0)
        found.clear();
    else
        found.erase(found.begin(), found.begin() + std::min(r.offset, static_cast<std::int64_t>(found.size())));
    if (r.count >= 0 && static_cast<std::uint64_t>(r.count) < found.size())
        found.resize(static_cast<std::size_t>(r.count));
    return true;
}

// The members of the set at `key` within the range. False: answered.
bool find_range(call& c, std::string_view key, range_request const& r, member_list& found) {
    sorted_set_value* set = nullptr;
    if (r.kind == range_kind::rank) {
        std::int64_t first = 0, last = 0;
        if (!c.integer(r.first, first) || !c.integer(r.last, last) || !c.get(key, set))
            return false;
        if (!set)
            return true;
        bounds const range = clamp(first, last, set->size());
        found.assign(set->ranked().begin(), set->ranked().end());
        if (r.is_reversed)
            std::ranges::reverse(found);
        found.resize(range.end);
        found.erase(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(range.begin));
        return true;
    }
    if (r.kind == range_kind::score) {
        score_bound min, max;
        if (!read_score(r.first, min) || !read_score(r.last, max)) {
            c.error("ERR min or max is not a float");
            return false;
        }
        if (!c.get(key, set))
            return false;
        if (set)
            for (auto const& [score, member] : set->ranked())
                if ((min.is_open ? score > min.value : score >= min.value) &&
                    (max.is_open ? score < max.value : score <= max.value))
                    found.emplace_back(score, member);
        return skip_and_limit(r, found);
    }
    lex_bound min, max;
    if (!read_lex(r.first, min) || !read_lex(r.last, max)) {
        c.error("ERR min or max not valid string range item");
        return false;
    }
    if (!c.get(key, set))
        return false;
    if (set)
        for (auto const& [score, member] : set->ranked()) {
            int const low = compare(member, min), high = compare(member, max);
            if ((low > 0 || (low == 0 && !min.is_open)) && (high < 0 || (high == 0 && !max.is_open)))
                found.emplace_back(score, member);
        }
    return skip_and_limit(r, found);
}

bool read_limit(call& c, std::size_t i, range_request& r) {
    return c.integer(c.args[i + 1], r.offset) && c.integer(c.args[i + 2], r.count);
}

// ZRANGE and ZRANGESTORE, whose range begins at args[at].
bool read_range(call& c, std::size_t at, bool may_have_scores, range_request& r) {
    bool has_limit = false;
    for (std::size_t i = at + 2; i < c.count(); ++i) {
        if (may_have_scores && c.is(i, "withscores")) {
            r.with_scores = true;
        } else if (c.is(i, "limit") && i + 2 < c.count()) {
            if (!read_limit(c, i, r))
                return false;
            has_limit = true;
            i += 2;
        } else if (c.is(i, "rev")) {
            r.is_reversed = true;
        } else if (c.is(i, "byscore") && r.kind == range_kind::rank) {
            r.kind = range_kind::score;
        } else if (c.is(i, "bylex") && r.kind == range_kind::rank) {
            r.kind = range_kind::lex;
        } else {
            c.syntax_error();
            return false;
        }
    }
    if (has_limit && r.kind == range_kind::rank) {
        c.error("ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX");
        return false;
    }
    if (r.with_scores && r.kind == range_kind::lex) {
        c.error("ERR syntax error, WITHSCORES not supported in combination with BYLEX");
        return false;
    }
    r.first = c.args[at];
    r.last = c.args[at + 1];
    if (r.is_reversed && r.kind != range_kind::rank)
        std::swap(r.first, r.last);
    return true;
}

void zrange(call& c) {
    range_request r;
    member_list found;
    if (read_range(c, 2, true, r) && find_range(c, c.args[1], r, found))
        list_scored(c, found, r.with_scores);
}

void zrangestore(call& c) {
    range_request r;
    member_list found;
    if (!read_range(c, 3, false, r) || !find_range(c, c.args[2], r, found))
        return;
    sorted_set_value stored;
    for (auto const& [score, member] : found)
        stored.set(member, score);
    c.replace(c.args[1], std::move(stored));
    c.size(found.size());
}

// The older commands: the kind and the direction are in the name.
void list_range(call& c, range_kind kind, bool is_reversed) {
    range_request r{.kind = kind, .is_reversed = is_reversed, .first = c.args[2], .last = c.args[3]};
    if (is_reversed && kind != range_kind::rank)
        std::swap(r.first, r.last);
    for (std::size_t i = 4; i < c.count(); ++i) {
        if (kind != range_kind::lex && c.is(i, "withscores")) {
            r.with_scores = true;
        } else if (kind != range_kind::rank && c.is(i, "limit") && i + 2 < c.count()) {
            if (!read_limit(c, i, r))
                return;
            i += 2;
        } else {
            return c.syntax_error();
        }
    }
    member_list found;
    if (find_range(c, c.args[1], r, found))
        list_scored(c, found, r.with_scores);
}

void zrangebyscore(call& c) { list_range(c, range_kind::score, false); }
void zrevrangebyscore(call& c) { list_range(c, range_kind::score, true); }
void zrangebylex(call& c) { list_range(c, range_kind::lex, false); }
void zrevrangebylex(call& c) { list_range(c, range_kind::lex, true); }
void zrevrange(call& c) { list_range(c, range_kind::rank, true); }

void count_range(call& c, range_kind kind) {
    member_list found;
    if (find_range(c, c.args[1], {.kind = kind, .first = c.args[2], .last = c.args[3]}, found))
        c.size(found.size());
}

void zcount(call& c) { count_range(c, range_kind::score); }
void zlexcount(call& c) { count_range(c, range_kind::lex); }

void remove_range(call& c, range_kind kind) {
    member_list found;
    if (!find_range(c, c.args[1], {.kind = kind, .first = c.args[2], .last = c.args[3]}, found))
        return;
    c.size(found.size());
    if (found.empty())
        return;
    sorted_set_value* set = nullptr;
    if (!c.get(c.args[1], set))
        return;
    for (auto const& [score, member] : found)
        set->erase(member);
    c.changed(c.args[1]);
}

void zremrangebyrank(call& c) { remove_range(c, range_kind::rank); }
void zremrangebyscore(call& c) { remove_range(c, range_kind::score); }
void zremrangebylex(call& c) { remove_range(c, range_kind::lex); }

// Taking the first or last members.

enum class extreme : unsigned char { min, max };

member_list take(sorted_set_value& set, extreme from, std::size_t count) {
    member_list taken;
    while (taken.size() < count && !set.empty()) {
        auto const at = from == extreme::min ? set.ranked().begin() : std::prev(set.ranked().end());
        taken.push_back(*at);
        set.erase(taken.back().second);
    }
    return taken;
}

void pop(call& c, extreme from) {
    std::int64_t count = 1;
    if (c.count() > 3)
        return c.syntax_error();
    bool const has_count = c.count() == 3;
    if (has_count && (!parse_integer(c.args[2], count) || count < 0))
        return c.error("ERR value is out of range, must be positive");
    sorted_set_value* set = nullptr;
    if (!c.get(c.args[1], set))
        return;
    if (!set || count == 0)
        return c.array(0);
    auto const taken = take(*set, from, static_cast<std::size_t>(count));
    c.changed(c.args[1]);
    if (has_count)
        return list_scored(c, taken, true);
    c.array(2);
    c.bulk(taken.front().second);
    c.real(taken.front().first);
}

void zpopmin(call& c) { pop(c, extreme::min); }
void zpopmax(call& c) { pop(c, extreme::max); }

void wait_and_pop(call& c, extreme from) {
    std::optional<std::int64_t> until;
    if (!c.seconds_limit(c.args.back(), until))
        return;
    std::vector<std::string_view> const keys(c.args.begin() + 1, c.args.end() - 1);
    for (std::string_view const key : keys) {
        sorted_set_value* set = nullptr;
        if (!c.get_waiting(key, set))
            return;
        if (!set)
            continue;
        auto const taken = take(*set, from, 1);
        c.array(3);
        c.bulk(key);
        c.bulk(taken.front().second);
        c.real(taken.front().first);
        return c.changed(key);
    }
    may_wait_or_null(c, keys, until);
}

void bzpopmin(call& c) { wait_and_pop(c, extreme::min); }
void bzpopmax(call& c) { wait_and_pop(c, extreme::max); }

// ZMPOP and BZMPOP from their number of keys on. With `until` the command may wait.
void pop_several(call& c, std::size_t at, std::optional<std::int64_t> const* until) {
    several_keys several;
    if (!read_several_keys(c, at, several))
        return;
    extreme const from = c.is(several.behind, "min") ? extreme::min : extreme::max;
    if (from == extreme::max && !c.is(several.behind, "max"))
        return c.syntax_error();
    if (!read_several_count(c, several.behind + 1, several))
        return;
    for (std::string_view const key : several.keys) {
        sorted_set_value* set = nullptr;
        if (!c.get_waiting(key, set))
            return;
        if (!set)
            continue;
        c.array(2);
        c.bulk(key);
        list_pairs(c, take(*set, from, several.count));
        return c.changed(key);
    }
    until ? may_wait_or_null(c, several.keys, *until) : c.null_array();
}

void zmpop(call& c) { pop_several(c, 1, nullptr); }

void bzmpop(call& c) {
    std::optional<std::int64_t> until;
    if (c.seconds_limit(c.args[1], until))
        pop_several(c, 2, &until);
}

// Unions, intersections and differences. Plain sets count as sorted ones whose scores are 1.

using score_map = std::map<std::string, double, std::less<>>;

enum class combination : unsigned char { all, common, first_alone };
enum class aggregate : unsigned char { sum, min, max };

struct combine_request {
    std::vector<std::string_view> keys;
    std::vector<double> weights;
    aggregate how = aggregate::sum;
    bool with_scores = false;
    std::int64_t limit = 0; // of ZINTERCARD; 0: none
};

enum class combine_form : unsigned char { list, store, count };

bool read_combination(call& c, std::size_t at, combination what, combine_form form, combine_request& r) {
    std::int64_t n = 0;
    if (!c.integer(c.args[at], n))
        return false;
    if (n < 1) {
        c.error("ERR at least 1 input key is needed for '" + std::string(c.cmd.name) + "' command");
        return false;
    }
    if (static_cast<std::uint64_t>(n) > c.count() - at - 1) {
        c.syntax_error();
        return false;
    }
    auto const keys = c.args.subspan(at + 1, static_cast<std::size_t>(n));
    r.keys.assign(keys.begin(), keys.end());
    r.weights.assign(keys.size(), 1);
    bool const has_weights = what != combination::first_alone && form != combine_form::count;
    for (std::size_t i = at + 1 + keys.size(); i < c.count(); ++i) {
        if (has_weights && c.is(i, "weights") && i + keys.size() < c.count()) {
            for (double& weight : r.weights)
                if (!c.floating(c.args[++i], weight, "ERR weight value is not a float"))
                    return false;
        } else if (has_weights && c.is(i, "aggregate") && i + 1 < c.count()) {
            ++i;
            r.how = c.is(i, "min") ? aggregate::min : c.is(i, "max") ? aggregate::max : aggregate::sum;
            if (r.how == aggregate::sum && !c.is(i, "sum")) {
                c.syntax_error();
                return false;
            }
        } else if (form == combine_form::list && c.is(i, "withscores")) {
            r.with_scores = true;
        } else if (form == combine_form::count && c.is(i, "limit") && i + 1 < c.count()) {
            if (!parse_integer(c.args[++i], r.limit) || r.limit < 0) {
                c.error("ERR LIMIT can't be negative");
                return false;
            }
        } else {
            c.syntax_error();
            return false;
        }
    }
    return true;
}

double combined(aggregate how, double a, double b) noexcept {
    switch (how) {
    case aggregate::min: return std::min(a, b);
    case aggregate::max: return std::max(a, b);
    case aggregate::sum: break;
    }
    double const sum = a + b;
    return std::isnan(sum) ? 0 : sum; // As Redis: the infinities cancel each other.
}

bool weighted_input(call& c, std::string_view key, double weight, score_map& scores) {
    auto const at = c.find(key);
    if (at == c.db().end())
        return true;
    if (auto const* const sorted = std::get_if<sorted_set_value>(&at->second.held)) {
        for (auto const& [member, score] : sorted->scores())
            scores.emplace(member, std::isnan(weight * score) ? 0 : weight * score);
    } else if (auto const* const plain = std::get_if<set_value>(&at->second.held)) {
        for (auto const& member : *plain)
            scores.emplace(member, weight);
    } else {
        c.wrong_type();
        return false;
    }
    return true;
}

bool combine(call& c, combination what, combine_request const& r, score_map& result) {
    std::vector<score_map> inputs(r.keys.size());
    for (std::size_t i = 0; i != r.keys.size(); ++i)
        if (!weighted_input(c, r.keys[i], r.weights[i], inputs[i]))
            return false;
    result = inputs.front();
    for (std::size_t i = 1; i != inputs.size(); ++i) {
        if (what == combination::first_alone) {
            for (auto const& [member, score] : inputs[i])
                result.erase(member);
            continue;
        }
        if (what == combination::common)
            std::erase_if(result, [&](auto const& item) { return !inputs[i].contains(item.first); });
        for (auto const& [member, score] : inputs[i])
            if (auto const at = result.find(member); at != result.end())
                at->second = combined(r.how, at->second, score);
            else if (what == combination::all)
                result.emplace(member, score);
    }
    return true;
}

void combine_and_list(call& c, combination what) {
    combine_request r;
    score_map result;
    if (!read_combination(c, 1, what, combine_form::list, r) || !combine(c, what, r, result))
        return;
    member_list members;
    for (auto const& [member, score] : result)
        members.emplace_back(score, member);
    std::ranges::sort(members);
    list_scored(c, members, r.with_scores);
}

void combine_and_store(call& c, combination what) {
    combine_request r;
    score_map result;
    if (!read_combination(c, 2, what, combine_form::store, r) || !combine(c, what, r, result))
        return;
    sorted_set_value stored;
    for (auto const& [member, score] : result)
        stored.set(member, score);
    c.replace(c.args[1], std::move(stored));
    c.size(result.size());
}

void zunion(call& c) { combine_and_list(c, combination::all); }
void zinter(call& c) { combine_and_list(c, combination::common); }
void zdiff(call& c) { combine_and_list(c, combination::first_alone); }
void zunionstore(call& c) { combine_and_store(c, combination::all); }
void zinterstore(call& c) { combine_and_store(c, combination::common); }
void zdiffstore(call& c) { combine_and_store(c, combination::first_alone); }

void zintercard(call& c) {
    combine_request r;
    score_map result;
    if (!read_combination(c, 1, combination::common, combine_form::count, r) ||
        !combine(c, combination::common, r, result))
        return;
    c.size(r.limit == 0 ? result.size() : std::min(result.size(), static_cast<std::size_t>(r.limit)));
}

// Any member may be chosen; the first ones make runs repeatable. A count below zero allows repetitions.
void zrandmember(call& c) {
    std::int64_t count = 1;
    bool const has_count = c.count() > 2, with_scores = c.count() == 4;
    if (has_count && !c.integer(c.args[2], count))
        return;
    if (c.count() > 4 || (with_scores && !c.is(3, "withscores")))
        return c.syntax_error();
    if (with_scores && (count < -(no_expiry / 2) || count > no_expiry / 2))
        return c.error("ERR value is out of range");
    sorted_set_value* set = nullptr;
    if (!c.get(c.args[1], set))
        return;
    if (!set)
        return has_count ? c.array(0) : c.null();
    if (!has_count)
        return c.bulk(set->ranked().begin()->second);
    member_list chosen;
    auto at = set->ranked().begin();
    for (std::size_t n = chosen_count(count, set->size()); n != 0; --n) {
        chosen.push_back(*at);
        if (++at == set->ranked().end())
            at = set->ranked().begin();
    }
    list_scored(c, chosen, with_scores);
}

void zscan(call& c) {
    scan_options options;
    sorted_set_value* set = nullptr;
    if (!read_scan_options(c, 2, false, options) || !c.get(c.args[1], set))
        return;
    std::vector<std::string_view> members;
    if (set)
        for (auto const& [score, member] : set->ranked())
            members.push_back(member);
    scan_step step = choose_step(members, options);
    std::erase_if(step.chosen, [&](std::size_t k) { return !glob_match(options.pattern, members[k]); });
    begin_scan_reply(c, step, 2 * step.chosen.size());
    for (std::size_t const k : step.chosen) {
        c.bulk(members[k]);
        c.bulk(real_text(*set->score(members[k])));
    }
}

constexpr command table[] = {
    {"bzmpop", at_least(5), 0, counted_at(2), of_write | of_sorted_set | of_slow | of_blocking, bzmpop},
    {"bzpopmax", at_least(3), no_script, all_but_last, of_write | of_sorted_set | of_fast | of_blocking, bzpopmax},
    {"bzpopmin", at_least(3), no_script, all_but_last, of_write | of_sorted_set | of_fast | of_blocking, bzpopmin},
    {"zadd", at_least(4), 0, one_key, of_write | of_sorted_set | of_fast, zadd},
    {"zcard", 2, 0, one_key, of_read | of_sorted_set | of_fast, zcard},
    {"zcount", 4, 0, one_key, of_read | of_sorted_set | of_fast, zcount},
    {"zdiff", at_least(3), 0, counted_at(1), of_read | of_sorted_set | of_slow, zdiff},
    {"zdiffstore", at_least(4), 0, counted_at(2, 1), of_write | of_sorted_set | of_slow, zdiffstore},
    {"zincrby", 4, 0, one_key, of_write | of_sorted_set | of_fast, zincrby},
    {"zinter", at_least(3), 0, counted_at(1), of_read | of_sorted_set | of_slow, zinter},
    {"zintercard", at_least(3), 0, counted_at(1), of_read | of_sorted_set | of_slow, zintercard},
    {"zinterstore", at_least(4), 0, counted_at(2, 1), of_write | of_sorted_set | of_slow, zinterstore},
    {"zlexcount", 4, 0, one_key, of_read | of_sorted_set | of_fast, zlexcount},
    {"zmpop", at_least(4), 0, counted_at(1), of_write | of_sorted_set | of_slow, zmpop},
    {"zmscore", at_least(3), 0, one_key, of_read | of_sorted_set | of_fast, zmscore},
    {"zpopmax", at_least(2), 0, one_key, of_write | of_sorted_set | of_fast, zpopmax},
    {"zpopmin", at_least(2), 0, one_key, of_write | of_sorted_set | of_fast, zpopmin},
    {"zrandmember", at_least(2), 0, one_key, of_read | of_sorted_set | of_slow, zrandmember},
    {"zrange", at_least(4), 0, one_key, of_read | of_sorted_set | of_slow, zrange},
    {"zrangebylex", at_least(4), 0, one_key, of_read | of_sorted_set | of_slow, zrangebylex},
    {"zrangebyscore", at_least(4), 0, one_key, of_read | of_sorted_set | of_slow, zrangebyscore},
    {"zrangestore", at_least(5), 0, two_keys, of_write | of_sorted_set | of_slow, zrangestore},
    {"zrank", 3, 0, one_key, of_read | of_sorted_set | of_fast, zrank},
    {"zrem", at_least(3), 0, one_key, of_write | of_sorted_set | of_fast, zrem},
    {"zremrangebylex", 4, 0, one_key, of_write | of_sorted_set | of_slow, zremrangebylex},
    {"zremrangebyrank", 4, 0, one_key, of_write | of_sorted_set | of_slow, zremrangebyrank},
    {"zremrangebyscore", 4, 0, one_key, of_write | of_sorted_set | of_slow, zremrangebyscore},
    {"zrevrange", at_least(4), 0, one_key, of_read | of_sorted_set | of_slow, zrevrange},
    {"zrevrangebylex", at_least(4), 0, one_key, of_read | of_sorted_set | of_slow, zrevrangebylex},
    {"zrevrangebyscore", at_least(4), 0, one_key, of_read | of_sorted_set | of_slow, zrevrangebyscore},
    {"zrevrank", 3, 0, one_key, of_read | of_sorted_set | of_fast, zrevrank},
    {"zscan", at_least(3), 0, one_key, of_read | of_sorted_set | of_slow, zscan},
    {"zscore", 3, 0, one_key, of_read | of_sorted_set | of_fast, zscore},
    {"zunion", at_least(3), 0, counted_at(1), of_read | of_sorted_set | of_slow, zunion},
    {"zunionstore", at_least(4), 0, counted_at(2, 1), of_write | of_sorted_set | of_slow, zunionstore},
};

} // namespace

std::span<command const> rows() noexcept { return table; }

} // namespace fairlead::redis::server_impl::sorted_sets
