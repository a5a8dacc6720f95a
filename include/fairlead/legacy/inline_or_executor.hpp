// An executor that runs inside the call what may be run there, and gives the rest to another one.
#pragma once

#include <fairlead/exec/executor.hpp>
#include <fairlead/exec/inline_executor.hpp>
#include <fairlead/legacy/executor_around.hpp>
#include <fairlead/legacy/inline_properties.hpp>
#include <fairlead/legacy/ts_members.hpp>
#include <fairlead/legacy/with_properties.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace fairlead {

/// Functions that are dispatched, and handlers, run inside the call. Functions that are posted or deferred, or executed
/// with blocking.never, run on the executor inside. One that runs inside the call and throws lets the exception out, or
/// ends the process with inline_exception_handling.terminate.
/// Made with inline_or(executor) or inline_or(context). As the executor of an I/O object it lets handlers run in the
/// thread of the loop that performs the I/O. The executor inside makes no difference to that.
template <execution::executor Executor, class Blocking = execution::blocking_t::always_t,
          class InlineExceptionHandling = execution::inline_exception_handling_t::propagate_t>
class inline_or_executor
    : public impl::legacy::executor_around<inline_or_executor<Executor, Blocking, InlineExceptionHandling>, Executor,
                                           execution::blocking_t, execution::inline_exception_handling_t>,
      public impl::exec::ts_members<inline_or_executor<Executor, Blocking, InlineExceptionHandling>> {
    using base = impl::legacy::executor_around<inline_or_executor, Executor, execution::blocking_t,
                                               execution::inline_exception_handling_t>;
    friend base;
    using handling = execution::inline_exception_handling_t;
    template <class B, class H = InlineExceptionHandling> using variant = inline_or_executor<Executor, B, H>;

public:
    inline_or_executor()
        requires std::default_initializable<Executor>
    = default;
    template <std::convertible_to<Executor> E>
        requires(!std::derived_from<E, inline_or_executor>)
    explicit inline_or_executor(E const& e) : base(e) {}
    template <std::convertible_to<Executor> E>
        requires(!std::same_as<E, Executor>)
    inline_or_executor(inline_or_executor<E, Blocking, InlineExceptionHandling> const& other)
        : base(other.get_inner_executor()) {}

    /// Whether a handler may be called where the caller is: everywhere.
    bool running_in_this_thread() const noexcept { return true; }

    template <class F> void execute(F&& f) const {
        if constexpr (std::same_as<Blocking, execution::blocking_t::never_t>)
            this->queue(std::forward<F>(f));
        else
            impl::exec::execute_inline<InlineExceptionHandling>(std::forward<F>(f));
    }
    /// For fairlead::require, prefer and query; what is not said here is said by the executor inside.
    using base::query;
    using base::require;
    variant<execution::blocking_t::possibly_t> require(execution::blocking_t::possibly_t) const {
        return variant<execution::blocking_t::possibly_t>(this->inner());
    }
    variant<execution::blocking_t::always_t> require(execution::blocking_t::always_t) const {
        return variant<execution::blocking_t::always_t>(this->inner());
    }
    variant<execution::blocking_t::never_t> require(execution::blocking_t::never_t) const {
        return variant<execution::blocking_t::never_t>(this->inner());
    }
    variant<Blocking, handling::propagate_t> require(handling::propagate_t) const {
        return variant<Blocking, handling::propagate_t>(this->inner());
    }
    variant<Blocking, handling::terminate_t> require(handling::terminate_t) const {
        return variant<Blocking, handling::terminate_t>(this->inner());
    }
    static constexpr execution::blocking_t query(execution::blocking_t) noexcept { return Blocking(); }
    static constexpr handling query(handling) noexcept { return InlineExceptionHandling(); }

private:
    template <class E> static auto around(E const& e) {
        return inline_or_executor<E, Blocking, InlineExceptionHandling>(e);
    }
};

/// Runs inside the call what may be run there, and on `e`, an executor or a context, what is posted.
template <execution::executor Executor> inline_or_executor<Executor> inline_or(Executor const& e) {
    return inline_or_executor<Executor>(e);
}
template <execution_context_type Context> inline_or_executor<typename Context::executor_type> inline_or(Context& c) {
    return inline_or_executor<typename Context::executor_type>(c.get_executor());
}

} // namespace fairlead
