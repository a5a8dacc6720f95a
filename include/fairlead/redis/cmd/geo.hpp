// Commands of places on the earth.
#pragma once

#include <fairlead/redis/options.hpp>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace fairlead::redis {

/// A position, in degrees.
struct geo_position {
    double longitude = 0;
    double latitude = 0;

    friend bool operator==(geo_position const&, geo_position const&) = default;
};
/// Reads a position as GEOPOS gives it.
FAIRLEAD_EXPORT error_code from_reply(reply_reader& in, geo_position& position);

/// A member, and its position.
struct geo_member {
    value_view member;
    geo_position position;
};

/// A unit of distance.
enum class geo_unit : unsigned char {
    m,
    km,
    mi,
    ft,
};

/// A member that was found, with as much as was asked for.
struct geo_match {
    std::string member;
    std::optional<double> distance; ///< In the unit of the search.
    std::optional<std::int64_t> hash;
    std::optional<geo_position> position;
};
/// Reads an element of the reply to GEOSEARCH with one of the options with_dist, with_hash and with_coord.
FAIRLEAD_EXPORT error_code from_reply(reply_reader& in, geo_match& match);

namespace impl {

constexpr std::string_view name_of(geo_unit unit) noexcept {
    constexpr std::string_view names[] = {"m", "km", "mi", "ft"};
    return names[static_cast<unsigned char>(unit)];
}

/// Members and their positions: a list in braces, or any contiguous range.
class geo_members {
public:
    geo_members(std::initializer_list<geo_member> list) noexcept : members_(list.begin(), list.size()) {}
    geo_members(std::span<geo_member const> members) noexcept : members_(members) {}
    argument_list list() const noexcept { return {members_.data(), 3 * members_.size(), &append}; }

private:
    static void append(command_text& out, void const* object, std::size_t count) {
        for (auto const& each : std::span(static_cast<geo_member const*>(object), count / 3)) {
            append_argument(out, each.position.longitude);
            append_argument(out, each.position.latitude);
            append_argument(out, each.member.text());
        }
    }
    std::span<geo_member const> members_;
};

} // namespace impl

/// The middle of a search: a member, or a position.
class geo_center {
public:
    template <class T>
        requires(!std::same_as<T, geo_position>)
    geo_center(T const& member) : member_(member) {}
    geo_center(geo_position position) noexcept : member_(position.longitude), latitude_(position.latitude) {}

    /// For the library: the arguments of a command.
    impl::argument_list list() const noexcept {
        return {this, latitude_ ? std::size_t{3} : std::size_t{2},
                [](impl::command_text& out, void const* object, std::size_t) {
                    auto const& self = *static_cast<geo_center const*>(object);
                    append_argument(out, std::string_view(self.latitude_ ? "FROMLONLAT" : "FROMMEMBER"));
                    append_argument(out, self.member_.text());
                    if (self.latitude_)
                        append_argument(out, *self.latitude_);
                }};
    }

private:
    value_view member_; // or the longitude
    std::optional<double> latitude_;
};

/// The area of a search: a circle with a radius, or a rectangle with a width and a height.
class geo_shape {
public:
    static geo_shape circle(double radius, geo_unit unit) noexcept { return {radius, std::nullopt, unit}; }
    static geo_shape box(double width, double height, geo_unit unit) noexcept { return {width, height, unit}; }

    /// For the library: the arguments of a command.
    impl::argument_list list() const noexcept {
        return {this, height_ ? std::size_t{4} : std::size_t{3},
                [](impl::command_text& out, void const* object, std::size_t) {
                    auto const& self = *static_cast<geo_shape const*>(object);
                    append_argument(out, std::string_view(self.height_ ? "BYBOX" : "BYRADIUS"));
                    append_argument(out, self.width_);
                    if (self.height_)
                        append_argument(out, *self.height_);
                    append_argument(out, impl::name_of(self.unit_));
                }};
    }

private:
    geo_shape(double width, std::optional<double> height, geo_unit unit) noexcept
        : width_(width),
          height_(height),
          unit_(unit) {}
    double width_; // or the radius
    std::optional<double> height_;
    geo_unit unit_;
};

