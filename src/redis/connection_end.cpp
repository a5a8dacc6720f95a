// How requests and sessions end before their time: cancelled, failed, given up.
#include <redis/connection_core.hpp>
#include <redis/endings.hpp>

namespace fairlead::redis::impl {

void connection_core::cancel_here() noexcept {
    if (watch_)
        watch_->cancelled();
    if (session_.now_in() == session_machine::phase::idle)
        give_up_requests(true, 0);
    else
        stop(fairlead::error::operation_aborted);
}

std::size_t connection_core::cancel_here(request const* r) noexcept {
    op_queue done;
    auto const n = mux_.cancel(r, done) + before_the_queue_.cancel(r) + refused_.cancel(r);
    pass_on(done);
    count_work();
    return taker_ ? n + taker_->cancel(r) : n;
}

void connection_core::cancel_here(exec_op& o) noexcept {
    if (!cancel_if_pending(o) && taker_)
        taker_->cancel(o);
}

bool connection_core::cancel_if_pending(exec_op& o) noexcept {
    if (before_the_queue_.cancel(o) || refused_.cancel(o))
        return true;
    if (!mux_.cancel(o) && !mux_.cancel_piece(o))
        return false;
    complete(o);
    if (!before_the_queue_.empty())
        let_in();
    count_work();
    tell_when_alone();
    return true;
}

void connection_core::end(run_op& o) noexcept {
    if (run_ == &o)
        stop(fairlead::error::operation_aborted);
}

void connection_core::stop_here(void* ticket) noexcept {
    if (run_ && ticket && fairlead::impl::exec::has_ticket(*run_, ticket))
        stop(fairlead::error::operation_aborted);
}

exec_op* connection_core::find(op const* where, void* ticket) noexcept {
    auto* o = mux_.find(where, ticket);
    o = o ? o : before_the_queue_.find(where, ticket);
    o = o ? o : refused_.find(where, ticket);
    return !o && taker_ ? taker_->find(where, ticket) : o;
}

exec_op* connection_core::find_marked() noexcept {
    auto* o = mux_.find_marked();
    o = o ? o : before_the_queue_.find_marked();
    o = o ? o : refused_.find_marked();
    return !o && taker_ ? taker_->find_marked() : o;
}

void connection_core::cancel_marked() noexcept {
    stop_here(asked_run_.exchange(nullptr, std::memory_order_acq_rel));
    while (auto* const o = find_marked())
        cancel_here(*o);
}

void connection_core::close_here() noexcept {
    session_.close();
    cancel_here();
    taker_ = nullptr;
    if (auto* const w = std::exchange(watch_, nullptr))
        w->release();
    release();
}

void connection_core::stop(error_code const& ec) noexcept {
    if (!session_.is_under_way())
        return;
    if (!reason_)
        reason_ = ec;
    stream_->close();
    if (is_reading_held_) // The reader ends the session.
        go_on_reading();
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
    events_.note_end(engine_->now_ns(), reason_);
    has_ended_ = reason_ != fairlead::error::operation_aborted; // That is no surprise.
    last_ending_ = 0;
    give_up_requests(reason_ == fairlead::error::operation_aborted, bytes_written);
    if (auto* const o = std::exchange(run_, nullptr)) {
        o->fail(reason_);
        complete(*o);
    }
}

/// Exceptions of those that end with a session carry its events. All share one text. Nobody awaits the run of a
/// connection that is watched.
void connection_core::note_ending_of(op_queue& done) noexcept {
    bool const is_run_awaited = !watch_;
    if (done.empty() && !is_run_awaited)
        return;
    note_ending_text();
    done.for_each([this](op& o) { static_cast<exec_op&>(o).first_entry = last_ending_; });
    if (is_run_awaited)
        run_->set_ending(last_ending_);
}

void connection_core::note_ending_text() noexcept {
    try {
        last_ending_ = note_ending(events_.text());
    } catch (...) { // Exceptions do without.
    }
}

std::uint32_t connection_core::ending_of_last() noexcept {
    if (has_ended_ && last_ending_ == 0)
        note_ending_text();
    return last_ending_;
}

void connection_core::refuse_requests() noexcept {
    refuses_ = true;
    give_up_requests(false, 0);
}

void connection_core::give_up_requests(bool aborted, std::size_t bytes_written) noexcept {
    mux_.cancel(ping_); // These concern this session only, whatever is kept for the next one.
    mux_.cancel(restore_);
    mux_.cancel(auth_);
    is_authenticating_ = false; // The next session begins with the new credentials.
    bool const is_aborted = aborted || session_.is_closed();
    if (is_aborted || !cfg_.keep_unsent || refuses_) {
        error_code const ec =
            is_aborted ? make_error_code(fairlead::error::operation_aborted) : make_error_code(error::not_sent);
        before_the_queue_.give_all_up(ec);
        refused_.give_all_up(ec);
        repeating_.disarm();
    }
    op_queue done;
    mux_.fail_pieces(error::value_incomplete, bytes_written, done);
    mux_.end_generation({.aborted = is_aborted,
                         .keep_waiting = cfg_.keep_unsent && !refuses_,
                         .repeat = watch_ != nullptr,
                         .sent = reason_ == error::answers_out_of_order ? reason_ : error::maybe_executed,
                         .bytes_written = bytes_written},
                        done);
    limit_what_waits_again();
    if (run_ && !is_aborted)
        note_ending_of(done);
    pass_on(done);
    while (!receivers_.empty()) {
        auto& o = static_cast<receive_op&>(*receivers_.pop_front());
        o.fail(fairlead::error::operation_aborted);
        complete(o);
    }
    count_work();
}

} // namespace fairlead::redis::impl
