// execution::prefer_only: a property that can be preferred and queried, but not required.
#pragma once

#include <fairlead/legacy/property.hpp>

#include <type_traits>

namespace fairlead {

namespace impl::legacy {

template <class P> struct query_result_of_prefer_only {};
template <class P>
    requires requires { typename P::polymorphic_query_result_type; }
struct query_result_of_prefer_only<P> {
    using polymorphic_query_result_type = typename P::polymorphic_query_result_type;
};

} // namespace impl::legacy

namespace execution {

/// A property of an any_executor of which it may take targets that cannot promise it.
template <class Property> struct prefer_only : impl::legacy::query_result_of_prefer_only<Property> {
    template <class T> static constexpr bool is_applicable_property_v = fairlead::is_applicable_property_v<T, Property>;
    static constexpr bool is_requirable = false;
    static constexpr bool is_preferable = requires { requires(bool(Property::is_preferable)); };

    constexpr prefer_only(Property const& p) : property(p) {}
    constexpr auto value() const
        requires requires(Property const& p) { p.value(); }
    {
        return property.value();
    }

    template <class Executor>
        requires can_prefer_v<Executor const&, Property>
    friend constexpr decltype(auto) prefer(Executor const& e, prefer_only const& p) {
        return fairlead::prefer(e, p.property);
    }
    template <class Executor>
        requires can_query_v<Executor const&, Property>
    friend constexpr decltype(auto) query(Executor const& e, prefer_only const& p) {
        return fairlead::query(e, p.property);
    }

    Property property;
};

} // namespace execution
} // namespace fairlead
