// The counter of Asio's inside, which programs count with.
#pragma once

#include <asio/detail/config.hpp>

#include <atomic>

namespace fairlead::detail {

using atomic_count = std::atomic<long>;

inline void increment(atomic_count& a, long by) { a += by; }
inline void decrement(atomic_count& a, long by) { a -= by; }
inline void ref_count_up(atomic_count& a) { a.fetch_add(1, std::memory_order_relaxed); }
/// Whether that was the last reference.
inline bool ref_count_down(atomic_count& a) { return a.fetch_sub(1, std::memory_order_acq_rel) == 1; }

} // namespace fairlead::detail
