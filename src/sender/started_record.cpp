#include <fairlead/sender/started_record.hpp>

namespace fairlead::impl::sender {

constinit thread_local FAIRLEAD_HOT_TLS starts_taker::waiting_starts starts_taker::waiting_;

starts_taker::starts_taker() noexcept : outer_(waiting_) {
    waiting_ = {.taken_in = exec::this_thread.frames, .are_taken = true};
    ++exec::this_thread.immediate_depth;
}

starts_taker::~starts_taker() {
    while (op* const next = waiting_.first) {
        waiting_.first = static_cast<op*>(next->next);
        next->run(next, op_mode::complete);
    }
    --exec::this_thread.immediate_depth;
    waiting_ = outer_;
}

bool start_later(op& o, void (*start)(op*, op_mode)) noexcept {
    auto& waiting = starts_taker::waiting_;
    if (!waiting.are_taken_here())
        return false;
    o.run = start;
    o.next = nullptr;
    if (waiting.first)
        waiting.last->next = &o;
    else
        waiting.first = &o;
    waiting.last = &o;
    return true;
}

void start_outside(op& o, void (*start)(op*, op_mode)) noexcept {
    if (!starts_taker::waiting_.are_taken_here()) {
        starts_taker const taker;
        return start(&o, op_mode::complete);
    }
    if (exec::this_thread.immediate_depth < fairness::inline_depth_most || !start_later(o, start))
        start(&o, op_mode::complete);
}

} // namespace fairlead::impl::sender
