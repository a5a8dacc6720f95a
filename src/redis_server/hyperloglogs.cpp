// Counting members: exactly, where the real server estimates.
#include <redis_server/call.hpp>

#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>

namespace fairlead::redis::server_impl::hyperloglogs {
namespace {

bool get_counted(call& c, std::string_view key, counted_value*& found) {
    auto const at = c.find(key);
    found = nullptr;
    if (at == c.db().end())
        return true;
    found = std::get_if<counted_value>(&at->second.held);
    if (!found && std::holds_alternative<std::string>(at->second.held))
        c.error("WRONGTYPE Key is not a valid HyperLogLog string value.");
    else if (!found)
        c.wrong_type();
    return found != nullptr;
}

void pfadd(call& c) {
    counted_value* counted = nullptr;
    if (!get_counted(c, c.args[1], counted))
        return;
    bool has_changed = !counted;
    if (!counted)
        counted = &c.make_empty<counted_value>(c.args[1]);
    for (std::string_view const member : c.args.subspan(2))
        has_changed |= counted->members.emplace(member).second;
    if (has_changed)
        c.changed(c.args[1]);
    c.number(has_changed);
}

// The members that the keys have together. False: answered.
bool merge(call& c, std::span<std::string_view const> keys, counted_value& all) {
    for (std::string_view const key : keys) {
        counted_value* counted = nullptr;
        if (!get_counted(c, key, counted))
            return false;
        if (counted)
            all.members.insert(counted->members.begin(), counted->members.end());
    }
    return true;
}

void pfcount(call& c) {
    counted_value all;
    if (merge(c, c.args.subspan(1), all))
        c.size(all.members.size());
}

void pfmerge(call& c) {
    counted_value all;
    if (!merge(c, c.args.subspan(1), all))
        return;
    if (auto const at = c.find(c.args[1]); at != c.db().end())
        at->second.held = std::move(all); // Its expiry stays.
    else
        c.make(c.args[1]).held = std::move(all);
    c.changed(c.args[1]);
    c.ok();
}

constexpr command table[] = {
    {"pfadd", at_least(2), 0, one_key, of_write | of_hyperloglog | of_fast, pfadd},
    {"pfcount", at_least(2), 0, all_keys, of_read | of_hyperloglog | of_slow, pfcount},
    {"pfmerge", at_least(2), 0, all_keys, of_write | of_hyperloglog | of_slow, pfmerge},
};

} // namespace

std::span<command const> rows() noexcept { return table; }

} // namespace fairlead::redis::server_impl::hyperloglogs
