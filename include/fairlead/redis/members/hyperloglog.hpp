// The commands of cmd/hyperloglog.hpp as members. Made by tools/redis_members.py --write; not to be edited.
#pragma once

#include <fairlead/redis/cmd/hyperloglog.hpp>

namespace fairlead::redis {

/// The functions of cmd/hyperloglog.hpp as members of Derived, whose call(command) executes a command.
template <class Derived> class hyperloglog_of {
public:
    decltype(auto) pfadd(key_view key, values_view elements = {}) {
        return static_cast<Derived&>(*this).call(cmd::pfadd(key, elements));
    }
    template <class... More>
    decltype(auto) pfadd(key_view key, value_view first, value_view second, More const&... more) {
        return static_cast<Derived&>(*this).call(cmd::pfadd(key, first, second, more...));
    }
    decltype(auto) pfcount(keys_view keys) { return static_cast<Derived&>(*this).call(cmd::pfcount(keys)); }
    template <class... More> decltype(auto) pfcount(key_view first, key_view second, More const&... more) {
        return static_cast<Derived&>(*this).call(cmd::pfcount(first, second, more...));
    }
    decltype(auto) pfmerge(key_view target, keys_view sources = {}) {
        return static_cast<Derived&>(*this).call(cmd::pfmerge(target, sources));
    }
    template <class... More>
    decltype(auto) pfmerge(key_view target, key_view first, key_view second, More const&... more) {
        return static_cast<Derived&>(*this).call(cmd::pfmerge(target, first, second, more...));
    }

protected:
    hyperloglog_of() = default;
    ~hyperloglog_of() = default;
    hyperloglog_of(hyperloglog_of const&) = default;
    hyperloglog_of& operator=(hyperloglog_of const&) = default;
};

} // namespace fairlead::redis
