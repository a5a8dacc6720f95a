// The places in the heap of a loop: of a wait, and of the limit of an op that waits for something else.
#pragma once

#include <fairlead/exec/cancellation_type.hpp>
#include <fairlead/exec/op.hpp>

#include <cstdint>

namespace fairlead {
class io_loop;
}

namespace fairlead::io {

/// A place in the heap of a loop.
struct timed {
    static constexpr std::uint32_t not_armed = 0xffffffffU;
    std::uint32_t heap_index = not_armed; ///< From the start: who cancels may look while another thread is arming it.
    bool is_limit = false;                ///< an op_limit; else a timer_op
};

/// A pending wait for a deadline, in the heap of its loop.
struct timer_op : op, timed {
    std::int64_t deadline_ns;
    op_queue* waits; ///< of its timer: lists the op from arming until it expires or is cancelled
    timer_op() noexcept {}
};
static_assert(sizeof(timer_op) == 72);

/// The time limit of a pending op. It is no op itself and lies beside that op. When the time has come, the loop cancels
/// the op in place.
struct op_limit : timed {
    std::uint8_t types; ///< of the request, as bits
    void (*expire)(op_limit&, io_loop&) noexcept;
    op_limit() noexcept { is_limit = true; }
    cancellation_type type() const noexcept { return static_cast<cancellation_type>(types); }
};
static_assert(sizeof(op_limit) == 16);

} // namespace fairlead::io
