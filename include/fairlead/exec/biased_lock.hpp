// A lock that is free of charge for the owner of a loop until another thread takes it.
//
// The owner says by a plain store that it is inside, and looks whether the lock is shared. The first other thread makes
// it shared, and lets every thread of the process pass a memory barrier (membarrier(2)). An owner that went in before
// the barrier shows; one that comes after it sees that the lock is shared. From then on everybody takes it as a lock.
#pragma once

#include <fairlead/exec/loop.hpp>
#include <fairlead/exec/short_lock.hpp>

#include <atomic>

namespace fairlead::impl::exec {

class biased_lock {
public:
    FAIRLEAD_EXPORT biased_lock() noexcept;
    biased_lock(biased_lock const&) = delete;
    biased_lock& operator=(biased_lock const&) = delete;

    /// Calls f() as the owner of `l`. False: the caller does not own the loop, or the lock is shared.
    template <class F> FAIRLEAD_ALWAYS_INLINE bool try_as_owner(loop const& l, F&& f) noexcept {
        section const s;
        if (!l.plainly_mine(s)) [[unlikely]]
            return false;
        is_owner_inside_.store(true, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_seq_cst); // The barrier of the first other thread does the rest.
        bool const is_mine = for_.load(std::memory_order_relaxed) == whom::the_owner;
        if (is_mine) [[likely]]
            f();
        is_owner_inside_.store(false, std::memory_order_release);
        return is_mine;
    }
    /// Any thread; shares the lock for ever. Waits for no longer than a call of try_as_owner() takes.
    void lock() noexcept {
        if (!is_shared()) [[unlikely]]
            share();
        lock_.lock();
    }
    void unlock() noexcept { lock_.unlock(); }
    bool is_shared() const noexcept { return for_.load(std::memory_order_acquire) == whom::all; }

private:
    enum class whom : unsigned char {
        the_owner,
        nobody, ///< who does not lock it first, nor who does before the owner is outside
        all,
    };
    FAIRLEAD_EXPORT FAIRLEAD_COLD void share() noexcept;

    std::atomic<whom> for_;
    std::atomic<bool> is_owner_inside_{false};
    short_lock lock_;
};

} // namespace fairlead::impl::exec
