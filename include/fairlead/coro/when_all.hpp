// when_all: several operations and coroutines at once, until the last of them has ended.
#pragma once

#include <fairlead/coro/group_operation.hpp>

namespace fairlead {
namespace impl::coro {

/// The values, or what the first to fail has thrown.
struct all_values {
    static constexpr group_end asks_at = group_end::first_failure;
    template <class Parts> static typename Parts::values of(Parts& parts, group_member const* first_to_fail) {
        parts.for_each([first_to_fail](auto& member) {
            if (&member == first_to_fail)
                (void)member.take().value();
        });
        return parts.gather([](auto& member) { return member.take().regular_value(); });
    }
};

/// How each has ended.
struct all_outcomes {
    static constexpr group_end asks_at = group_end::of_all;
    template <class Parts> static typename Parts::outcomes of(Parts& parts, group_member const*) {
        return parts.gather([](auto& member) { return member.take(); });
    }
};

template <class Results, class... Parts> auto group_of(Parts&&... parts) {
    return group_operation<fixed_parts<Parts...>, Results>(std::in_place, std::move(parts)...);
}
template <class Results, class Range> auto group_of_range(Range&& parts) {
    return group_operation<counted_parts<element_of<Range>>, Results>(std::in_place, parts);
}

} // namespace impl::coro

/// `auto [n, line] = co_await when_all(s.async_read_some(b), read_line(t));` starts operations, coroutines and groups
/// in this order, and goes on when all have ended. The first that fails makes the others end early.
/// Completes  a tuple of the values; that of void is std::monostate, that of T& a T*
/// Errors     the exception of the first part that failed, after all have ended. The values of the others are then
///            lost; when_all_settled() keeps them. Once a part has failed, parts that have not started do not start
/// Cancel     all parts are asked; the group ends when they have
/// Immediate  does not suspend if all parts complete at once
/// Lifetime   the parts are moved; they run with the awaiting coroutine's executor
/// Threads    as the awaiting coroutine
/// Allocates  nothing; for a part that is a group a frame
template <impl::coro::group_part... Parts>
    requires(!std::is_lvalue_reference_v<Parts> && ...)
auto when_all(Parts&&... parts) {
    return impl::coro::group_of<impl::coro::all_values, Parts...>(std::move(parts)...);
}
/// when_all() of the elements of a range, which are moved out of it.
/// Completes  a vector of the values
/// Errors     as for parts that are named one by one
/// Cancel     as for those
/// Immediate  as for those
/// Lifetime   the elements are moved; the range itself is not kept
/// Threads    as the awaiting coroutine
/// Allocates  one block for the members, one for the values; for a part that is a group a frame
template <impl::coro::range_of_parts Range>
    requires(!std::is_lvalue_reference_v<Range>)
auto when_all(Range&& parts) {
    return impl::coro::group_of_range<impl::coro::all_values>(parts);
}

/// As when_all(), but no part makes the others end, and nothing is thrown for one.
/// Completes  a tuple of outcome<T>
/// Errors     none of its own; operation_aborted if the coroutine had been asked to end before
/// Cancel     all parts are asked; the group ends when they have
/// Immediate  does not suspend if all parts complete at once
/// Lifetime   the parts are moved; they run with the awaiting coroutine's executor
/// Threads    as the awaiting coroutine
/// Allocates  nothing; for a part that is a group a frame
template <impl::coro::group_part... Parts>
    requires(!std::is_lvalue_reference_v<Parts> && ...)
auto when_all_settled(Parts&&... parts) {
    return impl::coro::group_of<impl::coro::all_outcomes, Parts...>(std::move(parts)...);
}
/// when_all_settled() of the elements of a range, which are moved out of it.
/// Completes  a vector of outcome<T>
/// Errors     as for parts that are named one by one
/// Cancel     as for those
/// Immediate  as for those
/// Lifetime   the elements are moved; the range itself is not kept
/// Threads    as the awaiting coroutine
/// Allocates  one block for the members, one for the outcomes; for a part that is a group a frame
template <impl::coro::range_of_parts Range>
    requires(!std::is_lvalue_reference_v<Range>)
auto when_all_settled(Range&& parts) {
    return impl::coro::group_of_range<impl::coro::all_outcomes>(parts);
}

/// Nothing else is a part.
template <class... Parts>
    requires(!impl::coro::parts_or_range<Parts...>)
FAIRLEAD_REFUSED(FAIRLEAD_NO_PARTS)
impl::coro::refused_group when_all(Parts&&...) {
    return {};
}
/// Nothing else is a part.
template <class... Parts>
    requires(!impl::coro::parts_or_range<Parts...>)
FAIRLEAD_REFUSED(FAIRLEAD_NO_PARTS)
impl::coro::refused_group when_all_settled(Parts&&...) {
    return {};
}

} // namespace fairlead
