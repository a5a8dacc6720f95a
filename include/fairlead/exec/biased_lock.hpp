// A lock that one thread takes without an atomic read-modify-write, until another thread wants it.
//
// The lock is biased to a thread. This thread says by a plain store that it is inside, and looks whether the lock is
// still biased to it. Any other thread takes the lock as a lock. If it is biased, the other thread ends that first. It
// lets every thread of the process pass a memory barrier (membarrier(2)), and waits until the first one is outside. A
// thread that went in before the barrier shows; one that comes after it sees that the lock is not its own any more.
//
// From then on it is a lock for all. A thread that gives up its bias by itself leaves it to the next one.
#pragma once

#include <fairlead/exec/loop.hpp>
#include <fairlead/exec/short_lock.hpp>

#include <atomic>
#include <cstdint>

namespace fairlead::impl::exec {

class biased_lock {
public:
    FAIRLEAD_EXPORT biased_lock() noexcept;
    biased_lock(biased_lock const&) = delete;
    biased_lock& operator=(biased_lock const&) = delete;

    /// Calls f() if the lock is biased to the calling thread. False: it is not; f() was not called.
    template <class F> FAIRLEAD_ALWAYS_INLINE bool try_as_biased(F&& f) noexcept {
        auto const me = this_thread.owning.tag;
        if (biased_to_.load(std::memory_order_relaxed) != me) [[unlikely]]
            return false;
        is_inside_.store(true, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_seq_cst); // The barrier of the other thread does the rest.
        bool const is_mine = biased_to_.load(std::memory_order_relaxed) == me;
        if (is_mine) [[likely]]
            f();
        is_inside_.store(false, std::memory_order_release);
        return is_mine;
    }
    /// Any thread, outside of try_as_biased(). Waits for no longer than those that have the lock take. `bias`: from now
    /// on the lock is biased to the calling thread, which has owned a loop. Once another thread has ended that, the
    /// lock stays one for all.
    FAIRLEAD_EXPORT void lock(bool bias) noexcept;
    void unlock() noexcept { lock_.unlock(); }
    /// The lock is not biased to the calling thread any more, and may be to another one. Outside of the lock.
    FAIRLEAD_EXPORT void give_up_bias() noexcept;
    bool is_for_all() const noexcept { return is_for_all_.load(std::memory_order_relaxed); }

private:
    FAIRLEAD_COLD void end_bias() noexcept;
    static constexpr std::uintptr_t nobody = 0; ///< no thread's tag

    std::atomic<std::uintptr_t> biased_to_{nobody}; ///< an owning_thread's tag; changes under lock_
    /// Written by the thread that the lock is biased to. Another bias after an end in between would not do: the first
    /// thread may have looked and not have written yet.
    std::atomic<bool> is_inside_{false};
    short_lock lock_;
    std::atomic<bool> is_for_all_; ///< never biased; changes under lock_
};

} // namespace fairlead::impl::exec
