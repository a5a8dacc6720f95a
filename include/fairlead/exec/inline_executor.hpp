// Executors that run a function inside the call: always, or unless it is posted.
#pragma once

#include <fairlead/exec/executor_concept.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace fairlead {

namespace execution { // Of an exception of a function that runs inside the call (legacy/property_values.hpp).
struct propagate_inline_t;
struct terminate_inline_t;
} // namespace execution

namespace impl::exec {

/// Runs f() here. Handling says what becomes of an exception.
template <class Handling, class F>
void execute_inline(F&& f) noexcept(std::same_as<Handling, execution::terminate_inline_t>) {
    std::decay_t<F> function(std::forward<F>(f));
    std::move(function)();
}

} // namespace impl::exec

/// Runs a function at once, in the calling thread. It has no context.
template <class InlineExceptionHandling> class basic_inline_executor {
public:
    constexpr basic_inline_executor() noexcept = default;

    template <class F> void execute(F&& f) const {
        impl::exec::execute_inline<InlineExceptionHandling>(std::forward<F>(f));
    }

    friend bool operator==(basic_inline_executor, basic_inline_executor) noexcept { return true; }
};
/// The executor of a handler that names none.
using inline_executor = basic_inline_executor<execution::propagate_inline_t>;

} // namespace fairlead
