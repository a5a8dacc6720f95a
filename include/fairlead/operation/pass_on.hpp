// An adapter that has the handler as `get()` or `handler` passes its associations on.
#pragma once

namespace fairlead::impl::operation {

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

} // namespace fairlead::impl::operation
