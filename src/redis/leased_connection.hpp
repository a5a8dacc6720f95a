// A connection that one request, or one caller, has to itself for a time.
#pragma once

#include <redis/backoff.hpp>
#include <redis/connection_core.hpp>
#include <redis/session_watch.hpp>

#include <fairlead/net/timer.hpp>

#include <span>

namespace fairlead::redis::impl {

class lease_pool;

/// Lives as long as the client, beyond its sessions. Used by the owner of the loop; any thread may ask core().
class leased_connection final : public session_watch {
public:
    leased_connection(lease_pool& pool, connection_core& like, connector const* how, std::uint8_t repeats);
    ~leased_connection();

    enum class state : unsigned char {
        cold,       ///< without a session
        connecting, ///< or between two attempts
        free,
        busy,      ///< with one request
        lent,      ///< to a caller
        lost,      ///< ... and its session has ended
        returning, ///< it forgets what the caller has done, or gets new credentials
    };
    state now_in() const noexcept { return state_; }
    connection_core& core() noexcept { return *core_; }

    /// Cold: connects, as long as somebody waits for a connection.
    /// Throws     bad_alloc
    void connect();
    /// Free: executes one request.
    void execute(exec_op& o) noexcept;
    /// Free: a caller's from now on.
    void lend() noexcept;
    /// The client has new credentials: its session gets them, if there is one.
    void renew() noexcept;
    /// All of its requests end, and its session.
    void end() noexcept;
    /// The client object goes.
    void close() noexcept;

    void retain() noexcept override;
    void release() noexcept override;

private:
    void opened(request&) override;
    void restored(error_code const& ec) noexcept override;
    bool pushed(std::span<resp3::node const>, std::uint32_t) noexcept override { return false; }
    bool messages_pushed(std::span<resp3::text_push const>, std::uint32_t) noexcept override { return false; }
    void cancelled() noexcept override { pause_.cancel(); }
    void left_alone(bool answers_due) noexcept override;
    void given_back() noexcept override;
    void authenticated(error_code const& ec, std::string_view text) noexcept override;
    bool try_renewal() noexcept;

    static awaitable<void> serve(leased_connection& l);
    awaitable<error_code> one_session();
    bool goes_on_after_session() noexcept;
    void tell_of_failure(error_code const& ec, std::chrono::milliseconds pause) noexcept;
    void become_free() noexcept;
    void forget_what_was_done() noexcept;

    lease_pool& pool_;
    connection_core* core_;
    steady_timer pause_; // between two attempts, or until it is closed unused
    backoff pauses_;
    state state_ = state::cold;
    bool wants_renewal_ = false;
    bool has_opened_ = false; // the session that is under way, or was the last one
};

} // namespace fairlead::redis::impl
