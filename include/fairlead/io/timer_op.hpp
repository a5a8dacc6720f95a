// A pending wait for a deadline.
#pragma once

#include <fairlead/exec/op.hpp>

#include <cstdint>

namespace fairlead::io {

/// A pending wait for a deadline, in the heap of its loop.
struct timer_op : op {
    static constexpr std::uint32_t not_armed = 0xffffffffU;
    std::int64_t deadline_ns;
    std::uint64_t order;                  ///< of arming; equal deadlines expire in this order
    std::uint32_t heap_index = not_armed; ///< From the start: who cancels may look while another thread is arming it.
    op_queue* waits;                      ///< of its timer: lists the op from arming until it expires or is cancelled
    timer_op() noexcept {}
};
static_assert(sizeof(timer_op) == 80);

} // namespace fairlead::io
