// Time-outs: one timer, for connecting, greeting and the health check in turn.
#include <redis/connection_core.hpp>

#include <algorithm>
#include <chrono>

namespace fairlead::redis::impl {

void connection_core::arm_timer(std::chrono::milliseconds after) {
    timer_.cancel();
    if (after > std::chrono::milliseconds::zero())
        arm_timer_at(engine_->now() + std::min<std::chrono::milliseconds>(after, for_ever));
}

void connection_core::arm_timer_at(steady_clock::time_point at) {
    timer_.expires_at(at);
    struct tick {
        reference self;
        void operator()(error_code const& ec) {
            if (!ec)
                self.core->on_timer();
        }
    };
    timer_.async_wait(tick{reference(this)});
}

void connection_core::on_timer() noexcept {
    if (engine_->now() < timer_.expiry())
        return; // It had expired already when it was set anew.
    try {
        using phase = session_machine::phase;
        switch (session_.now_in()) {
        case phase::connecting: return stop(error::connect_timed_out);
        case phase::greeting:
        case phase::greeted: return stop(error::hello_timed_out);
        case phase::ready: return check_health();
        default: break;
        }
    } catch (...) {
        stop(fairlead::impl::base::code_of(std::errc::not_enough_memory));
    }
}

} // namespace fairlead::redis::impl
