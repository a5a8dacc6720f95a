// Counts allocations of simulated programs and lets one of them fail. failing_new.hpp asks.
#pragma once

#include <fairlead/base/config.hpp>

#include <cstdint>

namespace fairlead::sim::impl {

class allocations {
public:
    void fail_at(std::uint64_t n) noexcept {
        left_ = n;
        has_failed_ = false;
    }
    bool is_armed() const noexcept { return left_ != 0; }
    bool has_failed() const noexcept { return has_failed_; }
    bool next_fails() noexcept {
        if (left_ == 0 || --left_ != 0)
            return false;
        has_failed_ = true;
        return true;
    }

private:
    std::uint64_t left_ = 0;
    bool has_failed_ = false;
};

/// The owner of the allocations that the calling thread makes right now; null: they cannot fail.
extern FAIRLEAD_EXPORT constinit thread_local allocations* watched_allocations;

/// While it lives, what the thread allocates is watched.
class allocation_watch {
public:
    explicit allocation_watch(allocations& a) noexcept : before_(watched_allocations) {
        if (a.is_armed())
            watched_allocations = &a;
    }
    allocation_watch(allocation_watch const&) = delete;
    allocation_watch& operator=(allocation_watch const&) = delete;
    ~allocation_watch() { watched_allocations = before_; }

private:
    allocations* before_;
};

} // namespace fairlead::sim::impl
