// Operations made of operations: a function object that is called again whenever one of its steps has completed.
//
// The layer is itself the completion handler of each step. It lies where the step keeps its handler and needs no memory
// of its own (P0162R0 §5.3).
#pragma once

#include <fairlead/base/at_scope_end.hpp>
#include <fairlead/exec/executor.hpp>
#include <fairlead/operation/async_result.hpp>
#include <fairlead/operation/cancellation_state.hpp>
#include <fairlead/operation/completion.hpp>
#include <fairlead/operation/operation_slot.hpp>

#include <tuple>

namespace fairlead {
namespace impl::operation {

/// The cancellation part of users' composed operations: a state chained to the slot of the handler. It is empty when
/// the handler has no slot. Terminal requests only, until reset.
template <class Handler, bool = has_cancellation_slot<Handler>> class composition_state {
public:
    explicit composition_state(Handler const&) noexcept {}
    cancellation_state get_cancellation_state() const noexcept { return {}; }
    static constexpr cancellation_type cancelled() noexcept { return cancellation_type::none; }

protected:
    template <class... Filters> void reset(Handler const&, Filters&&...) noexcept {}
    void before_step() noexcept {}
    void unchain(Handler const&) noexcept {}
};
template <class Handler> class composition_state<Handler, true> {
public:
    using cancellation_slot_type = cancellation_slot;
    using slot_is_known_when_started = std::true_type;

    explicit composition_state(Handler const& h) : state_(get_associated_cancellation_slot(h)) {}
    cancellation_slot_type get_cancellation_slot() const noexcept { return state_.slot(); }
    cancellation_state get_cancellation_state() const noexcept { return state_; }
    cancellation_type cancelled() const noexcept { return state_.cancelled(); }

protected:
    template <class... Filters> void reset(Handler const& h, Filters&&... filters) {
        state_ = cancellation_state(get_associated_cancellation_slot(h), std::forward<Filters>(filters)...);
    }
    void before_step() { state_.slot().clear(); }
    void unchain(Handler const& h) noexcept { state_.unchain(get_associated_cancellation_slot(h)); }

private:
    cancellation_state state_;
};

/// The executors of the I/O objects that a composed operation works on. The first is where steps complete whose handler
/// names no executor; all are kept from running out of work.
template <class... Executors> class composed_work {
public:
    explicit composed_work(std::tuple<Executors...> const& executors)
        : guards_(std::apply([](auto const&... e) { return std::tuple<executor_work_guard<Executors>...>(e...); },
                             executors)) {}
    auto first() const noexcept { return std::get<0>(guards_).get_executor(); }
    void reset() noexcept {
        std::apply([](auto&... g) { (g.reset(), ...); }, guards_);
    }

private:
    std::tuple<executor_work_guard<Executors>...> guards_;
};
template <> class composed_work<> {
public:
    explicit composed_work(std::tuple<> const&) noexcept {}
    inline_executor first() const noexcept { return {}; }
    void reset() noexcept {}
};

/// The executor of an I/O object, of a context, or the executor itself.
template <class T> auto executor_of_part(T&& t) {
    if constexpr (io_executor<std::decay_t<T>>)
        return std::decay_t<T>(t);
    else
        return t.get_executor();
}
template <class... Parts> using executors_of_parts = std::tuple<decltype(executor_of_part(std::declval<Parts>()))...>;

/// Ends a composed operation: inside its initiating function, or where its last step has completed.
template <class Executor, class Handler, class Values>
void complete_composed(bool initiating, Executor const& ex, Handler& handler, Values&& values) {
    if (!initiating) {
        call_with_values(std::move(handler), std::forward<Values>(values));
        return;
    }
    if constexpr (std::is_same_v<Executor, inline_executor> && !has_own_executor<Handler>) {
        // Neither the operation nor the handler says where: in this thread's loop, if there is one.
        if (exec::this_thread.current) {
            complete_immediately(loop_executor(exec::this_thread.current), std::move(handler),
                                 std::forward<Values>(values));
            return;
        }
    }
    complete_immediately(ex, std::move(handler), std::forward<Values>(values));
}

template <class Derived, class Signature> struct completes_with;
template <class Derived, class R, class... Args> struct completes_with<Derived, R(Args...)> {
    void complete(Args... args) {
        static_cast<Derived&>(*this).complete_with(std::tuple<std::decay_t<Args>...>(std::forward<Args>(args)...));
    }
};
template <class Derived> struct completes_with_anything {
    template <class... Args> void complete(Args&&... args) {
        static_cast<Derived&>(*this).complete_with(std::tuple<std::decay_t<Args>...>(std::forward<Args>(args)...));
    }
};
template <class Derived, class... Signatures> struct completions : completes_with<Derived, Signatures>... {
    using completes_with<Derived, Signatures>::complete...;
};
template <class Derived> struct completions<Derived> : completes_with_anything<Derived> {};

/// The `self` of an implementation.
template <class Implementation, class Work, class Handler, class... Signatures> class composed_op
    : public composition_state<Handler>,
      public completions<composed_op<Implementation, Work, Handler, Signatures...>, Signatures...> {
    using state = composition_state<Handler>;
    friend completions<composed_op, Signatures...>;
    template <class, class> friend struct completes_with;
    template <class> friend struct completes_with_anything;

public:
    using io_executor_type = std::decay_t<decltype(std::declval<Work const&>().first())>;
    using executor_type = associated_executor_t<Handler, io_executor_type>;
    using allocator_type = handler_allocator<Handler>;

    template <class I, class H> composed_op(I&& i, Work&& w, H&& h)
        : state(h),
          implementation_(std::forward<I>(i)),
          work_(std::move(w)),
          handler_(std::forward<H>(h)) {}
    composed_op(composed_op&&) = default;
    composed_op& operator=(composed_op&&) = delete;

    /// Where the steps run: the executor of the handler, else that of the first I/O object.
    executor_type get_executor() const noexcept {
        return associated_executor<Handler, io_executor_type>::get(handler_, work_.first());
    }
    io_executor_type get_io_executor() const noexcept { return work_.first(); }
    allocator_type get_allocator() const noexcept {
        return get_associated_allocator(handler_, recycling_allocator<void>());
    }
    Handler const& get() const noexcept { return handler_; }

    /// Chains a new state with other filters; forgets what has been asked for.
    template <class... Filters> void reset_cancellation_state(Filters&&... filters) {
        state::reset(handler_, std::forward<Filters>(filters)...);
    }

    /// A step has completed.
    template <class... Args> void operator()(Args&&... args) {
        if (calls_ != many)
            ++calls_;
        state::before_step();
        implementation_(*this, std::forward<Args>(args)...);
    }

private:
    static constexpr unsigned char many = 2;

    template <class Values> void complete_with(Values&& values) {
        bool const initiating = calls_ < many;
        auto const ex = work_.first();
        state::unchain(handler_);
        Handler handler(std::move(handler_));
        // A completion that is queued for the handler counts as work itself.
        if (initiating) {
            base::at_scope_end const release([this] { work_.reset(); });
            complete_composed(true, ex, handler, std::forward<Values>(values));
        } else {
            work_.reset();
            complete_composed(false, ex, handler, std::forward<Values>(values));
        }
    }

    Implementation implementation_;
    Work work_;
    Handler handler_;
    unsigned char calls_ = 0;
};

/// Implementations say by a member `is_cancellable` that their operation hears no request.
template <class Implementation> consteval bool hears_requests() {
    if constexpr (requires { Implementation::is_cancellable; })
        return Implementation::is_cancellable;
    else
        return true;
}

/// The result of composed() and co_composed(): called with a handler, it starts the operation as `Start` does.
template <class Start, class Implementation, class Executors> class composed_initiation;
template <class Start, class Implementation, class... Executors>
class composed_initiation<Start, Implementation, std::tuple<Executors...>> {
public:
    static constexpr bool is_cancellable = hears_requests<Implementation>();

