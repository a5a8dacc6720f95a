// The properties of executors: what they are called, which values they have, and which can be asked for.
#pragma once

#include <fairlead/legacy/allocator_property.hpp>
#include <fairlead/legacy/occupancy_property.hpp>
#include <fairlead/legacy/property.hpp>
#include <fairlead/legacy/property_of_executors.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace fairlead {

namespace impl::legacy {

/// One value of a property, as a type of its own.
template <class Whole, class Self, bool Preferable = true> struct property_value : property_of_executors {
    static constexpr bool is_requirable = true;
    static constexpr bool is_preferable = Preferable;
    using polymorphic_query_result_type = Whole;
    static constexpr Whole value() noexcept { return Whole(Self()); }
};

/// The place of a value among those of its property, or -1.
template <class Value, class... Values> consteval int number_among(property_values<Values...>) {
    int n = -1, i = 0;
    ((std::same_as<Value, Values> ? void(n = i) : void(), ++i), ...);
    return n;
}

/// A property that has a few values, or one of them. Without a value it is the question.
template <class Self> class valued_property : public property_of_executors {
public:
    using polymorphic_query_result_type = Self;

    constexpr valued_property() noexcept = default;
    template <class Value>
        requires(number_among<Value>(typename Self::values()) >= 0)
    constexpr valued_property(Value) noexcept : number_(number_among<Value>(typename Self::values())) {}

    /// Of the value, in the order of `values`; -1: none.
    constexpr std::int8_t number() const noexcept { return number_; }
    static constexpr Self numbered(std::int8_t n) noexcept {
        Self s;
        s.valued_property::number_ = n;
        return s;
    }

protected:
    template <class Value, bool Preferable = true> using one_value = property_value<Self, Value, Preferable>;

private:
    std::int8_t number_ = -1;
};

/// Of a property or one of its values.
template <class P> using property_of = typename P::polymorphic_query_result_type;
template <class A, class B>
    requires std::same_as<property_of<A>, property_of<B>> &&
             std::derived_from<property_of<A>, valued_property<property_of<A>>>
constexpr bool operator==(A const& a, B const& b) noexcept {
    return property_of<A>(a).number() == property_of<B>(b).number();
}

} // namespace impl::legacy

namespace execution {

/// Whether execute(f) may run f, or wait for its end, before it returns.
class blocking_t : public impl::legacy::valued_property<blocking_t> {
public:
    using valued_property::valued_property;
    struct possibly_t : one_value<possibly_t> {};
    /// Cannot be preferred: who asks for it relies on it.
    struct always_t : one_value<always_t, false> {};
    struct never_t : one_value<never_t> {};
    using values = impl::legacy::property_values<possibly_t, always_t, never_t>;
    static constexpr possibly_t possibly{};
    static constexpr always_t always{};
    static constexpr never_t never{};
};
/// `require(ex, execution::blocking.never)`; also .possibly and .always.
inline constexpr blocking_t blocking{};

/// Whether what is executed goes on with what the caller does: a hint.
class relationship_t : public impl::legacy::valued_property<relationship_t> {
public:
    using valued_property::valued_property;
    struct fork_t : one_value<fork_t> {};
    struct continuation_t : one_value<continuation_t> {};
    using values = impl::legacy::property_values<fork_t, continuation_t>;
    static constexpr fork_t fork{};
    static constexpr continuation_t continuation{};
};
/// `prefer(ex, execution::relationship.continuation)`; also .fork.
inline constexpr relationship_t relationship{};

/// Whether an executor and its copies are work, so that run() or join() of the context goes on while there is one.
class outstanding_work_t : public impl::legacy::valued_property<outstanding_work_t> {
public:
    using valued_property::valued_property;
    struct untracked_t : one_value<untracked_t> {};
    struct tracked_t : one_value<tracked_t> {};
    using values = impl::legacy::property_values<untracked_t, tracked_t>;
    static constexpr untracked_t untracked{};
    static constexpr tracked_t tracked{};
};
/// `require(ex, execution::outstanding_work.tracked)`; also .untracked.
inline constexpr outstanding_work_t outstanding_work{};

/// The thread that a function runs on.
class mapping_t : public impl::legacy::valued_property<mapping_t> {
public:
    using valued_property::valued_property;
    struct thread_t : one_value<thread_t> {};
    struct new_thread_t : one_value<new_thread_t> {};
    struct other_t : one_value<other_t> {};
    using values = impl::legacy::property_values<thread_t, new_thread_t, other_t>;
    static constexpr thread_t thread{};
    static constexpr new_thread_t new_thread{};
    static constexpr other_t other{};
};
/// `query(ex, execution::mapping)`
inline constexpr mapping_t mapping{};

class inline_exception_handling_t;
/// It leaves execute().
struct propagate_inline_t : impl::legacy::property_value<inline_exception_handling_t, propagate_inline_t> {};
/// It ends the process.
struct terminate_inline_t : impl::legacy::property_value<inline_exception_handling_t, terminate_inline_t> {};

/// The treatment of an exception of a function that execute() runs inside the call.
class inline_exception_handling_t : public impl::legacy::valued_property<inline_exception_handling_t> {
public:
    using valued_property::valued_property;
    using propagate_t = propagate_inline_t;
    /// The executor keeps it, for whoever it may concern. Cannot be preferred: who asks for it relies on it.
    struct capture_t : one_value<capture_t, false> {};
    using terminate_t = terminate_inline_t;
    using values = impl::legacy::property_values<propagate_t, capture_t, terminate_t>;
    static constexpr propagate_t propagate{};
    static constexpr capture_t capture{};
    static constexpr terminate_t terminate{};
};
/// `query(ex, execution::inline_exception_handling)`
inline constexpr inline_exception_handling_t inline_exception_handling{};

/// The execution_context of an executor, by its own type.
struct context_t : impl::legacy::property_of_executors {};
/// `query(ex, execution::context)`
inline constexpr context_t context{};

/// The context of an executor as a T, which it converts to.
template <class T> struct context_as_t : impl::legacy::property_of_executors {
    using polymorphic_query_result_type = T;
};
/// `query(ex, execution::context_as<T>)`
template <class T> inline constexpr context_as_t<T> context_as{};

} // namespace execution
} // namespace fairlead
