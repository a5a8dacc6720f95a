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

/// The requests that one write will take have come at one time, as far as their limits go.
std::uint32_t connection_core::batch_ms() noexcept {
    if (!is_batch_timed_) {
        batch_ms_ = static_cast<std::uint32_t>(now_ms());
        is_batch_timed_ = session_.is_flush_queued();
    }
    return batch_ms_;
}

/// False: there was no memory, and it has failed.
bool connection_core::begin_limit(exec_op& o) noexcept {
    o.due_ms = batch_ms() + o.limit_ms + 1; // The millisecond that has begun does not count.
    bool const is_early =
        !limits_.is_armed || static_cast<std::int32_t>(o.due_ms - static_cast<std::uint32_t>(limits_.at_ms)) < 0;
    if (!is_early || arm_limits(o.due_ms))
        return true;
    o.fail(fairlead::impl::base::code_of(std::errc::not_enough_memory));
    return false;
}

/// False: no memory.
bool connection_core::arm_limits(std::uint32_t due_ms) noexcept {
    auto const now = now_ms();
    auto const at = now + static_cast<std::int32_t>(due_ms - static_cast<std::uint32_t>(now)); // The short one wraps.
    if (limits_.is_armed)
        engine_->disarm(limits_);
    limits_.at_ms = at;
    limits_.is_armed =
        engine_->as_owner([this, at]() noexcept { return engine_->arm(limits_, epoch_ns_ + at * 1'000'000); });
    return limits_.is_armed;
}

/// By the owner of the loop, whose timers have the place still that is asked for again.
void connection_core::on_limits() noexcept {
    limits_.is_armed = false;
    op_queue done;
    auto const next = mux_.expire(static_cast<std::uint32_t>(now_ms()), done);
    pass_on(done);
    count_work();
    if (next.is_there)
        arm_limits(next.at_ms);
}

} // namespace fairlead::redis::impl
