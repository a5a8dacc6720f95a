#include <redis/leased_connection.hpp>

#include <redis/client_core.hpp>

#include <fairlead/base/at_scope_end.hpp>
#include <fairlead/coro/spawn.hpp>
#include <fairlead/token/adapters.hpp>

#include <tuple>

namespace fairlead::redis::impl {

leased_connection::leased_connection(lease_pool& pool, connection_core& like, connector const* how,
                                     std::uint8_t repeats)
    : pool_(pool),
      core_(new connection_core(like, how)),
      pause_(core_->io_executor()) {
    core_->retain(); // beside the reference that its close() gives back
    core_->serves_alone();
    core_->repeats_refused(pool.client().options().retry);
    if (auto const& o = pool.client().observer())
        core_->is_observed_by(o);
    core_->is_watched_by(*this, repeats);
}

leased_connection::~leased_connection() { core_->release(); }

void leased_connection::retain() noexcept { pool_.client().retain(); }
void leased_connection::release() noexcept { pool_.client().release(); }

// ---- its sessions

void leased_connection::connect() {
    core_->accept_requests();
    co_spawn(core_->io_executor(), serve(*this), detached);
    state_ = state::connecting;
}

awaitable<void> leased_connection::serve(leased_connection& l) {
    client_core::reference const kept(&l.pool_.client());
    bool is_over = false; // else its context ends, and all that waits with it
    fairlead::impl::base::at_scope_end const end([&l, &is_over] {
        if (l.state_ != state::lost)
            l.state_ = state::cold;
        if (is_over)
            l.pool_.look_for_work();
    });
    do {
        l.pauses_.begin_attempt();
        error_code ec;
        l.wants_renewal_ = l.has_opened_ = false;
        if (l.pool_.prepare(ec)) {
            auto session = l.one_session();
            ec = co_await std::move(session);
        }
        bool const goes_on = l.goes_on_after_session();
        auto const pause = goes_on ? l.pool_.next_pause(l.pauses_) : std::chrono::milliseconds::zero();
        if (!l.has_opened_ && ec != fairlead::error::operation_aborted)
            l.tell_of_failure(ec, pause);
        if (!goes_on || !l.goes_on_after_session()) // The program may have ended the client when it heard of it.
            break;
        l.pause_.expires_after(pause);
        auto waiting = l.pause_.async_wait(as_tuple);
        co_await std::move(waiting);
    } while (l.goes_on_after_session());
    is_over = true;
}

awaitable<error_code> leased_connection::one_session() {
    auto running =
        completion_token_transform<impl::run::signature>(as_tuple, impl::run(*core_, keep_settings(pool_.settings())));
    auto const [ec] = co_await std::move(running);
    pause_.cancel(); // It was the time until an unused one is closed.
    co_return ec;
}

void leased_connection::opened(request&) {
    pauses_.succeeded();
    has_opened_ = true;
    pool_.note_success();
}

void leased_connection::tell_of_failure(error_code const& ec, std::chrono::milliseconds pause) noexcept {
    try {
        auto const text = core_->server_text();
        pool_.note_failure(*core_, text.empty() ? ec.message() : text);
        pool_.client().lease_failed(ec, text, pauses_.attempts(), pause);
    } catch (...) { // Without memory it is counted all the same.
        pool_.client().lease_failed(ec, {}, pauses_.attempts(), pause);
    }
}

/// Requests that may be repeated wait in the connection, others in the pool.
bool leased_connection::goes_on_after_session() noexcept {
    if (state_ == state::lent)
        state_ = state::lost;
    bool const is_needed = core_->pending() != 0 || (state_ == state::connecting && pool_.has_waiting());
    if (is_needed)
        state_ = core_->pending() != 0 ? state::busy : state::connecting;
    return is_needed && state_ != state::lost;
}

void leased_connection::restored(error_code const& ec) noexcept {
    if (state_ == state::returning && ec)
        return core_->drop();
    if (state_ == state::connecting || state_ == state::returning || (state_ == state::busy && core_->pending() == 0))
        become_free();
}

void leased_connection::left_alone(bool answers_due) noexcept {
    if (state_ == state::lent)
        return void(try_renewal());
    if (state_ != state::busy)
        return;
    if (answers_due) // The server is still at work on what was given up, for how long nobody knows.
        return core_->drop();
    if (core_->is_connected())
        become_free();
    else
        pause_.cancel();
}

void leased_connection::renew() noexcept {
    if (state_ == state::cold || state_ == state::lost)
        return; // It asks when it connects.
    wants_renewal_ = true;
    if (state_ == state::free && try_renewal()) {
        state_ = state::returning;
        pause_.cancel();
    } else if (state_ == state::lent && core_->pending() == 0) {
        try_renewal();
    }
}

bool leased_connection::try_renewal() noexcept {
    if (!wants_renewal_ || !core_->authenticate(pool_.client().own_settings()))
        return false;
    wants_renewal_ = false;
    return true;
}

/// A caller who has it goes on with the old ones after a refusal.
void leased_connection::authenticated(error_code const& ec, std::string_view) noexcept {
    if (state_ != state::returning)
        return;
    if (ec)
        core_->drop();
    else
        become_free();
}

void leased_connection::become_free() noexcept {
    if (try_renewal()) {
        state_ = state::returning;
        return;
    }
    state_ = state::free;
    core_->accept_requests();
    pool_.look_for_work();
    if (state_ != state::free)
        return;
    try {
        pause_.expires_after(pool_.idle_max());
        pause_.async_wait([this, kept = client_core::reference(&pool_.client())](error_code const& ec) {
            if (ec || state_ != state::free)
                return;
            state_ = state::returning; // Nobody gets it while it is being closed.
            core_->drop();
        });
    } catch (...) { // It stays open.
    }
}

// ---- its users

void leased_connection::execute(exec_op& o) noexcept {
    state_ = state::busy;
    pause_.cancel();
    if (!core_->take_over(o))
        state_ = state::free;
}

void leased_connection::lend() noexcept {
    state_ = state::lent;
    pause_.cancel();
    core_->refuse_when_lost(); // Watched keys and open transactions would be lost unnoticed.
    (void)core_->take_use();
}

void leased_connection::given_back() noexcept {
    if (state_ == state::lost) {
        state_ = state::cold;
        return pool_.look_for_work();
    }
    if (state_ != state::lent)
        return;
    state_ = state::returning;
    forget_what_was_done();
}

void leased_connection::forget_what_was_done() noexcept {
    auto const done = core_->take_use();
    // An answer that is due may still open a transaction: a MULTI that was given up.
    if (core_->pending() != 0 || core_->has_answers_due() || done.changed || core_->is_reserved() ||
        !core_->is_connected())
        return core_->drop();
    if (!done.watched)
        return become_free();
    if (!core_->execute_own("UNWATCH"))
        core_->drop();
}

void leased_connection::end() noexcept {
    core_->cancel();
    pause_.cancel();
}

/// In the thread that destroys the client. The loop, where the connection is closed, ends the pause (cancelled()).
void leased_connection::close() noexcept { core_->close(); }

} // namespace fairlead::redis::impl
