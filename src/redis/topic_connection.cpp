#include <redis/topic_connection.hpp>

#include <redis/client_core.hpp>

#include <fairlead/base/at_scope_end.hpp>
#include <fairlead/coro/spawn.hpp>
#include <fairlead/token/adapters.hpp>

#include <algorithm>
#include <tuple>

namespace fairlead::redis::impl {

topic_connection::topic_connection(client_core& c)
    : client_(c),
      core_(new connection_core(c.shared(), c.how())),
      pause_(core_->io_executor()),
      idle_(core_->io_executor()) {
    core_->retain(); // beside the reference that its close() gives back
    core_->carries_topics();
    if (c.observer())
        core_->is_observed_by(c.observer());
    core_->is_watched_by(*this, 0);
}

topic_connection::~topic_connection() { core_->release(); }

void topic_connection::retain() noexcept { client_.retain(); }
void topic_connection::release() noexcept { client_.release(); }

// ---- its sessions

bool topic_connection::is_needed() noexcept {
    auto& shared = client_.shared();
    return !is_over_ && shared.is_connected() && shared.protocol() == resp3::version::resp2 &&
           (client_.wants_messages() || core_->pending() != 0);
}

void topic_connection::connect_if_needed() noexcept {
    is_over_ = false;
    if (is_running_ || !is_needed())
        return;
    try {
        core_->accept_requests();
        co_spawn(core_->io_executor(), serve(*this), detached);
        is_running_ = true;
    } catch (...) { // Without memory: what waits ends when its time is over, or with the client.
    }
}

awaitable<void> topic_connection::serve(topic_connection& t) {
    client_core::reference const kept(&t.client_);
    fairlead::impl::base::at_scope_end const end([&t] { t.is_running_ = false; });
    while (t.is_needed()) {
        t.pauses_.begin_attempt();
        error_code ec;
        if (t.client_.ask_credentials(ec)) {
            auto session = t.one_session();
            ec = co_await std::move(session);
        }
        t.is_in_force_ = false;
        if (!t.is_over_ && t.client_.wants_messages())
            t.client_.topics_lost(ec, t.core_->server_text());
        if (!t.is_needed())
            break;
        auto const& o = t.client_.options();
        t.pause_.expires_after(t.pauses_.next_pause(o.pause_min, o.pause_max, t.client_.shared().chance()));
        auto waiting = t.pause_.async_wait(as_tuple);
        co_await std::move(waiting);
    }
}

awaitable<error_code> topic_connection::one_session() {
    auto cfg = client_.settings();
    cfg.check_order = false; // The answer to its PING looks like a message.
    is_in_session_ = true;
    auto running = completion_token_transform<impl::run::signature>(as_tuple, impl::run(*core_, keep_settings(cfg)));
    auto const [ec] = co_await std::move(running);
    is_in_session_ = false;
    idle_.cancel();
    co_return ec;
}

void topic_connection::opened(request& first) {
    pauses_.succeeded();
    client_.topics_opened(first);
}

void topic_connection::restored(error_code const& ec) noexcept {
    is_in_force_ = !ec;
    client_.topics_restored(ec, core_->server_text());
}

bool topic_connection::pushed(std::span<resp3::node const> message, std::uint32_t portion) noexcept {
    return client_.pass_on(message, portion);
}

bool topic_connection::messages_pushed(std::span<resp3::text_push const> all, std::uint32_t portion) noexcept {
    return client_.pass_on(all, portion);
}

/// Nothing is asked for at this moment. When nobody wants messages either, it stays for a time.
void topic_connection::left_alone(bool) noexcept {
    if (is_idle_ || client_.wants_messages())
        return;
    try {
        idle_.expires_after(std::min<std::chrono::milliseconds>(client_.options().lease_idle, for_ever));
        idle_.async_wait([this, kept = client_core::reference(&client_)](error_code const& ec) {
            is_idle_ = false;
            if (!ec && core_->pending() == 0 && !client_.wants_messages())
                core_->drop();
        });
        is_idle_ = true;
    } catch (...) { // It stays open.
    }
}

// ---- its users

void topic_connection::execute(exec_op& o) noexcept {
    if (core_->take_over(o))
        connect_if_needed();
}

void topic_connection::retire() noexcept {
    is_over_ = true;
    pause_.cancel();
    core_->refuse_when_lost();
    if (is_in_session_)
        core_->drop();
    else
        core_->refuse_requests();
}

void topic_connection::end() noexcept {
    is_over_ = true;
    pause_.cancel();
    core_->cancel();
}

/// On the loop, also where the connection is closed by the thread that destroys the client.
void topic_connection::cancelled() noexcept {
    is_over_ = true;
    pause_.cancel();
    idle_.cancel();
}

void topic_connection::close() noexcept { core_->close(); }

} // namespace fairlead::redis::impl
