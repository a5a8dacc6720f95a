// The operation state of an async_op as a sender. It has the await record that a chain of coroutines would lend to the
// operation, and a receiver in place of the coroutine.
//
// start() does what co_await does. It tries the operation, if the thread and the item's budget allow that, and then
// completes in there. Otherwise the op goes to its driver, or to the queue.
#pragma once

#include <fairlead/base/disposition_traits.hpp>
#include <fairlead/sender/protocol.hpp>
#include <fairlead/sender/started_record.hpp>
#include <fairlead/sender/stop_requests.hpp>

#include <exception>
#include <tuple>
#include <utility>

namespace fairlead::impl::sender {

/// The ways in which an operation ends, in the words of one library.
template <class Signature> struct ends_of;
template <class R, class... Args> struct ends_of<R(Args...)> {
    template <template <class...> class Set, class Value, class Error, class Stopped> using in =
        Set<Value(Args...), Error(std::exception_ptr), Stopped()>;
};
template <class R, disposition First, class... Rest> struct ends_of<R(First, Rest...)> {
    template <template <class...> class Set, class Value, class Error, class Stopped> using in =
        Set<Value(Rest...), Error(First), Error(std::exception_ptr), Stopped()>;
};
template <class R, class... Rest> struct ends_of<R(std::exception_ptr, Rest...)> {
    template <template <class...> class Set, class Value, class Error, class Stopped> using in =
        Set<Value(Rest...), Error(std::exception_ptr), Stopped()>;
};
template <class Signature, std::size_t Storage> struct own_signatures<async_op<Signature, Storage>> {
    using type = typename ends_of<Signature>::template in<execution::completion_signatures, execution::set_value_t,
                                                          execution::set_error_t, execution::set_stopped_t>;
};
template <operation::brings_awaiter Op> struct own_signatures<Op> : own_signatures<typename Op::async_op_type> {};
template <class R, class... Args> struct foreign_signatures<R(Args...)> {
    using type = typename ends_of<R(Args...)>::template in<stdexec::completion_signatures, stdexec::set_value_t,
                                                           stdexec::set_error_t, stdexec::set_stopped_t>;
};

inline bool stands_for_cancellation(error_code const& ec) noexcept { return base::is_cancelled(ec); }
inline bool stands_for_cancellation(std::exception_ptr const& e) noexcept { return operation::is_cancellation(e); }
template <class Disposition> bool stands_for_cancellation(Disposition const&) noexcept { return false; }

/// Calls the receiver, which may destroy the operation state in there.
template <class Receiver> void end_stopped(Receiver& r) noexcept { std::move(r).set_stopped(); }
template <class Receiver, class Disposition> void end_failed(Receiver& r, Disposition&& d) noexcept {
    if (stands_for_cancellation(d))
        std::move(r).set_stopped();
    else
        std::move(r).set_error(std::forward<Disposition>(d));
}
template <class Receiver, class Values> void end_with(Receiver& r, Values& v) noexcept {
    std::apply([&r](auto&... each) { std::move(r).set_value(std::move(each)...); }, v);
}
template <class Receiver, disposition First, class... Rest>
void end_with(Receiver& r, std::tuple<First, Rest...>& v) noexcept {
    if (std::get<0>(v) != no_error) [[unlikely]]
        return end_failed(r, std::move(std::get<0>(v)));
    std::apply([&r](First&, Rest&... rest) { std::move(r).set_value(std::move(rest)...); }, v);
}

/// The only error about a receiver that does not fit.
template <class Op, class Receiver> class connected_op {
    static_assert(!sizeof(Op), "this receiver does not take each end of the operation: it needs set_value(values...), "
                               "set_error(error_code), set_error(std::exception_ptr) and set_stopped()");

public:
    using operation_state_concept = execution::operation_state_tag;
    connected_op(Op&&, Receiver&&) noexcept {}
    void start() noexcept {}
};

template <class R, class... Args, std::size_t Storage, class Receiver>
    requires takes_all<Receiver, typename own_signatures<async_op<R(Args...), Storage>>::type>
class connected_op<async_op<R(Args...), Storage>, Receiver> final : started_record {
    using op_type = async_op<R(Args...), Storage>;
    using values = typename op_type::values;
    using access = operation::op_access;
    using token_type = execution::stop_token_of_t<execution::env_of_t<Receiver>>;
    using listener = stop_listener<token_type>;

public:
    using operation_state_concept = execution::operation_state_tag;

