#include <fairlead/sync/latch.hpp>

namespace fairlead::impl::sync {

latch_core::~latch_core() { cancel(); }

std::size_t latch_core::left() const noexcept {
    return domain().look([this] { return left_; });
}

void latch_core::count_down_to_zero(std::size_t n) noexcept {
    domain().change([&](op_queue& ready) {
        FAIRLEAD_ASSERT(n <= left_);
        left_ -= n;
        let_go(ready);
    });
}

void latch_core::wait(wait_op& o) noexcept {
    domain().change([&](op_queue& ready) {
        domain().append(*this, o);
        let_go(ready);
    });
}

void latch_core::let_go(op_queue& ready) noexcept {
    while (left_ == 0 && !empty())
        domain().let_first_go(*this, ready);
}

} // namespace fairlead::impl::sync
