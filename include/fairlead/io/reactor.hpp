// The asynchronous verbs: ops are submitted, and complete by being pushed onto the loop's run queue.
//
// Rules. submit() never fails and never allocates: errors are completions. cancel() is a request; the op still
// completes exactly once. Nothing is called back. One thread at a time calls these functions: the loop's owner. While
// the reactor is shared, others do, too; see share().
#pragma once

#include <fairlead/exec/execution_context.hpp>
#include <fairlead/exec/op.hpp>
#include <fairlead/io/io_op.hpp>

#include <cstdint>

namespace fairlead {
class loop;
}

namespace fairlead::io {

/// Counts of a reactor so far.
struct reactor_counters {
    std::uint64_t verifications; ///< late checks of descriptors whose last read filled its buffer
    std::uint64_t system_calls;  ///< for transfers, readiness and waiting; 0 where there is no system
};

/// It carries out the ops of one loop.
class reactor {
public:
    reactor(reactor const&) = delete;
    reactor& operator=(reactor const&) = delete;
    virtual ~reactor() = default;

    /// Called once, before anything else: completed ops go to this loop's run queue.
    virtual void attach(loop& l) noexcept = 0;
    virtual reactor_counters counters() const noexcept { return {0, 0}; }
    /// The process is about to fork, or has: the child's reactor stops sharing what the parent's still uses.
    virtual outcome notify_fork(execution_context::fork_event) noexcept { return {0, 0}; }

    // ---- owner only
    virtual void submit(io_op& o) noexcept = 0;
    /// Owner. On: threads with a share of the loop may call submit(), ready() and try_now(), at the same time as the
    /// owner calls anything. Returns whether that is so from now on. A reactor need not be able to, and the end may
    /// have to wait.
    virtual bool share(bool /*on*/) noexcept { return false; }
    /// May an attempt be worth it, from what is known without asking the system?
    virtual bool ready(handle h, kind k, std::size_t size) noexcept = 0;
    /// Tries at once, if nobody is queued before. True: done, the result is in the op, which stays the caller's.
    virtual bool try_now(io_op& o) noexcept = 0;
    /// Completes the pending op with operation_aborted; false when it is not pending here.
    virtual bool cancel(io_op& o) noexcept = 0;
    /// Does so with the op of a descriptor whose `cancel` is `ticket`; the op may have gone.
    virtual bool cancel(handle h, void* ticket) noexcept = 0;
    /// Does so with all pending ops of a descriptor; returns how many.
    virtual std::size_t cancel_all(handle h) noexcept = 0;
    /// Waits until something happens or `until_ns` (on the host's clock) has come; 0: looks only; negative: no limit.
    virtual void poll(std::int64_t until_ns) noexcept = 0;
    /// Ops that are pending here.
    virtual std::size_t pending() const noexcept = 0;
    /// May reorder what is about to run; those of the kernel leave it alone.
    virtual void arrange(op_queue&) noexcept {}
    /// Takes all pending ops, for abandoning.
    virtual void take_pending(op_queue& into) noexcept = 0;

    // ---- any thread
    virtual void wake() noexcept = 0;

protected:
    reactor() noexcept = default;
};

} // namespace fairlead::io
