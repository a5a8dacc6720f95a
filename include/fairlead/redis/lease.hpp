// A connection of a client's that one caller has to itself.
#pragma once

#include <fairlead/operation/async_result.hpp> // First: its refusals are then shown with few lines about headers.

#include <fairlead/redis/adjusted_calls.hpp>
#include <fairlead/redis/command_set.hpp>
#include <fairlead/redis/connection.hpp>
#include <fairlead/redis/members/transactions.hpp>
#include <fairlead/redis/script_call.hpp>
#include <fairlead/redis/typed_call.hpp>

#include <cstddef>
#include <string>
#include <utility>

namespace fairlead::redis {

namespace impl {

class client_core;

/// Gives a connection back to its client.
class lease_hold {
public:
    lease_hold() noexcept = default;
    FAIRLEAD_EXPORT lease_hold(client_core* client, connection_core& c) noexcept;
    lease_hold(lease_hold&& other) noexcept : client_(std::exchange(other.client_, nullptr)), core_(other.core_) {}
    lease_hold& operator=(lease_hold&& other) noexcept {
        std::swap(client_, other.client_);
        std::swap(core_, other.core_);
        return *this;
    }
    ~lease_hold() {
        if (client_)
            give_back();
    }

    bool holds() const noexcept { return client_ != nullptr; }
    connection_core& core() const noexcept { return *core_; }

private:
    FAIRLEAD_EXPORT void give_back() noexcept;

    client_core* client_ = nullptr; // retained
    connection_core* core_ = nullptr;
};

struct lease_access;

} // namespace impl

/// A connection of redis::client::acquire(), for commands that change the state of a connection: WATCH, MULTI and EXEC
/// in several requests, SELECT. All typed commands are members: `co_await own.watch("k")`.
///
/// It does not reconnect: what it had watched would be lost. Once its connection has ended, requests fail with
/// error::not_connected, and those under way as the comment on connection::async_exec() says. Its destructor gives the
/// connection back. The server is then asked to forget watched keys; after other changes, or with requests under way,
/// the connection is closed. A lease may outlive its client; its requests are then aborted.
///
/// Threads    one at a time
class FAIRLEAD_EXPORT lease : public command_set<lease>, public transactions_of<lease> {
public:
    lease() noexcept = default; ///< Empty: without a connection.
    lease(lease&&) noexcept = default;
    lease& operator=(lease&&) noexcept = default;

    /// It has a connection, or had.
    explicit operator bool() const noexcept { return hold_.holds(); }
    any_io_executor get_executor() const;
    /// Its connection goes on still.
    bool is_ready() const noexcept;
    /// How the server refused the last subscription or session, made fit for a log.
    std::string server_text() const;

    /// As connection::async_exec(), also for requests that are fit for no shared connection.
    /// Completes  (error_code ec, std::size_t n): n bytes of text in the replies
    /// Errors     as there, and error::refused_command  a subscription
    /// Cancel     terminal or partial: before it was written it is taken back; then its replies are dropped when they
    ///            come. Later requests wait for that
    /// Immediate  never
    /// Lifetime   req, resp and the lease outlive the completion; req is not changed meanwhile
    /// Threads    one at a time
    /// Allocates  nothing awaited, after warm-up, beyond what the values need
    template <class Response, class Token = use_await_t>
    decltype(auto) async_exec(request const& req, Response& resp, Token&& token = {}) {
        return completion_token_transform<impl::execute::signature>(
            std::forward<Token>(token), impl::execute(hold_.core(), req, impl::refer_to(resp)));
    }
    /// Executes a typed command, a pipeline of them or a transaction, and gives its result.
    /// Completes  (error_code ec, result_type); the result counts when ec is not set
    /// Errors     as above; what an await throws has the server's words
    /// Cancel     as above
    /// Immediate  never
    /// Lifetime   the command is kept; the lease outlives the completion
    /// Threads    one at a time
    /// Allocates  nothing, after warm-up, beyond what the result needs: a text of more than 15 bytes takes a block
    template <typed_command Command, class Token = use_await_t>
    decltype(auto) async_exec(Command c, Token&& token = {}) {
        return completion_token_transform<typename impl::typed_call<Command>::signature>(
            std::forward<Token>(token), impl::typed_call<Command>(hold_.core(), std::move(c)));
    }
    /// As async_exec() of a client, for a call of a script or of a function of a library.
    template <class Result, class Token = use_await_t>
    decltype(auto) async_exec(script_command<Result> c, Token&& token = {}) {
        return impl::exec_with_code(hold_.core(), std::move(c), std::forward<Token>(token));
    }
    /// As async_exec() of a client, for an unordered_pipeline.
    template <class... Result, class Token = use_await_t>
    decltype(auto) async_exec(unordered_commands<Result...> c, Token&& token = {}) {
        return impl::exec_with_code(hold_.core(), std::move(c), std::forward<Token>(token));
    }
    /// The same operation.
    template <typed_command Command> decltype(auto) call(Command c) { return async_exec(std::move(c)); }
    template <class... Result> decltype(auto) call(unordered_commands<Result...> c) { return async_exec(std::move(c)); }
    /// The same calls with a limit for each, as client::within().
    adjusted_calls<lease> within(std::chrono::milliseconds limit) noexcept {
        return adjusted_calls(*this).within(limit);
    }

private:
    friend class impl::client_core;
    friend struct impl::lease_access;
    void take(impl::lease_hold h) noexcept { hold_ = std::move(h); }

    impl::lease_hold hold_;
};

} // namespace fairlead::redis
