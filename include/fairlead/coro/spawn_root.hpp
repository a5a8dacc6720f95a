// The root of an await chain, which co_spawn makes.
//
// The root keeps the executor, the function object and the handler for as long as the coroutine runs, and the await
// record of the chain. When the coroutine has ended, it calls the handler. The root could be a coroutine, but its frame
// would be twice as large: a promise that can await anything, temporaries, and the compiler's additions. This is a
// plain object in the memory of the handler's allocator.
#pragma once

#include <fairlead/base/at_scope_end.hpp>
#include <fairlead/coro/awaitable.hpp>
#include <fairlead/coro/detached_exception_hook.hpp>
#include <fairlead/operation/associated.hpp>
#include <fairlead/operation/completion.hpp>

#include <concepts>
#include <exception>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace fairlead::impl::coro {

/// A handler is given a value also when there is none: the default one, and of types without it an empty optional.
template <class T> struct spawn_value : std::type_identity<std::optional<T>> {};
template <std::default_initializable T> struct spawn_value<T> : std::type_identity<T> {};
template <class T> struct spawn_value<T&> : std::type_identity<T*> {};

template <class T> struct spawn_values {
    using type = std::tuple<std::exception_ptr, typename spawn_value<T>::type>;
    using signature = void(std::exception_ptr, typename spawn_value<T>::type);
};
template <> struct spawn_values<void> {
    using type = std::tuple<std::exception_ptr>;
    using signature = void(std::exception_ptr);
};

/// The part that is the same whatever the coroutine returns.
class spawn_root : public await_record {
public:
    spawn_root(spawn_root const&) = delete;
    spawn_root& operator=(spawn_root const&) = delete;

    /// Inside its context the body starts at once, as dispatch would; but not ever deeper on one stack.
    FAIRLEAD_EXPORT void start();
    /// From inside the chain, which is then to be resumed at its new home.
    FAIRLEAD_EXPORT void move_to(any_io_executor const& e) noexcept;

protected:
    /// As start(), where a chain that waits for this one keeps the home for both. That takes no atomic operations.
    FAIRLEAD_EXPORT void start_kept();
    FAIRLEAD_EXPORT spawn_root(any_io_executor const& e, exec::record_hooks const& h) noexcept;
    /// Then settle() says where it runs.
    explicit spawn_root(exec::record_hooks const& h) noexcept : await_record(h), elsewhere_(executor_) {}
    FAIRLEAD_EXPORT ~spawn_root();
    /// Before the start: where the chain runs.
    FAIRLEAD_EXPORT void settle(any_io_executor const& e) noexcept;
    /// When the chain has ended, or was destroyed, before the root goes.
    FAIRLEAD_EXPORT void leave_home() noexcept;

    /// Awaits a coroutine, which this takes over.
    void await(promise_base& child, std::coroutine_handle<> frame) noexcept {
        child_ = frame;
        exec::chain_link& outermost = child.link;
        outermost.parent = nullptr;
        outermost.owner = &child_;
        outermost.record = this;
        innermost = &outermost;
        exec::this_thread.next = this;
    }
    /// Null before the start, and when the chain is being destroyed from its other end.
    std::coroutine_handle<>& child() noexcept { return child_; }
    /// A handler must not run inside the co_spawn that it was given to.
    bool is_inside_co_spawn() const noexcept { return exec::this_thread.starting == this; }

private:
    void begin_at_home();
    void find_home() noexcept;
    void be_at_home() noexcept;

    any_io_executor executor_;
    exec::executor_resumer elsewhere_; ///< the home, unless the executor runs a loop of ours
    std::coroutine_handle<> child_;
    bool is_counted_ = false;
    bool is_listed_ = false; ///< coro/tasks.hpp
};

/// Ends the chain of a root that co_spawn has made, whose operation will never complete. Its coroutines are destroyed
/// in their home, from the innermost on. That happens after all that is queued there, and when the bytes of the record
/// have been given back.
FAIRLEAD_EXPORT void destroy_chain(await_record* r) noexcept;

template <class T> typename spawn_values<T>::type failed_chain(std::exception_ptr e) {
    typename spawn_values<T>::type v{};
    std::get<0>(v) = std::move(e);
    return v;
}
/// The result of a coroutine that has ended. Its frame goes.
template <class T> typename spawn_values<T>::type take_result_of(std::coroutine_handle<>& child) {
    using values = typename spawn_values<T>::type;
    frame_until_scope_end const own{std::exchange(child, nullptr)};
    try {
        auto& promise = awaitable_access::promise<T>(own.h);
        if constexpr (std::is_void_v<T>) {
            promise.take();
            return values();
        } else if constexpr (std::is_reference_v<T>) {
            return values(std::exception_ptr(), std::addressof(promise.take()));
        } else {
            return values(std::exception_ptr(), promise.take());
        }
    } catch (...) {
        return failed_chain<T>(std::current_exception());
    }
}

