// What an executor is, and what may be asked of one.
#pragma once

#include <fairlead/exec/execution_context.hpp>
#include <fairlead/exec/loop.hpp>

#include <concepts>

namespace fairlead {

namespace detail {

template <class E>
concept has_loop = requires(E const& e) {
    { e.native_loop() } noexcept -> std::convertible_to<loop*>;
};

template <class E>
concept tracks_work = requires(E const& e) {
    e.on_work_started();
    e.on_work_finished();
};

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

} // namespace detail

/// What users may write as an executor: copyable, comparable, belongs to a context, runs a move-only function.
// The members come first: only then is comparing asked for, which would otherwise try to make an any_io_executor.
template <class E>
concept executor = requires(E const& e, void (*f)()) {
    { e.context() } -> std::convertible_to<execution_context&>;
    e.execute(f);
} && std::copy_constructible<E> && std::equality_comparable<E>;

/// What objects and operations take in place of an executor: a context that has one.
template <class T>
concept execution_context_type = std::derived_from<T, execution_context> && requires(T& c) { c.get_executor(); };

} // namespace fairlead
