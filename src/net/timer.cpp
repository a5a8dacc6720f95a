#include <fairlead/net/timer.hpp>

namespace fairlead::impl::net {

std::size_t timer_core::cancel_armed(std::size_t most) noexcept {
    // At once, also from outside the loop: the timer may be gone when this has returned.
    return engine_->as_owner([this, most]() noexcept {
        std::size_t n = 0;
        for (; n != most && !waits_.empty(); ++n)
            engine_->cancel(static_cast<io::timer_op&>(*waits_.front()));
        was_armed_ = !waits_.empty();
        return n;
    });
}

void timer_core::take_over(timer_core& other) noexcept {
    engine_ = other.engine_;
    deadline_ns_ = other.deadline_ns_;
    if (!std::exchange(other.was_armed_, false))
        return;
    was_armed_ = true;
    engine_->as_owner([&]() noexcept {
        waits_.splice_back(other.waits_);
        waits_.for_each([this](op& o) { static_cast<io::timer_op&>(o).waits = &waits_; });
    });
}

timer_core::timer_core(timer_core&& other) noexcept { take_over(other); }
timer_core& timer_core::operator=(timer_core&& other) noexcept {
    if (this != &other) {
        cancel();
        take_over(other);
    }
    return *this;
}

} // namespace fairlead::impl::net
