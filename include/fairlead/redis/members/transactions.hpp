// The commands of cmd/transactions.hpp as members. Made by tools/redis_members.py --write; not to be edited.
#pragma once

#include <fairlead/redis/cmd/transactions.hpp>

namespace fairlead::redis {

/// The functions of cmd/transactions.hpp as members of Derived, whose call(command) executes a command.
template <class Derived> class transactions_of {
public:
    decltype(auto) watch(keys_view keys) { return static_cast<Derived&>(*this).call(cmd::watch(keys)); }
    template <class... More> decltype(auto) watch(key_view first, key_view second, More const&... more) {
        return static_cast<Derived&>(*this).call(cmd::watch(first, second, more...));
    }
    decltype(auto) unwatch() { return static_cast<Derived&>(*this).call(cmd::unwatch()); }

protected:
    transactions_of() = default;
    ~transactions_of() = default;
    transactions_of(transactions_of const&) = default;
    transactions_of& operator=(transactions_of const&) = default;
};

} // namespace fairlead::redis
