// getaddrinfo on threads of its own: it blocks, and cannot be interrupted.
#pragma once

#include <fairlead/exec/loop.hpp>
#include <fairlead/io/driver.hpp>

namespace fairlead::io {

/// Look-ups of one driver that are under way.
class resolving {
public:
    resolving();
    ~resolving();
    void start(loop& l, resolve_op& o) noexcept;
    /// The op completes with operation_aborted at once; what the thread finds later is thrown away.
    void cancel(resolve_op& o) noexcept;
    void take_pending(op_queue& into) noexcept;
    /// In the child of a fork, where nobody is looking any more.
    void start_over(loop& l) noexcept;

    /// In the calling thread.
    static void perform(resolve_op& o) noexcept;

private:
    op_queue pending_; // guarded by the pool's mutex
};

} // namespace fairlead::io
