// The way of completed ops to the handlers' executor, where that runs no loop of ours.
#include <redis/connection_core.hpp>

namespace fairlead::redis::impl {

void connection_core::note_handler(op& o) noexcept {
    // A thread that blocks for the op may be the only one that the executor has.
    auto const* const waits = fairlead::impl::exec::this_thread.waits;
    bool const has_handler = o.run && !(waits && waits->is_starting());
    o.result.flags = has_handler ? goes_home : 0;
    if (has_handler)
        elsewhere_->count_work(+1);
}

/// Not from here: an executor of a user's may do anything with it.
void connection_core::send_home(op& o) noexcept {
    bool const is_first = homeward_.empty();
    homeward_.push_back(o);
    if (!is_first)
        return;
    retain();
    loop().post(homing_);
}

void connection_core::on_homing(op* base, op_mode mode) {
    auto& core = *static_cast<core_op*>(base)->core;
    op_queue all;
    all.splice_back(core.homeward_);
    while (!all.empty()) {
        op& o = *all.pop_front();
        if (mode == op_mode::complete)
            core.elsewhere_->resume_soon(o);
        else
            fairlead::loop::abandon(o);
        core.elsewhere_->count_work(-1);
    }
    core.release();
}

} // namespace fairlead::redis::impl
