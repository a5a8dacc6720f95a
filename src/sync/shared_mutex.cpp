#include <fairlead/sync/shared_mutex.hpp>

namespace fairlead::impl::sync {

shared_mutex_core::~shared_mutex_core() { leave(); }

void shared_mutex_core::wait(owning_op& o) noexcept {
    domain().change([&](op_queue& ready) {
        if (empty() && take_now(o.amount))
            give(o, ready);
        else
            domain().append(*this, o);
    });
}

void shared_mutex_core::unlock(std::size_t how) noexcept {
    domain().change([&](op_queue& ready) { unlock_for(how, ready); });
}

void shared_mutex_core::unlock_for(std::size_t how, op_queue& ready) noexcept {
    if (how == exclusive) {
        FAIRLEAD_ASSERT(has_writer_);
        has_writer_ = false;
    } else {
        FAIRLEAD_ASSERT(readers_ != 0);
        --readers_;
    }
    let_go(ready);
}

void shared_mutex_core::let_go(op_queue& ready) noexcept {
    while (!empty() && take_now(front().amount))
        give_to_first(ready);
}

void shared_mutex_core::take_back(owning_op& o, op_queue& ready) noexcept { unlock_for(o.amount, ready); }

} // namespace fairlead::impl::sync
