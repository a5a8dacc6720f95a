// Is the server well?
//
// After an interval without a byte from it, something is under way that it must answer: what callers have asked for, or
// a PING. After another one it is silent. The time in which it takes the bytes before the
// question does not count. Nor does the time for which callers have made it wait (BLPOP) or pause.
//
// A PING is a command: it would become part of a transaction that is open, and use up what ASKING allows. Then nothing
// is asked; the transport finds out whether the server's host is still there (probe_after()).
#include <redis/connection_core.hpp>

#include <algorithm>

namespace fairlead::redis::impl {

std::chrono::milliseconds connection_core::interval() const noexcept {
    return std::min<std::chrono::milliseconds>(cfg_.health_check_interval, for_ever);
}

void connection_core::check_health() {
    auto const now = engine_->now();
    if (is_reading_held_ || mux_.is_sending_value()) { // The caller is slow, not the server.
        alive_at_ = now;
        session_.heard();
        return arm_timer_at(now + interval());
    }
    note_delivery(now);
    auto const due = silent_at();
    if (now >= due) {
        // This process may have been stopped: then the words of the server are still unread.
        if (session_.has_asked() && stream_->unread_bytes() == 0)
            return stop(error::server_silent);
        if (!session_.has_asked())
            ask();
        return arm_timer_at(now + look_after());
    }
    arm_timer_at(std::min(due, now + look_after()));
}

/// While bytes are to be seen moving, they are looked at more often, for nobody tells when they do.
std::chrono::milliseconds connection_core::look_after() const noexcept {
    auto const all = interval();
    return session_.has_asked() && delivered_ < question_end_ ? std::max(all / 4, std::chrono::milliseconds(1)) : all;
}

void connection_core::note_delivery(steady_clock::time_point now) noexcept {
    if (!session_.has_asked() || delivered_ == question_end_)
        return;
    auto const reached = std::min(delivered_bytes(), question_end_);
    if (reached > delivered_) {
        delivered_ = reached;
        alive_at_ = now;
    }
}

/// When the silence will have lasted too long for this stage, as far as one can tell now.
steady_clock::time_point connection_core::silent_at() noexcept {
    auto const at = alive_at_ + interval();
    // Bytes that it has not got keep it from nothing. Those that it had when it was asked have had their time before.
    if (session_.has_asked_what_arrived() || undelivered_bytes() != 0)
        return at;
    auto const late = mux_.late_ms();
    if (late == request::for_ever_ms)
        return steady_clock::time_point::max();
    return std::max(at + std::chrono::milliseconds(late), quiet_until_ + interval());
}

void connection_core::ask() noexcept {
    auto const before = undelivered_bytes();
    if (!mux_.in_flight() && mux_.pending() == 0) {
        if (mux_.is_reserved())
            return;
        ping_.begin(this, &ping_request_);
        ping_.object = nullptr;
        ping_.deliver = &deliver_nothing;
        if (!mux_.add(ping_))
            return; // no memory: next time
        queue_flush();
    }
    session_.asked(before == 0);
    alive_at_ = engine_->now();
    delivered_ = delivered_bytes();
    question_end_ = delivered_ + before;
    events_.note(event::asked, alive_at_.time_since_epoch().count());
}

/// Of all that was ever written here. Grows as the server's system takes it.
std::int64_t connection_core::delivered_bytes() noexcept {
    auto const written = mux_.counters().bytes_written + (session_.is_writing() ? write_.result.n : 0);
    return static_cast<std::int64_t>(written) - stream_->untaken_bytes();
}

/// Written or not, but not taken by the server's system yet.
std::int64_t connection_core::undelivered_bytes() noexcept {
    return stream_->untaken_bytes() +
           static_cast<std::int64_t>((session_.is_writing() ? write_.size : 0) + mux_.waiting_bytes());
}

} // namespace fairlead::redis::impl
