// The type of a co_await: errors are thrown, one value is bare, several are a tuple.
#pragma once

#include <fairlead/base/disposition_traits.hpp>
#include <fairlead/base/error.hpp>
#include <fairlead/operation/initiate.hpp>

#include <tuple>
#include <type_traits>

namespace fairlead::impl::operation {

template <class Rest> struct unwrapped_rest : std::type_identity<Rest> {};
template <> struct unwrapped_rest<std::tuple<>> : std::type_identity<void> {};
template <class Only> struct unwrapped_rest<std::tuple<Only>> : std::type_identity<Only> {};
template <class Values> struct unwrapped : unwrapped_rest<Values> {};
template <disposition First, class... Rest> struct unwrapped<std::tuple<First, Rest...>>
    : unwrapped_rest<std::tuple<Rest...>> {};
template <class Signature> struct awaited : unwrapped<values_of<Signature>> {};
template <class Signature> using awaited_t = typename awaited<Signature>::type;

/// An error code, and one value that is all that an await returns.
template <class Values> inline constexpr bool has_one_value = false;
template <class T> inline constexpr bool has_one_value<std::tuple<error_code, T>> = true;

} // namespace fairlead::impl::operation
