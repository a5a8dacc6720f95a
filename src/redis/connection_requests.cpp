// The operations of callers, from their start to their result: taken in, written, answered.
//
// Neither writing nor reading needs a coroutine. The flush op starts one write at the end of the turn in which the
// first request came. When it is done, the next one takes all that has come meanwhile. A session keeps one read going.
#include <redis/connection_core.hpp>

#include <algorithm>

namespace fairlead::redis::impl {

template <class Op> void connection_core::start_anywhere(Op& o) noexcept {
    if (references_.load(std::memory_order_relaxed) >= one_message) [[unlikely]]
        start_carefully(o);
    else if (engine_->is_run_elsewhere() || !engine_->at_once([this, &o] { start(o); })) [[unlikely]]
        send(o);
}
void start(connection_core& c, exec_op& o) noexcept { c.start_anywhere(o); }
void start(connection_core& c, receive_op& o) noexcept { c.start_anywhere(o); }
void start(connection_core& c, run_op& o) noexcept { c.start_anywhere(o); }

error_code connection_core::admit(exec_op const& o, bool is_ready) noexcept {
    if (o.category)
        return o.error();
    if (session_.is_closed())
        return fairlead::error::operation_aborted;
    if (o.request->fit() != request::fitness::shared && !admits_unfit(*o.request)) [[unlikely]]
        return error::refused_command;
    use_.changed = use_.changed || o.request->changes_session();
    if (o.request->has_subscriptions() && !admits_subscriptions(*o.request))
        return error::refused_command;
    if (o.request->tracks() && !shows_pushes_) // Nobody would hear of a changed key, nor of the end.
        return error::refused_command;
    if ((cfg_.cancel_if_not_connected || refuses_) && !is_ready)
        return error::not_connected;
    return {};
}

bool connection_core::admits_subscriptions(request const& r) const noexcept {
    if (!shows_pushes_ && !r.is_of_subscription())
        return false;
    return !lacks_pushes_for(r) || taker_;
}

bool connection_core::admits_unfit(request const& r) noexcept {
    if (!cfg_.dedicated)
        return leaves_to_taker(r) && !r.has_subscriptions();
    use_.watched = use_.watched || r.fit() == request::fitness::dedicated;
    return r.fit() != request::fitness::never;
}

/// The shorter one of `ms`, which is 0 for none, and its own. False: no memory for its timer.
FAIRLEAD_ALWAYS_INLINE bool connection_core::put_limit(exec_op& o, std::uint32_t ms) noexcept {
    if (ms != 0 && (o.limit_ms == 0 || ms < o.limit_ms)) {
        o.limit_ms = ms;
        o.is_asked_when_due = false;
    }
    o.due_ms = due_of(o);
    return limits_.arm_by(o.due_ms);
}

/// As start() would, where nothing but a limit can be special. False: nothing has happened.
FAIRLEAD_ALWAYS_INLINE bool connection_core::begin_ordinary(exec_op& o) noexcept {
    auto const ms = o.request->has_timeout() ? limit_of(*o.request) : limit_ms_;
    if ((ms | o.limit_ms) != 0 && !put_limit(o, ms)) [[unlikely]]
        return false;
    begin(o);
    if (!mux_.add_at_once(o)) [[unlikely]]
        return false;
    queue_flush();
    return true;
}

void connection_core::start(exec_op& o) noexcept {
    if (o.request->is_ordinary() && !o.category && session_.takes_requests() && begin_ordinary(o)) [[likely]]
        return;
    bool const is_ready = session_.is_ready();
    if (auto const ec = admit(o, is_ready)) [[unlikely]] {
        o.fail(ec);
        if (ec == error::not_connected)
            o.first_entry = ending_of_last();
        complete(o);
        return;
    }
    set_limit(o);
    if (o.request->fit() != request::fitness::shared) [[unlikely]] {
        if (leaves_to_taker(*o.request))
            return leave_to_taker(o);
        if (o.request->pieces() != piecewise::nothing)
            return start_in_pieces(o, is_ready);
    }
    if (o.request->has_subscriptions() && lacks_pushes_for(*o.request)) [[unlikely]]
        return leave_to_taker(o);
    begin(o);
    enqueue(o, is_ready);
}

/// False: it has failed, and was completed.
bool connection_core::enqueue(exec_op& o, bool is_ready) noexcept {
    if ((o.limit_ms != 0 && !arm_limit_of(o)) || (!mux_.add(o) && !add_after_all(o))) [[unlikely]] {
        if (may_wait_for_room(o))
            return before_the_queue_.push_back(o);
        complete(o);
        return false;
    }
    if (is_ready) [[likely]]
        queue_flush();
    else
        count_work();
    return true;
}

/// It was refused on account of others, who have given up since.
bool connection_core::add_after_all(exec_op& o) noexcept {
    if (!mux_.holds_back() || !before_the_queue_.empty() || mux_.is_sending_value())
        return false;
    mux_.hold_back(false);
    o.category = nullptr;
    return mux_.add(o);
}

bool connection_core::may_wait_for_room(exec_op& o) noexcept {
    bool const would_be_let_in_some_day = mux_.pending() != 0 || mux_.in_flight() || !before_the_queue_.empty();
    if (!cfg_.wait_when_full || o.error() != error::too_many_requests || !would_be_let_in_some_day)
        return false;
    o.category = nullptr;
    mux_.hold_back(true);
    return true;
}

/// Those that wait for room, as far as there is some. The others are left alone: their limits go on where they are.
void connection_core::let_in() noexcept {
    if (mux_.is_sending_value())
        return;
    mux_.hold_back(false);
    while (!before_the_queue_.empty()) {
        bool const will_be_room = mux_.pending() != 0 || mux_.in_flight();
        if (will_be_room && !mux_.has_room_for(*before_the_queue_.front().request)) {
            mux_.hold_back(true);
            break;
        }
        auto& o = before_the_queue_.pop_front();
        if (lacks_pushes_for(*o.request)) [[unlikely]]
            leave_to_taker(o);
        else if ((o.limit_ms != 0 && !arm_limit_of(o)) || !mux_.add(o))
            complete(o);
    }
    if (session_.is_ready())
        queue_flush();
    count_work();
}

void connection_core::leave_to_taker(exec_op& o) noexcept {
    if (taker_ && taker_->take(o))
        return;
    o.fail(error::refused_command);
    complete(o);
}

bool connection_core::take_over(exec_op& o) noexcept {
    begin(o);
    return enqueue(o, session_.is_ready());
}

/// Those that the server could not execute now.
void connection_core::keep_refused() noexcept {
    auto& all = mux_.deferred();
    while (!all.empty()) {
        auto& o = static_cast<exec_op&>(*all.pop_front());
        if (o.limit_ms == 0)
            set_limit(o); // It had none while the server worked on it.
        refused_.push_back(o);
    }
    if (repeating_.is_armed() || refused_.empty())
        return;
    if (repeating_.now_ms() - repeated_at_ms_ > 2 * retry_.pause_max.count())
        refusals_.succeeded(); // It has been able again since.
    refusals_.begin_attempt();
    auto const pause = refusals_.next_pause_of_half(retry_.pause_min, retry_.pause_max, chance());
    if (!repeating_.arm(static_cast<std::uint32_t>(repeating_.now_ms() + pause.count())))
        repeat_refused();
}

void connection_core::repeat_refused() noexcept {
    repeated_at_ms_ = repeating_.now_ms();
    while (!refused_.empty())
        enqueue(refused_.pop_front(), session_.is_ready());
}

bool connection_core::execute_own(std::string_view command) noexcept {
    try {
        restore_request_.clear();
        restore_request_.push(command);
    } catch (...) {
        return false;
    }
    restore_.begin(this, &restore_request_);
    restore_.object = nullptr;
    restore_.deliver = &deliver_nothing;
    if (!mux_.add(restore_))
        return false;
    queue_flush();
    return true;
}

// ---- out

void connection_core::queue_flush() noexcept {
    if (!session_.wants_flush())
        return;
    retain();
    loop().post(flush_);
}

void connection_core::on_flush(op* base, op_mode mode) {
    auto& core = *static_cast<core_op*>(base)->core;
    bool const is_time = core.session_.flushed();
    core.is_batch_timed_ = false;
    if (mode == op_mode::complete && is_time)
        core.write_next();
    core.release();
}

void connection_core::write_next() noexcept {
    if (!session_.may_write())
        return;
    if (auto const bytes = mux_.next_output(); !bytes.empty())
        begin_write(bytes);
}

/// False: it has failed.
FAIRLEAD_ALWAYS_INLINE bool connection_core::written() noexcept {
    mux_.counters().bytes_written += write_.result.n;
    events_.note(event::wrote, event_ring::no_time, static_cast<std::uint32_t>(write_.result.n), 0,
                 static_cast<unsigned>(write_.result.error));
    if (!write_.result.error) [[likely]] {
        mux_.output_done();
        if (auto* const o = mux_.take_written_piece()) [[unlikely]]
            complete(static_cast<op&>(*o));
        if (!before_the_queue_.empty()) [[unlikely]]
            let_in();
        return true;
    }
    write_broke();
    return false;
}

void connection_core::begin_write(std::string_view bytes) noexcept {
    ++mux_.counters().writes;
    write_.begin(io::kind::send_all, const_cast<char*>(bytes.data()), bytes.size());
    bool const is_done = engine_->as_owner(
        [this]() noexcept { return stream_->ready(write_.kind, write_.size) && stream_->try_now(write_); });
    if (is_done) {
        if (!written()) [[unlikely]]
            session_.write_failed();
        return;
    }
    session_.write_waits();
    retain();
    stream_->submit(write_);
}

void connection_core::on_written(op* base, op_mode mode) {
    auto& core = *static_cast<stream_op*>(base)->core;
    bool const is_good = mode == op_mode::complete && core.written();
    using next = session_machine::next;
    switch (core.session_.wrote(is_good)) {
    case next::finish: core.finish_now(); break;
    case next::write: core.write_next(); break;
    case next::greet: core.greeted_late(); break;
    case next::nothing: break;
    }
    core.release();
}

/// The last words of the server may still be unread, so the reader ends the session: it will see the end, too. Where
/// that is not certain, it is made to.
void connection_core::write_broke() noexcept {
    auto const ec = write_.error();
    if (ec != fairlead::error::broken_pipe && ec != fairlead::error::connection_reset)
        stop(ec);
}

// ---- in

/// Begins the next read, or ends the session with an error.
void connection_core::read_on(error_code ec) noexcept {
    if (!ec && mux_.waits_for_a_piece() && !reason_) [[unlikely]]
        return hold_reading();
    if (!ec && is_held_up_)
        return loop().post(others_);
    if (!ec)
        ec = or_no_memory([this] { return begin_read(); });
    if (ec) {
        finish(ec);
        release();
    }
}

error_code connection_core::begin_read() {
    mutable_buffer const space = in_.prepare(read_bytes_);
    read_.begin(io::kind::receive, space.data(), space.size());
    stream_->submit(read_);
    return {};
}

void connection_core::on_read(op* base, op_mode mode) {
    auto& core = *static_cast<stream_op*>(base)->core;
    error_code ec = fairlead::error::operation_aborted;
    if (mode == op_mode::complete)
        ec = core.read_.error();
    if (!ec)
        ec = or_no_memory([&core] { return core.received(core.read_.result.n); });
    core.read_on(ec);
}

error_code connection_core::received(std::size_t n) {
    in_.commit(n);
    alive_at_ = engine_->now();
    session_.heard();
    auto& counters = mux_.counters();
    ++counters.reads;
    counters.bytes_read += n;
    if (n == read_bytes_)
        read_bytes_ = std::max(read_bytes_, std::min(read_bytes_ * 2, cfg_.read_bytes_max));

    bytes_taken_in_ = n;
    return take_in();
}

/// Those who take pushes and are about to run may hold up what comes behind. It is not for long: replies are due, and a
/// reader that needs more time is slow.
error_code connection_core::take_in() {
    bool const may_be_held_up = !is_held_up_ || engine_->now() - alive_at_ < held_up_max;
    op_queue done;
    auto const bytes = in_.data();
    auto const p = mux_.on_bytes({static_cast<char const*>(bytes.data()), bytes.size()}, done, may_be_held_up);
    events_.note(event::read, alive_at_.time_since_epoch().count(),
                 static_cast<std::uint32_t>(std::exchange(bytes_taken_in_, 0U)), mux_.replies(),
                 mux_.kinds_of_replies());
    in_.consume(p.consumed);
    is_held_up_ = p.is_held_up;
    pass_on(done);
    if (!mux_.deferred().empty()) [[unlikely]]
        keep_refused();
    hand_out_pushes();
    if (p.ec)
        return p.ec;
    if (auto const ms = mux_.take_pause_ms()) [[unlikely]]
        quiet_until_ = alive_at_ + std::chrono::milliseconds(ms);
    if (session_.may_go_on_greeting())
        return greeted();
    return {};
}

void connection_core::pass_on(op_queue& done) noexcept {
    while (!done.empty()) {
        op* const o = done.pop_front();
        if (is_own(*o)) [[unlikely]]
            pass_on_own(*o);
        else if (ends_plainly_) [[likely]]
            loop().post(*o);
        else
            complete(static_cast<exec_op&>(*o));
    }
    if (!before_the_queue_.empty()) [[unlikely]]
        let_in();
    tell_when_alone();
}

void connection_core::pass_on_own(op& o) noexcept {
    if (&o == &hello_)
        session_.answered();
    else if (&o == &restore_ && watch_)
        watch_->restored(restore_.error());
    else if (&o == &auth_)
        has_authenticated();
}

/// The rest of what was read.
void connection_core::on_turn_of_others(op* base, op_mode mode) {
    auto& core = *static_cast<core_op*>(base)->core;
    error_code ec = fairlead::error::operation_aborted;
    if (mode == op_mode::complete)
        ec = core.reason_; // The session may have been stopped meanwhile.
    if (!ec)
        ec = or_no_memory([&core] { return core.take_in(); });
    core.read_on(ec);
}

// ---- pushes

void connection_core::start(receive_op& o) noexcept {
    if (session_.is_closed()) {
        o.fail(fairlead::error::operation_aborted);
        complete(o);
        return;
    }
    receivers_.push_back(o);
    hand_out_pushes();
    count_work();
}

void connection_core::hand_out_pushes() noexcept {
    auto& pushes = mux_.pushes();
    if (receivers_.empty() || pushes.empty())
        return;
    auto& o = static_cast<receive_op&>(*receivers_.pop_front());
    o.into->clear();
    o.into->swap(pushes);
    o.count = o.into->messages();
    complete(o);
}

// A pending operation is work, as everywhere; while a session runs its own read is.
void connection_core::count_work() noexcept {
    if (repeating_.is_armed() && refused_.empty()) [[unlikely]]
        repeating_.disarm();
    if (limits_.is_armed() && !mux_.has_limits() && !session_.is_under_way()) [[unlikely]]
        limits_.disarm(); // It would keep the loop running.
    using change = session_machine::change_of_work;
    auto const change_now = session_.count(mux_.pending() != 0 || !receivers_.empty());
    if (change_now == change::begins)
        loop().work_started();
    else if (change_now == change::ends)
        loop().work_finished();
}

} // namespace fairlead::redis::impl
