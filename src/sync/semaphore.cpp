#include <fairlead/sync/semaphore.hpp>

namespace fairlead::impl::sync {

semaphore_core::~semaphore_core() { leave(); }

std::size_t semaphore_core::permits() const noexcept {
    return domain().look([this] { return permits_; });
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
    auto const add = [this, n]() noexcept {
        if (!empty())
            return false;
        permits_ += n;
        return true;
    };
    if (!domain().is_done_without_lock(add))
        release_to_others(n);
}

FAIRLEAD_NOINLINE void semaphore_core::release_to_others(std::size_t n) noexcept {
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
