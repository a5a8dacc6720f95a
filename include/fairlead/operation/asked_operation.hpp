// A generic operation that something else than its caller asks to end: a time limit, a stop token.
//
// The operation is given a handler with a slot of its own. The final handler lies behind that, in one block of its
// allocator, and what its slot is asked for is passed on.
#pragma once

#include <fairlead/operation/associated.hpp>
#include <fairlead/operation/cancellation_signal.hpp>
#include <fairlead/operation/completion.hpp>

#include <atomic>
#include <type_traits>
#include <utility>

namespace fairlead::impl::operation {

/// The part of that block which does not depend on who asks.
template <class Handler> class asked_operation {
public:
    asked_operation(asked_operation const&) = delete;
    asked_operation& operator=(asked_operation const&) = delete;

    Handler const& get() const noexcept { return handler_; }
    cancellation_slot slot() noexcept { return signal_.slot(); }

    /// Passes on what the final handler's slot is asked for.
    void chain() {
        if constexpr (has_cancellation_slot<Handler>)
            if (auto parent = get_associated_cancellation_slot(handler_); parent.is_connected())
                parent.template emplace<relay>(*this);
    }

protected:
    template <class H>
        requires(!std::is_base_of_v<asked_operation, std::decay_t<H>>)
    explicit asked_operation(H&& h) : handler_(std::forward<H>(h)) {}
    ~asked_operation() = default;

    void ask(cancellation_type type) { signal_.emit(type); }
    /// Ends chain(), unless the slot has been given to somebody else.
    void unchain() noexcept {
        if constexpr (has_cancellation_slot<Handler>) {
            auto const ours = [this] { return chained_.load(std::memory_order_relaxed); };
            if (!ours())
                return;
            auto parent = get_associated_cancellation_slot(handler_);
            if constexpr (std::is_same_v<decltype(parent), cancellation_slot>)
                slot_access::clear_if(parent, ours);
            else
                parent.clear();
        }
    }

private:
    struct relay {
        asked_operation& to;
        explicit relay(asked_operation& o) noexcept : to(o) { to.chained_.store(true, std::memory_order_relaxed); }
        relay(relay const&) = delete;
        relay& operator=(relay const&) = delete;
        ~relay() { to.chained_.store(false, std::memory_order_relaxed); }
        void operator()(cancellation_type type) { to.signal_.emit(type); }
    };

    cancellation_signal signal_;
    std::atomic<bool> chained_{false};

protected:
    Handler handler_;
};

/// The handler that the operation sees. Its associations are those of the final handler, but for the slot. Operation:
/// an asked_operation with operation_done() and operation_dropped(). Kept: how results are kept.
template <class Operation, class Kept> class asked_handler {
public:
    using cancellation_slot_type = cancellation_slot;
    using slot_is_known_when_started = std::true_type;

    explicit asked_handler(Operation* o) noexcept : operation_(o) {}
    asked_handler(asked_handler&& other) noexcept : operation_(std::exchange(other.operation_, nullptr)) {}
    asked_handler& operator=(asked_handler&&) = delete;
    ~asked_handler() {
        if (operation_)
            operation_->operation_dropped();
    }
    auto const& get() const noexcept { return operation_->get(); }
    cancellation_slot_type get_cancellation_slot() const noexcept { return operation_->slot(); }
    template <class... Args> void operator()(Args&&... args) {
        std::exchange(operation_, nullptr)->operation_done(Kept::make(std::forward<Args>(args)...));
    }

private:
    Operation* operation_;
};

} // namespace fairlead::impl::operation

namespace fairlead {

template <template <class, class> class A, class O, class V, class D>
struct associator<A, impl::operation::asked_handler<O, V>, D>
    : impl::operation::pass_on<A, impl::operation::asked_handler<O, V>,
                               std::decay_t<decltype(std::declval<O const&>().get())>, D> {};

} // namespace fairlead
