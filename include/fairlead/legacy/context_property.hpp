// execution::context and context_as, of executors that have their context as a member.
#pragma once

#include <fairlead/exec/executor_concept.hpp>
#include <fairlead/legacy/properties.hpp>

#include <concepts>

namespace fairlead::impl::legacy {

template <exec::has_context_member E> struct built_in_query<E, execution::context_t> {
    static decltype(auto) ask(E const& e, execution::context_t) noexcept(noexcept(e.context())) { return e.context(); }
};
template <class E, class T>
    requires can_query_v<E const&, execution::context_t> &&
             std::convertible_to<query_result_t<E const&, execution::context_t>, T>
struct built_in_query<E, execution::context_as_t<T>> {
    static T ask(E const& e, execution::context_as_t<T>) { return query(e, execution::context); }
};

template <class T> inline constexpr bool is_context_property = std::same_as<T, execution::context_t>;
template <class T> inline constexpr bool is_context_property<execution::context_as_t<T>> = true;

} // namespace fairlead::impl::legacy
