// A client: what keeps its connections, and what they do for it.
//
//     client.cpp          the public face
//     client_session.cpp  connects, and connects again
//     client_topics.cpp   subscribes
//     client_auth.cpp     renews credentials
#pragma once

#include <redis/backoff.hpp>
#include <redis/connection_core.hpp>
#include <redis/lease_pool.hpp>
#include <redis/session_watch.hpp>
#include <redis/subscriptions.hpp>

#include <fairlead/net/timer.hpp>
#include <fairlead/redis/client.hpp>
#include <fairlead/redis/client_statistics.hpp>
#include <fairlead/redis/lease.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace fairlead::redis::impl {

/// Owned by the client object, by its coroutine, and by the connection that it watches until that is closed.
class client_core final : public session_watch {
public:
    client_core(any_io_executor const& ex, config_view const& cfg, connector const* how, client_options options);
    client_core(client_core const&) = delete;
    client_core& operator=(client_core const&) = delete;

    void retain() noexcept override { references_.fetch_add(1, std::memory_order_relaxed); }
    void release() noexcept override {
        if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1)
            delete this;
    }

    connection_core& shared() noexcept { return *shared_; }
    any_io_executor const& executor() const noexcept { return shared_->executor(); }
    any_io_executor io_executor() noexcept { return shared_->io_executor(); }

    struct reference {
        client_core* core;
        explicit reference(client_core* c) noexcept : core(c) { c->retain(); }
        reference(reference&& other) noexcept : core(std::exchange(other.core, nullptr)) {}
        reference& operator=(reference&&) = delete;
        ~reference() {
            if (core)
                core->release();
        }
    };

    // ---- any thread
    awaitable<error_code> run(std::shared_ptr<giving_up> g) {
        return serve(reference(this), runs_.fetch_add(1, std::memory_order_relaxed) + 1, std::move(g));
    }
    void cancel() noexcept { shared_->cancel(); }
    void renew_credentials() noexcept { shared_->renew(); }
    /// The client object goes.
    void close() noexcept;
    client_counters counters() const noexcept;
    connection_counters traffic() noexcept;
    std::size_t pending() noexcept { return shared_->pending() + pool_.pending(); }
    static awaitable<lease> acquire(reference self);
    static awaitable<subscription> subscribe(reference self, kept_topics all, subscription_options limits);
    void leave(subscription_entry& e) noexcept;
    client_statistics statistics();

    // ---- for the other connections; the owner of the loop
    client_options const& options() const noexcept { return options_; }
    config_view settings() const noexcept { return cfg_; }
    config const& own_settings() const noexcept { return cfg_; }
    /// Null: nobody watches its calls.
    std::shared_ptr<call_observer const> const& observer() const noexcept { return observer_; }
    /// Null: with sockets.
    connector const* how() const noexcept { return how_ ? &*how_ : nullptr; }
    /// False: the program has none.
    bool ask_credentials(error_code& ec) noexcept;
    /// Some name is subscribed to, or about to be.
    bool wants_messages() noexcept { return subscriptions_.has_names(); }
    bool pass_on(std::span<resp3::node const> message, std::uint32_t portion) noexcept {
        return subscriptions_.pass_on(message, carried_, portion);
    }
    bool pass_on(std::span<resp3::text_push const> messages, std::uint32_t portion) noexcept {
        return subscriptions_.pass_on(messages, carried_, portion);
    }
    /// A session begins that brings messages, on a connection of its own; it is in force or not; it has ended, or there
    /// was none.
    void topics_opened(request& first);
    void topics_restored(error_code const& ec, std::string_view server_text) noexcept;
    void topics_lost(error_code const& ec, std::string_view server_text) noexcept;
    void lease_failed(error_code const& ec, std::string_view server_text, unsigned attempt,
                      std::chrono::milliseconds pause) noexcept;
    /// Puts it into the lease at `object`.
    void lend(leased_connection& l, void* object) noexcept { static_cast<lease*>(object)->take({this, l.core()}); }

private:
    ~client_core();

    void opened(request& first) override;
    void restored(error_code const& ec) noexcept override;
    bool pushed(std::span<resp3::node const> message, std::uint32_t portion) noexcept override {
        return pass_on(message, portion);
    }
    bool messages_pushed(std::span<resp3::text_push const> all, std::uint32_t portion) noexcept override {
        return pass_on(all, portion);
    }
    void cancelled() noexcept override;
    bool is_cancelled() const noexcept override { return cancelled_up_to_ >= running_; }
    void renewal_wanted() noexcept override;
    void authenticated(error_code const& ec, std::string_view text) noexcept override;

    static awaitable<error_code> serve(reference self, unsigned number, std::shared_ptr<giving_up> g);
    static awaitable<error_code> connect_again(client_core& c, giving_up& g);
    awaitable<error_code> one_session();
    awaitable<bool> is_asked_to_end();
    bool prepare_attempt(error_code& ec) noexcept;
    bool has_ended_for_good(error_code const& ec) noexcept;
    void give_up(error_code const& ec, giving_up& g);
    void tell_of_end(event_kind what, error_code const& ec, std::chrono::milliseconds pause);
    std::chrono::nanoseconds time_left() noexcept;
    std::chrono::milliseconds next_pause() noexcept;
    void tell(client_event const& e) noexcept;
    void tell_restored() noexcept;
    void tell_refused(error_code const& ec, std::string_view server_text) noexcept;
    /// The connection that brings messages is ready.
    bool is_carrier_ready() noexcept;
    void use_new_credentials() noexcept;
    void renew_after(std::chrono::milliseconds t) noexcept;

    std::atomic<unsigned> references_{1};
    config cfg_;
    client_options options_;
    std::optional<connector> how_;
    std::shared_ptr<call_observer const> observer_; // of all its connections, or null
    connection_core* shared_;
    lease_pool pool_;
    steady_timer pause_;
    steady_timer renewal_; // when credentials are asked for again
    subscriptions subscriptions_;

    std::atomic<unsigned> runs_{0}; // so far
    unsigned cancelled_up_to_ = 0;  // of these
    unsigned running_ = 0;          // the last of these that was let in
    bool is_running_ = false;

    backoff pauses_;
    std::int64_t without_since_ns_ = 0;
    bool is_open_ = false;  // the session that is under way became ready
    bool has_lost_ = false; // since all that was declared was last in force

    bool wants_renewal_ = false; // of the shared connection: AUTH could not be sent yet
    bool is_renewed_ = false;    // since its session began, perhaps with the old credentials

    shown_count attempts_, failed_, ready_, lost_, restored_, renewed_, not_renewed_;
    shown_count topics_lost_, refused_, gave_up_, leases_failed_;
    shown_count carried_; // sessions that brought messages
};

} // namespace fairlead::redis::impl
