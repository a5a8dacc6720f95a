// Executions and receives: taken in, handed their results, cancelled, given up; and what of them is work of the loop.
#include <redis/connection_core.hpp>

namespace fairlead::redis::impl {

error_code connection_core::admit(exec_op const& o, bool is_ready) const noexcept {
    if (o.category)
        return o.error();
    if (session_.is_closed())
        return fairlead::error::operation_aborted;
    auto const allowed = cfg_.dedicated ? request::fitness::dedicated : request::fitness::shared;
    bool const lacks_pushes = is_ready && greeting_.protocol() == resp3::version::resp2;
    if (o.request->fit() > allowed || (lacks_pushes && o.request->has_subscriptions()))
        return error::refused_command;
    if (cfg_.cancel_if_not_connected && !is_ready)
        return error::not_connected;
    return {};
}

void connection_core::start(exec_op& o) noexcept {
    bool const is_ready = session_.is_ready();
    if (auto const ec = admit(o, is_ready)) [[unlikely]] {
        o.fail(ec);
        complete(o);
        return;
    }
    if (!mux_.add(o)) [[unlikely]] {
        complete(o);
        return;
    }
    if (is_ready) [[likely]]
        queue_flush();
    else
        count_work();
}

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

void connection_core::pass_on(op_queue& done) noexcept {
    while (!done.empty()) {
        op* const o = done.pop_front();
        if (o == &hello_) [[unlikely]]
            session_.answered();
        else if (o == &ping_) [[unlikely]]
            continue;
        else if (is_to_go_home(*o)) [[unlikely]]
            send_home(*o);
        else
            loop().post(*o);
    }
}

// A pending operation is work, as everywhere; while a session runs its own read is.
void connection_core::count_work() noexcept {
    using change = session_machine::change_of_work;
    auto const change_now = session_.count(mux_.pending() != 0 || !receivers_.empty());
    if (change_now == change::begins)
        loop().work_started();
    else if (change_now == change::ends)
        loop().work_finished();
}

} // namespace fairlead::redis::impl
