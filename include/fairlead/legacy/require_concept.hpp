// require_concept: as require, for properties after which a thing satisfies another concept.
#pragma once

#include <fairlead/legacy/property.hpp>

#include <type_traits>

namespace fairlead {
namespace impl::legacy {

/// Users' functions are found by their arguments in here, where no object of the same name is in the way.
namespace concept_functions {

void require_concept() = delete;

template <class T, class P>
concept requirable = requires(T&& t, P const& p) { require_concept(static_cast<T&&>(t), p); };
template <class T, class P> constexpr decltype(auto) call(T&& t, P const& p) {
    return require_concept(static_cast<T&&>(t), p);
}

} // namespace concept_functions

template <class T, class P> consteval property_way way_to_require_concept() {
    using bare = std::remove_cvref_t<T>;
    if constexpr (!requires { requires(bool(P::is_requirable_concept)); } || !is_applicable_property_v<bare, P>)
        return property_way::none;
    else if constexpr (has_property_by_type<bare, P> || has_property_by_trait<bare, P>)
        return property_way::same;
    else if constexpr (requires(T&& t, P const& p) { static_cast<T&&>(t).require_concept(p); })
        return property_way::member;
    else if constexpr (concept_functions::requirable<T, P>)
        return property_way::function;
    return property_way::none;
}

struct require_concept_fn {
    template <class T, class P>
        requires(way_to_require_concept<T, P>() != property_way::none)
    constexpr decltype(auto) operator()(T&& t, P const& p) const {
        constexpr auto way = way_to_require_concept<T, P>();
        if constexpr (way == property_way::same)
            return static_cast<T&&>(t); // A reference, as in Asio: nothing has changed.
        else if constexpr (way == property_way::member)
            return static_cast<T&&>(t).require_concept(p);
        else
            return concept_functions::call(static_cast<T&&>(t), p);
    }
};

} // namespace impl::legacy

/// require_concept(t, p): `t` in a form that satisfies the concept of p, whose is_requirable_concept is true; does not
/// compile when there is none. The result is `t` itself when its type says that it satisfies it. Else it is that of the
/// member require_concept(p), or of a function require_concept(t, p).
inline constexpr impl::legacy::require_concept_fn require_concept{};

/// Whether require_concept(t, p) compiles.
template <class T, class Property> inline constexpr bool can_require_concept_v =
    std::is_invocable_v<impl::legacy::require_concept_fn, T, Property const&>;
/// can_require_concept_v as a type.
template <class T, class Property> struct can_require_concept : std::bool_constant<can_require_concept_v<T, Property>> {
};
/// The type of require_concept(t, p), as `type`.
template <class T, class Property> struct require_concept_result
    : std::invoke_result<impl::legacy::require_concept_fn, T, Property const&> {};
/// The type of require_concept(t, p).
template <class T, class Property> using require_concept_result_t = typename require_concept_result<T, Property>::type;

} // namespace fairlead
