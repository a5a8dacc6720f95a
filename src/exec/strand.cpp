#include <fairlead/exec/strand.hpp>

#include <fairlead/base/at_scope_end.hpp>
#include <fairlead/exec/loop.hpp>

#include <exec/park.hpp>

namespace fairlead::detail {
namespace {

// Functions of one turn, which share the budget of one item, at most: of the batch below, each is an item. The rest
// waits behind what else is queued below.
constexpr int functions_per_turn = 16;

} // namespace

/// The strands that the thread is inside of, the innermost first.
struct strand_core::turn {
    strand_core const* core;
    turn const* outer;
    static constinit thread_local turn const* innermost;

    explicit turn(strand_core const& c) noexcept : core(&c), outer(std::exchange(innermost, this)) {}
    turn(turn const&) = delete;
    turn& operator=(turn const&) = delete;
    ~turn() { innermost = outer; }
};
constinit thread_local strand_core::turn const* strand_core::turn::innermost = nullptr;

strand_core::strand_core() noexcept {
    turn_.core = this;
    turn_.run = &strand_core::run_turn;
    turn_.cancel = nullptr;
}
strand_core::~strand_core() = default;

bool strand_core::is_running_here() const noexcept {
    for (auto const* t = turn::innermost; t; t = t->outer)
        if (t->core == this)
            return true;
    return false;
}

// Held for a few instructions only.
void strand_core::lock() noexcept {
    while (is_locked_.test_and_set(std::memory_order_acquire))
        impl::exec::park::pause();
}

void strand_core::enqueue(op& o) noexcept {
    // From inside the turn, with nobody waiting: whatever comes from elsewhere comes behind it.
    if (turn::innermost && turn::innermost->core == this && !has_waiting_.load(std::memory_order_relaxed)) {
        taken_.push_back(o);
        return;
    }
    lock();
    waiting_.push_back(o);
    has_waiting_.store(true, std::memory_order_relaxed);
    bool const first = !std::exchange(is_scheduled_, true);
    unlock();
    if (first) {
        retain(); // The turn's.
        schedule_turn();
    }
}

void strand_core::schedule_turn() noexcept { schedule(turn_); }

op* strand_core::next() noexcept {
    if (!taken_.empty())
        return taken_.pop_front();
    lock();
    taken_.splice_back(waiting_);
    has_waiting_.store(false, std::memory_order_relaxed);
    op* const o = taken_.empty() ? nullptr : taken_.pop_front();
    if (!o)
        is_scheduled_ = false; // Another turn may begin elsewhere: not even taken_ is looked at below.
    unlock();
    return o;
}

void strand_core::run_turn(op* base, op_mode mode) {
    auto& core = *static_cast<turn_op*>(base)->core;
    if (mode == op_mode::abandon) {
        while (op* const o = core.next())
            loop::abandon(*o);
        core.release();
        return;
    }
    /// Also when a function throws: what waits behind it has its turn.
    bool is_over = false;
    impl::base::at_scope_end const end([&core, &is_over] {
        if (is_over)
            core.release();
        else
            core.schedule_turn();
    });
    turn const here(core);
    for (int i = 0; i != functions_per_turn; ++i) {
        if (i != 0 && !impl::exec::this_thread.item.take_item()) // The first is what the turn itself stands for below.
            return;
        op* const o = core.next();
        if (!o) {
            is_over = true;
            return;
        }
        loop::run_outside(*o);
    }
}

} // namespace fairlead::detail
