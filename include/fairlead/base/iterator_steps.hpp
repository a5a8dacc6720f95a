// std::next, std::distance and std::iterator_traits. The rest of <iterator>, the iterators of streams and containers,
// takes three times as long to compile.
#pragma once

#if __has_include(<bits/stl_iterator_base_funcs.h>) // libstdc++
#include <bits/stl_iterator_base_funcs.h>
#else
#include <iterator>
#endif
