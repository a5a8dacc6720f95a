// Properties: asking something for a variant of itself (require, prefer), or for a value (query). The set of properties
// is open. A property is a type with the constants below. An object that has it says so by members or by functions of
// its namespace. The properties of executors are in properties.hpp. These headers do without <utility>, which costs
// more than they do.
#pragma once

#include <fairlead/base/config.hpp>

#include <concepts>
#include <type_traits>

namespace fairlead {

/// Whether a property makes sense for a type: what the property says in `is_applicable_property_v`. May be specialised.
template <class T, class Property, class = void> struct is_applicable_property : std::false_type {};
template <class T, class Property>
    requires(bool(Property::template is_applicable_property_v<T>))
struct is_applicable_property<T, Property> : std::true_type {};
/// is_applicable_property as a value.
template <class T, class Property> inline constexpr bool is_applicable_property_v =
    is_applicable_property<T, Property>::value;

namespace impl::legacy {

/// The answers of the library's executors without members of their own; with_properties.hpp specialises both.
template <class T, class Property> struct built_in_require {};
template <class T, class Property> struct built_in_query {};

/// The values of a property that has a few of its own. It names them by a member type `values`, and each of them names
/// it by its polymorphic_query_result_type. An object that answers for none of them has the first, which promises
/// least.
template <class Default, class... Others> struct property_values {};

enum class property_way { none, same, member, function, built_in, constant, value, by_default };

template <class T, class P>
concept has_property_by_type = requires { requires(std::bool_constant<(T::query(P()) == P::value())>::value); };
template <class T, class P>
concept has_property_by_trait =
    requires { requires(std::bool_constant<(P::template static_query_v<T> == P::value())>::value); };

/// Users' functions are found by their arguments in here, where no object of the same name is in the way.
namespace property_functions {

void require() = delete;
void prefer() = delete;
void query() = delete;

template <class T, class P>
concept requirable = requires(T&& t, P const& p) { require(static_cast<T&&>(t), p); };
template <class T, class P>
concept preferable = requires(T&& t, P const& p) { prefer(static_cast<T&&>(t), p); };
template <class T, class P>
concept queryable = requires(T&& t, P const& p) { query(static_cast<T&&>(t), p); };

template <class T, class P> decltype(auto) call_require(T&& t, P const& p) { return require(static_cast<T&&>(t), p); }
template <class T, class P> decltype(auto) call_prefer(T&& t, P const& p) { return prefer(static_cast<T&&>(t), p); }
template <class T, class P> decltype(auto) call_query(T&& t, P const& p) { return query(static_cast<T&&>(t), p); }

} // namespace property_functions

template <class T, class P> consteval property_way way_to_query();

/// The first of the values that T can be asked for. There is one: who answers for no other can be asked for the
/// default.
template <class T, class Value, class... More> consteval auto answered_value(property_values<Value, More...>) {
    if constexpr (way_to_query<T, Value>() != property_way::none)
        return Value();
    else
        return answered_value<T>(property_values<More...>());
}
/// Whether P is the default, and T, which does not answer for it, answers for none of the others.
template <class T, class P, class Default, class... Others>
consteval bool has_default(property_values<Default, Others...>) {
    if constexpr (std::same_as<P, Default>)
        return ((way_to_query<T, Others>() == property_way::none) && ...);
    else
        return false;
}
template <class Default, class... Others> void take_values(property_values<Default, Others...>);
template <class P>
concept has_values = requires { take_values(typename P::values()); };
template <class P>
concept has_values_beside_it = has_values<typename P::polymorphic_query_result_type>;

template <class T, class P> consteval property_way way_to_query() {
    using bare = std::remove_cvref_t<T>;
    if constexpr (!is_applicable_property_v<bare, P>)
        return property_way::none;
    else if constexpr (requires(T&& t, P const& p) { static_cast<T&&>(t).query(p); })
        return property_way::member;
    else if constexpr (property_functions::queryable<T, P>)
        return property_way::function;
    else if constexpr (requires(T&& t, P const& p) { built_in_query<bare, P>::ask(t, p); })
        return property_way::built_in;
    else if constexpr (requires { P::template static_query_v<bare>; })
        return property_way::constant;
    else if constexpr (has_values<P>)
        return way_to_query<T, decltype(answered_value<T>(typename P::values()))>() == property_way::by_default
                   ? property_way::by_default
                   : property_way::value;
    else if constexpr (has_values_beside_it<P>)
        return has_default<T, P>(typename P::polymorphic_query_result_type::values()) ? property_way::by_default
                                                                                      : property_way::none;
    return property_way::none;
}
/// Whether T answers for the property; can_query is true of the default as well.
template <class T, class P>
concept answers_property =
    way_to_query<T, P>() != property_way::none && way_to_query<T, P>() != property_way::by_default;

/// How `t` takes a property that it must have then, whether one may ask for it with require or not.
template <class T, class P> consteval property_way way_to_take() {
    using bare = std::remove_cvref_t<T>;
    if constexpr (has_property_by_type<bare, P> || has_property_by_trait<bare, P>)
        return property_way::same;
    else if constexpr (requires(T&& t, P const& p) { static_cast<T&&>(t).require(p); })
        return property_way::member;
    else if constexpr (property_functions::requirable<T, P>)
        return property_way::function;
    else if constexpr (requires(T&& t, P const& p) { built_in_require<bare, P>::take(static_cast<T&&>(t), p); })
        return property_way::built_in;
    else
        return property_way::none;
}
template <class T, class P> consteval property_way way_to_require() {
    if constexpr (requires { requires(bool(P::is_requirable)); } && is_applicable_property_v<std::remove_cvref_t<T>, P>)
        return way_to_take<T, P>() == property_way::none && way_to_query<T, P>() == property_way::by_default
                   ? property_way::by_default
                   : way_to_take<T, P>();
    else
        return property_way::none;
}

template <class T, class P> constexpr decltype(auto) take_property(T&& t, P const& p) {
    using bare = std::remove_cvref_t<T>;
    constexpr auto way = way_to_take<T, P>();
    if constexpr (way == property_way::same || way == property_way::none) // None: it is the default.
        return bare(static_cast<T&&>(t));
    else if constexpr (way == property_way::member)
        return static_cast<T&&>(t).require(p);
    else if constexpr (way == property_way::function)
        return property_functions::call_require(static_cast<T&&>(t), p);
    else
        return built_in_require<bare, P>::take(static_cast<T&&>(t), p);
}

template <class T, class P>
concept one_requirable = way_to_require<T, P>() != property_way::none;
template <class T, class P>
concept one_preferable =
    requires { requires(bool(P::is_preferable)); } && is_applicable_property_v<std::remove_cvref_t<T>, P>;

struct require_fn {
    template <class T, class P>
        requires one_requirable<T, P>
    constexpr decltype(auto) operator()(T&& t, P const& p) const {
        return take_property(static_cast<T&&>(t), p);
    }
    template <class T, class P, class Q, class... More>
        requires one_requirable<T, P> &&
                 std::invocable<require_fn, std::invoke_result_t<require_fn, T, P const&>, Q const&, More const&...>
    constexpr decltype(auto) operator()(T&& t, P const& p, Q const& q, More const&... more) const {
        return (*this)(take_property(static_cast<T&&>(t), p), q, more...);
    }
};

/// As require_fn, for programs, which are told when `t` cannot have a property.
struct require_or_refuse : require_fn {
    using require_fn::operator();
    template <class T, class... Properties>
        requires(sizeof...(Properties) != 0 && !std::invocable<require_fn, T, Properties const&...>)
    FAIRLEAD_REFUSED("this cannot have these properties: write prefer(x, property), or ask can_require_v before")
    std::remove_cvref_t<T> operator()(T&& t, Properties const&...) const {
        return t;
    }
};

struct prefer_fn {
    template <class T, class P>
        requires one_preferable<T, P>
    constexpr decltype(auto) operator()(T&& t, P const& p) const {
        if constexpr (way_to_take<T, P>() != property_way::none)
            return take_property(static_cast<T&&>(t), p);
        else if constexpr (requires { static_cast<T&&>(t).prefer(p); })
            return static_cast<T&&>(t).prefer(p);
        else if constexpr (property_functions::preferable<T, P>)
            return property_functions::call_prefer(static_cast<T&&>(t), p);
        else
            return std::remove_cvref_t<T>(static_cast<T&&>(t));
    }
    template <class T, class P, class Q, class... More>
        requires one_preferable<T, P> &&
                 std::invocable<prefer_fn, std::invoke_result_t<prefer_fn, T, P const&>, Q const&, More const&...>
    constexpr decltype(auto) operator()(T&& t, P const& p, Q const& q, More const&... more) const {
        return (*this)((*this)(static_cast<T&&>(t), p), q, more...);
    }
};

struct query_fn {
    template <class T, class P>
        requires(way_to_query<T, P>() != property_way::none)
    constexpr decltype(auto) operator()(T&& t, P const& p) const {
        constexpr auto way = way_to_query<T, P>();
        if constexpr (way == property_way::member)
            return static_cast<T&&>(t).query(p);
        else if constexpr (way == property_way::function)
            return property_functions::call_query(static_cast<T&&>(t), p);
        else if constexpr (way == property_way::built_in)
            return built_in_query<std::remove_cvref_t<T>, P>::ask(t, p);
        else if constexpr (way == property_way::constant)
            return std::remove_cvref_t<decltype(P::template static_query_v<std::remove_cvref_t<T>>)>(
                P::template static_query_v<std::remove_cvref_t<T>>);
        else if constexpr (has_values<P>)
            return P((*this)(static_cast<T&&>(t), answered_value<T>(typename P::values())));
        else
            return P();
    }
};

} // namespace impl::legacy

/// require(t, p...): `t` with the properties, one after the other; does not compile when it cannot have one. The result
/// is `t` itself when its type says that it has them. Else it is that of the member require(p), or of a function
/// require(t, p). It is `t`, too, when `t` answers for none of the values of a property and p is the first of them.
inline constexpr impl::legacy::require_or_refuse require{};
/// prefer(t, p...): as require, or the member or function prefer, or `t` as it is.
inline constexpr impl::legacy::prefer_fn prefer{};
/// query(t, p): the value of the property for `t`, by a member query(p), which may be static, or a function query(t,
/// p). A property of executors may have a few values of its own. Then, and for one of these, the result is the value
/// for which `t` answers. If `t` answers for none, it is the first, which promises least.
inline constexpr impl::legacy::query_fn query{};

/// Whether require(t, p...) compiles.
template <class T, class... Properties> inline constexpr bool can_require_v =
    std::is_invocable_v<impl::legacy::require_fn, T, Properties const&...>;
/// Whether prefer(t, p...) compiles.
template <class T, class... Properties> inline constexpr bool can_prefer_v =
    std::is_invocable_v<impl::legacy::prefer_fn, T, Properties const&...>;
/// Whether query(t, p) compiles.
template <class T, class Property> inline constexpr bool can_query_v =
    std::is_invocable_v<impl::legacy::query_fn, T, Property const&>;
/// can_require_v as a type.
template <class T, class... Properties> struct can_require : std::bool_constant<can_require_v<T, Properties...>> {};
/// can_prefer_v as a type.
template <class T, class... Properties> struct can_prefer : std::bool_constant<can_prefer_v<T, Properties...>> {};
/// can_query_v as a type.
template <class T, class Property> struct can_query : std::bool_constant<can_query_v<T, Property>> {};

/// The type of require(t, p...), as `type`.
template <class T, class... Properties> struct require_result
    : std::invoke_result<impl::legacy::require_fn, T, Properties const&...> {};
/// The type of prefer(t, p...), as `type`.
template <class T, class... Properties> struct prefer_result
    : std::invoke_result<impl::legacy::prefer_fn, T, Properties const&...> {};
/// The type of query(t, p), as `type`.
template <class T, class Property> struct query_result
    : std::invoke_result<impl::legacy::query_fn, T, Property const&> {};
/// The type of require(t, p...).
template <class T, class... Properties> using require_result_t = typename require_result<T, Properties...>::type;
/// The type of prefer(t, p...).
template <class T, class... Properties> using prefer_result_t = typename prefer_result<T, Properties...>::type;
/// The type of query(t, p).
template <class T, class Property> using query_result_t = typename query_result<T, Property>::type;

} // namespace fairlead
