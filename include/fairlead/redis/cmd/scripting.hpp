// Scripts in Lua. The template argument, which has to be given, is the type of the script's result.
#pragma once

#include <fairlead/redis/options.hpp>
#include <fairlead/redis/script.hpp>

#include <string>
#include <vector>

namespace fairlead::redis::cmd {

/// EVAL: what a script returns.
template <class Result> command<Result> eval(value_view script, keys_view keys = {}, values_view arguments = {}) {
    return impl::make<Result>("EVAL", {script, value_view(keys.size()), keys, arguments});
}
/// As eval(), of a script that is kept: by its digest, and with its source when the server does not have it.
template <class Result> auto eval(script const& kept, keys_view keys = {}, values_view arguments = {}) {
    return script_command<Result>(kept.code(),
                                  impl::serialise("EVALSHA", {kept.sha1(), value_view(keys.size()), keys, arguments}));
}
/// The same as eval(), with two arguments and more one by one.
template <class Result, class... More>
auto eval(script const& kept, keys_view keys, value_view first, value_view second, More const&... more) {
    return eval<Result>(kept, keys, {first, second, value_view(more)...});
}
/// EVAL_RO: as eval(), of a script that writes nothing.
template <class Result> command<Result> eval_ro(value_view script, keys_view keys = {}, values_view arguments = {}) {
    return impl::make<Result>("EVAL_RO", {script, value_view(keys.size()), keys, arguments});
}
/// As eval_ro(), of a script that is kept.
template <class Result> auto eval_ro(script const& kept, keys_view keys = {}, values_view arguments = {}) {
    return script_command<Result>(
        kept.code(), impl::serialise("EVALSHA_RO", {kept.sha1(), value_view(keys.size()), keys, arguments}));
}
/// The same as eval_ro(), with two arguments and more one by one.
template <class Result, class... More>
auto eval_ro(script const& kept, keys_view keys, value_view first, value_view second, More const&... more) {
    return eval_ro<Result>(kept, keys, {first, second, value_view(more)...});
}
/// EVALSHA: as eval(), by the digest of a script that the server has: script_load(). NOSCRIPT if it has none.
template <class Result> command<Result> evalsha(value_view sha1, keys_view keys = {}, values_view arguments = {}) {
    return impl::make<Result>("EVALSHA", {sha1, value_view(keys.size()), keys, arguments});
}
/// EVALSHA_RO: as evalsha(), of a script that writes nothing.
template <class Result> command<Result> evalsha_ro(value_view sha1, keys_view keys = {}, values_view arguments = {}) {
    return impl::make<Result>("EVALSHA_RO", {sha1, value_view(keys.size()), keys, arguments});
}
/// SCRIPT EXISTS: for each digest whether the server has the script.
inline command<std::vector<bool>> script_exists(values_view sha1s) {
    return impl::make<std::vector<bool>>("SCRIPT", {"EXISTS", sha1s});
}
/// SCRIPT EXISTS of two digests and more.
template <class... More>
command<std::vector<bool>> script_exists(value_view first, value_view second, More const&... more) {
    return script_exists({first, second, value_view(more)...});
}
/// SCRIPT FLUSH: the server forgets all scripts. It has the options in_background and at_once.
template <class... Option> command<ignore_t> script_flush(Option const&... option) {
    using known = impl::options_of<options::in_background_t, options::at_once_t>;
    constexpr bool is_known = known::include<Option...>;
    static_assert(is_known, "SCRIPT FLUSH has the options in_background and at_once");
    impl::check_options<Option...>();
    return impl::make<ignore_t>("SCRIPT", {"FLUSH", impl::part_of(option)...});
}
/// SCRIPT KILL: ends the script that runs, if it has written nothing.
inline command<ignore_t> script_kill() { return impl::make<ignore_t>("SCRIPT", {"KILL"}); }
/// SCRIPT LOAD: the digest of a script, which the server now has.
inline command<std::string> script_load(value_view script) {
    return impl::make<std::string>("SCRIPT", {"LOAD", script});
}

} // namespace fairlead::redis::cmd
