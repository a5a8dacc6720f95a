#include <fairlead/sender/started_record.hpp>

namespace fairlead::impl::sender {
namespace {

/// The operations that the outermost one of the thread is to start.
struct waiting_starts {
    op* first = nullptr;
    op* last = nullptr;
    bool are_taken = false; ///< somebody further out takes them
};
constinit thread_local FAIRLEAD_HOT_TLS waiting_starts waiting;

} // namespace

void start_outside(op& o, void (*start)(op*, op_mode)) noexcept {
    if (waiting.are_taken) {
        if (exec::this_thread.immediate_depth < fairness::inline_depth_most)
            return start(&o, op_mode::complete);
        o.run = start;
        o.next = nullptr;
        if (waiting.first)
            waiting.last->next = &o;
        else
            waiting.first = &o;
        waiting.last = &o;
        return;
    }
    waiting.are_taken = true;
    start(&o, op_mode::complete);
    while (op* const next = waiting.first) {
        waiting.first = static_cast<op*>(next->next);
        next->run(next, op_mode::complete);
    }
    waiting.are_taken = false;
}

} // namespace fairlead::impl::sender
