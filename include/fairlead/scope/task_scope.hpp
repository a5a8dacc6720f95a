// task_scope: owns the coroutines that are spawned in it. The coroutine that awaits it goes on when all of them have
// ended.
//
// A scope is a group of the tree of chains (coro/chain_tree.hpp) that takes members while it runs. The first of them is
// the body, which gets the scope. The others are tasks. Each task has a node. The scope keeps it until its result has
// been taken, and no walk over the tree looks at it any more.
#pragma once

#include <fairlead/coro/multiple_exceptions.hpp>
#include <fairlead/coro/operation_member.hpp>
#include <fairlead/coro/this_coro.hpp>
#include <fairlead/scope/cancel_after.hpp>
#include <fairlead/sync/event.hpp>
#include <fairlead/sync/semaphore.hpp>

#include <chrono>
#include <functional>
#include <limits>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace fairlead {

template <class T = void> class task_scope;

/// The effect of a failed task on the others.
enum class on_failure : unsigned char {
    ends_scope, ///< the body and the tasks are asked to end, and with_scope() throws what the task has thrown
    is_kept,    ///< nothing: with_scope() throws it when all have ended, multiple_exceptions if there are several
    is_dropped, ///< nothing: it concerns nobody else, as that of one connection of a server
};

/// How a scope behaves.
struct scope_options {
    /// Tasks that run at once. A spawn of one more waits.
    std::size_t at_most = std::numeric_limits<std::size_t>::max();
    on_failure failures = on_failure::ends_scope;
};

namespace impl::scope {

/// A function with its arguments, which lie beside the coroutine for as long as it runs.
template <class F, class... Args> class kept_call {
public:
    template <class G, class... A> explicit kept_call(std::in_place_t, G&& f, A&&... args)
        : f_(std::forward<G>(f)),
          args_(std::forward<A>(args)...) {}
    decltype(auto) operator()() {
        return std::apply([this](Args&... args) -> decltype(auto) { return std::invoke(f_, std::move(args)...); },
                          args_);
    }

private:
    F f_;
    std::tuple<Args...> args_;
};
template <class F, class... Args> using kept_call_of = kept_call<std::decay_t<F>, std::decay_t<Args>...>;

/// The part of a scope that does not depend on what its tasks return.
class FAIRLEAD_EXPORT scope_core final : coro::group_owner {
public:
    FAIRLEAD_EXPORT scope_core(any_io_executor const& e, scope_options const& o);
    scope_core(scope_core const&) = delete;
    scope_core& operator=(scope_core const&) = delete;

    any_io_executor const& executor() const noexcept { return executor_; }
    bool is_limited() const noexcept { return room_.has_value(); }
    semaphore& room() noexcept { return *room_; }
    coro::chain_group& group() noexcept { return group_; }

    /// Takes in a task, which has its permit if there is a limit. False: the scope takes no more, and the permit is
    /// given back.
    FAIRLEAD_EXPORT bool enter(coro::member_chain& task) noexcept;
    FAIRLEAD_EXPORT void give_room() noexcept;
    FAIRLEAD_EXPORT std::size_t running() noexcept;

    // ---- under the lock of the group
    /// A task has ended; with `e`, by a failure that counts. True: member_has_left() is to be called.
    FAIRLEAD_EXPORT bool has_ended(std::exception_ptr const* e) noexcept;
    std::size_t running_now() const noexcept { return running_; }
    /// Before it is unlocked: the end of a task will set changed().
    void will_wait_for_an_end() noexcept {
        changed_.reset();
        changed_is_awaited_ = true;
    }
    event& changed() noexcept { return changed_; }
    FAIRLEAD_EXPORT void close() noexcept;
    FAIRLEAD_EXPORT void cancel(coro::group_member const& body) noexcept;
    /// Whether it is the end of a task that has been asked to end by the scope.
    FAIRLEAD_EXPORT bool is_cut(std::exception_ptr const& e) noexcept;
    on_failure failures() const noexcept { return on_failure_; }
    /// When all have ended: throws what tasks have thrown.
    FAIRLEAD_EXPORT void throw_failures();

    FAIRLEAD_EXPORT awaitable<void> until_idle();
    FAIRLEAD_EXPORT awaitable<std::size_t> drain(coro::group_member const& body, std::chrono::nanoseconds limit);

private:
    void member_has_left() noexcept override;
    bool will_wait_for_all() noexcept;

