// Requests of other threads: they come through the inbox of the loop, and an item of it carries them out, in order.
#include <redis/connection_core.hpp>

#include <fairlead/exec/recycler.hpp>

namespace fairlead::redis::impl {

void connection_core::send(outcome_record& o, errand what) noexcept {
    static constinit fairlead::impl::exec::owner_request arrival{{}, &connection_core::on_arrival};
    o.result.flags = static_cast<unsigned>(what) | (is_to_go_home(o) ? goes_home : 0);
    retain(one_message); // Before it can be seen: whoever knows that it was sent finds it on its way.
    engine_->post_request(o, arrival);
}

connection_core::message* connection_core::make_message(void const* about) noexcept {
    void* const memory = fairlead::impl::exec::recycle_allocate_or_null(sizeof(message));
    if (!memory)
        return nullptr;
    auto* const m = ::new (memory) message;
    m->begin(this, about);
    return m;
}

void connection_core::send_message(errand what, request const* about) noexcept {
    if (auto* const m = make_message(about))
        return send(*m, what);
    fairlead::impl::exec::blocking_wait until_read;
    message m;
    m.begin(this, about);
    m.sender = &until_read;
    send(m, what);
    until_read.wait();
}

/// In any thread that owns the loop for a moment.
void connection_core::on_arrival(fairlead::loop& l, op& o) {
    auto& core = *static_cast<outcome_record&>(o).connection;
    core.arrivals_.push_back(o);
    if (!core.session_.arrived())
        return;
    core.retain();
    l.push(core.arrive_);
}

void connection_core::on_arrive(op* base, op_mode mode) {
    auto& core = *static_cast<core_op*>(base)->core;
    if (mode == op_mode::complete) {
        // Other items have their turn, too, when many requests have come.
        constexpr std::size_t most = 256;
        core.engine_->as_owner([&core]() noexcept {
            if (core.session_.carried_out(core.take_arrivals(most))) {
                core.retain();
                core.loop().push(core.arrive_);
            }
        });
    } else {
        op_queue given_up;
        core.engine_->as_owner([&]() noexcept {
            core.session_.carried_out(true);
            given_up.splice_back(core.arrivals_);
        });
        while (!given_up.empty())
            core.abandon_arrival(static_cast<outcome_record&>(*given_up.pop_front()));
    }
    core.release();
}

/// Earlier requests come first, also those of this thread.
void connection_core::catch_up() noexcept {
    engine_->take_inbox();
    take_arrivals(static_cast<std::size_t>(-1));
}

/// Inside a section of the owner. False: there are more.
bool connection_core::take_arrivals(std::size_t most) noexcept {
    for (; !arrivals_.empty(); --most) {
        if (most == 0)
            return false;
        take_arrival(static_cast<outcome_record&>(*arrivals_.pop_front()));
        message_read();
    }
    return true;
}

void connection_core::take_arrival(outcome_record& o) noexcept {
    switch (errand_of(o)) {
    case errand::exec: return mux_.counts().arrive([&] { start(static_cast<exec_op&>(o)); });
    case errand::receive: return start(static_cast<receive_op&>(o));
    case errand::run: return start(static_cast<run_op&>(o));
    case errand::cancel: cancel_here(); return done_with(static_cast<message&>(o));
    case errand::cancel_one:
        cancel_here(static_cast<request const*>(static_cast<message&>(o).about));
        return done_with(static_cast<message&>(o));
    case errand::ask: {
        auto& m = static_cast<message&>(o);
        if (auto* const asked = find(static_cast<op const*>(m.about), m.ticket))
            cancel_here(*asked);
        return done_with(m);
    }
    case errand::look_for_marks: {
        bool const once_more = marks_.exchange(0, std::memory_order_acq_rel) > 1; // They may stand behind this message.
        cancel_marked();
        if (once_more)
            call_for_marked();
        return;
    }
    case errand::give_back:
        if (watch_)
            watch_->given_back();
        return done_with(static_cast<message&>(o));
    case errand::renew:
        if (watch_)
            watch_->renewal_wanted();
        return done_with(static_cast<message&>(o));
    case errand::close: return close_here();
    }
}

void connection_core::abandon_arrival(outcome_record& o) {
    switch (errand_of(o)) {
    case errand::exec: mux_.counts().arrive([] {}); break;
    case errand::receive: break;
    case errand::run: discard_settings()(static_cast<run_op&>(o).settings); break;
    case errand::cancel:
    case errand::cancel_one:
    case errand::give_back:
    case errand::renew:
    case errand::ask: done_with(static_cast<message&>(o)); return message_read();
    case errand::look_for_marks: return message_read();
    case errand::close: close_here(); return message_read();
    }
    if (observer_ && errand_of(o) == errand::exec) {
        o.fail(fairlead::error::operation_aborted);
        observer_->end(static_cast<exec_op&>(o));
    }
    bool const is_work = is_to_go_home(o);
    fairlead::loop::abandon(o);
    if (is_work)
        elsewhere_->count_work(-1);
    message_read();
}

void connection_core::done_with(message& m) noexcept {
    if (m.sender) {
        m.sender->finish();
        return;
    }
    m.~message();
    fairlead::impl::exec::recycle_free(&m);
}

void connection_core::cancel() noexcept {
    if (!here([this] { cancel_here(); }))
        send_message(errand::cancel, nullptr);
}

std::size_t connection_core::cancel(request const& r) noexcept {
    std::size_t n = 1;
    if (!here([this, &r, &n] { n = cancel_here(&r); }))
        send_message(errand::cancel_one, &r);
    return n;
}

void connection_core::give_back() noexcept {
    if (!here([this] {
            if (watch_)
                watch_->given_back();
        }))
        send_message(errand::give_back, nullptr);
}

void connection_core::renew() noexcept {
    if (!here([this] {
            if (watch_)
                watch_->renewal_wanted();
        }))
        send_message(errand::renew, nullptr);
}

/// The caller may hold a lock that the end of the op takes, so that nobody is waited for.
void connection_core::ask(exec_op& o) noexcept {
    if (here([this, &o] { cancel_here(o); }))
        return;
    if (auto* const m = make_message(&o)) {
        m->ticket = fairlead::impl::exec::ticket_of(o).load(std::memory_order_relaxed);
        return send(*m, errand::ask);
    }
    fairlead::impl::exec::mark_asked(o);
    call_for_marked();
}

void connection_core::ask(run_op& o) noexcept {
    auto* const ticket = fairlead::impl::exec::ticket_of(o).load(std::memory_order_relaxed);
    if (here([this, ticket] { stop_here(ticket); }))
        return;
    asked_run_.store(ticket, std::memory_order_release);
    call_for_marked();
}

void connection_core::call_for_marked() noexcept {
    if (marks_.fetch_add(1, std::memory_order_acq_rel) != 0)
        return;
    marked_.begin(this, nullptr);
    send(marked_, errand::look_for_marks);
}

void connection_core::close() noexcept {
    io::impl::io_loop_ref const kept(engine_); // Ours may be the last one, and we may go in there.
    if (here([this] { close_here(); }))
        return;
    close_.begin(this, nullptr);
    send(close_, errand::close);
}

} // namespace fairlead::redis::impl
