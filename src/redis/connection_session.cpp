// A session, from its start to its end: one coroutine connects, greets and reads.
#include <redis/connection_core.hpp>

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
    count_work();
    try {
        if (settings) {
            cfg_ = std::move(*settings);
            mux_.configure(cfg_);
        }
        co_spawn(io_executor(), serve(reference(this)), detached);
    } catch (...) {
        if (run_ == &o && session_.now_in() == session_machine::phase::connecting)
            finish(fairlead::impl::base::code_of(std::errc::not_enough_memory));
    }
}

awaitable<void> connection_core::serve(reference self) {
    auto& core = *self.core;
    error_code reason = fairlead::error::operation_aborted; // The coroutine may be destroyed with its context.
    fairlead::impl::base::at_scope_end const end([&core, &reason] { core.finish(reason); });
    server_address address;
    error_code ec = core.begin_connecting(address);
    if (!ec) {
        auto connecting = core.stream_->connect(address, core.probe_after());
        ec = co_await std::move(connecting);
    }
    if (!ec)
        ec = core.greet();
    while (!ec) {
        mutable_buffer const space = core.in_.prepare(core.read_bytes_);
        auto reading = read_into(*core.stream_, space);
        auto const [read_error, n] = co_await std::move(reading);
        ec = read_error ? read_error : core.received(n);
    }
    reason = ec;
}

error_code connection_core::begin_connecting(server_address& address) {
    if (reason_) // cancelled before it began
        return reason_;
    if (auto const ec = parse_address(cfg_.address, address))
        return ec;
    arm_timer(cfg_.connect_timeout);
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
    in_.consume(in_.size());
    read_bytes_ = std::max<std::size_t>(cfg_.read_bytes_min, 1);
    mux_.begin_generation();
    arm_timer(cfg_.hello_timeout);
    return proceed(greeting_.start(cfg_));
}

error_code connection_core::proceed(greeting::action next) {
    switch (next) {
    case greeting::action::send:
        session_.greeting_sent();
        hello_.begin(this);
        hello_.request = nullptr;
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
    if (greeting_.protocol() == resp3::version::resp2) {
        op_queue done;
        mux_.refuse_subscriptions(done);
        pass_on(done);
    }
    mux_.open();
    alive_at_ = quiet_until_ = engine_->now();
    arm_timer(interval());
    write_next();
    return {};
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

    op_queue done;
    auto const bytes = in_.data();
    auto const p = mux_.on_bytes({static_cast<char const*>(bytes.data()), bytes.size()}, done);
    in_.consume(p.consumed);
    pass_on(done);
    hand_out_pushes();
    if (p.ec)
        return p.ec;
    if (auto const ms = mux_.take_pause_ms()) [[unlikely]]
        quiet_until_ = alive_at_ + std::chrono::milliseconds(ms);
    if (session_.may_go_on_greeting())
        return greeted();
    return {};
}

void connection_core::greeted_late() noexcept {
    try {
        if (auto const ec = greeted())
            stop(ec);
    } catch (...) {
        stop(fairlead::impl::base::code_of(std::errc::not_enough_memory));
    }
}

error_code connection_core::greeted() { return hello_.category ? hello_.error() : proceed(greeting_.next()); }

// ---- the end

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

} // namespace fairlead::redis::impl
