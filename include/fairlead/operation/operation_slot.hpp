// How a primitive of the library listens to the slot of its handler.
//
// An op that can be asked to end early has a ticket, a number that no other op ever has, in its `cancel` field. A
// thread that asks need not know whether the op still exists. In the thread that owns the loop, or by a message to it,
// the driver looks for the ticket among the pending ops. Before the handler runs the op takes itself out of the slot.
#pragma once

#include <fairlead/base/error.hpp>
#include <fairlead/operation/associated.hpp>
#include <fairlead/operation/async_result.hpp>
#include <fairlead/operation/initiation_traits.hpp>

#include <cstdint>

namespace fairlead::impl::operation {

FAIRLEAD_EXPORT std::uint64_t next_ticket() noexcept;

[[noreturn]] inline void throw_not_cancellable() {
    base::throw_error_now(
        error::make_error_code(error::operation_not_supported),
        "this operation cannot be ended early, so that it takes neither a time limit nor a cancellation slot");
}

/// As takes_requests, where only the program knows: for deferred operations.
/// Throws     system_error of error::operation_not_supported    it cannot be ended early
template <class I> void expect_cancellable(I const& initiation) {
    if constexpr (requires { initiation.hears_requests(); })
        if (!initiation.hears_requests())
            throw_not_cancellable();
}

/// Handlers whose type does not tell whether their slot belongs to a signal. Some have an unknown type, and the steps
/// of composed operations have the slot of the final handler. They name a type `slot_is_known_when_started`.
struct late_slot_member {
    template <class T> using type_of = typename T::slot_is_known_when_started;
};
template <class T, class Default = std::false_type> struct late_slot
    : decltype(choose_association<late_slot, late_slot_member, T, Default>())::type {};

/// Operations that would leave the slot of a handler without anybody who listens. Those that only queue may.
template <class Init> inline constexpr bool is_deaf = !takes_requests<Init>();
template <class Init, class Handler> inline constexpr bool ignores_slot_of =
    is_deaf<Init> && has_cancellation_slot<Handler> && !late_slot<Handler>::type::value;

/// No operation ignores a slot: a handler that has one does not compile with a deaf operation.
/// Throws     system_error of error::operation_not_supported    the slot is connected, as is known only now
template <class Init, class Handler> void expect_slot_is_heard([[maybe_unused]] Handler const& h) {
    static_assert(!ignores_slot_of<Init, Handler>, FAIRLEAD_NO_SLOT);
    if constexpr (is_deaf<Init> && has_cancellation_slot<Handler>)
        if (get_associated_cancellation_slot(h).is_connected())
            throw_not_cancellable();
}

/// The handler that an op installs in a slot.
template <class Target> class op_canceller {
public:
    op_canceller(Target const& t, op& o) noexcept : target_(t), op_(o) {}
    op_canceller(op_canceller const&) = delete;
    op_canceller& operator=(op_canceller const&) = delete;
    /// The op lives, or it would have cleared the slot. From now on it has nothing to clear.
    ~op_canceller() { exec::ticket_of(op_).store(nullptr, std::memory_order_relaxed); }

    void operator()(cancellation_type type) {
        if (!!(type & target_.accepts))
            target_.request(op_);
    }

private:
    Target target_;
    op& op_;
};

/// Lets `o`, which is about to be submitted, listen to `slot`.
template <class Slot, class Record> void listen(Slot slot, Record& o, loop& home) {
    if (!slot.is_connected())
        return;
    using target = decltype(cancellation_of(o, home));
    o.cancel = reinterpret_cast<void*>(next_ticket());
    try {
        slot.template emplace<op_canceller<target>>(cancellation_of(o, home), o);
    } catch (...) {
        o.cancel = nullptr;
        throw;
    }
}

/// As listen(); `give_up()` is called if there is no memory for it.
template <class GiveUp, class Slot, class Record> void listen_or(GiveUp give_up, Slot slot, Record& o, loop& home) {
    try {
        listen(slot, o, home);
    } catch (...) {
        give_up();
        throw;
    }
}

/// Ends that, before `o` is given back. A slot that has been given to somebody else meanwhile stays theirs.
template <class Slot> void stop_listening(Slot slot, op& o) noexcept {
    auto const ours = [&o] { return exec::ticket_of(o).load(std::memory_order_relaxed) != nullptr; };
    if (!ours())
        return;
    if constexpr (std::is_same_v<Slot, cancellation_slot>)
        slot_access::clear_if(slot, ours);
    else
        slot.clear();
}

/// True when the operation listens to a slot, the handler's or its own.
template <class Init, class Handler> inline constexpr bool listens =
    cancellable_record<typename Init::record> &&
    (has_cancellation_slot<Handler> || requires(typename Init::record& o) { Init::slot_of(o); });

} // namespace fairlead::impl::operation
