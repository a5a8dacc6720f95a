#include <fairlead/sync/owned_wait.hpp>

#include <cerrno>

namespace fairlead::impl::sync {

std::size_t owned_object::cancel() noexcept {
    std::size_t n = 0;
    domain().change([&](op_queue& ready) noexcept {
        op_queue all;
        domain().cancel_all(*this, all);
        while (!all.empty()) {
            auto& o = static_cast<owning_op&>(*all.pop_front());
            if (o.is_to_own) {
                domain().append(*this, o);
            } else {
                ready.push_back(o);
                ++n;
            }
        }
    });
    return n;
}

void owned_object::leave() noexcept {
    domain().change([&](op_queue& ready) noexcept {
        domain().cancel_all(*this, ready);
        while (owning_op* const o = given_) {
            leave_list(*o);
            o->result.error = ECANCELED;
            o->has.store(owning_op::share::none, std::memory_order_release);
        }
    });
}

void owned_object::give(owning_op& o, op_queue& ready) noexcept {
    o.previous_given = nullptr;
    o.next_given = given_;
    if (given_)
        given_->previous_given = &o;
    given_ = &o;
    o.has.store(owning_op::share::given, std::memory_order_relaxed);
    o.result = {o.error, 0, 0};
    ready.push_back(o);
}

void owned_object::leave_list(owning_op& o) noexcept {
    (o.previous_given ? o.previous_given->next_given : o.of->given_) = o.next_given;
    if (o.next_given)
        o.next_given->previous_given = o.previous_given;
}

void owned_object::take_given(owning_op& o) noexcept {
    o.domain->under_lock([&]() noexcept {
        if (o.has.load(std::memory_order_relaxed) != owning_op::share::given)
            return; // The object has gone.
        leave_list(o);
        o.has.store(owning_op::share::taken, std::memory_order_relaxed);
    });
}

void owned_object::is_given_up(owning_op& o) noexcept {
    if (o.has.load(std::memory_order_acquire) == owning_op::share::none)
        return; // Perhaps the object has gone, and the domain with its context.
    o.domain->change([&](op_queue& ready) noexcept {
        auto const had = o.has.exchange(owning_op::share::none, std::memory_order_relaxed);
        if (had == owning_op::share::given)
            leave_list(o);
        if (had != owning_op::share::none)
            o.of->take_back(o, ready);
    });
}

} // namespace fairlead::impl::sync
