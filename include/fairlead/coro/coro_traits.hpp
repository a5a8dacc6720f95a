// The types that belong to an experimental::coro.
#pragma once

#include <fairlead/exec/executor.hpp>

#include <exception>
#include <optional>
#include <type_traits>
#include <variant>

namespace fairlead {
namespace impl::coro {

/// The value of one resumption of a coroutine that yields and returns.
template <class Yield, class Return> struct coro_result : std::type_identity<std::variant<Yield, Return>> {};
template <class Yield> struct coro_result<Yield, void> : std::type_identity<std::optional<Yield>> {};
template <class Return> struct coro_result<void, Return> : std::type_identity<Return> {};
template <class Both> struct coro_result<Both, Both> : std::type_identity<Both> {};
template <> struct coro_result<void, void> : std::type_identity<void> {};
template <class Yield, class Return> using coro_result_t = typename coro_result<Yield, Return>::type;

template <class Result, bool IsNoexcept> struct coro_signature : std::type_identity<void(std::exception_ptr, Result)> {
};
template <class Result> struct coro_signature<Result, true> : std::type_identity<void(Result)> {};
template <> struct coro_signature<void, false> : std::type_identity<void(std::exception_ptr)> {};
template <> struct coro_signature<void, true> : std::type_identity<void()> {};

template <class Result, class Input> struct resume_signature : std::type_identity<Result(Input)> {};
template <class Result> struct resume_signature<Result, void> : std::type_identity<Result()> {};

template <class Yield, class Input, class Return, bool IsNoexcept> struct coro_types {
    using input_type = Input;
    using yield_type = Yield;
    using return_type = Return;
    using result_type = coro_result_t<Yield, Return>;
    using signature_type = typename resume_signature<result_type, Input>::type;
    static constexpr bool is_noexcept = IsNoexcept;
    using error_type = std::conditional_t<IsNoexcept, void, std::exception_ptr>;
    using completion_handler = typename coro_signature<result_type, IsNoexcept>::type;
};

} // namespace impl::coro

namespace experimental {

/// The types of a `coro<Yield, Return, Executor>`. `Yield` is a type, or a function: `int(char) noexcept` yields an
/// int, gets a char for it, and throws nothing.
template <class Yield, class Return, class Executor> struct coro_traits
    : impl::coro::coro_types<Yield, void, Return, false> {};
/// Of a coroutine that is resumed without a value.
template <class Yield, class Return, class Executor> struct coro_traits<Yield(), Return, Executor>
    : impl::coro::coro_types<Yield, void, Return, false> {};
/// Of one that throws nothing, either.
template <class Yield, class Return, class Executor> struct coro_traits<Yield() noexcept, Return, Executor>
    : impl::coro::coro_types<Yield, void, Return, true> {};
/// Of a coroutine that is resumed with a value.
template <class Yield, class Input, class Return, class Executor> struct coro_traits<Yield(Input), Return, Executor>
    : impl::coro::coro_types<Yield, Input, Return, false> {};
/// Of one that throws nothing, either.
template <class Yield, class Input, class Return, class Executor>
struct coro_traits<Yield(Input) noexcept, Return, Executor> : impl::coro::coro_types<Yield, Input, Return, true> {};

} // namespace experimental
} // namespace fairlead
