// The keys of a server, or the elements of one key, one after the other: SCAN and its relatives as a range.
#pragma once

#include <fairlead/coro/awaitable.hpp>
#include <fairlead/coro/generator.hpp>
#include <fairlead/redis/cmd/results.hpp>
#include <fairlead/redis/connection.hpp>
#include <fairlead/redis/hold.hpp>
#include <fairlead/redis/request.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace fairlead::redis::impl {

/// A scan between two pages.
struct scan_place {
    request first;         ///< with cursor 0
    std::size_t cursor_at; ///< which of its arguments that is
    std::uint64_t cursor = 0;
    std::uint64_t session = 0; ///< in which the cursor means something
};
/// Reads the next page. When the client has connected again meanwhile, that is the first one.
FAIRLEAD_EXPORT awaitable<void> read_page(client_core& c, scan_place& at, response_ref to);

template <class T> generator<T> scan_items(hold<client_core> c, request first, std::size_t cursor_at) {
    scan_place at{.first = std::move(first), .cursor_at = cursor_at};
    scan_page<T> page;
    do {
        auto reading = read_page(*c, at, refer_to(page));
        co_await std::move(reading);
        at.cursor = page.cursor;
        for (auto& each : page.items)
            co_yield std::move(each);
    } while (at.cursor != 0);
}

} // namespace fairlead::redis::impl
