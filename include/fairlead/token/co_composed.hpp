// Operations made of operations, written as a coroutine that has no result of its own: it completes a handler.
//
//     template <class Token> auto async_echo(tcp::socket& socket, Token&& token) {
//         return async_initiate<Token, void(error_code)>(
//             co_composed<void(error_code)>(
//                 [](auto state, tcp::socket& s) -> void {
//                     char data[1024];
//                     state.throw_if_cancelled(true);
//                     try {
//                         for (;;) {
//                             std::size_t n = co_await s.async_read_some(buffer(data), deferred);
//                             co_await async_write(s, buffer(data, n), deferred);
//                         }
//                     } catch (system_error const& e) {
//                         co_return {e.code()};
//                     }
//                 }, socket),
//             token, std::ref(socket));
//     }
//
// The frame comes from the handler's allocator and is gone before the handler runs. Each co_await gives the step a
// handler that resumes the coroutine, where the handler of the whole wants to run.
#pragma once

#include <fairlead/operation/compose.hpp>
#include <fairlead/token/adapters.hpp>

#include <coroutine>
#include <exception>
#include <optional>
#include <tuple>

namespace fairlead {
namespace impl::token {

template <class Executors, class Handler, class... Signatures> class co_composed_promise;
template <class Executors, class Handler, class... Signatures> class co_composed_state;

/// The work after the coroutine has suspended, for its resumer: the frame may go in there.
struct after_suspension {
    void (*function)(void*, bool initiating) = nullptr;
    void* argument = nullptr;
};

/// The arguments of a completion, for co_yield.
template <class... Args> class co_completion {
public:
    template <class... T> explicit co_completion(std::in_place_t, T&&... args) : values(std::forward<T>(args)...) {}
    std::tuple<Args...> values;
};

/// The values for a cancelled operation whose signature begins with an error; others have none.
template <class Signature> struct cancelled_values {
    static constexpr bool exist = false;
};
template <class R, class... Args>
    requires(std::default_initializable<std::decay_t<Args>> && ...)
struct cancelled_values<R(error_code, Args...)> {
    static constexpr bool exist = true;
    static auto make() {
        return std::tuple<error_code, std::decay_t<Args>...>(error::make_error_code(error::operation_aborted),
                                                             std::decay_t<Args>()...);
    }
};
template <class R, class... Args>
    requires(std::default_initializable<std::decay_t<Args>> && ...)
struct cancelled_values<R(std::exception_ptr, Args...)> {
    static constexpr bool exist = true;
    static auto make() {
        return std::tuple<std::exception_ptr, std::decay_t<Args>...>(
            std::make_exception_ptr(system_error(error::make_error_code(error::operation_aborted), "co_await")),
            std::decay_t<Args>()...);
    }
};

/// Destroys the frame of `p` and calls its handler with `values`.
template <class Promise, class Values> void end_co_composed(Promise& p, Values values, bool initiating) {
    auto& state = p.state();
    auto const ex = state.get_io_executor();
    state.end_cancellation();
    auto work = state.take_work();
    auto handler = state.take_handler();
    p.destroy(); // Before the call, so that the next operation can have the block.
    if (!initiating)
        work.reset();
    operation::complete_composed(initiating, ex, handler, std::move(values));
}

template <class Derived, class... Signatures> struct co_returns;
template <class Derived> struct co_returns<Derived> {
    /// Nothing to complete with: the handler goes without being called.
    void return_void() noexcept {
        static_cast<Derived&>(*this).after([](void* p, bool) { static_cast<Derived*>(p)->destroy(); }, this);
    }
};
template <class Derived, class R, class... Args> struct co_returns<Derived, R(Args...)> {
    /// co_return {args...}
    void return_value(std::tuple<std::decay_t<Args>...>&& values) {
        static_cast<Derived&>(*this).complete_with(std::move(values));
    }
};
template <class Derived, class First, class Second, class... Rest> struct co_returns<Derived, First, Second, Rest...>
    : co_returns<Derived, First>, co_returns<Derived, Second, Rest...> {
    using co_returns<Derived, First>::return_value;
    using co_returns<Derived, Second, Rest...>::return_value;
};

template <class State, class Signature> struct co_cancels_with;
template <class State, class R, class... Args> struct co_cancels_with<State, R(Args...)> {
    /// The values with which the operation completes, instead of starting a step, once it has been cancelled.
    void on_cancellation_complete_with(Args... args) {
        static_cast<State&>(*this).cancel_with(std::tuple<std::decay_t<Args>...>(std::forward<Args>(args)...));
    }
};
template <class State, class... Signatures> struct co_cancellations : co_cancels_with<State, Signatures>... {
    using co_cancels_with<State, Signatures>::on_cancellation_complete_with...;
};
template <class State> struct co_cancellations<State> {};

/// The first parameter of the coroutine.
template <class... Executors, class Handler, class... Signatures>
class co_composed_state<std::tuple<Executors...>, Handler, Signatures...>
    : public operation::composition_state<Handler>,
      public co_cancellations<co_composed_state<std::tuple<Executors...>, Handler, Signatures...>, Signatures...> {
    using chained = operation::composition_state<Handler>;
    using work = operation::composed_work<Executors...>;
    using promise = co_composed_promise<std::tuple<Executors...>, Handler, Signatures...>;
    friend promise;
    template <class, class> friend struct co_cancels_with;
    template <class P, class V> friend void end_co_composed(P&, V, bool);

public:
    using io_executor_type = std::decay_t<decltype(std::declval<work const&>().first())>;

    template <class H> co_composed_state(std::tuple<Executors...> const& e, H&& h, promise** created)
        : chained(h),
          created_(created),
          work_(e),
          handler_(std::forward<H>(h)) {}
    co_composed_state(co_composed_state&&) = default;
    co_composed_state& operator=(co_composed_state&&) = delete;

    io_executor_type get_io_executor() const noexcept { return work_.first(); }
    Handler const& handler() const noexcept { return handler_; }

    /// `co_yield state.complete(args...)` ends the operation.
    template <class... Args>
        requires std::invocable<Handler, Args...>
    [[nodiscard("co_yield it")]] auto complete(Args&&... args) {
        return co_completion<std::decay_t<Args>...>(std::in_place, std::forward<Args>(args)...);
    }

    /// Chains a new state with other filters; forgets what has been asked for.
    template <class... Filters> void reset_cancellation_state(Filters&&... filters) {
        chained::reset(handler_, std::forward<Filters>(filters)...);
    }
    /// Whether co_await throws operation_aborted once the operation has been cancelled. Off at first.
    bool throw_if_cancelled() const noexcept { return throws_; }
    void throw_if_cancelled(bool on) noexcept { throws_ = on; }
    /// Whether co_await then completes the operation instead of starting the step, with what
    /// on_cancellation_complete_with() was given, else with operation_aborted and values by default. On at first.
    bool complete_if_cancelled() const noexcept { return completes_; }
    void complete_if_cancelled(bool on) noexcept { completes_ = on; }

private:
    template <class Values> void cancel_with(Values&& v) {
        std::apply([](auto&... each) { (each.reset(), ...); }, cancelled_values_);
        std::get<std::optional<std::decay_t<Values>>>(cancelled_values_).emplace(std::forward<Values>(v));
    }
    void before_step() { chained::before_step(); }
    void end_cancellation() noexcept { chained::unchain(handler_); }
    Handler take_handler() { return std::move(handler_); }
    work take_work() { return std::move(work_); }

    promise** created_;
    work work_;
    Handler handler_;
    bool throws_ = false;
    bool completes_ = true;
    // Of one signature at most. Optionals rather than a variant, which weighs more to compile.
    std::tuple<std::optional<operation::values_of<Signatures>>...> cancelled_values_;
};

/// The handler of a step. It owns the frame, and takes it along if it goes without being called.
template <class Promise, class... Args> class co_composed_handler {
public:
    using handler_type = typename Promise::handler_type;
    using executor_type = associated_executor_t<handler_type, typename Promise::io_executor_type>;
    using allocator_type = operation::handler_allocator<handler_type>;

    explicit co_composed_handler(Promise* p) noexcept : promise_(p) {}
    co_composed_handler(co_composed_handler&& other) noexcept : promise_(std::exchange(other.promise_, nullptr)) {}
    co_composed_handler& operator=(co_composed_handler&&) = delete;
    ~co_composed_handler() {
        if (promise_)
            promise_->destroy();
    }

    handler_type const& get() const noexcept { return promise_->state().handler(); }
    executor_type get_executor() const noexcept {
        return associated_executor<handler_type, typename Promise::io_executor_type>::get(
            get(), promise_->state().get_io_executor());
    }
    allocator_type get_allocator() const noexcept {
        return get_associated_allocator(get(), recycling_allocator<void>());
    }

    template <class... T> void operator()(T&&... args) {
        std::tuple<std::decay_t<Args>...> result(std::forward<T>(args)...);
        std::exchange(promise_, nullptr)->run(&result, false);
    }

protected:
    Promise* promise_;
};
template <class Promise, class... Args> class co_composed_slot_handler : public co_composed_handler<Promise, Args...> {
public:
    using co_composed_handler<Promise, Args...>::co_composed_handler;
    using cancellation_slot_type = cancellation_slot;
    using slot_is_known_when_started = std::true_type;
    cancellation_slot_type get_cancellation_slot() const noexcept {
        return this->promise_->state().get_cancellation_slot();
    }
};

template <class Executors, class Handler, class... Signatures> class co_composed_promise
    : public co_returns<co_composed_promise<Executors, Handler, Signatures...>, Signatures...> {
    template <class, class...> friend struct co_returns;

public:
    using state_type = co_composed_state<Executors, Handler, Signatures...>;
    using handler_type = Handler;
    using io_executor_type = typename state_type::io_executor_type;

    template <class... Args> explicit co_composed_promise(state_type& s, Args&&...) noexcept : state_(s) {
        *s.created_ = this;
    }
    template <class Function, class... Args> co_composed_promise(Function&&, state_type& s, Args&&...) noexcept
        : state_(s) {
        *s.created_ = this;
    }
    co_composed_promise(co_composed_promise const&) = delete;
    co_composed_promise& operator=(co_composed_promise const&) = delete;

    // ---- the frame, with a copy of its allocator in front
    template <class... Args> static void* operator new(std::size_t bytes, state_type& s, Args&&...) {
        return allocate(bytes, s);
    }
    template <class Function, class... Args>
    static void* operator new(std::size_t bytes, Function&&, state_type& s, Args&&...) {
        return allocate(bytes, s);
    }
    // Inlined at every level of optimisation: g++ 12 takes a call for one that does not match the templates above.
    [[gnu::always_inline]] static void operator delete(void* frame, std::size_t bytes) noexcept {
        auto* const block = static_cast<unit*>(frame) - head;
        auto* const stored = std::launder(static_cast<allocator*>(static_cast<void*>(block)));
        allocator a(std::move(*stored));
        stored->~allocator();
        a.deallocate(block, head + units(bytes));
    }

    // ---- what the language asks for
    void get_return_object() const noexcept {}
    std::suspend_always initial_suspend() const noexcept { return {}; }
    std::suspend_always final_suspend() const noexcept { return {}; }
    void unhandled_exception() { throw; } // to run()

    template <class R, class... Args, std::size_t Storage> auto await_transform(async_op<R(Args...), Storage>&& o) {
        if (state_.throw_if_cancelled() && !!state_.cancelled())
            base::throw_error_now(error::make_error_code(error::operation_aborted), "co_await");
        return step<async_op<R(Args...), Storage>>(*this, o);
    }
    template <operation::brings_awaiter Op> auto await_transform(Op&& o) {
        if (state_.throw_if_cancelled() && !!state_.cancelled())
            base::throw_error_now(error::make_error_code(error::operation_aborted), "co_await");
        return step<Op>(*this, std::move(o));
    }
    template <class... Args> auto yield_value(co_completion<Args...>&& c) {
        complete_with(std::move(c.values));
        return std::suspend_always();
    }

    // ---- for its handlers
    state_type& state() noexcept { return state_; }
    void destroy() noexcept { std::coroutine_handle<co_composed_promise>::from_promise(*this).destroy(); }
    /// Resumes, and then does what is left to do. An exception that leaves the coroutine ends it.
    void run(void* result, bool initiating) {
        after_suspension then;
        then_ = &then;
        result_ = result;
        try {
            state_.before_step();
            std::coroutine_handle<co_composed_promise>::from_promise(*this).resume();
        } catch (...) {
            destroy();
            throw;
        }
        if (then.function) // Nothing of the frame is touched below.
            then.function(then.argument, initiating);
    }

private:
    using unit = std::max_align_t;
    using allocator =
        typename std::allocator_traits<operation::handler_allocator<Handler>>::template rebind_alloc<unit>;
    static constexpr std::size_t units(std::size_t bytes) noexcept { return (bytes + sizeof(unit) - 1) / sizeof(unit); }
    static constexpr std::size_t head = (sizeof(allocator) + sizeof(unit) - 1) / sizeof(unit);

    static void* allocate(std::size_t bytes, state_type& s) {
        allocator a = operation::handler_allocator_for<unit>(s.handler());
        unit* const block = std::to_address(a.allocate(head + units(bytes)));
        ::new (static_cast<void*>(block)) allocator(std::move(a));
        return block + head;
    }
    void after(void (*f)(void*, bool), void* argument) noexcept { *then_ = {f, argument}; }
    /// Ends with these values once the coroutine has suspended.
    template <class... Args> void complete_with(std::tuple<Args...>&& values) {
        using values_type = std::tuple<Args...>;
        auto* const p = static_cast<values_type*>(exec::recycle_allocate(sizeof(values_type)));
        try {
            ::new (static_cast<void*>(p)) values_type(std::move(values));
        } catch (...) {
            exec::recycle_free(p);
            throw;
        }
        ending_ = p;
        after(
            [](void* self, bool initiating) {
                auto& promise = *static_cast<co_composed_promise*>(self);
                auto* const kept = static_cast<values_type*>(promise.ending_);
                values_type v(std::move(*kept));
                kept->~values_type();
                exec::recycle_free(kept);
                end_co_composed(promise, std::move(v), initiating);
            },
            this);
    }

    /// Cancelled: ends instead of starting a step. False: there is nothing to end with.
    bool complete_if_cancelled() {
        if (!state_.complete_if_cancelled() || !state_.cancelled())
            return false;
        bool const is_given = std::apply([this](auto&... each) { return (this->complete_with_given(each) || ...); },
                                         state_.cancelled_values_);
        return is_given || (complete_cancelled_as<Signatures>() || ...);
    }
    template <class Values> bool complete_with_given(std::optional<Values>& given) {
        if (given)
            complete_with(*std::move(given));
        return given.has_value();
    }
    template <class Signature> bool complete_cancelled_as() {
        if constexpr (cancelled_values<Signature>::exist)
            complete_with(cancelled_values<Signature>::make());
        return cancelled_values<Signature>::exist;
    }

    template <class Op> class step;
    template <class R, class... Args, std::size_t Storage> class step<async_op<R(Args...), Storage>> {
        using handler = std::conditional_t<operation::has_cancellation_slot<Handler>,
                                           co_composed_slot_handler<co_composed_promise, std::decay_t<Args>...>,
                                           co_composed_handler<co_composed_promise, std::decay_t<Args>...>>;

    public:
        step(co_composed_promise& p, async_op<R(Args...), Storage>& o) noexcept : promise_(p), op_(o) {}
        step(step const&) = delete;
        step& operator=(step const&) = delete;
        bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<>) {
            // Started by whoever resumed us: it may complete before that returns, on another thread.
            if (!promise_.complete_if_cancelled())
                promise_.after(&step::start, this);
        }
        auto await_resume() {
            return operation::unwrap(std::move(*static_cast<std::tuple<std::decay_t<Args>...>*>(promise_.result_)));
        }

    private:
        static void start(void* p, bool) {
            auto& self = *static_cast<step*>(p);
            std::move(self.op_)(handler(&self.promise_));
        }
        co_composed_promise& promise_;
        async_op<R(Args...), Storage>& op_;
    };
    template <class Op> struct kept_op {
        typename Op::async_op_type kept;
    };
    template <operation::brings_awaiter Op> class step<Op> : kept_op<Op>, public step<typename Op::async_op_type> {
    public:
        step(co_composed_promise& p, Op&& o)
            : kept_op<Op>{operation::as_async_op(std::move(o))},
              step<typename Op::async_op_type>(p, this->kept) {}
    };

