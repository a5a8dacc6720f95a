// outcome<T>: how a part of a group has ended.
#pragma once

#include <fairlead/base/error.hpp>

#include <exception>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant> // monostate

namespace fairlead {

namespace impl::coro {

/// A value of every type: of void std::monostate, of a reference a pointer.
template <class T> struct regular : std::type_identity<T> {};
template <> struct regular<void> : std::type_identity<std::monostate> {};
template <class T> struct regular<T&> : std::type_identity<T*> {};
template <class T> using regular_t = typename regular<T>::type;

[[noreturn]] FAIRLEAD_EXPORT void throw_cancelled_part();

} // namespace impl::coro

/// How a part of when_all_settled() or when_any() has ended: with a value, by an exception, or cancelled before it had
/// either.
template <class T> class outcome {
public:
    using value_type = T;

    /// Cancelled.
    outcome() noexcept = default;
    explicit outcome(std::exception_ptr e) noexcept : error_(std::move(e)) {}
    template <class... Args> explicit outcome(std::in_place_t, Args&&... args)
        : value_(std::in_place, std::forward<Args>(args)...) {}

    bool has_value() const noexcept { return value_.has_value(); }
    explicit operator bool() const noexcept { return has_value(); }
    /// The exception. Null if there is a value, and if the part was cancelled before it threw anything.
    std::exception_ptr const& error() const noexcept { return error_; }

    /// The value.
    /// Throws     what the part has thrown; system_error with operation_aborted if it was cancelled
    decltype(auto) value() & { return get(*this); }
    decltype(auto) value() const& { return get(*this); }
    T value() && {
        expect_value();
        if constexpr (std::is_reference_v<T>)
            return **value_;
        else if constexpr (!std::is_void_v<T>)
            return *std::move(value_);
    }
    /// As value(), but of void std::monostate, and of T& a T*.
    impl::coro::regular_t<T> regular_value() && {
        expect_value();
        return *std::move(value_);
    }

private:
    template <class Self> static decltype(auto) get(Self& self) {
        self.expect_value();
        if constexpr (std::is_reference_v<T>)
            return static_cast<T>(**self.value_);
        else if constexpr (!std::is_void_v<T>)
            return (*self.value_);
    }
    void expect_value() const {
        if (error_)
            std::rethrow_exception(error_);
        if (!value_)
            impl::coro::throw_cancelled_part();
    }

    std::optional<impl::coro::regular_t<T>> value_;
    std::exception_ptr error_;
};

} // namespace fairlead
