// bind_stop_token: an operation that a std::stop_token ends.
//
// A primitive keeps the stop callback in its own record (stoppable_primitive.hpp). Any other operation is given a
// handler with a cancellation slot, and the callback emits to that.
#pragma once

#include <fairlead/net/stoppable_primitive.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/asked_operation.hpp>
#include <fairlead/token/cancellation.hpp>
#include <fairlead/token/deferred.hpp>
#include <fairlead/token/kept_values.hpp>

#include <atomic>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

namespace fairlead {
namespace detail {

/// Of the token alone, so that the compiler says it once however many kinds of initiation meet the token.
template <class Token, bool OperationHearsRequests> void expect_stop_is_heard() {
    static_assert(OperationHearsRequests,
                  "this operation cannot be ended early, so that it takes no stop token; use the "
                  "cancel() of its object, where it has one");
}

/// An operation with its stop callback.
template <class Handler, class Kept> class stoppable_operation : public asked_operation<Handler> {
public:
    using values_type = typename Kept::type;
    using asked_operation<Handler>::handler_;

    template <class H> explicit stoppable_operation(H&& h) : asked_operation<Handler>(std::forward<H>(h)) {}

    void discard() noexcept { static_cast<void>(take_handler()); }

    /// The initiating function has returned: now there is somebody in the slot to be asked.
    void operation_begun(std::stop_token const& t) {
        callback_.emplace(t, asks{this});
        if (has_ended(start_bit))
            end_inside_start();
    }
    /// The initiating function has thrown, and dropped its handler.
    void operation_not_begun() noexcept {
        if (has_ended(start_bit))
            discard();
    }
    void operation_done(values_type&& v) {
        if (ended_.load(std::memory_order_acquire) & start_bit)
            return end_with(std::move(v));
        results_.emplace(std::move(v));
        if (has_ended(operation_bit))
            end_with(std::move(*results_));
    }
    /// The operation was abandoned: there is nobody to be called.
    void operation_dropped() noexcept {
        if (has_ended(operation_bit))
            discard();
    }

private:
    // The uses of the block that have not ended.
    static constexpr unsigned operation_bit = 1;
    static constexpr unsigned start_bit = 2;
    /// Notes that something has ended. True: all has, and the caller ends the block.
    bool has_ended(unsigned bit) noexcept {
        return (ended_.fetch_or(bit, std::memory_order_acq_rel) | bit) == (operation_bit | start_bit);
    }

    struct asks {
        stoppable_operation* operation;
        void operator()() noexcept { operation->ask(cancellation_type::terminal); }
    };

    /// Gives the block back. Waits for a stop callback that another thread is in.
    Handler take_handler() noexcept {
        callback_.reset();
        this->unchain();
        Handler h(std::move(handler_));
        deallocate_with(h, this);
        return h;
    }
    /// Called where the operation calls its handler.
    void end_with(values_type&& v) {
        values_type values(std::move(v));
        auto h = take_handler();
        Kept::visit(std::move(values), [&h](auto&& each) { call_with_values(std::move(h), std::move(each)); });
    }
    /// Called inside the initiating function: the handler is queued.
    void end_inside_start() {
        if (!results_)
            return discard();
        values_type values(std::move(*results_));
        auto h = take_handler();
        auto const ex = get_associated_executor(h);
        Kept::visit(std::move(values), [&](auto&& each) { complete_immediately(ex, std::move(h), std::move(each)); });
    }

    std::atomic<unsigned> ended_{0};
    std::optional<std::stop_callback<asks>> callback_;
    std::optional<values_type> results_;
};

template <class Kept, class Initiation> struct stoppable_initiation {
    Initiation initiation;
    std::stop_token token;

    template <class Handler> void operator()(Handler&& handler) {
        using operation = stoppable_operation<std::decay_t<Handler>, Kept>;
        auto* const o = allocate_with<operation>(handler, std::forward<Handler>(handler));
        try {
            o->chain();
        } catch (...) {
            o->discard();
            throw;
        }
        auto const kept = std::move(token); // The initiation may be gone when the operation has been started.
        try {
            std::move(initiation)(asked_handler<operation, Kept>(o));
        } catch (...) {
            o->operation_not_begun();
            throw;
        }
        o->operation_begun(kept);
    }
    auto get_executor() const noexcept
        requires names_executor<Initiation>
    {
        return executor_of(initiation);
    }
    std::string describe() const
        requires requires { initiation.describe(); }
    {
        return initiation.describe();
    }
    std::string describe_failed() const
        requires requires { initiation.describe_failed(); }
    {
        return initiation.describe_failed();
    }
};

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
/// Without a token: binds the default token. An operation that cannot be ended early takes no stop token: post, calls
/// of a redis::connection.
/// Completes  as the operation does; error::operation_aborted when the stop was first
/// Errors     error::operation_not_supported, thrown, where the operation is deferred and takes no stop token
/// Cancel     what the handler's slot is asked for, too; a primitive in a coroutine hears the stop token alone
/// Immediate  after a stop nothing of a socket's operation is tried; a composed operation is started, and asked then
/// Threads    as the operation; a stop may be requested by any thread. Whoever requests it, and the operation as it
///            ends, may wait for each other for a moment
/// Allocates  nothing more for a primitive, else one block from the handler's allocator; the stop state is the caller's
/// Source     C++20, [thread.stoptoken]
template <class Token> auto bind_stop_token(std::stop_token stop, Token&& token) {
    return stop_token_binder<std::decay_t<Token>>{std::move(stop), std::forward<Token>(token)};
}
inline auto bind_stop_token(std::stop_token stop) { return partial_stop_token_binder{std::move(stop)}; }

template <class Token, class Signature> class async_result<stop_token_binder<Token>, Signature> {
public:
    template <class Initiation> static decltype(auto) initiate(Initiation&& initiation, stop_token_binder<Token> b) {
        using init = std::decay_t<Initiation>;
        detail::expect_stop_is_heard<Token, detail::can_be_cancelled<init>()>();
        detail::expect_cancellable(initiation);
        if constexpr (detail::stoppable<init>)
            return completion_token_transform<Signature>(
                std::move(b.token),
                detail::stoppable_primitive<init>(init(std::forward<Initiation>(initiation)), std::move(b.stop)));
        else
            return completion_token_transform<Signature>(
                std::move(b.token), detail::stoppable_initiation<detail::kept_values<Signature>, init>{
                                        std::forward<Initiation>(initiation), std::move(b.stop)});
    }
};
template <class Token, class First, class Second, class... More>
class async_result<stop_token_binder<Token>, First, Second, More...> {
public:
    template <class Initiation> static decltype(auto) initiate(Initiation&& initiation, stop_token_binder<Token> b) {
        using kept = detail::kept_values<First, Second, More...>;
        detail::expect_stop_is_heard<Token, detail::can_be_cancelled<std::decay_t<Initiation>>()>();
        detail::expect_cancellable(initiation);
        return detail::initiate_several<First, Second, More...>(
            std::move(b.token), detail::stoppable_initiation<kept, std::decay_t<Initiation>>{
                                    std::forward<Initiation>(initiation), std::move(b.stop)});
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
        return detail::initiate_several<First, Second, More...>(b(deferred), std::forward<Initiation>(initiation));
    }
};

} // namespace fairlead