    any_io_executor executor_;
    coro::chain_group group_{coro::group_end::first_failure, coro::group_hearing::asks_members, this};
    // A coroutine that waits says so. An end that nobody waits for sets nothing.
    event idle_;
    event changed_;
    bool idle_is_awaited_ = false;
    bool changed_is_awaited_ = false;
    std::optional<semaphore> room_;
    std::exception_ptr first_failure_;
    std::size_t failures_ = 0;
    std::size_t running_ = 0;
    on_failure const on_failure_;
    bool is_closed_ = false;
    std::atomic<bool> cuts_{false};
};

/// The result of spawn(). A task for which there is room starts in the await itself: that takes no frame and no op.
template <class T, class Call> class [[nodiscard("the task starts only when this is awaited")]] spawning {
public:
    spawning(task_scope<T>& s, Call&& c) : scope_(s), call_(std::move(c)) {}
    /// Before it is awaited.
    spawning(spawning&& other) : scope_(other.scope_), call_(std::move(other.call_)) {}
    spawning& operator=(spawning&&) = delete;

    /// For whom an awaitable is wanted.
    operator awaitable<void>() && { return scope_.start_later(std::move(call_)); }

    bool await_ready() { return scope_.start_at_once(call_); }
    template <class Promise> void await_suspend(std::coroutine_handle<Promise> h) {
        static_assert(
            requires { h.promise().link.record; },
            "a spawn is awaited by a coroutine of this library: an awaitable, or what co_spawn starts");
        later_.emplace(scope_.start_later(std::move(call_)), h.promise());
        later_->await_suspend(h);
    }
    void await_resume() {
        if (later_)
            later_->await_resume();
    }

private:
    task_scope<T>& scope_;
    Call call_;
    std::optional<coro::child_awaiter<void>> later_;
};
/// As a part of a group.
template <class T, class Call> awaitable<void> as_part(spawning<T, Call>&& s) { return std::move(s); }

[[noreturn]] FAIRLEAD_EXPORT void throw_closed();
/// A task that waited for the end of all tasks would wait for itself.
[[noreturn]] FAIRLEAD_EXPORT void waits_for_itself() noexcept;

/// `co_await expect_no_task(body)`: aborts in a task.
class expect_no_task {
public:
    expect_no_task(coro::chain_group const& g, coro::group_member const& body) noexcept : group_(g), body_(body) {}
    bool await_ready() const noexcept { return false; }
    template <class Promise> bool await_suspend(std::coroutine_handle<Promise> h) const noexcept {
        await_record const& r = *h.promise().link.record;
        if (r.notes & await_record::is_member) {
            auto const& m = r.hooks->member(r);
            if (m.group() == &group_ && &m != &body_)
                waits_for_itself();
        }
        return false;
    }
    void await_resume() const noexcept {}

private:
    coro::chain_group const& group_;
    coro::group_member const& body_;
};

/// A task with its root, in a block of its own.
template <class T> class task_node : public coro::member_of<T> {
public:
    virtual void destroy() noexcept = 0;
    outcome<T> take() { return coro::outcome_of_member(*this); }

    task_node* next_ended = nullptr;

protected:
    explicit task_node(task_scope<T>& s) noexcept : scope_(s) {}

private:
    bool is_failure(std::exception_ptr const& e) noexcept override;
    coro::member_rest leaves() noexcept override;
    void forgotten() noexcept override { destroy(); }

    task_scope<T>& scope_;
    bool fails_ = false; ///< so that the scope notes it
};

template <class T, class Call> class task_of final : public task_node<T> {
public:
    explicit task_of(task_scope<T>& s) noexcept : task_node<T>(s) {}
    ~task_of() override {}

    void destroy() noexcept override {
        this->~task_of();
        exec::recycle_free_sized(this, sizeof(task_of));
    }
    /// When the scope has taken it in.
    template <class TakeCall> void start_with(TakeCall take_call) {
        try {
            ::new (static_cast<void*>(std::addressof(call_))) Call(take_call());
        } catch (...) {
            this->has_been_destroyed();
            throw;
        }
        has_call_ = true;
        this->start();
    }

private:
    awaitable<T> begin() override { return awaitable<T>(call_()); }
    void release() noexcept override {
        if (std::exchange(has_call_, false))
            call_.~Call();
    }

    bool has_call_ = false;
    union {
        Call call_; ///< for as long as the coroutine runs
    };
};

/// The results of tasks that have ended, in that order.
template <class T> class ended_tasks {
public:
    ended_tasks() noexcept = default;
    ended_tasks(ended_tasks const&) = delete;
    ended_tasks& operator=(ended_tasks const&) = delete;
    ~ended_tasks() {
        while (task_node<T>* const n = pop())
            n->destroy();
    }

    // ---- under the lock of the group
    void push(task_node<T>& n) noexcept {
        (last_ ? last_->next_ended : first_) = &n;
        last_ = &n;
    }
    task_node<T>* pop() noexcept {
        task_node<T>* const n = first_;
        if (n && !(first_ = n->next_ended))
            last_ = nullptr;
        return n;
    }

private:
    task_node<T>* first_ = nullptr;
    task_node<T>* last_ = nullptr;
};
template <> class ended_tasks<void> {};

/// The body has the scope for its argument.
template <class T, class Body> using body_result =
    typename coro::awaitable_result<std::invoke_result_t<Body&, task_scope<T>&>>::type;
template <class T, class Body>
concept scope_body = requires { typename body_result<T, Body>; };

struct scope_access;

} // namespace impl::scope

