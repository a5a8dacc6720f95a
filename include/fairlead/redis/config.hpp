// How to reach a server, and what to hold while it is slow.
#pragma once

#include <fairlead/resp3/parser.hpp>

#include <cstddef>
#include <fairlead/base/durations.hpp>
#include <string>
#include <string_view>

namespace fairlead::redis {

/// The fate of pushes that nobody receives, beyond config::pushes_max or config::push_bytes_max. They never hold up
/// replies: the connection goes on reading.
enum class push_policy : unsigned char {
    drop_oldest, ///< The older half is dropped and counted (counters::pushes_dropped).
    close,       ///< async_run ends with error::pushes_overflow.
};

/// The common part of config and config_view: all of the settings.
template <class Text> struct basic_config {
    Text address = "127.0.0.1:6379"; ///< "host:port", "host", "[v6]:port" or "unix:/path".
    Text username{};                 ///< Empty: "default".
    Text password{};                 ///< Empty: no authentication.
    Text client_name{};              ///< As CLIENT LIST shows it.
    unsigned database = 0;
    /// Go on with servers older than 6.0. A connection refuses SUBSCRIBE there; a client has one more for
    /// subscriptions.
    bool allow_resp2 = true;

    std::chrono::milliseconds connect_timeout{10'000}; ///< Name look-up and connecting.
    std::chrono::milliseconds hello_timeout{10'000};   ///< From connected until the server's greeting.
    /// After this time without a byte from the server it is sent a PING. After the same time again without a byte the
    /// connection is closed, by default after 30 s. The comment on connection says what is not counted. Make it longer
    /// than anything that keeps the server from answering, such as a script. Zero: never.
    std::chrono::milliseconds health_check_interval{15'000};

    /// Of each request, from its start until its last reply. Those that wait in the server, such as BLPOP, have their
    /// own time in addition, from their first byte on. Where that is for ever, this covers only the time before. For
    /// one request alone call request::set_timeout(). Zero: none.
    std::chrono::milliseconds request_timeout{0};

    bool cancel_if_not_connected = false; ///< Requests made without a connection fail instead of waiting for one.
    bool keep_unsent = false; ///< Requests not yet written when a connection ends wait for the next async_run.
    /// Behind each batch of requests a PING is sent with a token that no other has. Until the server has answered with
    /// that token, none of these requests completes. Any other answer ends the session, and they end with
    /// error::answers_out_of_order: the server, or something on the way to it, has mixed up the answers. A refusal as
    /// any command gets it, such as LOADING, is no other answer.
    bool check_order = false;
    bool dedicated = false; ///< One caller only: SELECT, WATCH, open transactions and blocking commands are allowed.

    /// With requests_max or queued_bytes_max reached, requests wait for room, in their order, instead of failing with
    /// error::too_many_requests. Their limits go on.
    bool wait_when_full = false;
    std::size_t requests_max = 1024 * 1024;          ///< Waiting for a reply or to be written.
    std::size_t queued_bytes_max = 64 * 1024 * 1024; ///< Not yet given to a write; one request may exceed it alone.
    std::size_t pushes_max = 64 * 1024;              ///< Messages held for async_receive.
    std::size_t push_bytes_max = 16 * 1024 * 1024;   ///< Their bytes.
    push_policy pushes = push_policy::drop_oldest;
    std::size_t read_bytes_min = 16 * 1024;  ///< Asked for at first in one read,
    std::size_t read_bytes_max = 256 * 1024; ///< and at the most, once reads fill it.
    resp3::limits limits{};                  ///< Of one message of the server.
};

/// The argument of connection::async_run, which copies it: a config, or settings in place, `{.address = "redis:6379"}`.
/// Its texts are those of others, so that it needs no destructor. With g++ 12 a temporary aggregate that is made inside
/// a co_await expression is destroyed twice.
using config_view = basic_config<std::string_view>;

/// Settings of one's own: `config c; c.address = ...`, or `config c({.address = "redis:6379"})`.
struct config : basic_config<std::string> {
    config() = default;
    FAIRLEAD_EXPORT config(config_view const& settings);
    FAIRLEAD_EXPORT operator config_view() const noexcept; ///< of this object's texts
};

} // namespace fairlead::redis
