// When is the clock looked at next?
//
// Every bound on turns counts items, which costs nothing, and time, for an item may compute for a millisecond. Looking
// at the clock takes longer than a short item does. So as many items run between two looks as short ones came right
// before, and one more. That gives 1, 2, 4 and so on up to a batch. An item, or a row of them, that took a whole slice
// makes it begin anew with 1. No more items run than would fit into the rest of the slice, at the pace of the last
// ones.
//
// Items that take as long as those before them hence hold up everything else for a slice and one item at the most. So
// do long ones among short ones, if they come in turn. The unforeseen costs more: after n short items in a row, n + 1
// long ones may run in a row, once. That is never more than a batch.
//
// Where the loop sleeps between its items, and all were short, most turns are not measured. One turn is measured for
// each batch of items, and a turn of many items from the seventeenth on.
#pragma once

#include <fairlead/exec/budget.hpp>

#include <cstdint>

namespace fairlead::impl::exec {

class pace {
public:
    /// Items that may run before the next look.
    unsigned items() const noexcept { return is_measuring() ? left_ : smaller(left_, unmeasured_most); }
    /// Units that an item gets before the first look of its own.
    int first_units() const noexcept { return first_units_; }
    /// Is the clock to be looked at before another item runs?
    bool is_due() const noexcept { return left_ == 0; }
    /// Items are short, and nothing has to be measured yet.
    bool is_sure() const noexcept { return most_ == fairness::batch_items && !is_due(); }
    bool is_measuring() const noexcept { return looked_ns_ != 0; }
    std::int64_t slice_end_ns() const noexcept { return slice_end_ns_; } ///< 0: no slice has begun

    /// Somebody else may have looked meanwhile.
    void ran(unsigned items) noexcept { left_ -= smaller(items, left_); }
    void look(std::int64_t now) noexcept {
        if (slice_end_ns_ == 0)
            begin_slice(now);
        if (is_measuring() && left_ != left_then_)
            judge(left_then_ - left_, now - looked_ns_, slice_end_ns_ - now);
        else if (is_due())
            left_ = most_;
        looked_ns_ = now;
        left_then_ = left_;
    }
    /// Would so many items take long enough for another thread to be woken?
    FAIRLEAD_EXPORT bool is_worth_waking(unsigned items) const noexcept;
    /// Do items take no longer than a cache line that changes processors, a few times?
    FAIRLEAD_EXPORT bool is_tiny() const noexcept;
    void begin_slice(std::int64_t now) noexcept { slice_end_ns_ = now + fairness::slice_ns; }
    /// From here on time passes in which nothing runs. As long as items are short, what ran unmeasured still counts.
    void rest() noexcept {
        looked_ns_ = slice_end_ns_ = 0;
        if (most_ != fairness::batch_items) [[unlikely]]
            left_ = 0;
    }
    /// Where time stands still while items run.
    void trust() noexcept { set(fairness::batch_items); }

private:
    static constexpr unsigned smaller(unsigned a, unsigned b) noexcept { return a < b ? a : b; }
    static constexpr unsigned unmeasured_most = 16; ///< in one turn; that of a strand has as many

    void judge(unsigned items, std::int64_t took, std::int64_t left_of_slice) noexcept {
        took_ns_ = took;
        judged_ = items;
        if (took >= fairness::slice_ns)
            return set(1);
        auto most = smaller(most_ + items, fairness::batch_items);
        auto const slice = left_of_slice > 0 ? left_of_slice : fairness::slice_ns;
        while (most > 1 && most * took > items * slice)
            most /= 2;
        set(most);
    }
    void set(unsigned most) noexcept {
        most_ = left_ = most;
        first_units_ = static_cast<int>(smaller(most - 1, fairness::units_least));
    }

    std::int64_t took_ns_ = 0; ///< by those that were judged last
    unsigned judged_ = 1;
    std::int64_t looked_ns_ = 0; ///< 0: not since the loop last rested
    std::int64_t slice_end_ns_ = 0;
    unsigned most_ = 1;      ///< between two looks
    unsigned left_ = 0;      ///< until the next look
    unsigned left_then_ = 0; ///< at the last one
    int first_units_ = 0;
};

} // namespace fairlead::impl::exec
