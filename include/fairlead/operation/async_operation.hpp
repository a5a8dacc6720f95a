// Function objects that are operations: called with arguments and a completion token, they start something that
// completes with a signature, which can be asked for.
#pragma once

#include <fairlead/operation/async_result.hpp>

namespace fairlead {

namespace detail {

template <class Signature> struct probed_signature {
    using type = Signature;
};
template <class T> inline constexpr bool is_probed_signature = false;
template <class Signature> inline constexpr bool is_probed_signature<probed_signature<Signature>> = true;

template <class T, class... Args>
concept probes_signature = requires(T&& t, Args&&... args) {
    requires is_probed_signature<decltype(std::forward<T>(t)(std::forward<Args>(args)...,
                                                             impl::operation::signature_probe()))>;
};

} // namespace detail

template <class Signature> class async_result<impl::operation::signature_probe, Signature> {
public:
    template <class Initiation>
    static detail::probed_signature<Signature> initiate(Initiation&&, impl::operation::signature_probe) noexcept {
        return {};
    }
};

/// True when T can be called with Args and a completion token, as an initiating function. An async_op is one.
template <class T, class... Args> struct is_async_operation : std::bool_constant<detail::probes_signature<T, Args...>> {
};
/// is_async_operation as a concept.
template <class T, class... Args>
concept async_operation = is_async_operation<T, Args...>::value;

/// The signature that such an operation completes with, as `type`; no member when T is none.
template <class T, class... Args> struct completion_signature_of {};
template <class T, class... Args>
    requires async_operation<T, Args...>
struct completion_signature_of<T, Args...>
    : decltype(std::declval<T>()(std::declval<Args>()..., impl::operation::signature_probe())){};
/// That signature itself.
template <class T, class... Args> using completion_signature_of_t = typename completion_signature_of<T, Args...>::type;

} // namespace fairlead
