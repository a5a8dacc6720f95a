// The answers to require and query of executors that run a function inside the call.
#pragma once

#include <fairlead/exec/inline_executor.hpp>
#include <fairlead/legacy/properties.hpp>

#include <concepts>

namespace fairlead::impl::legacy {

template <class Handling, class P>
    requires std::convertible_to<P const&, execution::blocking_t>
struct built_in_query<basic_inline_executor<Handling>, P> {
    static constexpr execution::blocking_t ask(basic_inline_executor<Handling>, P const&) noexcept {
        return execution::blocking.always;
    }
};
template <class Handling, class P>
    requires std::convertible_to<P const&, execution::inline_exception_handling_t>
struct built_in_query<basic_inline_executor<Handling>, P> {
    static constexpr execution::inline_exception_handling_t ask(basic_inline_executor<Handling>, P const&) noexcept {
        return Handling();
    }
};
template <class Handling> struct built_in_require<basic_inline_executor<Handling>, execution::blocking_t::always_t> {
    static constexpr auto take(basic_inline_executor<Handling> e, execution::blocking_t::always_t) noexcept {
        return e;
    }
};
template <class Handling, class Other>
    requires std::same_as<Other, execution::propagate_inline_t> || std::same_as<Other, execution::terminate_inline_t>
struct built_in_require<basic_inline_executor<Handling>, Other> {
    static constexpr basic_inline_executor<Other> take(basic_inline_executor<Handling>, Other) noexcept { return {}; }
};

} // namespace fairlead::impl::legacy
