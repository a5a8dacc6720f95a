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

void connection_core::arm_timer_of_beginning(std::chrono::milliseconds after) {
    constexpr auto never = steady_clock::time_point::max();
    timer_.cancel();
    auto const usual =
        after > after.zero() ? engine_->now() + std::min<std::chrono::milliseconds>(after, for_ever) : never;
    if (auto const at = std::min(usual, ready_by_); at != never)
        arm_timer_at(at);
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

namespace {
constexpr std::uint32_t limit_ms_max = INT32_MAX - 1;
} // namespace

/// 0: none. Until it is written; set_limit() knows the time that it may wait in the server.
std::uint32_t connection_core::limit_of(request const& r) const noexcept {
    auto const asked = r.timeout() > r.timeout().zero() ? r.timeout() : cfg_.request_timeout;
    return asked <= asked.zero()
               ? 0
               : static_cast<std::uint32_t>(std::min<std::chrono::milliseconds::rep>(asked.count(), limit_ms_max));
}

/// The shorter one of its own and that of its token, which is there already.
void connection_core::set_limit(exec_op& o) noexcept {
    auto const by_token = o.limit_ms;
    if (auto const own = limit_of(*o.request); own != 0 && (by_token == 0 || own < by_token)) {
        o.limit_ms = own;
        o.is_asked_when_due = false;
    }
    if (o.limit_ms == 0)
        return;
    o.due_ms = due_of(o);
    if (o.request->late_ms() != 0 && !o.is_asked_when_due) [[unlikely]]
        set_limit_once_written(o, by_token);
}

/// Its own limit is the shorter one until it is written. From then on it has the time in the server in addition. Where
/// that is for ever, a limit for the request alone covers all its time. That of all requests ends then.
void connection_core::set_limit_once_written(exec_op& o, std::uint32_t by_token) const noexcept {
    using change = exec_op::limit_change;
    auto const late = o.request->late_ms();
    auto const own = o.limit_ms;
    auto more = std::min(late, limit_ms_max - own);
    if (late == request::for_ever_ms)
        more = o.request->has_timeout() ? 0 : request::for_ever_ms;
    if (by_token != 0 && by_token - own <= more) {
        o.limit_ms = by_token - own;
        o.at_first_byte = change::longer_by_token;
    } else if (more != 0) {
        o.limit_ms = more;
        o.at_first_byte = more == request::for_ever_ms ? change::dropped : change::longer;
    }
}

/// Those without a limit in the server, which wait for a connection once more.
void connection_core::limit_what_waits_again() noexcept {
    if (limit_ms_ == 0)
        return;
    auto const due_ms = static_cast<std::uint32_t>(limits_.now_ms()) + limit_ms_ + 1;
    if (mux_.limit_again(due_ms))
        limits_.arm_by(due_ms); // Without memory they are looked at later.
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
