// Executors that run a function inside the call: always, or unless it is posted.
#pragma once

#include <fairlead/exec/executor_concept.hpp>
#include <fairlead/exec/properties.hpp>
#include <fairlead/exec/property.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace fairlead {

namespace detail {

/// Runs f() here. Handling says what becomes of an exception.
template <class Handling, class F>
void execute_inline(F&& f) noexcept(std::same_as<Handling, execution::inline_exception_handling_t::terminate_t>) {
    std::decay_t<F> function(std::forward<F>(f));
    std::move(function)();
}

} // namespace detail

/// Runs a function at once, in the calling thread. It has no context.
template <class InlineExceptionHandling> class basic_inline_executor {
    using handling = execution::inline_exception_handling_t;

public:
    constexpr basic_inline_executor() noexcept = default;

    template <class F> void execute(F&& f) const {
        detail::execute_inline<InlineExceptionHandling>(std::forward<F>(f));
    }

    /// For fairlead::require and query.
    static constexpr basic_inline_executor<handling::propagate_t> require(handling::propagate_t) noexcept { return {}; }
    static constexpr basic_inline_executor<handling::terminate_t> require(handling::terminate_t) noexcept { return {}; }
    static constexpr execution::blocking_t query(execution::blocking_t) noexcept { return execution::blocking.always; }
    static constexpr handling query(handling) noexcept { return InlineExceptionHandling(); }

    friend bool operator==(basic_inline_executor, basic_inline_executor) noexcept { return true; }
};
/// The executor of a handler that names none.
using inline_executor = basic_inline_executor<execution::inline_exception_handling_t::propagate_t>;

} // namespace fairlead