    FAIRLEAD_ALWAYS_INLINE connected_op(op_type&& o, Receiver&& r)
        : started_record(the_hooks),
          op_(access::move_to_start(std::move(o))),
          receiver_(std::move(r)),
          stop_(execution::get_stop_token(execution::get_env(receiver_))) {}
    ~connected_op() = default;

    /// As a coroutine starts what it awaits. Threads: those that may call the initiating function.
    FAIRLEAD_ALWAYS_INLINE void start() noexcept {
        auto const* const f = access::functions(op_); // Known to a compiler that has seen connect().
        if constexpr (listener::hears)
            if (stop_.is_stopped()) [[unlikely]]
                is_stopped_ = true;
        home = f->home(access::storage(op_));
        if (home) [[likely]]
            return begin(f);
        start_elsewhere(f);
    }

    // ---- for an algorithm that repeats operations of this type (sender/repeat.hpp)
    /// The operation has succeeded, and has left nothing behind.
    bool can_be_renewed() const noexcept { return notes == 0 && !executor && !has_ended_; }
    /// Makes another operation in the place of the last one, and starts it. True: it has succeeded at once, and
    /// visit(values...) was called instead of the receiver. False: the receiver has been called, or will be; this may
    /// be gone.
    /// Throws     what make() and visit() throw
    template <class Make, class Visit> FAIRLEAD_ALWAYS_INLINE bool renew(Make& make, Visit& visit) {
        access::leave(op_);
        try {
            if constexpr (std::is_same_v<decltype(make()), op_type>)
                ::new (static_cast<void*>(&op_)) op_type(make());
            else
                ::new (static_cast<void*>(&op_)) op_type(operation::as_async_op(make()));
        } catch (...) {
            access::leave_unmade(op_);
            throw;
        }
        auto const* const f = access::functions(op_); // Known to a compiler that has seen make().
        if constexpr (listener::hears)
            if (stop_.is_stopped()) [[unlikely]]
                is_stopped_ = true;
        home = f->home(access::storage(op_));
        if (!home) [[unlikely]]
            start_elsewhere(f);
        else if (!may_complete_inside() || !try_inside(f)) [[unlikely]]
            start_slowly();
        else if (visits_plain_values(visit)) [[likely]]
            return true;
        else
            complete_inside();
        return false;
    }

private:
    using functions = operation::initiation_functions<Args...>;

    FAIRLEAD_NOINLINE void start_elsewhere(functions const* f) noexcept {
        find_home();
        if (state == exec::await_state::failed)
            start_slowly();
        else
            begin(f);
    }
    template <class Visit> FAIRLEAD_ALWAYS_INLINE bool visits_plain_values(Visit& visit) {
        if constexpr (operation::plain_values<values>) {
            if (state == exec::await_state::plain) [[likely]] {
                auto const& result = get<op>().result;
                if (result.error == 0) [[likely]] {
                    if constexpr (std::tuple_size_v<values> == 2)
                        visit(std::size_t{result.n});
                    else
                        visit();
                    return true;
                }
            }
        }
        return false;
    }

