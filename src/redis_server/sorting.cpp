// SORT: lists, sets and sorted sets in another order.
#include <redis_server/call.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace fairlead::redis::server_impl::sorting {
namespace {

struct sort_request {
    std::string_view by;
    std::vector<std::string_view> gets;
    std::int64_t offset = 0, count = -1;
    bool is_descending = false, by_text = false, has_order = true;
    std::string_view target; // of STORE
    bool is_stored = false;
};

bool read_sort(call& c, bool may_store, sort_request& r) {
    for (std::size_t i = 2; i < c.count(); ++i) {
        bool const has_value = i + 1 < c.count();
        if (c.is(i, "asc")) {
            r.is_descending = false;
        } else if (c.is(i, "desc")) {
            r.is_descending = true;
        } else if (c.is(i, "alpha")) {
            r.by_text = true;
        } else if (c.is(i, "limit") && i + 2 < c.count()) {
            if (!c.integer(c.args[i + 1], r.offset) || !c.integer(c.args[i + 2], r.count))
                return false;
            i += 2;
        } else if (may_store && c.is(i, "store") && has_value) {
            r.target = c.args[++i];
            r.is_stored = true;
        } else if (c.is(i, "by") && has_value) {
            r.by = c.args[++i];
            r.has_order = r.by.find('*') != r.by.npos;
        } else if (c.is(i, "get") && has_value) {
            r.gets.push_back(c.args[++i]);
        } else {
            c.syntax_error();
            return false;
        }
    }
    return true;
}

bool read_elements(call& c, std::vector<std::string>& elements) {
    auto const at = c.find(c.args[1]);
    if (at == c.db().end())
        return true;
    if (auto const* const list = std::get_if<list_value>(&at->second.held)) {
        elements.assign(list->begin(), list->end());
    } else if (auto const* const set = std::get_if<set_value>(&at->second.held)) {
        elements.assign(set->begin(), set->end());
    } else if (auto const* const sorted = std::get_if<sorted_set_value>(&at->second.held)) {
        for (auto const& [score, member] : sorted->ranked())
            elements.push_back(member);
    } else {
        c.wrong_type();
        return false;
    }
    return true;
}

// The value to which a pattern leads: the element takes the place of its star, and "->" leads to a field of a hash.
std::optional<std::string> look_up(call& c, std::string_view pattern, std::string_view element) {
    if (pattern == "#")
        return std::string(element);
    std::size_t const star = pattern.find('*');
    if (star == pattern.npos)
        return {};
    std::size_t const arrow = pattern.find("->", star);
    bool const has_field = arrow != pattern.npos && arrow + 2 < pattern.size();
    std::string key(pattern.substr(0, star));
    key.append(element).append(pattern.substr(star + 1, has_field ? arrow - star - 1 : pattern.npos));
    auto const at = c.find(key);
    if (at == c.db().end())
        return {};
    if (!has_field) {
        auto const* const text = std::get_if<std::string>(&at->second.held);
        return text ? std::optional(*text) : std::nullopt;
    }
    auto const* const hash = std::get_if<hash_value>(&at->second.held);
    auto const field = hash ? hash->find(pattern.substr(arrow + 2)) : hash_value::const_iterator();
    return hash && field != hash->end() ? std::optional(field->second) : std::nullopt;
}

// By a number, or by a text; elements that are equal in that are in the order of their own texts.
bool sort_elements(call& c, sort_request const& r, std::vector<std::string>& elements) {
    struct weighted {
        double number = 0;
        std::string text, element;
        auto operator<=>(weighted const&) const = default;
    };
    std::vector<weighted> all;
    for (auto& element : elements) {
        auto const weight = r.by.empty() ? std::optional(element) : look_up(c, r.by, element);
        weighted& w = all.emplace_back();
        if (r.by_text)
            w.text = weight.value_or("");
        else if (weight && !parse_real(*weight, w.number)) {
            c.error("ERR One or more scores can't be converted into double");
            return false;
        }
        w.element = std::move(element);
    }
    std::ranges::sort(all,
                      [](weighted const& a, weighted const& b) { return (a <=> b) == std::partial_ordering::less; });
    if (r.is_descending)
        std::ranges::reverse(all);
    for (std::size_t i = 0; i != all.size(); ++i)
        elements[i] = std::move(all[i].element);
    return true;
}

void sort_and_answer(call& c, bool may_store) {
    sort_request r;
    std::vector<std::string> elements;
    if (!read_sort(c, may_store, r) || !read_elements(c, elements) || (r.has_order && !sort_elements(c, r, elements)))
        return;
    auto const n = static_cast<std::int64_t>(elements.size());
    std::int64_t const begin = std::clamp<std::int64_t>(r.offset, 0, n);
    std::int64_t const end = r.count < 0 ? n : begin + std::min(r.count, n - begin);
    std::vector<std::optional<std::string>> results;
    for (std::int64_t i = begin; i != end; ++i) {
        auto const& element = elements[static_cast<std::size_t>(i)];
        if (r.gets.empty())
            results.emplace_back(element);
        for (std::string_view const pattern : r.gets)
            results.push_back(look_up(c, pattern, element));
    }
    if (r.is_stored) {
        list_value stored;
        for (auto const& result : results)
            stored.push_back(result.value_or(""));
        c.replace(r.target, std::move(stored));
        return c.size(results.size());
    }
    c.array(results.size());
    for (auto const& result : results)
        c.optional_bulk(result ? &*result : nullptr);
}

void sort(call& c) { sort_and_answer(c, true); }
void sort_ro(call& c) { sort_and_answer(c, false); }

constexpr command table[] = {
    {"sort", at_least(2), 0, one_key, of_write | of_set | of_sorted_set | of_list | of_slow | of_dangerous, sort},
    {"sort_ro", at_least(2), 0, one_key, of_read | of_set | of_sorted_set | of_list | of_slow | of_dangerous, sort_ro},
};

} // namespace

std::span<command const> rows() noexcept { return table; }

} // namespace fairlead::redis::server_impl::sorting