template <class T, class Call> struct impl::coro::member_for<impl::scope::spawning<T, Call>> {
    using type = impl::coro::coroutine_member<void>;
};

/// Tasks that belong to one coroutine. Only with_scope() makes one, and waits for all of them: none is left behind.
/// A task that fails ends the scope, unless the options say otherwise. One that the scope itself has asked to end may
/// throw operation_aborted: that is no failure.
/// Threads: any. Tasks run on the executor of the coroutine that awaits with_scope().
template <class T> class task_scope {
public:
    using value_type = T;

    task_scope(task_scope const&) = delete;
    task_scope& operator=(task_scope const&) = delete;

    any_io_executor const& get_executor() const noexcept { return core_.executor(); }
    /// Tasks that have not ended.
    std::size_t running() noexcept { return core_.running(); }

    /// Starts `f(args...)`, which returns an awaitable<T> or an operation with such a result. Waits until there is
    /// room.
    /// Errors     operation_aborted  the scope takes no more tasks, or the awaiting coroutine is asked to end
    /// Cancel     terminal, partial, total, while it waits for room
    /// Immediate  when there is room
    /// Lifetime   the function and its arguments are kept until the task has ended; of std::ref(x) only a reference is
    /// Threads    any
    /// Allocates  a block for the task and the frame of its coroutine, from the recycler
    template <class F, class... Args> auto spawn(F f, Args... args) {
        using call = impl::scope::kept_call_of<F, Args...>;
        return impl::scope::spawning<T, call>(*this, call(std::in_place, std::move(f), std::move(args)...));
    }
    /// As spawn(), without waiting. False: there is no room, or the scope takes no more tasks. The arguments are then
    /// left alone.
    template <class F, class... Args> bool try_spawn(F&& f, Args&&... args) {
        if (core_.is_limited() && !core_.room().try_acquire())
            return false;
        using call = impl::scope::kept_call_of<F, Args...>;
        return start([&] { return call(std::in_place, std::forward<F>(f), std::forward<Args>(args)...); });
    }

    /// Takes no more tasks. A spawn that waits throws operation_aborted.
    void close() noexcept { core_.close(); }
    /// As close(), and asks all tasks to end; the body goes on.
    void cancel() noexcept { core_.cancel(*body_); }

    /// Waits until no task runs. The scope takes more meanwhile. Called by a task it aborts the program.
    awaitable<void> join() {
        co_await impl::scope::expect_no_task(core_.group(), *body_);
        co_await core_.until_idle();
    }
    /// As close(). Then waits until no task runs, at most for `limit`. Then it asks those that still run to end, and
    /// waits for them. Returns how many were asked. Called by a task it aborts the program.
    template <class Rep, class Period> awaitable<std::size_t> drain(std::chrono::duration<Rep, Period> limit) {
        co_await impl::scope::expect_no_task(core_.group(), *body_);
        co_return co_await core_.drain(*body_, impl::base::saturated<std::chrono::nanoseconds>(limit));
    }

    /// The result of the next task that ends, in that order. None: no task runs, and all results have been taken.
    /// Results that nobody takes go with the scope.
    awaitable<std::optional<outcome<T>>> next()
        requires(!std::is_void_v<T>)
    {
        for (;;) {
            auto& lock = core_.group().lock();
            lock.lock();
            auto* const n = ended_.pop();
            bool const is_last = !n && core_.running_now() == 0;
            if (!n)
                core_.will_wait_for_an_end();
            lock.unlock();
            if (n) {
                std::optional<outcome<T>> result(n->take());
                core_.group().forget(*n);
                co_return result;
            }
            if (is_last)
                co_return std::nullopt;
            co_await core_.changed().async_wait();
        }
    }

private:
    friend struct impl::scope::scope_access;
    friend class impl::scope::task_node<T>;
    template <class, class> friend class impl::scope::spawning;
    task_scope(any_io_executor const& e, scope_options const& o) : core_(e, o) {}

    /// Starts what `take_call` returns. The permit has been taken if there is a limit.
    template <class TakeCall> bool start(TakeCall take_call) {
        using call = std::decay_t<decltype(take_call())>;
        static_assert(
            std::is_same_v<typename impl::coro::awaitable_result<std::decay_t<decltype(std::declval<call&>()())>>::type,
                           T>,
            "the tasks of a task_scope<T> are functions that return an awaitable<T>");
        using task = impl::scope::task_of<T, call>;
        auto* const t = make_task<task>();
        if (!core_.enter(*t)) {
            t->destroy();
            return false;
        }
        t->start_with(std::move(take_call)); // From here on it leaves by itself, whatever happens.
        return true;
    }
    /// Without memory for it there is no task.
    template <class Task> Task* make_task() {
        try {
            return ::new (impl::exec::recycle_allocate(sizeof(Task))) Task(*this);
        } catch (...) {
            core_.give_room();
            throw;
        }
    }
    template <class Call> void start_or_throw(Call& call) {
        if (!start([&]() -> Call&& { return std::move(call); }))
            impl::scope::throw_closed();
    }
    /// False: there is no room now, or the item of the awaiting coroutine has used up its budget.
    template <class Call> bool start_at_once(Call& call) {
        if (!impl::exec::spend() || (core_.is_limited() && !core_.room().try_acquire()))
            return false;
        start_or_throw(call);
        return true;
    }
    template <class Call> awaitable<void> start_later(Call call) {
        if (core_.is_limited())
            co_await core_.room().async_acquire();
        else
            co_await this_coro::yield_if_due();
        start_or_throw(call);
    }

    impl::scope::scope_core core_;
    [[no_unique_address]] impl::scope::ended_tasks<T> ended_;
    impl::coro::group_member* body_ = nullptr;
};

