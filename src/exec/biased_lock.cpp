#include <fairlead/exec/biased_lock.hpp>

#include <exec/park.hpp>

namespace fairlead::impl::exec {

// Without barriers it is shared from the beginning. To ask for them takes milliseconds once the process has threads.
biased_lock::biased_lock() noexcept
    : for_((park::are_barriers_prepared() || park::is_single_threaded()) && park::can_have_barriers() ? whom::the_owner
                                                                                                      : whom::all) {}

/// Threads that come here at the same time all wait until the owner is outside.
void biased_lock::share() noexcept {
    auto seen = whom::the_owner;
    for_.compare_exchange_strong(seen, whom::nobody, std::memory_order_seq_cst);
    park::barrier_in_all_threads();
    while (is_owner_inside_.load(std::memory_order_acquire))
        park::pause();
    for_.store(whom::all, std::memory_order_release);
}

} // namespace fairlead::impl::exec
