// any_completion_handler: a handler of any type behind one type, so that an operation can be compiled once.
#pragma once

#include <fairlead/token/erased_handler.hpp>

#include <functional> // bad_function_call

namespace fairlead {

/// The allocator of an any_completion_handler: that of the handler inside.
template <class T, class...> using any_completion_handler_allocator = detail::erased_allocator<T>;

template <class Signature> class any_completion_handler;

/// A completion handler of any type, or none. Move-only, two pointers. All associations are those of the handler
/// inside; get_associated_executor(h) and so on find them. A handler that names no executor runs where the operation
/// ends. Allocates  one block from the handler's own allocator, which is given back before the handler runs Threads
/// none of its own: as the handler inside
template <class R, class... Args> class any_completion_handler<R(Args...)> {
    using box = detail::boxed_handler<std::decay_t<Args>...>;

public:
    using allocator_type = any_completion_handler_allocator<void, R(Args...)>;
    using cancellation_slot_type = cancellation_slot;

    any_completion_handler() noexcept = default;
    any_completion_handler(std::nullptr_t) noexcept {}
    template <class Handler>
        requires(!std::same_as<std::decay_t<Handler>, any_completion_handler> &&
                 completion_handler_for<Handler, R(Args...)>)
    any_completion_handler(Handler&& handler) : box_(make(std::decay_t<Handler>(std::forward<Handler>(handler)))) {}
    any_completion_handler(any_completion_handler&&) noexcept = default;
    any_completion_handler& operator=(any_completion_handler&& other) noexcept {
        any_completion_handler(std::move(other)).swap(*this);
        return *this;
    }
    any_completion_handler& operator=(std::nullptr_t) noexcept {
        any_completion_handler().swap(*this);
        return *this;
    }
    ~any_completion_handler() = default;

    explicit operator bool() const noexcept { return !box_.empty(); }
    bool operator!() const noexcept { return box_.empty(); }
    friend bool operator==(any_completion_handler const& h, std::nullptr_t) noexcept { return !h; }
    void swap(any_completion_handler& other) noexcept { box_.swap(other.box_); }

    /// Calls the handler, once, with its memory given back. Throws std::bad_function_call when there is none.
    void operator()(Args... args) {
        if (box_.empty())
            throw std::bad_function_call();
        box_(std::move(args)...);
    }

    allocator_type get_allocator() const noexcept { return box_.allocator(); }
    cancellation_slot_type get_cancellation_slot() const noexcept { return box_.get_cancellation_slot(); }

private:
    template <class, class> friend struct detail::erased_executor_of;
    template <class, class> friend struct detail::erased_immediate_executor_of;
    template <class Handler> static box make(Handler&& h) {
        return box({&h, &detail::erased_handler_table<Handler, std::decay_t<Args>...>::functions});
    }
    detail::erased_executor executor() const noexcept { return box_.executor(); }
    detail::erased_executor immediate_executor() const noexcept { return box_.immediate_executor(); }

    box box_;
};

template <class R, class... Args, class D> struct associator<associated_executor, any_completion_handler<R(Args...)>, D>
    : detail::erased_executor_of<any_completion_handler<R(Args...)>, D> {};
template <class R, class... Args, class D>
struct associator<associated_immediate_executor, any_completion_handler<R(Args...)>, D>
    : detail::erased_immediate_executor_of<any_completion_handler<R(Args...)>, D> {};

} // namespace fairlead
