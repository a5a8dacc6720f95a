#include <fairlead/redis/error.hpp>

#include <fairlead/resp3/error.hpp>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

namespace fairlead::redis {
namespace {

char const* sentence(error e) noexcept {
    switch (e) {
    case error::server_error:
        return "The server refused a command; its own text, which result<T>::error_text() keeps, says why";
    case error::incompatible_type:
        return "A reply does not fit the C++ type asked for: ask for another type, or read it into a generic_response";
    case error::conversion_failed:
        return "A conversion function of the program threw while it read a reply: the command was executed";
    case error::response_mismatch:
        return "The response has space for another number of replies than the request has commands: correct the "
               "program";
    case error::refused_command:
        return "A command is unfit for this connection, so nothing was sent: request::refused() names it, and "
               "request::instead(), or the exception of an await, says what to write (a connection subscribes with "
               "RESP3 only, a client by subscribe())";
    case error::too_many_requests:
        return "Too many requests are waiting, so this one was not sent: try later, or raise config::requests_max or "
               "config::queued_bytes_max";
    case error::not_connected:
        return "There is no connection, so the request was not sent: call async_run, or acquire another lease";
    case error::not_sent: return "The connection ended before the request was written: it may be sent again safely";
    case error::maybe_executed:
        return "The request was written but no reply came: it may or may not have been executed, so repeat it only if "
               "executing it twice does no harm";
    case error::already_running: return "async_run is under way on this connection: await that one first";
    case error::invalid_address: return "The address is none of host:port, [v6]:port and unix:/path: correct it";
    case error::connect_timed_out:
        return "No connection within config::connect_timeout: check the address and the network, or allow more time";
    case error::hello_timed_out:
        return "The server accepted the connection but did not answer in time: it hangs, or is no Redis server";
    case error::hello_refused: return "The server refused to serve this client: see connection::server_text()";
    case error::auth_refused: return "The server refused the user name or password: correct them in config";
    case error::resp3_required: return "The server speaks RESP2 only: set config::allow_resp2, or update the server";
    case error::unexpected_reply:
        return "The server sent a reply that no request waits for: the connection is out of step and was closed";
    case error::pushes_overflow:
        return "Pushes came faster than async_receive took them: receive more often, or raise config::pushes_max";
    case error::server_silent:
        return "The server sent nothing for a whole config::health_check_interval: it hangs or is unreachable";
    case error::no_reply:
        return "There is no reply: the request was not executed, or failed before it came; its own error says why";
    case error::connector_failed:
        return "The connector of the program made no stream on the loop of the connection: correct it, or let it throw "
               "a system_error that says why";
    case error::credentials_failed:
        return "client_options::ask_credentials threw: let it throw a system_error that says why";
    case error::missing_field:
        return "The hash lacks a field that the described struct needs: make the member a std::optional, or give it a "
               "default";
    case error::memory_too_small:
        return "The value is longer than the memory that was given for it: reply_memory::size() has its size";
    case error::value_incomplete:
        return "The connection ended, or the source did, before all of the value had passed: a server that was to be "
               "given it has executed nothing";
    case error::value_changed:
        return "The key changed while its value was read in ranges, so what has come is no value: read it anew";
    case error::wrong_type: return "The key holds a value of another type than the command is for (WRONGTYPE)";
    case error::no_script: return "The server does not know the script: load it, or send it with EVAL (NOSCRIPT)";
    case error::loading: return "The server is still reading its data: try later (LOADING)";
    case error::busy: return "The server runs a script: try later, or end it with SCRIPT KILL (BUSY)";
    case error::read_only: return "The server is a replica, which takes no writes: write to its master (READONLY)";
    case error::out_of_memory: return "The server is above its maxmemory, and takes no writes (OOM)";
    case error::not_authenticated: return "The server wants a password first: set config::password (NOAUTH)";
    case error::no_permission: return "The user may not do that: see ACL GETUSER (NOPERM)";
    case error::exec_aborted: return "A command of the transaction was refused, so none was executed (EXECABORT)";
    case error::busy_key: return "The key exists already: RESTORE wants REPLACE (BUSYKEY)";
    case error::busy_group: return "The consumer group exists already (BUSYGROUP)";
    case error::no_group: return "There is no such stream, or no such consumer group (NOGROUP)";
    case error::too_few_replicas: return "Too few replicas are connected for a write (NOREPLICAS)";
    case error::master_down: return "The replica has no connection to its master (MASTERDOWN)";
    case error::cluster_down: return "The cluster does not serve this slot now (CLUSTERDOWN)";
    case error::moved: return "Another node of the cluster has the key (MOVED)";
    case error::ask: return "Another node of the cluster has the key for this time (ASK)";
    case error::try_again: return "The keys are on their way to another node of the cluster: try later (TRYAGAIN)";
    case error::cross_slot: return "The keys of the command lie in several slots of the cluster (CROSSSLOT)";
    case error::misconfigured: return "The server cannot save its data, and takes no writes: see its log (MISCONF)";
    case error::not_busy: return "No script runs that could be ended (NOTBUSY)";
    case error::wrong_password: return "The password is not that of the user, or the user is disabled (WRONGPASS)";
    case error::not_sent_in_time:
        return "The time of the call was over before the request was written: it was not executed; allow more time, or "
               "see why there is no connection";
    case error::no_answer_in_time:
        return "The time of the call was over before the reply came: it may or may not have been executed, so repeat "
               "it "
               "only if executing it twice does no harm";
    case error::answers_out_of_order:
        return "The server did not answer the token of config::check_order: the answer may be another request's, so it "
               "was dropped; whether the request was executed is unknown";
    case error::watched_key_changed:
        return "A watched key changed before EXEC in each attempt, so nothing was executed: try later, or do it in a "
               "script";
    }
    return nullptr;
}

bool is_not_executed(error_code const& ec) noexcept {
    return ec == error::not_sent || ec == error::not_connected || ec == error::too_many_requests ||
           ec == error::refused_command || ec == error::response_mismatch || ec == error::not_sent_in_time ||
           ec == error::watched_key_changed || ec == fairlead::error::operation_aborted;
}

bool is_protocol_error(error_code const& ec) noexcept {
    if (ec.category() == resp3::get_error_category())
        return ec.value() < static_cast<int>(resp3::error::not_an_integer);
    return ec == error::unexpected_reply;
}

bool is_refusal(error_code const& ec) noexcept {
    return ec.category() == get_error_category() &&
           (ec == error::server_error || ec.value() >= static_cast<int>(error::wrong_type));
}

class category final : public error_category {
public:
    char const* name() const noexcept override { return "fairlead.redis"; }
    std::string message(int value) const override {
        char const* const text = sentence(static_cast<error>(value));
        return text ? text : "fairlead.redis error " + std::to_string(value);
    }
};

// A category of its own: in that of the errors, the first condition would be the first error.
class condition_category final : public error_category {
public:
    char const* name() const noexcept override { return "fairlead.redis.condition"; }
    std::string message(int value) const override {
        switch (static_cast<condition>(value)) {
        case condition::not_executed: return "The commands were certainly not executed: they may be sent again";
        case condition::protocol_error:
            return "The server's bytes are no RESP, above a limit, or out of step: drop the connection";
        case condition::refused_by_server: return "The server refused a command";
        case condition::timed_out: return "The time of the call was over";
        }
        return "fairlead.redis.condition " + std::to_string(value);
    }
    bool equivalent(error_code const& ec, int wanted) const noexcept override {
        switch (static_cast<condition>(wanted)) {
        case condition::not_executed: return is_not_executed(ec);
        case condition::protocol_error: return is_protocol_error(ec);
        case condition::refused_by_server: return is_refusal(ec);
        case condition::timed_out: return ec == error::not_sent_in_time || ec == error::no_answer_in_time;
        }
        return false;
    }
    using error_category::equivalent;
};

struct known_refusal {
    std::string_view word;
    error meaning;
};
constexpr known_refusal known_refusals[] = {
    {"WRONGTYPE", error::wrong_type},
    {"NOSCRIPT", error::no_script},
    {"LOADING", error::loading},
    {"BUSY", error::busy},
    {"READONLY", error::read_only},
    {"OOM", error::out_of_memory},
    {"NOAUTH", error::not_authenticated},
    {"NOPERM", error::no_permission},
    {"EXECABORT", error::exec_aborted},
    {"BUSYKEY", error::busy_key},
    {"BUSYGROUP", error::busy_group},
    {"NOGROUP", error::no_group},
    {"NOREPLICAS", error::too_few_replicas},
    {"MASTERDOWN", error::master_down},
    {"CLUSTERDOWN", error::cluster_down},
    {"MOVED", error::moved},
    {"ASK", error::ask},
    {"TRYAGAIN", error::try_again},
    {"CROSSSLOT", error::cross_slot},
    {"MISCONF", error::misconfigured},
    {"NOTBUSY", error::not_busy},
    {"WRONGPASS", error::wrong_password},
};

} // namespace

error impl::refusal_of(std::string_view text) noexcept {
    auto const word = text.substr(0, text.find(' '));
    auto const* const found = std::ranges::find(known_refusals, word, &known_refusal::word);
    return found == std::end(known_refusals) ? error::server_error : found->meaning;
}

error_category const& get_error_category() noexcept {
    static category const instance;
    return instance;
}

error_category const& get_condition_category() noexcept {
    static condition_category const instance;
    return instance;
}

} // namespace fairlead::redis
