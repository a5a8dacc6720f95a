// The hook that is told what detached coroutines throw.
#pragma once

#include <fairlead/operation/associated.hpp>

#include <exception>
#include <type_traits>

namespace fairlead {

/// Called with what a detached coroutine has thrown, where the coroutine ran. The end of one that was asked to end
/// (operation_aborted) is none of it.
using detached_exception_hook = void (*)(std::exception_ptr) noexcept;
/// Sets the hook of the process, and returns the one before. By default a line is written to standard error; with null
/// nothing happens.
/// Threads: any.
FAIRLEAD_EXPORT detached_exception_hook set_detached_exception_hook(detached_exception_hook hook) noexcept;

namespace impl::coro {

FAIRLEAD_EXPORT void detached_has_thrown(std::exception_ptr const& e) noexcept;

/// Whether a handler, or the one inside it, forgets what it is given. An association, so that adapters pass it on.
template <class Handler, class Default = std::false_type> struct associated_detachment;
struct detachment_member {
    template <class Handler> using type_of = typename Handler::detachment_type;
};
template <class Handler, class Default> struct associated_detachment
    : decltype(operation::choose_association<associated_detachment, detachment_member, Handler, Default>())::type {};
template <class Handler> inline constexpr bool is_detached = associated_detachment<Handler>::type::value;

} // namespace impl::coro
} // namespace fairlead
