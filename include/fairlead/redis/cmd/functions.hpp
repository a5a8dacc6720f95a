// Functions that the server keeps in libraries.
#pragma once

#include <fairlead/redis/options.hpp>
#include <fairlead/redis/script.hpp>

#include <string>
#include <vector>

namespace fairlead::redis {

/// A library of functions, as FUNCTION LIST describes it.
struct function_library {
    std::string name;
    std::string engine;
    std::vector<std::string> functions; ///< Their names.
};
/// Reads an element of the reply to FUNCTION LIST; what it does not know it passes over.
FAIRLEAD_EXPORT error_code from_reply(reply_reader& in, function_library& library);

namespace cmd {

/// FCALL: what a function returns.
template <class Result> command<Result> fcall(value_view function, keys_view keys = {}, values_view arguments = {}) {
    return impl::make<Result>("FCALL", {function, value_view(keys.size()), keys, arguments});
}
/// As fcall(), of a function of a library that a client loads when the server has no such function.
template <class Result>
auto fcall(function_source const& library, value_view function, keys_view keys = {}, values_view arguments = {}) {
    return script_command<Result>(library.code(),
                                  impl::serialise("FCALL", {function, value_view(keys.size()), keys, arguments}));
}
/// The same as fcall(), with two arguments and more one by one.
template <class Result, class... More> auto fcall(function_source const& library, value_view function, keys_view keys,
                                                  value_view first, value_view second, More const&... more) {
    return fcall<Result>(library, function, keys, {first, second, value_view(more)...});
}
/// FCALL_RO: as fcall(), of a function that writes nothing.
template <class Result> command<Result> fcall_ro(value_view function, keys_view keys = {}, values_view arguments = {}) {
    return impl::make<Result>("FCALL_RO", {function, value_view(keys.size()), keys, arguments});
}
/// As fcall_ro(), of a function of a library that a client loads when the server has no such function.
template <class Result>
auto fcall_ro(function_source const& library, value_view function, keys_view keys = {}, values_view arguments = {}) {
    return script_command<Result>(library.code(),
                                  impl::serialise("FCALL_RO", {function, value_view(keys.size()), keys, arguments}));
}
/// The same as fcall_ro(), with two arguments and more one by one.
template <class Result, class... More> auto fcall_ro(function_source const& library, value_view function,
                                                     keys_view keys, value_view first, value_view second,
                                                     More const&... more) {
    return fcall_ro<Result>(library, function, keys, {first, second, value_view(more)...});
}
/// FUNCTION DELETE: an error without such a library.
inline command<ignore_t> function_delete(value_view library) {
    return impl::make<ignore_t>("FUNCTION", {"DELETE", library});
}
/// FUNCTION DUMP: all libraries, serialised for function_restore().
inline command<std::string> function_dump() { return impl::make<std::string>("FUNCTION", {"DUMP"}); }
/// FUNCTION FLUSH: deletes all libraries. It has the options in_background and at_once.
template <class... Option> command<ignore_t> function_flush(Option const&... option) {
    using known = impl::options_of<options::in_background_t, options::at_once_t>;
    constexpr bool is_known = known::include<Option...>;
    static_assert(is_known, "FUNCTION FLUSH has the options in_background and at_once");
    impl::check_options<Option...>();
    return impl::make<ignore_t>("FUNCTION", {"FLUSH", impl::part_of(option)...});
}
/// FUNCTION KILL: ends the function that runs, if it has written nothing.
inline command<ignore_t> function_kill() { return impl::make<ignore_t>("FUNCTION", {"KILL"}); }
/// FUNCTION LIST: the libraries whose names match.
inline command<std::vector<function_library>> function_list(value_view pattern = "*") {
    return impl::make<std::vector<function_library>>("FUNCTION", {"LIST", "LIBRARYNAME", pattern});
}
/// FUNCTION LOAD: the name of the library. It has the option replace.
template <class... Option> command<std::string> function_load(value_view code, Option const&... option) {
    constexpr bool is_known = impl::options_of<options::replace_t>::include<Option...>;
    static_assert(is_known, "FUNCTION LOAD has the option replace");
    impl::check_options<Option...>();
    return impl::make<std::string>("FUNCTION", {"LOAD", impl::part_of(option)..., code});
}
/// FUNCTION RESTORE: adds the libraries of function_dump(). With replace: over those of the same names.
template <class... Option> command<ignore_t> function_restore(value_view dumped, Option const&... option) {
    constexpr bool is_known = impl::options_of<options::replace_t>::include<Option...>;
    static_assert(is_known, "FUNCTION RESTORE has the option replace");
    impl::check_options<Option...>();
    return impl::make<ignore_t>("FUNCTION", {"RESTORE", dumped, impl::part_of(option)...});
}

} // namespace cmd
} // namespace fairlead::redis