    template <class I> composed_initiation(I&& i, std::tuple<Executors...>&& e)
        : implementation_(std::forward<I>(i)),
          executors_(std::move(e)) {}

    auto get_executor() const noexcept
        requires(sizeof...(Executors) > 0)
    {
        return std::get<0>(executors_);
    }
    template <class Handler, class... Args> void operator()(Handler&& handler, Args&&... args) && {
        expect_slot_is_heard<composed_initiation>(std::as_const(handler));
        Start::start(executors_, std::move(implementation_), std::forward<Handler>(handler),
                     std::forward<Args>(args)...);
    }
    template <class Handler, class... Args> void operator()(Handler&& handler, Args&&... args) const& {
        expect_slot_is_heard<composed_initiation>(std::as_const(handler));
        Start::start(executors_, implementation_, std::forward<Handler>(handler), std::forward<Args>(args)...);
    }

private:
    Implementation implementation_;
    [[no_unique_address]] std::tuple<Executors...> executors_;
};
template <class Start, class Implementation, class... Parts>
auto make_composed(Implementation&& implementation, Parts&&... parts) {
    using executors = executors_of_parts<Parts...>;
    return composed_initiation<Start, std::decay_t<Implementation>, executors>(
        std::forward<Implementation>(implementation), executors(executor_of_part(std::forward<Parts>(parts))...));
}

template <class... Signatures> struct start_composed {
    template <class... Executors, class I, class Handler, class... Args>
    static void start(std::tuple<Executors...> const& executors, I&& i, Handler&& handler, Args&&... args) {
        using work = composed_work<Executors...>;
        composed_op<std::decay_t<I>, work, std::decay_t<Handler>, Signatures...> o(std::forward<I>(i), work(executors),
                                                                                   std::forward<Handler>(handler));
        o(std::forward<Args>(args)...);
    }
};

} // namespace impl::operation

template <template <class, class> class A, class I, class W, class H, class... S, class D>
struct associator<A, impl::operation::composed_op<I, W, H, S...>, D> {
    using self = impl::operation::composed_op<I, W, H, S...>;
    using type = typename A<H, D>::type;
    static decltype(auto) get(self const& s) noexcept { return A<H, D>::get(s.get()); }
    static decltype(auto) get(self const& s, D const& d) noexcept { return A<H, D>::get(s.get(), d); }
};

/// Makes an initiation of a stateful implementation, for async_initiate. `implementation(self, args...)` is called
/// inside the initiating function with the arguments of async_initiate, and later with what each step completes with.
/// It starts a step by moving `self` into it as its handler, and ends with self.complete(...).
/// self offers  complete, get_executor, get_io_executor, get_allocator, get_cancellation_state, cancelled,
///              reset_cancellation_state(filters...)
/// Cancel     terminal, until reset_cancellation_state(filter); the current step hears it, between two steps
///            self.cancelled() tells. A step that cannot be ended early (a Redis call) throws
///            error::operation_not_supported when the handler's slot is connected. An implementation with such steps
///            has a member `static constexpr bool is_cancellable = false`: its operation takes no slot and no limit.
///            A coroutine that is asked to end waits for it.
/// Immediate  complete() inside the initiating function queues the handler
/// Lifetime   keeps run() of all `parts` (I/O objects, contexts, executors) from running out of work
/// Allocates  nothing
/// Source     Asio, composed
template <completion_signature... Signatures, class Implementation, class... Parts>
auto composed(Implementation&& implementation, Parts&&... parts) {
    return impl::operation::make_composed<impl::operation::start_composed<Signatures...>>(
        std::forward<Implementation>(implementation), std::forward<Parts>(parts)...);
}

/// Starts a composed operation: async_initiate with composed(implementation, parts...).
/// Completes  when `implementation` calls self.complete(), with what `Signature` says
/// Errors     those of `implementation`
/// Cancel     terminal, until self.reset_cancellation_state(filter)
/// Immediate  complete() inside the initiating function queues the handler
/// Lifetime   as composed; `implementation` is moved along from step to step
/// Threads    those of its steps
/// Allocates  nothing itself; each step what it takes, from the handler's allocator
/// Source     Asio, async_compose
template <class Token, completion_signature Signature, class Implementation, class... Parts>
decltype(auto) async_compose(Implementation&& implementation, std::type_identity_t<Token>& token, Parts&&... parts) {
    return async_initiate<Token, Signature>(
        composed<Signature>(std::forward<Implementation>(implementation), std::forward<Parts>(parts)...), token);
}
/// The same operation, for several signatures.
template <class Token, completion_signature First, completion_signature Second, completion_signature... More,
          class Implementation, class... Parts>
decltype(auto) async_compose(Implementation&& implementation, std::type_identity_t<Token>& token, Parts&&... parts) {
    return async_initiate<Token, First, Second, More...>(
        composed<First, Second, More...>(std::forward<Implementation>(implementation), std::forward<Parts>(parts)...),
        token);
}

} // namespace fairlead
