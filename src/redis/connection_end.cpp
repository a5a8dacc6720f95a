// How requests and sessions end before their time: cancelled, failed, given up.
#include <redis/connection_core.hpp>

namespace fairlead::redis::impl {

void connection_core::cancel_here() noexcept {
    if (session_.now_in() == session_machine::phase::idle)
        give_up_requests(true, 0);
    else
        stop(fairlead::error::operation_aborted);
}

std::size_t connection_core::cancel_here(request const* r) noexcept {
    op_queue done;
    auto const n = mux_.cancel(r, done);
    pass_on(done);
    count_work();
    return n;
}

void connection_core::close_here() noexcept {
    session_.close();
    cancel_here();
    release();
}

void connection_core::stop(error_code const& ec) noexcept {
    if (!session_.is_under_way())
        return;
    if (!reason_)
        reason_ = ec;
    stream_->close();
}

void connection_core::finish(error_code const& ec) noexcept {
    stop(ec);
    bool const is_over = session_.end();
    timer_.cancel();
    if (is_over) // else the completion of a write, already on its way, tells how much was written
        finish_now();
}

void connection_core::finish_now() noexcept {
    auto const bytes_written = session_.over() ? write_.result.n : static_cast<std::size_t>(-1);
    give_up_requests(reason_ == fairlead::error::operation_aborted, bytes_written);
    if (auto* const o = std::exchange(run_, nullptr)) {
        o->fail(reason_);
        complete(*o);
    }
}

void connection_core::give_up_requests(bool aborted, std::size_t bytes_written) noexcept {
    mux_.cancel(ping_); // It concerns this session only, whatever is kept for the next one.
    op_queue done;
    mux_.end_generation(
        {.aborted = aborted || session_.is_closed(), .keep_waiting = cfg_.keep_unsent, .bytes_written = bytes_written},
        done);
    pass_on(done);
    while (!receivers_.empty()) {
        auto& o = static_cast<receive_op&>(*receivers_.pop_front());
        o.fail(fairlead::error::operation_aborted);
        complete(o);
    }
    count_work();
}

} // namespace fairlead::redis::impl
