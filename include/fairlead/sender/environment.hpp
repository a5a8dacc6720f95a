// The environment of a receiver, and the queries that operations ask it: which stop token, scheduler and allocator?
// A query of stdexec is understood as well.
#pragma once

#include <fairlead/exec/recycler.hpp>
#include <fairlead/sender/foreign.hpp>
#include <fairlead/sender/stop_token.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace fairlead {
namespace impl::sender {

template <class Env, class Query>
concept answers = requires(Env const& e, Query const& q) { e.query(q); };

/// The first of the queries that the environment answers; void: none.
template <class Env, class... Queries> struct answered {
    using type = void;
};
template <class Env, class First, class... Rest> struct answered<Env, First, Rest...> : answered<Env, Rest...> {};
template <class Env, class First, class... Rest>
    requires answers<Env, First>
struct answered<Env, First, Rest...> {
    using type = First;
};
template <class Env, class... Queries>
concept answers_one_of = !std::is_void_v<typename answered<Env, Queries...>::type>;
template <class... Queries, class Env> decltype(auto) ask(Env const& e) noexcept {
    return e.query(typename answered<Env, Queries...>::type{});
}

} // namespace impl::sender

namespace execution {

/// Asks for the stop token; without one, no stop is ever requested.
struct get_stop_token_t {
    template <class Env> auto operator()(Env const& e) const noexcept {
        if constexpr (impl::sender::answers_one_of<Env, get_stop_token_t, stdexec::get_stop_token_t>)
            return impl::sender::ask<get_stop_token_t, stdexec::get_stop_token_t>(e);
        else
            return never_stop_token();
    }
};
/// Asks for the scheduler on which whoever started the operation runs.
struct get_scheduler_t {
    template <class Env>
        requires impl::sender::answers_one_of<Env, get_scheduler_t, stdexec::get_scheduler_t>
    auto operator()(Env const& e) const noexcept {
        return impl::sender::ask<get_scheduler_t, stdexec::get_scheduler_t>(e);
    }
};
/// Asks for the scheduler on which the operation was started, and to which a task of another library returns.
struct get_start_scheduler_t {
    template <class Env>
        requires impl::sender::answers_one_of<Env, get_start_scheduler_t, stdexec::get_start_scheduler_t>
    auto operator()(Env const& e) const noexcept {
        return impl::sender::ask<get_start_scheduler_t, stdexec::get_start_scheduler_t>(e);
    }
};
/// Asks for the allocator.
struct get_allocator_t {
    template <class Env> auto operator()(Env const& e) const noexcept {
        if constexpr (impl::sender::answers_one_of<Env, get_allocator_t, stdexec::get_allocator_t>)
            return impl::sender::ask<get_allocator_t, stdexec::get_allocator_t>(e);
        else
            return recycling_allocator<std::byte>();
    }
};
/// The query for the stop token.
inline constexpr get_stop_token_t get_stop_token{};
/// The query for the scheduler.
inline constexpr get_scheduler_t get_scheduler{};
/// The query for the scheduler of the start.
inline constexpr get_start_scheduler_t get_start_scheduler{};
/// The query for the allocator.
inline constexpr get_allocator_t get_allocator{};

/// The answer to one query.
template <class Query, class Value> struct prop {
    [[no_unique_address]] Query asked;
    [[no_unique_address]] Value value;
    constexpr Value const& query(Query) const noexcept { return value; }
};
template <class Query, class Value> prop(Query, Value) -> prop<Query, Value>;

/// The answers of several environments; the first that has one gives it.
template <class... Envs> struct env {};
template <class First, class... Rest> struct env<First, Rest...> {
    [[no_unique_address]] First first;
    [[no_unique_address]] env<Rest...> rest;

    constexpr env(First f, Rest... others) : first(std::move(f)), rest(std::move(others)...) {}
    template <class Query>
        requires(impl::sender::answers<First, Query> || impl::sender::answers<env<Rest...>, Query>)
    constexpr decltype(auto) query(Query q) const noexcept {
        if constexpr (impl::sender::answers<First, Query>)
            return first.query(q);
        else
            return rest.query(q);
    }
};
template <class... Envs> env(Envs...) -> env<Envs...>;

/// The environment of a receiver, or the attributes of a sender.
struct get_env_t {
    template <class T> constexpr decltype(auto) operator()(T const& of) const noexcept {
        if constexpr (requires { of.get_env(); })
            return of.get_env();
        else
            return env<>();
    }
};
/// The environment of an object; an empty one if it has none.
inline constexpr get_env_t get_env{};
/// The type of the environment of a T.
template <class T> using env_of_t = std::decay_t<decltype(get_env(std::declval<T const&>()))>;
/// The type of the stop token in an environment T.
template <class T> using stop_token_of_t = std::decay_t<decltype(get_stop_token(std::declval<T const&>()))>;

} // namespace execution
} // namespace fairlead
