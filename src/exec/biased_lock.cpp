#include <fairlead/exec/biased_lock.hpp>

#include <exec/park.hpp>

namespace fairlead::impl::exec {

// Without barriers it is never biased. To ask for them takes milliseconds once the process has threads.
biased_lock::biased_lock() noexcept
    : is_for_all_(!((park::are_barriers_prepared() || park::is_single_threaded()) && park::can_have_barriers())) {}

void biased_lock::lock(bool bias) noexcept {
    lock_.lock();
    auto const me = this_thread.owning.tag;
    auto const whose = biased_to_.load(std::memory_order_relaxed);
    if (whose != nobody && whose != me) [[unlikely]]
        end_bias();
    else if (bias && !is_for_all())
        biased_to_.store(me, std::memory_order_relaxed); // Others wait for lock_ until the caller unlocks it.
}

void biased_lock::end_bias() noexcept {
    is_for_all_.store(true, std::memory_order_relaxed);
    biased_to_.store(nobody, std::memory_order_relaxed);
    park::barrier_in_all_threads();
    while (is_inside_.load(std::memory_order_acquire))
        park::pause();
}

void biased_lock::give_up_bias() noexcept {
    if (biased_to_.load(std::memory_order_relaxed) != this_thread.owning.tag)
        return;
    lock_.lock();
    // Another thread may have ended it meanwhile.
    biased_to_.store(nobody, std::memory_order_relaxed);
    lock_.unlock();
}

} // namespace fairlead::impl::exec
