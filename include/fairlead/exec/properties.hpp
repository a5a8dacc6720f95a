// The properties of executors: what they are called, which values they have, and which can be asked for.
#pragma once

#include <fairlead/exec/allocator_property.hpp>
#include <fairlead/exec/occupancy_property.hpp>
#include <fairlead/exec/property.hpp>
#include <fairlead/exec/property_of_executors.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace fairlead {

namespace detail {

/// One value of a property, as a type of its own.
template <class Whole, class Self, bool Preferable = true> struct property_value : property_of_executors {
    static constexpr bool is_requirable = true;
    static constexpr bool is_preferable = Preferable;
    using polymorphic_query_result_type = Whole;
    static constexpr Whole value() noexcept { return Whole(Self()); }
};

} // namespace detail

namespace execution {

/// Whether execute(f) may run f, or wait for its end, before it returns.
class blocking_t : public detail::property_of_executors {
public:
    using polymorphic_query_result_type = blocking_t;
    struct possibly_t : detail::property_value<blocking_t, possibly_t> {};
    /// Cannot be preferred: who asks for it relies on it.
    struct always_t : detail::property_value<blocking_t, always_t, false> {};
    struct never_t : detail::property_value<blocking_t, never_t> {};
    using values = detail::property_values<possibly_t, always_t, never_t>;
    static constexpr possibly_t possibly{};
    static constexpr always_t always{};
    static constexpr never_t never{};

    /// None of the values: the question.
    constexpr blocking_t() noexcept = default;
    constexpr blocking_t(possibly_t) noexcept : value_(0) {}
    constexpr blocking_t(always_t) noexcept : value_(1) {}
    constexpr blocking_t(never_t) noexcept : value_(2) {}
    friend constexpr bool operator==(blocking_t a, blocking_t b) noexcept { return a.value_ == b.value_; }

private:
    std::int8_t value_ = -1;
};
/// `require(ex, execution::blocking.never)`; also .possibly and .always.
inline constexpr blocking_t blocking{};

/// Whether what is executed goes on with what the caller does: a hint.
class relationship_t : public detail::property_of_executors {
public:
    using polymorphic_query_result_type = relationship_t;
    struct fork_t : detail::property_value<relationship_t, fork_t> {};
    struct continuation_t : detail::property_value<relationship_t, continuation_t> {};
    using values = detail::property_values<fork_t, continuation_t>;
    static constexpr fork_t fork{};
    static constexpr continuation_t continuation{};

    /// None of the values: the question.
    constexpr relationship_t() noexcept = default;
    constexpr relationship_t(fork_t) noexcept : value_(0) {}
    constexpr relationship_t(continuation_t) noexcept : value_(1) {}
    friend constexpr bool operator==(relationship_t a, relationship_t b) noexcept { return a.value_ == b.value_; }

private:
    std::int8_t value_ = -1;
};
/// `prefer(ex, execution::relationship.continuation)`; also .fork.
inline constexpr relationship_t relationship{};

/// Whether an executor and its copies are work, so that run() or join() of the context goes on while there is one.
class outstanding_work_t : public detail::property_of_executors {
public:
    using polymorphic_query_result_type = outstanding_work_t;
    struct untracked_t : detail::property_value<outstanding_work_t, untracked_t> {};
    struct tracked_t : detail::property_value<outstanding_work_t, tracked_t> {};
    using values = detail::property_values<untracked_t, tracked_t>;
    static constexpr untracked_t untracked{};
    static constexpr tracked_t tracked{};

    /// None of the values: the question.
    constexpr outstanding_work_t() noexcept = default;
    constexpr outstanding_work_t(untracked_t) noexcept : value_(0) {}
    constexpr outstanding_work_t(tracked_t) noexcept : value_(1) {}
    friend constexpr bool operator==(outstanding_work_t a, outstanding_work_t b) noexcept {
        return a.value_ == b.value_;
    }

private:
    std::int8_t value_ = -1;
};
/// `require(ex, execution::outstanding_work.tracked)`; also .untracked.
inline constexpr outstanding_work_t outstanding_work{};

/// The thread that a function runs on.
class mapping_t : public detail::property_of_executors {
public:
    using polymorphic_query_result_type = mapping_t;
    struct thread_t : detail::property_value<mapping_t, thread_t> {};
    struct new_thread_t : detail::property_value<mapping_t, new_thread_t> {};
    struct other_t : detail::property_value<mapping_t, other_t> {};
    using values = detail::property_values<thread_t, new_thread_t, other_t>;
    static constexpr thread_t thread{};
    static constexpr new_thread_t new_thread{};
    static constexpr other_t other{};

    /// None of the values: the question.
    constexpr mapping_t() noexcept = default;
    constexpr mapping_t(thread_t) noexcept : value_(0) {}
    constexpr mapping_t(new_thread_t) noexcept : value_(1) {}
    constexpr mapping_t(other_t) noexcept : value_(2) {}
    friend constexpr bool operator==(mapping_t a, mapping_t b) noexcept { return a.value_ == b.value_; }

private:
    std::int8_t value_ = -1;
};
/// `query(ex, execution::mapping)`
inline constexpr mapping_t mapping{};

/// The treatment of an exception of a function that execute() runs inside the call.
class inline_exception_handling_t : public detail::property_of_executors {
public:
    using polymorphic_query_result_type = inline_exception_handling_t;
    /// It leaves execute().
    struct propagate_t : detail::property_value<inline_exception_handling_t, propagate_t> {};
    /// The executor keeps it, for whoever it may concern. Cannot be preferred: who asks for it relies on it.
    struct capture_t : detail::property_value<inline_exception_handling_t, capture_t, false> {};
    /// It ends the process.
    struct terminate_t : detail::property_value<inline_exception_handling_t, terminate_t> {};
    using values = detail::property_values<propagate_t, capture_t, terminate_t>;
    static constexpr propagate_t propagate{};
    static constexpr capture_t capture{};
    static constexpr terminate_t terminate{};

    /// None of the values: the question.
    constexpr inline_exception_handling_t() noexcept = default;
    constexpr inline_exception_handling_t(propagate_t) noexcept : value_(0) {}
    constexpr inline_exception_handling_t(capture_t) noexcept : value_(1) {}
    constexpr inline_exception_handling_t(terminate_t) noexcept : value_(2) {}
    friend constexpr bool operator==(inline_exception_handling_t a, inline_exception_handling_t b) noexcept {
        return a.value_ == b.value_;
    }

private:
    std::int8_t value_ = -1;
};
/// `query(ex, execution::inline_exception_handling)`
inline constexpr inline_exception_handling_t inline_exception_handling{};

/// The execution_context of an executor, by its own type.
struct context_t : detail::property_of_executors {};
/// `query(ex, execution::context)`
inline constexpr context_t context{};

/// The context of an executor as a T, which it converts to.
template <class T> struct context_as_t : detail::property_of_executors {
    using polymorphic_query_result_type = T;
};
/// `query(ex, execution::context_as<T>)`
template <class T> inline constexpr context_as_t<T> context_as{};

} // namespace execution
} // namespace fairlead
