// The commands of cmd/functions.hpp as members. Made by tools/redis_members.py --write; not to be edited.
#pragma once

#include <fairlead/redis/cmd/functions.hpp>

namespace fairlead::redis {

/// The functions of cmd/functions.hpp as members of Derived, whose call(command) executes a command.
template <class Derived> class function_commands_of {
public:
    template <class Result> decltype(auto) fcall(value_view function, keys_view keys = {}, values_view arguments = {}) {
        return static_cast<Derived&>(*this).call(cmd::fcall<Result>(function, keys, arguments));
    }
    template <class Result> decltype(auto) fcall(function_source const& library, value_view function,
                                                 keys_view keys = {}, values_view arguments = {}) {
        return static_cast<Derived&>(*this).call(cmd::fcall<Result>(library, function, keys, arguments));
    }
    template <class Result, class... More> decltype(auto) fcall(function_source const& library, value_view function,
                                                                keys_view keys, value_view first, value_view second,
                                                                More const&... more) {
        return static_cast<Derived&>(*this).call(cmd::fcall<Result>(library, function, keys, first, second, more...));
    }
    template <class Result>
    decltype(auto) fcall_ro(value_view function, keys_view keys = {}, values_view arguments = {}) {
        return static_cast<Derived&>(*this).call(cmd::fcall_ro<Result>(function, keys, arguments));
    }
    template <class Result> decltype(auto) fcall_ro(function_source const& library, value_view function,
                                                    keys_view keys = {}, values_view arguments = {}) {
        return static_cast<Derived&>(*this).call(cmd::fcall_ro<Result>(library, function, keys, arguments));
    }
    template <class Result, class... More> decltype(auto) fcall_ro(function_source const& library, value_view function,
                                                                   keys_view keys, value_view first, value_view second,
                                                                   More const&... more) {
        return static_cast<Derived&>(*this).call(
            cmd::fcall_ro<Result>(library, function, keys, first, second, more...));
    }
    decltype(auto) function_delete(value_view library) {
        return static_cast<Derived&>(*this).call(cmd::function_delete(library));
    }
    decltype(auto) function_dump() { return static_cast<Derived&>(*this).call(cmd::function_dump()); }
    template <class... Option> decltype(auto) function_flush(Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::function_flush(option...));
    }
    decltype(auto) function_kill() { return static_cast<Derived&>(*this).call(cmd::function_kill()); }
    decltype(auto) function_list(value_view pattern = "*") {
        return static_cast<Derived&>(*this).call(cmd::function_list(pattern));
    }
    template <class... Option> decltype(auto) function_load(value_view code, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::function_load(code, option...));
    }
    template <class... Option> decltype(auto) function_restore(value_view dumped, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::function_restore(dumped, option...));
    }

protected:
    function_commands_of() = default;
    ~function_commands_of() = default;
    function_commands_of(function_commands_of const&) = default;
    function_commands_of& operator=(function_commands_of const&) = default;
};

} // namespace fairlead::redis
