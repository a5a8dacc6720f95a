// A trait of Asio's from before there was the concept in the standard library.
#pragma once

#include <asio/fairlead.hpp>

#include <iterator>
#include <type_traits>

namespace fairlead {

template <class T> struct is_contiguous_iterator : std::bool_constant<std::contiguous_iterator<T>> {};

} // namespace fairlead
