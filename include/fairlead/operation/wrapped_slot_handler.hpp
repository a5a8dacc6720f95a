// A handler around the one that a slot holds.
#pragma once

#include <fairlead/base/taken_from.hpp>
#include <fairlead/exec/recycler.hpp>
#include <fairlead/operation/cancellation_signal.hpp>

#include <new>
#include <utility>

namespace fairlead::impl::operation {

/// The handler that was in the slot, in its block.
class wrapped_slot_handler {
public:
    wrapped_slot_handler(wrapped_slot_handler&& other) noexcept : block_(base::taken_from(other.block_)) {}
    wrapped_slot_handler& operator=(wrapped_slot_handler&&) = delete;
    ~wrapped_slot_handler() {
        if (!block_)
            return;
        block_->installed->destroy(block_->place());
        exec::recycle_free(block_);
    }

    /// It may clear the slot, and so destroy this.
    void operator()(cancellation_type type) const { block_->installed->call(block_->place(), type); }

    /// Calls f(outer) if the slot holds an Outer. False: it does not.
    template <class Outer, class F> static bool find(cancellation_slot slot, F&& f) {
        cancellation_signal::use const mine(*slot.signal_);
        slot_block* const block = slot.signal_->block_;
        if (!block || block->installed != &slot_handler_table<Outer>)
            return false;
        std::forward<F>(f)(*std::launder(static_cast<Outer*>(block->place())));
        return true;
    }
    /// Makes an Outer(wrapped_slot_handler&&, args...) of what the slot holds. False: that is nothing.
    template <class Outer, class... Args> static bool wrap(cancellation_slot slot, Args&&... args) {
        static_assert(alignof(Outer) <= 16 && std::is_nothrow_constructible_v<Outer, wrapped_slot_handler, Args...>);
        cancellation_signal::use const mine(*slot.signal_);
        slot_block*& block = slot.signal_->block_;
        if (!block || !block->installed)
            return false;
        auto* const outer = static_cast<slot_block*>(exec::recycle_allocate(sizeof(slot_block) + sizeof(Outer)));
        ::new (outer->place()) Outer(wrapped_slot_handler(block), std::forward<Args>(args)...);
        outer->installed = &slot_handler_table<Outer>;
        outer->capacity = sizeof(Outer);
        block = outer;
        return true;
    }

private:
    explicit wrapped_slot_handler(slot_block* b) noexcept : block_(b) {}
    slot_block* block_;
};

} // namespace fairlead::impl::operation
