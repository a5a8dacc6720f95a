// When to try again what no event will announce: a datagram whose receiver had no space, a connection for which there
// was no descriptor left. No I/O; decision 020 has the reasons.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace fairlead::io {

/// The pause of all descriptors of a loop that wait for the same thing. It is doubled with each attempt in vain. Owner,
/// or under the lock of the lists; end() and any() by any thread.
class retry_pause {
public:
    constexpr retry_pause(std::int64_t least_ns, std::int64_t most_ns) noexcept
        : least_ns_(least_ns),
          most_ns_(most_ns) {}

    std::size_t count() const noexcept { return count_.load(std::memory_order_relaxed); }
    bool any() const noexcept { return count() != 0; }
    void add() noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
    void remove() noexcept { count_.fetch_sub(1, std::memory_order_relaxed); }

    /// An attempt was in vain.
    void lengthen(std::int64_t now_ns) noexcept {
        length_ns_ = length_ns_ == 0 ? least_ns_ : std::min(2 * length_ns_, most_ns_);
        at_ns_.store(now_ns + length_ns_, std::memory_order_relaxed);
    }
    /// The next one begins with the shortest.
    void shorten() noexcept { length_ns_ = 0; }
    /// Ends this one now.
    void end() noexcept { at_ns_.store(0, std::memory_order_relaxed); }
    bool is_over(std::int64_t now_ns) const noexcept { return now_ns >= at_ns_.load(std::memory_order_relaxed); }
    /// Until when one may sleep that may sleep until `until_ns` (negative: for ever).
    std::int64_t limit(std::int64_t until_ns) const noexcept {
        auto const at_ns = at_ns_.load(std::memory_order_relaxed);
        return until_ns < 0 || until_ns > at_ns ? at_ns : until_ns;
    }

private:
    std::int64_t const least_ns_;
    std::int64_t const most_ns_;
    std::atomic<std::size_t> count_{0};
    std::int64_t length_ns_ = 0; ///< 0: no attempt was in vain
    std::atomic<std::int64_t> at_ns_{0};
};

} // namespace fairlead::io
