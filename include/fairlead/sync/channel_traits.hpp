// The traits of a channel: the calls of its receivers without a message, and the container of its messages.
#pragma once

#include <fairlead/sync/channel_error.hpp>

#include <deque>
#include <exception>
#include <type_traits>
#include <utility>

namespace fairlead {
namespace experimental {

template <class... Signatures> struct channel_traits;

} // namespace experimental

namespace impl::sync {

/// The members that all traits have.
struct common_channel_traits {
    template <class... NewSignatures> struct rebind {
        using other = experimental::channel_traits<NewSignatures...>;
    };
    template <class Element> struct container {
        using type = std::deque<Element>;
    };
};

/// Receivers are called with an error code or an exception, and with values made by default.
template <class Signature> struct disposition_traits_of;
template <class R, class Disposition, class... Rest> struct disposition_traits_of<R(Disposition, Rest...)>
    : common_channel_traits {
    using receive_cancelled_signature = R(Disposition, Rest...);
    using receive_closed_signature = R(Disposition, Rest...);

    template <class F> static void invoke_receive_cancelled(F f) {
        std::move(f)(of(error::channel_cancelled), std::decay_t<Rest>()...);
    }
    template <class F> static void invoke_receive_closed(F f) {
        std::move(f)(of(error::channel_closed), std::decay_t<Rest>()...);
    }

private:
    static Disposition of(error::channel_errors e) {
        if constexpr (std::is_same_v<Disposition, std::exception_ptr>)
            return std::make_exception_ptr(system_error(error::make_error_code(e)));
        else
            return error::make_error_code(e);
    }
};

} // namespace impl::sync

namespace experimental {

/// How a channel calls its receivers when it has no message for them, and where it keeps messages. Another type with
/// such members may be given to basic_channel. Receivers of messages without an error also have to take an error alone.
/// Source     Asio, experimental::channel_traits
template <class... Signatures> struct channel_traits : impl::sync::common_channel_traits {};
/// The one for messages that begin with an error code.
template <class R, class... Args, class... Signatures> struct channel_traits<R(error_code, Args...), Signatures...>
    : impl::sync::disposition_traits_of<R(error_code, Args...)> {};
/// The one for messages that begin with an exception.
template <class R, class... Args, class... Signatures>
struct channel_traits<R(std::exception_ptr, Args...), Signatures...>
    : impl::sync::disposition_traits_of<R(std::exception_ptr, Args...)> {};
/// The one for messages without a value.
template <class R> struct channel_traits<R()> : impl::sync::disposition_traits_of<R(error_code)> {};
/// The one for messages of one value.
template <class R, class T> struct channel_traits<R(T)> : impl::sync::disposition_traits_of<R(error_code)> {};
/// The one for messages that are an error code.
template <class R> struct channel_traits<R(error_code)> : impl::sync::disposition_traits_of<R(error_code)> {};
/// The one for messages that are an exception.
template <class R> struct channel_traits<R(std::exception_ptr)>
    : impl::sync::disposition_traits_of<R(std::exception_ptr)> {};

} // namespace experimental
} // namespace fairlead
