// Where coroutine frames live, and what every promise of ours has.
#pragma once

#include <fairlead/coro/await_place.hpp>
#include <fairlead/coro/this_coro.hpp>
#include <fairlead/exec/loop.hpp>
#include <fairlead/exec/recycler.hpp>
#include <fairlead/operation/async_op.hpp>
#include <fairlead/operation/chain_requests.hpp>

#include <coroutine>
#include <exception>

namespace fairlead {

namespace impl::coro {

/// Says what is wrong with the coroutine, and aborts.
[[noreturn]] FAIRLEAD_EXPORT void frame_is_misplaced() noexcept;

/// Frames come from the thread's recycler.
struct frame_memory {
    static void* operator new(std::size_t bytes) {
        void* const p = exec::recycle_allocate(bytes);
        if constexpr (!FAIRLEAD_COMPILER_CLANG)
            exec::this_thread.newest_frame = p;
        return p;
    }
    static void operator delete(void* p, std::size_t bytes) noexcept { exec::recycle_free_sized(p, bytes); }
};

struct yield_awaiter {
    await_record& record;
    explicit yield_awaiter(await_record& r) noexcept : record(r) {}
    yield_awaiter(yield_awaiter const&) = delete;
    yield_awaiter& operator=(yield_awaiter const&) = delete;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<>) noexcept { loop::yield(record); }
    void await_resume() const noexcept {}
};

struct yield_if_due_awaiter {
    await_record& record;
    explicit yield_if_due_awaiter(await_record& r) noexcept : record(r) {}
    yield_if_due_awaiter(yield_if_due_awaiter const&) = delete;
    yield_if_due_awaiter& operator=(yield_if_due_awaiter const&) = delete;
    bool await_ready() noexcept { return exec::spend(); }
    void await_suspend(std::coroutine_handle<>) noexcept { loop::yield(record); }
    void await_resume() const noexcept {}
};

/// Gives the executor by reference: it lives as long as the chain.
struct executor_awaiter {
    any_io_executor const* executor;
    explicit executor_awaiter(any_io_executor const* e) noexcept : executor(e) {}
    bool await_ready() const noexcept { return true; }
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    any_io_executor const& await_resume() const noexcept { return *executor; }
};

/// Never suspends: `value` is the result of the co_await.
template <class Value> struct value_awaiter {
    Value value;
    explicit value_awaiter(Value&& v) noexcept : value(std::move(v)) {}
    bool await_ready() const noexcept { return true; }
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    Value await_resume() noexcept { return std::move(value); }
};

/// The coroutine of `callee`, whose frame `owner` holds, goes on next, and `caller` when it returns. No symmetric
/// transfer: the trampoline picks up the record, so the stack stays flat at every optimisation level.
inline void call(exec::chain_link& callee, exec::chain_link& caller, std::coroutine_handle<>& owner) noexcept {
    await_record* const record = caller.record;
    callee.parent = &caller;
    callee.owner = &owner;
    callee.record = record;
    record->innermost = &callee;
    exec::this_thread.next = record;
}
inline void return_to_caller(exec::chain_link const& callee) noexcept {
    callee.record->innermost = callee.parent;
    exec::this_thread.next = callee.record;
}
/// From a coroutine that will be called again. Nobody is inside it until then: it has no owner.
inline void return_for_now(exec::chain_link& callee) noexcept {
    callee.owner = nullptr;
    return_to_caller(callee);
}

/// The end of such a coroutine.
struct last_return_awaiter {
    constexpr last_return_awaiter() noexcept {}
    bool await_ready() const noexcept { return false; }
    template <class Promise> void await_suspend(std::coroutine_handle<Promise> h) const noexcept {
        return_for_now(h.promise().link);
    }
    void await_resume() const noexcept {}
};

/// The part of a promise that does not depend on the coroutine's result, nor on where its frame lives.
struct promise_base {
    exec::chain_link link;

    /// g++ 12 misplaces the condition of an if, while, do or switch with a co_await inside. It stands before everything
    /// else in the frame, if the coroutine has no variable of its own by then. The handle then points into the middle,
    /// and resuming would call the wrong address. (Copies of arguments may have made other coroutines meanwhile.)
    template <class Promise> void remember(std::coroutine_handle<Promise> h) noexcept {
        if constexpr (!FAIRLEAD_COMPILER_CLANG) {
            auto const* const begin = static_cast<std::byte const*>(exec::this_thread.newest_frame);
            auto const* const claimed = static_cast<std::byte const*>(h.address());
            if (claimed != begin && claimed - begin == alignof(Promise)) [[unlikely]]
                frame_is_misplaced();
        }
        static_assert(alignof(Promise) <= exec::chain_link::promise_offset);
        FAIRLEAD_ASSERT(static_cast<void*>(h.address()) == link.handle().address());
    }

