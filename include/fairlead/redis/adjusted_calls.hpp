// Typed commands with a limit for each, or that may be repeated: `co_await db.within(50ms).repeatable().set("k", v)`.
#pragma once

#include <fairlead/base/durations.hpp>
#include <fairlead/operation/default_token.hpp>
#include <fairlead/redis/command_set.hpp>

#include <concepts>
#include <optional>
#include <utility>

namespace fairlead::redis {

class client;

/// The calls of a client or a lease, each with a limit of its own, or repeatable: within() and repeatable() of these
/// make it. The limit is a number in the call: it takes no memory, and disturbs no other call. It covers waiting for a
/// connection, queueing and the reply. A command that waits in the server, such as BLPOP, has its own time in addition,
/// once it is written; for_ever adds nothing. A call that is over ends with error::not_sent_in_time or
/// no_answer_in_time, condition::timed_out.
///
/// Lifetime   outlived by the client or the lease; its calls do not need it
template <class Caller> class adjusted_calls : public command_set<adjusted_calls<Caller>> {
public:
    explicit adjusted_calls(Caller& c) noexcept : caller_(&c) {}

    /// The same calls, with that limit. Zero or less: config::request_timeout.
    adjusted_calls within(std::chrono::milliseconds limit) const noexcept {
        auto changed = *this;
        changed.limit_ = limit;
        return changed;
    }
    /// The same calls, whose commands may be executed twice: request::set_repeatable(). A lease repeats nothing, for
    /// its next connection would have another state.
    adjusted_calls repeatable() const noexcept
        requires std::same_as<Caller, client>
    {
        auto changed = *this;
        changed.is_repeatable_ = true;
        return changed;
    }

    /// Executes a typed command, a pipeline of them, a transaction, or a script, so. The limit of a script covers its
    /// second attempt, with the source.
    /// Completes  (error_code ec, result_type); the result counts when ec is not set
    /// Errors     as client::async_exec()
    /// Cancel     as there
    /// Immediate  never
    /// Lifetime   the command is kept
    /// Threads    as the client or the lease
    /// Allocates  as there
    template <class Command, class Token = use_await_t> decltype(auto) async_exec(Command c, Token&& token = {}) {
        if (limit_)
            c.set_timeout(*limit_);
        if (is_repeatable_)
            c.set_repeatable();
        return caller_->async_exec(std::move(c), std::forward<Token>(token));
    }
    /// The same operation.
    template <class Command> decltype(auto) call(Command c) { return async_exec(std::move(c)); }

private:
    Caller* caller_;
    std::optional<std::chrono::milliseconds> limit_;
    bool is_repeatable_ = false;
};

} // namespace fairlead::redis
