// The concepts of executors, and questions to them.
#pragma once

#include <fairlead/base/allocator_traits.hpp>
#include <fairlead/exec/function_executor.hpp>
#include <fairlead/exec/property_hook.hpp>

#include <concepts>
#include <utility>

namespace fairlead {

class execution_context;
class loop;
namespace execution {
struct context_t; // legacy/properties.hpp
}

namespace impl::exec {

/// Gives f to an executor of either kind.
template <class E, class F> void execute_on(E const& e, F&& f) {
    if constexpr (has_execute<E>)
        e.execute(std::forward<F>(f));
    else
        e.post(std::forward<F>(f), std::allocator<void>());
}

template <class E>
concept has_loop = requires(E const& e) {
    { e.native_loop() } noexcept -> std::convertible_to<loop*>;
};

template <class E>
concept tracks_work = requires(E const& e) {
    e.on_work_started();
    e.on_work_finished();
};

template <class E>
concept has_context_member = requires(E const& e) {
    { e.context() } -> std::convertible_to<execution_context&>;
};
/// Executors with properties say it so; whoever defines one has the whole property.
template <class E, class Context = execution::context_t>
concept has_context_property = requires(E const& e, Context const& context) {
    { e.query(context) } -> std::convertible_to<execution_context&>;
};

/// The context of an executor, which may say it in either way.
template <class E, class Context = execution::context_t>
    requires has_context_member<E> || has_context_property<E>
execution_context& context_of(E const& e) {
    if constexpr (has_context_member<E>)
        return e.context();
    else
        return e.query(Context());
}

/// Is the calling thread inside this executor, so that what is given to it may be run at once?
template <class E> bool runs_here(E const& e) noexcept {
    if constexpr (requires { e.running_in_this_thread(); })
        return e.running_in_this_thread();
    else
        return false;
}

/// The loop of an executor, if it has one.
template <class E> loop* loop_of(E const& e) noexcept {
    if constexpr (has_loop<E>)
        return e.native_loop();
    else
        return nullptr;
}

/// Gives `e` a function to run, never inside this call: as execute(), of the executor that blocking.never makes of it.
/// Executors of users that do not know the property are taken at their word.
template <class E, class F> void queue_function(E const& e, F&& f) {
    if constexpr (requires { e.queue(std::forward<F>(f)); })
        e.queue(std::forward<F>(f));
    else if constexpr (requires { requires(property_hook<E>::promises_never); })
        property_hook<E>::never(e).execute(std::forward<F>(f));
    else
        execute_on(e, std::forward<F>(f));
}

template <class E>
concept can_be_never_inline =
    requires(E const& e) { e.never_inline(); } || requires { property_hook<E>::promises_never; };
/// As `e`, but a function never runs inside the call, if `e` can promise that.
template <can_be_never_inline E> auto never_inline(E const& e) {
    if constexpr (requires { e.never_inline(); })
        return e.never_inline();
    else
        return property_hook<E>::never(e);
}

/// Gives `e` a function to run as dispatch does: an executor of a user whose execute() may run it inside the call does.
template <class E, class F> void dispatch_function(E const& e, F&& f) {
    if constexpr (requires { e.dispatch_op(std::forward<F>(f)); }) // Any executor: execute() would queue an op.
        e.dispatch_op(std::forward<F>(f));
    else if constexpr (has_execute<E>)
        e.execute(std::forward<F>(f));
    else
        e.dispatch(std::forward<F>(f), std::allocator<void>());
}

} // namespace impl::exec

// The members come first: only then is comparing asked for, which would otherwise try to make an any_io_executor.
/// An executor of a user under I/O objects: copyable, comparable, belongs to a context, runs a move-only function. Its
/// context is the result of context(), or of query(execution::context). In place of execute(f) it may have dispatch,
/// post and defer as in the Networking TS.
template <class E>
concept io_executor = requires(E const& e) { impl::exec::context_of(e); } && impl::exec::runs_functions<E>;

/// A context that has an executor; objects and operations take it in place of one.
template <class T>
concept execution_context_type = std::derived_from<T, execution_context> && requires(T& c) { c.get_executor(); };

} // namespace fairlead
