// Typed commands with a limit for each: `co_await db.within(50ms).get("key")`.
#pragma once

#include <fairlead/base/durations.hpp>
#include <fairlead/operation/default_token.hpp>
#include <fairlead/redis/command_set.hpp>

#include <utility>

namespace fairlead::redis {

/// The calls of a client or a lease, each with a limit of its own: within() of these makes it. The limit is a number in
/// the call: it takes no memory, and disturbs no other call. It covers waiting for a connection, queueing and the
/// reply. A command that waits in the server, such as BLPOP, has its own time in addition, once it is written; for_ever
/// adds nothing. A call that is over ends with error::not_sent_in_time or no_answer_in_time, condition::timed_out.
///
/// Lifetime   outlived by the client or the lease; its calls do not need it
template <class Caller> class limited_calls : public command_set<limited_calls<Caller>> {
public:
    limited_calls(Caller& c, std::chrono::milliseconds limit) noexcept : caller_(&c), limit_(limit) {}

    /// Executes a typed command, a pipeline of them, a transaction, or a script, within the limit. That of a script
    /// covers its second attempt, with the source.
    /// Completes  (error_code ec, result_type); the result counts when ec is not set
    /// Errors     as client::async_exec()
    /// Cancel     as there
    /// Immediate  never
    /// Lifetime   the command is kept
    /// Threads    as the client or the lease
    /// Allocates  as there
    template <class Command, class Token = use_await_t> decltype(auto) async_exec(Command c, Token&& token = {}) {
        c.set_timeout(limit_);
        return caller_->async_exec(std::move(c), std::forward<Token>(token));
    }
    /// The same operation.
    template <class Command> decltype(auto) call(Command c) { return async_exec(std::move(c)); }

private:
    Caller* caller_;
    std::chrono::milliseconds limit_;
};

} // namespace fairlead::redis
