// bind_stop_token: an operation that a std::stop_token ends.
//
// A primitive keeps the stop callback in its own record (stoppable_primitive.hpp). Any other operation is given a
// handler with a slot (stoppable_operation.hpp).
#pragma once

#include <fairlead/net/stoppable_operation.hpp>
#include <fairlead/net/stoppable_primitive.hpp>
#include <fairlead/operation/kept_values.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/deferred.hpp>

#include <stop_token>
#include <utility>

namespace fairlead {
namespace detail {

/// Of the token alone, so that the compiler says it once however many kinds of initiation meet the token.
template <class Token, bool OperationHearsRequests> void expect_stop_is_heard() {
    static_assert(OperationHearsRequests,
                  "this operation cannot be ended early, so that it takes no stop token; use the "
                  "cancel() of its object, where it has one");
}

} // namespace detail

/// The token that bind_stop_token makes of another one.
template <class Token> struct stop_token_binder {
    std::stop_token stop;
    Token token;
};
/// Without a token: stands for the default token, or binds the one that it is called with.
struct partial_stop_token_binder {
    std::stop_token stop;
    template <class Token> auto operator()(Token&& token) const {
        return stop_token_binder<std::decay_t<Token>>{stop, std::forward<Token>(token)};
    }
};

/// Token: the operation is asked to end when a stop is requested of `stop`, with a terminal request.
/// Without a token: binds the default token. An operation that cannot be ended early takes no stop token: calls of a
/// redis::connection. One that only queues, as post does, completes in its turn whatever the stop.
/// Completes  as the operation does; error::operation_aborted when the stop was first
/// Errors     error::operation_not_supported, thrown, where the operation is deferred and takes no stop token
/// Cancel     what the handler's slot is asked for, too, and what the awaiting coroutine is
/// Immediate  awaited, as the operation is without a stop token. After a stop nothing of a socket's operation is tried;
///            a composed operation is started, and asked then
/// Threads    as the operation; a stop may be requested by any thread. An operation that ends waits for a request that
///            is under way
/// Allocates  nothing more for a primitive whose handler has no slot and whose coroutine cannot be asked. Otherwise one
///            block from the handler's allocator. The stop state is the caller's
/// Source     C++20, [thread.stoptoken]
template <class Token> auto bind_stop_token(std::stop_token stop, Token&& token) {
    return stop_token_binder<std::decay_t<Token>>{std::move(stop), std::forward<Token>(token)};
}
inline auto bind_stop_token(std::stop_token stop) { return partial_stop_token_binder{std::move(stop)}; }

template <class Token, class Signature> class async_result<stop_token_binder<Token>, Signature> {
public:
    template <class Initiation> static decltype(auto) initiate(Initiation&& initiation, stop_token_binder<Token> b) {
        using init = std::decay_t<Initiation>;
        detail::expect_stop_is_heard<Token, impl::operation::takes_requests<init>()>();
        impl::operation::expect_cancellable(initiation);
        if constexpr (impl::operation::only_queues<init>)
            return completion_token_transform<Signature>(std::move(b.token), std::forward<Initiation>(initiation));
        else if constexpr (impl::net::stoppable<init>)
            return completion_token_transform<Signature>(
                std::move(b.token),
                impl::net::stoppable_primitive<init>(init(std::forward<Initiation>(initiation)), std::move(b.stop)));
        else
            return completion_token_transform<Signature>(
                std::move(b.token), impl::net::stoppable_initiation<impl::operation::kept_values<Signature>, init>{
                                        {std::forward<Initiation>(initiation)}, std::move(b.stop)});
    }
};
template <class Token, class First, class Second, class... More>
class async_result<stop_token_binder<Token>, First, Second, More...> {
public:
    template <class Initiation> static decltype(auto) initiate(Initiation&& initiation, stop_token_binder<Token> b) {
        using kept = impl::operation::kept_values<First, Second, More...>;
        detail::expect_stop_is_heard<Token, impl::operation::takes_requests<std::decay_t<Initiation>>()>();
        impl::operation::expect_cancellable(initiation);
        return impl::operation::initiate_several<First, Second, More...>(
            std::move(b.token), impl::net::stoppable_initiation<kept, std::decay_t<Initiation>>{
                                    {std::forward<Initiation>(initiation)}, std::move(b.stop)});
    }
};
template <class Signature> class async_result<partial_stop_token_binder, Signature> {
public:
    template <class Initiation> static decltype(auto) initiate(Initiation&& initiation, partial_stop_token_binder b) {
        return completion_token_transform<Signature>(b(use_await), std::forward<Initiation>(initiation));
    }
};
template <class First, class Second, class... More>
class async_result<partial_stop_token_binder, First, Second, More...> {
public:
    template <class Initiation> static decltype(auto) initiate(Initiation&& initiation, partial_stop_token_binder b) {
        return impl::operation::initiate_several<First, Second, More...>(b(deferred),
                                                                         std::forward<Initiation>(initiation));
    }
};

} // namespace fairlead