namespace cmd {

/// GEOADD: how many of the members are new; with ch: how many have changed. It has the options nx, xx and ch.
template <class... Option>
command<std::int64_t> geoadd(key_view key, impl::geo_members members, Option const&... option) {
    using known = impl::options_of<options::nx_t, options::xx_t, options::ch_t>;
    constexpr bool is_known = known::include<Option...>;
    static_assert(is_known, "GEOADD has the options nx, xx and ch");
    impl::check_options<Option...>();
    return impl::make<std::int64_t>("GEOADD", {key, impl::part_of(option)..., members.list()});
}
/// GEODIST: the distance of two members, or nothing.
inline command<std::optional<double>> geodist(key_view key, value_view first, value_view second,
                                              geo_unit unit = geo_unit::m) {
    return impl::make<std::optional<double>>("GEODIST", {key, first, second, impl::name_of(unit)});
}
/// GEOHASH: the geohash of each member, or nothing.
inline command<std::vector<std::optional<std::string>>> geohash(key_view key, values_view members) {
    return impl::make<std::vector<std::optional<std::string>>>("GEOHASH", {key, members});
}
/// GEOHASH of two members and more.
template <class... More> command<std::vector<std::optional<std::string>>>
geohash(key_view key, value_view first, value_view second, More const&... more) {
    return geohash(key, {first, second, value_view(more)...});
}
/// GEOPOS: the position of each member, or nothing.
inline command<std::vector<std::optional<geo_position>>> geopos(key_view key, values_view members) {
    return impl::make<std::vector<std::optional<geo_position>>>("GEOPOS", {key, members});
}
/// GEOPOS of two members and more.
template <class... More> command<std::vector<std::optional<geo_position>>>
geopos(key_view key, value_view first, value_view second, More const&... more) {
    return geopos(key, {first, second, value_view(more)...});
}
/// GEOSEARCH: the members in an area. It has the options asc, desc, count, count_any, with_coord, with_dist and
/// with_hash; with one of the last three the result is a vector of geo_match.
template <class T = std::string, class... Option>
auto geosearch(key_view key, geo_center center, geo_shape shape, Option const&... option) {
    using known = impl::options_of<options::asc_t, options::desc_t, options::count, options::count_any,
                                   options::with_coord_t, options::with_dist_t, options::with_hash_t>;
    constexpr bool is_known = known::include<Option...>;
    static_assert(is_known, "GEOSEARCH has the options asc, desc, count, count_any, with_coord, "
                            "with_dist and with_hash");
    impl::check_options<Option...>();
    constexpr bool with_more = impl::has_option<options::with_coord_t, Option...> ||
                               impl::has_option<options::with_dist_t, Option...> ||
                               impl::has_option<options::with_hash_t, Option...>;
    return impl::make<std::vector<std::conditional_t<with_more, geo_match, T>>>(
        "GEOSEARCH", {key, center.list(), shape.list(), impl::part_of(option)...});
}
/// GEOSEARCHSTORE: how many members the set at `target` then has. Options asc, desc, count, count_any and store_dist.
template <class... Option> command<std::int64_t> geosearchstore(key_view target, key_view source, geo_center center,
                                                                geo_shape shape, Option const&... option) {
    using known =
        impl::options_of<options::asc_t, options::desc_t, options::count, options::count_any, options::store_dist_t>;
    constexpr bool is_known = known::include<Option...>;
    static_assert(is_known, "GEOSEARCHSTORE has the options asc, desc, count, count_any and store_dist");
    impl::check_options<Option...>();
    return impl::make<std::int64_t>("GEOSEARCHSTORE",
                                    {target, source, center.list(), shape.list(), impl::part_of(option)...});
}

} // namespace cmd
} // namespace fairlead::redis
