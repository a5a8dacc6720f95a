// The operators && and || of awaitables, as Asio's programs use them: two coroutines or operations at once.
//
// when_all() and when_any() do the same for any number of parts, without a coroutine for each operator.
#pragma once

#include <fairlead/coro/multiple_exceptions.hpp>
#include <fairlead/coro/when_any.hpp>

#include <tuple>
#include <variant>

namespace fairlead {
namespace impl::coro {

template <class L, class R> using both_outcomes =
    std::tuple<outcome<typename member_for<L>::type::value_type>, outcome<typename member_for<R>::type::value_type>>;

/// How both have ended, and whether the second was the first to do what the group waits for.
template <class Outcomes> struct outcomes_in_order {
    Outcomes outcomes;
    bool second_decided;
};
template <group_end AsksAt> struct two_outcomes {
    static constexpr group_end asks_at = AsksAt;
    template <class Parts>
    static outcomes_in_order<typename Parts::outcomes> of(Parts& parts, group_member const* decided_by) {
        bool const second = position_of(parts, decided_by) == 1;
        return {parts.gather([](auto& member) { return member.take(); }), second};
    }
};

/// The exception of a part that has no value.
template <class T> std::exception_ptr exception_of(outcome<T>& o) noexcept {
    if (o.error())
        return o.error();
    try {
        (void)o.value();
    } catch (...) {
        return std::current_exception();
    }
    return nullptr;
}

// The type of `l && r`: without void, and tuples on the left take one more.
template <class L, class R> struct type_of_and : std::type_identity<std::tuple<L, R>> {};
template <> struct type_of_and<void, void> : std::type_identity<void> {};
template <class R> struct type_of_and<void, R> : std::type_identity<R> {};
template <class L> struct type_of_and<L, void> : std::type_identity<L> {};
template <class... L> struct type_of_and<std::tuple<L...>, void>
    : std::type_identity<std::tuple<L..., std::monostate>> {};
template <class... L, class R> struct type_of_and<std::tuple<L...>, R> : std::type_identity<std::tuple<L..., R>> {};

// The type of `l || r`: void is std::monostate, and variants on the left take one more.
template <class L, class R> struct type_of_or : std::type_identity<std::variant<regular_t<L>, regular_t<R>>> {};
template <class... L, class R> struct type_of_or<std::variant<L...>, R>
    : std::type_identity<std::variant<L..., regular_t<R>>> {};

template <class Widened, std::size_t I = 0, class... L> Widened widened(std::variant<L...>&& v) {
    if constexpr (I + 1 < sizeof...(L))
        if (v.index() != I)
            return widened<Widened, I + 1>(std::move(v));
    return Widened(std::in_place_index<I>, std::get<I>(std::move(v)));
}
template <class Result, class L> Result left_of_or(outcome<L>& l) {
    return Result(std::in_place_index<0>, std::move(l).regular_value());
}
template <class Result, class... L> Result left_of_or(outcome<std::variant<L...>>& l) {
    return widened<Result>(std::move(l).value());
}

// Of other types there is none: these operators are found for them, too.
template <class Part> struct result_of_part {};
template <group_part Part> struct result_of_part<Part>
    : std::type_identity<typename member_for<Part>::type::value_type> {};
template <class L, class R> using and_t =
    typename type_of_and<typename result_of_part<L>::type, typename result_of_part<R>::type>::type;
template <class L, class R> using or_t =
    typename type_of_or<typename result_of_part<L>::type, typename result_of_part<R>::type>::type;

template <class T> inline constexpr bool is_tuple = false;
template <class... T> inline constexpr bool is_tuple<std::tuple<T...>> = true;

template <class L, class R> and_t<L, R> values_of_and(both_outcomes<L, R>& both) {
    auto& [l, r] = both;
    if (!l && !r)
        throw multiple_exceptions(exception_of(l));
    using left = typename result_of_part<L>::type;
    using right = typename result_of_part<R>::type;
    if constexpr (std::is_void_v<left>) {
        std::move(l).value();
        return std::move(r).value();
    } else if constexpr (is_tuple<left>) {
        return std::tuple_cat(std::move(l).value(), std::tuple<regular_t<right>>(std::move(r).regular_value()));
    } else if constexpr (std::is_void_v<right>) {
        std::move(r).value();
        return std::move(l).value();
    } else {
        return and_t<L, R>(std::move(l).value(), std::move(r).value());
    }
}
template <class L, class R> or_t<L, R> value_of_or(both_outcomes<L, R>& both, bool second_first) {
    auto& [l, r] = both;
    using result = or_t<L, R>;
    if (r && (second_first || !l))
        return result(std::in_place_index<std::variant_size_v<result> - 1>, std::move(r).regular_value());
    if (l)
        return left_of_or<result>(l);
    throw multiple_exceptions(exception_of(l));
}

} // namespace impl::coro

/// `using namespace fairlead::experimental::awaitable_operators;`, as in Asio.
namespace experimental::awaitable_operators {

/// `co_await (a() && b())`: until both have ended. If one fails, the other is asked to end.
/// Completes  the values that are not void: none, one of them, or a tuple. A tuple on the left takes the value of the
///            right as one more element
/// Errors     the exception of the side that failed; multiple_exceptions if both did, also because they were asked
/// Cancel     both are asked
/// Immediate  does not suspend if both complete at once
/// Lifetime   the sides are moved; they run with the awaiting coroutine's executor
/// Threads    as the awaiting coroutine
/// Allocates  the frame of a coroutine, from the recycler
/// Source     Asio, experimental::awaitable_operators
template <impl::coro::group_part L, impl::coro::group_part R> awaitable<impl::coro::and_t<L, R>> operator&&(L l, R r) {
    auto both = co_await impl::coro::group_of<impl::coro::two_outcomes<impl::coro::group_end::first_failure>, L, R>(
        std::move(l), std::move(r));
    co_return impl::coro::values_of_and<L, R>(both.outcomes);
}

/// `co_await (a() || b())`: until one has succeeded and the other has ended. The other is asked to end.
/// Completes  a variant of the values; that of void is std::monostate. A variant on the left takes the value of the
///            right as one more alternative
/// Errors     multiple_exceptions if both have failed
/// Cancel     both are asked
/// Immediate  does not suspend if the left side succeeds at once
/// Lifetime   the sides are moved; they run with the awaiting coroutine's executor
/// Threads    as the awaiting coroutine
/// Allocates  the frame of a coroutine, from the recycler
/// Source     Asio, experimental::awaitable_operators
template <impl::coro::group_part L, impl::coro::group_part R> awaitable<impl::coro::or_t<L, R>> operator||(L l, R r) {
    auto both = co_await impl::coro::group_of<impl::coro::two_outcomes<impl::coro::group_end::first_success>, L, R>(
        std::move(l), std::move(r));
    co_return impl::coro::value_of_or<L, R>(both.outcomes, both.second_decided);
}

} // namespace experimental::awaitable_operators
} // namespace fairlead
