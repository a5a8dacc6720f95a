// How to reach a server, and what to hold while it is slow.
#pragma once

#include <fairlead/resp3/parser.hpp>

#include <chrono>
#include <cstddef>
#include <string>

namespace fairlead::redis {

/// What happens to pushes that nobody receives, beyond config::pushes_max or config::push_bytes_max. Replies are never
/// held up by them: the connection goes on reading.
enum class push_policy : unsigned char {
    drop_oldest, ///< The older half is dropped and counted (counters::pushes_dropped).
    close,       ///< async_run ends with error::pushes_overflow.
};

struct config {
    std::string address = "127.0.0.1:6379"; ///< "host:port", "host", "[v6]:port" or "unix:/path".
    std::string username{};                 ///< Empty: "default".
    std::string password{};                 ///< Empty: no authentication.
    std::string client_name{};              ///< As CLIENT LIST shows it.
    unsigned database = 0;
    bool allow_resp2 = true; ///< Go on with servers older than 6.0; without pushes, so SUBSCRIBE is refused there.

    std::chrono::milliseconds connect_timeout{10'000}; ///< Name look-up and connecting.
    std::chrono::milliseconds hello_timeout{10'000};   ///< From connected until the server's greeting.
    /// After this time without a byte from the server it is sent a PING; after the same time again without an answer
    /// the connection is closed. Longer than the longest script. Zero: never.
    std::chrono::milliseconds health_check_interval{15'000};

    bool cancel_if_not_connected = false; ///< Requests made without a connection fail instead of waiting for one.
    bool keep_unsent = false; ///< Requests not yet written when a connection ends wait for the next async_run.
    bool dedicated = false;   ///< One caller only: SELECT, WATCH, open transactions and blocking commands are allowed.

    std::size_t requests_max = 1024 * 1024;          ///< Waiting for a reply or to be written.
    std::size_t queued_bytes_max = 64 * 1024 * 1024; ///< Not yet given to a write; one request may exceed it alone.
    std::size_t pushes_max = 64 * 1024;              ///< Messages held for async_receive.
    std::size_t push_bytes_max = 16 * 1024 * 1024;   ///< Their bytes.
    push_policy pushes = push_policy::drop_oldest;
    std::size_t read_bytes_min = 16 * 1024;  ///< Asked for at first in one read,
    std::size_t read_bytes_max = 256 * 1024; ///< and at the most, once reads fill it.
    resp3::limits limits{};                  ///< What one message of the server may be.
};

} // namespace fairlead::redis
