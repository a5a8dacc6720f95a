// Names for the arguments of handlers made with std::bind, or with boost::bind.
#pragma once

#include <asio/fairlead.hpp>

#include <functional>
#include <type_traits>

namespace fairlead::placeholders {

template <int N> struct argument {};

inline constexpr argument<1> error;
inline constexpr argument<2> bytes_transferred;
inline constexpr argument<2> iterator;
inline constexpr argument<2> results;
inline constexpr argument<2> endpoint;
inline constexpr argument<2> signal_number;

} // namespace fairlead::placeholders

template <int N> struct std::is_placeholder<fairlead::placeholders::argument<N>> : std::integral_constant<int, N> {};

namespace boost {

// Boost's, which need not be there: older programs use its bind.
template <class T> struct is_placeholder;
template <int N> struct is_placeholder<fairlead::placeholders::argument<N>> {
    enum _vt { value = N };
};

} // namespace boost
