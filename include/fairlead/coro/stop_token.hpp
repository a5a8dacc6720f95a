// The requests to a coroutine as a std::stop_token, for functions that know nothing of this library.
#pragma once

#include <fairlead/operation/chain_requests.hpp>
#include <fairlead/operation/wrapped_slot_handler.hpp>

#include <coroutine>
#include <stop_token>
#include <utility>

namespace fairlead {
namespace impl::coro {

/// In the slot of a chain's requests, around the handler that was there.
class stop_relay {
public:
    stop_relay(operation::wrapped_slot_handler&& inner, fairlead::cancellation_state s, std::stop_source stop) noexcept
        : inner_(std::move(inner)),
          state_(std::move(s)),
          stop_(std::move(stop)) {}

    void operator()(cancellation_type type) {
        auto const state = state_; // The handler inside may end the operation, and that clears the slot.
        auto stop = stop_;
        inner_(type);
        if (!!state.cancelled())
            stop.request_stop();
    }
    std::stop_token token() const noexcept { return stop_.get_token(); }

private:
    operation::wrapped_slot_handler inner_;
    fairlead::cancellation_state state_;
    std::stop_source stop_;
};

inline std::stop_token stop_token_of(await_record& r) {
    std::stop_token token;
    if (!(r.notes & await_record::can_be_asked))
        return token;
    auto& requests = operation::requests_of(r);
    if (!requests.parent.is_connected())
        return token;
    static_cast<void>(requests.shared()); // From here on there is a handler in the slot.
    using wrapped = operation::wrapped_slot_handler;
    if (wrapped::find<stop_relay>(requests.parent, [&token](stop_relay const& relay) { token = relay.token(); }))
        return token;
    std::stop_source stop;
    if (wrapped::wrap<stop_relay>(requests.parent, requests.state, stop))
        token = stop.get_token();
    if (!!requests.state.cancelled()) // by now: an earlier request has not met the relay
        stop.request_stop();
    return token;
}

class stop_token_awaiter {
public:
    stop_token_awaiter() noexcept {}
    bool await_ready() const noexcept { return false; }
    template <class Promise> bool await_suspend(std::coroutine_handle<Promise> h) {
        token_ = stop_token_of(*h.promise().link.record);
        return false;
    }
    std::stop_token await_resume() noexcept { return std::move(token_); }

private:
    std::stop_token token_;
};

} // namespace impl::coro

namespace this_coro {

/// `std::stop_token t = co_await this_coro::stop_token();`: stopped when the coroutine is asked to end, by a request
/// that its filters let through. It serves what takes nothing else: a function on another thread (offload()), a
/// std::condition_variable_any, a foreign library. It hears requests until reset_cancellation_state().
/// Completes  the token; one that cannot be stopped in a coroutine that nobody can ask
/// Errors     bad_alloc
/// Immediate  never suspends
/// Lifetime   the token may outlive the coroutine; it is then not stopped any more
/// Threads    callbacks of the token run in the thread that asks; they must not wait for another one that asks
/// Allocates  a stop state by operator new, and a block of the recycler; the second token of a coroutine nothing
inline impl::coro::stop_token_awaiter stop_token() noexcept { return {}; }

} // namespace this_coro
} // namespace fairlead
