// A handler with its arguments, which Asio keeps to itself; operations of other people are composed with it.
#pragma once

#include <fairlead/token/adapter.hpp>

#include <asio/fairlead.hpp>

#include <tuple>
#include <utility>

namespace fairlead {
namespace detail {

template <class Handler, class... Args> struct bound_handler {
    Handler handler;
    std::tuple<Args...> args;

    void operator()() {
        std::apply([this](Args const&... a) { std::move(handler)(a...); }, args);
    }
    void operator()() const { std::apply(handler, args); }
};

/// A function object without parameters that calls `handler` with `args`, and has the associations of `handler`.
template <class Handler, class... Args>
bound_handler<std::decay_t<Handler>, Args...> bind_handler(Handler&& handler, Args const&... args) {
    return {std::forward<Handler>(handler), std::tuple<Args...>(args...)};
}

} // namespace detail

template <template <class, class> class A, class H, class... Args, class D>
struct associator<A, detail::bound_handler<H, Args...>, D>
    : impl::operation::pass_on<A, detail::bound_handler<H, Args...>, H, D> {};

} // namespace fairlead
