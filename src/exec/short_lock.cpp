#include <fairlead/exec/short_lock.hpp>

#include <exec/park.hpp>

namespace fairlead::impl::exec {

void short_lock::lock_soon() noexcept {
    do {
        for (unsigned look = 1; is_locked_.load(std::memory_order_relaxed); ++look) {
            if (look % 256 == 0) // The thread that has it may have no processor.
                park::give_way();
            else
                park::pause();
        }
    } while (is_locked_.exchange(true, std::memory_order_acquire));
}

} // namespace fairlead::impl::exec
