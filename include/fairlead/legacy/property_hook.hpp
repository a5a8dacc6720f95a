// The answers of executors that know properties to the library, and to any_io_executor.
#pragma once

#include <fairlead/exec/property_hook.hpp>
#include <fairlead/legacy/property.hpp>
#include <fairlead/legacy/property_values.hpp>

#include <concepts>

namespace fairlead {

template <class InlineExceptionHandling> class basic_inline_executor;

namespace impl::legacy {

/// An executor of the library says that it is one by a member type of this name.
template <class E>
concept library_executor = requires { typename E::takes_properties; };
template <class E> inline constexpr bool is_inline_executor = false;
template <class Handling> inline constexpr bool is_inline_executor<basic_inline_executor<Handling>> = true;

template <class E, class P>
concept knows_property =
    answers_property<E const&, P> || way_to_take<E const&, P>() != property_way::none ||
    requires(E const& e, P const& p) { e.prefer(p); } || property_functions::preferable<E const&, P>;
template <class E, class... P> consteval bool knows_one_of(property_values<P...>) {
    return (knows_property<E, P> || ...);
}
/// Of users. any_io_executor holds the library's as they are, and knows what becomes of them.
template <class E>
concept knows_properties =
    !library_executor<E> && !is_inline_executor<E> &&
    (knows_property<E, execution::blocking_t> || knows_one_of<E>(execution::blocking_t::values()) ||
     knows_property<E, execution::relationship_t> || knows_one_of<E>(execution::relationship_t::values()) ||
     knows_property<E, execution::outstanding_work_t> || knows_one_of<E>(execution::outstanding_work_t::values()));

/// The answers of an executor of type E. Any is any_io_executor, which need not be complete here.
template <class E> struct answers_of {
    static exec::property_table::values query(void const* p) {
        E const& e = exec::executor_table<E>::in(p);
        auto const ask = [&e]<class P>(P property) { return P(fairlead::query(e, property)).number(); };
        return {ask(execution::blocking), ask(execution::relationship), ask(execution::outstanding_work)};
    }
    /// The executor itself when it does not know the property.
    template <class Any> static Any prefer(void const* p, exec::any_property asked) {
        E const& e = exec::executor_table<E>::in(p);
        auto const preferring = [&e](auto property) {
            auto const preferred = fairlead::prefer(e, property);
            if constexpr (std::convertible_to<decltype(preferred), Any>)
                return Any(preferred);
            else
                return Any(exec::any_executor_at_all(), preferred);
        };
        switch (asked) {
        case exec::any_property::never: return preferring(execution::blocking.never);
        case exec::any_property::possibly: return preferring(execution::blocking.possibly);
        case exec::any_property::untracked: return preferring(execution::outstanding_work.untracked);
        case exec::any_property::tracked: return preferring(execution::outstanding_work.tracked);
        case exec::any_property::fork: return preferring(execution::relationship.fork);
        case exec::any_property::continuation: return preferring(execution::relationship.continuation);
        }
        return preferring(execution::blocking.never);
    }

    static constexpr exec::property_table table{&query, &prefer<any_io_executor>};
    static constexpr exec::property_table const* functions = &table;
    static constexpr bool promises_never = can_require_v<E const&, execution::blocking_t::never_t>;
    static auto never(E const& e) { return fairlead::prefer(e, execution::blocking.never); }
};
} // namespace impl::legacy

template <impl::legacy::knows_properties E> struct impl::exec::property_hook<E> : impl::legacy::answers_of<E> {};

} // namespace fairlead
