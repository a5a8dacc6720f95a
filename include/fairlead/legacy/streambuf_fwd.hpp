// The names of the streambufs, for headers that take one by reference and leave the rest to who has one.
#pragma once

#include <iosfwd> // declares std::allocator

namespace fairlead {

template <class Allocator = std::allocator<char>> class basic_streambuf;
template <class Allocator = std::allocator<char>> class basic_streambuf_ref;

} // namespace fairlead
