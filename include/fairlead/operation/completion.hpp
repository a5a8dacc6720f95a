// Where a handler is called: in its turn on its executor, or at once if the calling thread is inside that. With an
// immediate executor it is called in the initiating function. Until then its executor has work.
#pragma once

#include <fairlead/base/at_scope_end.hpp>
#include <fairlead/base/taken_from.hpp>
#include <fairlead/operation/associated.hpp>
#include <fairlead/operation/call_values.hpp>

#include <tuple>
#include <type_traits>
#include <utility>

namespace fairlead::impl::operation {

/// Moves a handler out of its block. A move that throws calls `give_up` first: the block is nobody else's.
template <class Handler, class F>
Handler move_out(Handler& handler, F give_up) noexcept(std::is_nothrow_move_constructible_v<Handler>) {
    if constexpr (std::is_nothrow_move_constructible_v<Handler>) {
        return std::move(handler);
    } else {
        try {
            return std::move(handler);
        } catch (...) {
            give_up();
            throw;
        }
    }
}

/// A handler with its arguments, queued: immediate completions of composed operations, and results on their way to the
/// handler's own executor.
template <class Handler, class Values> struct completion_op : op {
    Handler handler;
    Values values;

    template <class H, class V> completion_op(H&& h, V&& v) : handler(std::forward<H>(h)), values(std::forward<V>(v)) {
        run = &completion_op::run_it;
        cancel = nullptr;
    }

    static void run_it(op* base, op_mode mode) {
        auto* self = static_cast<completion_op*>(base);
        Handler h(move_out(self->handler, [self] { deallocate_with(self->handler, self); }));
        if (mode == op_mode::abandon) {
            deallocate_with(h, self);
            return;
        }
        Values v(std::move(self->values));
        deallocate_with(h, self); // Before the call, so that the next operation can have the block (P0162R0 §4.4).
        call_with_values(std::move(h), std::move(v));
    }
};

/// Queues the call of `handler` with `values` on its associated executor, else on `ex`. Never calls it here.
template <class Executor, class Handler, class Values>
void post_values(Executor const& ex, Handler&& handler, Values&& values) {
    using handler_type = std::decay_t<Handler>;
    using op_type = completion_op<handler_type, std::decay_t<Values>>;
    if constexpr (has_own_executor<handler_type>) {
        auto const target = get_associated_executor(handler, ex);
        exec::execute_op(
            target, *allocate_with<op_type>(handler, std::forward<Handler>(handler), std::forward<Values>(values)));
    } else {
        exec::execute_op(
            ex, *allocate_with<op_type>(handler, std::forward<Handler>(handler), std::forward<Values>(values)));
    }
}

/// Calls `handler` with `values` where it wants to be called; the caller runs on `here`. Inline if that is allowed.
template <class Handler, class Values> void dispatch_values(Handler& handler, Values&& values) {
    if constexpr (has_own_executor<Handler>) {
        auto const target = get_associated_executor(handler);
        if (!exec::runs_here(target)) {
            auto* o = allocate_with<completion_op<Handler, std::decay_t<Values>>>(handler, std::move(handler),
                                                                                  std::forward<Values>(values));
            exec::dispatch_op(target, *o);
            return;
        }
    }
    call_with_values(std::move(handler), std::forward<Values>(values));
}

/// A handler's immediate executor that is none runs functions inside the call, wherever that is.
template <class Executor> bool queues_functions(Executor const& e) noexcept {
    if constexpr (requires { static_cast<bool>(e); })
        return static_cast<bool>(e);
    else
        return !std::is_same_v<Executor, inline_executor>;
}

/// May a handler be called inside others? No deeper than the stack allows, and no longer than the budget of the item
/// that runs, of which each takes a unit. The outermost always may, and outside of items there is none that could wait.
inline bool may_be_inside(exec::thread_state const& thread) noexcept {
    if (thread.immediate_depth == 0)
        return true;
    return thread.immediate_depth < fairness::inline_depth_most &&
           ((!thread.frames && !thread.is_outside) || exec::spend());
}

/// Ends an operation that completed at once, from inside its initiating function. The handler is queued. One with an
/// immediate executor is called here, if that runs here and the handler may be inside others. If it runs elsewhere, the
/// handler is queued there.
template <class Executor, class Handler, class Values>
void complete_immediately(Executor const& ex, Handler&& handler, Values&& values) {
    if constexpr (has_immediate_executor<std::decay_t<Handler>>) {
        auto const at = get_associated_immediate_executor(handler, ex);
        auto& thread = exec::this_thread;
        using at_type = std::decay_t<decltype(at)>;
        loop* const l = exec::loop_of(at);
        bool const here = l                         ? l->is_running_this()
                          : exec::has_loop<at_type> ? false
                                                    : exec::runs_here(at) || std::is_same_v<at_type, inline_executor>;
        if (here && may_be_inside(thread)) {
            ++thread.immediate_depth;
            base::at_scope_end const one_less([&thread] { --thread.immediate_depth; });
            std::decay_t<Handler> h(std::forward<Handler>(handler));
            call_with_values(std::move(h), std::forward<Values>(values));
            return;
        }
        if (!here && queues_functions(at)) {
            using op_type = completion_op<std::decay_t<Handler>, std::decay_t<Values>>;
            auto* o = allocate_with<op_type>(handler, std::forward<Handler>(handler), std::forward<Values>(values));
            exec::execute_op(at, *o);
            return;
        }
    }
    post_values(ex, std::forward<Handler>(handler), std::forward<Values>(values));
}

/// Work on a handler's executor while its operation runs elsewhere (the executor's run() must not end).
template <class Executor> struct executor_work {
    template <class Handler> executor_work(Handler const& h, loop* operation) : executor(get_associated_executor(h)) {
        loop* const own = exec::loop_of(executor);
        counted =
            (!exec::always_loop<Executor> && !own) || own != operation; // Executors of users are taken for another one.
        if constexpr (exec::tracks_work<Executor>)
            if (counted)
                executor.on_work_started();
    }
    executor_work(executor_work const&) = delete;
    executor_work(executor_work&& other) noexcept
        : executor(other.executor),
          counted(base::taken_from(other.counted)) {}
    /// Takes over what was counted through an executor that does not last.
    template <class E> explicit executor_work(executor_work<E>&& other) noexcept : counted(other.counted) {
        if (base::taken_from(other.counted))
            executor = other.executor;
    }
    ~executor_work() {
        if constexpr (exec::tracks_work<Executor>)
            if (counted)
                executor.on_work_finished();
    }
    Executor executor;
    bool counted;
};

/// Work on the handler's own executor, if it has one. It may be kept longer than the handler, which may end the
/// coroutine that it belongs to.
template <class Handler, bool Own = has_own_executor<Handler>> struct handler_work {
    explicit handler_work(Handler const&, loop*) noexcept {}
};
template <class Handler> struct handler_work<Handler, true>
    : executor_work<typename exec::lasting_executor<associated_executor_t<Handler>>::type> {
    using base = executor_work<typename exec::lasting_executor<associated_executor_t<Handler>>::type>;
    using base::base;
    explicit handler_work(base&& other) noexcept : base(std::move(other)) {}
};

/// As handler_work, beside the handler, whose executor needs not last any longer: smaller for coroutines. To be made a
/// handler_work before the handler is called.
template <class Handler, bool Own = has_own_executor<Handler>> struct work_beside_handler : handler_work<Handler> {
    using handler_work<Handler>::handler_work;
};
template <class Handler> struct work_beside_handler<Handler, true> : executor_work<associated_executor_t<Handler>> {
    using executor_work<associated_executor_t<Handler>>::executor_work;
};

} // namespace fairlead::impl::operation
