// The asynchronous verbs: ops are submitted, and complete by being pushed onto the loop's run queue.
//
// Rules. submit() never fails and never allocates: errors are completions. An op that was submitted is the reactor's,
// with the memory that it names, until it completes. It completes exactly once, at once or in a later poll(). Nothing
// is called back. One thread at a time calls these functions: the loop's owner. While the reactor is shared, others do,
// too; see share(). Decision 020 says what of this is there for the sake of drivers for completions.
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

    /// True, which never changes: only the thread inside run() calls the functions for the owner, and only one thread
    /// is inside. Nobody takes the loop from it; others use the inbox. Between two runs any thread may come, one at a
    /// time.
    virtual bool is_bound() const noexcept { return false; }

    // ---- owner only
    virtual void submit(io_op& o) noexcept = 0;
    /// Owner. On: threads with a share of the loop may call submit(), ready() and try_now(), at the same time as the
    /// owner calls anything. Returns whether that is so from now on. A reactor need not be able to, and the end may
    /// have to wait.
    virtual bool share(bool /*on*/) noexcept { return false; }
    /// May an attempt be worth it, from what is known without asking the system?
    virtual bool ready(handle h, kind k, std::size_t size) noexcept = 0;
    /// Tries at once, if nobody is queued before. True: done, the result is in the op, which stays the caller's. A
    /// reactor may decline each attempt.
    virtual bool try_now(io_op& o) noexcept = 0;
    /// Makes the pending op complete with operation_aborted, unless it is already done; false when it is not pending
    /// here. It may complete late, in a poll(), and counts as pending until then.
    virtual bool cancel(io_op& o) noexcept = 0;
    /// Does so with the op of a descriptor whose `cancel` is `ticket`; the op may have gone.
    virtual bool cancel(handle h, void* ticket) noexcept = 0;
    /// Does so with every pending op that is_marked_asked(): there was no memory for a message with its ticket.
    virtual void cancel_marked() noexcept = 0;
    /// Does so with all pending ops of a descriptor; returns how many.
    virtual std::size_t cancel_all(handle h) noexcept = 0;
    /// Waits until something happens or `until_ns` (on the host's clock) has come; 0: looks only; negative: no limit.
    virtual void poll(std::int64_t until_ns) noexcept = 0;
    /// Ops that are pending here: submitted, and not pushed to the loop.
    virtual std::size_t pending() const noexcept = 0;
    /// May reorder what is about to run; those of the kernel leave it alone.
    virtual void arrange(op_queue&) noexcept {}
    /// Stops all pending ops, waits until nothing outside refers to them or to their memory, and takes them: they are
    /// abandoned. The loop may submit more, and ask again.
    virtual void take_pending(op_queue& into) noexcept = 0;

    // ---- any thread
    virtual void wake() noexcept = 0;

protected:
    reactor() noexcept = default;
};

} // namespace fairlead::io
