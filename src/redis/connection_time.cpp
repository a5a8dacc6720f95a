// Time-outs: one timer for connecting, greeting and the health check in turn, one for the limits of requests.
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

// ---- limits of requests

/// A request that waits in the server has that time in addition, perhaps for ever.
std::uint32_t connection_core::limit_of(request const& r) const noexcept {
    auto const asked = r.timeout() > r.timeout().zero() ? r.timeout() : cfg_.request_timeout;
    if (asked <= asked.zero() || r.late_ms() == request::for_ever_ms)
        return 0;
    constexpr std::chrono::milliseconds::rep most = INT32_MAX - 1;
    return static_cast<std::uint32_t>(std::min(asked.count(), most - std::min<std::uint32_t>(r.late_ms(), most)) +
                                      r.late_ms());
}

/// False: there was no memory, and it has failed.
bool connection_core::arm_limit_of(exec_op& o) noexcept {
    if (limits_.arm_by(o.due_ms))
        return true;
    o.fail(fairlead::impl::base::code_of(std::errc::not_enough_memory));
    return false;
}

void connection_core::on_limits() noexcept {
    op_queue done;
    auto const next = mux_.expire(static_cast<std::uint32_t>(limits_.now_ms()), done);
    if (next.is_there)
        limits_.arm(next.at_ms);
    pass_on(done);
    count_work();
}

} // namespace fairlead::redis::impl