    /// An executor that runs no loop; or, for an operation that runs anywhere, the loop of the caller, whose budget it
    /// has.
    FAIRLEAD_NOINLINE void find_home() noexcept {
        auto const* const f = access::functions(op_);
        try {
            if (f->executor)
                be_at_home_with(f->executor(access::storage(op_)));
        } catch (...) {
            operation::await_has_failed(*this, std::current_exception());
        }
        if (!home)
            home = exec::this_thread.current;
    }
    FAIRLEAD_ALWAYS_INLINE void begin(functions const* f) noexcept {
        if (may_complete_inside() && try_inside(f)) [[likely]]
            complete_inside();
        else
            start_slowly();
    }
    /// Within the budget.
    FAIRLEAD_ALWAYS_INLINE bool try_inside(functions const* f) noexcept {
        if (!f->try_step)
            return false;
        if constexpr (listener::hears)
            if (is_stopped_)
                return false;
        try {
            return f->try_step(access::storage(op_), *this) == operation::step::ready;
        } catch (...) {
            operation::await_has_failed(*this, std::current_exception());
            return true;
        }
    }
    FAIRLEAD_ALWAYS_INLINE void complete_inside() noexcept {
        auto& thread = exec::this_thread;
        if (thread.immediate_depth == 0)
            return complete_outermost();
        ++thread.immediate_depth;
        finish();
        --thread.immediate_depth;
    }
    FAIRLEAD_NOINLINE void complete_outermost() noexcept {
        starts_taker const taker;
        finish();
    }
    /// By the taker, when the stack has been unwound.
    static void start_again(op* o, op_mode) {
        auto& self = static_cast<connected_op&>(await_record::of(*o));
        self.begin(access::functions(self.op_));
    }

    /// For an operation that is not ready, or may not complete in here.
    FAIRLEAD_NOINLINE void start_slowly() noexcept {
        bool const here = is_at_home();
        bool inside = here && exec::this_thread.immediate_depth < fairness::inline_depth_most;
        if (here && !inside) {
            if (start_later(make<op>(), &start_again))
                return;
            inside = !home; // There is no queue to go to.
            if (!inside && access::functions(op_)->try_step)
                state = exec::await_state::exhausted;
        }
        if (!is_stopped_ && state != exec::await_state::failed && !has_ended_at_once())
            return; // This may be gone.
        if (state == exec::await_state::failed)
            exec::this_thread.await_failed = false; // No coroutine goes on.
        if (inside)
            return complete_inside();
        has_ended_ = true;
        loop::resume_later(*this);
    }
    /// False: it ends later, or has done so.
    bool has_ended_at_once() noexcept {
        try {
            if constexpr (listener::hears) {
                if (stop_.can_be_stopped()) {
                    notes |= can_be_asked;
                    stop_.listen(*this, &requests_have_gone);
                }
            }
            return !access::functions(op_)->start_await(access::storage(op_), *this);
        } catch (...) {
            operation::await_has_failed(*this, std::current_exception());
            return true;
        }
    }

