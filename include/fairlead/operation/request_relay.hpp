// How an operation whose state is shared listens to its final handler's slot: a handler there passes requests on. It
// knows whether it is still in the slot, which may have been given to somebody else.
#pragma once

#include <fairlead/operation/associated.hpp>
#include <fairlead/operation/cancellation_signal.hpp>

#include <atomic>
#include <type_traits>

namespace fairlead::impl::operation {

/// Part of a Target, whose request(type) is called.
template <class Target> class request_relay {
public:
    /// Nothing happens if the slot of `handler` belongs to no signal.
    template <class Handler> void listen([[maybe_unused]] Handler const& handler, [[maybe_unused]] Target& to) {
        if constexpr (has_cancellation_slot<Handler>)
            if (auto slot = get_associated_cancellation_slot(handler); slot.is_connected())
                slot.template emplace<in_slot>(*this, to);
    }
    /// Before the handler is called. Other threads have gone from the slot then. A signal that has gone has taken the
    /// handler in its slot with it, and is not touched.
    template <class Handler> void stop([[maybe_unused]] Handler const& handler) noexcept {
        if constexpr (has_cancellation_slot<Handler>) {
            auto const ours = [this] { return listens_.load(std::memory_order_relaxed); };
            if (!ours())
                return;
            auto slot = get_associated_cancellation_slot(handler);
            if constexpr (std::is_same_v<decltype(slot), cancellation_slot>)
                slot_access::clear_if(slot, ours);
            else
                slot.clear();
        }
    }

private:
    struct in_slot {
        request_relay& relay;
        Target& to;
        in_slot(request_relay& r, Target& t) noexcept : relay(r), to(t) {
            relay.listens_.store(true, std::memory_order_relaxed);
        }
        in_slot(in_slot const&) = delete;
        in_slot& operator=(in_slot const&) = delete;
        ~in_slot() { relay.listens_.store(false, std::memory_order_relaxed); }
        void operator()(cancellation_type type) { to.request(type); }
    };

    std::atomic<bool> listens_{false};
};

} // namespace fairlead::impl::operation
