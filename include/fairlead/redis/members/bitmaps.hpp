// The commands of cmd/bitmaps.hpp as members. Made by tools/redis_members.py --write; not to be edited.
#pragma once

#include <fairlead/redis/cmd/bitmaps.hpp>

namespace fairlead::redis {

/// The functions of cmd/bitmaps.hpp as members of Derived, whose call(command) executes a command.
template <class Derived> class bitmaps_of {
public:
    decltype(auto) bitcount(key_view key) { return static_cast<Derived&>(*this).call(cmd::bitcount(key)); }
    template <class... Option>
    decltype(auto) bitcount(key_view key, std::int64_t first, std::int64_t last, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::bitcount(key, first, last, option...));
    }
    template <class... Option> decltype(auto) bitfield(key_view key, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::bitfield(key, option...));
    }
    template <class... Option> decltype(auto) bitfield_ro(key_view key, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::bitfield_ro(key, option...));
    }
    decltype(auto) bitop(bit_operation operation, key_view target, keys_view keys) {
        return static_cast<Derived&>(*this).call(cmd::bitop(operation, target, keys));
    }
    decltype(auto) bitpos(key_view key, bool bit) { return static_cast<Derived&>(*this).call(cmd::bitpos(key, bit)); }
    template <class... Option>
    decltype(auto) bitpos(key_view key, bool bit, std::int64_t first, std::int64_t last, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::bitpos(key, bit, first, last, option...));
    }
    decltype(auto) getbit(key_view key, std::int64_t offset) {
        return static_cast<Derived&>(*this).call(cmd::getbit(key, offset));
    }
    decltype(auto) setbit(key_view key, std::int64_t offset, bool bit) {
        return static_cast<Derived&>(*this).call(cmd::setbit(key, offset, bit));
    }

protected:
    bitmaps_of() = default;
    ~bitmaps_of() = default;
    bitmaps_of(bitmaps_of const&) = default;
    bitmaps_of& operator=(bitmaps_of const&) = default;
};

} // namespace fairlead::redis
