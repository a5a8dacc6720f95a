// The connection of a client that brings the messages of its subscriptions, where the shared one cannot.
//
// With RESP2 a message looks like a reply, and a connection that is subscribed executes nothing else. So calls stay on
// the shared connection, and what concerns subscriptions goes here.
#pragma once

#include <redis/backoff.hpp>
#include <redis/connection_core.hpp>
#include <redis/session_watch.hpp>

#include <fairlead/net/timer.hpp>

#include <cstdint>
#include <span>

namespace fairlead::redis::impl {

class client_core;

/// Lives as long as the client, beyond its sessions. Used by the owner of the loop; any thread may ask core(). It
/// connects as long as somebody wants messages and the shared connection says that there is a server.
class topic_connection final : public session_watch {
public:
    explicit topic_connection(client_core& c);
    ~topic_connection();

    connection_core& core() noexcept { return *core_; }
    /// All that was declared has been confirmed.
    bool is_in_force() const noexcept { return is_in_force_; }

    /// Executes a request that the shared connection has admitted.
    void execute(exec_op& o) noexcept;
    /// Connects, unless that is under way or nobody needs it.
    void connect_if_needed() noexcept;
    /// The shared connection brings the messages from now on. Requests that wait end as those that were lost.
    void retire() noexcept;
    /// All of its requests end, and its session.
    void end() noexcept;
    /// The client object goes.
    void close() noexcept;

    void retain() noexcept override;
    void release() noexcept override;

private:
    void opened(request& first) override;
    void restored(error_code const& ec) noexcept override;
    bool pushed(std::span<resp3::node const> message, std::uint32_t portion) noexcept override;
    bool messages_pushed(std::span<resp3::text_push const> all, std::uint32_t portion) noexcept override;
    void cancelled() noexcept override;
    void left_alone(bool answers_due) noexcept override;

    static awaitable<void> serve(topic_connection& t);
    awaitable<error_code> one_session();
    bool is_needed() noexcept;

    client_core& client_;
    connection_core* core_;
    steady_timer pause_; // between two attempts
    steady_timer idle_;  // until it is closed unused
    backoff pauses_;
    bool is_running_ = false;    // serve() is
    bool is_in_session_ = false; // or on the way to one
    bool is_over_ = false;       // until it is needed again
    bool is_in_force_ = false;
    bool is_idle_ = false;
};

} // namespace fairlead::redis::impl
