// How a client keeps its connection, and what it tells of that.
#pragma once

#include <fairlead/base/durations.hpp>
#include <fairlead/base/error.hpp>
#include <fairlead/redis/call_hooks.hpp>
#include <fairlead/redis/retry.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace fairlead::redis {

class call_statistics;

/// A change in the state of a client's connection.
enum class event_kind : unsigned char {
    connecting, ///< An attempt begins: event::attempt.
    ready,      ///< The server serves; subscriptions have been sent for before all requests.
    lost,       ///< A connection that was ready has ended: event::why. Pushes may be missed until the next restored.
    failed,     ///< An attempt has failed: event::why.
    refused,    ///< The server refused a subscription: event::server_text.
    restored,   ///< After a loss, all subscriptions are in force again. Messages of the time between were missed.
    /// With RESP2: the connection that brings messages has ended, or could not be made: event::why. Calls go on.
    /// Messages may be missed until the next restored.
    subscriptions_lost,
    gave_up,     ///< async_run ends: event::why. Calls fail at once from now on.
    renewed,     ///< The shared connection has new credentials, without being made anew.
    not_renewed, ///< It has not: event::why, and event::server_text of a refusal. It goes on with the old ones.
    /// A connection beside the shared one could not be made, for a blocking command or a lease: event::why, and
    /// event::server_text. Those who wait for one go on waiting.
    lease_failed,
};

/// The argument of client_options::on_event. Its texts are of the call only.
struct client_event {
    event_kind kind;
    error_code why{};
    std::string_view server_text{};     ///< How the server put a refusal, made fit for a log; else empty.
    unsigned attempt = 0;               ///< Since the last connection that was ready, from 1.
    std::chrono::milliseconds pause{0}; ///< lost, failed, lease_failed: the time until the next attempt.
    std::string_view recent_events{};   ///< lost, failed, gave_up: as client::recent_events(). Else empty.
};

/// User name and password, as in config.
struct credentials {
    std::string username{};
    std::string password{};
    /// The time after which they are asked for again, while there is a connection: AUTH then goes out on it. Zero: with
    /// the next connection, or when client::renew_credentials() is called.
    std::chrono::milliseconds valid_for{0};
};

/// The part of a client's behaviour that is not that of one connection.
struct client_options {
    /// The longest pause before the first new attempt. It doubles with each attempt that fails, up to pause_max. The
    /// pause is a random part of it ("full jitter"), so that clients of one server do not all come back at once.
    std::chrono::milliseconds pause_min{50};
    std::chrono::milliseconds pause_max{10'000};
    unsigned attempts_max = 0; ///< In a row, before async_run gives up. 0: for ever.
    /// The time without a connection after which async_run gives up. Zero: for ever. The attempt that is under way then
    /// ends with error::connect_timed_out or hello_timed_out, and the last pause is shorter.
    std::chrono::milliseconds give_up_after{0};

    /// How often a request is sent anew when the connection was lost before its reply. It only reads, or the program
    /// says that it may be repeated (request::set_repeatable()). Others are never sent anew once a byte of them was
    /// written: they end with error::maybe_executed.
    std::uint8_t repeats_max = 2;
    retry_policy retry{}; ///< Of requests that the server has refused for now.

    /// Connections beside the shared one, at the most: for requests that block or are apart, and for leases. They are
    /// made when needed; who finds none waits for one. 0: such requests are refused.
    std::size_t leases_max = 16;
    std::chrono::milliseconds lease_idle{30'000}; ///< The time after which an unused one is closed.

    /// Messages that a subscription holds for a slow reader, before it loses the oldest. One subscription may have
    /// other limits: subscription_options.
    std::size_t subscription_buffer = 4096;
    /// Their bytes: of all their texts, with 40 more for each message. The newest one is held whatever its size.
    std::size_t subscription_bytes = 16 * 1024 * 1024;

    /// Asked before each connection, in place of config::username and password: for those that change. It runs on the
    /// client's loop. An exception of it ends the attempt. It is also asked when credentials::valid_for is over, and by
    /// client::renew_credentials(). After an exception the connections go on then, and it is asked again after
    /// pause_max.
    std::function<credentials()> ask_credentials{};
    /// Runs on the client's loop, and may use the client. It must not throw.
    std::function<void(client_event const&)> on_event{};

    /// Counts the calls by command (redis/call_statistics.hpp). Null: nobody does, and it costs nothing.
    std::shared_ptr<call_statistics> statistics{};
    /// Called before and after each call (redis/call_hooks.hpp), which costs nothing where there are none. They must
    /// not use the client. Their exceptions are dropped: the call goes on, and its caller gets its result.
    before_call_hook before_call{};
    after_call_hook after_call{};
};

/// The work of a client so far. Each number is exact by itself.
struct client_counters {
    std::uint64_t attempts; ///< Connections begun.
    std::uint64_t failed;   ///< ... that did not become ready.
    std::uint64_t ready;    ///< ... that did.
    std::uint64_t lost;     ///< ... and ended, other than by cancel().
    std::uint64_t restored; ///< Losses after which all that was declared is in force again.
    /// Connections of subscriptions that ended or could not be made, with RESP2.
    std::uint64_t subscriptions_lost;
    std::uint64_t repeated; ///< Requests that were sent anew, since a connection was lost or the server was not able.
    std::uint64_t renewed;  ///< New credentials that the server accepted on the shared connection.
    std::uint64_t not_renewed;   ///< ... that it refused, or that there were none.
    std::uint64_t refused;       ///< Times that the server refused a subscription when it was to be restored.
    std::uint64_t gave_up;       ///< Times that async_run gave up.
    std::uint64_t leases_failed; ///< Connections beside the shared one that could not be made.
};

} // namespace fairlead::redis
