// The template that passes the associations of handlers on.
#pragma once

namespace fairlead {

/// Lets an adapter pass on all associations of the handler inside it with one specialisation:
/// `template <template <class, class> class A, class H, class D> struct associator<A, adapter<H>, D>` with `type`,
/// `get(adapter const&)` and `get(adapter const&, D const&)`.
template <template <class, class> class Associator, class T, class Default> struct associator {};

namespace detail {

/// An associator for adapters that have the handler as `get()` or `handler`.
template <template <class, class> class Associator, class Adapter, class Inner, class Default> struct pass_on {
    using type = typename Associator<Inner, Default>::type;
    static decltype(auto) get(Adapter const& a) noexcept { return Associator<Inner, Default>::get(inner(a)); }
    static decltype(auto) get(Adapter const& a, Default const& d) noexcept {
        return Associator<Inner, Default>::get(inner(a), d);
    }
    static Inner const& inner(Adapter const& a) noexcept {
        if constexpr (requires { a.get(); })
            return a.get();
        else
            return a.handler;
    }
};

} // namespace detail

} // namespace fairlead
