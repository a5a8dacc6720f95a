#include <fairlead/base/saturated.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace {

using namespace std::chrono;
using fairlead::impl::base::difference;
using fairlead::impl::base::saturated;
using fairlead::impl::base::sum;
using real_seconds = duration<double>;
using frames = duration<std::int64_t, std::ratio<1001, 30'000>>; // of a film: no whole number of nanoseconds
constexpr real_seconds for_ever(std::numeric_limits<double>::infinity());

// Overflow is no constant expression: each of these is also a proof that there is none.

TEST(Saturated, WhatFitsIsConvertedExactly) {
    static_assert(saturated<nanoseconds>(nanoseconds(7)) == nanoseconds(7));
    static_assert(saturated<nanoseconds>(hours(-3)) == hours(-3));
    static_assert(saturated<milliseconds>(nanoseconds(1'999'999)) == milliseconds(1));
    static_assert(saturated<nanoseconds>(real_seconds(0.5)) == milliseconds(500));
    static_assert(saturated<nanoseconds>(frames(30'000)) == seconds(1001));
    static_assert(saturated<nanoseconds>(duration<int, std::ratio<86'400>>(100)) == hours(2400));
    static_assert(saturated<nanoseconds>(nanoseconds::max()) == nanoseconds::max());
    static_assert(saturated<nanoseconds>(hours(2'562'047)) == hours(2'562'047)); // the last
    static_assert(saturated<hours>(nanoseconds::min()) == hours(-2'562'047));
}

TEST(Saturated, WhatIsTooFarIsTheFarthest) {
    static_assert(saturated<nanoseconds>(hours(2'562'048)) == nanoseconds::max());
    static_assert(saturated<nanoseconds>(hours(-2'562'048)) == nanoseconds::min());
    static_assert(saturated<nanoseconds>(hours::max()) == nanoseconds::max());
    static_assert(saturated<nanoseconds>(hours::min()) == nanoseconds::min());
    static_assert(saturated<nanoseconds>(duration<std::uint64_t, std::milli>::max()) == nanoseconds::max());
    static_assert(saturated<nanoseconds>(for_ever) == nanoseconds::max());
    static_assert(saturated<nanoseconds>(-for_ever) == nanoseconds::min());
    static_assert(saturated<nanoseconds>(frames::max()) == nanoseconds::max());
    static_assert(saturated<duration<int>>(nanoseconds::max()) == duration<int>::max());
    EXPECT_EQ(saturated<nanoseconds>(real_seconds(std::numeric_limits<double>::quiet_NaN())), nanoseconds::max());
}

TEST(Saturated, UnitsThatDoNotDivideOverflowNowhereOnTheWay) {
    constexpr frames two_centuries(duration_cast<frames>(hours(24 * 365 * 200)));
    constexpr auto converted = saturated<nanoseconds>(two_centuries);
    static_assert(converted > hours(24 * 365 * 200) - milliseconds(40));
    static_assert(converted <= hours(24 * 365 * 200) + milliseconds(1));
    static_assert(saturated<nanoseconds>(-two_centuries) == -converted);
}

TEST(Saturated, SumsAndDifferencesEndAtTheEnds) {
    using point = steady_clock::time_point;
    static_assert(sum(nanoseconds(1), nanoseconds(2)) == nanoseconds(3));
    static_assert(sum(nanoseconds(1), nanoseconds::max()) == nanoseconds::max());
    static_assert(sum(nanoseconds(-2), nanoseconds::min()) == nanoseconds::min());
    static_assert(sum(nanoseconds(-2), nanoseconds::max()) == nanoseconds::max() - nanoseconds(2));
    static_assert(sum(point(nanoseconds(1)), nanoseconds::max()) == point::max());
    static_assert(sum(point(nanoseconds(-2)), nanoseconds::min()) == point::min());
    static_assert(difference(nanoseconds(1), nanoseconds(2)) == nanoseconds(-1));
    static_assert(difference(nanoseconds::max(), nanoseconds(-1)) == nanoseconds::max());
    static_assert(difference(nanoseconds::min(), nanoseconds(1)) == nanoseconds::min());
    static_assert(difference(nanoseconds::min(), nanoseconds::min()) == nanoseconds(0));
    static_assert(difference(nanoseconds(-1), nanoseconds::min()) == nanoseconds::max());
}

} // namespace
