#include "timeline.hpp"

namespace fairlead::sim {

bool timeline::make_space() noexcept {
    // An endpoint has at most one event of each kind; those of closed ones stand in the queue until their time has
    // come.
    auto const needed = events_.size() + event_kinds_of_endpoint + promised_ + 2;
    try {
        if (events_.capacity() < needed)
            events_.reserve(2 * needed);
        return true;
    } catch (...) {
        return false;
    }
}

void timeline::push(std::int64_t at, event_kind k, io::handle h) noexcept {
    auto const order = scheduling_.next() >> 32 << 32 | event_count_++;
    events_.push_back({at, order, h.index, h.generation, k});
    std::push_heap(events_.begin(), events_.end(), &is_later);
}

event timeline::take() noexcept {
    event const e = events_.front();
    std::pop_heap(events_.begin(), events_.end(), &is_later);
    events_.pop_back();
    return e;
}

} // namespace fairlead::sim
