// From a time that a program gives to one on the clock of a loop, wherever a time is given.
#pragma once

#include <fairlead/io/io_loop.hpp>
#include <fairlead/io/nanoseconds.hpp>

#include <cstdint>

namespace fairlead::io::impl {

template <class T>
concept time_point_type = requires(T const& t) {
    typename T::clock;
    { t.time_since_epoch() } -> duration_type;
};

/// When so many nanoseconds from now have passed.
inline std::int64_t later_ns(io_loop& l, std::int64_t by) noexcept {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(l.now_ns(), by, &sum))
        return by < 0 ? INT64_MIN : INT64_MAX;
    return sum;
}
/// When `d` from now has passed.
template <duration_type D> std::int64_t deadline_ns(io_loop& l, D const& d) noexcept {
    return later_ns(l, in_nanoseconds(d));
}

template <class T> inline constexpr bool is_complete = requires { sizeof(T); };
/// Whether `Clock` is the one that loops count on: then a time is a deadline as it stands, and nothing can fail.
template <class Clock, class OfLoop = io::steady_clock> consteval bool is_time_of_the_loop() {
    static_assert(is_complete<OfLoop>, "which clock the loop counts on: write #include <fairlead/io/clock.hpp>");
    if constexpr (is_complete<OfLoop>)
        return std::same_as<Clock, OfLoop> || std::same_as<Clock, typename OfLoop::time_point::clock>;
    return false;
}

/// When it is `t`. A clock that is not the loop's is looked at once, now.
template <time_point_type T>
std::int64_t deadline_ns(io_loop& l, T const& t) noexcept(is_time_of_the_loop<typename T::clock>()) {
    auto const wanted = in_nanoseconds(t.time_since_epoch());
    if constexpr (is_time_of_the_loop<typename T::clock>()) {
        return wanted;
    } else {
        std::int64_t left = 0;
        auto const now = in_nanoseconds(T::clock::now().time_since_epoch());
        if (__builtin_sub_overflow(wanted, now, &left))
            left = now < 0 ? INT64_MAX : INT64_MIN;
        return later_ns(l, left);
    }
}

} // namespace fairlead::io::impl
