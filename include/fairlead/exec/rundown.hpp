// Rundown protection: an object that others use from their threads ends only when the last of them has left.
//
// A thread hands an op to an object. The op may run before that thread has left the function that handed it over. It
// may be the last thing that needed the object. The owner of the object then sees that everything is done, and may
// destroy it. A thread that still has to look at the object after others can see what it did says so before.
#pragma once

#include <fairlead/base/config.hpp>

#include <atomic>

namespace fairlead::impl::exec {

class rundown {
public:
    class guard {
    public:
        explicit guard(rundown& r) noexcept : inside_(r.inside_) { inside_.fetch_add(1, std::memory_order_seq_cst); }
        guard(guard const&) = delete;
        guard& operator=(guard const&) = delete;
        ~guard() { inside_.fetch_sub(1, std::memory_order_release); } // The last that this thread touches.

    private:
        std::atomic<unsigned>& inside_;
    };

    constexpr rundown() noexcept = default;
    rundown(rundown const&) = delete;
    rundown& operator=(rundown const&) = delete;

    /// Returns when no guard is left. They are held for a system call at most.
    FAIRLEAD_EXPORT void wait() const noexcept;

private:
    std::atomic<unsigned> inside_{0};
};

/// Takes one from what is counted, unless it is the last: false. For the last a guard is needed before it goes.
template <class N> bool count_down_unless_last(std::atomic<N>& count) noexcept {
    auto n = count.load(std::memory_order_relaxed);
    do {
        if (n == 1)
            return false;
    } while (!count.compare_exchange_weak(n, n - 1, std::memory_order_acq_rel, std::memory_order_relaxed));
    return true;
}

} // namespace fairlead::impl::exec
