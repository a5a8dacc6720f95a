// Finds commands in the rows of all groups.
#include <redis_server/command.hpp>
#include <redis_server/text.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace fairlead::redis::server_impl {
namespace {

std::vector<command const*> sorted_table() {
    std::vector<command const*> table;
    for (auto const rows :
         {access::rows(), bitmaps::rows(), connections::rows(), hashes::rows(), hyperloglogs::rows(), keyspace::rows(),
          lists::rows(), pubsub::rows(), scripts::rows(), sets::rows(), sorted_sets::rows(), sorting::rows(),
          stream_groups::rows(), stream_reads::rows(), streams::rows(), strings::rows(), transactions::rows()})
        for (command const& cmd : rows)
            table.push_back(&cmd);
    std::ranges::sort(table, {}, &command::name);
    return table;
}

} // namespace

std::span<command const* const> all_commands() noexcept {
    static std::vector<command const*> const table = sorted_table();
    return table;
}

command const* find_command(std::string_view name) noexcept {
    constexpr std::size_t name_bytes_max = 20;
    if (name.size() > name_bytes_max)
        return nullptr;
    char text[name_bytes_max];
    std::ranges::transform(name, text, lower);
    std::string_view const wanted(text, name.size());
    auto const table = all_commands();
    auto const at = std::ranges::lower_bound(table, wanted, {}, &command::name);
    return at != table.end() && (*at)->name == wanted ? *at : nullptr;
}

bool has_arity(command const& cmd, std::size_t arguments) noexcept {
    auto const n = static_cast<std::int64_t>(arguments);
    return cmd.arity >= 0 ? n == cmd.arity : n >= -cmd.arity;
}

std::vector<std::string_view> keys_of(command const& cmd, std::span<std::string_view const> args) {
    std::vector<std::string_view> keys;
    key_place const& place = cmd.keys;
    auto const n = static_cast<int>(args.size());
    auto const add = [&](int i) {
        if (i < n)
            keys.push_back(args[static_cast<std::size_t>(i)]);
    };
    if (place.step > 0)
        for (int i = place.first; i <= (place.last < 0 ? n + place.last : place.last); i += place.step)
            add(i);
    if (place.count_at > 0 && place.count_at < n) {
        std::int64_t counted = 0;
        if (parse_integer(args[static_cast<std::size_t>(place.count_at)], counted))
            for (int i = 0; i < counted && place.count_at + 1 + i < n; ++i)
                add(place.count_at + 1 + i);
    }
    if (place.step < 0) {
        auto const streams =
            std::ranges::find_if(args, [](std::string_view word) { return equals_any_case(word, "streams"); });
        auto const first = static_cast<int>(streams - args.begin()) + 1;
        for (int i = first; i < first + (n - first) / 2; ++i)
            add(i);
    }
    return keys;
}

} // namespace fairlead::redis::server_impl