    state_type& state_;
    after_suspension* then_ = nullptr; ///< of the run that is under way
    void* result_ = nullptr;           ///< of the last step
    void* ending_ = nullptr;           ///< what the operation completes with
};

template <class... Signatures> struct start_co_composed {
    template <class Executors, class I, class Handler, class... Args>
    static void start(Executors const& executors, I&& i, Handler&& handler, Args&&... args) {
        using handler_type = std::decay_t<Handler>;
        co_composed_promise<Executors, handler_type, Signatures...>* created = nullptr;
        std::forward<I>(i)(co_composed_state<Executors, handler_type, Signatures...>(
                               executors, std::forward<Handler>(handler), &created),
                           std::forward<Args>(args)...);
        created->run(nullptr, true);
    }
};

} // namespace impl::token

template <template <class, class> class A, class P, class... Args, class D>
struct associator<A, impl::token::co_composed_handler<P, Args...>, D>
    : impl::operation::pass_on<A, impl::token::co_composed_handler<P, Args...>, typename P::handler_type, D> {};
template <template <class, class> class A, class P, class... Args, class D>
struct associator<A, impl::token::co_composed_slot_handler<P, Args...>, D>
    : impl::operation::pass_on<A, impl::token::co_composed_slot_handler<P, Args...>, typename P::handler_type, D> {};

