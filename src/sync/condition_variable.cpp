#include <fairlead/sync/condition_variable.hpp>

#include <cerrno>

namespace fairlead::impl::sync {

condition_core::~condition_core() { cancel(); }

void condition_core::wait(notified_op& o) noexcept {
    domain().change([&](op_queue& ready) {
        if (o.guard)
            guard_access::mutex_of(*o.guard) = nullptr; // The mutex may be another one's from here on.
        domain().append(*this, o);
        static_cast<mutex_core*>(o.of)->unlock_for(ready);
    });
}

void condition_core::lock_again(notified_op& o, int error, op_queue& ready) noexcept {
    o.domain->take(o);
    o.error = error;
    o.is_to_own = true;
    static_cast<mutex_core*>(o.of)->lock_in_turn(o, ready);
}

std::size_t condition_core::end_waits(std::size_t most, int error) noexcept {
    std::size_t n = 0;
    domain().change([&](op_queue& ready) {
        for (; n != most && !empty(); ++n)
            lock_again(static_cast<notified_op&>(front()), error, ready);
    });
    return n;
}

void condition_core::notify(std::size_t most) noexcept { end_waits(most, 0); }

std::size_t condition_core::cancel() noexcept { return end_waits(std::numeric_limits<std::size_t>::max(), ECANCELED); }

void condition_core::cancel_one(notified_op& o) noexcept {
    o.domain->change([&](op_queue& ready) {
        if (o.list && !o.is_to_own)
            lock_again(o, ECANCELED, ready);
    });
}

void condition_core::is_taken(notified_op& o) noexcept {
    owned_object::is_taken(o);
    if (o.guard && o.has.load(std::memory_order_relaxed) == owning_op::share::taken)
        guard_access::mutex_of(*o.guard) = static_cast<mutex_core*>(o.of);
}

} // namespace fairlead::impl::sync
