#include <fairlead/exec/share.hpp>

#include <exec/park.hpp>

#include <mutex>

namespace fairlead::impl::exec {

void share::wait_for_end_of_claim() const noexcept {
    while (is_claimed_.load(std::memory_order_acquire))
        park::give_way();
}

void shares::open(share& s) noexcept {
    s.is_open_ = true;
    std::lock_guard const only(mutex_);
    s.next_ = first_;
    first_ = &s;
    open_.fetch_add(1, std::memory_order_relaxed);
}

void shares::close(share& s) noexcept {
    s.is_open_ = false;
    std::lock_guard const only(mutex_);
    share** at = &first_;
    while (*at != &s)
        at = &(*at)->next_;
    *at = s.next_;
    open_.fetch_sub(1, std::memory_order_relaxed);
}

bool shares::come_back_soon(std::int64_t now) noexcept {
    std::lock_guard const only(mutex_);
    bool soon = first_ != nullptr;
    for (share* s = first_; s; s = s->next_) {
        auto const stretches = s->stretches_.load(std::memory_order_relaxed);
        if (stretches != s->seen_stretches_) {
            s->seen_stretches_ = stretches;
            s->seen_ns_ = now;
        }
        if (s->is_long_.load(std::memory_order_relaxed) || now - s->seen_ns_ >= stuck_ns)
            soon = false;
    }
    return soon;
}

shares::found shares::take_over(op_queue& into, share const* own) noexcept {
    std::lock_guard const only(mutex_);
    bool any = false;
    for (share* s = first_; s; s = s->next_)
        if (s != own) {
            s->is_claimed_.store(true, std::memory_order_seq_cst);
            any = true;
        }
    if (!any)
        return found::nothing;
    // A section that began before the barrier shows; one that begins after it sees the claim.
    auto result = park::barrier_in_all_threads() ? found::nothing : found::unknown;
    for (share* s = first_; s; s = s->next_) {
        if (s == own)
            continue;
        if (!s->thread_.is_outside_soon()) {
            if (result == found::nothing)
                result = found::unknown;
        } else if (!s->items_.empty()) {
            into.splice_back(s->items_);
            result = found::something;
        }
        s->is_claimed_.store(false, std::memory_order_release);
    }
    return result;
}

void shares::prepare_early() noexcept {
    if (!park::are_barriers_prepared() && park::is_single_threaded())
        park::can_have_barriers();
}
void shares::prepare() noexcept { park::can_have_barriers(); }
bool shares::are_prepared() noexcept { return park::are_barriers_prepared(); }
bool shares::are_possible() noexcept {
    static bool const can = park::barrier_in_all_threads();
    return can;
}

} // namespace fairlead::impl::exec