/// Makes an initiation of a coroutine, for async_initiate. `implementation(state, args...)` returns void. It is called
/// with the arguments of async_initiate, and awaits operations made with `deferred`. It ends with `co_return
/// {args...}`, or with `co_yield state.complete(args...)`, in its midst too. If no signature is named only the latter
/// is possible, and nothing is known to complete with on cancellation. The arguments' referents outlive the operation.
/// state offers  complete, get_io_executor, get_cancellation_state, cancelled, reset_cancellation_state(filters...),
///               throw_if_cancelled, complete_if_cancelled, on_cancellation_complete_with
/// Errors     an exception that leaves the coroutine leaves the initiating function or run(); no handler is called
/// Cancel     terminal, until reset_cancellation_state(filter)
/// Immediate  completing inside the initiating function queues the handler
/// Lifetime   keeps run() of all `parts` (I/O objects, contexts, executors) from running out of work
/// Allocates  the frame, from the handler's allocator; the arguments of the completion take a block of the recycler
/// Source     Asio, co_composed
template <completion_signature... Signatures, class Implementation, class... Parts>
auto co_composed(Implementation&& implementation, Parts&&... parts) {
    return impl::operation::make_composed<impl::token::start_co_composed<Signatures...>>(
        std::forward<Implementation>(implementation), std::forward<Parts>(parts)...);
}
namespace experimental {
using fairlead::co_composed;
}

} // namespace fairlead

template <class F, class E, class H, class... S, class... Args>
struct std::coroutine_traits<void, F&, fairlead::impl::token::co_composed_state<E, H, S...>, Args...> {
    using promise_type = fairlead::impl::token::co_composed_promise<E, H, S...>;
};
template <class F, class E, class H, class... S, class... Args>
struct std::coroutine_traits<void, F&&, fairlead::impl::token::co_composed_state<E, H, S...>, Args...> {
    using promise_type = fairlead::impl::token::co_composed_promise<E, H, S...>;
};
template <class E, class H, class... S, class... Args>
struct std::coroutine_traits<void, fairlead::impl::token::co_composed_state<E, H, S...>, Args...> {
    using promise_type = fairlead::impl::token::co_composed_promise<E, H, S...>;
};
