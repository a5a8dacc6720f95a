// The commands of cmd/geo.hpp as members. Made by tools/redis_members.py --write; not to be edited.
#pragma once

#include <fairlead/redis/cmd/geo.hpp>

namespace fairlead::redis {

/// The functions of cmd/geo.hpp as members of Derived, whose call(command) executes a command.
template <class Derived> class geo_of {
public:
    template <class... Option> decltype(auto) geoadd(key_view key, impl::geo_members members, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::geoadd(key, members, option...));
    }
    decltype(auto) geodist(key_view key, value_view first, value_view second, geo_unit unit = geo_unit::m) {
        return static_cast<Derived&>(*this).call(cmd::geodist(key, first, second, unit));
    }
    decltype(auto) geohash(key_view key, values_view members) {
        return static_cast<Derived&>(*this).call(cmd::geohash(key, members));
    }
    template <class... More>
    decltype(auto) geohash(key_view key, value_view first, value_view second, More const&... more) {
        return static_cast<Derived&>(*this).call(cmd::geohash(key, first, second, more...));
    }
    decltype(auto) geopos(key_view key, values_view members) {
        return static_cast<Derived&>(*this).call(cmd::geopos(key, members));
    }
    template <class... More>
    decltype(auto) geopos(key_view key, value_view first, value_view second, More const&... more) {
        return static_cast<Derived&>(*this).call(cmd::geopos(key, first, second, more...));
    }
    template <class T = std::string, class... Option>
    decltype(auto) geosearch(key_view key, geo_center center, geo_shape shape, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::geosearch<T>(key, center, shape, option...));
    }
    template <class... Option> decltype(auto) geosearchstore(key_view target, key_view source, geo_center center,
                                                             geo_shape shape, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::geosearchstore(target, source, center, shape, option...));
    }

protected:
    geo_of() = default;
    ~geo_of() = default;
    geo_of(geo_of const&) = default;
    geo_of& operator=(geo_of const&) = default;
};

} // namespace fairlead::redis