    /// The operation has ended.
    FAIRLEAD_ALWAYS_INLINE void finish() noexcept {
        if constexpr (operation::plain_values<values>) {
            if (state == exec::await_state::plain && !listens() && !is_stopped_) [[likely]] {
                auto const& result = get<op>().result;
                if (result.error == 0) [[likely]] {
                    if constexpr (std::tuple_size_v<values> == 2)
                        return std::move(receiver_).set_value(std::size_t{result.n});
                    else
                        return std::move(receiver_).set_value();
                }
            }
        }
        finish_slowly();
    }
    bool listens() const noexcept {
        if constexpr (listener::hears)
            return stop_.listens();
        else
            return false;
    }
    FAIRLEAD_NOINLINE void finish_slowly() noexcept {
        if constexpr (listener::hears)
            if (stop_.listens())
                return stop_.stop_listening();
        deliver();
    }
    static void requests_have_gone(operation::chained_signal& s) noexcept {
        auto& self = static_cast<connected_op&>(static_cast<stop_requests&>(s).owner);
        if (self.is_at_home() || self.is_stopped_)
            self.deliver();
        else
            self.go_home();
    }
    /// From the thread that happens to be the last to refer to the requests, with the result.
    void go_home() noexcept {
        if (state != exec::await_state::failed) {
            try {
                operation::store_result(*this, take_values());
                state = exec::await_state::stored;
            } catch (...) {
                operation::await_has_failed(*this, std::current_exception());
                exec::this_thread.await_failed = false;
            }
        }
        has_ended_ = true;
        loop::resume_later(*this);
    }
    void deliver() noexcept {
        if (is_stopped_)
            return end_stopped(receiver_);
        if (state == exec::await_state::failed) [[unlikely]] {
            state = exec::await_state::idle;
            exec::this_thread.await_failed = false;
            return end_failed(receiver_, operation::take_result<std::exception_ptr>(*this));
        }
        try {
            auto v = take_values();
            end_with(receiver_, v);
        } catch (...) { // A move of a value has thrown.
            end_failed(receiver_, std::current_exception());
        }
    }
    values take_values() {
        if constexpr (operation::plain_values<values>) {
            if (state == exec::await_state::plain) {
                auto const& result = get<op>().result;
                if constexpr (std::tuple_size_v<values> == 2)
                    return values(operation::to_error_code(result.error), result.n);
                else
                    return values(operation::to_error_code(result.error));
            }
        }
        return state == exec::await_state::stored ? operation::take_result<values>(*this)
                                                  : access::functions(op_)->take(access::storage(op_), *this);
    }
    /// The operation will never complete, for its context has gone. For the receiver it was stopped.
    static void abandon(await_record* r) noexcept {
        auto& self = static_cast<connected_op&>(*r);
        self.end = exec::chain_end::awaits_bytes;
        if (self.lent) // Then this is called again when the operation has given them back.
            return;
        self.is_stopped_ |= !self.has_ended_;
        self.finish();
    }

    static bool is_asked(await_record& r) noexcept
        requires listener::hears
    {
        return static_cast<connected_op&>(r).stop_.requests().is_asked();
    }
    static operation::chain_requests& requests(await_record& r) noexcept
        requires listener::hears
    {
        return static_cast<connected_op&>(r).stop_.requests().requests();
    }
    static auto units_of(await_record& r) noexcept {
        auto const a = execution::get_allocator(execution::get_env(static_cast<connected_op&>(r).receiver_));
        using traits = std::allocator_traits<std::remove_const_t<decltype(a)>>;
        return typename traits::template rebind_alloc<operation::block_unit>(a);
    }
    static void* allocate(await_record& r, std::size_t bytes) {
        return std::to_address(units_of(r).allocate(operation::block_units(bytes)));
    }
    static void deallocate(await_record& r, void* p, std::size_t bytes) noexcept {
        using pointer = typename std::allocator_traits<decltype(units_of(r))>::pointer;
        auto& first = *static_cast<operation::block_unit*>(p);
        units_of(r).deallocate(std::pointer_traits<pointer>::pointer_to(first), operation::block_units(bytes));
    }
    static constexpr exec::record_hooks make_hooks() noexcept {
        exec::record_hooks h{};
        h.resume = [](await_record* r) { static_cast<connected_op*>(r)->finish(); };
        h.abandon = &abandon;
        if constexpr (listener::hears) {
            h.is_asked = &is_asked;
            h.requests = &requests;
        }
        if constexpr (answers_one_of<execution::env_of_t<Receiver>, execution::get_allocator_t,
                                     stdexec::get_allocator_t>) {
            h.allocate = &allocate;
            h.deallocate = &deallocate;
        }
        return h;
    }
    static constexpr exec::record_hooks the_hooks = make_hooks();

    op_type op_;
    [[no_unique_address]] Receiver receiver_;
    bool is_stopped_ = false; ///< whatever the record says
    bool has_ended_ = false;  ///< and waits for its turn at home
    [[no_unique_address]] listener stop_;
};

} // namespace fairlead::impl::sender
