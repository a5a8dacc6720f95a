// bind_cancellation_slot: a handler or token with a cancellation slot of its own.
#pragma once

#include <fairlead/operation/slotted_primitive.hpp>
#include <fairlead/token/adapters.hpp>

namespace fairlead {

/// The result of bind_cancellation_slot.
template <class T, class Slot = cancellation_slot> class cancellation_slot_binder
    : public impl::token::bound_target<T> {
public:
    using cancellation_slot_type = Slot;
    template <class U> cancellation_slot_binder(Slot const& s, U&& t)
        : impl::token::bound_target<T>(std::in_place, std::forward<U>(t)),
          slot_(s) {}
    cancellation_slot_type get_cancellation_slot() const noexcept { return slot_; }

private:
    Slot slot_;
};

/// The result of bind_cancellation_slot(s): it stands for the default token, or binds the one that it is called with.
template <class Slot> using partial_cancellation_slot_binder =
    impl::token::partial_binder<cancellation_slot_binder, Slot>;

/// The operation hears through `s` that it is to end early. Works with handlers and with tokens; without either it
/// binds the default token. The signal of `s` outlives the operation. An operation that cannot be ended early takes no
/// slot: calls of a redis::connection. Deferred, it throws error::operation_not_supported. One that only queues, as
/// post does, takes the slot along with the handler, and completes in its turn.
template <class Slot, class T> auto bind_cancellation_slot(Slot const& s, T&& t) {
    return cancellation_slot_binder<std::decay_t<T>, Slot>(s, std::forward<T>(t));
}
template <class Slot> auto bind_cancellation_slot(Slot const& s) { return partial_cancellation_slot_binder<Slot>(s); }

namespace detail {

/// Of the token alone, so that the compiler says it once however many kinds of initiation meet the token.
template <class Token, bool OperationHearsRequests> void expect_slot_is_heard() {
    static_assert(OperationHearsRequests,
                  "this operation cannot be ended early, so that it takes no cancellation slot; "
                  "use the cancel() of its object, where it has one");
}

template <class Slot> struct wrap_cancellation_slot {
    static constexpr std::size_t async_op_storage = impl::operation::extended_storage;
    Slot slot;
    template <class H> auto operator()(H h) const { return cancellation_slot_binder<H, Slot>(slot, std::move(h)); }
    template <class Values, class I> Values block_as(I& i) const
        requires impl::operation::can_block<I, Values>
    {
        return impl::operation::perform_blocking<Values>(i); // Nobody can ask the thread that waits in there.
    }
    template <class Values, class I> FAIRLEAD_ALWAYS_INLINE impl::base::maybe<Values> try_as(I& i) const
        requires impl::operation::can_try<I, Values>
    {
        return impl::operation::tried<Values>(i);
    }
};

} // namespace detail

template <class T, class Slot> struct impl::operation::adapter_of<cancellation_slot_binder<T, Slot>>
    : impl::operation::adapter_of_handler {
    static detail::wrap_cancellation_slot<Slot> wrap(cancellation_slot_binder<T, Slot> const& b) {
        return {b.get_cancellation_slot()};
    }
};

template <class T, class Slot, class Signature> class async_result<cancellation_slot_binder<T, Slot>, Signature> {
public:
    template <class Initiation>
    static decltype(auto) initiate(Initiation&& initiation, cancellation_slot_binder<T, Slot> b) {
        using init = std::decay_t<Initiation>;
        detail::expect_slot_is_heard<cancellation_slot_binder<T, Slot>, impl::operation::takes_requests<init>()>();
        impl::operation::expect_cancellable(initiation);
        if constexpr (!impl::operation::takes_requests<init>())
            return impl::operation::refused_token<Signature>();
        else if constexpr (std::is_same_v<Slot, cancellation_slot> && impl::operation::slottable<init>)
            return completion_token_transform<Signature>(
                std::move(b.get()), impl::operation::slotted_primitive<init>(init(std::forward<Initiation>(initiation)),
                                                                             b.get_cancellation_slot()));
        else
            return completion_token_transform<Signature>(
                std::move(b.get()), impl::token::wrapped_initiation<init, detail::wrap_cancellation_slot<Slot>>{
                                        std::forward<Initiation>(initiation),
                                        detail::wrap_cancellation_slot<Slot>{b.get_cancellation_slot()}});
    }
};
template <template <class, class> class A, class T, class S, class D>
struct associator<A, cancellation_slot_binder<T, S>, D>
    : impl::operation::pass_on<A, cancellation_slot_binder<T, S>, T, D> {};

} // namespace fairlead
