// The commands of cmd/scripting.hpp as members. Made by tools/redis_members.py --write; not to be edited.
#pragma once

#include <fairlead/redis/cmd/scripting.hpp>

namespace fairlead::redis {

/// The functions of cmd/scripting.hpp as members of Derived, whose call(command) executes a command.
template <class Derived> class scripting_of {
public:
    template <class Result> decltype(auto) eval(value_view script, keys_view keys = {}, values_view arguments = {}) {
        return static_cast<Derived&>(*this).call(cmd::eval<Result>(script, keys, arguments));
    }
    template <class Result> decltype(auto) eval(script const& kept, keys_view keys = {}, values_view arguments = {}) {
        return static_cast<Derived&>(*this).call(cmd::eval<Result>(kept, keys, arguments));
    }
    template <class Result, class... More>
    decltype(auto) eval(script const& kept, keys_view keys, value_view first, value_view second, More const&... more) {
        return static_cast<Derived&>(*this).call(cmd::eval<Result>(kept, keys, first, second, more...));
    }
    template <class Result> decltype(auto) eval_ro(value_view script, keys_view keys = {}, values_view arguments = {}) {
        return static_cast<Derived&>(*this).call(cmd::eval_ro<Result>(script, keys, arguments));
    }
    template <class Result>
    decltype(auto) eval_ro(script const& kept, keys_view keys = {}, values_view arguments = {}) {
        return static_cast<Derived&>(*this).call(cmd::eval_ro<Result>(kept, keys, arguments));
    }
    template <class Result, class... More> decltype(auto) eval_ro(script const& kept, keys_view keys, value_view first,
                                                                  value_view second, More const&... more) {
        return static_cast<Derived&>(*this).call(cmd::eval_ro<Result>(kept, keys, first, second, more...));
    }
    template <class Result> decltype(auto) evalsha(value_view sha1, keys_view keys = {}, values_view arguments = {}) {
        return static_cast<Derived&>(*this).call(cmd::evalsha<Result>(sha1, keys, arguments));
    }
    template <class Result>
    decltype(auto) evalsha_ro(value_view sha1, keys_view keys = {}, values_view arguments = {}) {
        return static_cast<Derived&>(*this).call(cmd::evalsha_ro<Result>(sha1, keys, arguments));
    }
    decltype(auto) script_exists(values_view sha1s) {
        return static_cast<Derived&>(*this).call(cmd::script_exists(sha1s));
    }
    template <class... More> decltype(auto) script_exists(value_view first, value_view second, More const&... more) {
        return static_cast<Derived&>(*this).call(cmd::script_exists(first, second, more...));
    }
    template <class... Option> decltype(auto) script_flush(Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::script_flush(option...));
    }
    decltype(auto) script_kill() { return static_cast<Derived&>(*this).call(cmd::script_kill()); }
    decltype(auto) script_load(value_view script) {
        return static_cast<Derived&>(*this).call(cmd::script_load(script));
    }

protected:
    scripting_of() = default;
    ~scripting_of() = default;
    scripting_of(scripting_of const&) = default;
    scripting_of& operator=(scripting_of const&) = default;
};

} // namespace fairlead::redis
