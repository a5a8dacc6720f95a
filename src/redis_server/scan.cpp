// The options and the steps that SCAN and its kin for collections have in common.
#include <redis_server/scan.hpp>

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

namespace fairlead::redis::server_impl {
namespace {

// FNV-1a: the same in every program, so a simulated run can be repeated. Never 0, which is the first cursor.
std::uint64_t scan_position(std::string_view name) noexcept {
    std::uint64_t hash = 14695981039346656037U;
    for (char const byte : name)
        hash = (hash ^ static_cast<unsigned char>(byte)) * 1099511628211U;
    return std::max<std::uint64_t>(hash, 1);
}

} // namespace

bool read_scan_options(call& c, std::size_t i, bool has_type, scan_options& options) {
    std::string_view const cursor = c.args[i];
    auto const [stop, ec] = std::from_chars(cursor.data(), cursor.data() + cursor.size(), options.cursor);
    if (ec != std::errc{} || stop != cursor.data() + cursor.size()) {
        c.error("ERR invalid cursor");
        return false;
    }
    for (++i; i < c.count(); i += 2) {
        bool const has_value = i + 1 < c.count();
        if (has_value && c.is(i, "match")) {
            options.pattern = c.args[i + 1];
        } else if (has_value && has_type && c.is(i, "type")) {
            options.type = to_lower(c.args[i + 1]);
        } else if (has_value && c.is(i, "count")) {
            std::int64_t count = 0;
            if (!c.integer(c.args[i + 1], count))
                return false;
            if (count < 1) {
                c.syntax_error();
                return false;
            }
            options.count = static_cast<std::size_t>(count);
        } else {
            c.syntax_error();
            return false;
        }
    }
    return true;
}

scan_step choose_step(std::vector<std::string_view> const& names, scan_options const& options) {
    scan_step step;
    if (options.cursor == 0 && (!options.count || *options.count >= names.size())) {
        for (std::size_t i = 0; i != names.size(); ++i)
            step.chosen.push_back(i);
        return step;
    }
    std::vector<std::pair<std::uint64_t, std::size_t>> places;
    for (std::size_t i = 0; i != names.size(); ++i)
        if (std::uint64_t const place = scan_position(names[i]); place >= options.cursor)
            places.emplace_back(place, i);
    std::ranges::sort(places);
    for (auto const& [place, index] : places) {
        bool const is_full = options.count && step.chosen.size() >= *options.count;
        if (is_full && place != scan_position(names[step.chosen.back()])) {
            step.next = place;
            break;
        }
        step.chosen.push_back(index);
    }
    return step;
}

} // namespace fairlead::redis::server_impl
