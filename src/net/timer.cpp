#include <fairlead/net/timer.hpp>

namespace fairlead::detail {

std::size_t timer_core::cancel_here(std::size_t most) noexcept {
    std::size_t n = 0;
    for (; n != most && !waits_.empty(); ++n)
        context_->cancel(static_cast<io::timer_op&>(*waits_.front()));
    return n;
}

std::size_t timer_core::cancel(std::size_t most) noexcept {
    std::size_t n = 0;
    context_->on_owner([this, most, &n](bool here) {
        auto const cancelled = cancel_here(most);
        if (here)
            n = cancelled; // Otherwise the caller has long returned.
    });
    return n;
}

void timer_core::take_over(timer_core& other) noexcept {
    context_ = other.context_;
    deadline_ns_ = other.deadline_ns_;
    waits_.splice_back(other.waits_);
    waits_.for_each([this](op& o) { static_cast<io::timer_op&>(o).waits = &waits_; });
}

timer_core::timer_core(timer_core&& other) noexcept { take_over(other); }
timer_core& timer_core::operator=(timer_core&& other) noexcept {
    if (this != &other) {
        cancel();
        take_over(other);
    }
    return *this;
}

} // namespace fairlead::detail
