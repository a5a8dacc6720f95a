// How a client calls a script: by its name, and with its source when the server does not have it.
#pragma once

#include <fairlead/coro/awaitable.hpp>
#include <fairlead/coro/spawn.hpp>
#include <fairlead/operation/associated.hpp>
#include <fairlead/operation/give_exception.hpp>
#include <fairlead/operation/pass_on.hpp>
#include <fairlead/redis/connection.hpp>
#include <fairlead/redis/hold.hpp>
#include <fairlead/redis/script.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/block.hpp>

#include <exception>
#include <string>
#include <type_traits>
#include <utility>

namespace fairlead::redis::impl {

/// Executes `by_name`; when the server lacks the code, gives it the code, and executes once more. Throws system_error.
FAIRLEAD_EXPORT awaitable<void> execute_stored(connection_core& c, request const& by_name, stored_code const& code,
                                               response_ref to, std::string const& refusal);
FAIRLEAD_EXPORT any_io_executor executor_of(connection_core& c);
FAIRLEAD_EXPORT any_io_executor loop_executor_of(connection_core& c);
/// The error code of an exception that a call ended with.
FAIRLEAD_EXPORT error_code code_of(std::exception_ptr const& e) noexcept;

template <class Result> awaitable<Result> call_script(hold<connection_core> c, script_command<Result> call) {
    auto response = call.response();
    auto executing = execute_stored(*c, call.req(), call.code(), response.refer(), response.refusal());
    co_await std::move(executing);
    co_return std::move(response).value();
}

template <class Handler> struct script_handler {
    Handler handler;
    template <class Result> void operator()(std::exception_ptr const& e, Result value) {
        if (e)
            fairlead::impl::operation::give_exception(handler, [&e] { std::rethrow_exception(e); });
        std::move(handler)(e ? code_of(e) : error_code(), std::move(value));
    }
};

/// For handlers: the coroutine above, with the executor and the slot of the handler.
template <class Result> struct script_call {
    connection_core* connection;
    script_command<Result> mutable call; // an await looks at it through the initiation, which is const there

    any_io_executor get_executor() const { return executor_of(*connection); }
    template <class Handler> void operator()(Handler&& handler) const {
        auto ex = get_associated_executor(handler, get_executor());
        co_spawn(loop_executor_of(*connection), call_script<Result>(hold(*connection), std::move(call)),
                 bind_executor(std::move(ex), script_handler<std::decay_t<Handler>>{std::forward<Handler>(handler)}));
    }
};

/// With any token.
template <class Result, class Token>
decltype(auto) exec_script(connection_core& c, script_command<Result>&& call, Token&& token) {
    if constexpr (std::is_same_v<std::decay_t<Token>, use_await_t>)
        return call_script(hold(c), std::move(call));
    else if constexpr (std::is_same_v<std::decay_t<Token>, block_t>) // The coroutine's exception says more than a code.
        return co_spawn(loop_executor_of(c), call_script(hold(c), std::move(call)), token);
    else
        return completion_token_transform<void(error_code, Result)>(std::forward<Token>(token),
                                                                    script_call<Result>{&c, std::move(call)});
}

} // namespace fairlead::redis::impl

template <template <class, class> class A, class H, class D>
struct fairlead::associator<A, fairlead::redis::impl::script_handler<H>, D>
    : fairlead::impl::operation::pass_on<A, fairlead::redis::impl::script_handler<H>, H, D> {};
