// How a handler is called with the values of its completion, which lie in a tuple.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

namespace fairlead::impl::operation {

/// As std::apply without a result. That is four functions for each handler and each list of values, and a program
/// compiles them for every operation that it starts. Nearly all completions have at most two values.
template <class Handler, class Values> void call_with_tuple(Handler&& handler, Values&& values) {
    constexpr auto count = std::tuple_size_v<std::remove_reference_t<Values>>;
    if constexpr (count > 2)
        std::apply(std::forward<Handler>(handler), std::forward<Values>(values));
    else if constexpr (count == 2)
        std::forward<Handler>(handler)(std::get<0>(std::forward<Values>(values)),
                                       std::get<1>(std::forward<Values>(values)));
    else if constexpr (count == 1)
        std::forward<Handler>(handler)(std::get<0>(std::forward<Values>(values)));
    else
        std::forward<Handler>(handler)();
}

/// Values of an operation with several signatures know which one they belong to, and call the handler themselves.
template <class Handler, class Values> void call_with_values(Handler&& handler, Values&& values) {
    if constexpr (requires { std::forward<Values>(values).call(std::forward<Handler>(handler)); })
        std::forward<Values>(values).call(std::forward<Handler>(handler));
    else
        call_with_tuple(std::forward<Handler>(handler), std::forward<Values>(values));
}

} // namespace fairlead::impl::operation
