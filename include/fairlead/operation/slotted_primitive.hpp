// A primitive with a cancellation slot. It listens to the slot only while it waits, and stays a primitive: tried at
// once, with its op in the await record.
#pragma once

#include <fairlead/operation/initiate.hpp>

#include <utility>

namespace fairlead::impl::operation {

template <class Record> struct slotted_record : Record {
    cancellation_slot slot;
};

/// Primitives that a slot can be bound to in this way. Other operations are given a handler that has the slot.
template <class Init>
concept slottable = primitive_initiation<Init> && cancellable_record<typename Init::record> && !takes_here<Init> &&
                    !has_own_slot<Init> && await_record::fits<slotted_record<typename Init::record>>;

template <class Init> struct slotted_primitive
    : extended_primitive<slotted_primitive<Init>, Init, slotted_record<typename Init::record>> {
    using base = extended_primitive<slotted_primitive<Init>, Init, slotted_record<typename Init::record>>;
    using typename base::record;

    cancellation_slot slot;

    slotted_primitive(Init&& i, cancellation_slot s) : base(std::move(i)), slot(s) {}

    void prepare(record& o) const noexcept {
        base::prepare(o);
        o.slot = slot;
    }
    void prepare(record& o, void* extra) const noexcept
        requires needs_extra_bytes<Init>
    {
        base::prepare(o, extra);
        o.slot = slot;
    }
    static cancellation_slot slot_of(record& o) noexcept { return o.slot; }
    /// Nobody can ask the thread that waits in there.
    template <class Values> Values block_as() const
        requires can_block<Init const, Values>
    {
        return perform_blocking<Values>(this->inner);
    }
};

} // namespace fairlead::impl::operation
