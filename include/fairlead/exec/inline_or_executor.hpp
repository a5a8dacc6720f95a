// An executor that runs inside the call what may be run there, and gives the rest to another one.
#pragma once

#include <fairlead/exec/executor.hpp>
#include <fairlead/exec/inline_executor.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace fairlead {

namespace detail {

/// What an inline_or_executor answers itself.
template <class P> inline constexpr bool is_of_inline_or =
    std::convertible_to<P, execution::blocking_t> || std::convertible_to<P, execution::inline_exception_handling_t>;

} // namespace detail

/// Functions that are dispatched, and handlers, run where the call comes from; those that are posted or deferred, and
/// those that are executed with blocking.never, run on the executor inside. One that runs inside the call and throws
/// lets the exception out, or ends the process with inline_exception_handling.terminate.
/// Made with inline_or(executor) or inline_or(context). As the executor of an I/O object it lets handlers run in the
/// thread of the loop that performs the I/O, whatever the executor inside is.
template <execution::executor Executor, class Blocking = execution::blocking_t::always_t,
          class InlineExceptionHandling = execution::inline_exception_handling_t::propagate_t>
class inline_or_executor : public detail::ts_members<inline_or_executor<Executor, Blocking, InlineExceptionHandling>> {
    using handling = execution::inline_exception_handling_t;
    template <class B, class H = InlineExceptionHandling> using variant = inline_or_executor<Executor, B, H>;

public:
    using inner_executor_type = Executor;

    inline_or_executor()
        requires std::default_initializable<Executor>
    = default;
    template <std::convertible_to<Executor> E>
        requires(!std::derived_from<E, inline_or_executor>)
    explicit inline_or_executor(E const& e) : executor_(e) {}
    template <std::convertible_to<Executor> E>
        requires(!std::same_as<E, Executor>)
    inline_or_executor(inline_or_executor<E, Blocking, InlineExceptionHandling> const& other)
        : executor_(other.get_inner_executor()) {}

    inner_executor_type get_inner_executor() const noexcept { return executor_; }
    decltype(auto) context() const
        requires executor<Executor>
    {
        return detail::context_of(executor_);
    }
    void on_work_started() const noexcept
        requires detail::tracks_work<Executor>
    {
        executor_.on_work_started();
    }
    void on_work_finished() const noexcept
        requires detail::tracks_work<Executor>
    {
        executor_.on_work_finished();
    }
    /// Whether a handler may be called where the caller is: everywhere.
    bool running_in_this_thread() const noexcept { return true; }

    template <class F> void execute(F&& f) const {
        if constexpr (std::same_as<Blocking, execution::blocking_t::never_t>)
            queue(std::forward<F>(f));
        else
            detail::execute_inline<InlineExceptionHandling>(std::forward<F>(f));
    }
    /// Runs f() on the executor inside, never inside this call.
    template <class F> void queue(F&& f) const { detail::queue_function(executor_, std::forward<F>(f)); }

    /// For fairlead::require, prefer and query; what is not said here is said by the executor inside.
    variant<execution::blocking_t::possibly_t> require(execution::blocking_t::possibly_t) const {
        return variant<execution::blocking_t::possibly_t>(executor_);
    }
    variant<execution::blocking_t::always_t> require(execution::blocking_t::always_t) const {
        return variant<execution::blocking_t::always_t>(executor_);
    }
    variant<execution::blocking_t::never_t> require(execution::blocking_t::never_t) const {
        return variant<execution::blocking_t::never_t>(executor_);
    }
    variant<Blocking, handling::propagate_t> require(handling::propagate_t) const {
        return variant<Blocking, handling::propagate_t>(executor_);
    }
    variant<Blocking, handling::terminate_t> require(handling::terminate_t) const {
        return variant<Blocking, handling::terminate_t>(executor_);
    }
    template <class P>
        requires(!detail::is_of_inline_or<P> && can_require_v<Executor const&, P>)
    auto require(P const& p) const {
        return around(fairlead::require(executor_, p));
    }
    template <class P>
        requires(!detail::is_of_inline_or<P> && can_prefer_v<Executor const&, P>)
    auto prefer(P const& p) const {
        return around(fairlead::prefer(executor_, p));
    }
    static constexpr execution::blocking_t query(execution::blocking_t) noexcept { return Blocking(); }
    static constexpr handling query(handling) noexcept { return InlineExceptionHandling(); }
    template <class P>
        requires(!detail::is_of_inline_or<P> && can_query_v<Executor const&, P>)
    decltype(auto) query(P const& p) const {
        return fairlead::query(executor_, p);
    }

    friend bool operator==(inline_or_executor const& a, inline_or_executor const& b) noexcept {
        return a.executor_ == b.executor_;
    }

private:
    template <class E> static auto around(E const& e) {
        return inline_or_executor<E, Blocking, InlineExceptionHandling>(e);
    }

    Executor executor_;
};

/// Runs inside the call what may be run there, and on `e`, an executor or a context, what is posted.
template <execution::executor Executor> inline_or_executor<Executor> inline_or(Executor const& e) {
    return inline_or_executor<Executor>(e);
}
template <execution_context_type Context> inline_or_executor<typename Context::executor_type> inline_or(Context& c) {
    return inline_or_executor<typename Context::executor_type>(c.get_executor());
}

} // namespace fairlead
