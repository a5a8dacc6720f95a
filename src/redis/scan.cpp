// A walk of SCAN over the connections of a client.
#include <fairlead/redis/scan.hpp>

#include <redis/client_core.hpp>

#include <charconv>
#include <string_view>
#include <utility>

namespace fairlead::redis::impl {

awaitable<void> read_page(client_core& c, scan_place& at, response_ref to) {
    for (;;) {
        // Another process of the server hashes keys in its own way, so cursors of the one before mean nothing to it.
        if (auto const now = c.counters().ready; now != at.session) {
            at.session = now;
            at.cursor = 0;
        }
        char digits[20];
        auto const* const end = std::to_chars(digits, digits + sizeof digits, at.cursor).ptr;
        auto const page =
            replaced(at.first, at.cursor_at, {std::string_view(digits, static_cast<std::size_t>(end - digits))});
        auto reading = completion_token_transform<execute::signature>(use_await, execute(c.shared(), page, to));
        co_await std::move(reading);
        auto const now = c.counters().ready;
        if (at.session == 0 && now == 1) // It waited for the first connection of all.
            at.session = now;
        if (now == at.session)
            co_return;
    }
}

} // namespace fairlead::redis::impl
