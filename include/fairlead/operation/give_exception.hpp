// The exception of an operation that knows more of its failure than the error code, for handlers that throw later.
#pragma once

#include <fairlead/base/error.hpp>

#include <concepts>
#include <exception>
#include <new>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace fairlead::impl::operation {

/// Handlers that throw an error in another place, as those of use_future and block do. Before such a handler is called
/// with the error, the operation may give it the exception.
template <class Handler>
concept takes_exception = requires(Handler& h, std::exception_ptr why) {
    { h.throws_errors() } noexcept -> std::same_as<bool>; // A handler of unknown type may or may not.
    { h.take_exception(std::move(why)) } noexcept;
};

/// Adapters of handlers, which show the handler inside.
template <class Handler>
concept shows_inner = requires(Handler& h) { requires std::is_lvalue_reference_v<decltype(h.get())>; };

template <class Handler> consteval bool can_take_exception() {
    if constexpr (takes_exception<Handler>)
        return true;
    else if constexpr (shows_inner<Handler>)
        return can_take_exception<std::remove_cvref_t<decltype(std::declval<Handler&>().get())>>();
    else
        return false;
}

/// `raise` throws the exception. It is called only if the handler wants it.
template <class Handler, class Raise> FAIRLEAD_COLD void give_exception(Handler& h, Raise const& raise) noexcept {
    if constexpr (takes_exception<Handler>) {
        if (!h.throws_errors())
            return;
        try {
            raise();
        } catch (std::bad_alloc const&) { // The handler throws the error code alone.
        } catch (...) {
            h.take_exception(std::current_exception());
        }
    } else if constexpr (shows_inner<Handler>) {
        give_exception(h.get(), raise);
    }
}

/// Primitives whose op says what has failed.
template <class Init>
concept describes_failed_op = requires(typename Init::record const& o) {
    { Init::describe(o) } -> std::same_as<std::string>;
};

template <class Values> inline constexpr bool begins_with_error = false;
template <class... Rest> inline constexpr bool begins_with_error<std::tuple<error_code, Rest...>> = true;

/// Of a primitive whose op is still there. A handler that knows more than the op says it: describe(o).
template <class Init, class Handler, class Values> void tell_failure([[maybe_unused]] Handler& h,
                                                                     [[maybe_unused]] typename Init::record const& o,
                                                                     [[maybe_unused]] Values const& values) noexcept {
    if constexpr (describes_failed_op<Init> && begins_with_error<Values> && can_take_exception<Handler>())
        if (error_code const& ec = std::get<0>(values); ec) [[unlikely]]
            give_exception(h, [&] {
                if constexpr (requires { h.describe(o); })
                    base::throw_error_now(ec, h.describe(o).c_str());
                else
                    base::throw_error_now(ec, Init::describe(o).c_str());
            });
}

} // namespace fairlead::impl::operation
