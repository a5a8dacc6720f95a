#include <fairlead/sync/semaphore.hpp>

namespace fairlead::impl::sync {

semaphore_core::~semaphore_core() { leave(); }

std::size_t semaphore_core::permits() const noexcept {
    return domain().look([this] { return permits_; });
}

bool semaphore_core::take_now(std::size_t n) noexcept {
    if (!empty() || permits_ < n)
        return false;
    permits_ -= n;
    return true;
}

bool semaphore_core::try_acquire(std::size_t n) noexcept {
    return domain().look([&] { return take_now(n); });
}

void semaphore_core::wait(owning_op& o) noexcept {
    domain().change([&](op_queue& ready) {
        if (take_now(o.amount))
            give(o, ready);
        else
            domain().append(*this, o);
    });
}

void semaphore_core::release(std::size_t n) noexcept {
    domain().change([&](op_queue& ready) {
        permits_ += n;
        let_go(ready);
    });
}

void semaphore_core::let_go(op_queue& ready) noexcept {
    while (!empty() && front().amount <= permits_) {
        permits_ -= front().amount;
        give_to_first(ready);
    }
}

void semaphore_core::take_back(owning_op& o, op_queue& ready) noexcept {
    permits_ += o.amount;
    let_go(ready);
}

} // namespace fairlead::impl::sync
