#include <fairlead/sync/mutex.hpp>

namespace fairlead::impl::sync {

mutex_core::~mutex_core() { leave(); }

bool mutex_core::is_locked() const noexcept {
    return domain().look([this] { return is_locked_; });
}

bool mutex_core::take_now() noexcept {
    if (is_locked_)
        return false; // As it is whenever somebody waits.
    is_locked_ = true;
    return true;
}

bool mutex_core::try_lock() noexcept {
    return domain().look([this] { return take_now(); });
}

void mutex_core::unlock() noexcept {
    domain().change([this](op_queue& ready) { unlock_for(ready); });
}

void mutex_core::unlock_for(op_queue& ready) noexcept {
    FAIRLEAD_ASSERT(is_locked_);
    is_locked_ = false;
    let_go(ready);
}

void mutex_core::wait(owning_op& o) noexcept {
    domain().change([&](op_queue& ready) { lock_in_turn(o, ready); });
}

void mutex_core::lock_in_turn(owning_op& o, op_queue& ready) noexcept {
    if (take_now())
        give(o, ready);
    else
        domain().append(*this, o);
}

void mutex_core::let_go(op_queue& ready) noexcept {
    if (!empty() && take_now())
        give_to_first(ready);
}

void mutex_core::take_back(owning_op&, op_queue& ready) noexcept { unlock_for(ready); }

} // namespace fairlead::impl::sync
