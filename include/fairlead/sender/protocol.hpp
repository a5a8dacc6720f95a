// The protocol of senders and receivers, as C++26 has it in [exec]: who calls what of whom. It is declared here, so
// that a program needs no other library for it.
#pragma once

#include <fairlead/operation/async_op.hpp>
#include <fairlead/sender/environment.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace fairlead::execution {

/// Receivers name it as their `receiver_concept`.
struct receiver_tag {};
/// Operation states name it as their `operation_state_concept`.
struct operation_state_tag {};
/// Schedulers name it as their `scheduler_concept`.
struct scheduler_tag {};

/// Ends an operation with its results.
struct set_value_t {
    template <class Receiver, class... Args>
        requires requires(Receiver&& r, Args&&... args) {
            std::forward<Receiver>(r).set_value(std::forward<Args>(args)...);
        }
    constexpr void operator()(Receiver&& r, Args&&... args) const noexcept {
        static_assert(noexcept(std::forward<Receiver>(r).set_value(std::forward<Args>(args)...)),
                      "set_value of a receiver is noexcept");
        std::forward<Receiver>(r).set_value(std::forward<Args>(args)...);
    }
};
/// Ends an operation with an error.
struct set_error_t {
    template <class Receiver, class Error>
        requires requires(Receiver&& r, Error&& e) { std::forward<Receiver>(r).set_error(std::forward<Error>(e)); }
    constexpr void operator()(Receiver&& r, Error&& e) const noexcept {
        static_assert(noexcept(std::forward<Receiver>(r).set_error(std::forward<Error>(e))),
                      "set_error of a receiver is noexcept");
        std::forward<Receiver>(r).set_error(std::forward<Error>(e));
    }
};
/// Ends an operation that was cancelled.
struct set_stopped_t {
    template <class Receiver>
        requires requires(Receiver&& r) { std::forward<Receiver>(r).set_stopped(); }
    constexpr void operator()(Receiver&& r) const noexcept {
        static_assert(noexcept(std::forward<Receiver>(r).set_stopped()), "set_stopped of a receiver is noexcept");
        std::forward<Receiver>(r).set_stopped();
    }
};
/// Calls set_value() of a receiver.
inline constexpr set_value_t set_value{};
/// Calls set_error() of a receiver.
inline constexpr set_error_t set_error{};
/// Calls set_stopped() of a receiver.
inline constexpr set_stopped_t set_stopped{};

/// A set of ways to end: set_value_t(Args...), set_error_t(Error), set_stopped_t().
template <class... Signatures> struct completion_signatures {};

} // namespace fairlead::execution

namespace fairlead::impl::sender {

template <class T> inline constexpr bool is_signature_set = false;
template <class... S> inline constexpr bool is_signature_set<execution::completion_signatures<S...>> = true;

/// The signatures of the library's own senders: their member function names those of stdexec, which asks for it.
template <class Sender> struct own_signatures {};
/// Those of a sender whose ends differ with the environment.
template <class Sender, class Env> struct own_signatures_in : own_signatures<Sender> {};

/// Their connect() says itself what is wrong with a receiver.
template <class Sender>
concept is_of_the_library = requires { typename own_signatures<std::remove_cvref_t<Sender>>::type; };

struct no_signatures {};
template <class Sender, class Env> consteval auto signatures() {
    using bare = std::remove_cvref_t<Sender>;
    if constexpr (requires { typename own_signatures_in<bare, Env>::type; })
        return typename own_signatures_in<bare, Env>::type();
    else if constexpr (requires { bare::template get_completion_signatures<Sender, Env>(); })
        return bare::template get_completion_signatures<Sender, Env>();
    else if constexpr (requires { bare::template get_completion_signatures<Sender>(); })
        return bare::template get_completion_signatures<Sender>();
    else if constexpr (requires { typename bare::completion_signatures; })
        return typename bare::completion_signatures();
    else
        return no_signatures();
}

template <class Receiver, class Signature> inline constexpr bool takes = false;
template <class Receiver, class Tag, class... Args> inline constexpr bool takes<Receiver, Tag(Args...)> =
    std::invocable<Tag, Receiver, Args...>;
template <class Receiver, class Signatures> inline constexpr bool takes_all = false;
template <class Receiver, class... S>
inline constexpr bool takes_all<Receiver, execution::completion_signatures<S...>> = (takes<Receiver, S> && ...);

} // namespace fairlead::impl::sender

