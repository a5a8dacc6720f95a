// when_any: several operations and coroutines at once, until the first of them has ended and the others have, too.
#pragma once

#include <fairlead/coro/when_all.hpp>

#include <array>

namespace fairlead {

template <class... T> class when_any_result;
template <class T> class when_any_results;

namespace impl::coro {

template <class Outcomes> struct when_any_result_of;
template <class... T> struct when_any_result_of<std::tuple<outcome<T>...>> {
    using type = when_any_result<T...>;
};
template <class T> struct when_any_result_of<std::vector<outcome<T>>> {
    using type = when_any_results<T>;
};

/// How all have ended, and which of them made the others end.
template <group_end AsksAt> struct first_outcome {
    static constexpr group_end asks_at = AsksAt;
    template <class Parts> static typename when_any_result_of<typename Parts::outcomes>::type
    of(Parts& parts, group_member const* decided_by) {
        std::size_t const first = position_of(parts, decided_by);
        return {first, parts.gather([](auto& member) { return member.take(); })};
    }
};

/// The part that counts: the first to end if it has a value, else the first in order that has one; else there is none.
template <class HasValue> std::size_t winner(std::size_t first, std::size_t size, HasValue has_value) {
    if (size == 0 || has_value(first))
        return first;
    for (std::size_t i = 0; i != size; ++i)
        if (has_value(i))
            return i;
    return size;
}

} // namespace impl::coro

/// The result of when_any() and when_any_success(). At least one part has a value.
template <class... T> class when_any_result {
public:
    /// Throws     if no part has a value, what part `first` has thrown
    when_any_result(std::size_t first, std::tuple<outcome<T>...>&& outcomes) : outcomes_(std::move(outcomes)) {
        std::array<bool, sizeof...(T)> const values =
            std::apply([](auto&... o) { return std::array<bool, sizeof...(T)>{o.has_value()...}; }, outcomes_);
        index_ = impl::coro::winner(first, sizeof...(T), [&](std::size_t i) { return values[i]; });
        if (index_ == sizeof...(T))
            throw_of(first, std::index_sequence_for<T...>());
    }

    /// The part that won: the first that ended; if that failed, the first in order that did not.
    std::size_t index() const noexcept { return index_; }
    /// How part I has ended. Also one that did not win may have a value.
    template <std::size_t I> auto& get() & noexcept { return std::get<I>(outcomes_); }
    template <std::size_t I> auto const& get() const& noexcept { return std::get<I>(outcomes_); }
    template <std::size_t I> auto&& get() && noexcept { return std::get<I>(std::move(outcomes_)); }

private:
    template <std::size_t... I> void throw_of(std::size_t first, std::index_sequence<I...>) {
        ((I == first ? (void)std::get<I>(outcomes_).value() : void()), ...);
    }

    std::size_t index_ = 0;
    std::tuple<outcome<T>...> outcomes_;
};

/// The result of when_any() and when_any_success() of a range. At least one part has a value.
template <class T> class when_any_results {
public:
    /// Throws     if no part has a value, what part `first` has thrown
    when_any_results(std::size_t first, std::vector<outcome<T>>&& outcomes) : outcomes_(std::move(outcomes)) {
        index_ = impl::coro::winner(first, outcomes_.size(), [&](std::size_t i) { return outcomes_[i].has_value(); });
        if (index_ == outcomes_.size() && !outcomes_.empty())
            (void)outcomes_[first].value();
    }

    /// The part that won: the first that ended; if that failed, the first in order that did not.
    std::size_t index() const noexcept { return index_; }
    std::size_t size() const noexcept { return outcomes_.size(); }
    /// How part i has ended. Also one that did not win may have a value.
    outcome<T>& operator[](std::size_t i) noexcept { return outcomes_[i]; }
    outcome<T> const& operator[](std::size_t i) const noexcept { return outcomes_[i]; }
    /// The value of the part that won.
    decltype(auto) value() { return outcomes_[index_].value(); }

private:
    std::size_t index_ = 0;
    std::vector<outcome<T>> outcomes_;
};

/// `auto won = co_await when_any(s.async_read_some(b), timer.async_wait());` starts operations, coroutines and groups
/// in this order. The first that ends makes the others end early. Goes on when all have ended.
/// Completes  when_any_result<T...>: index() of the part that won, and get<I>() to tell how each has ended. One that
///            had a value all the same has it there: no byte, no message and no socket is lost
/// Errors     if no part has a value, the exception of the part that ended first. Once a part has ended, parts that
///            have not started do not start
/// Cancel     all parts are asked; the group ends when they have
/// Immediate  does not suspend if the first part completes at once
/// Lifetime   the parts are moved; they run with the awaiting coroutine's executor
/// Threads    as the awaiting coroutine
/// Allocates  nothing; for a part that is a group a frame
template <impl::coro::group_part... Parts>
    requires(sizeof...(Parts) > 0 && (!std::is_lvalue_reference_v<Parts> && ...))
auto when_any(Parts&&... parts) {
    return impl::coro::group_of<impl::coro::first_outcome<impl::coro::group_end::first>, Parts...>(std::move(parts)...);
}
/// when_any() of the elements of a range, which are moved out of it. Of none it completes at once.
/// Completes  when_any_results<T>: index() of the part that won, and operator[] to tell how each has ended
/// Errors     as for parts that are named one by one
/// Cancel     as for those
/// Immediate  as for those
/// Lifetime   the elements are moved; the range itself is not kept
/// Threads    as the awaiting coroutine
/// Allocates  one block for the members, one for the outcomes; for a part that is a group a frame
template <impl::coro::range_of_parts Range>
    requires(!std::is_lvalue_reference_v<Range>)
auto when_any(Range&& parts) {
    return impl::coro::group_of_range<impl::coro::first_outcome<impl::coro::group_end::first>>(parts);
}

/// As when_any(), but only a part that ends without an exception makes the others end.
/// Completes  when_any_result<T...>: index() of the first part that had a value, and get<I>() to tell how each has
///            ended
/// Errors     if no part has a value, the exception of the first part in order
/// Cancel     all parts are asked; the group ends when they have
/// Immediate  does not suspend if the first part completes at once, with a value
/// Lifetime   the parts are moved; they run with the awaiting coroutine's executor
/// Threads    as the awaiting coroutine
/// Allocates  nothing; for a part that is a group a frame
template <impl::coro::group_part... Parts>
    requires(sizeof...(Parts) > 0 && (!std::is_lvalue_reference_v<Parts> && ...))
auto when_any_success(Parts&&... parts) {
    return impl::coro::group_of<impl::coro::first_outcome<impl::coro::group_end::first_success>, Parts...>(
        std::move(parts)...);
}
/// when_any_success() of the elements of a range, which are moved out of it. Of none it completes at once.
/// Completes  when_any_results<T>: index() of the first part that had a value, and operator[] to tell how each has
///            ended
/// Errors     as for parts that are named one by one
/// Cancel     as for those
/// Immediate  as for those
/// Lifetime   the elements are moved; the range itself is not kept
/// Threads    as the awaiting coroutine
/// Allocates  one block for the members, one for the outcomes; for a part that is a group a frame
template <impl::coro::range_of_parts Range>
    requires(!std::is_lvalue_reference_v<Range>)
auto when_any_success(Range&& parts) {
    return impl::coro::group_of_range<impl::coro::first_outcome<impl::coro::group_end::first_success>>(parts);
}

/// Nothing else is a part.
template <class... Parts>
    requires(!impl::coro::parts_or_range<Parts...> && sizeof...(Parts) > 0)
FAIRLEAD_REFUSED(FAIRLEAD_NO_PARTS)
impl::coro::refused_group when_any(Parts&&...) {
    return {};
}
/// Nothing else is a part.
template <class... Parts>
    requires(!impl::coro::parts_or_range<Parts...> && sizeof...(Parts) > 0)
FAIRLEAD_REFUSED(FAIRLEAD_NO_PARTS)
impl::coro::refused_group when_any_success(Parts&&...) {
    return {};
}

} // namespace fairlead
