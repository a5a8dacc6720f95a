// A lock of one byte, for what takes no longer than a system call or two.
#pragma once

#include <fairlead/base/config.hpp>

#include <atomic>

namespace fairlead::impl::exec {

/// A thread that waits does not sleep. It lets others have its processor now and then.
class short_lock {
public:
    constexpr short_lock() noexcept = default;
    short_lock(short_lock const&) = delete;
    short_lock& operator=(short_lock const&) = delete;

    void lock() noexcept {
        if (is_locked_.exchange(true, std::memory_order_acquire)) [[unlikely]]
            lock_soon();
    }
    bool try_lock() noexcept { return !is_locked_.exchange(true, std::memory_order_acquire); }
    void unlock() noexcept { is_locked_.store(false, std::memory_order_release); }

private:
    FAIRLEAD_EXPORT FAIRLEAD_COLD void lock_soon() noexcept;

    std::atomic<bool> is_locked_{false};
};

} // namespace fairlead::impl::exec
