// The standard library's traits, which Asio has in its namespace too; programs name them there.
#pragma once

#include <cstddef>
#include <type_traits>

namespace fairlead {

using std::add_const;
using std::add_const_t;
using std::add_lvalue_reference;
using std::add_lvalue_reference_t;
using std::alignment_of;
using std::conditional;
using std::conditional_t;
using std::conjunction;
using std::decay;
using std::decay_t;
using std::declval;
using std::enable_if;
using std::enable_if_t;
using std::false_type;
using std::integral_constant;
using std::is_base_of;
using std::is_class;
using std::is_const;
using std::is_constructible;
using std::is_convertible;
using std::is_copy_constructible;
using std::is_destructible;
using std::is_function;
using std::is_integral;
using std::is_move_constructible;
using std::is_nothrow_copy_assignable;
using std::is_nothrow_copy_constructible;
using std::is_nothrow_default_constructible;
using std::is_nothrow_destructible;
using std::is_nothrow_move_assignable;
using std::is_nothrow_move_constructible;
using std::is_object;
using std::is_pointer;
using std::is_reference;
using std::is_same;
using std::is_scalar;
using std::is_unsigned;
using std::is_void;
using std::remove_cv;
using std::remove_cv_t;
using std::remove_cvref;
using std::remove_cvref_t;
using std::remove_pointer;
using std::remove_pointer_t;
using std::remove_reference;
using std::remove_reference_t;
using std::true_type;
using std::type_identity;
using std::type_identity_t;
using std::void_t;

// These the standard library has no more, or never had.
template <std::size_t Size, std::size_t Alignment> struct aligned_storage {
    struct type {
        alignas(Alignment) unsigned char data[Size];
    };
};
template <std::size_t Size, std::size_t Alignment> using aligned_storage_t =
    typename aligned_storage<Size, Alignment>::type;

template <class Call> struct result_of;
template <class F, class... Args> struct result_of<F(Args...)> : std::invoke_result<F, Args...> {};
template <class Call> using result_of_t = typename result_of<Call>::type;

struct defaulted_constraint {
    constexpr defaulted_constraint() {}
};
template <bool Condition, class T = int> struct constraint : std::enable_if<Condition, T> {};
template <bool Condition, class T = int> using constraint_t = typename constraint<Condition, T>::type;

} // namespace fairlead
