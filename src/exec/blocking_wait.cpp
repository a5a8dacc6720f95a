#include <fairlead/exec/blocking_wait.hpp>

#include <fairlead/exec/loop.hpp>

#include <exec/park.hpp>

#include <algorithm>
#include <utility>

namespace fairlead::impl::exec {
namespace {

// With several loops to drive, none may be slept in for long.
constexpr std::int64_t turn_ns = 1'000'000;
// How long a loop without work is left alone: another thread may post to it without telling us.
constexpr std::int64_t look_again_ns = 5'000'000;

} // namespace

blocking_wait::blocking_wait() noexcept : outer_(std::exchange(this_thread.waits, this)) {}
blocking_wait::~blocking_wait() { this_thread.waits = outer_; }

void blocking_wait::note(loop& l) noexcept {
    auto* const end = loops_ + count_;
    if (count_ != loops_most && std::find(loops_, end, &l) == end)
        loops_[count_++] = &l;
}

void blocking_wait::finish() noexcept {
    // The waiting thread leaves only when it sees `finished`: until then the driven loop is there.
    phase_.store(finishing, std::memory_order_seq_cst);
    if (loop* const l = driven_.load(std::memory_order_seq_cst); l && this_thread.waits != this)
        l->wake_driver();
    phase_.store(finished, std::memory_order_seq_cst);
    park::wake_all(phase_);
}

/// False: no loop has anything to do for this thread.
bool blocking_wait::drive_loops() {
    bool any = false;
    for (std::size_t i = 0; i != count_ && !is_over(); ++i) { // count_ may grow meanwhile
        driven_.store(loops_[i], std::memory_order_seq_cst);
        if (!is_over())
            any = loops_[i]->drive(*this, count_ == 1 ? -1 : turn_ns) || any;
        driven_.store(nullptr, std::memory_order_seq_cst);
    }
    return any;
}

void blocking_wait::wait() {
    while (!is_over()) {
        try {
            if (drive_loops())
                continue;
        } catch (...) {
            if (!thrown_)
                thrown_ = std::current_exception();
            continue;
        }
        park::wait(phase_, pending, count_ == 0 ? -1 : look_again_ns);
    }
    while (phase_.load(std::memory_order_acquire) != finished)
        park::pause();
    if (thrown_)
        std::rethrow_exception(std::exchange(thrown_, nullptr));
}

} // namespace fairlead::impl::exec
