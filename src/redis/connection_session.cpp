// How a session begins: one coroutine connects, and sends the first part of the greeting. The replies come with all
// others (connection_requests.cpp).
#include <redis/connection_core.hpp>

#include <fairlead/base/assert.hpp>
#include <fairlead/base/at_scope_end.hpp>
#include <fairlead/coro/spawn.hpp>

namespace fairlead::redis::impl {

void connection_core::start(run_op& o) noexcept {
    settings_of_run settings(o.settings);
    auto const& address = settings ? settings->address : cfg_.address;
    o.address[address.copy(o.address, sizeof o.address - 1)] = '\0';
    using admission = session_machine::admission;
    if (auto const said = session_.begin(); said != admission::begun) {
        o.fail(said == admission::closed ? make_error_code(fairlead::error::operation_aborted)
                                         : make_error_code(error::already_running));
        complete(o);
        return;
    }
    run_ = &o;
    reason_.clear();
    if (watch_ && watch_->is_cancelled()) // There was no session that it could have ended.
        reason_ = fairlead::error::operation_aborted;
    count_work();
    try {
        if (settings) {
            cfg_ = std::move(*settings);
            was_configured();
        }
        co_spawn(io_executor(), connect(reference(this)), detached);
    } catch (...) {
        if (run_ == &o && session_.now_in() == session_machine::phase::connecting)
            finish(fairlead::impl::base::code_of(std::errc::not_enough_memory));
    }
}

awaitable<void> connection_core::connect(reference self) {
    auto& core = *self.core;
    error_code reason = fairlead::error::operation_aborted; // The coroutine may be destroyed with its context.
    fairlead::impl::base::at_scope_end const end([&core, &reason] {
        if (reason)
            core.finish(reason);
    });
    address_parts address;
    error_code ec = core.begin_connecting(address);
    if (!ec) {
        auto connecting = core.stream_->connect(address, core.probe_after());
        ec = co_await std::move(connecting);
    }
    if (!ec)
        ec = core.greet();
    reason = ec;
    if (ec)
        co_return;
    core.retain(); // for the reads
    core.read_on({});
}

error_code connection_core::begin_connecting(address_parts& address) {
    if (reason_) // cancelled before it began
        return reason_;
    if (auto const ec = parse_address(cfg_.address, address))
        return ec;
    arm_timer_of_beginning(cfg_.connect_timeout);
    last_ending_ = 0;
    events_.note(event::connecting, engine_->now_ns());
    return {};
}

/// On a dedicated connection there are times at which no PING can be sent (see ask()): then the transport finds out, in
/// the same intervals.
std::chrono::milliseconds connection_core::probe_after() const noexcept {
    return cfg_.dedicated ? interval() : std::chrono::milliseconds::zero();
}

error_code connection_core::greet() {
    if (reason_)
        return reason_;
    session_.connected();
    events_.note(event::connected, engine_->now_ns());
    in_.consume(in_.size());
    is_held_up_ = false;
    read_bytes_ = std::max<std::size_t>(cfg_.read_bytes_min, 1);
    mux_.begin_generation();
    arm_timer_of_beginning(cfg_.hello_timeout);
    return proceed(greeting_.start(cfg_));
}

error_code connection_core::proceed(greeting::action next) {
    switch (next) {
    case greeting::action::send:
        session_.greeting_sent();
        hello_.begin(this, nullptr);
        hello_.object = this;
        hello_.deliver = [](void* object, std::size_t index, reply_view const& reply) {
            static_cast<connection_core*>(object)->greeting_.on_reply(index, reply);
            return error_code();
        };
        begin_write(mux_.begin_handshake(hello_, greeting_.payload(), greeting_.replies()));
        return {};
    case greeting::action::failed: return greeting_.failure();
    case greeting::action::ready: break;
    }
    ++mux_.counters().generations;
    protocol_ = greeting_.protocol();
    session_.opened();
    if (greeting_.protocol() == resp3::version::resp2 && !carries_topics_) {
        op_queue elsewhere;
        mux_.take_subscriptions_out(elsewhere);
        while (!elsewhere.empty())
            leave_to_taker(static_cast<exec_op&>(*elsewhere.pop_front()));
        if (!before_the_queue_.empty())
            let_in();
    }
    mux_.open();
    alive_at_ = quiet_until_ = engine_->now();
    events_.note(event::ready, alive_at_.time_since_epoch().count(), 0,
                 static_cast<std::uint32_t>(greeting_.protocol()));
    arm_timer(interval());
    if (watch_)
        restore();
    write_next();
    return {};
}

/// Goes out in a write of its own, before all that waits.
void connection_core::restore() {
    restore_request_.clear();
    watch_->opened(restore_request_);
    if (restore_request_.empty()) {
        if (watch_) // The program may have destroyed the client when it heard of it.
            watch_->restored({});
        return;
    }
    FAIRLEAD_ASSERT(!lacks_pushes_for(restore_request_));
    restore_.begin(this, &restore_request_);
    restore_.object = nullptr;
    restore_.deliver = &deliver_nothing;
    begin_write(mux_.put_first(restore_));
}

void connection_core::greeted_late() noexcept {
    if (auto const ec = or_no_memory([this] { return greeted(); }))
        stop(ec);
}

error_code connection_core::greeted() { return hello_.category ? hello_.error() : proceed(greeting_.next()); }

} // namespace fairlead::redis::impl
