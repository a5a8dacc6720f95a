// Shall a loop look out for posts of other threads for some microseconds before it sleeps?
//
// A thread that sleeps is woken in 2 to 20 us. Where two threads hand work to each other, the next post often comes
// sooner, once both are awake. So a loop that a post has woken looks out before its next sleep. It does so for long
// enough that a sleeping peer can wake up and answer. Each time in vain, twice as many sleeps follow before the next
// attempt. The haltpoll governor of Linux does the same for idle processors.
//
// A loop that something else has woken does not look out: events of descriptors and timers come through the driver.
#pragma once

#include <cstdint>

namespace fairlead::impl::exec {

class adaptive_spin {
public:
    static constexpr std::int64_t longest_ns = 50'000;
    static constexpr unsigned most_skipped = 1023;

    /// Before a sleep.
    bool is_due() const noexcept { return is_due_; }
    /// After a sleep.
    void has_slept(bool until_a_post) noexcept {
        is_due_ = until_a_post && left_to_skip_ == 0;
        if (until_a_post && left_to_skip_ != 0)
            --left_to_skip_;
    }
    /// After looking out.
    void has_spun(bool until_a_post) noexcept {
        is_due_ = until_a_post;
        if (until_a_post) {
            skipped_ /= 2;
        } else {
            skipped_ = skipped_ < most_skipped ? 2 * skipped_ + 1 : most_skipped;
            left_to_skip_ = skipped_;
        }
    }

private:
    bool is_due_ = false;
    unsigned left_to_skip_ = 0; ///< sleeps that posts will have ended
    unsigned skipped_ = 0;      ///< of them after the last attempt in vain
};

} // namespace fairlead::impl::exec
