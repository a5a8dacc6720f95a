// Transactions that begin anew when what they read has changed.
#pragma once

#include <fairlead/redis/argument.hpp>
#include <fairlead/redis/client.hpp>
#include <fairlead/redis/command.hpp>
#include <fairlead/redis/lease.hpp>
#include <fairlead/redis/request.hpp>

#include <concepts>
#include <optional>
#include <type_traits>
#include <utility>

namespace fairlead::redis {

namespace impl {

/// The transaction in what a body returns.
template <class T> struct transaction_in;
template <class... Result> struct transaction_in<transaction_of<Result...>> {
    using result = transaction_result<Result...>;
};
template <class T> struct transaction_in<std::optional<T>> : transaction_in<T> {};
template <class T> struct transaction_in_optional {
    using type = T;
};
template <class T> struct transaction_in_optional<std::optional<T>> : transaction_in_optional<T> {};
template <class T> struct awaited_of;
template <class T> struct awaited_of<awaitable<T>> {
    using type = T;
};
template <class Body> using body_result = typename awaited_of<std::invoke_result_t<Body&, lease&>>::type;

/// WATCH, with copies of the keys; nothing without keys.
FAIRLEAD_EXPORT request watch_keys(keys_view keys);
[[noreturn]] FAIRLEAD_EXPORT void throw_watched_key_changed();

template <class Body> auto repeat_until_executed(client& db, request watch, Body body, unsigned attempts)
    -> awaitable<typename transaction_in<body_result<Body>>::result> {
    auto acquiring = db.acquire();
    lease own = co_await std::move(acquiring);
    for (; attempts != 0; --attempts) {
        if (!watch.empty()) {
            auto watching = own.async_exec(watch, ignore);
            co_await std::move(watching);
        }
        auto preparing = body(own);
        std::optional<typename transaction_in_optional<body_result<Body>>::type> wanted = co_await std::move(preparing);
        if (!wanted)
            co_return typename transaction_in<body_result<Body>>::result();
        auto executing = own.async_exec(std::move(*wanted));
        auto outcome = co_await std::move(executing);
        if (outcome.has_value())
            co_return outcome;
    }
    throw_watched_key_changed();
}

} // namespace impl

/// Executes a transaction that depends on what was read before it: check and set. Watches `keys`, calls `body(own)`,
/// and executes the transaction that it returns. If a watched key has changed meanwhile, the server executes nothing,
/// and all begins anew, at most `attempts` times:
///
///     auto done = co_await redis::optimistic(db, {"stock"}, [&](redis::lease& own) -> awaitable<std::optional<buy>> {
///         auto left = co_await own.get<int>("stock");
///         ...
///         co_return redis::transaction(cmd::set("stock", *left - 1), cmd::incr("sold"));
///     });
///
/// `keys` are one key, a list in braces, or any range of them, such as a vector that was filled at run time. Without
/// keys nothing is watched. `body` reads through its lease, and returns an awaitable of a transaction
/// (redis/command.hpp), or of an optional one: none ends it, without a value in the result. Returns    what the
/// commands of the transaction gave
/// Throws     system_error of error::watched_key_changed: in each attempt; of what async_exec() ends with; what body
///            throws
/// Lifetime   the keys are copied before it returns, `body` is kept; the client outlives the result
/// Threads    any
/// Source     https://redis.io/docs/latest/develop/using-commands/transactions/
template <class Body>
    requires std::invocable<Body&, lease&>
auto optimistic(client& db, keys_view keys, Body body, unsigned attempts = 16) {
    return impl::repeat_until_executed(db, impl::watch_keys(keys), std::move(body), attempts);
}

} // namespace fairlead::redis