namespace fairlead::execution {

/// An operation that connect() has made. It is started once, and stays where it is.
template <class T>
concept operation_state =
    std::derived_from<typename T::operation_state_concept, operation_state_tag> && requires(T& o) {
        { o.start() } noexcept;
    };
/// The end of an operation: it is given the result.
template <class T>
concept receiver =
    std::derived_from<typename std::remove_cvref_t<T>::receiver_concept, receiver_tag> &&
    std::move_constructible<std::remove_cvref_t<T>> && std::constructible_from<std::remove_cvref_t<T>, T>;
/// Operations that have not started.
template <class T>
concept sender = std::derived_from<typename std::remove_cvref_t<T>::sender_concept, sender_tag> &&
                 std::move_constructible<std::remove_cvref_t<T>> && std::constructible_from<std::remove_cvref_t<T>, T>;
/// Senders whose ends are known in an environment.
template <class T, class Env = env<>>
concept sender_in = sender<T> && impl::sender::is_signature_set<decltype(impl::sender::signatures<T, Env>())>;
/// The ways in which a sender ends.
template <class Sender, class Env = env<>>
    requires sender_in<Sender, Env>
using completion_signatures_of_t = decltype(impl::sender::signatures<Sender, Env>());
/// Receivers that take each of these ends.
template <class T, class Signatures>
concept receiver_of = receiver<T> && impl::sender::takes_all<std::remove_cvref_t<T>, Signatures>;

/// Makes the operation state of a sender and a receiver. It stays where it is made.
struct connect_t {
    template <sender Sender, receiver Receiver>
        requires impl::sender::is_of_the_library<Sender> ||
                 requires(Sender&& s, Receiver&& r) { std::forward<Sender>(s).connect(std::forward<Receiver>(r)); }
    FAIRLEAD_ALWAYS_INLINE constexpr auto operator()(Sender&& s, Receiver&& r) const {
        return std::forward<Sender>(s).connect(std::forward<Receiver>(r));
    }
};
/// Starts the operation of a state, once.
struct start_t {
    template <operation_state State> FAIRLEAD_ALWAYS_INLINE constexpr void operator()(State& o) const noexcept {
        o.start();
    }
};
/// A sender that completes on a scheduler.
struct schedule_t {
    template <class Scheduler>
        requires requires(Scheduler&& s) {
            { std::forward<Scheduler>(s).schedule() } -> sender;
        }
    constexpr auto operator()(Scheduler&& s) const noexcept(noexcept(std::forward<Scheduler>(s).schedule())) {
        return std::forward<Scheduler>(s).schedule();
    }
};
/// Calls connect() of a sender.
inline constexpr connect_t connect{};
/// Calls start() of an operation state.
inline constexpr start_t start{};
/// Calls schedule() of a scheduler.
inline constexpr schedule_t schedule{};

/// The operation state of the two.
template <class Sender, class Receiver> using connect_result_t =
    decltype(connect(std::declval<Sender>(), std::declval<Receiver>()));
/// Senders that a receiver of this type can be connected with.
template <class T, class Receiver>
concept sender_to =
    sender_in<T, env_of_t<Receiver>> && receiver_of<Receiver, completion_signatures_of_t<T, env_of_t<Receiver>>> &&
    requires(T&& s, Receiver&& r) { connect(std::forward<T>(s), std::forward<Receiver>(r)); };
/// Places where something can be scheduled.
template <class T>
concept scheduler = std::invocable<schedule_t, T> && std::copyable<std::remove_cvref_t<T>> &&
                    std::equality_comparable<std::remove_cvref_t<T>>;

} // namespace fairlead::execution
