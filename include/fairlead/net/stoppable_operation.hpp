// A generic operation that a stop token can end: it is given a handler with a slot, to which the stop callback emits.
#pragma once

#include <fairlead/operation/asked_operation.hpp>
#include <fairlead/operation/initiation_around.hpp>
#include <fairlead/operation/kept_values.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/cancellation.hpp>

#include <atomic>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

namespace fairlead::impl::net {

/// An operation with its stop callback.
template <class Handler, class Kept> class stoppable_operation : public operation::asked_operation<Handler> {
public:
    using values_type = typename Kept::type;
    using operation::asked_operation<Handler>::handler_;

    template <class H> explicit stoppable_operation(H&& h) : operation::asked_operation<Handler>(std::forward<H>(h)) {}

    void discard() noexcept { static_cast<void>(take_handler()); }

    /// The initiating function has returned: now there is somebody in the slot to be asked.
    void operation_begun(std::stop_token const& t) {
        callback_.emplace(t, asks{this});
        if (has_ended(start_bit))
            end_inside_start();
    }
    /// The initiating function has thrown, and dropped its handler.
    void operation_not_begun() noexcept {
        if (has_ended(start_bit))
            discard();
    }
    void operation_done(values_type&& v) {
        if (ended_.load(std::memory_order_acquire) & start_bit)
            return end_with(std::move(v));
        results_.emplace(std::move(v));
        if (has_ended(operation_bit))
            end_with(std::move(*results_));
    }
    /// The operation was abandoned: there is nobody to be called.
    void operation_dropped() noexcept {
        if (has_ended(operation_bit))
            discard();
    }

private:
    // The uses of the block that have not ended.
    static constexpr unsigned operation_bit = 1;
    static constexpr unsigned start_bit = 2;
    /// Notes that something has ended. True: all has, and the caller ends the block.
    bool has_ended(unsigned bit) noexcept {
        return (ended_.fetch_or(bit, std::memory_order_acq_rel) | bit) == (operation_bit | start_bit);
    }

    struct asks {
        stoppable_operation* operation;
        void operator()() noexcept { operation->ask(cancellation_type::terminal); }
    };

    /// Gives the block back. Waits for a stop callback that another thread is in.
    Handler take_handler() noexcept {
        callback_.reset();
        this->unchain();
        Handler h(std::move(handler_));
        operation::deallocate_with(h, this);
        return h;
    }
    /// Called where the operation calls its handler.
    void end_with(values_type&& v) {
        values_type values(std::move(v));
        auto h = take_handler();
        Kept::visit(std::move(values),
                    [&h](auto&& each) { operation::call_with_values(std::move(h), std::move(each)); });
    }
    /// Called inside the initiating function: the handler is queued.
    void end_inside_start() {
        if (!results_)
            return discard();
        values_type values(std::move(*results_));
        auto h = take_handler();
        auto const ex = get_associated_executor(h);
        Kept::visit(std::move(values),
                    [&](auto&& each) { operation::complete_immediately(ex, std::move(h), std::move(each)); });
    }

    std::atomic<unsigned> ended_{0};
    std::optional<std::stop_callback<asks>> callback_;
    std::optional<values_type> results_;
};

template <class Kept, class Initiation> struct stoppable_initiation : operation::initiation_around<Initiation> {
    using operation::initiation_around<Initiation>::initiation;
    static constexpr std::size_t async_op_storage = operation::extended_storage;
    std::stop_token token;

    template <class Handler> void operator()(Handler&& handler) {
        using stoppable = stoppable_operation<std::decay_t<Handler>, Kept>;
        auto* const o = operation::allocate_with<stoppable>(handler, std::forward<Handler>(handler));
        try {
            o->chain();
        } catch (...) {
            o->discard();
            throw;
        }
        auto const kept = std::move(token); // The initiation may be gone when the operation has been started.
        try {
            std::move(initiation)(operation::asked_handler<stoppable, Kept>(o));
        } catch (...) {
            o->operation_not_begun();
            throw;
        }
        o->operation_begun(kept);
    }
    template <class Values> FAIRLEAD_ALWAYS_INLINE base::maybe<Values> try_step_as()
        requires operation::can_try<Initiation, Values>
    {
        if (token.stop_requested())
            return {};
        return operation::tried<Values>(initiation);
    }
};

} // namespace fairlead::impl::net
