// execution::invocable_archetype: what stands for any function when it is asked whether something is an executor.
#pragma once

namespace fairlead::execution {

/// Can be called with anything, and does nothing.
struct invocable_archetype {
    template <class... Args> void operator()(Args&&...) {}
};

} // namespace fairlead::execution
