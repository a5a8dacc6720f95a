#include <fairlead/coro/stop_token.hpp>

#include <fairlead/coro/frame.hpp>
#include <fairlead/operation/wrapped_slot_handler.hpp>

namespace fairlead::impl::coro {
namespace {

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

} // namespace

std::stop_token stop_token_of(await_record& r) {
    std::stop_token token;
    if (!(r.notes & await_record::can_be_asked))
        return token;
    auto const& requests = operation::requests_of(r);
    if (!requests.parent.is_connected())
        return token;
    std::stop_source stop;
    operation::wrapped_slot_handler::wrap<stop_relay>(
        requests.parent, [&token](stop_relay const& relay) { token = relay.token(); }, requests.state, stop);
    if (!!requests.state.cancelled()) // by now: an earlier request has not met the relay
        stop.request_stop();
    return token;
}

} // namespace fairlead::impl::coro
