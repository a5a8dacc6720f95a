// Operations whose result may be there when they are asked for it, before there is a handler.
#pragma once

#include <fairlead/base/error.hpp>
#include <fairlead/base/maybe.hpp>
#include <fairlead/exec/op.hpp>

#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace fairlead::impl::operation {

/// Values of channel_errors stand in op_result::error below those of misc_errors.
inline constexpr int first_channel_error = -64;
constexpr int result_of(error::channel_errors e) noexcept { return first_channel_error - static_cast<int>(e); }

/// An errno value, minus a value of misc_errors, or result_of() another one, as it stands in op_result::error.
FAIRLEAD_ALWAYS_INLINE error_code to_error_code(int e) noexcept {
    if (e == 0) [[likely]]
        return {};
    if (e > 0)
        return {e, error::get_system_category()};
    if (e < first_channel_error) [[unlikely]]
        return error::make_error_code(static_cast<error::channel_errors>(first_channel_error - e));
    return error::make_error_code(static_cast<error::misc_errors>(-e));
}

/// Results that an op_result can hold when they are no error.
template <class Values> inline constexpr bool plain_values =
    std::is_same_v<Values, std::tuple<error_code>> || std::is_same_v<Values, std::tuple<error_code, std::size_t>>;

// The forms in which an operation says whether its result is there. The library's own have `bool try_step(op_result&)`:
// error and count, nothing but numbers to carry. Adapters have `try_step_as<Values>()`, all others `try_step()`.
template <class I>
concept tries_plainly = requires(I& i, op_result& r) {
    { i.try_step(r) } -> std::same_as<bool>;
};
template <class I, class Values>
concept tries_as = requires(I& i) { i.template try_step_as<Values>(); };
template <class I, class Values>
concept tries_simply = requires(I& i) {
    static_cast<bool>(i.try_step()); // a std::optional
    { *i.try_step() } -> std::convertible_to<Values>;
};

template <class I, class Values>
concept can_try = (tries_plainly<I> && plain_values<Values>) || tries_as<I, Values> || tries_simply<I, Values>;

/// The result of an operation as `Values`, if it is there.
template <class Values, can_try<Values> I> FAIRLEAD_ALWAYS_INLINE base::maybe<Values> tried(I& i) {
    if constexpr (tries_plainly<I>) {
        op_result r;
        if (!i.try_step(r))
            return {};
        if constexpr (std::tuple_size_v<Values> == 2)
            return Values(to_error_code(r.error), r.n);
        else
            return Values(to_error_code(r.error));
    } else if constexpr (tries_as<I, Values>) {
        return i.template try_step_as<Values>();
    } else {
        if (auto there = i.try_step())
            return Values(std::move(*there));
        return {};
    }
}

} // namespace fairlead::impl::operation
