// std::allocator, std::allocator_traits and std::to_address without the rest of <memory>, which takes five times as
// long to compile. Every standard library has them in the header of its scoped allocators, which are made of them.
#pragma once

#include <scoped_allocator>
