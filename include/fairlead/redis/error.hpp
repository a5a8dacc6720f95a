// The errors of a Redis client beside those of sockets (system), names (fairlead.netdb) and the wire (fairlead.resp3).
#pragma once

#include <fairlead/base/error.hpp>

#include <string_view>

namespace fairlead::redis {

/// Errors of one request and of the connection. A request that was cancelled before it was written completes with
/// fairlead::error::operation_aborted instead: it was certainly not executed.
enum class error {
    // One request; the connection goes on.
    server_error = 1, ///< The server refused a command: result<T>::error_text() keeps what it said. See those from 100.
    incompatible_type, ///< A reply does not fit the C++ type asked for: ask for another type, or a generic_response.
    conversion_failed, ///< A conversion function of the program threw: the command itself was executed.
    response_mismatch, ///< The response has space for another number of replies than the request has: fix the program.
    refused_command,   ///< Unfit for this connection; nothing was sent. See request::refused() and instead().
    too_many_requests, ///< The queue is full (config::requests_max, queued_bytes_max); nothing was sent: try later.

    // One request, because the connection was lost or cancelled.
    not_connected,  ///< No connection, and none is waited for: config::cancel_if_not_connected, a client that gave up,
                    ///< a lease whose connection has ended. Nothing was sent.
    not_sent,       ///< The connection ended before a byte of the request was written: it may be sent again safely.
    maybe_executed, ///< Written at least in part, and no reply came: only the program can know whether to repeat it.

    // The connection, as async_run ends.
    already_running,   ///< async_run is under way on this connection: await that one, or make another connection.
    invalid_address,   ///< config::address is none of host:port, [v6]:port and unix:/path: correct it.
    connect_timed_out, ///< No connection within config::connect_timeout: check address and network, or allow more.
    hello_timed_out,   ///< Connected, but the server did not answer in time: it hangs, or is no Redis server.
    hello_refused,     ///< The server refused to serve: connection::server_text() has its reason.
    auth_refused,      ///< The server refused the credentials: correct them; retrying the same does not help. Its words
                       ///< are connection::server_text().
    resp3_required,    ///< The server speaks RESP2 only, and config::allow_resp2 is not set.
    unexpected_reply,  ///< A reply came that no request waits for: replies cannot be trusted any more.
    pushes_overflow,   ///< Pushes were not received in time, and config::pushes asks to close then.
    server_silent,     ///< Nothing came for a whole config::health_check_interval although an answer was due.

    // One result.
    no_reply, ///< result<T>::value() where no reply was read: look at the error of the request first.

    // The connection again.
    connector_failed, ///< The connector threw no error code, or made a stream that is none of the connection's loop.

    credentials_failed, ///< client_options::ask_credentials threw something that is no system_error.

    // One request, whose limit was over; the connection goes on.
    not_sent_in_time,  ///< Before a byte of it was written: it was not executed.
    no_answer_in_time, ///< After it was written: only the program can know whether to repeat it.

    answers_out_of_order, ///< config::check_order: the answers of this connection cannot be told apart. Executed or
                          ///< not.

    watched_key_changed, ///< optimistic() and set_in_ranges(): before each attempt's EXEC. Nothing was executed: try
                         ///< later, or use a script.

    // One result again.
    missing_field,    ///< A hash lacks a field that a described struct needs: make the member a std::optional.
    memory_too_small, ///< A value is longer than the memory that was given for it: reply_memory::size() has its size.

    // One value in pieces (redis/value_stream.hpp), or in ranges (redis/value_ranges.hpp).
    value_incomplete, ///< Its connection ended, or its source gave too few bytes. A server that was to be given the
                      ///< value has executed nothing.
    value_changed, ///< It was read in ranges, and its key changed meanwhile: what has come is no value. Read it anew.

    // In place of server_error, where the first word of the refusal is known: condition::refused_by_server.
    wrong_type = 100,  ///< WRONGTYPE: the key holds a value of another type.
    no_script,         ///< NOSCRIPT: load it first, or send it with EVAL.
    loading,           ///< LOADING: the server reads its data; try later.
    busy,              ///< BUSY: a script runs; try later, or SCRIPT KILL.
    read_only,         ///< READONLY: a replica takes no writes.
    out_of_memory,     ///< OOM: above maxmemory.
    not_authenticated, ///< NOAUTH
    no_permission,     ///< NOPERM: the user may not do that.
    exec_aborted,      ///< EXECABORT: a command of the transaction was refused before.
    busy_key,          ///< BUSYKEY: RESTORE, without REPLACE, to a key that exists.
    busy_group,        ///< BUSYGROUP: the consumer group exists.
    no_group,          ///< NOGROUP: there is no such stream or consumer group.
    too_few_replicas,  ///< NOREPLICAS: min-replicas-to-write is not met.
    master_down,       ///< MASTERDOWN: a replica without its master.
    cluster_down,      ///< CLUSTERDOWN
    moved,             ///< MOVED: another node of the cluster has the key.
    ask,               ///< ASK: another node has the key for this time.
    try_again,         ///< TRYAGAIN: keys are on their way to another node.
    cross_slot,        ///< CROSSSLOT: keys of one command lie in several slots.
    misconfigured,     ///< MISCONF: the server cannot save, and takes no writes.
    not_busy,          ///< NOTBUSY: no script runs that could be killed.
    wrong_password,    ///< WRONGPASS: of AUTH. A connection that logs in with such a password ends with auth_refused.
};

/// The category of redis::error.
FAIRLEAD_EXPORT error_category const& get_error_category() noexcept;
/// For `error_code ec = redis::error::no_reply`, and for comparisons.
inline error_code make_error_code(error e) noexcept { return {static_cast<int>(e), get_error_category()}; }

/// A property that errors of several sources share: `if (ec == redis::condition::not_executed)`.
enum class condition {
    not_executed = 1,  ///< The commands were certainly not executed: a repetition cannot execute them twice.
    protocol_error,    ///< The server's bytes are no RESP, above a limit, or out of step.
    refused_by_server, ///< server_error, and all that say more of it.
    timed_out,         ///< The limit of a request was over, whether it had been written or not.
};

namespace impl {

/// By the first word of what the server said.
FAIRLEAD_EXPORT error refusal_of(std::string_view text) noexcept;

} // namespace impl

/// The category of redis::condition.
FAIRLEAD_EXPORT error_category const& get_condition_category() noexcept;
/// For `ec == redis::condition::not_executed`.
inline error_condition make_error_condition(condition c) noexcept {
    return {static_cast<int>(c), get_condition_category()};
}

} // namespace fairlead::redis

template <> struct fairlead::impl::base::error_codes::is_error_code_enum<fairlead::redis::error> : std::true_type {};
template <> struct fairlead::impl::base::error_codes::is_error_condition_enum<fairlead::redis::condition>
    : std::true_type {};
