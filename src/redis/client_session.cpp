// How a client keeps its connection: one coroutine that connects, and connects again.
#include <redis/client_core.hpp>

#include <fairlead/base/at_scope_end.hpp>
#include <fairlead/coro/this_coro.hpp>
#include <fairlead/token/adapters.hpp>

#include <algorithm>
#include <chrono>
#include <tuple>

namespace fairlead::redis::impl {

awaitable<error_code> client_core::serve(reference self, unsigned number, std::shared_ptr<giving_up> g) {
    auto& c = *self.core;
    if (c.is_running_)
        co_return error::already_running;
    c.is_running_ = true;
    c.running_ = number;
    fairlead::impl::base::at_scope_end const end([&c] {
        c.is_running_ = false;
        c.renewal_.cancel();
        c.subscriptions_.end_all();   // Before those who subscribe hear that theirs was not sent.
        c.shared_->refuse_requests(); // Those that wait would wait for nothing.
        c.pool_.end_all(error::not_sent);
    });
    c.pauses_.succeeded();
    c.has_lost_ = false;
    c.without_since_ns_ = c.shared_->engine().now_ns();
    c.shared_->accept_requests();
    co_await this_coro::throw_if_cancelled(false);
    auto going = connect_again(c, *g);
    error_code const ec = co_await std::move(going);
    co_return ec;
}

awaitable<error_code> client_core::connect_again(client_core& c, giving_up& g) {
    for (;;) {
        auto asked = c.is_asked_to_end();
        if (co_await std::move(asked))
            co_return fairlead::error::operation_aborted;
        error_code ec;
        if (c.prepare_attempt(ec)) {
            auto session = c.one_session();
            ec = co_await std::move(session);
        }
        auto asked_meanwhile = c.is_asked_to_end();
        if (co_await std::move(asked_meanwhile))
            co_return fairlead::error::operation_aborted;
        auto const what = std::exchange(c.is_open_, false) ? event_kind::lost : event_kind::failed;
        if (c.has_ended_for_good(ec)) {
            c.give_up(ec, g);
            co_return ec;
        }
        auto const pause = c.next_pause();
        c.tell_of_end(what, ec, pause);
        if (c.is_cancelled()) // by the program, when it was told
            continue;
        c.pause_.expires_after(pause);
        auto waiting = c.pause_.async_wait(as_tuple);
        co_await std::move(waiting);
        if (c.time_left() <= std::chrono::nanoseconds::zero()) {
            auto asked_at_last = c.is_asked_to_end();
            if (co_await std::move(asked_at_last))
                co_return fairlead::error::operation_aborted;
            c.give_up(ec, g);
            co_return ec;
        }
    }
}

void client_core::give_up(error_code const& ec, giving_up& g) {
    g = {.why = ec, .recent_events = shared_->recent_events()};
    ++gave_up_;
    tell_of_end(event_kind::gave_up, ec, {});
}

void client_core::tell_of_end(event_kind what, error_code const& ec, std::chrono::milliseconds pause) {
    if (!options_.on_event)
        return;
    auto const text = shared_->server_text();
    auto const recent = shared_->recent_events();
    tell({.kind = what,
          .why = ec,
          .server_text = text,
          .attempt = pauses_.attempts(),
          .pause = pause,
          .recent_events = recent});
}

/// Until it gives up.
std::chrono::nanoseconds client_core::time_left() noexcept {
    if (options_.give_up_after <= options_.give_up_after.zero())
        return std::chrono::nanoseconds::max();
    return std::min<std::chrono::milliseconds>(options_.give_up_after, for_ever) -
           std::chrono::nanoseconds(shared_->engine().now_ns() - without_since_ns_);
}

std::chrono::milliseconds client_core::next_pause() noexcept {
    auto const pause = pauses_.next_pause(options_.pause_min, options_.pause_max, shared_->chance());
    auto const left = time_left();
    return left < pause ? std::chrono::ceil<std::chrono::milliseconds>(left) : pause;
}

/// By cancel(), or as a coroutine.
awaitable<bool> client_core::is_asked_to_end() {
    auto const state = co_await this_coro::cancellation_state;
    co_return is_cancelled() || state.cancelled() != cancellation_type::none;
}

awaitable<error_code> client_core::one_session() {
    wants_renewal_ = is_renewed_ = false;
    if (options_.give_up_after > options_.give_up_after.zero())
        shared_->is_ready_by(shared_->engine().now() + time_left());
    auto running = completion_token_transform<impl::run::signature>(as_tuple, impl::run(*shared_, keep_settings(cfg_)));
    auto const [ec] = co_await std::move(running);
    if (is_open_) {
        ++lost_;
        pauses_.succeeded();
        has_lost_ = true;
        without_since_ns_ = shared_->engine().now_ns();
    } else {
        ++failed_;
    }
    co_return ec;
}

/// False: it has failed already.
bool client_core::prepare_attempt(error_code& ec) noexcept {
    ++attempts_;
    pauses_.begin_attempt();
    tell({.kind = event_kind::connecting, .attempt = pauses_.attempts()});
    if (ask_credentials(ec))
        return true;
    ++failed_;
    return false;
}

bool client_core::ask_credentials(error_code& ec) noexcept {
    if (!options_.ask_credentials)
        return true;
    try {
        auto now = options_.ask_credentials();
        cfg_.username = std::move(now.username);
        cfg_.password = std::move(now.password);
        if (now.valid_for > now.valid_for.zero())
            renew_after(now.valid_for);
        return true;
    } catch (system_error const& e) {
        ec = e.code();
    } catch (...) {
        ec = error::credentials_failed;
    }
    return false;
}

bool client_core::has_ended_for_good(error_code const& ec) noexcept {
    if (ec == error::invalid_address || ec == error::resp3_required)
        return true;
    if (ec == error::auth_refused && !options_.ask_credentials)
        return true;
    if (options_.attempts_max != 0 && pauses_.attempts() >= options_.attempts_max)
        return true;
    return time_left() <= std::chrono::nanoseconds::zero();
}

void client_core::tell(client_event const& e) noexcept {
    if (options_.on_event)
        options_.on_event(e);
}

// ---- what the connection says

void client_core::opened(request& first) {
    ++ready_;
    is_open_ = true;
    if (shared_->protocol() == resp3::version::resp3) {
        pool_.bring_no_messages();
        ++carried_;
        subscriptions_.append_all(first, carried_);
    }
    tell({.kind = event_kind::ready, .attempt = pauses_.attempts()});
}

void client_core::restored(error_code const& ec) noexcept {
    pool_.look_for_work();
    if (std::exchange(is_renewed_, false)) // while the greeting was under way
        use_new_credentials();
    bool const is_due = pool_.bring_messages();
    if (ec == condition::refused_by_server)
        return tell_refused(ec, shared_->server_text());
    if (!ec && !is_due)
        tell_restored();
}

void client_core::tell_refused(error_code const& ec, std::string_view server_text) noexcept {
    ++refused_;
    tell({.kind = event_kind::refused, .why = ec, .server_text = server_text});
}

void client_core::tell_restored() noexcept {
    if (!std::exchange(has_lost_, false))
        return;
    ++restored_;
    tell({.kind = event_kind::restored, .attempt = pauses_.attempts()});
}

void client_core::topics_opened(request& first) {
    ++carried_;
    subscriptions_.append_all(first, carried_);
}

void client_core::topics_restored(error_code const& ec, std::string_view server_text) noexcept {
    if (ec == condition::refused_by_server)
        tell_refused(ec, server_text);
    else if (!ec)
        tell_restored();
}

void client_core::topics_lost(error_code const& ec, std::string_view server_text) noexcept {
    has_lost_ = true;
    ++topics_lost_;
    tell({.kind = event_kind::subscriptions_lost, .why = ec, .server_text = server_text});
}

void client_core::lease_failed(error_code const& ec, std::string_view server_text, unsigned attempt,
                               std::chrono::milliseconds pause) noexcept {
    ++leases_failed_;
    tell({.kind = event_kind::lease_failed, .why = ec, .server_text = server_text, .attempt = attempt, .pause = pause});
}

void client_core::cancelled() noexcept {
    cancelled_up_to_ = runs_.load(std::memory_order_relaxed);
    pause_.cancel();
    renewal_.cancel();
    pool_.end_all(fairlead::error::operation_aborted);
}

} // namespace fairlead::redis::impl
