// How a client calls scripts: by their names, and with their sources when the server does not have them.
#pragma once

#include <fairlead/coro/awaitable.hpp>
#include <fairlead/coro/spawn.hpp>
#include <fairlead/operation/associated.hpp>
#include <fairlead/operation/give_exception.hpp>
#include <fairlead/operation/pass_on.hpp>
#include <fairlead/redis/connection.hpp>
#include <fairlead/redis/hold.hpp>
#include <fairlead/redis/script.hpp>
#include <fairlead/redis/unordered_pipeline.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/block.hpp>

#include <exception>
#include <memory>
#include <string>
#include <tuple>
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

template <class Result> awaitable<Result> call_with_code(hold<connection_core> c, script_command<Result> call) {
    auto response = call.response();
    auto executing = execute_stored(*c, call.req(), *call.code(), response.refer(), response.refusal());
    co_await std::move(executing);
    co_return std::move(response).value();
}

/// Executes `by_name`. Then the calls whose code the server lacks are executed once more, with it: code[i] is that of
/// the i-th command, or null. When that fails, `fail` is told for each that has no answer. Throws system_error.
FAIRLEAD_EXPORT awaitable<void> execute_unordered(connection_core& c, request const& by_name,
                                                  std::shared_ptr<stored_code const> const* code, response_ref to,
                                                  fail_function fail);

template <class... Result>
awaitable<std::tuple<result<Result>...>> call_with_code(hold<connection_core> c, unordered_commands<Result...> call) {
    pipeline_response<Result...> response(call.readers());
    auto executing = execute_unordered(*c, call.by_name(), call.code(), response.refer(), response.fail());
    co_await std::move(executing);
    co_return std::move(response).value();
}

template <class Handler> struct code_handler {
    Handler handler;
    template <class Result> void operator()(std::exception_ptr const& e, Result value) {
        if (e)
            fairlead::impl::operation::give_exception(handler, [&e] { std::rethrow_exception(e); });
        std::move(handler)(e ? code_of(e) : error_code(), std::move(value));
    }
};

/// For handlers: the coroutine above, with the executor and the slot of the handler.
template <class Call> struct start_with_code {
    connection_core* connection;
    Call mutable call; // an await looks at it through the initiation, which is const there

    any_io_executor get_executor() const { return executor_of(*connection); }
    template <class Handler> void operator()(Handler&& handler) const {
        auto ex = get_associated_executor(handler, get_executor());
        co_spawn(loop_executor_of(*connection), call_with_code(hold(*connection), std::move(call)),
                 bind_executor(std::move(ex), code_handler<std::decay_t<Handler>>{std::forward<Handler>(handler)}));
    }
};

/// A script_command or unordered_commands, with any token.
template <class Call, class Token> decltype(auto) exec_with_code(connection_core& c, Call&& call, Token&& token) {
    using signature = void(error_code, typename Call::result_type);
    if constexpr (std::is_same_v<std::decay_t<Token>, use_await_t>)
        return call_with_code(hold(c), std::move(call));
    else if constexpr (std::is_same_v<std::decay_t<Token>, block_t>) // The coroutine's exception says more than a code.
        return co_spawn(loop_executor_of(c), call_with_code(hold(c), std::move(call)), token);
    else
        return completion_token_transform<signature>(std::forward<Token>(token),
                                                     start_with_code<Call>{&c, std::move(call)});
}

} // namespace fairlead::redis::impl

template <template <class, class> class A, class H, class D>
struct fairlead::associator<A, fairlead::redis::impl::code_handler<H>, D>
    : fairlead::impl::operation::pass_on<A, fairlead::redis::impl::code_handler<H>, H, D> {};
