// The resumer of a coroutine: a loop, or an executor of another kind.
#pragma once

#include <fairlead/base/config.hpp>
#include <fairlead/exec/op.hpp>

namespace fairlead {

class loop;
class any_io_executor;

/// An await record names one as its home. A loop compares its own address with that first, so the functions below are
/// called for coroutines that are at home elsewhere only.
class FAIRLEAD_EXPORT resumer {
public:
    resumer(resumer const&) = delete;
    resumer& operator=(resumer const&) = delete;

    /// Has the op run, or the coroutine in whose await record it lies resumed, in the home's way. Any thread.
    virtual void resume_soon(op& o) noexcept = 0;
    /// Work that no queue shows begins (+1) or ends (-1).
    virtual void count_work(int change) noexcept = 0;
    /// Is the calling thread running something of this home, so that going on inline keeps all its promises?
    virtual bool runs_here() const noexcept = 0;
    /// One of the two is not null.
    virtual loop* as_loop() noexcept { return nullptr; }
    virtual any_io_executor const* as_executor() const noexcept { return nullptr; }

protected:
    resumer() noexcept = default;
    ~resumer() = default;
};

} // namespace fairlead
