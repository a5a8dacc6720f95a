// Deadlines in order: a four-ary heap with the deadlines in the array, so that sifting touches no op.
#pragma once

#include <fairlead/exec/execution_context.hpp>
#include <fairlead/io/timer_op.hpp>

#include <algorithm>
#include <vector>

namespace fairlead::io {

class timer_heap {
public:
    explicit timer_heap(execution_context& context) noexcept : heap_(execution_context::allocator<entry>(context)) {}
    bool empty() const noexcept { return heap_.empty(); }
    std::size_t size() const noexcept { return heap_.size(); }
    std::int64_t first_deadline() const noexcept { return heap_.front().deadline; }

    /// False: no memory.
    bool insert(timed& t, std::int64_t deadline_ns) noexcept {
        try {
            heap_.push_back({});
        } catch (...) {
            return false;
        }
        up(heap_.size() - 1, {deadline_ns, next_order_++, &t});
        return true;
    }
    void erase(timed& t) noexcept {
        auto const hole = t.heap_index;
        t.heap_index = timed::not_armed;
        entry const last = heap_.back();
        heap_.pop_back();
        if (hole == heap_.size())
            return;
        if (hole != 0 && before(last, heap_[(hole - 1) / 4]))
            up(hole, last);
        else
            down(hole, last);
    }
    /// Whether `t` is in here. It may have gone, and is not looked into.
    bool contains(timed const* t) const noexcept {
        return std::any_of(heap_.begin(), heap_.end(), [t](entry const& e) { return e.what == t; });
    }
    /// The first op with a mark, in no particular order; null: there is none.
    timer_op* find_marked() const noexcept {
        auto const is_marked = [](entry const& e) {
            return !e.what->is_limit && fairlead::impl::exec::is_marked_asked(static_cast<timer_op&>(*e.what));
        };
        auto const found = std::find_if(heap_.begin(), heap_.end(), is_marked);
        return found == heap_.end() ? nullptr : static_cast<timer_op*>(found->what);
    }
    timed& pop() noexcept {
        timed& t = *heap_.front().what;
        erase(t);
        return t;
    }

private:
    struct entry {
        std::int64_t deadline;
        std::uint64_t order; ///< of arming; equal deadlines expire in this order
        timed* what;
    };
    static bool before(entry const& a, entry const& b) noexcept {
        return a.deadline != b.deadline ? a.deadline < b.deadline : a.order < b.order;
    }
    void place(std::size_t i, entry const& e) noexcept {
        heap_[i] = e;
        e.what->heap_index = static_cast<std::uint32_t>(i);
    }
    void up(std::size_t i, entry const e) noexcept {
        while (i != 0) {
            auto const parent = (i - 1) / 4;
            if (!before(e, heap_[parent]))
                break;
            place(i, heap_[parent]);
            i = parent;
        }
        place(i, e);
    }
    void down(std::size_t i, entry const e) noexcept {
        for (;;) {
            auto const first = 4 * i + 1;
            if (first >= heap_.size())
                break;
            auto best = first;
            auto const end = first + 4 < heap_.size() ? first + 4 : heap_.size();
            for (auto c = first + 1; c < end; ++c)
                if (before(heap_[c], heap_[best]))
                    best = c;
            if (!before(heap_[best], e))
                break;
            place(i, heap_[best]);
            i = best;
        }
        place(i, e);
    }

    std::vector<entry, execution_context::allocator<entry>> heap_;
    std::uint64_t next_order_ = 0;
};

} // namespace fairlead::io
