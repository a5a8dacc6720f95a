#include <fairlead/operation/cancellation_state.hpp>

namespace fairlead {
namespace impl::operation {

void chained_signal::remember(cancellation_type type) noexcept {
    auto before = cancelled.load(std::memory_order_relaxed);
    while (!cancelled.compare_exchange_weak(before, before | type, std::memory_order_relaxed)) {
    }
}

bool chained_signal::ask_awaited(cancellation_type type) noexcept {
    lock_.lock();
    bool const is_there = awaited_.cancel;
    if (is_there) {
        awaited_.asked = awaited_.asked | type;
        awaited_.cancel(awaited_.storage, *awaited_.record, type);
    }
    lock_.unlock();
    return is_there;
}

void chained_signal::ask(cancellation_type type) {
    if (!ask_awaited(type))
        signal.emit(type);
}

askable_await chained_signal::awaited() noexcept {
    lock_.lock();
    auto const a = awaited_;
    lock_.unlock();
    return a;
}

} // namespace impl::operation

bool cancellation_state::lies_with_the_asker() const noexcept { return shared_ && shared_->lies_elsewhere(); }

void cancellation_state::repeat() const {
    if (auto const what = cancelled(); !!what)
        shared_->ask(what);
}

void cancellation_state::clear(cancellation_type mask) noexcept {
    if (!shared_)
        return;
    auto before = shared_->cancelled.load(std::memory_order_relaxed);
    while (!shared_->cancelled.compare_exchange_weak(before, before & ~mask, std::memory_order_relaxed)) {
    }
}

} // namespace fairlead
