// The embedded server without sockets: bytes of a client in, bytes for it out. For tests of programs that use Redis,
// and for programs that want to speak its protocol. No I/O, no clock, no globals, no threads.
#pragma once

#include <fairlead/base/config.hpp>
#include <fairlead/redis_server/script.hpp>

#include <cstddef>
#include <cstdint>
#include <fairlead/base/durations.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace fairlead::redis {

namespace server_impl {
struct kept_databases;
struct server_state;
struct server_session;
} // namespace server_impl

/// The keys of an embedded server, apart from it. A server that is killed leaves them, as if it had written each change
/// to a disk at once. The next one that is made with them has them. Clients, subscriptions and scripts go with the
/// server.
///
/// Threads    that of the server which has them
class FAIRLEAD_EXPORT server_data {
public:
    server_data();
    ~server_data();
    server_data(server_data const&) = delete;
    server_data& operator=(server_data const&) = delete;

private:
    friend class server_engine;
    std::unique_ptr<server_impl::kept_databases> kept_;
};

/// The limits of the embedded server for its clients, and its clock.
struct server_engine_options {
    server_engine_options() = default; // No aggregate, as server_options.

    std::string password;       ///< For AUTH; empty: clients need none.
    bool has_hello = true;      ///< false: HELLO is an unknown command, as before Redis 6.0, and clients speak RESP2.
    std::size_t databases = 16; ///< SELECT 0 to databases - 1.
    std::size_t arguments_max = 1024 * 1024;               ///< Of one command.
    std::size_t bulk_bytes_max = 512 * 1024 * 1024;        ///< Of one argument, and of a string value.
    std::size_t inline_bytes_max = 64 * 1024;              ///< Of a command typed as a line.
    std::size_t transaction_bytes_max = 64 * 1024 * 1024;  ///< Queued between MULTI and EXEC, or behind a wait.
    std::size_t push_backlog_bytes_max = 32 * 1024 * 1024; ///< Output not taken: a subscriber beyond it is closed.
    std::uint64_t process_id = 0;                          ///< Shown by INFO.
    std::shared_ptr<server_data> data;                     ///< Keys that outlive the server; null: they go with it.
    /// Time since the Unix epoch, for keys that expire. Without one time stands still, and so nothing expires.
    std::function<std::chrono::milliseconds()> clock;
};

/// The common state of the clients: databases, subscriptions, the list of clients. Replies depend on the order of the
/// bytes fed and on the clock alone. Keys, fields and members, which have no order, are listed in ascending order.
///
/// Lifetime   outlives its clients
/// Threads    none; the engine and all of its clients are one object to a thread
class FAIRLEAD_EXPORT server_engine {
public:
    class client;

    /// Throws     std::logic_error    another engine has the data of the options
    explicit server_engine(server_engine_options options = {});
    ~server_engine();
    server_engine(server_engine const&) = delete;
    server_engine& operator=(server_engine const&) = delete;

    std::size_t client_count() const noexcept;
    std::uint64_t commands_run() const noexcept;

    /// `run` is the script whose text is `body`, which is only compared: there is no Lua. Returns its SHA-1. EVALSHA
    /// finds the script once EVAL or SCRIPT LOAD has named its text, as with a real server, and not after SCRIPT FLUSH.
    std::string add_script(std::string_view body, server_script run);
    /// As add_script(), for a test that does not have the text. The script counts as loaded.
    void add_script_of_sha1(std::string_view sha1, server_script run);
    /// `run` is the function that FCALL calls by this name.
    void add_function(std::string_view name, server_script run);

    /// The earliest time limit, by the clock, of the commands that wait (BLPOP and its kin); nothing when there is
    /// none.
    std::optional<std::chrono::milliseconds> next_time_limit() const noexcept;
    /// Answers the commands that have waited for too long. An owner with a timer calls it at next_time_limit(). Without
    /// one, that happens when any client is fed.
    void end_late_waits();

private:
    std::unique_ptr<server_impl::server_state> state_;
};

/// One connection. The owner moves bytes: it feeds those that it receives to feed(), and sends and then erases those in
/// output(). Once wants_close() is true and output() is empty, it closes.
class FAIRLEAD_EXPORT server_engine::client {
public:
    /// `address` is only shown in CLIENT LIST.
    explicit client(server_engine& engine, std::string_view address = {});
    ~client();
    client(client const&) = delete;
    client& operator=(client const&) = delete;

    /// Runs the commands that these bytes complete and appends the replies to output(). Incomplete commands wait, any
    /// cut is fine. Does nothing once wants_close() is true.
    void feed(std::string_view bytes);

    /// The bytes to be sent. Take them out (swap, move) before an asynchronous write: commands of other clients append.
    std::string& output() noexcept;
    bool wants_close() const noexcept;
    std::uint64_t id() const noexcept;

    /// `changed` is called when this one got output by something else than its own commands. That is a published
    /// message, the end of a wait, or the decision that it has to close. It runs at the end of another client's feed(),
    /// or of end_late_waits(), once for each. It may destroy any client, but not call feed().
    void on_output(std::function<void()> changed);

private:
    std::unique_ptr<server_impl::server_session> session_;
};

} // namespace fairlead::redis
