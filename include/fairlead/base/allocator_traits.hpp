// std::allocator, std::allocator_traits, std::to_address and std::allocator_arg. The rest of <memory>, smart pointers
// and what prints them, takes eight times as long to compile.
#pragma once

#if __has_include(<bits/alloc_traits.h>) && __has_include(<bits/uses_allocator.h>) // libstdc++
#include <bits/alloc_traits.h>
#include <bits/uses_allocator.h>
#else
#include <memory>
#endif
