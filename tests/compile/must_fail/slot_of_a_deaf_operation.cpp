// Fails: this operation cannot be ended early, so that it takes no cancellation slot
#include <fairlead/net/timer.hpp>
#include <fairlead/operation/compose.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>
#include <fairlead/token/deferred.hpp>

struct waits_to_its_end {
    static constexpr bool is_cancellable = false;
    fairlead::steady_timer* timer;
    template <class Self> void operator()(Self& self) { timer->async_wait(std::move(self)); }
    template <class Self> void operator()(Self& self, fairlead::error_code) { self.complete(); }
};
template <class Token> decltype(auto) async_wait_to_the_end(fairlead::steady_timer& timer, Token token) {
    return fairlead::async_compose<Token, void()>(waits_to_its_end{&timer}, token, timer);
}

auto wait(fairlead::steady_timer& timer, fairlead::cancellation_signal& signal) {
#ifdef GOOD
    static_cast<void>(signal);
    return async_wait_to_the_end(timer, fairlead::deferred);
#else
    return async_wait_to_the_end(timer, fairlead::bind_cancellation_slot(signal.slot(), fairlead::deferred));
#endif
}
