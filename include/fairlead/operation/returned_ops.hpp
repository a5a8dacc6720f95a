// The ops of one operation that come back, perhaps on several threads at once. One thread at a time takes them; the
// others leave theirs there and go. So nobody waits for anybody, and no thread holds a lock when it calls out.
#pragma once

#include <fairlead/exec/op.hpp>

#include <atomic>
#include <utility>

namespace fairlead::impl::operation {

class returned_ops {
public:
    /// The first to take is the thread that makes it.
    returned_ops() noexcept : last_(&end_) {}
    returned_ops(returned_ops const&) = delete;
    returned_ops& operator=(returned_ops const&) = delete;

    /// True: nobody takes ops now, so the caller has to. False: the op may have gone, and this with it.
    bool add(op& o) noexcept {
        op_link* before = last_.load(std::memory_order_relaxed);
        do
            o.next = before;
        while (!last_.compare_exchange_weak(before, &o, std::memory_order_acq_rel, std::memory_order_relaxed));
        return !before;
    }
    /// Calls `f` for all ops that have come, in their order. They may go meanwhile.
    template <class F> void take(F f) {
        op_link* in_order = nullptr;
        for (op_link* o = last_.exchange(&end_, std::memory_order_acq_rel); o && o != &end_;)
            in_order = std::exchange(o, std::exchange(o->next, in_order));
        while (in_order)
            f(*static_cast<op*>(std::exchange(in_order, in_order->next)));
    }
    /// True: nothing more has come. The next one may come now, on another thread.
    bool leave() noexcept {
        op_link* none = &end_;
        return last_.compare_exchange_strong(none, nullptr, std::memory_order_acq_rel, std::memory_order_relaxed);
    }

private:
    op_link end_{};              ///< stands behind the first of the ops that somebody will take
    std::atomic<op_link*> last_; ///< null: nobody takes any
};

} // namespace fairlead::impl::operation
