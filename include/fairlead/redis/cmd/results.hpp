// Results that several groups of commands have: pages of SCAN and its relatives, and expiries.
#pragma once

#include <fairlead/redis/response.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace fairlead::redis {

/// A page of SCAN, HSCAN, SSCAN or ZSCAN. The next one begins at `cursor`; the last page has 0 there.
template <class T> struct scan_page {
    std::uint64_t cursor = 0;
    std::vector<T> items;

    bool is_last() const noexcept { return cursor == 0; }
    friend error_code from_reply(reply_reader& in, scan_page& page) {
        std::pair<std::uint64_t, std::vector<T>> both;
        auto const ec = in.read(both);
        page.cursor = both.first;
        page.items = std::move(both.second);
        return ec;
    }
};

/// When something expires: `value` is a duration that is left, or a point in time, and empty when it does not expire.
template <class T> struct expiry {
    bool exists = false; ///< The key is there, or the field.
    std::optional<T> value;

    friend error_code from_reply(reply_reader& in, expiry& e) {
        std::int64_t n = 0; // -2: it is not there; -1: it does not expire
        auto const ec = in.read(n);
        e.exists = !ec && n != -2;
        e.value.reset();
        if (!ec && n >= 0) {
            if constexpr (requires { typename T::clock; })
                e.value.emplace(typename T::duration(n));
            else
                e.value.emplace(n);
        }
        return ec;
    }
};

} // namespace fairlead::redis
