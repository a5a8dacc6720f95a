#include <fairlead/sync/mutex.hpp>

#include <utility>

namespace fairlead::impl::sync {

mutex_core::~mutex_core() { leave(); }

bool mutex_core::is_locked() const noexcept {
    return domain().look([this] { return is_locked_; });
}

void mutex_core::unlock() noexcept {
    if (!domain().is_done_without_lock([this]() noexcept { return empty() && std::exchange(is_locked_, false); }))
        unlock_for_others();
}

FAIRLEAD_NOINLINE void mutex_core::unlock_for_others() noexcept {
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
