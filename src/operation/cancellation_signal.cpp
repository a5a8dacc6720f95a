#include <fairlead/operation/cancellation_signal.hpp>

#include <fairlead/exec/recycler.hpp>
#include <fairlead/operation/operation_slot.hpp>

namespace fairlead {

cancellation_signal::use::use(cancellation_signal& s) noexcept : signal_(s), outermost_(s.lock()), outer_(s.uses_) {
    s.uses_ = this;
}

void cancellation_signal::wait_for_lock() noexcept {
    // Held for a few instructions, or while a request is passed to another thread.
    void const* nobody = nullptr;
    while (!holder_.compare_exchange_weak(nobody, loop::self(), std::memory_order_acquire, std::memory_order_relaxed)) {
        nobody = nullptr;
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
}

void cancellation_signal::release() noexcept {
    lock();
    for (use* u = uses_; u; u = u->outer_)
        u->gone_ = true;
    remove();
    impl::exec::recycle_free(block_);
}

void cancellation_signal::make_space(std::size_t bytes) {
    if (block_)
        impl::exec::recycle_free(std::exchange(block_, nullptr));
    block_ = static_cast<impl::operation::slot_block*>(
        impl::exec::recycle_allocate(sizeof(impl::operation::slot_block) + bytes));
    block_->installed = nullptr;
    block_->capacity = bytes;
}

namespace impl::operation {
namespace {

constexpr std::uint64_t tickets_at_once = 1 << 16;
std::atomic<std::uint64_t> first_free_ticket{1};

struct tickets {
    std::uint64_t next;
    std::uint64_t end;
};
constinit thread_local tickets this_threads_tickets{};

} // namespace

std::uint64_t next_ticket() noexcept {
    auto& mine = this_threads_tickets;
    if (mine.next == mine.end) [[unlikely]] {
        mine.next = first_free_ticket.fetch_add(tickets_at_once, std::memory_order_relaxed);
        mine.end = mine.next + tickets_at_once;
    }
    return mine.next++;
}

} // namespace impl::operation
} // namespace fairlead