namespace impl::scope {

template <class T> bool task_node<T>::is_failure(std::exception_ptr const& e) noexcept {
    auto& core = scope_.core_;
    fails_ = e && core.failures() != on_failure::is_dropped && !core.is_cut(e);
    return fails_ && core.failures() == on_failure::ends_scope;
}

/// Of a scope with results the node stays until its result is taken.
template <class T> coro::member_rest task_node<T>::leaves() noexcept {
    if constexpr (!std::is_void_v<T>)
        scope_.ended_.push(*this);
    return {.tells_owner = scope_.core_.has_ended(fails_ ? &std::get<0>(*this->result) : nullptr),
            .is_given_back = std::is_void_v<T>};
}

struct scope_access {
    template <class T, class Body> static awaitable<body_result<T, Body>> run(scope_options options, Body body) {
        any_io_executor const& executor = co_await this_coro::executor;
        std::optional<coro::coroutine_member<body_result<T, Body>>> member; // It outlives the group.
        task_scope<T> scope(executor, options);
        member.emplace(body(scope));
        scope.body_ = &*member;
        auto& group = scope.core_.group();
        group.add(*member, executor);
        co_await group.run();
        auto ended = member->take();
        if (group.decided_by() != &*member)
            scope.core_.throw_failures();
        co_return std::move(ended).value();
    }
};

} // namespace impl::scope

/// `co_await with_scope([&](task_scope<>& s) -> awaitable<void> { ... })` runs a body, in which tasks are spawned, and
/// goes on when the body and all tasks have ended.
/// Completes  with what the body returns
/// Errors     what the body or the first failed task has thrown, after all have ended
/// Cancel     the body and all tasks are asked to end
/// Immediate  does not suspend if everything completes at once
/// Lifetime   `body` is kept until the end
/// Threads    as the awaiting coroutine
/// Allocates  a frame, from the recycler
template <class T = void, class Body>
    requires impl::scope::scope_body<T, std::decay_t<Body>>
[[nodiscard("a scope runs only when it is awaited")]] auto with_scope(scope_options options, Body&& body) {
    return impl::scope::scope_access::run<T, std::decay_t<Body>>(options, std::forward<Body>(body));
}
/// with_scope() with the usual options.
template <class T = void, class Body>
    requires impl::scope::scope_body<T, std::decay_t<Body>>
[[nodiscard("a scope runs only when it is awaited")]] auto with_scope(Body&& body) {
    return impl::scope::scope_access::run<T, std::decay_t<Body>>(scope_options(), std::forward<Body>(body));
}

} // namespace fairlead
