#include <fairlead/exec/rundown.hpp>

#include <exec/park.hpp>

namespace fairlead::impl::exec {

void rundown::wait() const noexcept {
    // Nobody can be asked to wake us: that would be one more look at what is about to go.
    for (int waits = 0; inside_.load(std::memory_order_seq_cst) != 0; ++waits) {
        if (waits < 100)
            park::pause();
        else
            park::give_way();
    }
}

} // namespace fairlead::impl::exec