template <class T, class Function, class Handler> class spawned final : public spawn_root {
public:
    template <class H> spawned(any_io_executor const& e, Function&& f, H&& handler)
        : spawn_root(e, the_hooks),
          function_(std::move(f)),
          handler_(std::forward<H>(handler)) {
        if constexpr (hears_requests)
            if (requests_.listen(get_associated_cancellation_slot(handler_)))
                notes |= can_be_asked;
    }
    ~spawned() {
        if (child())
            child().destroy(); // Before what its arguments may refer to.
    }

private:
    using values = typename spawn_values<T>::type;
    static constexpr bool hears_requests = operation::has_cancellation_slot<Handler>;

    void step() {
        bool const begins = !child();
        std::exception_ptr thrown = begins ? begin() : nullptr;
        if (begins && !thrown)
            return;
        finish(begins ? failed_chain<T>(std::move(thrown)) : take_result_of<T>(child()));
    }
    /// Returns what the function threw instead of giving a coroutine; of a chain that has been asked to end before, its
    /// end.
    std::exception_ptr begin() noexcept {
        try {
            if constexpr (hears_requests && !requires { Function::begins_when_asked; })
                if (is_asked(*this))
                    base::throw_error_now(error::make_error_code(error::operation_aborted), "co_spawn");
            awaitable<T> a(function_());
            auto& promise = awaitable_access::promise(a);
            await(promise, awaitable_access::release(a));
            return nullptr;
        } catch (...) {
            return std::current_exception();
        }
    }
    /// From here on nobody looks for this root.
    void take_leave() noexcept {
        if constexpr (hears_requests)
            requests_.stop_listening();
    }
    /// Moves everything out, gives the memory back, and only then calls: the handler finds it free.
    void finish(values&& v) {
        any_io_executor const ex = *executor;
        bool const inside = is_inside_co_spawn();
        if constexpr (is_detached<Handler>)
            if (std::get<0>(v))
                detached_has_thrown(std::get<0>(v));
        take_leave();
        Handler h(operation::move_out(handler_, [this] { operation::deallocate_with(handler_, this); }));
        ex.on_work_started(); // The root gives its count back now; the handler is still to come.
        base::at_scope_end const finished([&ex] { ex.on_work_finished(); });
        operation::deallocate_with(h, this);
        if (inside)
            exec::this_thread.starting = nullptr;
        if (inside)
            operation::post_values(ex, std::move(h), std::move(v));
        else
            operation::dispatch_values(h, std::move(v));
    }

    static operation::chain_requests& requests(await_record& r) noexcept
        requires hears_requests
    {
        return static_cast<spawned&>(r).requests_;
    }
    static bool is_asked(await_record& r) noexcept
        requires hears_requests
    {
        return !!requests(r).state.cancelled();
    }
    static constexpr auto requests_function() {
        operation::chain_requests& (*f)(await_record&) noexcept = nullptr;
        if constexpr (hears_requests)
            f = &requests;
        return f;
    }
    static constexpr auto is_asked_function() {
        bool (*f)(await_record&) noexcept = nullptr;
        if constexpr (hears_requests)
            f = &is_asked;
        return f;
    }

    static constexpr exec::record_hooks the_hooks{
        .resume = [](await_record* r) { static_cast<spawned*>(r)->step(); },
        .abandon = &destroy_chain,
        .destroy =
            [](await_record* r) {
                auto* self = static_cast<spawned*>(r);
                self->take_leave();
                Handler const h(
                    operation::move_out(self->handler_, [self] { operation::deallocate_with(self->handler_, self); }));
                operation::deallocate_with(h, self);
            },
        .is_asked = is_asked_function(),
        .requests = requests_function(),
        .member = nullptr,
        .is_to_be_destroyed = nullptr,
    };

    struct nothing {};
    [[no_unique_address]] std::conditional_t<hears_requests, operation::chain_requests, nothing> requests_;
    [[no_unique_address]] Function function_;
    [[no_unique_address]] Handler handler_;
};

} // namespace fairlead::impl::coro
