// Dispositions: what tells how an operation ended, whatever its type. An error code and an exception_ptr are; a type of
// the user's becomes one by disposition_traits.
#pragma once

#include <fairlead/base/error.hpp>

#include <concepts>
#include <exception>
#include <type_traits>
#include <utility>

namespace fairlead {

/// How to read a disposition. Specialise it for a type T of your own with three static functions:
///   not_an_error(T const&)    bool: whether it stands for success
///   throw_exception(T)        throws what it stands for; never called for success
///   to_exception_ptr(T)       the same as a std::exception_ptr, null for success
template <class T> struct disposition_traits;

template <> struct disposition_traits<error_code> {
    static bool not_an_error(error_code const& ec) noexcept { return !ec; }
    [[noreturn]] static void throw_exception(error_code const& ec) { throw system_error(ec); }
    FAIRLEAD_EXPORT static std::exception_ptr to_exception_ptr(error_code const& ec) noexcept;
};
template <> struct disposition_traits<std::exception_ptr> {
    static bool not_an_error(std::exception_ptr const& e) noexcept { return !e; }
    [[noreturn]] static void throw_exception(std::exception_ptr e) { std::rethrow_exception(std::move(e)); }
    static std::exception_ptr to_exception_ptr(std::exception_ptr e) noexcept { return e; }
};

/// A type that has disposition_traits, and whose moves do not throw.
template <class T>
concept disposition = std::is_nothrow_default_constructible_v<T> && std::is_nothrow_move_constructible_v<T> &&
                      std::is_nothrow_move_assignable_v<T> && requires(T const& read, T taken) {
                          { disposition_traits<T>::not_an_error(read) } -> std::same_as<bool>;
                          disposition_traits<T>::throw_exception(std::move(taken));
                          {
                              disposition_traits<T>::to_exception_ptr(std::move(taken))
                          } -> std::same_as<std::exception_ptr>;
                      };
/// The concept disposition as a type.
template <class T> struct is_disposition : std::bool_constant<disposition<T>> {};
/// The concept disposition as a value.
template <class T> inline constexpr bool is_disposition_v = disposition<T>;

/// Success, and the disposition of what cannot fail. Every disposition without an error equals it.
struct no_error_t {
    constexpr no_error_t() noexcept = default;
    friend constexpr bool operator==(no_error_t, no_error_t) noexcept { return true; }
    template <disposition D> friend constexpr bool operator==(no_error_t, D const& d) noexcept {
        return disposition_traits<D>::not_an_error(d);
    }
};
/// The only value of its type: `if (d == no_error)`.
inline constexpr no_error_t no_error{};

template <> struct disposition_traits<no_error_t> {
    static constexpr bool not_an_error(no_error_t) noexcept { return true; }
    static constexpr void throw_exception(no_error_t) noexcept {}
    static std::exception_ptr to_exception_ptr(no_error_t) noexcept { return nullptr; }
};

} // namespace fairlead
