// Which token an initiating function takes when its caller gives none, and how to choose another one for an object.
//
// The choice travels in the executor's type, as in Asio: `as_tuple_t<use_await_t>::as_default_on_t<ip::tcp::socket>` is
// a socket whose executor names that token.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

namespace fairlead {

struct use_await_t;

/// The token that operations of a T take by default: T::default_completion_token_type, else use_await_t. T is an
/// executor. May be specialised for a type of your own.
template <class T> struct default_completion_token {
    using type = use_await_t;
};
template <class T>
    requires requires { typename T::default_completion_token_type; }
struct default_completion_token<T> {
    using type = typename T::default_completion_token_type;
};
/// That token itself.
template <class T> using default_completion_token_t = typename default_completion_token<T>::type;

namespace impl::operation {

template <class T> struct default_token_of_object : default_completion_token<T> {};
template <class T>
    requires requires { typename T::executor_type; }
struct default_token_of_object<T> : default_completion_token<typename T::executor_type> {};
/// The token that an algorithm on a stream, or on another object with an executor, takes by default.
template <class T> using default_token_of = typename default_token_of_object<T>::type;

/// An executor that differs from `Executor` in nothing but the default token of the objects that have it.
template <class Executor, class Token> struct executor_naming : Executor {
    using default_completion_token_type = Token;

    executor_naming() noexcept
        requires std::default_initializable<Executor>
    = default;
    template <class E>
        requires(!std::derived_from<E, executor_naming> && std::convertible_to<E const&, Executor>)
    executor_naming(E const& e) noexcept(std::is_nothrow_constructible_v<Executor, E const&>) : Executor(e) {}
};

/// Base of every token that can be a default. Token must be complete only where a member is used.
template <class Token> struct can_be_default {
    template <class Executor> using executor_with_default = executor_naming<Executor, Token>;

    /// The type of object, socket or timer or any other with `rebind_executor`, whose operations take this token by
    /// default.
    template <class T> using as_default_on_t =
        typename T::template rebind_executor<executor_with_default<typename T::executor_type>>::other;
    /// Makes such an object of `object`.
    template <class T> static as_default_on_t<std::decay_t<T>> as_default_on(T&& object) {
        return as_default_on_t<std::decay_t<T>>(std::forward<T>(object));
    }
};

} // namespace impl::operation
} // namespace fairlead