    std::suspend_always initial_suspend() const noexcept { return {}; }

    /// Hands over to whoever awaits this coroutine.
    struct final_awaiter {
        constexpr final_awaiter() noexcept {}
        bool await_ready() const noexcept { return false; }
        template <class Promise> void await_suspend(std::coroutine_handle<Promise> h) const noexcept {
            return_to_caller(h.promise().link);
        }
        void await_resume() const noexcept {}
    };
    final_awaiter final_suspend() const noexcept { return {}; }

    template <class Signature, std::size_t Storage> FAIRLEAD_NOTED_AWAITER(operation::op_awaiter<Signature, Storage>)
    await_transform(async_op<Signature, Storage>&& o FAIRLEAD_AWAIT_PLACE) noexcept {
        FAIRLEAD_NOTE_AWAIT_PLACE(link);
        return FAIRLEAD_NOTED_AWAITER(operation::op_awaiter<Signature, Storage>)(o, *link.record);
    }
    template <class Signature, std::size_t Storage>
    operation::op_awaiter<Signature, Storage> await_transform(async_op<Signature, Storage>& o) noexcept {
        static_assert(!sizeof(o), "an operation is awaited once: co_await std::move(op)");
        return operation::op_awaiter<Signature, Storage>(o, *link.record);
    }
    template <operation::brings_awaiter Op> FAIRLEAD_NOTED_AWAITER(typename Op::awaiter_type)
    await_transform(Op&& o FAIRLEAD_AWAIT_PLACE) noexcept {
        FAIRLEAD_NOTE_AWAIT_PLACE(link);
        return FAIRLEAD_NOTED_AWAITER(typename Op::awaiter_type)(o);
    }
    template <operation::brings_awaiter Op> typename Op::awaiter_type await_transform(Op& o) noexcept {
        static_assert(!sizeof(o), "an operation is awaited once: co_await std::move(op)");
        return typename Op::awaiter_type(o);
    }
    yield_awaiter await_transform(this_coro::yield_t FAIRLEAD_AWAIT_PLACE) noexcept {
        FAIRLEAD_NOTE_AWAIT_PLACE(link);
        return yield_awaiter(*link.record);
    }
    yield_if_due_awaiter await_transform(this_coro::yield_if_due_t FAIRLEAD_AWAIT_PLACE) noexcept {
        FAIRLEAD_NOTE_AWAIT_PLACE(link);
        return yield_if_due_awaiter(*link.record);
    }
    executor_awaiter await_transform(this_coro::executor_t) const noexcept {
        return executor_awaiter(link.record->executor);
    }
    value_awaiter<cancellation_state> await_transform(this_coro::cancellation_state_t) {
        return value_awaiter<cancellation_state>(
            can_be_asked() ? cancellation_state(operation::requests_of(*link.record).shared()) : cancellation_state());
    }
    std::suspend_never await_transform(this_coro::reset_to_terminal_t) {
        return reset(enable_terminal_cancellation(), enable_terminal_cancellation());
    }
    template <class In, class Out>
    std::suspend_never await_transform(this_coro::reset_cancellation_state_t<In, Out> filters) {
        return reset(std::move(filters.in), std::move(filters.out));
    }
    value_awaiter<bool> await_transform(this_coro::throws_if_cancelled_t) noexcept {
        return value_awaiter<bool>(!(link.record->notes & await_record::goes_on));
    }
    std::suspend_never await_transform(this_coro::throw_if_cancelled_t t) noexcept {
        auto& notes = link.record->notes;
        notes = static_cast<unsigned char>(t.value ? notes & ~await_record::goes_on : notes | await_record::goes_on);
        return {};
    }

private:
    bool can_be_asked() const noexcept { return link.record->notes & await_record::can_be_asked; }
    template <class In, class Out> std::suspend_never reset(In in, Out out) {
        if (can_be_asked())
            operation::requests_of(*link.record).reset(std::move(in), std::move(out));
        return {};
    }
};

} // namespace impl::coro
} // namespace fairlead
